//! The code in an image (PTX, cubin or fatbin), and the devices and drivers that run it.

use std::fmt;

use cuprum_sys::{Version, toolkit_of_ptx};

use super::format::{FATBIN, cubin, fatbins, ptx};
use super::part::{CodeKind, CodePart, ImageError};
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

impl fmt::Display for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, part) in self.parts.iter().enumerate() {
            write!(f, "{}{part}", if at == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

fn number_of(version: &str) -> (u32, u32) {
    let (major, minor) = version.split_once('.').unwrap_or_default();
    (major.parse().unwrap_or(0), minor.parse().unwrap_or(0))
}
