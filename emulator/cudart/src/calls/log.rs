//! The driver's error log, and notifications of a device.

use core::ffi::{c_char, c_void};

use cuprum_sys::{
    CUasyncCallback, CUasyncCallbackHandle, CUlogIterator, CUlogsCallback, CUlogsCallbackHandle,
};

use crate::exported::calls;

calls! {
    fn cudaLogsRegisterCallback[](callback: CUlogsCallback, data: *mut c_void, handle: *mut CUlogsCallbackHandle)
        -> cuLogsRegisterCallback(callback, data, handle);

    fn cudaLogsUnregisterCallback[](handle: CUlogsCallbackHandle) -> cuLogsUnregisterCallback(handle);

    fn cudaLogsCurrent[](iterator: *mut CUlogIterator, flags: u32) -> cuLogsCurrent(iterator, flags);

    fn cudaLogsDumpToFile[](iterator: *mut CUlogIterator, path: *const c_char, flags: u32)
        -> cuLogsDumpToFile(iterator, path, flags);

    fn cudaLogsDumpToMemory[](iterator: *mut CUlogIterator, buffer: *mut c_char, size: *mut usize, flags: u32)
        -> cuLogsDumpToMemory(iterator, buffer, size, flags);

    fn cudaDeviceRegisterAsyncNotification[](
        device: i32,
        callback: CUasyncCallback,
        data: *mut c_void,
        handle: *mut CUasyncCallbackHandle,
    ) -> cuDeviceRegisterAsyncNotification(device, callback, data, handle);

    fn cudaDeviceUnregisterAsyncNotification[](device: i32, handle: CUasyncCallbackHandle)
        -> cuDeviceUnregisterAsyncNotification(device, handle);
}
