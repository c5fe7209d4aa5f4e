//! From CUDA C++ to code: NVRTC, which is loaded when it is needed, and on request `nvcc`.
//!
//! For the common case [`Module::compile`](crate::Module::compile) is enough: it takes the NVRTC that it finds and the
//! architecture of the current context's device, and gives a loaded module.
//!
//! ```no_run
//! # fn compile(cx: &cuprum::Current<'_, '_>) -> Result<(), Box<dyn std::error::Error>> {
//! use cuprum::{InOut, Module};
//!
//! let module = Module::compile(cx, "extern \"C\" __global__ void twice(float *x) { x[threadIdx.x] *= 2; }")?;
//! let twice = module.function("twice")?.bind::<(InOut<f32>,)>()?;
//! # Ok(())
//! # }
//! ```
//!
//! For more there are three parts: a [`Source`] is what is compiled (text, headers in memory, name expressions for
//! templates), [`Options`] say how, and a [`Compiler`] does it, and gives [`Compiled`] code with its log. With the
//! feature `cache`, code is kept in a folder that many processes share.
//!
//! # Where NVRTC comes from
//!
//! With the CUDA toolkit, or by `pip install nvidia-cuda-nvrtc`; [`Library::open`](cuprum_sys::nvrtc::Library::open) says
//! where it is looked for. Neither a toolkit nor NVRTC is needed to build a program that compiles, nor to run one that
//! does not get to it. Where there is none, [`CompileError::NoNvrtc`] says what was tried and how to get it.
//!
//! # Which architecture
//!
//! The driver compiles PTX further for whatever device it has, so PTX for an older architecture runs as well. Compiling for
//! a [`Device`](crate::Device) takes the newest that both the device and the compiler know. A driver does not take PTX of
//! a newer compiler. If it is of the same major version, machine code comes out instead, which it takes; if not, the error
//! says so, and the way out is an older NVRTC, which is preferred where there are several.
//!
//! # What is trusted
//!
//! Source text is given to NVRTC in this process. It can take all memory and time there is, and a fault of NVRTC's is one
//! of this process; compile what strangers wrote in a process of its own.

mod architecture;
#[cfg(feature = "cache")]
pub mod cache;
mod compiled;
mod compiler;
mod error;
mod log;
mod module;
mod nvcc;
mod nvrtc;
mod options;
mod source;

use std::io;
use std::path::PathBuf;

use cuprum_sys::nvrtc::{FnId, LoadError, MissingFunction, nvrtcResult};

pub use self::architecture::{Architecture, ArchitectureError};
use self::compiled::Code;
pub use self::compiled::Compiled;
pub use self::compiler::Compiler;
pub use self::error::Log;
pub use self::log::{Diagnostic, Severity};
pub use self::options::{Options, Output};
pub use self::source::Source;

use crate::device::ComputeCapability;
use crate::error::Error;
use crate::module::ModuleError;

/// Why there is no code.
#[derive(Debug)]
#[non_exhaustive]
pub enum CompileError {
    /// No NVRTC could be loaded. What was tried, and how to get it, is in the error.
    NoNvrtc(LoadError),
    /// No `nvcc` was found.
    NoNvcc {
        /// The paths at which it is not.
        looked: Vec<PathBuf>,
    },
    /// This NVRTC is older than what is asked of it.
    Missing(MissingFunction),
    /// A text for the compiler has a NUL byte inside.
    InteriorNul {
        /// Which text.
        what: String,
        /// The byte's place in it.
        position: usize,
    },
    /// The source does not compile.
    Rejected {
        /// What the compiler wrote.
        log: Log,
    },
    /// An option is not known, or its value is not valid.
    Option {
        /// What the compiler wrote.
        log: Log,
    },
    /// A name expression denotes nothing in the source.
    Expression {
        /// The expression.
        expression: String,
        /// What the compiler wrote.
        log: Log,
    },
    /// A call of NVRTC failed otherwise.
    Nvrtc {
        /// The call.
        call: FnId,
        /// What it answered.
        result: nvrtcResult,
        /// What the compiler wrote until then.
        log: Log,
    },
    /// `nvcc` failed: the source does not compile, or the program could not do its work.
    Nvcc {
        /// The program.
        program: PathBuf,
        /// How it ended.
        status: String,
        /// What it wrote.
        log: Log,
    },
    /// The compiler knows no architecture that the device runs.
    NoArchitecture {
        /// What the device can do.
        device: ComputeCapability,
        /// What was to come out.
        output: Output,
        /// What the compiler knows.
        known: Vec<ComputeCapability>,
        /// The compiler and its version.
        compiler: String,
    },
    /// This cannot be asked of this compiler.
    Unsupported(&'static str),
    /// There is no memory for what the compiler made.
    OutOfMemory {
        /// Bytes that it asked for.
        bytes: usize,
    },
    /// More than 2³¹ - 1 of something.
    TooMany {
        /// Of what.
        what: &'static str,
    },
    /// A file or program could not be used.
    File {
        /// What could not be done.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// The driver failed when it was asked about the device.
    Driver(Error),
    /// The driver did not load the code.
    Module(ModuleError),
}
