//! Contexts that this process creates and destroys.

use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::Deref;

use cuprum_sys::{CUcontext, CUctxCreateParams, FnId};

use super::{ContextRef, stack};
use crate::device::Device;
use crate::error::{Error, driver_call};

bitflags::bitflags! {
    /// How a context waits and what it prepares. A bit that this crate does not name is passed on.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
    pub struct ContextFlags: u32 {
        /// The host spins while it waits for the device: least latency, one busy core.
        const SPIN = 1;
        /// The host yields its core while it waits.
        const YIELD = 2;
        /// The host sleeps while it waits: least load, most latency.
        const BLOCKING_SYNC = 4;
        /// Host memory can be mapped into the device's address space. Always on for devices of today.
        const MAP_HOST = 8;
        /// Local memory that a kernel needed stays allocated after it.
        const LMEM_RESIZE_TO_MAX = 16;
        const _ = !0;
    }
}

/// A context of its own: created here, destroyed on drop.
///
/// Prefer [`PrimaryContext`](super::PrimaryContext) where other CUDA libraries run in the same process: they
/// all share that one. A context of its own is for isolation: a fault in it leaves others alone.
///
/// It cannot be dropped while something made in it is alive. Drop destroys it on any thread, swallows errors
/// (see [`swallowed`](crate::swallowed)) and does nothing in a forked child; [`close`](Context::close) reports.
pub struct Context(ContextRef);

impl Context {
    /// Creates a context on `device`. It is not left current: push it.
    ///
    /// # Errors
    /// `CUDA_ERROR_OUT_OF_MEMORY`, `CUDA_ERROR_INVALID_DEVICE` and others as the driver says;
    /// [`Error::is_forked`] in a forked child.
    ///
    /// Driver: `cuCtxCreate_v2`, CUDA 3.2+, or `cuCtxCreate_v4`, CUDA 12.5+, where a driver has only that; then
    /// `cuCtxPopCurrent_v2`, CUDA 4.0+.
    #[doc(alias = "cuCtxCreate_v2")]
    #[doc(alias = "cuCtxCreate_v4")]
    pub fn create(device: Device, flags: ContextFlags) -> Result<Self, Error> {
        let library = device.library();
        let mut raw = CUcontext::null();
        if library.has(FnId::cuCtxCreate_v2) {
            // SAFETY: `raw` outlives the call; the device belongs to this driver.
            unsafe { driver_call!(library, cuCtxCreate_v2(&raw mut raw, flags.bits(), device.as_raw())) }?;
        } else {
            let mut params = CUctxCreateParams::zeroed();
            let params = &raw mut params;
            // SAFETY: as above; zeroed parameters ask for an ordinary context and outlive the call.
            unsafe {
                driver_call!(library, cuCtxCreate_v4(&raw mut raw, params, flags.bits(), device.as_raw()))
            }?;
        }
        let context = Self(ContextRef::new(raw, device));
        let mut popped = CUcontext::null();
        // SAFETY: `popped` outlives the call; creation left the new context on top, where it is not wanted.
        unsafe { driver_call!(library, cuCtxPopCurrent_v2(&raw mut popped)) }?;
        Ok(context)
    }

    /// Keeps the context for the rest of the process, so that what is made in it can live in structs and statics.
    pub fn leak(self) -> &'static ContextRef {
        &Box::leak(Box::new(self)).0
    }

    /// Destroys the context and reports what `Drop` would swallow; gives it back if that failed.
    ///
    /// # Errors
    /// As the driver says, with the context.
    ///
    /// Driver: `cuCtxDestroy_v2`, CUDA 4.0+.
    #[doc(alias = "cuCtxDestroy_v2")]
    pub fn close(self) -> Result<(), (Error, Self)> {
        let this = ManuallyDrop::new(self);
        this.destroy().map_err(|error| (error, ManuallyDrop::into_inner(this)))
    }

    fn destroy(&self) -> Result<(), Error> {
        let on_top = stack::is_left_on_top(&self.0);
        // SAFETY: the handle is live: only `close` and `Drop` destroy it, and each takes the owner. Nothing made
        // in the context is left, since all of it borrows the owner.
        match unsafe { driver_call!(self.library(), cuCtxDestroy_v2(self.as_raw())) } {
            Err(error) if !error.is_deinitialized() => Err(self.record(error)),
            _ => {
                if on_top {
                    stack::forget_top();
                }
                Ok(())
            }
        }
    }
}

impl Deref for Context {
    type Target = ContextRef;

    fn deref(&self) -> &ContextRef {
        &self.0
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        match self.destroy() {
            Err(error) if !error.is_forked() => self.swallow(error),
            _ => {}
        }
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Context").field(&self.0).finish()
    }
}
