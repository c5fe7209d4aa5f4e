//! Errors of compilations.

use std::fmt;
use std::io;
use std::path::PathBuf;

use cuprum::device::ComputeCapability;
use cuprum::module::ModuleError;
use cuprum::{AnyError, Error};

use super::log::{self, Diagnostic, Severity};
use super::nvrtc::{self, FnId, LoadError, MissingFunction, nvrtcResult};
use super::output::Output;

/// Error of a compilation.
///
/// # Example
/// ```
/// use cuprum_compile::{CompileError, Compiler, Options, Severity, Source};
///
/// # fn main() -> Result<(), CompileError> {
/// let compiler = match Compiler::load() {
///     Ok(compiler) => compiler,
///     // The error lists the places searched, and how to install NVRTC.
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
    /// Code for link-time optimization must be linked before it is loaded.
    NotLoadable,
    /// Machine code is truncated: its headers refer to data outside of it.
    Damaged,
}

/// A compiler's messages about refused source.
///
/// ```
/// use cuprum_compile::{Compiler, Options, Source};
///
/// # let Ok(_) = Compiler::load() else { return Ok(()) };
/// let refused = Compiler::load()?.compile(&Source::new("int f( {}"), &Options::new());
/// let error = refused.err().ok_or("a parenthesis is open")?;
/// println!("{}", error.log().ok_or("no log")?.text());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log(String);

/// Advice on a header that NVRTC does not find.
const HEADERS: &str = "\nNVRTC searches only folders that it is given: add the header's folder with Options::include, or its \
                       text with Source::header";

impl Log {
    pub(super) fn new(text: &str) -> Self {
        Self(text.trim_end().to_owned())
    }

    /// The text, as the compiler wrote it.
    #[inline]
    pub fn text(&self) -> &str {
        &self.0
    }

    /// True if an included file was not found.
    fn lacks_header(&self) -> bool {
        self.diagnostics().iter().any(|one| one.message.starts_with("cannot open source file"))
    }

    /// Its messages, each with its file and line.
    #[inline]
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        log::diagnostics(&self.0)
    }
}

impl fmt::Display for Log {
    /// The first error with its file and line, then the whole text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = self.diagnostics().into_iter().find(|one| one.severity == Severity::Error);
        match first {
            Some(first) => write!(f, "{first}")?,
            None if self.0.is_empty() => return f.write_str("the compiler's log is empty"),
            None => f.write_str("the compiler's log:")?,
        }
        write!(f, "\n{}", self.0)
    }
}

struct List<'a, T>(&'a [T]);

impl<T: fmt::Display> fmt::Display for List<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, one) in self.0.iter().enumerate() {
            write!(f, "{}{one}", if i == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

/// Contains the text of `Display`, because `main` prints errors in this form.
impl fmt::Debug for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CompileError({self})")
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoNvrtc(error) => write!(f, "{error}"),
            Self::NoNvcc { looked } => {
                let looked: Vec<_> = looked.iter().map(|path| path.display()).collect();
                write!(
                    f,
                    "no nvcc was found; looked for {}. Install the CUDA toolkit, put nvcc into PATH, or set \
                     CUPRUM_NVCC to its path",
                    List(&looked)
                )
            }
            Self::Missing(missing) => write!(f, "{missing}: use a newer NVRTC"),
            Self::InteriorNul { what, position } => {
                write!(
                    f,
                    "{what} has a NUL byte at {position}: the compiler would read only the text before it"
                )
            }
            Self::Rejected { log } => {
                write!(f, "the source does not compile: {log}")?;
                if log.lacks_header() { f.write_str(HEADERS) } else { Ok(()) }
            }
            Self::Option { log } => write!(f, "an option is not valid: {log}"),
            Self::Expression { expression, log } => {
                write!(f, "the name expression `{expression}` denotes nothing in the source: {log}")
            }
            Self::Nvrtc { call, result, log } => {
                write!(f, "{call} failed: {result:?}")?;
                if let Some(description) = result.description() {
                    write!(f, ": {description}")?;
                }
                if log.text().is_empty() { Ok(()) } else { write!(f, "\n{log}") }
            }
            Self::Nvcc { program, status, log } => write!(f, "{}: {status}: {log}", program.display()),
            Self::NoArchitecture { device, output, known, compiler } => write!(
                f,
                "{compiler} makes no {output} that a device of compute capability {device} runs: it knows {}",
                List(known)
            ),
            Self::Unsupported(what) => f.write_str(what),
            Self::OutOfMemory { bytes } => write!(f, "no memory for {bytes} bytes"),
            Self::TooMany { what } => write!(f, "too many {what} for the compiler's interface"),
            Self::File { what, path, error } => write!(f, "{}: {what}: {error}", path.display()),
            Self::Driver(error) => write!(f, "{error}"),
            Self::Module(error) => write!(f, "{error}"),
            Self::NotLoadable => {
                f.write_str("code for link-time optimization cannot be loaded: link it to machine code first")
            }
            Self::Damaged => f.write_str(
                "the machine code is truncated or damaged: compile it again, and check where it was stored",
            ),
        }
    }
}

impl std::error::Error for CompileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::File { error, .. } => Some(error),
            _ => None,
        }
    }
}

impl CompileError {
    /// The messages of the compiler, if it was run, each with its file and line.
    #[inline]
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        self.log().map_or_else(Vec::new, Log::diagnostics)
    }

    /// Output of the compiler, if any.
    #[inline]
    pub fn log(&self) -> Option<&Log> {
        match self {
            Self::Rejected { log }
            | Self::Option { log }
            | Self::Expression { log, .. }
            | Self::Nvrtc { log, .. }
            | Self::Nvcc { log, .. } => Some(log),
            _ => None,
        }
    }

    pub(super) fn file(what: &'static str, path: impl Into<PathBuf>, error: io::Error) -> Self {
        Self::File { what, path: path.into(), error }
    }

    pub(super) fn of_call(library: nvrtc::Library, call: FnId, result: nvrtcResult, log: Log) -> Self {
        match result {
            nvrtcResult::UNRESOLVED => match library.require_fn(call) {
                Err(missing) => Self::Missing(missing),
                Ok(()) => Self::Nvrtc { call, result, log },
            },
            nvrtcResult::NVRTC_ERROR_COMPILATION => Self::Rejected { log },
            nvrtcResult::NVRTC_ERROR_INVALID_OPTION => Self::Option { log },
            _ => Self::Nvrtc { call, result, log },
        }
    }
}

impl From<LoadError> for CompileError {
    fn from(error: LoadError) -> Self {
        Self::NoNvrtc(error)
    }
}

impl From<MissingFunction> for CompileError {
    fn from(error: MissingFunction) -> Self {
        Self::Missing(error)
    }
}

impl From<Error> for CompileError {
    fn from(error: Error) -> Self {
        Self::Driver(error)
    }
}

impl From<ModuleError> for CompileError {
    fn from(error: ModuleError) -> Self {
        Self::Module(error)
    }
}

impl From<CompileError> for AnyError {
    fn from(error: CompileError) -> Self {
        match error {
            CompileError::Driver(error) => error.into(),
            CompileError::Module(error) => error.into(),
            other => Self::other(other),
        }
    }
}
