//! Libraries of the machine: opening one, and finding its exports.

use core::ffi::{CStr, c_void};
use core::ptr;
use std::path::Path;

pub use libloading::Library as Handle;

/// Loads a library with all that it needs, for itself alone.
pub fn dlopen(path: &Path) -> Result<Handle, String> {
    #[cfg(unix)]
    use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
    #[cfg(windows)]
    use libloading::os::windows::{LOAD_LIBRARY_SEARCH_SYSTEM32, Library};

    // SAFETY: runs the initializers of the machine's driver or compiler, or of a library that the
    // caller named.
    #[cfg(unix)]
    let opened = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) };
    // A bare name is looked for among the system's own libraries only.
    #[cfg(windows)]
    let flags = if path.is_absolute() { 0 } else { LOAD_LIBRARY_SEARCH_SYSTEM32 };
    // SAFETY: likewise.
    #[cfg(windows)]
    let opened = unsafe { Library::load_with_flags(path, flags) };

    opened.map(Into::into).map_err(|error| error.to_string())
}

/// The address of an exported symbol; null if there is none.
pub fn dlsym(handle: &Handle, name: &CStr) -> *const c_void {
    // SAFETY: the address is only read here, not followed; its type is the table's concern.
    let symbol = unsafe { handle.get::<*const c_void>(name.to_bytes_with_nul()) };
    symbol.map_or(ptr::null(), |symbol| *symbol)
}
