//! Events of all streams of a context.

use cuprum_sys::FnId;

use super::Event;
use crate::context::Current;
use crate::error::Error;
use crate::raw::call::context_call;

impl Current<'_, '_> {
    /// Puts the mark of `event` after all work of the context so far, on all its streams.
    ///
    /// # Errors
    /// [`Error::is_wrong_context`] for an event of another context; `CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED` while a stream
    /// of the context is captured.
    ///
    /// Driver: `cuCtxRecordEvent`, CUDA 12.5+.
    #[doc(alias = "cuCtxRecordEvent")]
    pub fn record(&self, event: &Event<'_>) -> Result<(), Error> {
        let context = self.of(event.context(), FnId::cuCtxRecordEvent)?;
        // SAFETY: context and event are live, and the event is of the context.
        unsafe { context_call!(context, cuCtxRecordEvent(context.as_raw(), event.as_raw())) }
    }

    /// Makes all work that is queued in the context from now on, on any of its streams, wait for `event`, which may be of
    /// another context. The host does not wait.
    ///
    /// # Errors
    /// [`Error::is_wrong_context`] for an event of another driver; `CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED` while a stream of
    /// the context is captured.
    ///
    /// Driver: `cuCtxWaitEvent`, CUDA 12.5+.
    #[doc(alias = "cuCtxWaitEvent")]
    pub fn wait_for(&self, event: &Event<'_>) -> Result<(), Error> {
        let context = &self.get()?;
        event.check_driver(context, FnId::cuCtxWaitEvent)?;
        // SAFETY: context and event are live, and of one driver.
        unsafe { context_call!(context, cuCtxWaitEvent(context.as_raw(), event.as_raw())) }
    }
}
