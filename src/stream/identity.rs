//! Properties of a stream, asked of the driver.

use cuprum_sys::FnId;

use super::Stream;
use crate::context::Current;
use crate::error::Error;
use crate::raw::call::context_call;

impl Stream<'_> {
    /// Priority of the stream: lower numbers go first, 0 is the default. A priority that was clamped is returned as
    /// clamped.
    ///
    /// # Errors
    /// [`Error::is_wrong_context`] if the stream's context is not current; the sticky errors of earlier work.
    ///
    /// # Example
    /// ```
    /// # cuprum::example!(driver, context, cx);
    /// use cuprum::stream::StreamKind;
    /// use cuprum::Stream;
    ///
    /// let (_, greatest) = cx.stream_priorities()?;
    /// let urgent = Stream::with_priority(&cx, StreamKind::NonBlocking, greatest)?;
    /// assert_eq!(urgent.priority(&cx)?, greatest);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Driver: `cuStreamGetPriority`, CUDA 5.5+.
    #[doc(alias = "cuStreamGetPriority")]
    #[inline]
    pub fn priority(&self, cx: &Current<'_, '_>) -> Result<i32, Error> {
        let context = cx.of(self.context(), FnId::cuStreamGetPriority)?;
        let mut priority = 0;
        // SAFETY: the stream is live, its context is current, and the out-parameter outlives the call.
        unsafe { context_call!(context, cuStreamGetPriority(self.as_raw(), &raw mut priority)) }?;
        Ok(priority)
    }

    /// Number of the stream that no other stream of the process has, not even after its end.
    ///
    /// # Errors
    /// [`Error::is_unresolved`] on drivers before CUDA 12.0; otherwise those of [`priority`](Stream::priority).
    ///
    /// Driver: `cuStreamGetId`, CUDA 12.0+.
    #[doc(alias = "cuStreamGetId")]
    #[inline]
    pub fn id(&self, cx: &Current<'_, '_>) -> Result<u64, Error> {
        let context = cx.of(self.context(), FnId::cuStreamGetId)?;
        let mut id = 0;
        // SAFETY: the stream is live, its context is current, and the out-parameter outlives the call.
        unsafe { context_call!(context, cuStreamGetId(self.as_raw(), &raw mut id)) }?;
        Ok(id)
    }
}
