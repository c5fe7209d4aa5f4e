//! Notices of a device that the process exceeds its memory budget.

use std::ffi::c_void;

use cuprum_sys::{CUasyncCallbackHandle, CUasyncNotificationInfo, CUasyncNotificationType};

use super::callback::{Callback, Registered};
use crate::device::Device;
use crate::error::Error;
use crate::raw::call::driver_call;
use crate::raw::listener;

type Listener = Box<dyn Fn(u64) + Send + Sync>;

impl Device {
    /// Calls `listener` with the number of bytes beyond the budget, each time that the process
    /// exceeds it, on a thread of the driver. If programs share a device, as on a Windows desktop,
    /// the system may take memory away from the process if it does not free as much. The listener
    /// must not call the driver.
    ///
    /// Panics in it are caught. The closure is never freed, because the end of its last call is
    /// unknown.
    ///
    /// # Errors
    /// `CUDA_ERROR_NOT_SUPPORTED` on a system without budgets; other errors of the driver.
    ///
    /// Driver: `cuDeviceRegisterAsyncNotification`, CUDA 12.4+; at its end
    /// `cuDeviceUnregisterAsyncNotification`, CUDA 12.4+.
    #[doc(alias = "cuDeviceRegisterAsyncNotification")]
    pub fn on_over_budget(self, listener: impl Fn(u64) + Send + Sync + 'static) -> Result<Callback, Error> {
        let listener: Listener = Box::new(listener);
        let (library, device) = (self.driver().library(), self.as_raw());
        let (data, mut raw) = (listener::leaked(listener), CUasyncCallbackHandle::null());
        let to = &raw mut raw;
        // SAFETY: the data is of the callback's type and never freed; `raw` outlives the call.
        unsafe { driver_call!(library, cuDeviceRegisterAsyncNotification(device, Some(tell), data, to)) }?;
        Ok(Callback::new(Registered::OverBudget(raw, device), library))
    }
}

unsafe extern "C" fn tell(
    info: *mut CUasyncNotificationInfo,
    data: *mut c_void,
    _callback: CUasyncCallbackHandle,
) {
    if info.is_null() {
        return;
    }
    // SAFETY: the driver passes a notice that is valid during this call.
    let CUasyncNotificationInfo { type_, info } = unsafe { info.read() };
    if type_ != CUasyncNotificationType::CU_ASYNC_NOTIFICATION_TYPE_OVER_BUDGET {
        return;
    }
    // SAFETY: notices of this type have this part.
    let bytes = unsafe { info.overBudget }.bytesOverBudget;
    // SAFETY: the data is the listener that was registered, which is never freed.
    let listener = unsafe { &*data.cast::<Listener>() };
    listener::run(|| listener(bytes));
}
