//! Tools for custom wrappers of raw calls, which let them follow the same rules as this crate.

use cuprum_sys::{CUresult, FnId};

use super::{ContextRef, Current, Token, stack};
use crate::error::Error;
use crate::raw::call::forked;

impl Current<'_, '_> {
    /// Checks the current context for a raw call that uses an object of `owner`, as the methods of
    /// this crate do before they call the driver. Makes no driver call, unless a token above this
    /// one was forgotten.
    ///
    /// A call that uses no object, such as an allocation, uses the token's
    /// [`context`](Current::context).
    ///
    /// # Errors
    /// Each error names `call`: [`Error::WRONG_CONTEXT`] if the current context is not `owner`;
    /// [`Error::FORKED`] in a forked child; [`Error::OUT_OF_ORDER`] if this token is not on
    /// top.
    #[inline]
    pub fn require(&self, owner: &ContextRef, call: FnId) -> Result<&ContextRef, Error> {
        if owner.library().forked() {
            return Err(forked(call));
        }
        self.of(owner, call)
    }
}

impl Token<'_> {
    #[inline]
    pub(crate) fn context(&self) -> &ContextRef {
        &self.context
    }
}

impl ContextRef {
    /// Converts the answer of [`call!`](crate::sys::call), in this context, to a result.
    ///
    /// Like [`Error::check`], it records the call and, if the driver lacks the function, the
    /// driver's version. In addition, the first sticky error [poisons](ContextRef::poisoned_by) the
    /// context, and later sticky errors name its call.
    ///
    /// # Errors
    /// The error that the code stands for; none for `CUDA_SUCCESS`.
    #[inline]
    pub fn check(&self, answer: (CUresult, FnId)) -> Result<(), Error> {
        Error::check(self.library(), answer).map_err(|error| self.record(error))
    }

    /// Runs `body` with this context current on any thread, for the `Drop` of a custom type.
    ///
    /// If a token has made the context current, `body` runs immediately, as in drops of this crate.
    /// Otherwise the context is [entered](ContextRef::enter).
    ///
    /// ```
    /// # cuprum::example!(driver);
    /// use cuprum::sys::{CUarray, call};
    /// use cuprum::Stream;
    ///
    /// struct Array<'ctx> {
    ///     raw: CUarray,
    ///     /// The default stream, by `Stream::default_in`, keeps the context without a driver call.
    ///     home: Stream<'ctx>,
    /// }
    ///
    /// impl Drop for Array<'_> {
    ///     fn drop(&mut self) {
    ///         let (raw, context) = (self.raw, self.home.context());
    ///         let fns = context.driver().library().fns();
    ///         // SAFETY: the array is live, its context is current, and it is not used again.
    ///         let freed = context.with_current(|| context.check(unsafe { call!(fns, cuArrayDestroy(raw)) }));
    ///         freed.unwrap_or_else(|error| context.swallow(error));
    ///     }
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The errors of `body`; [`Error::FORKED`] in a forked child. If the query or the push
    /// fails, returns the driver's error without running `body`. If the pop fails, the error is
    /// [swallowed](crate::swallowed).
    ///
    /// Driver: unless a token has made the context current, the calls of
    /// [`enter`](ContextRef::enter): `cuCtxGetCurrent`, `cuCtxPushCurrent_v2` and
    /// `cuCtxPopCurrent_v2`, CUDA 4.0+.
    #[doc(alias("cuCtxGetCurrent", "cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2"))]
    pub fn with_current<R>(&self, body: impl FnOnce() -> Result<R, Error>) -> Result<R, Error> {
        if self.library().forked() {
            return Err(forked(FnId::cuCtxPushCurrent_v2));
        }
        if stack::is_current(self) { body() } else { self.enter_as(|_| body()) }
    }

    /// Counts an error that a `Drop` cannot return, and passes it to the hook: see
    /// [`swallowed`](crate::swallowed).
    ///
    /// Errors without new information are not counted: the driver is shutting down, this is a
    /// forked child, or the loss of the context was already reported.
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
