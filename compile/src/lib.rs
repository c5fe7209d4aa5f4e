#![doc = include_str!("../README.md")]
//!
//! # Parts
//!
//! [`compile`] covers the common case: it finds NVRTC, takes the architecture of the current
//! context's device, and returns a loaded module.
//!
//! Otherwise there are three parts: a [`Source`] is the input (text, headers in memory, name
//! expressions for templates), [`Options`] configure the compilation, and a [`Compiler`] returns
//! [`Compiled`] code with its log. The feature `cache` keeps code in a folder that many processes
//! share.
//!
//! # Installing NVRTC
//!
//! NVRTC comes with the CUDA toolkit, or by `pip install nvidia-cuda-nvrtc`;
//! [`nvrtc::Library::open`] lists the places searched. Programs build
//! without a toolkit and NVRTC, and need NVRTC only when they compile. If it is missing,
//! [`CompileError::NoNvrtc`] lists the places tried, with advice.
//!
//! # Choice of the architecture
//!
//! The driver compiles PTX for its own device, so PTX for an older architecture also runs.
//! Compiling for a [`Device`](cuprum::Device) takes the newest architecture that both the device
//! and the compiler support. A driver does not load PTX of a newer compiler. If both have the same
//! major version, the output is machine code instead, which the driver loads; otherwise loading
//! fails with an explanation. An older NVRTC, which is preferred if there are several, avoids this.
//!
//! # Trust
//!
//! NVRTC runs in this process. Source text can make it use all memory and time, or crash this
//! process: compile untrusted source in a separate process.

#![deny(clippy::exhaustive_enums, clippy::exhaustive_structs)]

mod architecture;
#[cfg(feature = "cache")]
pub mod cache;
mod code;
mod compiled;
mod compiler;
mod error;
mod log;
mod module;
mod nvcc;
pub mod nvrtc;
mod options;
mod output;
mod program;
mod source;
mod whole;

pub use architecture::{Architecture, ArchitectureError};
pub use compiled::Compiled;
pub use compiler::Compiler;
pub use error::{CompileError, Log};
pub use log::{Diagnostic, Severity};
pub use module::compile;
pub use options::Options;
pub use output::Output;
pub use source::Source;
