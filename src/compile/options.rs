//! Options of a compilation.

use std::ffi::OsString;
use std::fmt;
use std::path::Path;

use super::Architecture;

/// Kind of code that a compiler makes.
///
/// Example: see [`Options`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Output {
    /// PTX text for an architecture and all newer ones, which the driver compiles further.
    Ptx,
    /// Machine code for one architecture. The driver may be older than the compiler, within one CUDA major version.
    Cubin,
    /// Code for link-time optimization, to be linked and not loaded. From NVRTC 12.0 on.
    LtoIr,
}

/// Options of a compilation, for NVRTC and `nvcc` alike.
///
/// An option without a method is given in the compiler's own words, by [`option`](Self::option), after the others.
///
/// ```
/// use cuprum::compile::{Architecture, Options, Output};
///
/// let options = Options::new()
///     .architecture(Architecture::new(8, 0))
///     .output(Output::Ptx)
///     .define("TILE", 16)
///     .standard("c++17")
///     .fast_math()
///     .option("--extra-device-vectorization");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub(super) architecture: Option<Architecture>,
    pub(super) output: Option<Output>,
    pub(super) arguments: Vec<OsString>,
}

impl Options {
    /// No options: the architecture of the device where there is one, else the compiler's own default.
    #[inline]
    pub fn new() -> Self {
        Self::default()
    }

    /// Compiles for this architecture, whatever the device.
    #[must_use]
    #[inline]
    pub fn architecture(mut self, architecture: Architecture) -> Self {
        self.architecture = Some(architecture);
        self
    }

    /// Kind of code to make (default: PTX; [`Compiler::compile_for`](super::Compiler::compile_for) has one
    /// exception).
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

    /// Adds a folder in which includes are looked for, after those named before it.
    #[must_use]
    pub fn include(self, folder: impl AsRef<Path>) -> Self {
        let mut option = OsString::from("-I");
        option.push(folder.as_ref());
        self.option(option)
    }

    /// The C++ standard, such as `c++17` (default: the compiler's own).
    #[must_use]
    #[inline]
    pub fn standard(self, standard: &str) -> Self {
        self.option(format!("--std={standard}"))
    }

    /// Trades accuracy for speed: approximate division, roots and functions, and denormal numbers taken for zero.
    #[must_use]
    #[inline]
    pub fn fast_math(self) -> Self {
        self.option("--use_fast_math")
    }

    /// Allows contracting products and sums to fused operations, which round once (default: yes).
    #[must_use]
    #[inline]
    pub fn fused_multiply_add(self, yes: bool) -> Self {
        self.option(format!("--fmad={yes}"))
    }

    /// Limits the registers per thread; values that do not fit are spilled to memory.
    #[must_use]
    #[inline]
    pub fn max_registers(self, registers: u32) -> Self {
        self.option(format!("--maxrregcount={registers}"))
    }

    /// Keeps source lines in the code, for profilers and reports of faults. Costs nothing at run time.
    #[must_use]
    #[inline]
    pub fn line_info(self) -> Self {
        self.option("--generate-line-info")
    }

    /// Compiles for a debugger, unoptimized.
    #[must_use]
    #[inline]
    pub fn device_debug(self) -> Self {
        self.option("--device-debug")
    }

    /// Leaves references to other files' code open, for a linker.
    #[must_use]
    #[inline]
    pub fn relocatable(self) -> Self {
        self.option("--relocatable-device-code=true")
    }

    /// Adds an option in the compiler's own words: one argument, with its value behind `=`.
    #[must_use]
    pub fn option(mut self, option: impl Into<OsString>) -> Self {
        self.arguments.push(option.into());
        self
    }
}
