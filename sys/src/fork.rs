//! Notices that the process is a forked child.
//!
//! A driver does not survive `fork`: calls in the child hang or fail oddly. The child's generation
//! number differs from the one in which the driver was initialized; noticing that costs a load and
//! a compare.

use core::sync::atomic::{AtomicU32, Ordering};

/// A generation that no process has.
pub(crate) const NEVER: u32 = u32::MAX;

/// Number of forks between the process that first opened a driver and this one.
static GENERATION: AtomicU32 = AtomicU32::new(0);

/// The generation of this process.
#[inline]
pub(crate) fn generation() -> u32 {
    GENERATION.load(Ordering::Relaxed)
}

/// Starts counting forks. Call once. Returns false if the handler cannot be registered for lack of
/// memory.
#[cfg(all(unix, not(miri)))]
pub(crate) fn watch() -> bool {
    type Handler = unsafe extern "C" fn();
    unsafe extern "C" {
        fn pthread_atfork(
            prepare: Option<Handler>,
            parent: Option<Handler>,
            child: Option<Handler>,
        ) -> core::ffi::c_int;
    }
    unsafe extern "C" fn child() {
        GENERATION.fetch_add(1, Ordering::Relaxed);
    }
    // SAFETY: the handler lives as long as this code is mapped (the C library forgets the handlers
    // of unmapped code) and only touches an atomic, as a forked child may.
    unsafe { pthread_atfork(None, None, Some(child)) == 0 }
}

/// There is no `fork` here; Miri has none either.
#[cfg(any(not(unix), miri))]
pub(crate) fn watch() -> bool {
    true
}
