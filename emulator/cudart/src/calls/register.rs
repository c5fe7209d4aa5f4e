//! The entry points of `crt/host_runtime.h`. Compiler-generated code calls them before `main`, or
//! when a library is opened, and at the end of the program or library.

use core::ffi::{c_char, c_void};

use cuprum_sys::StreamMode;

use crate::exported::{Exported, line};
use crate::registry;
use crate::state::{device, thread};
use crate::structs::FatBinaryWrapper;

/// Registers a fat binary. Loads nothing, not even a driver.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn __cudaRegisterFatBinary(wrapper: *const FatBinaryWrapper) -> *mut *mut c_void {
    registry::add_image(wrapper)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn __cudaRegisterFatBinaryEnd(_handle: *mut *mut c_void) {}

/// Removes a fat binary, at the end of its program or library.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn __cudaUnregisterFatBinary(handle: *mut *mut c_void) {
    registry::remove_image(handle);
}

/// Registers one kernel. Limits and outputs follow the name; compilers leave them empty.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn __cudaRegisterFunction(
    handle: *mut *mut c_void,
    host: *const c_void,
    _device: *mut c_char,
    name: *const c_char,
    _limit: i32,
    _thread: *mut c_void,
    _block: *mut c_void,
    _block_size: *mut c_void,
    _grid_size: *mut c_void,
    _warp_size: *mut i32,
) {
    registry::add_kernel(handle, host, name);
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn __cudaRegisterVar(
    handle: *mut *mut c_void,
    host: *const c_void,
    _device: *mut c_char,
    name: *const c_char,
    _external: i32,
    _size: usize,
    _constant: i32,
    _global: i32,
) {
    registry::add_variable(handle, host, name);
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn __cudaRegisterManagedVar(
    handle: *mut *mut c_void,
    place: *mut *mut c_void,
    _device: *mut c_char,
    name: *const c_char,
    _external: i32,
    _size: usize,
    _constant: i32,
    _global: i32,
) {
    registry::add_managed(handle, place, name);
}

/// Writes managed variables' addresses to their host variables before use. Returns 0 on failure.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn __cudaInitModule(handle: *mut *mut c_void) -> c_char {
    let loaded = device::enter(StreamMode::Legacy).and_then(|here| registry::load(here.fns, handle));
    let worked = loaded.is_ok();
    let _ = thread::record(loaded);
    worked.into()
}

#[cfg_attr(not(test), expect(dead_code, reason = "tests compare it with the headers"))]
pub(crate) const OTHERS: &[Exported] = &[
    line!(__cudaRegisterFatBinary[](*const FatBinaryWrapper)),
    line!(__cudaRegisterFatBinaryEnd[](*mut *mut c_void)),
    line!(__cudaUnregisterFatBinary[](*mut *mut c_void)),
    line!(__cudaInitModule[](*mut *mut c_void)),
    line!(__cudaRegisterFunction[](
        *mut *mut c_void, *const c_void, *mut c_char, *const c_char, i32, *mut c_void, *mut c_void, *mut c_void,
        *mut c_void, *mut i32
    )),
    line!(__cudaRegisterVar[](
        *mut *mut c_void, *const c_void, *mut c_char, *const c_char, i32, usize, i32, i32
    )),
    line!(__cudaRegisterManagedVar[](
        *mut *mut c_void, *mut *mut c_void, *mut c_char, *const c_char, i32, usize, i32, i32
    )),
];
