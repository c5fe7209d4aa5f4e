//! Pools with a maximum size.

use cuprum_sys::*;
use cuprum_testing::driver_calls::*;

const PAGE: usize = 32 << 20;
const OUT_OF_MEMORY: CUresult = CUresult::CUDA_ERROR_OUT_OF_MEMORY;

fn pool(most: usize) -> CUmemoryPool {
    let props = CUmemPoolProps {
        allocType: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        location: CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: 0 },
        maxSize: most,
        ..CUmemPoolProps::zeroed()
    };
    let mut pool = CUmemoryPool::null();
    ok!(cuMemPoolCreate(&mut pool, &props));
    pool
}

fn most(pool: CUmemoryPool) -> u64 {
    let mut most = 7;
    let attribute = CUmemPool_attribute::CU_MEMPOOL_ATTR_MAX_POOL_SIZE;
    ok!(cuMemPoolGetAttribute(pool, attribute, (&raw mut most).cast()));
    most
}

#[test]
fn a_pool_gives_no_more_than_its_largest_size() {
    let _context = TestContext::new();
    let (stream, pool) = (stream(1), pool(2 * PAGE - 1));
    assert_eq!(most(pool), 2 * PAGE as u64);
    let (mut first, mut second, mut third) = (0, 0, 0);
    ok!(cuMemAllocFromPoolAsync(&mut first, PAGE, pool, stream));
    let too_much = code!(cuMemAllocFromPoolAsync(&mut second, PAGE + 1, pool, stream));
    assert_eq!((too_much, second), (OUT_OF_MEMORY, 0));
    ok!(cuMemAllocFromPoolAsync(&mut second, PAGE, pool, stream));
    assert_eq!(code!(cuMemAllocFromPoolAsync(&mut third, 1, pool, stream)), OUT_OF_MEMORY);
    ok!(cuMemFreeAsync(first, stream));
    ok!(cuMemAllocFromPoolAsync(&mut third, PAGE, pool, stream));
    ok!(cuMemFreeAsync(second, stream));
    ok!(cuMemFreeAsync(third, stream));
    ok!(cuStreamSynchronize(stream));
    let mut used = 7u64;
    let current = CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT;
    ok!(cuMemPoolGetAttribute(pool, current, (&raw mut used).cast()));
    assert_eq!(used, 0);
    ok!(cuMemPoolDestroy(pool));
    ok!(cuStreamDestroy_v2(stream));
}

#[test]
fn a_pool_without_a_largest_size_has_none() {
    let _context = TestContext::new();
    let (stream, pool) = (stream(1), pool(0));
    assert_eq!(most(pool), 0);
    let mut all = 0;
    ok!(cuMemAllocFromPoolAsync(&mut all, 4 * PAGE, pool, stream));
    ok!(cuMemFreeAsync(all, stream));
    let mut other = 1u64;
    let attribute = CUmemPool_attribute::CU_MEMPOOL_ATTR_MAX_POOL_SIZE;
    let set = code!(cuMemPoolSetAttribute(pool, attribute, (&raw mut other).cast()));
    assert_eq!(set, CUresult::CUDA_ERROR_INVALID_VALUE);
    ok!(cuMemPoolDestroy(pool));
    ok!(cuStreamDestroy_v2(stream));
}

#[cfg(unix)]
fn shareable(kind: CUmemAllocationHandleType) -> CUmemPoolProps {
    CUmemPoolProps {
        allocType: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        handleTypes: kind,
        location: CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: 0 },
        ..CUmemPoolProps::zeroed()
    }
}

