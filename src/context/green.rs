//! Green contexts: contexts on a part of a device.

use cuprum_sys::{CUcontext, CUgreenCtx, CUgreenCtxCreate_flags, CUresult, FnId};

use super::{ContextRef, Current, captures, context_owner};
use crate::device::{DeviceResource, ResourceDescription, ResourceKind};
use crate::error::Error;
use crate::raw::call::{context_call, driver_call};

/// A context that runs its kernels on a part of the device's multiprocessors, so that it leaves the others alone, and is
/// left alone by them.
///
/// It is pushed, entered and [shared](GreenContext::share) like any other, and so it is with what is made in it: the context
/// outlives its streams, without which they would end (on a driver of CUDA 13.0, every call with such a stream fails, the
/// one that destroys it included). What is made in it is used in it, as in any context: to use the same code in several,
/// load a [`CodeLibrary`](crate::module::CodeLibrary).
///
/// Its streams are [non-blocking](crate::stream::StreamKind::NonBlocking) but for its default stream, which is its own, and on which
/// synchronous copies run. It has no default stream per thread: over a table with those, what uses the default stream,
/// synchronous copies too, answers `CUDA_ERROR_INVALID_HANDLE` (so does an H100 with driver 580).
///
/// The driver keeps the device's primary context for it, in which its memory lies: addresses are good in both, and in other
/// green contexts of the device. While it is there, the primary context cannot be reset. A fault in one is a fault in all.
///
/// Drop destroys it on any thread, swallows errors (see [`swallowed`](crate::swallowed)) and does nothing in a forked child;
/// [`close`](GreenContext::close) reports.
///
/// ```
/// # cuprum::example!(driver);
/// use cuprum::context::GreenContext;
/// use cuprum::device::{ResourceDescription, ResourceKind, SplitFlags};
/// use cuprum::{Buffer, Stream};
///
/// let all = driver.device(0)?.resource(ResourceKind::CU_DEV_RESOURCE_TYPE_SM)?;
/// // Eight of them, or all if there are fewer; the rest is for others.
/// let count = all.sm().map_or(0, |sm| sm.count.min(8));
/// let divided = all.split_by_count(1, count, SplitFlags::empty())?;
/// let green = GreenContext::create(&ResourceDescription::new(&divided.groups)?)?;
/// green.enter(|cx| {
///     let stream = Stream::in_green_context(cx, 0)?;
///     let mut memory = Buffer::from_slice(cx, &[1u32; 4])?;
///     cx.scope(&stream, |scope| Ok(scope.fill(&scope.lend(memory.as_mut_slice())?, 0)?))?;
///     assert_eq!(memory.to_vec(cx)?, [0; 4]);
///     Ok(())
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Keeping it in a struct
///
/// A struct cannot hold a context and a [`Stream`](crate::Stream) that borrows it: [share](GreenContext::share) the context.
pub struct GreenContext(ContextRef);

impl GreenContext {
    /// Creates a context on the resources of a description, which several may be created from. It is not made current: push
    /// it.
    ///
    /// # Errors
    /// `CUDA_ERROR_OUT_OF_MEMORY`; `CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION`; [`Error::is_unresolved`] on a driver before
    /// CUDA 12.4.
    ///
    /// Driver: `cuGreenCtxCreate` and `cuCtxFromGreenCtx`, CUDA 12.4+; if the latter fails, `cuGreenCtxDestroy`, CUDA 12.4+.
    #[doc(alias("cuGreenCtxCreate", "cuCtxFromGreenCtx"))]
    #[inline]
    pub fn create(description: &ResourceDescription) -> Result<Self, Error> {
        let (device, mut green) = (description.device(), CUgreenCtx::null());
        let (to_green, described) = (&raw mut green, description.as_raw());
        let flags = CUgreenCtxCreate_flags::CU_GREEN_CTX_DEFAULT_STREAM.0;
        // SAFETY: the out-parameter outlives the call; the description is of this device, and never freed.
        unsafe {
            driver_call!(device.library(), cuGreenCtxCreate(to_green, described, device.as_raw(), flags))
        }?;
        let mut raw = CUcontext::null();
        // SAFETY: the out-parameter outlives the call, and the green context was just made.
        let made = unsafe { driver_call!(device.library(), cuCtxFromGreenCtx(&raw mut raw, green)) };
        let context = Self(ContextRef::new_green(raw, green, device).ended_by(destroy));
        // Dropping it destroys it.
        made.map(|()| context)
    }

