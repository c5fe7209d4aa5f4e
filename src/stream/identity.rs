//! Properties of a stream, from the driver.

use cuprum_sys::FnId;

use super::Stream;
use crate::context::{Current, context_call};
use crate::error::Error;

impl Stream<'_> {
    /// Returns the stream's priority, after clamping. Lower numbers run first; 0 is the default.
    ///
    /// # Errors
    /// [`Error::WRONG_CONTEXT`] if the stream's context is not current.
    ///
    /// Driver: `cuStreamGetPriority`, CUDA 5.5+.
    #[doc(alias = "cuStreamGetPriority")]
    #[inline]
    pub fn priority(&self, cx: &Current<'_, '_>) -> Result<i32, Error> {
        let context = cx.of(self.context(), FnId::cuStreamGetPriority)?;
        let mut priority = 0;
        // SAFETY: the stream is live, its context is current, and the out-parameter outlives the
        // call.
        unsafe { context_call!(context, cuStreamGetPriority(self.as_raw(), &raw mut priority)) }?;
        Ok(priority)
    }

    /// Returns a number that identifies the stream within the process. It is never reused.
    ///
    /// # Errors
    /// [`Error::UNRESOLVED`] on drivers before CUDA 12.0; the errors of
    /// [`priority`](Stream::priority).
    ///
    /// Driver: `cuStreamGetId`, CUDA 12.0+.
    #[doc(alias = "cuStreamGetId")]
    #[inline]
    pub fn id(&self, cx: &Current<'_, '_>) -> Result<u64, Error> {
        let context = cx.of(self.context(), FnId::cuStreamGetId)?;
        let mut id = 0;
        // SAFETY: the stream is live, its context is current, and the out-parameter outlives the
        // call.
        unsafe { context_call!(context, cuStreamGetId(self.as_raw(), &raw mut id)) }?;
        Ok(id)
    }
}