/// As on an H100 with driver 580 in one process, except for the address of the import.
#[cfg(unix)]
#[test]
fn a_pool_is_exported_and_imported_in_one_process() {
    use std::ffi::c_void;
    use std::os::fd::{FromRawFd, OwnedFd};

    const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
    let kind = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    let number = |descriptor: i32| std::ptr::without_provenance_mut::<c_void>(descriptor as usize);
    let _context = TestContext::new();
    let stream = stream(1);
    let (plain, mut shared, mut import) = (pool(0), CUmemoryPool::null(), CUmemoryPool::null());
    ok!(cuMemPoolCreate(&mut shared, &shareable(kind)));
    let mut descriptor = -1;
    let place = (&raw mut descriptor).cast::<c_void>();
    assert_eq!(code!(cuMemPoolExportToShareableHandle(place, plain, kind, 0)), INVALID);
    let (mut early, mut data) = (0, CUmemPoolPtrExportData::zeroed());
    ok!(cuMemAllocFromPoolAsync(&mut early, 16, shared, stream));
    assert_eq!(code!(cuMemPoolExportPointer(&mut data, early)), INVALID, "the pool itself comes first");
    ok!(cuMemFreeAsync(early, stream));
    ok!(cuMemPoolExportToShareableHandle(place, shared, kind, 0));
    let nothing = std::fs::File::open("/dev/null").unwrap();
    let other = std::os::fd::AsRawFd::as_raw_fd(&nothing);
    let refused = code!(cuMemPoolImportFromShareableHandle(&mut import, number(other), kind, 0));
    assert_eq!(refused, CUresult::CUDA_ERROR_UNKNOWN, "it is no pool's");
    ok!(cuMemPoolImportFromShareableHandle(&mut import, number(descriptor), kind, 0));
    // SAFETY: created by the driver, and closed once.
    drop(unsafe { OwnedFd::from_raw_fd(descriptor) });

    let (mut address, mut theirs, mut byte) = (0, 0, 0u8);
    ok!(cuMemAllocFromPoolAsync(&mut address, 1 << 20, shared, stream));
    ok!(cuMemsetD8Async(address, 4, 1 << 20, stream));
    ok!(cuStreamSynchronize(stream));
    ok!(cuMemPoolExportPointer(&mut data, address));
    assert_eq!(code!(cuMemPoolExportPointer(&mut data, address + 256)), INVALID);
    assert_eq!(code!(cuMemPoolImportPointer(&mut theirs, shared, &mut data)), INVALID);
    ok!(cuMemPoolImportPointer(&mut theirs, import, &mut data));
    ok!(cuMemcpyDtoH_v2((&raw mut byte).cast(), theirs, 1));
    assert_eq!(byte, 4);

    let (mut none, mut value) = (0, 0u64);
    assert_eq!(code!(cuMemAllocFromPoolAsync(&mut none, 16, import, stream)), INVALID);
    let attribute = CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
    assert_eq!(code!(cuMemPoolGetAttribute(import, attribute, (&raw mut value).cast())), INVALID);
    assert_eq!(code!(cuMemPoolTrimTo(import, 0)), INVALID);
    assert_eq!(code!(cuDeviceSetMemPool(0, import)), INVALID);
    ok!(cuMemFreeAsync(theirs, stream));
    ok!(cuStreamSynchronize(stream));
    ok!(cuMemcpyDtoH_v2((&raw mut byte).cast(), address, 1));
    ok!(cuMemFreeAsync(address, stream));
    ok!(cuStreamSynchronize(stream));
    ok!(cuMemPoolDestroy(import));
    ok!(cuMemPoolDestroy(shared));
    ok!(cuMemPoolDestroy(plain));
}

