//! Physical memory of the host, mapped where a client reserved addresses: the host and devices
//! reach it there.

use crate::pool::{copy_by, kernel};
use cuprum_testing::driver_calls::*;

use cuprum_sys::*;

const MIB: usize = 1 << 20;
const INVALID_VALUE: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
const NOBODY: u32 = 0;
const EVERYTHING: u32 = 3;

const fn at(type_: CUmemLocationType, id: i32) -> CUmemLocation {
    CUmemLocation { type_, id }
}

const DEVICE: CUmemLocation = at(CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, 0);
/// The number of such a place has no meaning.
const HOST: CUmemLocation = at(CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST, 7);
const NODE: CUmemLocation = at(CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST_NUMA, 0);

fn props(location: CUmemLocation, types: CUmemAllocationHandleType) -> CUmemAllocationProp {
    CUmemAllocationProp {
        type_: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        location,
        requestedHandleTypes: types,
        ..CUmemAllocationProp::zeroed()
    }
}

fn create(location: CUmemLocation, types: CUmemAllocationHandleType) -> Result<u64, CUresult> {
    let mut handle = 0;
    match code!(cuMemCreate(&mut handle, 2 * MIB, &props(location, types), 0)) {
        CUresult::CUDA_SUCCESS => Ok(handle),
        error => Err(error),
    }
}

fn private(location: CUmemLocation) -> u64 {
    create(location, CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE).unwrap()
}

/// Maps physical memory to which nothing has access yet.
fn map(handle: u64) -> u64 {
    let mut address = 0;
    ok!(cuMemAddressReserve(&mut address, 2 * MIB, 0, 0, 0));
    ok!(cuMemMap(address, 2 * MIB, 0, handle, 0));
    address
}

/// Maps memory of the host, to which only the host has access.
pub(crate) fn for_the_host() -> u64 {
    let address = map(private(HOST));
    give_the_host(address, EVERYTHING);
    address
}

pub(crate) fn give_the_host(address: u64, flags: u32) {
    assert_eq!(give(address, HOST, flags), CUresult::CUDA_SUCCESS);
}

fn unmap(address: u64, handle: u64) {
    ok!(cuMemUnmap(address, 2 * MIB));
    ok!(cuMemAddressFree(address, 2 * MIB));
    ok!(cuMemRelease(handle));
}

fn give(address: u64, location: CUmemLocation, flags: u32) -> CUresult {
    let access = CUmemAccessDesc { location, flags: CUmemAccess_flags(flags) };
    code!(cuMemSetAccess(address, 2 * MIB, &access, 1))
}

fn pointer(address: u64) -> *mut u32 {
    core::ptr::with_exposed_provenance_mut(address as usize)
}

