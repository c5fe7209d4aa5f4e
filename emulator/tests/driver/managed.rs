//! Managed memory: advice is reported as on an H100, and ranges are checked.

use core::ffi::c_void;

use cuprum_sys::*;

use cuprum_testing::driver_calls::*;

const INVALID_VALUE: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
const LEN: usize = 8192;

type Attribute = CUmem_range_attribute;

fn managed() -> u64 {
    let mut pointer = 0;
    ok!(cuMemAllocManaged(&mut pointer, LEN, CUmemAttach_flags::CU_MEM_ATTACH_GLOBAL.0));
    pointer
}

const fn at(type_: CUmemLocationType, id: i32) -> CUmemLocation {
    CUmemLocation { type_, id }
}

const HOST: CUmemLocation = at(CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST, 0);
const DEVICE: CUmemLocation = at(CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, 0);
const NODE: CUmemLocation = at(CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST_NUMA, 0);
const NOWHERE: CUmemLocation = at(CUmemLocationType::CU_MEM_LOCATION_TYPE_NONE, 0);
const FAR: CUmemLocation = at(CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, 99);

fn told(attribute: Attribute, range: u64, bytes: usize) -> i32 {
    let mut value = -9i32;
    ok!(cuMemRangeGetAttribute((&raw mut value).cast(), 4, attribute, range, bytes));
    value
}

/// Returns the preferred location and the last prefetch location: in the older attributes, then
/// kind and number.
fn places(range: u64, bytes: usize) -> [i32; 6] {
    [2, 5, 6, 4, 7, 8].map(|attribute| told(CUmem_range_attribute(attribute), range, bytes))
}

#[test]
fn what_was_advised_is_told_of_all_of_a_range() {
    let _context = TestContext::new();
    let (range, half) = (managed(), LEN / 2);
    let advise =
        |bytes: usize, advice: CUmem_advise, place| code!(cuMemAdvise_v2(range, bytes, advice, place));
    assert_eq!(places(range, LEN), [-2, 0, -2, -2, 0, -2]);
    ok!(cuMemAdvise(range, LEN, CUmem_advise::CU_MEM_ADVISE_SET_READ_MOSTLY, 0));
    assert_eq!(advise(LEN, CUmem_advise::CU_MEM_ADVISE_SET_PREFERRED_LOCATION, HOST), CUresult::CUDA_SUCCESS);
    assert_eq!(told(Attribute::CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, range, LEN), 1);
    assert_eq!(places(range, LEN), [-1, 2, -1, -2, 0, -2]);
    assert_eq!(advise(half, CUmem_advise::CU_MEM_ADVISE_UNSET_READ_MOSTLY, DEVICE), CUresult::CUDA_SUCCESS);
    assert_eq!(
        advise(half, CUmem_advise::CU_MEM_ADVISE_SET_PREFERRED_LOCATION, DEVICE),
        CUresult::CUDA_SUCCESS
    );
    assert_eq!(told(Attribute::CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, range, LEN), 0);
    assert_eq!(told(Attribute::CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, range + half as u64, half), 1);
    assert_eq!(places(range, LEN), [-2, 0, -2, -2, 0, -2]);
    assert_eq!(places(range, half), [0, 1, 0, -2, 0, -2]);
    for place in [DEVICE, HOST] {
        let advice = CUmem_advise::CU_MEM_ADVISE_SET_ACCESSED_BY;
        assert_eq!(advise(LEN, advice, place), CUresult::CUDA_SUCCESS);
        assert_eq!(advise(LEN, advice, NODE), INVALID_VALUE);
    }
    let mut who = [-9i32; 4];
    let attribute = Attribute::CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY;
    ok!(cuMemRangeGetAttribute(who.as_mut_ptr().cast(), 16, attribute, range, LEN));
    assert_eq!(who, [0, -1, -2, -2]);
    for (advice, place) in [(0, DEVICE), (7, DEVICE), (1, NOWHERE), (4, NOWHERE), (3, FAR)] {
        assert_eq!(advise(LEN, CUmem_advise(advice), place), INVALID_VALUE);
    }
    let (mut number, advice) = (0i32, CUmem_advise::CU_MEM_ADVISE_SET_READ_MOSTLY);
    let to: *mut c_void = (&raw mut number).cast();
    let attribute = Attribute::CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY;
    for (bytes, attribute, len) in
        [(3, attribute, LEN), (8, attribute, LEN), (4, CUmem_range_attribute(99), LEN), (4, attribute, 0)]
    {
        assert_eq!(code!(cuMemRangeGetAttribute(to, bytes, attribute, range, len)), INVALID_VALUE);
    }
    assert_eq!(code!(cuMemAdvise(range, LEN + 1, advice, 0)), INVALID_VALUE);
    // The advice for freed memory is dropped.
    ok!(cuMemFree_v2(range));
    assert_eq!(told(attribute, managed(), LEN), 0);
}

