//! What code an image has, and which devices and drivers run it: PTX, cubin and fatbin.

use std::fmt;

use cuprum_sys::{Version, toolkit_of_ptx};

use super::format::{FATBIN, cubin, fatbins, ptx};
use crate::device::ComputeCapability;

/// The code in an image, one entry for each architecture.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Image {
    /// Its parts, in their order.
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
    /// The architecture that it was compiled for.
    pub capability: ComputeCapability,
    /// True for code with a suffix, as in `sm_90a`, where the image tells: it runs on that architecture alone.
    pub is_specific: bool,
    /// Of PTX: its version, such as "8.4".
    pub ptx_version: Option<String>,
    /// True for PTX that defines no function, as one that ends after its header. Compressed PTX does not tell.
    pub is_empty: bool,
}

/// Why bytes are no image.
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
    /// It begins neither like PTX nor like a cubin or a fatbin.
    #[error("it is neither PTX, cubin nor fatbin")]
    Unknown,
    /// It begins like one, and not all of it is there, or its parts contradict each other.
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
/// Example: see [`CodePart`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CodeKind {
    /// Text, which the driver compiles for this architecture or a newer one.
    Ptx,
    /// Machine code, for devices of the same major number and no older minor one.
    Machine,
}

impl Image {
    /// Reads PTX text, a cubin or a fatbin, or several fatbins after each other, as in a program's section `.nv_fatbin`.
    ///
    /// It reads no further than the slice, whatever the image says of its sizes, and compares these: tables, sections,
    /// containers and entries must be within the slice, statements of PTX must have their ends. What the code means, and
    /// what is compressed, is not looked at; PTX that ends between two functions is whole.
    ///
    /// ```
    /// use cuprum::diagnosis::Image;
    ///
    /// let image = Image::read(b".version 8.4\n.target sm_90\n.address_size 64\n")?;
    /// assert_eq!(image.to_string(), "PTX 8.4 for sm_90");
    /// # Ok::<(), cuprum::diagnosis::ImageError>(())
    /// ```
    ///
    /// # Errors
    /// [`ImageError::Unknown`] for anything else; [`ImageError::Damaged`] for one that is cut off or changed, as far as
    /// that can be told.
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

    /// True if a device has code here that it runs, if the driver reads the version of the PTX.
    #[must_use]
    #[inline]
    pub fn runs_on(&self, device: ComputeCapability) -> bool {
        self.parts.iter().any(|part| part.runs_on(device))
    }

    /// The oldest driver that runs code of this image on a device, as far as the image tells: that of the PTX, unless there
    /// is machine code for the device. `None` if nothing in it runs there, or no driver is too old.
    #[must_use]
    #[inline]
    pub fn least_driver(&self, device: ComputeCapability) -> Option<Version> {
        let running = || self.parts.iter().filter(move |part| part.runs_on(device));
        if running().any(|part| part.kind == CodeKind::Machine) {
            return None;
        }
        running().filter_map(|part| toolkit_of_ptx(part.ptx_version.as_deref()?)).min()
    }

    /// The newest version among its PTX, and the CUDA version that it came with, if that is known here.
    #[must_use]
    #[inline]
    pub fn newest_ptx(&self) -> Option<(&str, Option<Version>)> {
        let versions = self.parts.iter().filter_map(|part| part.ptx_version.as_deref());
        let newest = versions.max_by_key(|version| number_of(version))?;
        Some((newest, toolkit_of_ptx(newest)))
    }
}

impl CodePart {
    /// A part of which no more is known.
    pub(super) const fn new(kind: CodeKind, capability: ComputeCapability) -> Self {
        Self { kind, capability, is_specific: false, ptx_version: None, is_empty: false }
    }

    /// True if a device runs it.
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

/// The compute capability of a number such as 90.
pub(super) const fn capability(number: u32) -> ComputeCapability {
    ComputeCapability { major: number / 10, minor: number % 10 }
}
