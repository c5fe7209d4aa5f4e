//! Closures that a driver calls on events, on any thread.

use std::cell::Cell;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

thread_local! {
    /// True while a listener runs on this thread.
    static LISTENING: Cell<bool> = const { Cell::new(false) };
}

/// The data of a callback to be registered. It is never freed: a failed registration may have taken
/// effect, and after the end of the registration the driver does not report when the last call on
/// another thread has ended.
pub(crate) fn leaked<F: ?Sized>(listener: Box<F>) -> *mut c_void {
    ptr::from_mut(Box::leak(Box::new(listener))).cast()
}

/// Runs a listener, unless one on this thread has called the driver. Catches panics.
pub(crate) fn run(listener: impl FnOnce()) {
    if LISTENING.replace(true) {
        return;
    }
    if let Err(payload) = catch_unwind(AssertUnwindSafe(listener)) {
        // Dropping it could panic again, out of a C function.
        std::mem::forget(payload);
    }
    LISTENING.set(false);
}
