//! The system's functions that map pages.

use core::ffi::{c_int, c_void};

/// Access of mapped pages.
pub(super) const PROT_READ: c_int = 1;
pub(super) const PROT_READ_WRITE: c_int = 1 | 2;

unsafe extern "C" {
    pub(super) fn mmap(
        addr: *mut c_void,
        len: usize,
        prot: c_int,
        flags: c_int,
        fd: c_int,
        offset: i64,
    ) -> *mut c_void;
    pub(super) fn munmap(addr: *mut c_void, len: usize) -> c_int;
    pub(super) fn mprotect(addr: *mut c_void, len: usize, prot: c_int) -> c_int;
}
