//! The process around the driver: forks of it, and its end.

use std::panic::catch_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Once, OnceLock};

static FORKED: AtomicBool = AtomicBool::new(false);

/// Whether this process is a child of the one in which `cuInit` was called. The driver does not
/// work there, as on hardware: its threads are gone and its locks may be held for ever.
pub(super) fn is_forked_child() -> bool {
    FORKED.load(Ordering::Relaxed)
}

/// Starts to watch for forks. Called by `cuInit`.
pub(super) fn watch_forks() {
    static WATCHED: Once = Once::new();
    WATCHED.call_once(os::watch);
}

static AT_EXIT: OnceLock<fn()> = OnceLock::new();

unsafe extern "C" {
    fn atexit(handler: extern "C" fn()) -> core::ffi::c_int;
}

/// Has a function run when the process ends in the usual way, but not in a forked child. There is one such function;
/// the first stays.
pub(super) fn at_exit(run: fn()) {
    extern "C" fn handler() {
        if let Some(run) = AT_EXIT.get().filter(|_| !is_forked_child()) {
            // A panic must not unwind into C, and there is nobody left to hear of it.
            let _ = catch_unwind(run);
        }
    }
    if AT_EXIT.set(run).is_ok() {
        // SAFETY: C's own function, given a function of its type that does not unwind. Failure means no memory: then
        // nothing is told at the end.
        unsafe { atexit(handler) };
    }
}

#[cfg(all(unix, not(miri)))]
mod os {
    use super::{FORKED, Ordering};
    use core::ffi::c_int;

    type Handler = Option<unsafe extern "C" fn()>;

    unsafe extern "C" {
        fn pthread_atfork(prepare: Handler, parent: Handler, child: Handler) -> c_int;
    }

    unsafe extern "C" fn in_child() {
        FORKED.store(true, Ordering::Relaxed);
    }

    pub(super) fn watch() {
        // SAFETY: the handler stores one atomic, which is allowed in a forked child; this library
        // is never unloaded while it is registered, as glibc drops the handlers of a library that
        // is. Failure means no memory: then a child is not recognised, as before.
        unsafe { pthread_atfork(None, None, Some(in_child)) };
    }
}

#[cfg(any(not(unix), miri))]
mod os {
    pub(super) fn watch() {}
}
