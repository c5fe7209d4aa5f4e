//! Unordered reads: work for which the host need not wait is not finished when the call returns.
//!
//! As recorded on an H100 by `tests/gpu/probe_order.py`, and as NVIDIA documents waits.
//!
//! A separate program, because it installs the deferred mode.

use core::ffi::c_void;
use core::ptr::null_mut;
use std::sync::Once;

use cuprum_emulator::{Mode, Settings};
use cuprum_sys::*;
use cuprum_testing::driver_calls::*;

const NON_BLOCKING: u32 = CUstream_flags::CU_STREAM_NON_BLOCKING.0;

fn context() -> TestContext {
    static SETUP: Once = Once::new();
    SETUP.call_once(|| Settings::default().mode(Mode::Deferred).install().unwrap());
    TestContext::new()
}

/// Reads the first byte of device memory on a separate stream that waits for no other.
fn read_apart(from: CUdeviceptr) -> u8 {
    let apart = stream(NON_BLOCKING);
    let mut byte = 0u8;
    ok!(cuMemcpyDtoHAsync_v2((&raw mut byte).cast(), from, 1, apart));
    ok!(cuStreamSynchronize(apart));
    ok!(cuStreamDestroy_v2(apart));
    byte
}

fn ones(bytes: usize) -> CUdeviceptr {
    let memory = alloc(bytes);
    ok!(cuMemsetD8_v2(memory, 1, bytes));
    ok!(cuCtxSynchronize());
    memory
}

fn rows(to: CUdeviceptr, from: CUdeviceptr) -> CUDA_MEMCPY2D {
    CUDA_MEMCPY2D {
        srcMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
        srcDevice: from,
        dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
        dstDevice: to,
        WidthInBytes: 16,
        Height: 2,
        ..CUDA_MEMCPY2D::zeroed()
    }
}

#[test]
fn a_fill_is_not_waited_for_unless_the_host_sees_the_memory() {
    let _context = context();
    let memory = ones(64);
    ok!(cuMemsetD8_v2(memory, 2, 64));
    assert_eq!(read_apart(memory), 1);
    ok!(cuStreamSynchronize(CUstream::null()));
    assert_eq!(read_apart(memory), 2);
    ok!(cuMemsetD16_v2(memory, 0x0303, 32));
    ok!(cuMemsetD32_v2(memory, 0x0404_0404, 16));
    ok!(cuMemsetD2D8_v2(memory, 16, 5, 16, 2));
    assert_eq!(read_apart(memory), 2);
    assert_eq!(read::<u8>(memory, 64)[..], [[5u8; 32], [4; 32]].concat());

    let (mut pinned, mut managed) = (null_mut::<c_void>(), 0);
    ok!(cuMemAllocHost_v2(&mut pinned, 64));
    ok!(cuMemsetD8_v2(pinned.addr() as u64, 6, 64));
    // SAFETY: the memory just allocated; the call has waited.
    assert_eq!(unsafe { pinned.cast::<u8>().read() }, 6);
    ok!(cuMemAllocManaged(&mut managed, 64, 1));
    ok!(cuMemsetD8_v2(managed, 7, 64));
    assert_eq!(read_apart(managed), 7);
}

#[test]
fn a_copy_within_the_device_is_not_waited_for() {
    let _context = context();
    let (memory, other) = (ones(64), alloc(64));
    write(other, &[2u8; 64]);
    ok!(cuCtxSynchronize());
    ok!(cuMemcpyDtoD_v2(memory, other, 64));
    assert_eq!(read_apart(memory), 1);
    assert_eq!(read::<u8>(memory, 64), [2; 64]);
    ok!(cuMemsetD8_v2(other, 3, 64));
    ok!(cuMemcpy(memory, other, 64));
    ok!(cuMemcpy2D_v2(&rows(memory, other)));
    assert_eq!(read_apart(memory), 2);
    assert_eq!(read::<u8>(memory, 64), [3; 64]);
}

