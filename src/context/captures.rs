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
    let exempted = exchange(context, &mut mode);
    let answer = call();
    take_back(context, mode, exempted, answer)
}

/// Sets the mode of this thread, and puts the one of before in its place.
fn exchange(context: &ContextRef, mode: &mut CUstreamCaptureMode) -> Result<(), Error> {
    // SAFETY: the place outlives the call.
    unsafe { context_call!(context, cuThreadExchangeStreamCaptureMode(mode)) }
}

/// Ends the exemption, if there was one, and says what the call has come to.
#[inline(never)]
fn take_back(
    context: &ContextRef,
    mut before: CUstreamCaptureMode,
    exempted: Result<(), Error>,
    answer: Result<(), Error>,
) -> Result<(), Error> {
    match (exempted, answer) {
        (Err(error), Err(_)) => return Err(error),
        (Err(error), Ok(())) => context.swallow(error),
        (Ok(()), _) => exchange(context, &mut before).unwrap_or_else(|error| context.swallow(error)),
    }
    answer
}
