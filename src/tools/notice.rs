//! Notices of a device: that the process uses more of its memory than it may.

use std::ffi::c_void;
use std::fmt;

use cuprum_sys::{
    CUasyncCallbackHandle, CUasyncNotificationInfo, CUasyncNotificationType, CUdevice, CUresult, FnId, Fns,
    call,
};

use crate::device::Device;
use crate::error::Error;
use crate::raw::call::driver_call;
use crate::raw::held::Handle;
use crate::raw::listener;
use crate::raw::owned::Owned;

/// A function that is told when the process uses more of a device's memory than its budget, until this is dropped: made by
/// [`Device::on_over_budget`].
///
/// # Example
/// ```
/// # cuprum::example!(driver);
/// match driver.device(0)?.on_over_budget(|bytes| eprintln!("{bytes} bytes too many")) {
///     Ok(notice) => notice.close()?,
///     Err(error) => println!("no budget here: {error}"),
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct BudgetNotice(Owned<Registered>);

#[derive(Clone, Copy)]
struct Registered {
    raw: CUasyncCallbackHandle,
    device: CUdevice,
}

// SAFETY: the driver allows any thread to end the notices.
unsafe impl Handle for Registered {
    const NAME: &'static str = "BudgetNotice";

    unsafe fn free(self, fns: &Fns) -> (CUresult, FnId) {
        // SAFETY: the caller guarantees that it is registered for this device, and given back once.
        unsafe { call!(fns, cuDeviceUnregisterAsyncNotification(self.device, self.raw)) }
    }
}

/// Function that is told the bytes beyond the budget.
type Listener = Box<dyn Fn(u64) + Send + Sync>;

impl Device {
    /// Calls `listener` with the number of bytes beyond the budget, each time that the process is over it, on a thread of the
    /// driver's. Where programs share a device, as on a desktop of Windows, the system may take memory away from the process
    /// if it does not free that much. The listener must not call the driver.
    ///
    /// A panic in it is caught. The memory of the closure is never freed: nothing tells when its last call has ended.
    ///
    /// # Errors
    /// `CUDA_ERROR_NOT_SUPPORTED` where there are no budgets; other errors of the driver.
    ///
    /// Driver: `cuDeviceRegisterAsyncNotification`, CUDA 12.4+; at its end `cuDeviceUnregisterAsyncNotification`, CUDA 12.4+.
    #[doc(alias = "cuDeviceRegisterAsyncNotification")]
    pub fn on_over_budget(
        self,
        listener: impl Fn(u64) + Send + Sync + 'static,
    ) -> Result<BudgetNotice, Error> {
        let listener: Listener = Box::new(listener);
        let (library, device) = (self.driver().library(), self.as_raw());
        let (data, mut raw) = (listener::leaked(listener), CUasyncCallbackHandle::null());
        let to = &raw mut raw;
        // SAFETY: the callback takes its data for what it is, and that is never freed; `raw` outlives the call.
        unsafe { driver_call!(library, cuDeviceRegisterAsyncNotification(device, Some(tell), data, to)) }?;
        Ok(BudgetNotice(Owned::new(Registered { raw, device }, library)))
    }
}

/// The driver's callback.
unsafe extern "C" fn tell(
    info: *mut CUasyncNotificationInfo,
    data: *mut c_void,
    _callback: CUasyncCallbackHandle,
) {
    if info.is_null() {
        return;
    }
    // SAFETY: the driver gives a notice that is valid during this call.
    let CUasyncNotificationInfo { type_, info } = unsafe { info.read() };
    if type_ != CUasyncNotificationType::CU_ASYNC_NOTIFICATION_TYPE_OVER_BUDGET {
        return;
    }
    // SAFETY: that is the part which notices of this type have.
    let bytes = unsafe { info.overBudget }.bytesOverBudget;
    // SAFETY: the data is the listener that was registered, which is never freed.
    let listener = unsafe { &*data.cast::<Listener>() };
    listener::run(|| listener(bytes));
}

impl BudgetNotice {
    /// Ends the notices and returns the error that `Drop` would swallow.
    ///
    /// # Errors
    /// [Errors of any call](crate#errors).
    ///
    /// Driver: `cuDeviceUnregisterAsyncNotification`, CUDA 12.4+.
    #[doc(alias = "cuDeviceUnregisterAsyncNotification")]
    #[inline]
    pub fn close(self) -> Result<(), Error> {
        self.0.close()
    }
}

impl fmt::Debug for BudgetNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BudgetNotice").field(&self.0.raw().raw).finish()
    }
}
