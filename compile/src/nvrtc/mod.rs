//! The functions of NVRTC, NVIDIA's library that compiles CUDA C++ at run time, hand-written and resolved at run time as the driver is.
//!
//! It comes with the CUDA toolkit and as a Python wheel, needs neither a driver nor a GPU, and one program works with
//! every version from 11.2 on. Only a program that compiles loads it.
//!
//! ```no_run
//! use cuprum_compile::{nvrtc, nvrtc_call};
//!
//! let library = nvrtc::Library::open()?;
//! println!("{}: NVRTC {}", library.origin(), library.version());
//! library.require_fn(nvrtc::FnId::nvrtcGetLTOIR)?;
//!
//! let mut count = 0;
//! // SAFETY: the place is ours to write.
//! let (result, function) = unsafe { nvrtc_call!(library.fns(), nvrtcGetNumSupportedArchs(&mut count)) };
//! assert_eq!(result, nvrtc::nvrtcResult::NVRTC_SUCCESS, "{function}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Two functions of the header are left out of the table: `nvrtcGetErrorString`, since [`nvrtcResult`] has the names,
//! and `nvrtcGetTypeName`, which is C++ and no export.

#![allow(non_camel_case_types, reason = "everything has its name of C")]

mod error;
mod fns;
mod library;
mod result;
mod search;

use core::ffi::c_void;

use cuprum_sys::function_table;

pub use error::{Attempt, LoadError, MissingFunction, Refusal};
pub use fns::{FnId, Fns};
pub use library::{Library, NVRTC_VARIABLE, OpenOptions};
pub use result::nvrtcResult;

cuprum_sys::c_handles! {
    /// A program: source that is, or was, compiled.
    nvrtcProgram,
}

/// Callback that decides, during compilation, whether to go on: 1 cancels, 0 goes on. It must be thread-safe,
/// return 1 forever after the first 1, and call nothing of NVRTC. The second argument is null. CUDA 12.8+.
pub type nvrtcFlowCallback =
    Option<unsafe extern "C" fn(payload: *mut c_void, reserved: *mut c_void) -> core::ffi::c_int>;

/// Calls a function of NVRTC's table and names it: `(nvrtcResult, nvrtc::FnId)`, after one indirect call.
///
/// ```
/// # use cuprum_compile::{nvrtc, nvrtc_call};
/// let (mut major, mut minor) = (0, 0);
/// // SAFETY: a stub touches nothing.
/// let (result, function) = unsafe { nvrtc_call!(&nvrtc::Fns::STUBS, nvrtcVersion(&mut major, &mut minor)) };
/// assert_eq!(result, nvrtc::nvrtcResult::UNRESOLVED);
/// assert_eq!(function, nvrtc::FnId::nvrtcVersion);
/// ```
#[macro_export]
macro_rules! nvrtc_call {
    ($fns:expr, $name:ident($($arg:expr),* $(,)?)) => {
        (($fns.$name)($($arg),*), $crate::nvrtc::FnId::$name)
    };
}
pub(crate) use nvrtc_call;
