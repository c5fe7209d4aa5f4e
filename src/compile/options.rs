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
    /// Machine code for one architecture. The driver may be older, within one CUDA major version.
    Cubin,
    /// Code for link-time optimization, which must be linked and cannot be loaded. NVRTC 12.0.
    LtoIr,
}

/// Options of a compilation, for both NVRTC and `nvcc`.
///
/// [`option`](Self::option) adds other options in the compiler's notation, after the rest.
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

    /// Sets the C++ standard, such as `c++17` (default: the compiler's).
    #[must_use]
    #[inline]
    pub fn standard(self, standard: &str) -> Self {
        self.option(format!("--std={standard}"))
    }

    /// Trades accuracy for speed: approximate functions, and denormal numbers flushed to zero.
    #[must_use]
    #[inline]
    pub fn fast_math(self) -> Self {
        self.option("--use_fast_math")
    }

    /// Allows fused multiply-add operations, which round once (default: yes).
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

    /// Keeps line information for profilers and fault reports. Costs nothing at run time.
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

    /// Leaves references to code of other files open, for a linker.
    #[must_use]
    #[inline]
    pub fn relocatable(self) -> Self {
        self.option("--relocatable-device-code=true")
    }

    /// Adds an option in the compiler's notation: one argument, with its value after `=`.
    #[must_use]
    pub fn option(mut self, option: impl Into<OsString>) -> Self {
        self.arguments.push(option.into());
        self
    }
}
