//! Virtual memory, the linker, and settings other than the default: an old driver, two devices,
//! little memory, and operations that run only when a thread waits.
//!
//! A separate program, because it installs these settings.

use core::ffi::{CStr, c_void};
use core::ptr::null_mut;
use std::sync::Once;

use cuprum_emulator::{Mode, Settings};
use cuprum_sys::*;
use cuprum_testing::driver_calls::*;

const INVALID_VALUE: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
const MIB: usize = 1 << 20;

/// Installs the settings: CUDA 12.4, two devices of 64 MiB, deferred.
fn setup() {
    static SETUP: Once = Once::new();
    SETUP.call_once(|| {
        let settings = Settings::default().driver_version(12, 4).devices(2);
        let settings = settings.memory_bytes(64 << 20).compute_capability(7, 5).multiprocessors(77);
        settings.mode(Mode::Deferred).install().unwrap();
    });
}

fn context_on(device: CUdevice) -> TestContext {
    setup();
    let mut context = CUcontext::null();
    ok!(cuCtxCreate_v2(&mut context, 0, device));
    TestContext(context)
}

#[test]
fn an_old_driver_lacks_what_came_later() {
    setup();
    let library = cuprum_emulator::library();
    assert_eq!(library.version(), Version::new(12, 4));
    assert!(library.has(FnId::cuFuncGetParamInfo));
    assert!(!library.has(FnId::cuCtxCreate_v4));
    assert!(cuprum_emulator::resolve(&FnId::cuCtxCreate_v4.symbol()).is_null());
    let mut address = NULL;
    ok!(cuGetProcAddress_v2(c"cuCtxCreate".as_ptr(), &mut address, 13000, 0, null_mut()));
    let newest = cuprum_emulator::resolve(&FnId::cuCtxCreate_v3.symbol());
    assert_eq!(address.cast_const(), newest);
    assert!(Settings::default().install().is_err());
}

#[test]
fn the_number_of_multiprocessors_is_a_setting() {
    setup();
    let mut count = 0;
    ok!(cuInit(0));
    ok!(cuDeviceGetAttribute(&mut count, CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 1));
    assert_eq!(count, 77);
}

