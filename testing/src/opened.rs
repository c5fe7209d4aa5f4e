//! Drivers that are files, and files that are none.

use std::fmt::Display;
use std::path::Path;

use cuprum_sys::{Attempt, Library, LoadError, OpenOptions};

/// Opens a library that a test made or fetched.
pub fn open_from(path: impl AsRef<Path>) -> Result<Library, LoadError> {
    open_with(Library::options(), path)
}

/// As `open_from`, with options.
pub fn open_with(options: OpenOptions, path: impl AsRef<Path>) -> Result<Library, LoadError> {
    // SAFETY: the tests' own fakes and real drivers: their initializers may run, and functions with
    // a driver's names have its ABI.
    unsafe { options.open_from(path) }
}

/// Checks that this path is the only one that an error names as tried, and returns the reason for
/// the refusal.
pub fn refused<R: Clone>(path: &Path, attempts: &[Attempt<R>], error: &impl Display) -> R {
    let [attempt] = attempts else { panic!("{error}") };
    assert_eq!(attempt.origin(), path);
    assert!(error.to_string().contains(path.to_str().expect("a path of characters")), "{error}");
    attempt.cause().clone()
}
