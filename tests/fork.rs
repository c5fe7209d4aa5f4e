//! A child that was forked after initialization gets typed errors at once, and its drops do nothing.
//!
//! A program of its own, with one test: `fork` copies only the thread that calls it.

#![cfg(unix)]

#[path = "support/common/mod.rs"]
mod common;

use std::ffi::c_int;

use common::context;
use cuprum::{Buffer, ContextStack, Driver, MemoryError, PrimaryContext};

unsafe extern "C" {
    fn fork() -> c_int;
    fn waitpid(pid: c_int, status: *mut c_int, options: c_int) -> c_int;
    fn _exit(code: c_int) -> !;
}

#[test]
fn a_forked_child_is_told_and_frees_nothing() {
    let context = context();
    let driver = context.driver();
    let mut stack = ContextStack::take().unwrap();
    let cx = stack.push(&context).unwrap();
    let buffer = Buffer::from_slice(&cx, &[1u32, 2, 3]).unwrap();
    let primary = PrimaryContext::retain(context.device()).unwrap();

    // SAFETY: the child touches only what this thread owns, and leaves through `_exit`.
    let child = unsafe { fork() };
    assert!(child >= 0, "no child");
    if child == 0 {
        let answers = [
            driver.device_count().is_err_and(|error| error.is_forked()),
            Driver::init(driver.library()).is_err_and(|error| error.is_forked()),
            cx.synchronize().is_err_and(|error| error.is_forked()),
            matches!(buffer.to_vec(&cx), Err(MemoryError::Driver(error)) if error.is_forked()),
            primary.close().is_err_and(|error| {
                error.is_forked() && error.call().to_string().starts_with("cuDevicePrimaryCtxRelease")
            }),
        ];
        let swallowed = cuprum::swallowed::count();
        drop(buffer);
        drop(cx);
        drop(context);
        let silent = cuprum::swallowed::count() == swallowed;
        // The number of the first wrong answer, counted from 1.
        let wrong = answers.iter().chain([&silent]).position(|&right| !right).map_or(0, |i| i as c_int + 1);
        // SAFETY: ends the child without running what the parent registered.
        unsafe { _exit(wrong) };
    }
    let mut status = -1;
    // SAFETY: a child of ours, and a place to write to.
    assert_eq!(unsafe { waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0, "the child's wait status; its exit code is the number of the first wrong answer");

    // The parent's objects are alive.
    assert_eq!(buffer.to_vec(&cx).unwrap(), [1, 2, 3]);
}
