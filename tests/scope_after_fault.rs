//! A fault of a kernel during a scope: after the end of the scope, the device does not write the
//! host's memory any more, page-locked or not. This does not hold for copies by calls outside of
//! this crate.
//!
//! A program of its own: the emulator runs work asynchronously here, and on hardware the fault is
//! the process's.

use cuprum_testing::common;
use std::ffi::c_void;
use std::time::Duration;

use common::{context, kernels};
use cuprum::context::ContextStack;
use cuprum::sys::{CUresult, call};
use cuprum::{Buffer, Current, In, LaunchConfig, MemoryError, Stream};

/// Bytes of a copy: it takes longer than the fault, on the emulator.
const BYTES: usize = 256 << 20;

/// Page-locked memory, as another crate would hand it out: as a slice. It is never freed.
fn page_locked(cx: &Current<'_, '_>) -> &'static mut [u8] {
    let mut start = std::ptr::null_mut::<c_void>();
    let fns = cx.context().driver().library().fns();
    // SAFETY: the out-parameter outlives the call, and a context is current.
    let (code, _) = unsafe { call!(fns, cuMemHostAlloc(&raw mut start, BYTES, 0)) };
    assert_eq!(code, CUresult::CUDA_SUCCESS);
    // SAFETY: so many bytes, to be written, of an allocation of its own.
    unsafe { start.cast::<u8>().write_bytes(0, BYTES) };
    // SAFETY: as above, and now they have a value; the allocation stays.
    unsafe { std::slice::from_raw_parts_mut(start.cast(), BYTES) }
}

/// Puts a mark into every page, to see which ones are written later.
fn mark(host: *mut u8) {
    // SAFETY: the allocations of this test are never freed; the device may write a byte at the same
    // time.
    (0..BYTES).step_by(4096).for_each(|at| unsafe { host.wrapping_add(at).write_volatile(2) });
}

/// Pages without a mark.
fn written(host: *const u8) -> usize {
    // SAFETY: the allocations of this test are never freed; the device may write a byte at the same
    // time.
    (0..BYTES).step_by(4096).filter(|&at| unsafe { host.wrapping_add(at).read_volatile() } != 2).count()
}

#[test]
fn nothing_is_written_after_the_scope() {
    cuprum_emulator::Settings::default().mode(cuprum_emulator::Mode::Async).install().expect("the first use");
    let context = context();
    let mut stack = ContextStack::take().unwrap();
    let cx = stack.push(&context).unwrap();
    let module = kernels!(&cx, "faults");
    let trap = module.function("trap_if").unwrap().bind::<(In<u32>,)>().unwrap();
    let flag = Buffer::from_slice(&cx, &[1u32]).unwrap();
    let (host, other) = (page_locked(&cx), page_locked(&cx).as_mut_ptr());
    let mut buffer = Buffer::<u8>::alloc(&cx, BYTES).unwrap();
    cx.fill(&mut buffer, 1).unwrap();
    let (stream, raw) = (Stream::non_blocking(&cx).unwrap(), Stream::non_blocking(&cx).unwrap());
    cx.synchronize().unwrap();

    let fns = context.driver().library().fns();
    for _ in 0..8 {
        // SAFETY: both sides have so many bytes, and neither is freed before the process ends.
        let (code, _) =
            unsafe { call!(fns, cuMemcpyDtoHAsync_v2(other.cast(), buffer.as_raw(), BYTES, raw.as_raw())) };
        assert_eq!(code, CUresult::CUDA_SUCCESS);
    }
    let copied = host.as_mut_ptr();
    let ended = std::thread::scope(|threads| {
        threads.spawn(|| {
            let trapped = context.enter_as(|cx| {
                let beside = Stream::non_blocking(cx).unwrap();
                // SAFETY: the kernel reads one element, and traps.
                unsafe { trap.launch(cx, &beside, LaunchConfig::new(1, 1), (&flag,)) }.unwrap();
                beside.synchronize(cx)
            });
            assert!(trapped.unwrap_err().is_sticky());
        });
        // Until the fault is known, or refused by it.
        (0..100).try_for_each(|_| -> Result<(), MemoryError> {
            cx.scope_as(&stream, |scope| scope.read(host, &scope.lend(buffer.as_mut_slice())?))
        })
    });
    mark(copied);
    mark(other);
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(written(copied), 0, "the host's memory was written after the scope had ended: {ended:?}");
    if !common::on_gpu() {
        // `tests/gpu/after_fault.sh` records the effect of hardware on such copies.
        assert!(written(other) > 0, "a device that stops its copies proves nothing");
    }
    assert!(cx.synchronize().unwrap_err().is_sticky());
}