#[test]
fn two_devices_share_addresses_and_copy_to_each_other() {
    let first = context_on(0);
    let from = alloc(16);
    write(from, &[1u32, 2, 3, 4]);
    let second = context_on(1);
    let to = alloc(16);
    let mut device = -1;
    ok!(cuCtxGetDevice(&mut device));
    assert_eq!(device, 1);
    let mut can = -1;
    ok!(cuDeviceCanAccessPeer(&mut can, 0, 1));
    assert_eq!(can, 1);
    ok!(cuDeviceCanAccessPeer(&mut can, 1, 1));
    assert_eq!(can, 0);
    ok!(cuCtxEnablePeerAccess(first.0, 0));
    assert_eq!(code!(cuCtxEnablePeerAccess(first.0, 0)), CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
    ok!(cuMemcpyPeer(to, second.0, from, first.0, 16));
    assert_eq!(read::<u32>(to, 4), [1, 2, 3, 4]);
    ok!(cuCtxDisablePeerAccess(first.0));
    assert_eq!(code!(cuCtxDisablePeerAccess(first.0)), CUresult::CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
    let mut ordinal = -1;
    let attribute = CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL;
    ok!(cuPointerGetAttribute((&raw mut ordinal).cast(), attribute, to));
    assert_eq!(ordinal, 1);
}

/// Reads the word at an address by a kernel in the current context. Returns the code of a wait.
fn read_by_kernel(mut address: CUdeviceptr) -> CUresult {
    let text = c".version 7.0 .target sm_52 .address_size 64
        .entry reader(.param .u64 p) { .reg .u64 a; .reg .u32 v; ld.param.u64 a, [p]; ld.global.u32 v, [a]; ret; }";
    let (mut module, mut function) = (CUmodule::null(), CUfunction::null());
    ok!(cuModuleLoadData(&mut module, text.as_ptr().cast()));
    ok!(cuModuleGetFunction(&mut function, module, c"reader".as_ptr()));
    let (none, mut arguments) = (core::ptr::null_mut(), [(&raw mut address).cast()]);
    ok!(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, CUstream::null(), arguments.as_mut_ptr(), none));
    code!(cuCtxSynchronize())
}

#[test]
fn kernels_reach_memory_of_another_device_while_they_have_access() {
    let first = context_on(0);
    let from = alloc(16);
    write(from, &[1u32, 2, 3, 4]);
    let (illegal, second) = (CUresult::CUDA_ERROR_ILLEGAL_ADDRESS, context_on(1));
    ok!(cuCtxEnablePeerAccess(first.0, 0));
    assert_eq!(read_by_kernel(from), CUresult::CUDA_SUCCESS);
    ok!(cuCtxDisablePeerAccess(first.0));
    assert_eq!(read_by_kernel(from), illegal, "access was taken away");
    let fault = cuprum_emulator::last_fault().unwrap().to_string();
    assert!(fault.contains("memory of another device without access to it"), "{fault}");
    assert!(fault.contains("allocation #"), "{fault}");
    drop(second);
    let _third = context_on(1);
    assert_eq!(read_by_kernel(from), illegal, "of another context, which never had access");
}

#[test]
fn deferred_operations_run_when_somebody_waits() {
    let _context = context_on(0);
    let stream = stream(1);
    let buffer = alloc(4);
    write(buffer, &[5u32]);
    // Still in progress in the default stream: no non-blocking stream nor the host waits for it.
    ok!(cuCtxSynchronize());
    let mut host = [0u32];
    let done = event(0);
    ok!(cuMemcpyDtoHAsync_v2(host.as_mut_ptr().cast(), buffer, 4, stream));
    ok!(cuEventRecord(done, stream));
    assert_eq!(host, [0], "read before the wait");
    assert_eq!(code!(cuStreamQuery(stream)), CUresult::CUDA_ERROR_NOT_READY);
    assert_eq!(code!(cuEventQuery(done)), CUresult::CUDA_ERROR_NOT_READY);
    ok!(cuEventSynchronize(done));
    assert_eq!(host, [5]);
    ok!(cuStreamQuery(stream));

    // Pageable memory may change as soon as the call returns.
    let mut source = [6u32];
    ok!(cuMemcpyHtoDAsync_v2(buffer, source.as_ptr().cast(), 4, stream));
    source[0] = 7;
    ok!(cuStreamSynchronize(stream));
    assert_eq!(read::<u32>(buffer, 1), [6]);
    assert_eq!(source, [7]);
}

#[test]
fn no_call_waits_for_what_stays_on_the_device() {
    let _context = context_on(0);
    let (one, other) = (alloc(4), alloc(4));
    let busy = || code!(cuStreamQuery(CUstream::null())) == CUresult::CUDA_ERROR_NOT_READY;
    ok!(cuMemsetD32_v2(one, 3, 1));
    assert!(busy(), "a fill");
    ok!(cuStreamSynchronize(CUstream::null()));
    ok!(cuMemcpyDtoD_v2(other, one, 4));
    assert!(busy(), "a copy");
    ok!(cuStreamSynchronize(CUstream::null()));
    ok!(cuMemcpy(one, other, 4));
    assert!(busy(), "a copy of unified addresses");
    assert_eq!(read::<u32>(one, 1), [3]);
    assert!(!busy());

    // The host can access managed memory and its own.
    let mut managed = 0;
    ok!(cuMemAllocManaged(&mut managed, 4, CUmemAttach_flags::CU_MEM_ATTACH_GLOBAL.0));
    ok!(cuMemsetD32_v2(managed, 5, 1));
    assert!(!busy(), "a fill of managed memory");
    ok!(cuMemcpyDtoD_v2(managed, one, 4));
    assert!(!busy(), "a copy into managed memory");
    ok!(cuMemFree_v2(managed));
}

#[test]
fn streams_keep_order_with_the_legacy_stream_unless_they_do_not_block() {
    let _context = context_on(0);
    let (blocking, free) = (stream(0), stream(1));
    let buffer = alloc(8);
    ok!(cuMemsetD32_v2(buffer, 0, 2));
    // The non-blocking stream comes first: a wait for later work must not run it.
    ok!(cuMemsetD32Async(buffer + 4, 1, 1, free));
    ok!(cuMemsetD32Async(buffer, 1, 1, blocking));
    // A wait for the legacy stream also waits for the blocking one, and for no other.
    ok!(cuMemsetD8Async(buffer, 0, 0, CUstream::null()));
    ok!(cuStreamSynchronize(CUstream::null()));
    ok!(cuStreamQuery(blocking));
    assert_eq!(code!(cuStreamQuery(free)), CUresult::CUDA_ERROR_NOT_READY);
    ok!(cuCtxSynchronize());
    assert_eq!(read::<u32>(buffer, 2), [1, 1]);
}

fn on_first_device() -> CUmemAllocationProp {
    CUmemAllocationProp {
        type_: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        location: CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: 0 },
        ..CUmemAllocationProp::zeroed()
    }
}

