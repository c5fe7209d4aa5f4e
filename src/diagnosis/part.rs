//! The parts of an image, and the errors of reading one.

use std::fmt;

use crate::device::ComputeCapability;

/// Code for one architecture.
///
/// ```
/// use cuprum::device::ComputeCapability;
/// use cuprum::diagnosis::{CodeKind, Image};
///
/// let image = Image::read(b".version 8.4\n.target sm_80\n.address_size 64\n").expect("PTX");
/// let part = &image.parts[0];
/// assert_eq!(part.kind, CodeKind::Ptx);
/// assert!(part.runs_on(ComputeCapability { major: 9, minor: 0 }));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CodePart {
    /// PTX or machine code.
    pub kind: CodeKind,
    /// The architecture of the compilation.
    pub capability: ComputeCapability,
    /// True for code with an architecture suffix, as in `sm_90a`, if the image records it: it runs
    /// only on that architecture.
    pub is_specific: bool,
    /// The PTX version, such as "8.4".
    pub ptx_version: Option<String>,
    /// True for PTX without functions, such as only a header. Unknown for compressed PTX.
    pub is_empty: bool,
}

/// Error of reading an image.
///
/// ```
/// use cuprum::diagnosis::{Image, ImageError};
///
/// assert_eq!(Image::read(b"a letter"), Err(ImageError::Unknown));
/// let cut = Image::read(b".version 8.4\n.target sm_90\n.visible .entry f() { ret").unwrap_err();
/// assert_eq!(cut.to_string(), "it is damaged: it ends within a statement (byte 52 of 52)");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImageError {
    /// The bytes begin neither like PTX nor like a cubin or a fatbin.
    #[error("it is neither PTX, cubin nor fatbin")]
    Unknown,
    /// The image is truncated, or its parts contradict each other.
    #[error("it is damaged: {0}")]
    Damaged(String),
}

impl ImageError {
    pub(super) fn damaged(why: impl Into<String>) -> Self {
        Self::Damaged(why.into())
    }
}

/// Kinds of code.
///
/// ```
/// use cuprum::diagnosis::{CodeKind, Image};
///
/// let image = Image::read(b".version 8.4\n.target sm_90\n.address_size 64\n")?;
/// assert_eq!(image.parts[0].kind, CodeKind::Ptx); // the driver will compile it
/// # Ok::<(), cuprum::diagnosis::ImageError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CodeKind {
    /// Text that the driver compiles for this architecture or a newer one.
    Ptx,
    /// Machine code, for devices with the same major version and at least this minor version.
    Machine,
}

impl CodePart {
    pub(super) const fn new(kind: CodeKind, capability: ComputeCapability) -> Self {
        Self { kind, capability, is_specific: false, ptx_version: None, is_empty: false }
    }

    /// True if a device can run it.
    #[must_use]
    #[inline]
    pub fn runs_on(&self, device: ComputeCapability) -> bool {
        match self.kind {
            _ if self.is_specific => device == self.capability,
            CodeKind::Ptx => device >= self.capability,
            CodeKind::Machine => {
                device.major == self.capability.major && device.minor >= self.capability.minor
            }
        }
    }
}

impl fmt::Display for CodePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.kind, self.ptx_version.as_deref()) {
            (CodeKind::Machine, _) => f.write_str("machine code for ")?,
            (CodeKind::Ptx, Some(version)) => write!(f, "PTX {version} for ")?,
            (CodeKind::Ptx, None) => f.write_str("PTX for ")?,
        }
        let ComputeCapability { major, minor } = self.capability;
        write!(f, "sm_{major}{minor}{}", if self.is_specific { "a" } else { "" })
    }
}

pub(super) const fn capability(number: u32) -> ComputeCapability {
    ComputeCapability { major: number / 10, minor: number % 10 }
}
