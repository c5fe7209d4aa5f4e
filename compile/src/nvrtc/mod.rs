//! The functions of NVRTC, NVIDIA's library that compiles CUDA C++ at run time, hand-written and
//! resolved at run time as the driver is.
//!
//! It comes with the CUDA toolkit and as a Python wheel, needs neither a driver nor a GPU, and one
//! program works with every version from 11.2 on. Only a program that compiles loads it.
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
//! Two functions of the header are left out of the table: `nvrtcGetErrorString`, since
//! [`nvrtcResult`] has the names, and `nvrtcGetTypeName`, which is C++ and no export.

#![allow(non_camel_case_types, reason = "everything has its name of C")]
#![expect(clippy::exhaustive_structs, reason = "the types of the header")]

mod error;
mod fns;
mod handle;
mod library;
mod result;
mod search;

pub(crate) use self::handle::nvrtc_call;
pub use self::handle::{nvrtcFlowCallback, nvrtcProgram};
use cuprum_sys::function_table;
pub use error::{Attempt, LoadError, MissingFunction, Refusal};
pub use fns::{FnId, Fns};
pub use library::{Library, NVRTC_VARIABLE, OpenOptions};
pub use result::nvrtcResult;
