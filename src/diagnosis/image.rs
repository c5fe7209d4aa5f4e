//! The code in an image (PTX, cubin or fatbin), and the devices and drivers that run it.

use std::fmt;

use cuprum_sys::{Version, toolkit_of_ptx};

use super::format::{FATBIN, cubin, fatbins, ptx};
use crate::device::ComputeCapability;

/// The code in an image, one entry for each architecture.
///
/// ```
/// use cuprum::diagnosis::Image;
///
/// let image = Image::read(b".version 8.4\n.target sm_90\n.address_size 64\n")?;
/// assert_eq!(image.to_string(), "PTX 8.4 for sm_90");
/// # Ok::<(), cuprum::diagnosis::ImageError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Image {
    /// Its parts, in order.
    pub parts: Vec<CodePart>,
}

/// Code for one architecture.
///
/// # Example
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
/// # Example
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

impl Image {
    /// Reads PTX text, a cubin, or consecutive fatbins, as in a program's section `.nv_fatbin`.
    ///
    /// Reads only the slice, regardless of the sizes in the image, and checks them: tables,
    /// sections, containers and entries must be within the slice, and PTX statements must be
    /// complete. The meaning of the code, and compressed data, are not checked; PTX that ends
    /// between two functions is accepted.
    ///
    /// Example: see [`Image`].
    ///
    /// # Errors
    /// [`ImageError::Unknown`] for other data; [`ImageError::Damaged`] for a truncated or changed
    /// image.
    #[inline]
    pub fn read(bytes: &[u8]) -> Result<Self, ImageError> {
        let parts = if bytes.starts_with(&FATBIN) {
            fatbins(bytes)?
        } else if bytes.starts_with(b"\x7fELF") {
            vec![cubin(bytes)?]
        } else {
            vec![ptx(bytes)?]
        };
        Ok(Self { parts })
    }

    /// True if the image has code for a device, for a driver that supports the version of its PTX.
    #[must_use]
    #[inline]
    pub fn runs_on(&self, device: ComputeCapability) -> bool {
        self.parts.iter().any(|part| part.runs_on(device))
    }

    /// Returns the oldest driver that runs code of this image on a device: it must support the PTX
    /// version, unless there is machine code for the device. `None` if no code runs there, or any
    /// driver suffices.
    #[must_use]
    #[inline]
    pub fn least_driver(&self, device: ComputeCapability) -> Option<Version> {
        let running = || self.parts.iter().filter(move |part| part.runs_on(device));
        if running().any(|part| part.kind == CodeKind::Machine) {
            return None;
        }
        running().filter_map(|part| toolkit_of_ptx(part.ptx_version.as_deref()?)).min()
    }

    /// Returns the newest PTX version, and the CUDA version that introduced it, if known here.
    #[must_use]
    #[inline]
    pub fn newest_ptx(&self) -> Option<(&str, Option<Version>)> {
        let versions = self.parts.iter().filter_map(|part| part.ptx_version.as_deref());
        let newest = versions.max_by_key(|version| number_of(version))?;
        Some((newest, toolkit_of_ptx(newest)))
    }
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

impl fmt::Display for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, part) in self.parts.iter().enumerate() {
            write!(f, "{}{part}", if at == 0 { "" } else { ", " })?;
        }
        Ok(())
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

fn number_of(version: &str) -> (u32, u32) {
    let (major, minor) = version.split_once('.').unwrap_or_default();
    (major.parse().unwrap_or(0), minor.parse().unwrap_or(0))
}

pub(super) const fn capability(number: u32) -> ComputeCapability {
    ComputeCapability { major: number / 10, minor: number % 10 }
}
