//! Contexts that other code owns.

use std::ops::Deref;

use cuprum_sys::{CUcontext, CUgreenCtx, CUstream, FnId};

use super::ContextRef;
use super::current::borrowed;
use crate::device::Device;
use crate::driver::Driver;
use crate::error::Error;
use crate::raw::call::driver_call;
use crate::raw::held::activated;

/// A context made by other code of the process: borrowed, never destroyed.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::context::ForeignContext;
/// use cuprum::Buffer;
///
/// // A library that is called while its caller's context is current.
/// // SAFETY: the caller's context is alive until this function returns, and nothing outlives it.
/// let caller = unsafe { ForeignContext::current(driver) }?.ok_or("no context is current")?;
/// let sum: u32 = caller.enter(|cx| Ok(Buffer::from_slice(cx, &[1, 2, 3])?.to_vec(cx)?))?.iter().sum();
/// assert_eq!(sum, 6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ForeignContext(ContextRef);

impl ForeignContext {
    /// Borrows the context that is current on this thread. Returns `None` if there is none.
    ///
    /// # Safety
    /// The context outlives the value and everything made through it.
    ///
    /// Driver: `cuCtxGetCurrent`, CUDA 4.0+, and `cuCtxGetDevice`, CUDA 2.0+; if the driver has
    /// green contexts, `cuStreamGetGreenCtx`, CUDA 12.4+, because their streams are not ordered
    /// with the default stream.
    #[doc(alias = "cuCtxGetCurrent")]
    #[inline]
    pub unsafe fn current(driver: Driver) -> Result<Option<Self>, Error> {
        let mut raw = CUcontext::null();
        // SAFETY: `raw` outlives the call.
        unsafe { driver_call!(driver.library(), cuCtxGetCurrent(&raw mut raw)) }?;
        if raw.is_null() {
            return Ok(None);
        }
        let (device, green) = (current_device(driver)?, current_green(driver)?);
        Ok(Some(Self(ContextRef::new_green(raw, green, device))))
    }

    /// Borrows a context by its handle.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_CONTEXT` if the driver detects an invalid handle.
    ///
    /// # Safety
    /// `raw` is a live context of `driver`, and outlives the value and everything made through it.
    ///
    /// Driver: `cuCtxPushCurrent_v2` and `cuCtxPopCurrent_v2`, CUDA 4.0+, unless a token has made
    /// it current; `cuCtxGetDevice`, CUDA 2.0+; `cuStreamGetGreenCtx`, CUDA 12.4+, if the driver
    /// has it.
    #[doc(alias = "cuCtxPushCurrent_v2")]
    #[inline]
    pub unsafe fn from_raw(driver: Driver, raw: CUcontext) -> Result<Self, Error> {
        // The device is not known yet; this value stays in the function.
        let unknown = ContextRef::new(raw, Device::new(driver, 0));
        let (device, green) = activated(&unknown, || Ok((current_device(driver)?, current_green(driver)?)))?;
        Ok(Self(ContextRef::new_green(raw, green, device)))
    }
}

fn current_device(driver: Driver) -> Result<Device, Error> {
    let mut device = 0;
    // SAFETY: `device` outlives the call; a context is current.
    unsafe { driver_call!(driver.library(), cuCtxGetDevice(&raw mut device)) }?;
    Ok(Device::new(driver, device))
}

/// Returns the green context of the current context's default stream; null if it is not green.
fn current_green(driver: Driver) -> Result<CUgreenCtx, Error> {
    let mut green = CUgreenCtx::null();
    if driver.library().has(FnId::cuStreamGetGreenCtx) {
        let stream = CUstream::null();
        // SAFETY: the out-parameter outlives the call; a current context has a default stream.
        unsafe { driver_call!(driver.library(), cuStreamGetGreenCtx(stream, &raw mut green)) }?;
    }
    Ok(green)
}

impl Deref for ForeignContext {
    type Target = ContextRef;

    fn deref(&self) -> &ContextRef {
        &self.0
    }
}

borrowed! { ForeignContext }
