//! Errors that `Drop` cannot return: counted, and passed to a hook.
//!
//! A `Drop` of this crate never panics, and never makes an unrelated later call report its error.
//! This module counts the errors that drops swallow. Not counted: answers of a driver that is
//! shutting down, errors of a context that is already lost, and errors in a forked child.

use std::sync::atomic::{AtomicU64, Ordering};

use once_cell::sync::OnceCell;

use crate::error::Error;

static COUNT: AtomicU64 = AtomicU64::new(0);
static HOOK: OnceCell<fn(Error)> = OnceCell::new();

/// Number of errors swallowed since the process began.
#[inline]
pub fn count() -> u64 {
    COUNT.load(Ordering::Relaxed)
}

/// Sets the function that receives swallowed errors, on the thread of the drop. Its panics are
/// caught.
///
/// # Errors
/// Returns `hook` if one is already set. The hook stays for the life of the process.
#[inline]
pub fn set_hook(hook: fn(Error)) -> Result<(), fn(Error)> {
    HOOK.set(hook)
}

#[cold]
pub(crate) fn tell(error: Error) {
    COUNT.fetch_add(1, Ordering::Relaxed);
    if let Some(hook) = HOOK.get() {
        // The panic hook has already reported the panic, and `Drop` cannot return it.
        if let Err(payload) = std::panic::catch_unwind(|| hook(error)) {
            // Dropping the payload could panic again.
            std::mem::forget(payload);
        }
    }
}
