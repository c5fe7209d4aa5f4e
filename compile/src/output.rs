//! Kinds of code.

use std::fmt;

/// Kind of code that a compiler makes.
///
/// ```
/// use cuprum_compile::{Architecture, Options, Output};
///
/// let options = Options::new().architecture(Architecture::new(9, 0)).output(Output::Cubin);
/// ```
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

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ptx => "PTX",
            Self::Cubin => "machine code",
            Self::LtoIr => "code for link-time optimization",
        })
    }
}
