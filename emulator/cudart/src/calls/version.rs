//! Versions, errors, and addresses of driver functions.

use core::ffi::{c_char, c_void};
use core::ptr;

use cuprum_sys::{CUdriverProcAddress_flags, CUdriverProcAddressQueryResult, StreamMode};

use crate::driver;
use crate::error::{Result, check, cudaError};
use crate::exported::{calls, put};
use crate::release;
use crate::state::device::Here;
use crate::state::thread;

calls! {
    fn cudaDriverGetVersion[](version: *mut i32) {
        let found = driver::library(StreamMode::Legacy).map_or(0, |library| library.version().as_raw() as i32);
        // SAFETY: the caller's output.
        unsafe { put(version, found) }
    }

    fn cudaRuntimeGetVersion[](version: *mut i32) {
        // SAFETY: the caller's output.
        unsafe { put(version, release::version()) }
    }

    fn cudaGetDriverEntryPoint[ptsz](
        symbol: *const c_char,
        address: *mut *mut c_void,
        flags: u64,
        status: *mut CUdriverProcAddressQueryResult,
    ) |here| {
        // SAFETY: the caller's name and places.
        unsafe { entry_point(&here, symbol, address, release::version(), flags, status) }
    }

    fn cudaGetDriverEntryPointByVersion[ptsz](
        symbol: *const c_char,
        address: *mut *mut c_void,
        version: u32,
        flags: u64,
        status: *mut CUdriverProcAddressQueryResult,
    ) |here| {
        // SAFETY: the caller's name and places.
        unsafe { entry_point(&here, symbol, address, version as i32, flags, status) }
    }
}

/// Queries the driver for a function. An unknown one is a success with a null address and a status.
///
/// # Safety
/// The name is null or a C string, and the other pointers are null or writable.
unsafe fn entry_point(
    here: &Here,
    symbol: *const c_char,
    address: *mut *mut c_void,
    version: i32,
    flags: u64,
    status: *mut CUdriverProcAddressQueryResult,
) -> Result {
    if symbol.is_null() || address.is_null() {
        return Err(cudaError::cudaErrorInvalidValue);
    }
    let per_thread = CUdriverProcAddress_flags::CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM.0;
    let flags = if flags == 0 && here.mode == StreamMode::PerThread { u64::from(per_thread) } else { flags };
    let get = here.fns.cuGetProcAddress_v2;
    let mut found = ptr::null_mut();
    let mut answer = CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_SUCCESS;
    // SAFETY: the caller's name, and valid outputs.
    let result = check(unsafe { get(symbol, &mut found, version, flags, &mut answer) });
    let missing = answer != CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_SUCCESS;
    if !missing {
        result?;
    }
    // SAFETY: not null, and writable as guaranteed by the caller.
    unsafe { address.write(found) };
    if !status.is_null() {
        // SAFETY: likewise.
        unsafe { status.write(answer) };
    }
    Ok(())
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaGetLastError() -> cudaError {
    thread::take_last_error()
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaPeekAtLastError() -> cudaError {
    thread::last_error()
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaGetErrorName(error: cudaError) -> *const c_char {
    error.name().as_ptr()
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaGetErrorString(error: cudaError) -> *const c_char {
    error.describe()
}

/// The functions above, which return no `cudaError` of their own.
#[cfg_attr(not(test), expect(dead_code, reason = "tests compare it with the headers"))]
pub(crate) const OTHERS: &[crate::exported::Exported] = &[
    crate::exported::line!(cudaGetLastError[]()),
    crate::exported::line!(cudaPeekAtLastError[]()),
    crate::exported::line!(cudaGetErrorName[](cudaError)),
    crate::exported::line!(cudaGetErrorString[](cudaError)),
];
