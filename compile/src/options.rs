//! Options of a compilation.

use std::ffi::OsString;
use std::fmt;
use std::path::Path;

use super::architecture::Architecture;
use super::output::Output;

/// Options of a compilation, for both NVRTC and `nvcc`.
///
/// [`option`](Self::option) adds any other option in the compiler's own words:
///
/// | option | effect |
/// |---|---|
/// | `--std=c++17` | the C++ standard |
/// | `--use_fast_math` | approximate division, roots and functions; denormal numbers become zero |
/// | `--fmad=false` | no fused multiply-add, which rounds once |
/// | `--maxrregcount=32` | a limit of registers per thread; other values are spilled to memory |
/// | `--generate-line-info` | source lines in the code, for profilers and reports of faults, at no cost at run time |
/// | `--device-debug` | unoptimized code for a debugger |
/// | `--relocatable-device-code=true` | open references to code of other files, for a linker |
///
/// ```
/// use cuprum_compile::{Architecture, Options, Output};
///
/// let options = Options::new()
///     .architecture(Architecture::new(8, 0))
///     .output(Output::Ptx)
///     .define("TILE", 16)
///     .option("--std=c++17")
///     .option("--use_fast_math");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub(super) architecture: Option<Architecture>,
    pub(super) output: Option<Output>,
    pub(super) arguments: Vec<OsString>,
}

impl Options {
    /// Makes an empty set: the architecture of the device if known, otherwise the compiler's
    /// default.
    #[inline]
    pub fn new() -> Self {
        Self::default()
    }

    /// Compiles for this architecture, on any device.
    #[must_use]
    #[inline]
    pub fn architecture(mut self, architecture: Architecture) -> Self {
        self.architecture = Some(architecture);
        self
    }

    /// Sets the kind of code (default: PTX; exception:
    /// [`compile_for`](super::Compiler::compile_for)).
    #[must_use]
    #[inline]
    pub fn output(mut self, output: Output) -> Self {
        self.output = Some(output);
        self
    }

    /// Defines a macro. An empty `value` defines it as nothing.
    #[must_use]
    pub fn define(self, name: &str, value: impl fmt::Display) -> Self {
        self.option(format!("-D{name}={value}"))
    }

    /// Adds a folder to search for includes, after earlier ones.
    #[must_use]
    pub fn include(self, folder: impl AsRef<Path>) -> Self {
        let mut option = OsString::from("-I");
        option.push(folder.as_ref());
        self.option(option)
    }

    /// Adds an option in the compiler's own words: one argument, with its value after `=`.
    #[must_use]
    pub fn option(mut self, option: impl Into<OsString>) -> Self {
        self.arguments.push(option.into());
        self
    }
}
