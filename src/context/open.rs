//! Tools for wrappers of raw calls, which can do with them all that the types of this crate do.

use cuprum_sys::{CUresult, FnId};

use super::{ContextRef, Current, Token, stack};
use crate::error::Error;
use crate::raw::call::forked;

impl Current<'_, '_> {
    /// Checks the context for a raw call that reads the current one and uses an object of `owner`, as the methods of
    /// this crate do before they call the driver. No driver call, unless a token above this one was forgotten.
    ///
    /// A call that uses no object, such as an allocation, uses the token's own [`context`](Current::context).
    ///
    /// # Errors
    /// Each names `call`: [`Error::is_wrong_context`] if the current context is not `owner`; [`Error::is_forked`] in a
    /// forked child; [`Error::is_out_of_order`] if this token is not on top.
    #[inline]
    pub fn require(&self, owner: &ContextRef, call: FnId) -> Result<&ContextRef, Error> {
        if owner.library().forked() {
            return Err(forked(call));
        }
        self.of(owner, call)
    }
}

impl Token<'_> {
    /// The context, whether it is current or not.
    #[inline]
    pub(crate) fn context(&self) -> &ContextRef {
        &self.context
    }
}

impl ContextRef {
    /// Turns the answer of [`call!`](crate::sys::call) into a result, for raw calls of one's own in this context.
    ///
    /// Like [`Error::check`], it keeps the call, and the driver's version if the driver lacks the function. Beyond
    /// that, the first sticky error [poisons](ContextRef::poisoned_by) the context, and later ones name it.
    ///
    /// # Errors
    /// The one that the code means; none for `CUDA_SUCCESS`.
    #[inline]
    pub fn check(&self, answer: (CUresult, FnId)) -> Result<(), Error> {
        Error::check(self.library(), answer).map_err(|error| self.record(error))
    }

    /// Runs `body` with this context current on whichever thread, for the `Drop` of a type of one's own.
    ///
    /// If the context is current by a token already, `body` runs at once, as it does in drops of this crate;
    /// elsewhere the context is [entered](ContextRef::enter).
    ///
    /// ```
    /// # cuprum::example!(driver);
    /// use cuprum::sys::{CUarray, call};
    /// use cuprum::Stream;
    ///
    /// struct Array<'ctx> {
    ///     raw: CUarray,
    ///     /// The default stream, by `Stream::default_in`: for no call it keeps the context, borrowed or shared.
    ///     home: Stream<'ctx>,
    /// }
    ///
    /// impl Drop for Array<'_> {
    ///     fn drop(&mut self) {
    ///         let (raw, context) = (self.raw, self.home.context());
    ///         let fns = context.driver().library().fns();
    ///         // SAFETY: the array is live, its context is current, and nobody uses it again.
    ///         let freed = context.with_current(|| context.check(unsafe { call!(fns, cuArrayDestroy(raw)) }));
    ///         freed.unwrap_or_else(|error| context.swallow(error));
    ///     }
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of `body`; [`Error::is_forked`] in a forked child; whatever the driver reports when the context is pushed:
    /// then `body` does not run. A failure to pop it is [swallowed](crate::swallowed).
    ///
    /// Driver: unless a token says that the context is current, the calls of [`enter`](ContextRef::enter): `cuCtxGetCurrent`,
    /// `cuCtxPushCurrent_v2` and `cuCtxPopCurrent_v2`, CUDA 4.0+.
    #[doc(alias("cuCtxGetCurrent", "cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2"))]
    pub fn with_current<R>(&self, body: impl FnOnce() -> Result<R, Error>) -> Result<R, Error> {
        if self.library().forked() {
            return Err(forked(FnId::cuCtxPushCurrent_v2));
        }
        if stack::is_current(self) { body() } else { self.enter_as(|_| body()) }
    }

    /// Counts an error that a `Drop` cannot return, and tells it to the hook: see [`swallowed`](crate::swallowed).
    ///
    /// Errors that say nothing new are not counted: the driver is shutting down, this is a forked child, or the context
    /// is lost and that was reported before.
    #[cold]
    #[inline(never)]
    pub fn swallow(&self, error: Error) {
        let lost_before =
            error.first_reported_by().is_some() || error.is_lost() && self.poisoned_by().is_some();
        if !error.is_deinitialized() && !error.is_forked() && !lost_before {
            crate::swallowed::tell(error);
        }
    }
}