#[test]
fn the_host_and_the_device_reach_the_same_bytes() {
    let _context = TestContext::new();
    let (copying, other, stream) = (kernel(), alloc(16), stream(1));
    for attribute in [
        CUdevice_attribute::CU_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
        CUdevice_attribute::CU_DEVICE_ATTRIBUTE_HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
    ] {
        let mut answer = 0;
        ok!(cuDeviceGetAttribute(&mut answer, attribute, 0));
        assert_eq!(answer, 1, "{attribute:?}");
    }
    for place in [HOST, NODE] {
        let handle = private(place);
        let mut granule = 0;
        let minimum = CUmemAllocationGranularity_flags::CU_MEM_ALLOC_GRANULARITY_MINIMUM;
        let none = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE;
        ok!(cuMemGetAllocationGranularity(&mut granule, &props(place, none), minimum));
        assert_eq!(granule, 2 * MIB);
        let address = map(handle);
        assert_eq!(give(address, place, EVERYTHING), CUresult::CUDA_SUCCESS);
        assert_eq!(code!(cuMemsetD32_v2(address, 1, 4)), INVALID_VALUE, "no device has access yet");
        assert_eq!(give(address, DEVICE, EVERYTHING), CUresult::CUDA_SUCCESS);
        // SAFETY: mapped, with access of the host, until it is unmapped below.
        unsafe { pointer(address).write_volatile(41) };
        assert_eq!(copy_by(copying, other, address, stream), CUresult::CUDA_SUCCESS);
        assert_eq!(read::<u32>(other, 1), [41]);
        write(other, &[42u32]);
        assert_eq!(copy_by(copying, address + 4, other, stream), CUresult::CUDA_SUCCESS);
        // SAFETY: as above.
        assert_eq!(unsafe { pointer(address + 4).read_volatile() }, 42);
        let mut seen = core::ptr::null_mut::<u32>();
        let attribute = CUpointer_attribute::CU_POINTER_ATTRIBUTE_HOST_POINTER;
        ok!(cuPointerGetAttribute((&raw mut seen).cast(), attribute, address + 4));
        assert_eq!(seen, pointer(address + 4));
        assert_eq!(give(address, DEVICE, NOBODY), CUresult::CUDA_SUCCESS);
        assert_eq!(code!(cuMemsetD32_v2(address, 1, 4)), INVALID_VALUE, "access was taken away");
        // SAFETY: as above.
        assert_eq!(unsafe { pointer(address).read_volatile() }, 41);
        unmap(address, handle);
    }
    let (mut free, mut total) = (0, 0);
    ok!(cuMemGetInfo_v2(&mut free, &mut total));
    let handle = private(HOST);
    let mut less = 0;
    ok!(cuMemGetInfo_v2(&mut less, &mut total));
    assert!(less >= free || free - less < 2 * MIB, "it takes no memory of the device");
    ok!(cuMemRelease(handle));
}

#[test]
fn other_places_and_other_access_are_refused() {
    use CUmemLocationType as L;

    let _context = TestContext::new();
    let (none, descriptor) = (
        CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE,
        CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
    );
    assert_eq!(create(at(L::CU_MEM_LOCATION_TYPE_HOST_NUMA, 1), none), Err(INVALID_VALUE));
    assert_eq!(create(at(L::CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, 0), none), Err(INVALID_VALUE));
    assert_eq!(create(at(L::CU_MEM_LOCATION_TYPE_INVALID, 0), none), Err(INVALID_VALUE));
    assert_eq!(create(HOST, descriptor), Err(INVALID_VALUE), "only a node's memory travels");
    let handle = private(DEVICE);
    let address = map(handle);
    assert_eq!(give(address, HOST, EVERYTHING), CUresult::CUDA_ERROR_NOT_SUPPORTED);
    unmap(address, handle);
}

#[test]
fn memory_of_a_node_travels_by_descriptor() {
    let _context = TestContext::new();
    let types = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    let handle = create(NODE, types).unwrap();
    let (mut descriptor, mut again) = (-1, 0);
    ok!(cuMemExportToShareableHandle((&raw mut descriptor).cast(), handle, types, 0));
    let passed = core::ptr::without_provenance_mut(descriptor as usize);
    ok!(cuMemImportFromShareableHandle(&mut again, passed, types));
    let mut found = CUmemAllocationProp::zeroed();
    ok!(cuMemGetAllocationPropertiesFromHandle(&mut found, again));
    assert_eq!(found.location.type_, NODE.type_);
    let (one, other) = (map(handle), map(again));
    assert_eq!(give(one, NODE, EVERYTHING), CUresult::CUDA_SUCCESS);
    assert_eq!(give(other, NODE, 1), CUresult::CUDA_SUCCESS);
    // SAFETY: both are mapped for the host, until they are unmapped below.
    unsafe { pointer(one).write_volatile(9) };
    // SAFETY: as above.
    assert_eq!(unsafe { pointer(other).read_volatile() }, 9);
    unmap(one, handle);
    unmap(other, again);
    // SAFETY: the descriptor that was exported, which stays the client's.
    drop(unsafe { <std::fs::File as std::os::fd::FromRawFd>::from_raw_fd(descriptor) });
}
