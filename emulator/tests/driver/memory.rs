//! Allocation, copies, fills, and queries about addresses.

use core::ffi::c_void;
use core::ptr::null_mut;

use cuprum_sys::*;
use cuprum_testing::driver_calls::*;

const INVALID_VALUE: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;

#[test]
fn a_buffer_keeps_what_is_copied_into_it() {
    let _context = TestContext::new();
    let values: Vec<u32> = (0..1000).collect();
    let (first, second) = (alloc(4000), alloc(4000));
    write(first, &values);
    ok!(cuMemcpyDtoD_v2(second, first, 4000));
    assert_eq!(read::<u32>(second, 1000), values);
    ok!(cuMemcpyDtoD_v2(second + 400, first, 400));
    assert_eq!(read::<u32>(second + 400, 100), values[..100]);
    assert_eq!(read::<u32>(second + 800, 1), [200]);
    ok!(cuMemFree_v2(first));
    ok!(cuMemFree_v2(second));
}

#[test]
fn sizes_and_pointers_are_checked() {
    let _context = TestContext::new();
    let mut pointer = 0;
    assert_eq!(code!(cuMemAlloc_v2(&mut pointer, 0)), INVALID_VALUE);
    assert_eq!(code!(cuMemAlloc_v2(null_mut(), 16)), INVALID_VALUE);
    assert_eq!(code!(cuMemAlloc_v2(&mut pointer, usize::MAX)), CUresult::CUDA_ERROR_OUT_OF_MEMORY);
    assert_eq!(code!(cuMemAlloc_v2(&mut pointer, 1 << 40)), CUresult::CUDA_ERROR_OUT_OF_MEMORY);
    let buffer = alloc(100);
    let mut host = [0u8; 200];
    let to = host.as_mut_ptr().cast::<c_void>();
    assert_eq!(code!(cuMemcpyDtoH_v2(to, buffer, 101)), INVALID_VALUE);
    assert_eq!(code!(cuMemcpyDtoH_v2(to, buffer + 50, 51)), INVALID_VALUE);
    assert_eq!(code!(cuMemcpyDtoH_v2(null_mut(), buffer, 1)), INVALID_VALUE);
    assert_eq!(code!(cuMemcpyDtoH_v2(to, 0, 1)), INVALID_VALUE);
    ok!(cuMemcpyDtoH_v2(to, buffer, 0));
    assert_eq!(code!(cuMemFree_v2(buffer + 4)), INVALID_VALUE);
    ok!(cuMemFree_v2(buffer));
    assert_eq!(code!(cuMemFree_v2(buffer)), INVALID_VALUE);
    assert_eq!(code!(cuMemcpyDtoH_v2(to, buffer, 1)), INVALID_VALUE);
    ok!(cuMemFree_v2(0));
}

#[test]
fn info_falls_by_what_is_allocated() {
    let _context = TestContext::new();
    let (mut free, mut total, mut device_total) = (0, 0, 0);
    ok!(cuDeviceTotalMem_v2(&mut device_total, 0));
    let buffer = alloc(64 << 20);
    ok!(cuMemGetInfo_v2(&mut free, &mut total));
    assert_eq!(total, device_total);
    assert!(free <= total - (64 << 20));
    let (mut base, mut size) = (0, 0);
    ok!(cuMemGetAddressRange_v2(&mut base, &mut size, buffer + 1000));
    assert_eq!((base, size), (buffer, 64 << 20));
    ok!(cuMemGetAddressRange_v2(&mut base, null_mut(), buffer));
    assert_eq!(code!(cuMemGetAddressRange_v2(&mut base, &mut size, 16)), CUresult::CUDA_ERROR_NOT_FOUND);
}