#[test]
fn prefetching_is_told_and_refused_as_on_hardware() {
    let _context = TestContext::new();
    let (stream, range, half) = (stream(0), managed(), LEN / 2);
    ok!(cuMemPrefetchAsync(range, LEN, 0, CUstream::null()));
    assert_eq!(places(range, LEN)[3..], [0, 1, 0]);
    ok!(cuMemPrefetchAsync_v2(range, half, HOST, 0, stream));
    assert_eq!(places(range, half)[3..], [-1, 2, -1]);
    assert_eq!(places(range, LEN)[3..], [-2, 0, -2]);
    let prefetch = |place, flags| code!(cuMemPrefetchAsync_v2(range, LEN, place, flags, stream));
    assert_eq!(prefetch(FAR, 0), CUresult::CUDA_ERROR_INVALID_DEVICE);
    assert_eq!((prefetch(NOWHERE, 0), prefetch(HOST, 1)), (INVALID_VALUE, INVALID_VALUE));
    assert_eq!(code!(cuMemPrefetchAsync(alloc(64), 64, 0, CUstream::null())), INVALID_VALUE);

    let (mut ranges, mut sizes) = ([range, range + half as u64], [half; 2]);
    let mut to = [DEVICE, HOST];
    let mut batch = |mut firsts: [usize; 2], count, on| {
        let (ranges, sizes, to) = (ranges.as_mut_ptr(), sizes.as_mut_ptr(), to.as_mut_ptr());
        code!(cuMemPrefetchBatchAsync(ranges, sizes, 2, to, firsts.as_mut_ptr(), count, 0, on))
    };
    assert_eq!(batch([0, 1], 2, stream), CUresult::CUDA_SUCCESS);
    assert_eq!((places(range, half)[3], places(range + half as u64, half)[3]), (0, -1));
    assert_eq!(batch([0, 0], 2, stream), CUresult::CUDA_SUCCESS);
    assert_eq!(
        (batch([1, 0], 2, stream), batch([0, 1], 2, CUstream::null())),
        (INVALID_VALUE, INVALID_VALUE)
    );
    let mut found = [NOWHERE; 2];
    ok!(cuMemPrefetchAsync_v2(range, half, DEVICE, 0, stream));
    ok!(cuMemGetLocationInfo(range, LEN, half, 0, found.as_mut_ptr()));
    assert_eq!((found[0].type_, found[0].id), (DEVICE.type_, DEVICE.id));
    assert_eq!(code!(cuMemGetLocationInfo(range, LEN, 0, 0, found.as_mut_ptr())), INVALID_VALUE);
    assert_eq!(code!(cuMemGetLocationInfo(range, LEN, half, LEN, found.as_mut_ptr())), INVALID_VALUE);
}

#[test]
fn whole_allocations_are_attached() {
    let _context = TestContext::new();
    let (stream, range) = (stream(0), managed());
    let attach = |stream, at, len, flags| code!(cuStreamAttachMemAsync(stream, at, len, flags));
    for (len, flags) in [(0, 4), (LEN, 4), (0, 2), (0, 1)] {
        assert_eq!(attach(stream, range, len, flags), CUresult::CUDA_SUCCESS);
    }
    assert_eq!(attach(CUstream::null(), range, 0, 1), CUresult::CUDA_SUCCESS);
    for (at, len, flags) in [(range, 4096, 4), (range, 0, 9), (range + 5, 0, 1), (alloc(64), 0, 1)] {
        assert_eq!(attach(stream, at, len, flags), INVALID_VALUE);
    }
    assert_eq!(attach(CUstream::null(), range, 0, 4), INVALID_VALUE, "a stream alone, and none is named");
}

#[test]
fn ranges_to_prefetch_or_discard_are_checked() {
    let _context = TestContext::new();
    let stream = stream(1);
    let mut managed = 0;
    ok!(cuMemAllocManaged(&mut managed, 4096, CUmemAttach_flags::CU_MEM_ATTACH_GLOBAL.0));
    let (mut ranges, mut sizes) = ([managed, managed + 2048], [1024usize, 2048]);
    let mut place = CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: 0 };
    let mut prefetch = |ranges: &mut [u64; 2], mut first: usize| {
        let (ranges, sizes) = (ranges.as_mut_ptr(), sizes.as_mut_ptr());
        code!(cuMemPrefetchBatchAsync(ranges, sizes, 2, &mut place, &mut first, 1, 0, stream))
    };
    assert_eq!(prefetch(&mut ranges, 0), CUresult::CUDA_SUCCESS);
    assert_eq!(
        prefetch(&mut ranges, 1),
        CUresult::CUDA_ERROR_INVALID_VALUE,
        "the first place is for the first range"
    );
    ranges[1] += 1;
    assert_eq!(prefetch(&mut ranges, 0), CUresult::CUDA_ERROR_INVALID_VALUE, "beyond its end");
    ok!(cuMemDiscardBatchAsync(ranges.as_mut_ptr(), sizes.as_mut_ptr(), 1, 0, stream));
}
