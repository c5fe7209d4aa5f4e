//! Errors of compilations.

use std::fmt;
use std::io;
use std::path::PathBuf;

use cuprum_sys::nvrtc::{self, FnId, nvrtcResult};

use super::log::{self, Diagnostic, Severity};
use super::{CompileError, Output};
use crate::device::ComputeCapability;
use crate::error::Error;
use crate::module::ModuleError;

/// A compiler's messages about refused source.
///
/// Example: see [`CompileError`](super::CompileError), `log`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log(String);

impl Log {
    pub(super) fn new(text: &str) -> Self {
        Self(text.trim_end().to_owned())
    }

    /// The text, as the compiler wrote it.
    #[inline]
    pub fn text(&self) -> &str {
        &self.0
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

/// Same as `Display`, because `main` prints errors in this form.
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
                    "{what} has a NUL byte at {position}: the compiler would read only what is before it"
                )
            }
            Self::Rejected { log } => write!(f, "the source does not compile: {log}"),
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
        }
    }
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ptx => "PTX",
            Self::Cubin => "machine code",
            Self::LtoIr => "code for link-time optimization",
        })
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

impl From<nvrtc::LoadError> for CompileError {
    fn from(error: nvrtc::LoadError) -> Self {
        Self::NoNvrtc(error)
    }
}

impl From<nvrtc::MissingFunction> for CompileError {
    fn from(error: nvrtc::MissingFunction) -> Self {
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

pub(super) fn capabilities(numbers: &[i32]) -> Vec<ComputeCapability> {
    let numbers = numbers.iter().filter_map(|&number| u32::try_from(number).ok());
    numbers.map(|number| ComputeCapability { major: number / 10, minor: number % 10 }).collect()
}