#[test]
fn pageable_bytes_are_away_but_not_yet_there() {
    let _context = context();
    for bytes in [4, 1 << 16, 1 << 20] {
        let memory = ones(bytes);
        let mut host = vec![2u8; bytes];
        ok!(cuMemcpyHtoD_v2(memory, host.as_ptr().cast(), bytes));
        // The client may use it again.
        host.fill(3);
        assert_eq!(read_apart(memory), 1);
        assert_eq!(read::<u8>(memory, bytes), vec![2; bytes]);
    }
    // Copies from page-locked memory are waited for.
    let memory = ones(64);
    let mut pinned = null_mut::<c_void>();
    ok!(cuMemAllocHost_v2(&mut pinned, 64));
    // SAFETY: the memory just allocated.
    unsafe { pinned.cast::<u8>().write_bytes(4, 64) };
    ok!(cuMemcpyHtoD_v2(memory, pinned, 64));
    assert_eq!(read_apart(memory), 4);
}

#[test]
fn a_copy_to_the_device_reads_what_earlier_work_wrote_to_its_source() {
    let _context = context();
    let (memory, other) = (ones(64), alloc(64));
    let mut host = [0u8; 64];
    ok!(cuMemcpyDtoHAsync_v2(host.as_mut_ptr().cast(), memory, 64, CUstream::null()));
    ok!(cuMemcpyHtoD_v2(other, host.as_ptr().cast(), 64));
    assert_eq!(host, [1; 64]);
    assert_eq!(read::<u8>(other, 64), [1; 64]);
}

#[test]
fn the_default_streams_of_two_threads_do_not_wait_for_each_other() {
    let context = context();
    let library = cuprum_emulator::library_in(StreamMode::PerThread);
    let fns = library.fns();
    let memory = ones(64);
    // SAFETY: live device memory.
    assert_eq!(unsafe { (fns.cuMemsetD8_v2)(memory, 2, 64) }, CUresult::CUDA_SUCCESS);
    let handle = context.0.0.expose_provenance();
    let seen = std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            ok!(cuCtxPushCurrent_v2(CUcontext(core::ptr::with_exposed_provenance_mut(handle))));
            let mut byte = 0u8;
            // SAFETY: a valid output for the byte; the call waits.
            let copied = unsafe { (fns.cuMemcpyDtoH_v2)((&raw mut byte).cast(), memory, 1) };
            assert_eq!(copied, CUresult::CUDA_SUCCESS);
            byte
        });
        other.join().unwrap()
    });
    assert_eq!(seen, 1);
    let mut byte = 0u8;
    // SAFETY: as above.
    assert_eq!(unsafe { (fns.cuMemcpyDtoH_v2)((&raw mut byte).cast(), memory, 1) }, CUresult::CUDA_SUCCESS);
    assert_eq!(byte, 2);
}

#[test]
fn fresh_memory_holds_what_was_there() {
    let _context = context();
    // No other test of this file frees memory of this size.
    let bytes = 4711;
    let memory = ones(bytes);
    assert_eq!(read::<u8>(memory, 1), [1]);
    ok!(cuMemFree_v2(memory));
    assert_eq!(read::<u8>(alloc(bytes), bytes), vec![1; bytes]);
    let memory = ones(bytes);
    ok!(cuMemFreeAsync(memory, CUstream::null()));
    ok!(cuCtxSynchronize());
    let mut again = 0;
    ok!(cuMemAllocAsync(&mut again, bytes, CUstream::null()));
    assert_eq!(read::<u8>(again, bytes), vec![1; bytes]);
}

/// As measured on an H100 with driver 580, where work that still uses the memory then faults or
/// overwrites another allocation.
#[test]
fn freeing_memory_of_a_pool_does_not_wait() {
    const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
    let _context = context();
    let (apart, seen, plain) = (stream(NON_BLOCKING), ones(16), alloc(16));
    let mut pooled = [0; 2];
    for memory in &mut pooled {
        ok!(cuMemAllocAsync(memory, 16, apart));
    }
    ok!(cuStreamSynchronize(apart));
    ok!(cuMemFreeAsync(pooled[0], apart));
    ok!(cuMemsetD8Async(seen, 2, 16, apart));
    assert_eq!(code!(cuMemFree_v2(pooled[0])), INVALID, "the stream is to free it");
    assert_eq!(code!(cuMemFreeAsync(pooled[0], apart)), INVALID);
    ok!(cuMemFree_v2(pooled[1]));
    assert_eq!(code!(cuMemFree_v2(pooled[1])), INVALID);
    assert_eq!(read_apart(seen), 1);
    ok!(cuMemFree_v2(plain));
    assert_eq!(read_apart(seen), 2);
    ok!(cuStreamDestroy_v2(apart));
}
