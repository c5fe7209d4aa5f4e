//! Entry for code that does not know its caller's tokens.

use cuprum_sys::CUcontext;

use super::{ContextRef, Current, stack};
use crate::error::Error;
use crate::raw::keep::Near;

impl ContextRef {
    /// Runs `body` with this context current, whatever is current on the thread, and puts that back afterwards, also
    /// when `body` panics.
    ///
    /// A library that is given a context uses it in this way. It works beside a [`ContextStack`](super::ContextStack)
    /// that the application took, inside of any token of the thread, and inside of another library's `enter`. Those
    /// other tokens, used inside of `body`, return [`Error::is_out_of_order`] and change nothing. Objects made with the
    /// given token may outlive `body`.
    ///
    /// ```
    /// # let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
    /// # let driver = cuprum::Driver::init(library)?;
    /// use cuprum::{Buffer, ContextRef, ContextStack, MemoryError, PrimaryContext};
    ///
    /// // Somebody's library, which does not ask who called it.
    /// fn ones(context: &ContextRef, len: usize) -> Result<Buffer<'_, f32>, MemoryError> {
    ///     context.enter(|cx| Buffer::from_slice(cx, &vec![1.0; len]))?
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
    /// Whatever the driver reports when the context is pushed; `body` does not run then. A failure to pop it is
    /// [swallowed](crate::swallowed), and noticed by the tokens below when they are used.
    ///
    /// Driver: `cuCtxPushCurrent_v2` and `cuCtxPopCurrent_v2`, CUDA 4.0+.
    #[doc(alias = "cuCtxPushCurrent_v2")]
    #[doc(alias = "cuCtxPopCurrent_v2")]
    pub fn enter<'ctx, R>(&'ctx self, body: impl FnOnce(&mut Current<'_, 'ctx>) -> R) -> Result<R, Error> {
        enter(Near::borrowed(self), body)
    }
}

/// Pushes, runs `body`, pops. The token is dropped before the outer code's record is put back.
pub(super) fn enter<'ctx, R>(
    context: Near<'ctx, ContextRef>,
    body: impl FnOnce(&mut Current<'_, 'ctx>) -> R,
) -> Result<R, Error> {
    let (_outside, height) = stack::enter(context.library());
    let mut cx = Current::push_at(context, height, CUcontext::null())?;
    Ok(body(&mut cx))
}
