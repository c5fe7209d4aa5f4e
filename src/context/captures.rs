//! Calls that captures of other streams forbid, and that have nothing to do with those.

use cuprum_sys::CUstreamCaptureMode;

use super::ContextRef;
use crate::error::Error;
use crate::raw::call::context_call;

/// Makes a call while this thread is exempt from the restrictions of captures. If the driver does not exempt it, and the call
/// fails, that is the error. That the driver does not take it back is swallowed.
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
    match (exempted, answer) {
        (Err(error), Err(_)) => return Err(error),
        (Err(error), Ok(())) => context.swallow(error),
        (Ok(()), _) => {
            // SAFETY: as above; it has the mode of before.
            let restored = unsafe { context_call!(context, cuThreadExchangeStreamCaptureMode(place)) };
            restored.unwrap_or_else(|error| context.swallow(error));
        }
    }
    answer
}
