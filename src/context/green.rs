//! Green contexts, which use a part of a device.

use cuprum_sys::{CUcontext, CUgreenCtx, CUgreenCtxCreate_flags, CUresult, FnId};

use super::call::context_call;
use super::current::borrowed;
use super::{ContextRef, Current, captures, context_owner};
use crate::device::{DeviceResource, ResourceKind, describe};
use crate::error::Error;
use crate::raw::call::driver_call;
use crate::raw::owner::close;

/// A context that runs its kernels on a part of the device's multiprocessors, isolated from the
/// others.
///
/// It is pushed, entered and [shared](GreenContext::share) like any other context, and its objects
/// are used in the same way. The context outlives its streams: they would end with it (on a driver
/// of CUDA 13.0, every call with such a stream fails, including the call that destroys it). To use
/// the same code in several contexts, load a [`CodeLibrary`](crate::module::CodeLibrary).
///
/// Its streams are [non-blocking](crate::stream::StreamKind::NonBlocking), except for its own
/// default stream, which runs synchronous copies. It has no per-thread default stream: if the
/// library uses these, calls on the default stream, including synchronous copies, return
/// `CUDA_ERROR_INVALID_HANDLE` (also on an H100 with driver 580).
///
/// The driver retains the device's primary context for it, and allocates its memory there:
/// addresses are valid in both, and in other green contexts of the device. While it exists, the
/// primary context cannot be reset. A fault in one context is a fault in all.
///
/// ```
/// # cuprum::example!(driver);
/// use cuprum::context::GreenContext;
/// use cuprum::device::{ResourceKind, SplitFlags};
/// use cuprum::{Buffer, Stream};
///
/// let all = driver.device(0)?.resource(ResourceKind::CU_DEV_RESOURCE_TYPE_SM)?;
/// // Eight multiprocessors, or all if there are fewer; the rest is free for other contexts.
/// let count = all.sm().map_or(0, |sm| sm.smCount.min(8));
/// let (groups, _) = all.split_by_count(1, count, SplitFlags::empty())?;
/// let green = GreenContext::create(&groups)?;
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
/// A struct cannot hold a context and a [`Stream`](crate::Stream) that borrows it:
/// [share](GreenContext::share) the context.
pub struct GreenContext(ContextRef);

impl GreenContext {
    /// Creates a context on resources of one device. Multiprocessors that appear twice count once.
    /// The context does not become current; push it.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` without resources; `CUDA_ERROR_INVALID_DEVICE` for resources of
    /// several devices; `CUDA_ERROR_INVALID_RESOURCE_TYPE`;
    /// `CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION` for incompatible resources;
    /// `CUDA_ERROR_OUT_OF_MEMORY`; [`Error::UNRESOLVED`] before CUDA 12.4.
    ///
    /// Driver: `cuDevResourceGenerateDesc`, `cuGreenCtxCreate` and `cuCtxFromGreenCtx`, CUDA 12.4+;
    /// if the latter fails, `cuGreenCtxDestroy`, CUDA 12.4+.
    #[doc(alias("cuDevResourceGenerateDesc", "cuGreenCtxCreate", "cuCtxFromGreenCtx"))]
    #[inline]
    pub fn create(resources: &[DeviceResource]) -> Result<Self, Error> {
        let ((device, described), mut green) = (describe(resources)?, CUgreenCtx::null());
        let to_green = &raw mut green;
        let flags = CUgreenCtxCreate_flags::CU_GREEN_CTX_DEFAULT_STREAM.0;
        // SAFETY: the out-parameter outlives the call; the description is of this device and never
        // freed.
        unsafe {
            driver_call!(device.library(), cuGreenCtxCreate(to_green, described, device.as_raw(), flags))
        }?;
        let mut raw = CUcontext::null();
        // SAFETY: the out-parameter outlives the call, and the green context was just made.
        let made = unsafe { driver_call!(device.library(), cuCtxFromGreenCtx(&raw mut raw, green)) };
        let context = Self(ContextRef::new_green(raw, green, device).ended_by(destroy));
        // Dropping the context destroys it.
        made.map(|()| context)
    }

    /// Returns the driver's handle of the green context; [`as_raw`](ContextRef::as_raw) returns the
    /// handle of the context that is pushed.
    pub const fn as_raw_green(&self) -> CUgreenCtx {
        self.0.green
    }

    /// Returns a number that identifies the green context within the process. It is never reused.
    ///
    /// # Errors
    /// [`Error::UNRESOLVED`] on a driver before CUDA 12.9.
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

    /// Returns the context's part of one kind of the device's resources.
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

    close!("Destroys the context", "cuGreenCtxDestroy", "12.4", |this| this.0.close());
}

context_owner!(GreenContext);

borrowed! { GreenContext }

/// Destroys a green context without objects: each object borrows the owner or holds a share. If a
/// forgotten token left it current, the driver keeps it current, and calls report that it is
/// destroyed.
fn destroy(context: &ContextRef) -> Result<(), Error> {
    captures::free_beside(context.library(), || {
        // SAFETY: the handle is live: only `close`, `Drop` and the last share destroy it, and each
        // takes the owner.
        unsafe { driver_call!(context.library(), cuGreenCtxDestroy(context.green)) }
    })
}

impl ContextRef {
    pub(crate) fn green(&self, call: FnId) -> Result<CUgreenCtx, Error> {
        if self.green.is_null() {
            return Err(Error::host(CUresult::CUDA_ERROR_INVALID_CONTEXT, call));
        }
        Ok(self.green)
    }

    /// True for a green context: a [`GreenContext`], or one made by other code. No driver call.
    #[inline]
    pub fn is_green(&self) -> bool {
        !self.green.is_null()
    }
}

impl Current<'_, '_> {
    /// Returns its part of one kind of the device's resources: all, except in a [`GreenContext`].
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
