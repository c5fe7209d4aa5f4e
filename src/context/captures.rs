//! Calls that captures of other streams forbid, and that have nothing to do with those.

use cuprum_sys::CUstreamCaptureMode;

use super::ContextRef;
use crate::error::Error;
use crate::raw::call::context_call;

/// Makes a call while this thread is exempt from the restrictions of captures. If the driver does not exempt it, or does not
/// take that back, the error is swallowed: the answer is that of the call.
#[cold]
pub(crate) fn beside_captures(
    context: &ContextRef,
    call: impl FnOnce() -> Result<(), Error>,
) -> Result<(), Error> {
    let mut mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
    let place = &raw mut mode;
    // SAFETY: the place outlives the call.
    let exempted = unsafe { context_call!(context, cuThreadExchangeStreamCaptureMode(place)) };
    let answer = call();
    let restored = exempted.and_then(|()| {
        // SAFETY: as above; it has the mode of before.
        unsafe { context_call!(context, cuThreadExchangeStreamCaptureMode(place)) }
    });
    if let Err(error) = restored {
        context.swallow(error);
    }
    answer
}
