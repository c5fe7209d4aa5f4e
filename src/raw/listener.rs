//! Closures that a driver calls whenever something happens, on whichever thread.

use std::cell::Cell;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

thread_local! {
    /// True while a listener runs on this thread.
    static LISTENING: Cell<bool> = const { Cell::new(false) };
}

/// The data of a callback that is about to be registered: it is never freed, not even if registering fails, as that may
/// have been done all the same, nor afterwards: nothing tells when the last call on another thread has ended.
pub(crate) fn leaked<F: ?Sized>(listener: Box<F>) -> *mut c_void {
    ptr::from_mut(Box::leak(Box::new(listener))).cast()
}

/// Runs a listener: catches its panics, and does nothing if one runs on this thread, which has called the driver all the
/// same.
pub(crate) fn run(listener: impl FnOnce()) {
    if LISTENING.replace(true) {
        return;
    }
    if let Err(payload) = catch_unwind(AssertUnwindSafe(listener)) {
        // Dropping it could panic once more, out of a C function.
        std::mem::forget(payload);
    }
    LISTENING.set(false);
}