#[test]
fn fills_of_each_width() {
    let _context = TestContext::new();
    let buffer = alloc(64);
    ok!(cuMemsetD8_v2(buffer, 0xab, 64));
    ok!(cuMemsetD16_v2(buffer + 2, 0x1234, 3));
    ok!(cuMemsetD32_v2(buffer + 16, 0xdead_beef, 5));
    let bytes = read::<u8>(buffer, 64);
    assert_eq!(bytes[..10], [0xab, 0xab, 0x34, 0x12, 0x34, 0x12, 0x34, 0x12, 0xab, 0xab]);
    assert_eq!(read::<u32>(buffer + 16, 5), [0xdead_beef; 5]);
    assert_eq!(bytes[36], 0xab);
    assert_eq!(code!(cuMemsetD16_v2(buffer + 1, 0, 1)), INVALID_VALUE);
    assert_eq!(code!(cuMemsetD32_v2(buffer + 2, 0, 1)), INVALID_VALUE);
    assert_eq!(code!(cuMemsetD8_v2(buffer, 0, 65)), INVALID_VALUE);
    ok!(cuMemsetD32_v2(buffer, 0, 0));
}

#[test]
fn pitched_fills_leave_the_gap_between_rows() {
    let _context = TestContext::new();
    let (mut buffer, mut pitch) = (0, 0);
    ok!(cuMemAllocPitch_v2(&mut buffer, &mut pitch, 100, 3, 4));
    assert!(pitch >= 100 && pitch % 32 == 0, "{pitch}");
    ok!(cuMemsetD8_v2(buffer, 1, pitch * 3));
    ok!(cuMemsetD2D32_v2(buffer, pitch, 0x0202_0202, 25, 3));
    let bytes = read::<u8>(buffer, pitch * 3);
    for row in bytes.chunks(pitch) {
        assert!(row[..100].iter().all(|&byte| byte == 2));
        assert!(row[100..].iter().all(|&byte| byte == 1));
    }
    assert_eq!(code!(cuMemAllocPitch_v2(&mut buffer, &mut pitch, 100, 3, 5)), INVALID_VALUE);
}

#[test]
fn a_two_dimensional_copy_takes_a_window() {
    let _context = TestContext::new();
    let source: Vec<u8> = (0..80).collect();
    let buffer = alloc(6 * 16);
    ok!(cuMemsetD8_v2(buffer, 0xff, 96));
    // Columns 2 to 5 of rows 1 to 3 of an 8 by 10 table, to column 3, row 2 of one 16 wide.
    let copy = CUDA_MEMCPY2D {
        srcMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
        srcHost: source.as_ptr().cast(),
        srcPitch: 8,
        srcXInBytes: 2,
        srcY: 1,
        dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
        dstDevice: buffer,
        dstPitch: 16,
        dstXInBytes: 3,
        dstY: 2,
        WidthInBytes: 4,
        Height: 3,
        ..CUDA_MEMCPY2D::zeroed()
    };
    ok!(cuMemcpy2D_v2(&copy));
    let target = read::<u8>(buffer, 96);
    for (y, row) in target.chunks(16).enumerate() {
        for (x, &byte) in row.iter().enumerate() {
            let inside = (3..7).contains(&x) && (2..5).contains(&y);
            let expected = if inside { ((y - 2 + 1) * 8 + (x - 3 + 2)) as u8 } else { 0xff };
            assert_eq!(byte, expected, "row {y}, column {x}");
        }
    }
    let too_narrow = CUDA_MEMCPY2D { dstPitch: 6, ..copy };
    assert_eq!(code!(cuMemcpy2D_v2(&too_narrow)), INVALID_VALUE);
    let too_high = CUDA_MEMCPY2D { Height: 5, ..copy };
    assert_eq!(code!(cuMemcpy2D_v2(&too_high)), INVALID_VALUE);
}