/// Maps 4 MiB without access for any device, at the start of 8 MiB.
fn mapped() -> (u64, u64) {
    let (mut address, mut handle) = (0, 0);
    ok!(cuMemAddressReserve(&mut address, 8 * MIB, 0, 0, 0));
    ok!(cuMemCreate(&mut handle, 4 * MIB, &on_first_device(), 0));
    ok!(cuMemMap(address, 4 * MIB, 0, handle, 0));
    (address, handle)
}

fn access(id: i32, flags: u32) -> CUmemAccessDesc {
    CUmemAccessDesc {
        location: CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id },
        flags: CUmemAccess_flags(flags),
    }
}

#[test]
fn mapped_memory_appears_where_it_was_reserved() {
    let _context = context_on(0);
    let props = on_first_device();
    let minimum = CUmemAllocationGranularity_flags::CU_MEM_ALLOC_GRANULARITY_MINIMUM;
    let mut granule = 0;
    ok!(cuMemGetAllocationGranularity(&mut granule, &props, minimum));
    assert_eq!(granule, 2 * MIB);
    let (mut address, mut handles) = (0, [0; 2]);
    ok!(cuMemAddressReserve(&mut address, 2 * granule, 0, 0, 0));
    assert_eq!(code!(cuMemCreate(&mut handles[0], granule - 1, &props, 0)), INVALID_VALUE);
    for (index, handle) in handles.iter_mut().enumerate() {
        ok!(cuMemCreate(handle, granule, &props, 0));
        let at = address + (index * granule) as u64;
        ok!(cuMemMap(at, granule, 0, *handle, 0));
        assert_eq!(code!(cuMemMap(at, granule, 0, *handle, 0)), INVALID_VALUE);
        ok!(cuMemRelease(*handle));
    }
    let access = CUmemAccessDesc {
        location: props.location,
        flags: CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
    };
    ok!(cuMemSetAccess(address, 2 * granule, &access, 1));
    // Across the border between both mappings.
    let border = address + granule as u64 - 8;
    write(border, &[1u32, 2, 3, 4]);
    assert_eq!(read::<u32>(border, 4), [1, 2, 3, 4]);
    assert_eq!(code!(cuMemAddressFree(address, 2 * granule)), INVALID_VALUE);
    assert_eq!(code!(cuMemUnmap(address + granule as u64 / 2, granule)), INVALID_VALUE);
    ok!(cuMemUnmap(address, 2 * granule));
    // Unmapping an unmapped range has no effect.
    ok!(cuMemUnmap(address, 2 * granule));
    let mut host = [0u32];
    let to = host.as_mut_ptr().cast::<c_void>();
    assert_eq!(code!(cuMemcpyDtoH_v2(to, address, 4)), INVALID_VALUE);
    ok!(cuMemAddressFree(address, 2 * granule));
    assert_eq!(code!(cuMemAddressFree(address, 2 * granule)), INVALID_VALUE);
}

#[test]
fn memory_ends_where_the_settings_say() {
    let _context = context_on(1);
    let mut pointer = 0;
    assert_eq!(code!(cuMemAlloc_v2(&mut pointer, 65 * MIB)), CUresult::CUDA_ERROR_OUT_OF_MEMORY);
    let (mut free, mut total) = (0, 0);
    ok!(cuMemGetInfo_v2(&mut free, &mut total));
    assert_eq!(total, 64 * MIB);
}

const CALLER: &CStr = c".version 6.0
.target sm_50
.address_size 64
.extern .func (.param .b32 result) twice(.param .b32 value);
.visible .entry call_twice(.param .u64 out)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r1, 21;
    { .param .b32 p; st.param.b32 [p], %r1; .param .b32 q;
      call.uni (q), twice, (p); ld.param.b32 %r2, [q]; }
    st.global.u32 [%rd2], %r2;
    ret;
}
";

const CALLEE: &CStr = c".version 6.0
.target sm_50
.address_size 64
.visible .func (.param .b32 result) twice(.param .b32 value)
{
    .reg .b32 %r<3>;
    ld.param.b32 %r1, [value];
    add.s32 %r2, %r1, %r1;
    st.param.b32 [result], %r2;
    ret;
}
";

