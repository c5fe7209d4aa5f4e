//! Entry for code that has no token of its caller.

use std::mem::ManuallyDrop;

use cuprum_sys::CUcontext;

use super::stack::{self, Outside};
use super::{ContextRef, Current};
use crate::any_error::AnyError;
use crate::error::Error;
use crate::raw::keep::Near;

impl ContextRef {
    /// Runs `body` with this context current, and restores the previous state of the thread
    /// afterwards, even if `body` panics. A context that is already current is neither pushed nor
    /// popped. On a thread that is [attached](super::Attached) to it, the driver is not called.
    ///
    /// A library that receives a context uses it in this way. It works while the application holds
    /// its [`ContextStack`](super::ContextStack), inside any token of the thread, and inside
    /// another library's `enter`. Inside `body`, those other tokens return
    /// [`Error::OUT_OF_ORDER`] and change nothing. Objects made with the given token may outlive
    /// `body`.
    ///
    /// Example: see [`ContextRef`].
    ///
    /// # Errors
    /// The errors of `body`. If the query or the push fails, returns the driver's error without
    /// running `body`. If the pop fails, the error is [swallowed](crate::swallowed), and the tokens
    /// below detect it when they are used.
    ///
    /// Driver: unless the thread is attached to the context, `cuCtxGetCurrent`, CUDA 4.0+; if
    /// another context is current, `cuCtxPushCurrent_v2` and `cuCtxPopCurrent_v2`, CUDA 4.0+.
    #[doc(alias("cuCtxGetCurrent", "cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2"))]
    pub fn enter<'ctx, R>(
        &'ctx self,
        body: impl FnOnce(&mut Current<'_, 'ctx>) -> Result<R, AnyError>,
    ) -> Result<R, AnyError> {
        self.enter_as(body)
    }

    /// Same as [`enter`](ContextRef::enter), with an error type of the caller's choice.
    ///
    /// The compiler infers the type if the closure ends with an expression of it. Otherwise name
    /// it, as in `enter_as::<MemoryError, _>(…)`.
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
    /// Driver: `cuCtxGetCurrent`, CUDA 4.0+; if another context is current, `cuCtxPushCurrent_v2`
    /// and `cuCtxPopCurrent_v2`, CUDA 4.0+.
    #[doc(alias("cuCtxGetCurrent", "cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2"))]
    pub fn enter_as<'ctx, E: From<Error>, R>(
        &'ctx self,
        body: impl FnOnce(&mut Current<'_, 'ctx>) -> Result<R, E>,
    ) -> Result<R, E> {
        enter(Near::borrowed(self), body)
    }
}

/// Makes the context current if necessary, runs `body`, and restores the previous context.
pub(super) fn enter<'ctx, E: From<Error>, R>(
    context: Near<'ctx, ContextRef>,
    body: impl FnOnce(&mut Current<'_, 'ctx>) -> Result<R, E>,
) -> Result<R, E> {
    let library = context.library();
    if stack::is_attached(&context) || stack::is_found_current(&context)? {
        let (outside, height) = stack::enter(library, context.as_raw());
        let entered = Entered { context, height, _outside: outside };
        // Not dropped, because that would pop a context that was not pushed.
        let mut cx = ManuallyDrop::new(Current::found(entered.context, height));
        return body(&mut cx);
    }
    let (_outside, height) = stack::enter(library, CUcontext::null());
    // Dropped before the record of the outer code is restored.
    let mut cx = Current::push_at(context, height, CUcontext::null())?;
    body(&mut cx)
}

/// A context that was already current. When this is dropped, all contexts above it are popped, and
/// the record of the outer code is restored.
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
