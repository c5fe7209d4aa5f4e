//! Files from which this process has mapped its code, for the crates of this repository.

use std::path::PathBuf;

/// A library or an executable.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapped {
    pub file: PathBuf,
    /// Address of its first byte.
    pub base: usize,
}

/// The library or executable that an address belongs to, if the system reports it.
#[doc(hidden)]
#[cfg(target_os = "linux")]
#[must_use]
pub fn mapped_at(address: usize) -> Option<Mapped> {
    use core::ffi::{CStr, c_char, c_int, c_void};
    use core::ptr;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    /// `Dl_info` of the C library.
    #[repr(C)]
    struct Info {
        file: *const c_char,
        base: *mut c_void,
        symbol: *const c_char,
        symbol_address: *mut c_void,
    }
    unsafe extern "C" {
        fn dladdr(address: *const c_void, info: *mut Info) -> c_int;
    }
    let mut info = Info {
        file: ptr::null(),
        base: ptr::null_mut(),
        symbol: ptr::null(),
        symbol_address: ptr::null_mut(),
    };
    // SAFETY: the place is ours to write; the address is only compared with addresses of mapped
    // files.
    let found = unsafe { dladdr(ptr::without_provenance(address), &mut info) };
    if found == 0 || info.file.is_null() {
        return None;
    }
    // SAFETY: not null, so a C string of the linker's, which lives as long as the file is mapped.
    let file = unsafe { CStr::from_ptr(info.file) };
    Some(Mapped { file: OsStr::from_bytes(file.to_bytes()).into(), base: info.base.addr() })
}

/// Not known here.
#[doc(hidden)]
#[cfg(not(target_os = "linux"))]
#[must_use]
pub fn mapped_at(_address: usize) -> Option<Mapped> {
    None
}