#[test]
fn the_linker_puts_two_modules_together() {
    let _context = context_on(0);
    let mut link = CUlinkState::null();
    ok!(cuLinkCreate_v2(0, null_mut(), null_mut(), &mut link));
    let ptx = CUjitInputType::CU_JIT_INPUT_PTX;
    for text in [CALLER, CALLEE] {
        let bytes = text.to_bytes_with_nul();
        let data = bytes.as_ptr().cast_mut().cast();
        ok!(cuLinkAddData_v2(link, ptx, data, bytes.len(), c"part".as_ptr(), 0, null_mut(), null_mut()));
    }
    let library = CUjitInputType::CU_JIT_INPUT_LIBRARY;
    let some = CALLER.as_ptr().cast_mut().cast();
    assert_eq!(
        code!(cuLinkAddData_v2(link, library, some, 8, c"x".as_ptr(), 0, null_mut(), null_mut())),
        CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU
    );
    let (mut image, mut size) = (NULL, 0);
    ok!(cuLinkComplete(link, &mut image, &mut size));
    assert!(size > CALLER.count_bytes());
    let mut module = CUmodule::null();
    ok!(cuModuleLoadData(&mut module, image));
    ok!(cuLinkDestroy(link));
    let mut function = CUfunction::null();
    ok!(cuModuleGetFunction(&mut function, module, c"call_twice".as_ptr()));
    let mut out = alloc(4);
    let result = out;
    let mut params: [*mut c_void; 1] = [(&raw mut out).cast()];
    let stream = CUstream::null();
    ok!(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, params.as_mut_ptr(), null_mut()));
    assert_eq!(read::<u32>(result, 1), [42]);
}

/// As on an H100.
#[test]
fn memory_is_reached_by_whom_access_is_given() {
    let _context = context_on(0);
    let (address, handle) = mapped();
    let mut host = [0u32];
    let to = host.as_mut_ptr().cast::<c_void>();
    assert_eq!(code!(cuMemcpyDtoH_v2(to, address, 4)), INVALID_VALUE, "before access is set");
    let set = |size, id, flags, count| code!(cuMemSetAccess(address, size, &access(id, flags), count));
    for (size, id, flags, count) in [
        (0, 0, 3, 1),
        (2 * MIB, 0, 3, 1),
        (4 * MIB, 0, 3, 0),
        (4 * MIB, 0, 2, 1),
        (4 * MIB, 99, 3, 1),
        (8 * MIB, 0, 3, 1),
    ] {
        assert_eq!(set(size, id, flags, count), INVALID_VALUE);
    }
    let told = |id, at| {
        let mut flags = 99;
        let code = code!(cuMemGetAccess(&mut flags, &access(id, 0).location, at));
        if code == CUresult::CUDA_SUCCESS { Ok(flags) } else { Err(code) }
    };
    for flags in [3, 1, 0, 3] {
        assert_eq!(set(4 * MIB, 0, flags, 1), CUresult::CUDA_SUCCESS);
        assert_eq!((told(0, address + 7), told(1, address)), (Ok(u64::from(flags)), Ok(0)));
        let read = code!(cuMemcpyDtoH_v2(to, address, 4));
        assert_eq!(read == CUresult::CUDA_SUCCESS, flags != 0, "{flags}");
    }
    assert_eq!(told(0, address + 6 * MIB as u64), Err(INVALID_VALUE));
    assert_eq!(told(99, address), Err(CUresult::CUDA_ERROR_INVALID_DEVICE));
    ok!(cuMemUnmap(address, 8 * MIB));
    ok!(cuMemAddressFree(address, 8 * MIB));
    ok!(cuMemRelease(handle));
}

/// As on an H100.
#[test]
fn a_handle_that_is_released_stays_while_its_memory_is_mapped() {
    let _context = context_on(0);
    let ((address, handle), mut again) = (mapped(), 0);
    for (size, offset) in [(2 * MIB, 0), (2 * MIB, 2 * MIB), (8 * MIB, 0)] {
        let part = code!(cuMemMap(address, size, offset, handle, 0));
        assert_eq!(part, CUresult::CUDA_ERROR_NOT_SUPPORTED, "a part, or more than all");
    }
    ok!(cuMemSetAccess(address, 4 * MIB, &access(0, 3), 1));
    write(address, &[7u32]);
    let inside = core::ptr::without_provenance_mut(address as usize + 5);
    ok!(cuMemRetainAllocationHandle(&mut again, inside));
    assert_eq!(again, handle);
    ok!(cuMemRelease(handle));
    ok!(cuMemRelease(handle));
    assert_eq!(code!(cuMemRelease(handle)), INVALID_VALUE);
    assert_eq!(read::<u32>(address, 1), [7]);
    ok!(cuMemRetainAllocationHandle(&mut again, inside));
    assert_eq!(again, handle);
    ok!(cuMemRelease(handle));
    assert_eq!(code!(cuMemAddressFree(address, 8 * MIB)), INVALID_VALUE);
    ok!(cuMemUnmap(address, 8 * MIB));
    let mut told = on_first_device();
    assert_eq!(code!(cuMemGetAllocationPropertiesFromHandle(&mut told, handle)), INVALID_VALUE);
    ok!(cuMemAddressFree(address, 8 * MIB));
}