#[cfg(target_os = "linux")]
#[test]
fn pools_that_are_shared_leave_no_descriptor_open() {
    use std::ffi::c_void;
    use std::os::fd::{FromRawFd, OwnedFd};

    let kind = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    let _context = TestContext::new();
    let stream = stream(1);
    let open = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let once = || {
        let (mut shared, mut import) = (CUmemoryPool::null(), CUmemoryPool::null());
        ok!(cuMemPoolCreate(&mut shared, &shareable(kind)));
        let mut descriptor = -1;
        ok!(cuMemPoolExportToShareableHandle((&raw mut descriptor).cast::<c_void>(), shared, kind, 0));
        let number = std::ptr::without_provenance_mut::<c_void>(descriptor as usize);
        ok!(cuMemPoolImportFromShareableHandle(&mut import, number, kind, 0));
        // SAFETY: created by the driver, and closed once.
        drop(unsafe { OwnedFd::from_raw_fd(descriptor) });
        let (mut address, mut theirs, mut data) = (0, 0, CUmemPoolPtrExportData::zeroed());
        ok!(cuMemAllocFromPoolAsync(&mut address, 1 << 20, shared, stream));
        ok!(cuMemPoolExportPointer(&mut data, address));
        ok!(cuMemPoolImportPointer(&mut theirs, import, &mut data));
        ok!(cuMemFreeAsync(theirs, stream));
        ok!(cuMemFreeAsync(address, stream));
        ok!(cuStreamSynchronize(stream));
        ok!(cuMemPoolDestroy(import));
        ok!(cuMemPoolDestroy(shared));
    };
    once();
    let before = open();
    (0..40).for_each(|_| once());
    let left = open().saturating_sub(before);
    assert!(left < 40, "{left} descriptors are left by 40 pools; other tests have some");
}

/// As measured on an H100 with driver 580.
#[test]
fn pools_are_left_alone_while_a_stream_of_the_thread_is_captured() {
    let _context = TestContext::new();
    let (captured, beside) = (stream(1), stream(1));
    let mut address = 0;
    ok!(cuMemAllocAsync(&mut address, 16, beside));
    for (mode, answer) in [(0, CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED), (2, CUresult::CUDA_SUCCESS)]
    {
        let mut graph = CUgraph::null();
        ok!(cuStreamBeginCapture_v2(captured, CUstreamCaptureMode(mode)));
        assert_eq!(code!(cuMemFreeAsync(address, beside)), answer);
        let _ = code!(cuStreamEndCapture(captured, &mut graph));
    }
}

/// As measured on an H100 with driver 580.
#[test]
fn memory_of_a_pool_on_the_host_is_no_memory_of_a_device_for_copies() {
    const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
    let _context = TestContext::new();
    let (stream, other, mut pool) = (stream(1), alloc(16), CUmemoryPool::null());
    let props = CUmemPoolProps {
        allocType: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        location: CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST, id: 0 },
        ..CUmemPoolProps::zeroed()
    };
    ok!(cuMemPoolCreate(&mut pool, &props));
    let (mut memory, mut host) = (0, [3u8; 16]);
    let at = host.as_mut_ptr().cast();
    ok!(cuMemAllocFromPoolAsync(&mut memory, 16, pool, stream));
    assert_eq!(code!(cuMemcpyDtoHAsync_v2(at, memory, 16, stream)), INVALID);
    assert_eq!(code!(cuMemcpyHtoDAsync_v2(memory, at, 16, stream)), INVALID);
    assert_eq!(code!(cuMemcpyDtoDAsync_v2(other, memory, 16, stream)), INVALID);
    assert_eq!(code!(cuMemcpyDtoD_v2(other, memory, 16)), INVALID);
    let shaped = |from: (CUmemorytype, u64), to: (CUmemorytype, u64)| {
        let copy = CUDA_MEMCPY2D {
            srcMemoryType: from.0,
            srcDevice: from.1,
            dstMemoryType: to.0,
            dstDevice: to.1,
            WidthInBytes: 16,
            Height: 1,
            ..CUDA_MEMCPY2D::zeroed()
        };
        code!(cuMemcpy2DAsync_v2(&copy, stream))
    };
    let (device, any) = (CUmemorytype::CU_MEMORYTYPE_DEVICE, CUmemorytype::CU_MEMORYTYPE_UNIFIED);
    assert_eq!(shaped((device, memory), (device, other)), INVALID);
    assert_eq!(shaped((any, other), (device, memory)), INVALID);
    assert_eq!(shaped((any, memory), (device, other)), CUresult::CUDA_SUCCESS);
    assert_eq!(shaped((device, other), (any, memory)), CUresult::CUDA_SUCCESS);
    give_access(pool, 3);
    ok!(cuMemsetD8Async(memory, 5, 16, stream));
    ok!(cuMemcpyAsync(other, memory, 16, stream));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(read::<u8>(other, 16), [5; 16]);
    ok!(cuMemFreeAsync(memory, stream));
    ok!(cuStreamSynchronize(stream));
    ok!(cuMemPoolDestroy(pool));
    ok!(cuMemFree_v2(other));
    ok!(cuStreamDestroy_v2(stream));
}

