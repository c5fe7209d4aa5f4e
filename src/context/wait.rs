//! Waits that prove that work is complete.

use cuprum_sys::CUstream;

use super::call::context_call;
use super::{Beside, ContextRef, captures};
use crate::error::Error;

/// Waits for a stream during captures of other threads. If they do not allow waiting for the legacy
/// default stream, waits for the whole context.
///
/// # Safety
/// The stream is live, and its context is current.
unsafe fn synchronize(context: &ContextRef, stream: CUstream) -> Result<(), Error> {
    if captures::any() && captures::is_legacy(stream) {
        return Beside::exempted(context.library()).wait_for(context);
    }
    // SAFETY: guaranteed by the caller.
    captures::wait_beside(context.library(), || unsafe {
        context_call!(context, cuStreamSynchronize(stream))
    })
}

/// Waits for the current context after waiting for its stream failed with `error`, which is
/// reported. Returns false if this fails too, or is certain to fail.
#[cold]
pub(crate) fn wait_for_context(context: &ContextRef, error: Error) -> bool {
    if error.is_sticky() || error.is_deinitialized() {
        return false;
    }
    captures::beside(context.library(), |beside| beside.wait_for(context)).is_ok()
}

/// Waits for a stream or, if that fails, for its context. True if the work is certainly complete.
///
/// # Safety
/// Same as [`synchronize`].
pub(crate) unsafe fn waited_for(context: &ContextRef, stream: CUstream) -> (Result<(), Error>, bool) {
    // SAFETY: guaranteed by the caller.
    let waited = unsafe { synchronize(context, stream) };
    let is_over = match waited {
        Ok(()) => true,
        Err(error) => wait_for_context(context, error),
    };
    (waited, is_over)
}
