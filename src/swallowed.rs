//! Errors that `Drop` cannot return: counted, and told to a hook.
//!
//! A `Drop` of this crate never panics and never reports through somebody else's next call. Errors that it swallows are
//! counted here. Not counted: answers of a driver that is shutting down, errors of a context that was lost before, and
//! anything in a forked child.

use std::sync::atomic::{AtomicU64, Ordering};

use once_cell::sync::OnceCell;

use crate::error::Error;

static COUNT: AtomicU64 = AtomicU64::new(0);
static HOOK: OnceCell<fn(Error)> = OnceCell::new();

/// Number of errors that were swallowed since the process began.
#[inline]
pub fn count() -> u64 {
    COUNT.load(Ordering::Relaxed)
}

/// Sets the function that is told each swallowed error, on the thread that dropped. A panic in it is caught.
///
/// # Errors
/// Gives `hook` back if one is set already; it stays for the life of the process.
#[inline]
pub fn set_hook(hook: fn(Error)) -> Result<(), fn(Error)> {
    HOOK.set(hook)
}

#[cold]
pub(crate) fn tell(error: Error) {
    COUNT.fetch_add(1, Ordering::Relaxed);
    if let Some(hook) = HOOK.get() {
        // A panic has been told to the panic hook; `Drop` has nobody to hand it to.
        if let Err(payload) = std::panic::catch_unwind(|| hook(error)) {
            // Dropping it could panic once more.
            std::mem::forget(payload);
        }
    }
}
