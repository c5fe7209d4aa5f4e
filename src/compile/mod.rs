//! From CUDA C++ to code: NVRTC, loaded when it is needed, and `nvcc` on request.
//!
//! [`Module::compile`](crate::Module::compile) covers the common case: it finds NVRTC, takes the
//! architecture of the current context's device, and returns a loaded module.
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
//! Otherwise there are three parts: a [`Source`] is the input (text, headers in memory, name
//! expressions for templates), [`Options`] configure the compilation, and a [`Compiler`] returns
//! [`Compiled`] code with its log. The feature `cache` keeps code in a folder that many processes
//! share.
//!
//! # Installing NVRTC
//!
//! NVRTC comes with the CUDA toolkit, or by `pip install nvidia-cuda-nvrtc`;
//! [`Library::open`](cuprum_sys::nvrtc::Library::open) lists the places searched. Programs build
//! without a toolkit and NVRTC, and need NVRTC only when they compile. If it is missing,
//! [`CompileError::NoNvrtc`] lists the places tried, with advice.
//!
//! # Choice of the architecture
//!
//! The driver compiles PTX for its own device, so PTX for an older architecture also runs.
//! Compiling for a [`Device`](crate::Device) takes the newest architecture that both the device and
//! the compiler support. A driver does not load PTX of a newer compiler. If both have the same
//! major version, the output is machine code instead, which the driver loads; otherwise loading
//! fails with an explanation. An older NVRTC, which is preferred if there are several, avoids this.
//!
//! # Trust
//!
//! NVRTC runs in this process. Source text can make it use all memory and time, or crash this
//! process: compile untrusted source in a separate process.

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
mod whole;

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

/// Error of a compilation.
///
/// # Example
/// ```
/// use cuprum::compile::{CompileError, Compiler, Options, Severity, Source};
///
/// # fn main() -> Result<(), CompileError> {
/// let compiler = match Compiler::load() {
///     Ok(compiler) => compiler,
///     // The error says where NVRTC was looked for, and how to get it.
///     Err(error) => return Ok(println!("{error}")),
/// };
/// let source = Source::new("__global__ void fill(int *out) {\n  out[0] = seven;\n}").named("fill.cu");
/// let Err(error) = compiler.compile(&source, &Options::new()) else { panic!("there is no seven") };
/// let first = &error.diagnostics()[0];
/// assert_eq!((first.severity, first.file.as_deref(), first.line), (Severity::Error, Some("fill.cu"), Some(2)));
/// println!("{}", error.log().map_or("", |log| log.text()));
/// # Ok(())
/// # }
/// ```
#[non_exhaustive]
pub enum CompileError {
    /// No NVRTC could be loaded. The error lists the places tried, with advice on installing it.
    NoNvrtc(LoadError),
    /// No `nvcc` was found.
    NoNvcc {
        /// Paths that were searched.
        looked: Vec<PathBuf>,
    },
    /// This NVRTC is older than a requested feature.
    Missing(MissingFunction),
    /// Text for the compiler contains a NUL byte.
    InteriorNul {
        /// Kind of the text.
        what: String,
        /// Position of the byte.
        position: usize,
    },
    /// The source does not compile.
    Rejected {
        /// Output of the compiler.
        log: Log,
    },
    /// An option is unknown, or its value is invalid.
    Option {
        /// Output of the compiler.
        log: Log,
    },
    /// A name expression is invalid for the source.
    Expression {
        /// The expression.
        expression: String,
        /// Output of the compiler.
        log: Log,
    },
    /// Another call of NVRTC failed.
    Nvrtc {
        /// The call.
        call: FnId,
        /// Result of the call.
        result: nvrtcResult,
        /// Output of the compiler so far.
        log: Log,
    },
    /// `nvcc` failed: the source does not compile, or the program could not run.
    Nvcc {
        /// The program.
        program: PathBuf,
        /// Exit status of the program.
        status: String,
        /// Output of the program.
        log: Log,
    },
    /// The compiler supports no architecture that the device runs.
    NoArchitecture {
        /// Compute capability of the device.
        device: ComputeCapability,
        /// Requested kind of code.
        output: Output,
        /// Architectures that the compiler supports.
        known: Vec<ComputeCapability>,
        /// The compiler and its version.
        compiler: String,
    },
    /// This compiler does not support the request.
    Unsupported(&'static str),
    /// Not enough memory for the output of the compiler.
    OutOfMemory {
        /// Requested number of bytes.
        bytes: usize,
    },
    /// More than 2³¹ - 1 items.
    TooMany {
        /// Kind of the items.
        what: &'static str,
    },
    /// A file or program could not be used.
    File {
        /// The operation that failed.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// Error of the system.
        error: io::Error,
    },
    /// The query of the device failed.
    Driver(Error),
    /// The driver did not load the code.
    Module(ModuleError),
}
