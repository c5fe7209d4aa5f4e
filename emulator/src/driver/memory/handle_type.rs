//! Types of handles for sharing memory with other processes: file descriptors.

use core::ffi::c_void;

use cuprum_sys::*;

use crate::driver::answer::{Answer, INVALID_VALUE, OUT_OF_MEMORY, ensure};
use crate::driver::call::{Out, not_supported};

pub(super) const FILE_DESCRIPTOR: CUmemAllocationHandleType =
    CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

/// Reason for refusing memory with another type of handle.
const OTHER_TYPES: &str = "memory of the software device is shared with other processes by POSIX file descriptor, \
     on Linux: ask for that type of handle, or none";

/// Fails unless memory with these types of handles can be created.
pub(super) fn check_handle_types(types: CUmemAllocationHandleType) -> Answer {
    let private = types == CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE;
    let shared = types == FILE_DESCRIPTOR && cfg!(target_os = "linux");
    if private || shared { Ok(()) } else { Err(not_supported(OTHER_TYPES)) }
}

pub(super) fn given(out: Out<c_void>, descriptor: Option<i32>) -> Answer {
    out.cast().set(descriptor.ok_or(OUT_OF_MEMORY)?)
}

/// Returns the descriptor that a client passes in place of a pointer.
pub(super) fn taken(handle: *mut c_void, types: CUmemAllocationHandleType) -> Answer<i32> {
    ensure(types == FILE_DESCRIPTOR, INVALID_VALUE)?;
    Ok(handle.addr() as i32)
}
