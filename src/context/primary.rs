//! The device's primary context, which all libraries of a process share.

use cuprum_sys::{CUcontext, CUgreenCtx};

use super::cause::Cause;
use super::current::borrowed;
use super::{ContextFlags, ContextRef, captures, context_owner};
use crate::device::Device;
use crate::error::Error;
use crate::raw::call::{driver_call, either_call};

/// A retained primary context of a device, which the runtime API and most CUDA libraries use.
///
/// Each value holds one retain; the driver destroys the context when the last retain in the process
/// is released.
///
/// # Keeping it in a struct
///
/// A struct cannot hold a context and a [`Buffer`](crate::Buffer) that borrows it:
/// [share](PrimaryContext::share) the context. Objects of a [shared context](crate::Shared) borrow
/// nothing. The struct can be moved, sent, kept in a `static` and dropped in any order.
///
/// # Example
/// ```
/// # cuprum::example!(driver);
/// use cuprum::context::{ContextStack, PrimaryContext};
///
/// let device = driver.device(0)?;
/// let context = PrimaryContext::retain(device)?;
/// let (_, active) = device.primary_context_state()?;
/// assert!(active);
///
/// let mut stack = ContextStack::take()?;
/// let cx = stack.push(&context)?;
/// cx.synchronize()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PrimaryContext(ContextRef);

impl PrimaryContext {
    /// Retains the primary context of `device`, creating it if necessary. It does not become
    /// current; push it.
    ///
    /// # Errors
    /// `CUDA_ERROR_OUT_OF_MEMORY`, `CUDA_ERROR_DEVICE_UNAVAILABLE` and others that the driver
    /// reports; [`Error::UNRESOLVED`] on a driver older than CUDA 7.0, where only
    /// [`Context`](super::Context) works.
    ///
    /// Driver: `cuDevicePrimaryCtxRetain`, CUDA 7.0+.
    #[doc(alias = "cuDevicePrimaryCtxRetain")]
    #[inline]
    pub fn retain(device: Device) -> Result<Self, Error> {
        let mut raw = CUcontext::null();
        // SAFETY: `raw` outlives the call; the device belongs to this driver.
        unsafe { driver_call!(device.library(), cuDevicePrimaryCtxRetain(&raw mut raw, device.as_raw())) }?;
        let context = ContextRef::with_cause(raw, CUgreenCtx::null(), device, Some(device.as_raw()));
        Ok(Self(context.ended_by(release)))
    }

    /// Releases the context and returns the error that `Drop` would swallow.
    ///
    /// Driver: `cuDevicePrimaryCtxRelease_v2`, CUDA 11.0+; before that `cuDevicePrimaryCtxRelease`,
    /// CUDA 7.0+.
    #[doc(alias = "cuDevicePrimaryCtxRelease_v2")]
    #[inline]
    pub fn close(self) -> Result<(), Error> {
        self.0.close()
    }
}

context_owner!(PrimaryContext);

borrowed! { PrimaryContext }

fn release(context: &ContextRef) -> Result<(), Error> {
    let (library, device) = (context.library(), context.device().as_raw());
    captures::free_beside(library, || {
        // SAFETY: this value holds one retain; only `close`, `Drop` and the last share release it,
        // and each takes the owner.
        unsafe {
            either_call!(library, cuDevicePrimaryCtxRelease_v2(device) or cuDevicePrimaryCtxRelease(device))
        }
    })
}

impl Device {
    /// Returns the flags with which the primary context was created or will be created, and true if
    /// any code of this process retains it.
    ///
    /// # Errors
    /// [`Error::UNRESOLVED`] on a driver older than CUDA 7.0.
    ///
    /// Driver: `cuDevicePrimaryCtxGetState`, CUDA 7.0+.
    #[doc(alias = "cuDevicePrimaryCtxGetState")]
    #[inline]
    pub fn primary_context_state(self) -> Result<(ContextFlags, bool), Error> {
        let (mut flags, mut active) = (0, 0);
        let (to_flags, to_active) = (&raw mut flags, &raw mut active);
        // SAFETY: both out-parameters outlive the call; the device belongs to this driver.
        unsafe {
            driver_call!(self.library(), cuDevicePrimaryCtxGetState(self.as_raw(), to_flags, to_active))
        }?;
        Ok((ContextFlags::from_bits_retain(flags), active != 0))
    }

    /// Sets the flags of the device's primary context, such as how the host waits.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for flags that the driver does not know or that exclude each
    /// other; before CUDA 11.0, `CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE` while the context is retained.
    ///
    /// Driver: `cuDevicePrimaryCtxSetFlags_v2`, CUDA 11.0+; before that
    /// `cuDevicePrimaryCtxSetFlags`, CUDA 7.0+.
    #[doc(alias = "cuDevicePrimaryCtxSetFlags_v2")]
    #[inline]
    pub fn set_primary_context_flags(self, flags: ContextFlags) -> Result<(), Error> {
        let (library, device, flags) = (self.library(), self.as_raw(), flags.bits());
        // SAFETY: plain values; the device belongs to this driver.
        unsafe {
            either_call!(
                library,
                cuDevicePrimaryCtxSetFlags_v2(device, flags) or cuDevicePrimaryCtxSetFlags(device, flags)
            )
        }
    }

    /// Destroys everything in the device's primary context, including objects of other libraries.
    /// All its holders get a new context.
    ///
    /// # Safety
    /// 1. No object of the primary context is used or dropped afterwards, by this crate or any
    ///    other library of the process.
    /// 2. The context is not current on any thread.
    ///
    /// Driver: `cuDevicePrimaryCtxReset_v2`, CUDA 11.0+; before that `cuDevicePrimaryCtxReset`,
    /// CUDA 7.0+.
    #[doc(alias = "cuDevicePrimaryCtxReset_v2")]
    #[inline]
    pub unsafe fn reset_primary_context(self) -> Result<(), Error> {
        let (library, device) = (self.library(), self.as_raw());
        // SAFETY: the caller guarantees that no object of the context is used again.
        let reset = unsafe {
            either_call!(library, cuDevicePrimaryCtxReset_v2(device) or cuDevicePrimaryCtxReset(device))
        };
        reset.map(|()| Cause::forget_primary(library, device))
    }
}
