//! Errors before a driver is ready, and of a driver that lacks a function.

use core::fmt;
use std::error::Error;
use std::ffi::{OsStr, OsString};

use crate::enums::CUresult;
use crate::fns::FnId;
use crate::version::Version;

/// No driver could be loaded. Lists every library that was tried.
///
/// # Example
/// ```
/// use cuprum_sys::Library;
///
/// // SAFETY: nothing is loaded, as there is no such file.
/// let result = unsafe { Library::open_from("/nowhere/libcuda.so.1") };
/// let Err(error) = result else { panic!("there is no such file") };
/// assert_eq!(error.attempts().len(), 1);
/// println!("{error}");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoadError {
    attempts: Vec<Attempt>,
}

impl LoadError {
    pub(crate) fn new(attempts: Vec<Attempt>) -> Self {
        Self { attempts }
    }

    /// The libraries tried, in order.
    #[must_use]
    pub fn attempts(&self) -> &[Attempt] {
        &self.attempts
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no CUDA driver could be loaded")?;
        write_attempts(f, &self.attempts)
    }
}

impl Error for LoadError {}

/// One library that was tried and refused; `R` is the reason, for a driver a [`Refusal`].
///
/// ```
/// // SAFETY: nothing is loaded, because there is no such file.
/// let error = unsafe { cuprum_sys::Library::open_from("/nowhere/libcuda.so.1") }.unwrap_err();
/// assert_eq!(error.attempts()[0].origin(), "/nowhere/libcuda.so.1");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Attempt<R = Refusal> {
    origin: OsString,
    cause: R,
}

impl<R> Attempt<R> {
    #[doc(hidden)]
    pub fn new(origin: OsString, cause: R) -> Self {
        Self { origin, cause }
    }

    /// The path or name that was tried.
    #[must_use]
    pub fn origin(&self) -> &OsStr {
        &self.origin
    }

    /// Reason for the refusal.
    #[must_use]
    pub fn cause(&self) -> &R {
        &self.cause
    }
}

impl<R: fmt::Display> fmt::Display for Attempt<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (origin, cause) = (self.origin.to_string_lossy(), self.cause.to_string());
        // The linker's words mostly begin with the name itself.
        if cause.starts_with(&*origin) { f.write_str(&cause) } else { write!(f, "{origin}: {cause}") }
    }
}

/// Writes the attempts one after the other, after their purpose.
#[doc(hidden)]
pub fn write_attempts<R: fmt::Display>(f: &mut fmt::Formatter<'_>, attempts: &[Attempt<R>]) -> fmt::Result {
    for (i, attempt) in attempts.iter().enumerate() {
        f.write_str(if i == 0 { ": " } else { "; " })?;
        write!(f, "{attempt}")?;
    }
    Ok(())
}

/// Reason why a library does not serve as a driver.
///
/// ```
/// use cuprum_sys::{Library, Refusal};
///
/// // SAFETY: nothing is loaded, because there is no such file.
/// let error = unsafe { Library::open_from("/nowhere/libcuda.so.1") }.unwrap_err();
/// assert!(matches!(error.attempts()[0].cause(), Refusal::NotLoaded(_)));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Refusal {
    /// The system did not load it; its own words.
    NotLoaded(String),
    /// It exports no function of the driver API at all.
    NotADriver,
    /// It exports some functions, but lacks this one, without which nothing works.
    MissingFunction(FnId),
    /// It is the toolkit's stub: made to link against, returns error 34 from every call.
    ToolkitStub,
    /// `cuDriverGetVersion` returned no version.
    NoVersion {
        /// Result of the call.
        result: CUresult,
        /// The number it wrote.
        version: i32,
    },
    /// The system had no memory for the handler that notices a fork.
    OutOfMemory,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotLoaded(reason) => f.write_str(reason),
            Self::NotADriver => f.write_str("not a CUDA driver: it exports no function of the driver API"),
            Self::MissingFunction(function) => {
                write!(f, "not a usable CUDA driver: it does not export {function}")
            }
            Self::ToolkitStub => f.write_str(
                "the toolkit's stub library, not a driver; install the NVIDIA driver or put its folder first",
            ),
            Self::NoVersion { result, version } => {
                write!(f, "cuDriverGetVersion answered {result:?} and version {version}")
            }
            Self::OutOfMemory => f.write_str("out of memory"),
        }
    }
}

/// The driver is older than the program needs.
///
/// ```
/// use cuprum_sys::{Library, Version};
///
/// if let Err(error) = Library::open().map(|library| library.require(Version::new(99, 0))).unwrap_or(Ok(())) {
///     println!("{error}"); // for instance: "needs CUDA 99.0, the driver has 12.4: update the driver"
/// }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct TooOld {
    /// The requested version.
    pub needed: Version,
    /// The driver's version.
    pub driver: Version,
}

impl fmt::Display for TooOld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "needs CUDA {}, the driver has {}: update the driver", self.needed, self.driver)
    }
}

impl Error for TooOld {}

/// The driver lacks a function.
///
/// ```
/// use cuprum_sys::{FnId, Library};
///
/// if let Err(missing) = Library::open().map_or(Ok(()), |library| library.require(FnId::cuMemAllocAsync)) {
///     println!("update the driver to CUDA {}", missing.since);
/// }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct MissingFunction {
    /// The function.
    pub function: FnId,
    /// The version that the function came with, in the table's stream mode.
    pub since: Version,
    /// The driver's version.
    pub driver: Version,
}

impl fmt::Display for MissingFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { function, since, driver } = self;
        if since > driver {
            write!(f, "{function} needs CUDA {since}, the driver has {driver}: update the driver")
        } else {
            write!(f, "{function} came with CUDA {since}, but this driver of CUDA {driver} lacks it")
        }
    }
}

impl Error for MissingFunction {}

/// The driver lacks some of the functions that a program needs. Its text names them all, each with
/// the version that it came with, and the driver that has them.
///
/// ```
/// use cuprum_sys::{FnId, Library};
///
/// let needed = [FnId::cuMemAllocAsync, FnId::cuStreamGetId];
/// if let Err(missing) = Library::open().map_or(Ok(()), |library| library.require(&needed)) {
///     println!("{missing}"); // names all of them
/// }
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct MissingFunctions {
    /// Each of them, in the requested order.
    pub functions: Vec<MissingFunction>,
    /// The driver's version.
    pub driver: Version,
}

impl fmt::Display for MissingFunctions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the driver has CUDA {} and lacks ", self.driver)?;
        let last = self.functions.len().saturating_sub(1);
        for (at, missing) in self.functions.iter().enumerate() {
            let between = if at == 0 {
                ""
            } else if at == last {
                " and "
            } else {
                ", "
            };
            write!(f, "{between}{} (CUDA {})", missing.function, missing.since)?;
        }
        match self.functions.iter().map(|missing| missing.since).max() {
            Some(newest) if newest > self.driver => write!(f, ": a driver of CUDA {newest} or newer has all"),
            _ => f.write_str(", which its version should have"),
        }
    }
}

impl Error for MissingFunctions {}
