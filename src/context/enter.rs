//! Entry for code that does not know its caller's tokens.

use std::mem::ManuallyDrop;

use cuprum_sys::CUcontext;

use super::stack::{self, Outside};
use super::{ContextRef, Current};
use crate::any_error::AnyError;
use crate::error::Error;
use crate::raw::keep::Near;

impl ContextRef {
    /// Runs `body` with this context current, whatever is current on the thread, and puts that back afterwards, also
    /// when `body` panics. A context that is current already is neither pushed nor popped; on a thread that is
    /// [attached](super::Attached) to it, the driver is not asked.
    ///
    /// A library that is given a context uses it in this way. It works beside a [`ContextStack`](super::ContextStack)
    /// that the application took, inside of any token of the thread, and inside of another library's `enter`. Those
    /// other tokens, used inside of `body`, return [`Error::is_out_of_order`] and change nothing. Objects made with the
    /// given token may outlive `body`.
    ///
    /// ```
    /// # cuprum::example!(driver);
    /// use cuprum::context::{ContextStack, PrimaryContext};
    /// use cuprum::{Buffer, ContextRef};
    ///
    /// // Somebody's library, which does not ask who called it.
    /// fn ones(context: &ContextRef, len: usize) -> cuprum::Result<Buffer<'_, f32>> {
    ///     context.enter(|cx| Ok(Buffer::from_slice(cx, &vec![1.0; len])?))
    /// }
    ///
    /// let context = PrimaryContext::retain(driver.device(0)?)?;
    /// let mut stack = ContextStack::take()?;
    /// let cx = stack.push(&context)?;
    /// assert_eq!(ones(&context, 3)?.to_vec(&cx)?, [1.0; 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Errors of `body`; whatever the driver reports when it is asked, or when the context is pushed: then `body` does not
    /// run. A failure to pop it is [swallowed](crate::swallowed), and noticed by the tokens below when they are used.
    ///
    /// Driver: unless the thread is attached to the context, `cuCtxGetCurrent`, CUDA 4.0+; if another context is current, `cuCtxPushCurrent_v2` and `cuCtxPopCurrent_v2`,
    /// CUDA 4.0+.
    #[doc(alias("cuCtxGetCurrent", "cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2"))]
    pub fn enter<'ctx, R>(
        &'ctx self,
        body: impl FnOnce(&mut Current<'_, 'ctx>) -> Result<R, AnyError>,
    ) -> Result<R, AnyError> {
        self.enter_as(body)
    }

    /// Like [`enter`](ContextRef::enter), with an error of the caller's choice.
    ///
    /// The compiler finds it out if the closure ends with an expression that has it, and is told it otherwise, as in
    /// `enter_as::<MemoryError, _>(…)`.
    ///
    /// ```
    /// # cuprum::example!(driver);
    /// use cuprum::context::PrimaryContext;
    /// use cuprum::{Buffer, ContextRef, MemoryError};
    ///
    /// fn empty(context: &ContextRef, len: usize) -> Result<Buffer<'_, f32>, MemoryError> {
    ///     context.enter_as(|cx| Buffer::alloc(cx, len))
    /// }
    ///
    /// let context = PrimaryContext::retain(driver.device(0)?)?;
    /// assert!(matches!(empty(&context, usize::MAX), Err(MemoryError::TooLarge { .. })));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Same as [`enter`](ContextRef::enter), with the driver's errors converted.
    ///
    /// Driver: `cuCtxGetCurrent`, CUDA 4.0+; if another context is current, `cuCtxPushCurrent_v2` and `cuCtxPopCurrent_v2`,
    /// CUDA 4.0+.
    #[doc(alias("cuCtxGetCurrent", "cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2"))]
    pub fn enter_as<'ctx, E: From<Error>, R>(
        &'ctx self,
        body: impl FnOnce(&mut Current<'_, 'ctx>) -> Result<R, E>,
    ) -> Result<R, E> {
        enter(Near::borrowed(self), body)
    }
}

/// Makes the context current unless it is, runs `body`, and puts back what was there.
pub(super) fn enter<'ctx, E: From<Error>, R>(
    context: Near<'ctx, ContextRef>,
    body: impl FnOnce(&mut Current<'_, 'ctx>) -> Result<R, E>,
) -> Result<R, E> {
    let library = context.library();
    if stack::is_attached(&context) || stack::is_found_current(&context)? {
        let (outside, height) = stack::enter(library, context.as_raw());
        let entered = Entered { context, height, _outside: outside };
        // Not dropped, since that would pop a context that was not pushed.
        let mut cx = ManuallyDrop::new(Current::found(entered.context, height));
        return body(&mut cx);
    }
    let (_outside, height) = stack::enter(library, CUcontext::null());
    // Dropped before the outer code's record is put back.
    let mut cx = Current::push_at(context, height, CUcontext::null())?;
    body(&mut cx)
}

/// A context that was current already. At its end, whatever was left above it is popped, and the outer code's record is
/// put back.
struct Entered<'ctx> {
    context: Near<'ctx, ContextRef>,
    height: u32,
    _outside: Outside,
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        let Self { context, height, .. } = self;
        if let Err(error) = stack::in_order(*height, context.as_raw(), context.library()) {
            context.swallow(error);
        }
    }
}
