//! Errors before NVRTC is ready, and of an NVRTC that lacks a function.

use core::fmt;
use std::error::Error;

use cuprum_sys::{Version, write_attempts};

use super::{FnId, nvrtcResult};

/// One library that was tried and is no NVRTC.
pub type Attempt = cuprum_sys::Attempt<Refusal>;

/// No NVRTC could be loaded. Lists every library and folder that was tried.
///
/// ```
/// use cuprum_compile::nvrtc::Library;
///
/// // SAFETY: nothing is loaded, because there is no such file.
/// let error = unsafe { Library::open_from("/nowhere/libnvrtc.so") }.unwrap_err();
/// println!("{error}"); // with the way to install NVRTC
/// assert_eq!(error.attempts().len(), 1);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoadError {
    attempts: Vec<Attempt>,
}

impl LoadError {
    pub(super) fn new(attempts: Vec<Attempt>) -> Self {
        Self { attempts }
    }

    /// The libraries and folders tried, in order.
    #[must_use]
    pub fn attempts(&self) -> &[Attempt] {
        &self.attempts
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no NVRTC, NVIDIA's run-time compiler, could be loaded")?;
        write_attempts(f, &self.attempts)?;
        f.write_str(
            ". To get it: `pip install nvidia-cuda-nvrtc` (for CUDA 12 `nvidia-cuda-nvrtc-cu12`) in the active \
             virtual environment, or the CUDA toolkit; or set CUPRUM_NVRTC to the library's path",
        )
    }
}

impl Error for LoadError {}

/// Reason why a library does not serve as NVRTC.
///
/// ```
/// use cuprum_compile::nvrtc::{Library, Refusal};
///
/// // SAFETY: nothing is loaded, because there is no such file.
/// let error = unsafe { Library::open_from("/nowhere/libnvrtc.so") }.unwrap_err();
/// assert!(matches!(error.attempts()[0].cause(), Refusal::NotLoaded(_)));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Refusal {
    /// The system did not load it; its own words.
    NotLoaded(String),
    /// A folder holds no file of NVRTC's names.
    NotInFolder,
    /// A folder could not be listed; the system's words.
    NoFolder(String),
    /// It exports no function of NVRTC at all.
    NotNvrtc,
    /// It exports some functions, but not this one, without which nothing works.
    MissingFunction(FnId),
    /// `nvrtcVersion` returned no version.
    NoVersion {
        /// Result of the call.
        result: nvrtcResult,
        /// The two numbers that it wrote.
        version: (i32, i32),
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotLoaded(reason) | Self::NoFolder(reason) => f.write_str(reason),
            Self::NotInFolder => f.write_str("a folder without NVRTC"),
            Self::NotNvrtc => f.write_str("not NVRTC: it exports no function of it"),
            Self::MissingFunction(function) => write!(f, "not a usable NVRTC: it does not export {function}"),
            Self::NoVersion { result, version: (major, minor) } => {
                write!(f, "nvrtcVersion answered {result:?} and version {major}.{minor}")
            }
        }
    }
}

/// This NVRTC lacks a function.
///
/// ```
/// use cuprum_compile::nvrtc::{FnId, Library};
///
/// if let Ok(library) = Library::open() {
///     // For instance: "nvrtcGetLTOIR needs NVRTC 12.0, this is 11.8".
///     println!("{:?}", library.require_fn(FnId::nvrtcGetLTOIR).err().map(|missing| missing.to_string()));
/// }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct MissingFunction {
    /// The function.
    pub function: FnId,
    /// The version that the function came with.
    pub since: Version,
    /// The library's version.
    pub nvrtc: Version,
}

impl fmt::Display for MissingFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { function, since, nvrtc } = self;
        if since > nvrtc {
            write!(f, "{function} needs NVRTC {since}, this is {nvrtc}")
        } else {
            write!(f, "{function} came with NVRTC {since}, but this one of version {nvrtc} lacks it")
        }
    }
}

impl Error for MissingFunction {}