    /// The driver's handle of the green context; [`as_raw`](ContextRef::as_raw) is that of the context that is pushed.
    pub const fn as_raw_green(&self) -> CUgreenCtx {
        self.0.green
    }

    /// Number of the green context that no other of the process has, now or later.
    ///
    /// # Errors
    /// [`Error::is_unresolved`] on a driver before CUDA 12.9.
    ///
    /// Driver: `cuGreenCtxGetId`, CUDA 12.9+.
    #[doc(alias = "cuGreenCtxGetId")]
    #[inline]
    pub fn id(&self) -> Result<u64, Error> {
        let mut id = 0;
        // SAFETY: the green context is live, and the out-parameter outlives the call.
        unsafe { context_call!(&self.0, cuGreenCtxGetId(self.0.green, &raw mut id)) }?;
        Ok(id)
    }

    /// Its part of one kind of the device's resources.
    ///
    /// # Errors
    /// Same as [`Device::resource`](crate::Device::resource).
    ///
    /// Driver: `cuGreenCtxGetDevResource`, CUDA 12.4+.
    #[doc(alias = "cuGreenCtxGetDevResource")]
    #[inline]
    pub fn resource(&self, kind: ResourceKind) -> Result<DeviceResource, Error> {
        DeviceResource::ask(self.device(), |to| {
            // SAFETY: the green context is live, and the out-parameter outlives the call.
            unsafe { context_call!(&self.0, cuGreenCtxGetDevResource(self.0.green, to, kind)) }
        })
    }

    /// Destroys the context and reports what `Drop` would swallow. It is gone after an error too: the driver may have
    /// destroyed it all the same, so that it must not be destroyed again.
    ///
    /// # Errors
    /// [Errors of any call](crate#errors).
    ///
    /// Driver: `cuGreenCtxDestroy`, CUDA 12.4+.
    #[doc(alias = "cuGreenCtxDestroy")]
    #[inline]
    pub fn close(self) -> Result<(), Error> {
        self.0.close()
    }
}

context_owner!(GreenContext);

/// Destroys a green context that nothing of is left, since all of it borrows the owner or has a share. Where a forgotten
/// token has left it current, the driver leaves it so, and calls answer that it is destroyed.
fn destroy(context: &ContextRef) -> Result<(), Error> {
    captures::free_beside(context.library(), || {
        // SAFETY: the handle is live: only `close`, `Drop` and the last share destroy it, and each takes the owner.
        unsafe { driver_call!(context.library(), cuGreenCtxDestroy(context.green)) }
    })
}

impl ContextRef {
    /// The driver's handle of the green context, for a function that takes one.
    pub(crate) fn green(&self, call: FnId) -> Result<CUgreenCtx, Error> {
        if self.green.is_null() {
            return Err(Error::host(CUresult::CUDA_ERROR_INVALID_CONTEXT, call));
        }
        Ok(self.green)
    }

    /// True if the context is a green one: a [`GreenContext`], shared or not, or one that other code made. No driver call.
    #[inline]
    pub fn is_green(&self) -> bool {
        !self.green.is_null()
    }
}

impl Current<'_, '_> {
    /// The part of one kind of the device's resources that the context has: all of it, but for a [`GreenContext`].
    ///
    /// # Errors
    /// Same as [`Device::resource`](crate::Device::resource).
    ///
    /// Driver: `cuCtxGetDevResource`, CUDA 12.4+.
    #[doc(alias = "cuCtxGetDevResource")]
    #[inline]
    pub fn resource(&self, kind: ResourceKind) -> Result<DeviceResource, Error> {
        let context = self.checked()?;
        DeviceResource::ask(context.device(), |to| {
            // SAFETY: the context is live, and the out-parameter outlives the call.
            unsafe { context_call!(context, cuCtxGetDevResource(context.as_raw(), to, kind)) }
        })
    }
}
