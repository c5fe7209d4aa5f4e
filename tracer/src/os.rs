//! Operating system services that the standard library lacks: files mapped into memory, a clock
//! that processes share, and forks.

use std::ffi::{c_int, c_long, c_void};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr;

const PROT_READ_AND_WRITE: c_int = 3;
const MAP_SHARED: c_int = 1;
const CLOCK_MONOTONIC: c_int = 1;

#[repr(C)]
#[derive(Default)]
struct Timespec {
    seconds: c_long,
    nanoseconds: c_long,
}

unsafe extern "C" {
    fn mmap(
        start: *mut c_void,
        bytes: usize,
        protection: c_int,
        flags: c_int,
        file: c_int,
        offset: c_long,
    ) -> *mut c_void;
    fn munmap(start: *mut c_void, bytes: usize) -> c_int;
    fn clock_gettime(clock: c_int, time: *mut Timespec) -> c_int;
    fn pthread_atfork(
        prepare: Option<unsafe extern "C" fn()>,
        parent: Option<unsafe extern "C" fn()>,
        child: Option<unsafe extern "C" fn()>,
    ) -> c_int;
}

/// Nanoseconds of the clock that all processes of the machine share.
pub(crate) fn now() -> u64 {
    let mut time = Timespec::default();
    // SAFETY: a place for the answer; the clock is always there.
    unsafe { clock_gettime(CLOCK_MONOTONIC, &mut time) };
    time.seconds as u64 * 1_000_000_000 + time.nanoseconds as u64
}

/// Maps the first bytes of a file, which all processes that map it read and write.
///
/// # Errors
/// Fails with the system's error.
pub(crate) fn map(file: &File, bytes: usize) -> io::Result<*mut u64> {
    // SAFETY: a new mapping at a place of the system's choice touches nothing that is there.
    let start = unsafe { mmap(ptr::null_mut(), bytes, PROT_READ_AND_WRITE, MAP_SHARED, file.as_raw_fd(), 0) };
    // The value of C's `MAP_FAILED`.
    if start.addr() == usize::MAX { Err(io::Error::last_os_error()) } else { Ok(start.cast()) }
}

/// Unmaps a file.
///
/// # Safety
/// It came from [`map`] with as many bytes, and is not used any more.
pub(crate) unsafe fn unmap(start: *mut u64, bytes: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe { munmap(start.cast(), bytes) };
}

/// Registers a function to call in each child that is forked from now on.
pub(crate) fn in_forked_children(function: unsafe extern "C" fn()) {
    // SAFETY: the function lives as long as this library, which is never unloaded. Without memory
    // for the handler it is not called.
    unsafe { pthread_atfork(None, None, Some(function)) };
}
