//! The process around the driver: forks of it.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

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

#[cfg(unix)]
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

#[cfg(not(unix))]
mod os {
    pub(super) fn watch() {}
}
