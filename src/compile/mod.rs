//! From CUDA C++ to code: NVRTC, loaded when it is needed, and `nvcc` on request.
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
//! For more there are three parts: a [`Source`] is the input (text, headers in memory, name expressions for
//! templates), [`Options`] say how, and a [`Compiler`] does it, and gives [`Compiled`] code with its log. With the
//! feature `cache`, code is kept in a folder that many processes share.
//!
//! # Where NVRTC comes from
//!
//! With the CUDA toolkit, or by `pip install nvidia-cuda-nvrtc`; [`Library::open`](cuprum_sys::nvrtc::Library::open)
//! lists the places where it is looked for. A program is built without a toolkit and without NVRTC, and needs NVRTC
//! only when it compiles. Without one, [`CompileError::NoNvrtc`] lists the places tried and says how to get it.
//!
//! # Which architecture
//!
//! The driver compiles PTX for its own device, so PTX for an older architecture runs as well. Compiling for a
//! [`Device`](crate::Device) takes the newest that both the device and the compiler know. A driver does not load PTX of
//! a newer compiler. If both have the same major version, the result is machine code instead, which the driver loads;
//! if not, the error says so. The way out is an older NVRTC, which is preferred where there are several.
//!
//! # What is trusted
//!
//! NVRTC runs in this process. Source text can make it use all memory and time, and a crash of NVRTC is one of this
//! process: compile source from strangers in a process of its own.

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
    /// No NVRTC could be loaded. The error lists the places tried, and says how to get it.
    NoNvrtc(LoadError),
    /// No `nvcc` was found.
    NoNvcc {
        /// Paths at which it was looked for.
        looked: Vec<PathBuf>,
    },
    /// This NVRTC is older than a feature that was asked for.
    Missing(MissingFunction),
    /// A text for the compiler has a NUL byte inside.
    InteriorNul {
        /// Name of the text.
        what: String,
        /// Position of the byte.
        position: usize,
    },
    /// The source does not compile.
    Rejected {
        /// Output of the compiler.
        log: Log,
    },
    /// An option is not known, or its value is not valid.
    Option {
        /// Output of the compiler.
        log: Log,
    },
    /// A name expression denotes nothing in the source.
    Expression {
        /// The expression.
        expression: String,
        /// Output of the compiler.
        log: Log,
    },
    /// A call of NVRTC failed otherwise.
    Nvrtc {
        /// The call.
        call: FnId,
        /// Result of the call.
        result: nvrtcResult,
        /// Output of the compiler until then.
        log: Log,
    },
    /// `nvcc` failed: the source does not compile, or the program could not do its work.
    Nvcc {
        /// The program.
        program: PathBuf,
        /// Exit status of the program.
        status: String,
        /// Output of the program.
        log: Log,
    },
    /// The compiler knows no architecture that the device runs.
    NoArchitecture {
        /// Compute capability of the device.
        device: ComputeCapability,
        /// Kind of code asked for.
        output: Output,
        /// Architectures that the compiler knows.
        known: Vec<ComputeCapability>,
        /// The compiler and its version.
        compiler: String,
    },
    /// This compiler cannot do that.
    Unsupported(&'static str),
    /// Not enough memory for the output of the compiler.
    OutOfMemory {
        /// Bytes that it asked for.
        bytes: usize,
    },
    /// More than 2³¹ - 1 of something.
    TooMany {
        /// Name of the things.
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
    /// The driver failed when it was asked about the device.
    Driver(Error),
    /// The driver did not load the code.
    Module(ModuleError),
}
