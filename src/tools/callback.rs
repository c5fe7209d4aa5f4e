//! Functions registered with the driver.

use cuprum_sys::{
    CUasyncCallbackHandle, CUcoredumpCallbackHandle, CUdevice, CUlogsCallbackHandle, CUresult, FnId, Fns,
    Library, call,
};

#[cfg(doc)]
use crate::device::Device;
#[cfg(doc)]
use crate::driver::Driver;
use crate::error::Error;
use crate::raw::debug::debug;
use crate::raw::held::Handle;
use crate::raw::owned::Owned;

/// A function that the driver calls until this is dropped: made by [`Driver::on_log`],
/// [`Driver::on_coredump_start`], [`Driver::on_coredump_complete`] and [`Device::on_over_budget`].
///
/// ```
/// # cuprum::example!(driver);
/// let callback = driver.on_log(|_level, message| eprintln!("the driver says: {message}"))?;
/// // It receives messages until here.
/// callback.close()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Callback(Owned<Registered>);

/// The driver's handle of a function, by the calls that end it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Registered {
    Log(CUlogsCallbackHandle),
    CoredumpStart(CUcoredumpCallbackHandle),
    CoredumpComplete(CUcoredumpCallbackHandle),
    OverBudget(CUasyncCallbackHandle, CUdevice),
}

// SAFETY: the driver allows any thread to end the calls.
unsafe impl Handle for Registered {
    const NAME: &'static str = "Callback";

    unsafe fn free(self, fns: &Fns) -> (CUresult, FnId) {
        match self {
            // SAFETY: the caller guarantees that it is registered, and ended once.
            Self::Log(raw) => unsafe { call!(fns, cuLogsUnregisterCallback(raw)) },
            // SAFETY: as above.
            Self::CoredumpStart(raw) => unsafe { call!(fns, cuCoredumpDeregisterStartCallback(raw)) },
            // SAFETY: as above.
            Self::CoredumpComplete(raw) => unsafe { call!(fns, cuCoredumpDeregisterCompleteCallback(raw)) },
            // SAFETY: as above, for this device.
            Self::OverBudget(raw, device) => unsafe {
                call!(fns, cuDeviceUnregisterAsyncNotification(device, raw))
            },
        }
    }
}

impl Callback {
    pub(super) const fn new(raw: Registered, library: Library) -> Self {
        Self(Owned::new(raw, library))
    }

    /// Stops the calls and returns the error that `Drop` would swallow.
    ///
    /// Driver: `cuLogsUnregisterCallback`, CUDA 12.9+, `cuCoredumpDeregisterStartCallback` or
    /// `cuCoredumpDeregisterCompleteCallback`, CUDA 13.2+, or
    /// `cuDeviceUnregisterAsyncNotification`, CUDA 12.4+.
    #[doc(alias("cuLogsUnregisterCallback", "cuCoredumpDeregisterStartCallback"))]
    #[doc(alias("cuCoredumpDeregisterCompleteCallback", "cuDeviceUnregisterAsyncNotification"))]
    #[inline]
    pub fn close(self) -> Result<(), Error> {
        self.0.close()
    }
}

debug!(Callback: |this, f| this.0.fmt(f));