#[test]
fn a_three_dimensional_copy_and_an_array() {
    let _context = TestContext::new();
    let shape = CUDA_ARRAY3D_DESCRIPTOR {
        Width: 5,
        Height: 4,
        Depth: 3,
        Format: CUarray_format::CU_AD_FORMAT_FLOAT,
        NumChannels: 1,
        Flags: 0,
    };
    let mut array = CUarray::null();
    ok!(cuArray3DCreate_v2(&mut array, &shape));
    let values: Vec<f32> = (0..60).map(|value| value as f32).collect();
    let to_array = CUDA_MEMCPY3D {
        srcMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
        srcHost: values.as_ptr().cast(),
        srcPitch: 20,
        srcHeight: 4,
        dstMemoryType: CUmemorytype::CU_MEMORYTYPE_ARRAY,
        dstArray: array,
        WidthInBytes: 20,
        Height: 4,
        Depth: 3,
        ..CUDA_MEMCPY3D::zeroed()
    };
    ok!(cuMemcpy3D_v2(&to_array));
    let mut one = [0f32; 2];
    let from_array = CUDA_MEMCPY3D {
        srcMemoryType: CUmemorytype::CU_MEMORYTYPE_ARRAY,
        srcArray: array,
        srcXInBytes: 8,
        srcY: 3,
        srcZ: 1,
        dstMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
        dstHost: one.as_mut_ptr().cast(),
        WidthInBytes: 8,
        Height: 1,
        Depth: 1,
        ..CUDA_MEMCPY3D::zeroed()
    };
    ok!(cuMemcpy3D_v2(&from_array));
    assert_eq!(one, [37.0, 38.0]);
    let outside = CUDA_MEMCPY3D { srcXInBytes: 16, ..from_array };
    assert_eq!(code!(cuMemcpy3D_v2(&outside)), INVALID_VALUE);
    let mut described = CUDA_ARRAY3D_DESCRIPTOR::zeroed();
    ok!(cuArray3DGetDescriptor_v2(&mut described, array));
    assert_eq!((described.Width, described.Height, described.Depth), (5, 4, 3));
    ok!(cuArrayDestroy(array));
    assert_eq!(code!(cuArrayDestroy(array)), CUresult::CUDA_ERROR_INVALID_HANDLE);
}

#[test]
fn pinned_memory_is_one_memory_for_host_and_device() {
    let _context = TestContext::new();
    let mut host = NULL;
    ok!(cuMemHostAlloc(&mut host, 4096, CU_MEMHOSTALLOC_DEVICEMAP));
    let mut device = 0;
    ok!(cuMemHostGetDevicePointer_v2(&mut device, host.wrapping_byte_add(8), 0));
    ok!(cuMemsetD32_v2(device, 77, 1));
    // SAFETY: 4096 bytes of host memory, and the fill has finished.
    assert_eq!(unsafe { host.cast::<u32>().wrapping_add(2).read() }, 77);
    assert_eq!(code!(cuMemFree_v2(host.addr() as u64)), INVALID_VALUE);
    ok!(cuMemFreeHost(host));
    assert_eq!(code!(cuMemFreeHost(host)), INVALID_VALUE);
    assert_eq!(code!(cuMemHostAlloc(&mut host, 16, 0x100)), INVALID_VALUE);
}

/// As an H200 reports them (driver 580) for the first allocation of a process, whose pages later
/// ones share.
#[test]
fn flags_of_host_memory_are_those_of_hardware() {
    let _context = TestContext::new();
    let reported = |host| {
        let mut flags = u32::MAX;
        ok!(cuMemHostGetFlags(&mut flags, host));
        flags
    };
    for (asked, expected) in [(0, 2), (1, 3), (2, 2), (3, 3), (4, 6)] {
        let mut host = NULL;
        ok!(cuMemHostAlloc(&mut host, 64, asked));
        assert_eq!(reported(host), expected, "{asked} for an allocation");
        ok!(cuMemFreeHost(host));
    }
    let mut own = vec![0u64; 64];
    let own = own.as_mut_ptr().cast::<c_void>();
    for (asked, expected) in [(0, 2), (1, 3), (2, 2), (3, 3), (8, 2), (9, 3)] {
        ok!(cuMemHostRegister_v2(own, 512, asked));
        assert_eq!(reported(own), expected, "{asked} for a registration");
        ok!(cuMemHostUnregister(own));
    }
    assert_eq!(code!(cuMemHostRegister_v2(own, 512, CU_MEMHOSTREGISTER_IOMEMORY)), INVALID_VALUE);
}

