//! A child that was forked after initialization gets typed errors at once, and its drops do
//! nothing.
//!
//! A program of its own, with one test: `fork` copies only the thread that calls it, and the locks
//! as others had them.

#![cfg(unix)]

use cuprum_testing::common;
use std::ffi::{c_int, c_uint};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use common::context;

use cuprum::context::{Context, ContextFlags, ContextStack, PrimaryContext};
use cuprum::memory::PinnedFlags;
use cuprum::pool::{BufferPool, PinnedPool};
use cuprum::{Buffer, Device, Driver, MemoryError, Stream};

unsafe extern "C" {
    fn fork() -> c_int;
    fn waitpid(pid: c_int, status: *mut c_int, options: c_int) -> c_int;
    fn _exit(code: c_int) -> !;
    safe fn alarm(seconds: c_uint) -> c_uint;
}

/// Children, each forked while other threads take the locks of two pools and let go of them.
const CHILDREN: usize = 200;

/// In a child, no method of a pool and no drop of its objects waits for a lock that is never
/// released.
fn no_child_waits_for_the_lock_of_a_pool(device: Device) {
    let context = Context::create(device, ContextFlags::empty()).unwrap().share();
    let made = context.enter(|cx| {
        let stream = Stream::new(cx).unwrap();
        Ok((stream, BufferPool::new(cx), PinnedPool::new(cx, PinnedFlags::empty())))
    });
    let (stream, pool, pinned) = made.unwrap();
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let busy = |cx: &mut cuprum::Current<'_, 'static>| {
                    while !over.load(Ordering::Relaxed) {
                        drop(pool.alloc::<u8>(cx, &stream, 64).unwrap());
                        drop(pinned.zeroed::<u8>(cx, 64).unwrap());
                    }
                    Ok(())
                };
                context.enter(busy).unwrap();
            });
        }
        let hung = context.enter(|cx| {
            let one = || (pool.alloc::<u8>(cx, &stream, 64).unwrap(), pinned.zeroed::<u8>(cx, 64).unwrap());
            Ok((0..CHILDREN).filter(|_| {
                let kept = one();
                // SAFETY: the child touches objects of this thread and two pools, and leaves
                // through `_exit`.
                let child = unsafe { fork() };
                if child == 0 {
                    alarm(20);
                    drop(kept);
                    let is_told = |error: MemoryError| matches!(error, MemoryError::Driver(error) if error.code() == cuprum::Error::FORKED);
                    let told = pool.alloc::<u8>(cx, &stream, 64).is_err_and(is_told)
                        && pinned.zeroed::<u8>(cx, 64).is_err_and(is_told)
                        && pool.free_held().is_err_and(|error| error.code() == cuprum::Error::FORKED)
                        && pinned.stop_holding().is_err_and(|error| error.code() == cuprum::Error::FORKED);
                    let _ = (pool.counters(), pinned.counters());
                    // SAFETY: ends the child without running the parent's exit functions.
                    unsafe { _exit(c_int::from(!told)) };
                }
                let mut status = -1;
                // SAFETY: a child of ours, and a place to write to.
                assert_eq!(unsafe { waitpid(child, &raw mut status, 0) }, child);
                status != 0
            }).count())
        });
        over.store(true, Ordering::Relaxed);
        assert_eq!(hung.unwrap(), 0, "of {CHILDREN} children");
    });
}

#[test]
fn a_forked_child_is_told_and_frees_nothing() {
    let context = context();
    let driver = context.driver();
    let mut stack = ContextStack::take().unwrap();
    let cx = stack.push(&context).unwrap();
    let buffer = Buffer::from_slice(&cx, &[1u32, 2, 3]).unwrap();
    let primary = PrimaryContext::retain(context.device()).unwrap();

    // SAFETY: the child touches only objects of this thread, and leaves through `_exit`.
    let child = unsafe { fork() };
    assert!(child >= 0, "no child");
    if child == 0 {
        let answers = [
            driver.devices().is_err_and(|error| error.code() == cuprum::Error::FORKED),
            Driver::init(driver.library()).is_err_and(|error| error.code() == cuprum::Error::FORKED),
            cx.synchronize().is_err_and(|error| error.code() == cuprum::Error::FORKED),
            matches!(buffer.to_vec(&cx), Err(MemoryError::Driver(error)) if error.code() == cuprum::Error::FORKED),
            primary.close().is_err_and(|error| {
                error.code() == cuprum::Error::FORKED
                    && error.call().to_string().starts_with("cuDevicePrimaryCtxRelease")
            }),
        ];
        let swallowed = cuprum::swallowed::count();
        drop(buffer);
        drop(cx);
        drop(context);
        let silent = cuprum::swallowed::count() == swallowed;
        // The number of the first wrong answer, counted from 1.
        let wrong = answers.iter().chain([&silent]).position(|&right| !right).map_or(0, |i| i as c_int + 1);
        // SAFETY: ends the child without running the parent's exit functions.
        unsafe { _exit(wrong) };
    }
    let mut status = -1;
    // SAFETY: a child of ours, and a place to write to.
    assert_eq!(unsafe { waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0, "the child's wait status; its exit code is the number of the first wrong answer");

    // The parent's objects are alive.
    assert_eq!(buffer.to_vec(&cx).unwrap(), [1, 2, 3]);
    no_child_waits_for_the_lock_of_a_pool(context.device());
}
