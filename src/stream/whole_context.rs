//! Events of all streams of a context.

use cuprum_sys::FnId;

use super::Event;
use crate::context::{Current, context_call};
use crate::error::Error;

impl Current<'_, '_> {
    /// Records `event` after all work queued so far on any stream of the context; in a
    /// [`GreenContext`](crate::context::GreenContext), on its own streams.
    ///
    /// # Errors
    /// [`Error::WRONG_CONTEXT`] for an event of another context;
    /// `CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED` while a stream of the context is captured.
    ///
    /// Driver: `cuCtxRecordEvent`, CUDA 12.5+; in a green context `cuGreenCtxRecordEvent`,
    /// CUDA 12.4+.
    #[doc(alias("cuCtxRecordEvent", "cuGreenCtxRecordEvent"))]
    #[inline]
    pub fn record(&self, event: &Event<'_>) -> Result<(), Error> {
        let context = self.of(event.context(), FnId::cuCtxRecordEvent)?;
        if let Ok(green) = context.green(FnId::cuGreenCtxRecordEvent) {
            // SAFETY: green context and event are live, and the event is of the context.
            return unsafe { context_call!(context, cuGreenCtxRecordEvent(green, event.as_raw())) };
        }
        // SAFETY: context and event are live, and the event is of the context.
        unsafe { context_call!(context, cuCtxRecordEvent(context.as_raw(), event.as_raw())) }
    }

    /// Makes all later work on any stream of the context wait for `event`, which may be of another
    /// context. The host does not wait.
    ///
    /// # Errors
    /// [`Error::WRONG_CONTEXT`] for an event of another driver;
    /// `CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED` while a stream of the context is captured.
    ///
    /// Driver: `cuCtxWaitEvent`, CUDA 12.5+; in a green context `cuGreenCtxWaitEvent`, CUDA 12.4+.
    #[doc(alias("cuCtxWaitEvent", "cuGreenCtxWaitEvent"))]
    #[inline]
    pub fn wait_for(&self, event: &Event<'_>) -> Result<(), Error> {
        let context = &self.get()?;
        event.check_driver(context, FnId::cuCtxWaitEvent)?;
        if let Ok(green) = context.green(FnId::cuGreenCtxWaitEvent) {
            // SAFETY: green context and event are live, and of one driver.
            return unsafe { context_call!(context, cuGreenCtxWaitEvent(green, event.as_raw())) };
        }
        // SAFETY: context and event are live, and of one driver.
        unsafe { context_call!(context, cuCtxWaitEvent(context.as_raw(), event.as_raw())) }
    }
}
