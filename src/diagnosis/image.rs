//! What code an image has, and which devices and drivers run it: PTX, cubin and fatbin.

use std::fmt;

use cuprum_sys::Version;

use super::ptx_version::toolkit_of_ptx;
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
/// use cuprum::ComputeCapability;
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
}

/// Kinds of code.
///
/// Example: that of [`CodePart`].
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
    /// `None` for anything else. It reads no further than the slice, whatever the image says of its sizes.
    ///
    /// ```
    /// use cuprum::diagnosis::Image;
    ///
    /// let image = Image::read(b".version 8.4\n.target sm_90\n.address_size 64\n").expect("PTX");
    /// assert_eq!(image.to_string(), "PTX 8.4 for sm_90");
    /// ```
    #[must_use]
    #[inline]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let parts = if bytes.starts_with(&FATBIN) {
            fatbins(bytes)
        } else if bytes.starts_with(b"\x7fELF") {
            vec![cubin(bytes)?]
        } else {
            let text = String::from_utf8_lossy(bytes.get(..bytes.len().min(1 << 16))?);
            vec![ptx(&text)?]
        };
        (!parts.is_empty()).then_some(Self { parts })
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

const fn capability(number: u32) -> ComputeCapability {
    ComputeCapability { major: number / 10, minor: number % 10 }
}

fn ptx(text: &str) -> Option<CodePart> {
    let directive = |name: &str| {
        let word = text.lines().find_map(|line| line.trim_start().strip_prefix(name))?;
        word.split([' ', '\t', ',', '/', '\r']).find(|word| !word.is_empty())
    };
    let (version, target) = (directive(".version")?, directive(".target")?.strip_prefix("sm_")?);
    let digits = target.trim_end_matches(|end: char| end.is_ascii_alphabetic());
    Some(CodePart {
        kind: CodeKind::Ptx,
        capability: capability(digits.parse().ok()?),
        is_specific: digits != target,
        ptx_version: Some(version.to_owned()),
    })
}

/// Machine code is an ELF file for the machine 190, with its architecture among the flags.
fn cubin(bytes: &[u8]) -> Option<CodePart> {
    let (machine, flags) = (u16_at(bytes, 18)?, u32_at(bytes, 48)?);
    // Since the eighth revision, which CUDA 12.9 and newer write, the architecture lies a byte higher.
    let number = if *bytes.get(8)? >= 8 { flags >> 8 & 0xff } else { flags & 0xff };
    (machine == 190 && number > 0).then_some(CodePart {
        kind: CodeKind::Machine,
        capability: capability(number),
        is_specific: false,
        ptx_version: None,
    })
}

const FATBIN: [u8; 4] = 0xba55_ed50_u32.to_le_bytes();

/// The parts of containers that lie after each other, with zeros between them.
fn fatbins(mut bytes: &[u8]) -> Vec<CodePart> {
    let mut parts: Vec<CodePart> = Vec::new();
    while bytes.starts_with(&FATBIN) {
        let Some(end) = entries(bytes, &mut parts) else { break };
        bytes = bytes.get(end..).unwrap_or_default();
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        bytes = &bytes[zeros..];
    }
    parts
}

