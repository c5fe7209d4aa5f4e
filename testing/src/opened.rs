//! Drivers that are files.

use std::path::Path;

use cuprum_sys::{Library, LoadError, OpenOptions};

/// Opens a library that a test made or fetched.
pub fn open_from(path: impl AsRef<Path>) -> Result<Library, LoadError> {
    open_with(Library::options(), path)
}

/// As `open_from`, with options.
pub fn open_with(options: OpenOptions, path: impl AsRef<Path>) -> Result<Library, LoadError> {
    // SAFETY: the tests' own fakes and real drivers: their initializers may run, and functions with a
    // driver's names have its ABI.
    unsafe { options.open_from(path) }
}
