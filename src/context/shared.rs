//! Contexts that all their handles and objects share.

use super::{ContextRef, Current, KeptContext, enter};
use crate::any_error::AnyError;
use crate::error::Error;
use crate::raw::keep::{Keep, Near};
use crate::raw::shared::Shared;

impl Shared<ContextRef> {
    #[inline]
    pub(super) fn near(&self) -> Near<'_, ContextRef> {
        Near::shared(self.address())
    }

    /// Runs `body` with the context current. Like [`ContextRef::enter`], with `'static` objects.
    ///
    /// # Errors
    /// Same as [`ContextRef::enter`].
    ///
    /// Driver: `cuCtxGetCurrent`, CUDA 4.0+; if another context is current, `cuCtxPushCurrent_v2`
    /// and `cuCtxPopCurrent_v2`, CUDA 4.0+.
    #[doc(alias("cuCtxGetCurrent", "cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2"))]
    pub fn enter<R>(
        &self,
        body: impl FnOnce(&mut Current<'_, 'static>) -> Result<R, AnyError>,
    ) -> Result<R, AnyError> {
        self.enter_as(body)
    }

    /// Same as [`enter`](Shared::enter), with an error type of the caller's choice: see
    /// [`ContextRef::enter_as`].
    ///
    /// # Errors
    /// Same as [`ContextRef::enter_as`].
    ///
    /// Driver: `cuCtxGetCurrent`, CUDA 4.0+; if another context is current, `cuCtxPushCurrent_v2`
    /// and `cuCtxPopCurrent_v2`, CUDA 4.0+.
    #[doc(alias("cuCtxGetCurrent", "cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2"))]
    pub fn enter_as<E: From<Error>, R>(
        &self,
        body: impl FnOnce(&mut Current<'_, 'static>) -> Result<R, E>,
    ) -> Result<R, E> {
        // SAFETY: `enter` drops its token before it returns. Until then this borrowed handle keeps
        // the context; objects made from the token take shares of their own.
        enter::enter(unsafe { self.near().outlived() }, body)
    }
}

impl<'ctx> Keep<'ctx, ContextRef> {
    /// Runs `body` with the context current. New objects have the lifetime `'ctx`.
    pub(crate) fn enter_as<E: From<Error>, R>(
        &self,
        body: impl FnOnce(&mut Current<'_, 'ctx>) -> Result<R, E>,
    ) -> Result<R, E> {
        // SAFETY: `enter` drops its token before it returns. Until then this borrowed value keeps
        // the context. Objects made from the token keep it in the same way: by a borrow for `'ctx`
        // or by a share.
        enter::enter(unsafe { self.near().outlived() }, body)
    }

    /// Same as dereferencing, under the name that all objects use.
    #[inline]
    pub(crate) fn context(&self) -> &ContextRef {
        self
    }
}

impl<'ctx> Current<'_, 'ctx> {
    #[inline]
    pub(crate) fn keep(&self) -> KeptContext<'ctx> {
        Keep::new(self.near())
    }
}