/// Adds the parts of one container, each once, and gives its length.
fn entries(bytes: &[u8], parts: &mut Vec<CodePart>) -> Option<usize> {
    let end = usize::from(u16_at(bytes, 6)?).checked_add(usize::try_from(u64_at(bytes, 8)?).ok()?)?;
    let mut at = usize::from(u16_at(bytes, 6)?);
    while at < end {
        let Some(entry) = bytes.get(at..) else { break };
        let (Some(header), Some(size)) = (u32_at(entry, 4), u64_at(entry, 8)) else { break };
        let number = u32_at(entry, 28).unwrap_or(0);
        let kind = match u16_at(entry, 0) {
            Some(1) => Some(CodeKind::Ptx),
            Some(2) => Some(CodeKind::Machine),
            // Code for linking, and whatever is to come.
            _ => None,
        };
        let version =
            u16_at(entry, 26).zip(u16_at(entry, 24)).map(|(major, minor)| format!("{major}.{minor}"));
        if let Some(kind) = kind {
            let part = CodePart {
                kind,
                capability: capability(number),
                is_specific: false,
                ptx_version: version.filter(|_| kind == CodeKind::Ptx),
            };
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
        at = at.checked_add(header as usize)?.checked_add(usize::try_from(size).ok()?)?;
        if header == 0 {
            break;
        }
    }
    Some(end)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().copied().map(u16::from_le_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().copied().map(u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().copied().map(u64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OF_90: ComputeCapability = capability(90);

    fn elf(revision: u8, flags: u32) -> Vec<u8> {
        let mut bytes = b"\x7fELF\x02\x01\x01\x41".to_vec();
        bytes.push(revision);
        bytes.resize(64, 0);
        bytes[18..20].copy_from_slice(&190u16.to_le_bytes());
        bytes[48..52].copy_from_slice(&flags.to_le_bytes());
        bytes
    }

    fn fatbin(entries: &[(u16, u16, u16, u32)]) -> Vec<u8> {
        let mut body = Vec::new();
        for &(kind, major, minor, number) in entries {
            let start = body.len();
            body.resize(start + 72, 0);
            body[start..start + 2].copy_from_slice(&kind.to_le_bytes());
            body[start + 4..start + 8].copy_from_slice(&64u32.to_le_bytes());
            body[start + 8..start + 16].copy_from_slice(&8u64.to_le_bytes());
            body[start + 24..start + 26].copy_from_slice(&minor.to_le_bytes());
            body[start + 26..start + 28].copy_from_slice(&major.to_le_bytes());
            body[start + 28..start + 32].copy_from_slice(&number.to_le_bytes());
        }
        let mut bytes = [&FATBIN[..], &1u16.to_le_bytes(), &16u16.to_le_bytes()].concat();
        bytes.extend((body.len() as u64).to_le_bytes());
        bytes.extend(body);
        bytes
    }

    #[test]
    fn ptx_is_read_by_its_directives() {
        let image = Image::read(b"// by a compiler\n.version 7.8\n.target sm_90a, debug\n").unwrap();
        assert_eq!(image.to_string(), "PTX 7.8 for sm_90a");
        assert!(image.runs_on(OF_90) && !image.runs_on(capability(100)));
        assert_eq!(image.least_driver(OF_90), Some(Version::new(11, 8)));
        assert_eq!(image.newest_ptx(), Some(("7.8", Some(Version::new(11, 8)))));
        assert_eq!(Image::read(b"__global__ void k() {}"), None);
        assert_eq!(Image::read(b""), None);
    }

    /// The flags are those that `ptxas` of CUDA 13.0 and NVRTC of CUDA 11.7 write.
    #[test]
    fn the_architecture_of_machine_code_is_among_its_flags() {
        for (revision, flags, text, older, same) in [
            (8, 0x0600_5a04, "machine code for sm_90", false, true),
            (8, 0x0600_6402, "machine code for sm_100", false, false),
            (7, 0x0050_0550, "machine code for sm_80", false, false),
        ] {
            let image = Image::read(&elf(revision, flags)).unwrap();
            assert_eq!(image.to_string(), text);
            assert_eq!((image.runs_on(capability(70)), image.runs_on(OF_90)), (older, same));
            assert_eq!(image.least_driver(OF_90), None);
        }
        let mut program = elf(8, 0x5a04);
        program[18] = 62;
        assert_eq!(Image::read(&program), None);
    }

    #[test]
    fn containers_are_read_one_after_another_and_no_further_than_they_are() {
        let first = fatbin(&[(2, 0, 0, 80), (1, 8, 5, 80), (8, 0, 0, 90)]);
        let second = fatbin(&[(2, 0, 0, 80), (2, 0, 0, 86)]);
        let both = [&first[..], &[0; 8], &second].concat();
        let image = Image::read(&both).unwrap();
        assert_eq!(image.to_string(), "machine code for sm_80, PTX 8.5 for sm_80, machine code for sm_86");
        assert!(image.runs_on(capability(89)) && image.runs_on(OF_90) && !image.runs_on(capability(75)));
        assert_eq!(image.least_driver(capability(89)), None);
        assert_eq!(image.least_driver(OF_90), Some(Version::new(12, 5)));
        for end in 0..both.len() {
            let _ = Image::read(&both[..end]);
        }
        let mut endless = first;
        endless[20..24].copy_from_slice(&0u32.to_le_bytes());
        endless[24..32].copy_from_slice(&0u64.to_le_bytes());
        assert!(Image::read(&endless).is_some());
        endless[24..32].copy_from_slice(&u64::MAX.to_le_bytes());
        assert!(Image::read(&endless).is_some(), "the first part was read");
    }
}