#[test]
fn registered_memory_is_known_until_unregistered() {
    let _context = TestContext::new();
    let mut host = vec![1u32; 64];
    let pointer = host.as_mut_ptr().cast::<c_void>();
    ok!(cuMemHostRegister_v2(pointer, 256, CU_MEMHOSTREGISTER_PORTABLE));
    assert_eq!(
        code!(cuMemHostRegister_v2(pointer, 256, 0)),
        CUresult::CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED
    );
    let mut device = 0;
    ok!(cuMemHostGetDevicePointer_v2(&mut device, pointer, 0));
    ok!(cuMemsetD32_v2(device, 5, 64));
    assert_eq!(code!(cuMemHostUnregister(pointer.wrapping_byte_add(16))), INVALID_VALUE);
    ok!(cuMemHostUnregister(pointer));
    assert_eq!(host, [5; 64]);
    assert_eq!(code!(cuMemHostUnregister(pointer)), CUresult::CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    assert_eq!(code!(cuMemHostGetDevicePointer_v2(&mut device, pointer, 0)), INVALID_VALUE);
}

#[test]
fn managed_memory_and_its_attributes() {
    let _context = TestContext::new();
    let mut pointer = 0;
    ok!(cuMemAllocManaged(&mut pointer, 1024, 1));
    let host: *mut u32 = core::ptr::with_exposed_provenance_mut(pointer as usize);
    // SAFETY: managed memory of 1024 bytes, which the host may access.
    unsafe { host.write(99) };
    assert_eq!(read::<u32>(pointer, 1), [99]);
    let (mut managed, mut kind, mut size) = (9u8, 0u32, 0usize);
    let ask = |attribute, out: *mut c_void| code!(cuPointerGetAttribute(out, attribute, pointer + 4));
    use CUpointer_attribute as A;
    let success = CUresult::CUDA_SUCCESS;
    assert_eq!(ask(A::CU_POINTER_ATTRIBUTE_IS_MANAGED, (&raw mut managed).cast()), success);
    assert_eq!(ask(A::CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (&raw mut kind).cast()), success);
    assert_eq!(ask(A::CU_POINTER_ATTRIBUTE_RANGE_SIZE, (&raw mut size).cast()), success);
    assert_eq!((managed, kind, size), (1, CUmemorytype::CU_MEMORYTYPE_DEVICE.0, 1024));
    ok!(cuMemFree_v2(pointer));
    assert_eq!(ask(A::CU_POINTER_ATTRIBUTE_IS_MANAGED, (&raw mut managed).cast()), INVALID_VALUE);
    assert_eq!(code!(cuMemAllocManaged(&mut pointer, 16, 0)), INVALID_VALUE);
}

#[test]
fn attributes_of_an_unknown_address_are_no_error_together() {
    let _context = TestContext::new();
    let local = 0u32;
    let (mut kind, mut context) = (9u32, CUcontext(NULL.wrapping_byte_add(8)));
    let mut attributes = [
        CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
        CUpointer_attribute::CU_POINTER_ATTRIBUTE_CONTEXT,
    ];
    let mut out = [(&raw mut kind).cast::<c_void>(), (&raw mut context).cast()];
    let address = (&raw const local).addr() as u64;
    ok!(cuPointerGetAttributes(2, attributes.as_mut_ptr(), out.as_mut_ptr(), address));
    assert_eq!(kind, 0);
    assert!(context.is_null());
}

#[test]
fn a_unified_copy_finds_out_where_its_ends_are() {
    let _context = TestContext::new();
    let buffer = alloc(16);
    let source = [1u32, 2, 3, 4];
    let mut target = [0u32; 4];
    ok!(cuMemcpy(buffer, source.as_ptr().expose_provenance() as u64, 16));
    ok!(cuMemcpy(target.as_mut_ptr().expose_provenance() as u64, buffer, 16));
    assert_eq!(target, source);
    // A device pointer where host memory is expected is looked up, not dereferenced.
    let misused = core::ptr::without_provenance::<c_void>(buffer as usize + 8);
    ok!(cuMemcpyHtoD_v2(buffer, misused, 8));
    assert_eq!(read::<u32>(buffer, 4), [3, 4, 3, 4]);
    let stale = core::ptr::without_provenance::<c_void>(buffer as usize + 4096);
    assert_eq!(code!(cuMemcpyHtoD_v2(buffer, stale, 8)), INVALID_VALUE);
}

#[test]
fn more_than_a_mebibyte_starts_on_a_page_of_the_device() {
    const MIB: usize = 1 << 20;
    let _context = TestContext::new();
    for bytes in [MIB + 1, 3 * MIB / 2, 2 * MIB, 5 * MIB] {
        // A small allocation precedes each, so that the alignment is not by chance.
        alloc(1);
        assert_eq!(alloc(bytes) % (2 * MIB as u64), 0, "{bytes}");
        let (mut host, mut managed, mut pitched, mut pitch) = (NULL, 0, 0, 0);
        ok!(cuMemAllocHost_v2(&mut host, bytes));
        ok!(cuMemAllocManaged(&mut managed, bytes, 1));
        ok!(cuMemAllocPitch_v2(&mut pitched, &mut pitch, 4096, bytes / 4096 + 1, 4));
        for address in [host.addr() as u64, managed, pitched] {
            assert_eq!(address % (2 * MIB as u64), 0, "{bytes}");
        }
    }
    // Smaller allocations share a page and are only aligned to 512 bytes. Each single byte moves
    // the next one by 512, regardless of parallel tests.
    let shifted = |_| {
        alloc(1);
        alloc(4096)
    };
    let small: Vec<u64> = (0..16).map(shifted).collect();
    assert!(small.iter().all(|address| address % 512 == 0));
    assert!(small.iter().any(|address| address % 4096 != 0), "{small:?}");
}

#[test]
fn hosts_and_managed_memory_have_pools_of_their_own() {
    use {CUmemAllocationType as Memory, CUmemLocationType as Where};

    let _context = TestContext::new();
    let (pinned, managed) = (Memory::CU_MEM_ALLOCATION_TYPE_PINNED, Memory::CU_MEM_ALLOCATION_TYPE_MANAGED);
    let pool = |type_, id, memory| {
        let (mut location, mut pool) = (CUmemLocation { type_, id }, CUmemoryPool::null());
        let found = code!(cuMemGetMemPool(&mut pool, &mut location, memory));
        (found, pool)
    };
    let mut devices_own = CUmemoryPool::null();
    ok!(cuDeviceGetDefaultMemPool(&mut devices_own, 0));
    let success = CUresult::CUDA_SUCCESS;
    assert_eq!(pool(Where::CU_MEM_LOCATION_TYPE_DEVICE, 0, pinned), (success, devices_own));
    let of_host = pool(Where::CU_MEM_LOCATION_TYPE_HOST, 0, pinned).1;
    assert_eq!(pool(Where::CU_MEM_LOCATION_TYPE_HOST, 5, pinned), (success, of_host));
    let of_managed = pool(Where::CU_MEM_LOCATION_TYPE_DEVICE, 0, managed).1;
    assert_eq!(pool(Where::CU_MEM_LOCATION_TYPE_DEVICE, 1, managed).0, INVALID_VALUE);
    assert_eq!(pool(Where::CU_MEM_LOCATION_TYPE_INVALID, 0, pinned).0, INVALID_VALUE);
    let none = Where::CU_MEM_LOCATION_TYPE_NONE;
    assert_eq!(pool(none, 0, managed).0, success);
    let numa_current = Where::CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
    assert_eq!(pool(numa_current, 0, pinned).0, CUresult::CUDA_ERROR_NOT_SUPPORTED);
    for pool in [of_host, of_managed] {
        assert_ne!(pool, devices_own);
        let mut memory = 0;
        ok!(cuMemAllocFromPoolAsync(&mut memory, 4, pool, CUstream::null()));
        if pool == of_host {
            // As on an H100 with driver 580: no device can access it before it is given access.
            assert_eq!(code!(cuMemsetD8Async(memory, 7, 4, CUstream::null())), INVALID_VALUE);
            let location = CUmemLocation { type_: Where::CU_MEM_LOCATION_TYPE_DEVICE, id: 0 };
            let flags = CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
            ok!(cuMemPoolSetAccess(pool, &CUmemAccessDesc { location, flags }, 1));
        }
        ok!(cuMemsetD8Async(memory, 7, 4, CUstream::null()));
        ok!(cuStreamSynchronize(CUstream::null()));
        let bytes = core::ptr::with_exposed_provenance::<[u8; 4]>(memory as usize);
        // SAFETY: memory that the host can access, and the stream has finished with it.
        assert_eq!(unsafe { bytes.read() }, [7; 4]);
        ok!(cuMemFreeAsync(memory, CUstream::null()));
        assert_eq!(code!(cuMemPoolDestroy(pool)), INVALID_VALUE);
    }
}