fn give_access(pool: CUmemoryPool, flags: u32) {
    let at = CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: 0 };
    let access = CUmemAccessDesc { location: at, flags: CUmemAccess_flags(flags) };
    ok!(cuMemPoolSetAccess(pool, &access, 1));
}

/// As measured on an H100 with driver 580.
#[test]
fn kernels_reach_a_pool_of_the_host_once_the_device_was_given_access() {
    const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
    let context = TestContext::new();
    let (stream, other, mut pool) = (stream(1), alloc(16), CUmemoryPool::null());
    let of_host = CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST, id: 0 };
    let props = CUmemPoolProps {
        allocType: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        location: of_host,
        ..CUmemPoolProps::zeroed()
    };
    ok!(cuMemPoolCreate(&mut pool, &props));
    let access = |mut location: CUmemLocation| {
        let mut flags = CUmemAccess_flags(9);
        ok!(cuMemPoolGetAccess(&mut flags, pool, &mut location));
        flags.0
    };
    let of_device = CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: 0 };
    assert_eq!((access(of_host), access(of_device)), (3, 0));
    let mut memory = 0;
    ok!(cuMemAllocFromPoolAsync(&mut memory, 16, pool, stream));
    let mut pointer = 0u64;
    let mut on_device = || {
        let attribute = CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_POINTER;
        code!(cuPointerGetAttribute((&raw mut pointer).cast(), attribute, memory))
    };
    let copying = kernel();
    assert_eq!(code!(cuMemsetD8Async(memory, 5, 16, stream)), INVALID);
    assert_eq!(on_device(), INVALID);
    give_access(pool, 3);
    assert_eq!((access(of_device), on_device()), (3, CUresult::CUDA_SUCCESS));
    ok!(cuMemsetD8Async(memory, 5, 16, stream));
    assert_eq!(copy_by(copying, other, memory, stream), CUresult::CUDA_SUCCESS);
    assert_eq!(read::<u32>(other, 1)[0], 0x0505_0505);
    give_access(pool, 0);
    assert_eq!(access(of_device), 0);
    // For any allocation, and at any time.
    assert_eq!(copy_by(copying, other, memory, stream), CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
    drop(context);
}

/// A kernel that copies a word.
pub(crate) fn kernel() -> CUfunction {
    let text = c".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k(.param .u64 to, .param .u64 from) {\n\
        .reg .b64 %a<2>; .reg .b32 %r; ld.param.u64 %a0, [to]; ld.param.u64 %a1, [from];\n\
        ld.global.u32 %r, [%a1]; st.global.u32 [%a0], %r; ret; }\n";
    let (mut module, mut function) = (CUmodule::null(), CUfunction::null());
    ok!(cuModuleLoadData(&mut module, text.as_ptr().cast()));
    ok!(cuModuleGetFunction(&mut function, module, c"k".as_ptr()));
    function
}

pub(crate) fn copy_by(kernel: CUfunction, mut to: u64, mut from: u64, stream: CUstream) -> CUresult {
    let mut arguments = [(&raw mut to).cast::<core::ffi::c_void>(), (&raw mut from).cast()];
    let extra = core::ptr::null_mut();
    ok!(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, arguments.as_mut_ptr(), extra));
    code!(cuStreamSynchronize(stream))
}
