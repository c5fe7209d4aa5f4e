//! Variables of the environment, as far as they may be obeyed.
//!
//! Some variables name libraries and programs to load and run. A process with more rights than the
//! user who started it (a program with the setuid bit or with capabilities) must not obey them, as
//! its loader does not obey `LD_LIBRARY_PATH`. All crates of this repository read variables through
//! this module.

use std::ffi::OsString;
use std::path::PathBuf;

/// The value of a variable; `None` if it is not set, or empty, or if this process has more rights
/// than the user who started it ([`is_trusted`]).
///
/// # Example
/// ```
/// use cuprum_sys::environment;
///
/// // In most processes; with the setuid bit there would be none, whatever is set.
/// if let Some(path) = environment::variable("CUPRUM_DRIVER") {
///     println!("the driver is to be {}", path.display());
/// }
/// ```
#[must_use]
pub fn variable(name: &str) -> Option<OsString> {
    if !is_trusted() {
        return None;
    }
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// The folder for temporary files: the environment's if it may be obeyed, else the system's own.
#[must_use]
pub fn temporary_folder() -> PathBuf {
    if cfg!(unix) && !is_trusted() { PathBuf::from("/tmp") } else { std::env::temp_dir() }
}

/// True unless this process has more rights than the user who started it, by the setuid or setgid
/// bit of its program or by capabilities: on Linux by the kernel's word (`AT_SECURE`), on other
/// Unix systems by `issetugid`. On Windows, where programs have no such bits, it is always true.
#[must_use]
pub fn is_trusted() -> bool {
    !gained_rights()
}

#[cfg(all(any(target_os = "linux", target_os = "android"), not(miri)))]
fn gained_rights() -> bool {
    use core::ffi::c_ulong;
    const AT_SECURE: c_ulong = 23;
    unsafe extern "C" {
        fn getauxval(kind: c_ulong) -> c_ulong;
    }
    // SAFETY: takes a number and reads a value that the kernel set for this process (glibc 2.16,
    // musl 1.1, Android 4.3).
    unsafe { getauxval(AT_SECURE) != 0 }
}

#[cfg(all(unix, not(any(target_os = "linux", target_os = "android")), not(miri)))]
fn gained_rights() -> bool {
    unsafe extern "C" {
        fn issetugid() -> core::ffi::c_int;
    }
    // SAFETY: takes nothing and reads a mark of this process.
    unsafe { issetugid() != 0 }
}

#[cfg(any(not(unix), miri))]
fn gained_rights() -> bool {
    false
}
