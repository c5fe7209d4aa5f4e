//! Page-locked host memory.

use core::ffi::c_void;
use core::ptr;

use cuprum_sys::CUdeviceptr;

use crate::error::{Result, check};
use crate::exported::{calls, put};
use crate::state::device::Here;

calls! {
    fn cudaMallocHost[](address: *mut *mut c_void, size: usize) |here| {
        alloc(&here, address, size, 0)
    }

    fn cudaHostAlloc[](address: *mut *mut c_void, size: usize, flags: u32) |here| {
        alloc(&here, address, size, flags)
    }

    fn cudaFreeHost[](address: *mut c_void) |here| {
        if address.is_null() {
            return Ok(());
        }
        // SAFETY: the driver checks the address.
        check(unsafe { (here.fns.cuMemFreeHost)(address) })
    }

    fn cudaHostRegister[](address: *mut c_void, size: usize, flags: u32) => cuMemHostRegister_v2(address, size, flags);

    fn cudaHostUnregister[](address: *mut c_void) => cuMemHostUnregister(address);

    fn cudaHostGetDevicePointer[](device: *mut *mut c_void, host: *mut c_void, flags: u32)
        => cuMemHostGetDevicePointer_v2(device.cast::<CUdeviceptr>(), host, flags);

    fn cudaHostGetFlags[](flags: *mut u32, host: *mut c_void) => cuMemHostGetFlags(flags, host);
}

fn alloc(here: &Here, address: *mut *mut c_void, size: usize, flags: u32) -> Result {
    if size == 0 {
        // SAFETY: the caller's output.
        return unsafe { put(address, ptr::null_mut()) };
    }
    // SAFETY: the caller's output.
    check(unsafe { (here.fns.cuMemHostAlloc)(address, size, flags) })
}
