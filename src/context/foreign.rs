//! Contexts that somebody else owns.

use std::ops::Deref;

use cuprum_sys::CUcontext;

use super::ContextRef;
use crate::driver::Driver;
use crate::error::{Error, driver_call};

/// A context made by other code of the process: borrowed, never destroyed.
#[derive(Debug)]
pub struct ForeignContext(ContextRef);

impl ForeignContext {
    /// Borrows the context that is current on this thread; `None` if none is.
    ///
    /// # Errors
    /// As the driver says.
    ///
    /// # Safety
    /// The context stays alive as long as the value and everything made through it.
    ///
    /// Driver: `cuCtxGetCurrent`, CUDA 4.0+, and `cuCtxGetDevice`, CUDA 2.0+.
    #[doc(alias = "cuCtxGetCurrent")]
    pub unsafe fn current(driver: Driver) -> Result<Option<Self>, Error> {
        let library = driver.library();
        let mut raw = CUcontext::null();
        // SAFETY: `raw` outlives the call.
        unsafe { driver_call!(library, cuCtxGetCurrent(&raw mut raw)) }?;
        if raw.is_null() {
            return Ok(None);
        }
        let mut device = 0;
        // SAFETY: `device` outlives the call; a context is current.
        unsafe { driver_call!(library, cuCtxGetDevice(&raw mut device)) }?;
        Ok(Some(Self(ContextRef::new(raw, crate::Device::new(driver, device)))))
    }

    /// Borrows a context by its handle.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_CONTEXT` for a handle that is none, as far as the driver can tell.
    ///
    /// # Safety
    /// `raw` is a live context of `driver`, and stays alive as long as the value and everything made through it.
    ///
    /// Driver: `cuCtxPushCurrent_v2` and `cuCtxPopCurrent_v2`, CUDA 4.0+; `cuCtxGetDevice`, CUDA 2.0+.
    #[doc(alias = "cuCtxPushCurrent_v2")]
    pub unsafe fn from_raw(driver: Driver, raw: CUcontext) -> Result<Self, Error> {
        let library = driver.library();
        // SAFETY: the caller vouches for the handle.
        unsafe { driver_call!(library, cuCtxPushCurrent_v2(raw)) }?;
        let mut device = 0;
        // SAFETY: `device` outlives the call; the context was just made current.
        let found = unsafe { driver_call!(library, cuCtxGetDevice(&raw mut device)) };
        let mut popped = CUcontext::null();
        // SAFETY: `popped` outlives the call; the context pushed above is on top.
        unsafe { driver_call!(library, cuCtxPopCurrent_v2(&raw mut popped)) }?;
        found.map(|()| Self(ContextRef::new(raw, crate::Device::new(driver, device))))
    }
}

impl Deref for ForeignContext {
    type Target = ContextRef;

    fn deref(&self) -> &ContextRef {
        &self.0
    }
}
