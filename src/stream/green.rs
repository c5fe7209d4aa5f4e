//! Streams of green contexts.

use cuprum_sys::{CUgreenCtx, CUstream, CUstream_flags, FnId};

use super::{Stream, StreamKind};
use crate::context::{Current, context_call};
use crate::device::{DeviceResource, ResourceKind};
use crate::error::Error;
use crate::raw::held::Held;

impl<'ctx> Stream<'ctx> {
    /// Creates a non-blocking stream in the current context, a
    /// [`GreenContext`](crate::context::GreenContext). The priority is clamped to the range of
    /// [`Current::stream_priorities`].
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_CONTEXT` in a context that is not green; [`Error::UNRESOLVED`] on a
    /// driver before CUDA 12.5; the errors of [`new`](Stream::new).
    ///
    /// Driver: `cuGreenCtxStreamCreate`, CUDA 12.5+.
    #[doc(alias = "cuGreenCtxStreamCreate")]
    #[inline]
    pub fn in_green_context(cx: &Current<'_, 'ctx>, priority: i32) -> Result<Self, Error> {
        let context = cx.get()?;
        let (mut raw, green) = (CUstream::null(), context.green(FnId::cuGreenCtxStreamCreate)?);
        let (to, flags) = (&raw mut raw, CUstream_flags::CU_STREAM_NON_BLOCKING.0);
        // SAFETY: the green context is live, and the out-parameter outlives the call.
        unsafe { context_call!(&context, cuGreenCtxStreamCreate(to, green, flags, priority)) }?;
        Ok(Self { queue: Held::new(raw, context), kind: StreamKind::NonBlocking })
    }

    /// Returns the driver's handle of the stream's green context, if it was made in one.
    ///
    /// # Errors
    /// [`Error::WRONG_CONTEXT`] if the stream's context is not current.
    ///
    /// Driver: `cuStreamGetGreenCtx`, CUDA 12.4+.
    #[doc(alias = "cuStreamGetGreenCtx")]
    #[inline]
    pub fn green_context(&self, cx: &Current<'_, '_>) -> Result<Option<CUgreenCtx>, Error> {
        let context = cx.of(self.context(), FnId::cuStreamGetGreenCtx)?;
        let mut green = CUgreenCtx::null();
        // SAFETY: the stream is live, its context is current, and the out-parameter outlives the
        // call.
        unsafe { context_call!(context, cuStreamGetGreenCtx(self.as_raw(), &raw mut green)) }?;
        Ok(Some(green).filter(|green| !green.is_null()))
    }

    /// Returns the part of one kind of the device's resources that the stream's work can use.
    ///
    /// # Errors
    /// The errors of [`green_context`](Stream::green_context) and
    /// [`Device::resource`](crate::Device::resource); [`Error::UNRESOLVED`] on a driver before
    /// CUDA 13.1.
    ///
    /// Driver: `cuStreamGetDevResource`, CUDA 13.1+.
    #[doc(alias = "cuStreamGetDevResource")]
    #[inline]
    pub fn resource(&self, cx: &Current<'_, '_>, kind: ResourceKind) -> Result<DeviceResource, Error> {
        let context = cx.of(self.context(), FnId::cuStreamGetDevResource)?;
        DeviceResource::ask(context.device(), |to| {
            // SAFETY: the stream is live, its context is current, and the out-parameter outlives
            // the call.
            unsafe { context_call!(context, cuStreamGetDevResource(self.as_raw(), to, kind)) }
        })
    }
}
