//! Calls that captures of other streams forbid, and that have nothing to do with those.

use cuprum_sys::CUstreamCaptureMode;

use super::ContextRef;
use crate::error::Error;
use crate::raw::call::context_call;

/// Makes a call while this thread is exempt from the restrictions of captures.
#[cold]
pub(crate) fn beside_captures(
    context: &ContextRef,
    call: impl FnOnce() -> Result<(), Error>,
) -> Result<(), Error> {
    let mut mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
    let place = &raw mut mode;
    // SAFETY: the place outlives the call.
    unsafe { context_call!(context, cuThreadExchangeStreamCaptureMode(place)) }?;
    let answer = call();
    // SAFETY: as above; it has the mode of before.
    unsafe { context_call!(context, cuThreadExchangeStreamCaptureMode(place)) }?;
    answer
}
