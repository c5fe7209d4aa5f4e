//! Waits that are to prove that work is over.

use cuprum_sys::CUstream;

use super::{Beside, ContextRef, captures};
use crate::error::Error;
use crate::raw::call::context_call;

/// Waits for a stream, beside captures of other threads. Where they allow no wait for the legacy default stream, waits for
/// all of its context.
///
/// # Safety
/// The stream is live, and its context is current.
unsafe fn synchronize(context: &ContextRef, stream: CUstream) -> Result<(), Error> {
    if captures::any() && captures::is_legacy(stream) {
        return Beside::exempted(context.library()).wait_for(context);
    }
    // SAFETY: the caller's word.
    captures::wait_beside(context.library(), || unsafe {
        context_call!(context, cuStreamSynchronize(stream))
    })
}

/// Waits for the current context, whose stream could not be waited for, with this error, which is reported; false if that
/// fails too, or is certain to.
#[cold]
pub(crate) fn wait_for_context(context: &ContextRef, error: Error) -> bool {
    if error.is_sticky() || error.is_deinitialized() {
        return false;
    }
    captures::beside(context.library(), |beside| beside.wait_for(context)).is_ok()
}

/// Waits for a stream, and if that fails for all of its context; true if the stream's work is over for certain.
///
/// # Safety
/// The duties of [`synchronize`].
pub(crate) unsafe fn waited_for(context: &ContextRef, stream: CUstream) -> (Result<(), Error>, bool) {
    // SAFETY: the caller's word.
    let waited = unsafe { synchronize(context, stream) };
    let is_over = match waited {
        Ok(()) => true,
        Err(error) => wait_for_context(context, error),
    };
    (waited, is_over)
}
