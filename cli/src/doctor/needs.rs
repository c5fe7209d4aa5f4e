//! Requirements of files and versions on a driver and its devices.

use std::collections::{BTreeSet, HashMap};
use std::io::{self, Read};
use std::path::Path;
use std::sync::OnceLock;

use cuprum::device::ComputeCapability;
use cuprum::diagnosis::{CodeKind, Image, ImageError, toolkit_of_ptx};
use cuprum::sys::{FnId, Version};

use crate::elf::{self, Elf};
use crate::file;

/// Maximum size in bytes of the device code that is read from one file.
const MOST: u64 = 1 << 30;

#[derive(Debug)]
pub(crate) struct Need {
    /// The file's path, or the requested version.
    pub(crate) what: String,
    /// Its kind, in words.
    pub(crate) kind: String,
    /// The oldest known CUDA version that meets all requirements.
    pub(crate) version: Option<Version>,
    /// Driver functions that it imports by name.
    pub(crate) functions: Vec<String>,
    pub(crate) code: Option<String>,
    /// Remarks that are not failures.
    pub(crate) notes: Vec<String>,
    /// Missing requirements; empty if all are met.
    pub(crate) missing: Vec<String>,
    /// Reason why it cannot run anywhere: it is truncated or contradicts itself.
    pub(crate) damaged: Option<String>,
    image: Option<Image>,
}

impl Need {
    fn new(what: String, kind: impl Into<String>) -> Self {
        let kind = kind.into();
        Self {
            what,
            kind,
            version: None,
            functions: vec![],
            code: None,
            notes: vec![],
            missing: vec![],
            damaged: None,
            image: None,
        }
    }

    pub(crate) fn of_version(version: Version) -> Self {
        Self { version: Some(version), ..Self::new(format!("CUDA {version}"), "minimum version") }
    }

    pub(crate) fn of_file(path: &Path) -> Self {
        let what = path.display().to_string();
        read(path, &what).unwrap_or_else(|error| {
            let mut need = Self::new(what, "unreadable");
            need.missing.push(format!("it cannot be read: {error}"));
            need
        })
    }

    /// Compares it with a driver and its devices. Without a driver it is unchanged.
    pub(crate) fn compare(
        &mut self,
        driver: Option<Version>,
        absent: &BTreeSet<String>,
        devices: &[ComputeCapability],
        is_software: bool,
    ) {
        let Some(driver) = driver else { return };
        let lacking: Vec<_> = self.functions.iter().filter(|name| absent.contains(*name)).cloned().collect();
        if !lacking.is_empty() {
            let each = lacking.iter().map(|name| format!("{name} (CUDA {})", since(name).unwrap_or(driver)));
            self.missing.push(format!("the driver lacks {}", each.collect::<Vec<_>>().join(", ")));
        }
        if let (Some(needed), true) = (self.version, lacking.is_empty()) {
            if needed > driver && self.image.is_none() {
                self.missing.push(format!("it needs CUDA {needed}, the driver has {driver}"));
            }
        }
        let Some(image) = &self.image else { return };
        if is_software && !image.parts.iter().any(|part| part.ptx_version.is_some()) {
            self.missing.push("the software device runs PTX alone, and there is none in it".to_owned());
        }
        for (number, device) in devices.iter().enumerate() {
            if !image.runs_on(*device) {
                self.missing
                    .push(format!("nothing in it runs on device {number} (compute capability {device})"));
            } else if let Some(version) = unknown_ptx(image, *device) {
                self.missing.push(format!(
                    "for device {number} it has PTX {version} alone, and no driver is known here that reads it"
                ));
            } else if let Some(least) = image.least_driver(*device).filter(|least| *least > driver) {
                self.missing.push(format!(
                    "for device {number} it has PTX alone, which needs a driver of CUDA {least}; this one has {driver}"
                ));
            }
        }
    }
}

/// The version of the PTX that a device would run, if the file has no other code for it and no
/// known driver supports the PTX.
fn unknown_ptx(image: &Image, device: ComputeCapability) -> Option<&str> {
    let mut found = None;
    for part in image.parts.iter().filter(|part| part.runs_on(device)) {
        let version = part.ptx_version.as_deref().filter(|_| part.kind == CodeKind::Ptx)?;
        if toolkit_of_ptx(version).is_some() {
            return None;
        }
        found = Some(version);
    }
    found
}

fn read(path: &Path, what: &str) -> io::Result<Need> {
    if let Some(elf) = Elf::open(path)?.filter(|elf| elf.machine != elf::CUDA) {
        return read_program(elf, what);
    }
    let (file, length) = file::open(path)?;
    if length > MOST {
        return Err(io::Error::other(too_much(length)));
    }
    let mut bytes = Vec::new();
    file.take(MOST).read_to_end(&mut bytes)?;
    let kind = match bytes.first() {
        Some(0x7f) => "machine code (cubin)",
        Some(0x50) => "container of code (fatbin)",
        _ => "PTX",
    };
    let mut need = Need::new(what.to_owned(), kind);
    match Image::read(&bytes) {
        Ok(image) => need = with_image(need, image),
        Err(ImageError::Damaged(why)) => need.damaged = Some(why),
        Err(_) => {
            need.kind = "unknown".to_owned();
            need.missing
                .push("it is neither PTX, cubin, fatbin nor a program of this kind of machine".to_owned());
        }
    }
    Ok(need)
}

fn too_much(bytes: u64) -> String {
    format!("it has {bytes} bytes of device code, and up to {} GiB are read", MOST >> 30)
}

fn with_image(mut need: Need, image: Image) -> Need {
    if image.parts.iter().all(|part| part.is_empty) {
        need.missing.push("it has no code: no function is defined in it".to_owned());
    }
    need.code = Some(image.to_string()).filter(|code| !code.is_empty());
    if let Some((version, toolkit)) = image.newest_ptx() {
        match toolkit {
            Some(toolkit) => need.version = need.version.max(Some(toolkit)),
            None => need.notes.push(format!("PTX {version} is newer than this program knows")),
        }
    }
    need.image = Some(image);
    need
}

fn read_program(mut elf: Elf, what: &str) -> io::Result<Need> {
    let kind = if elf.interpreter.is_some() || !elf.is_dynamic { "program" } else { "library" };
    let mut need = Need::new(what.to_owned(), kind);
    need.damaged = elf.damage.take();
    need.functions = elf.imports.iter().filter(|name| since(name).is_some()).cloned().collect();
    need.version = need.functions.iter().filter_map(|name| since(name)).max();
    if let Some(runtime) = elf.needed.iter().find_map(|name| runtime(name)) {
        need.version = need.version.max(Some(runtime));
        need.notes.push(format!("it uses the CUDA runtime, of CUDA {} or newer", runtime.major()));
    }
    let links = elf.needed.iter().find(|name| name.starts_with("libcuda.so")).cloned();
    match links {
        Some(name) => need.notes.push(format!("it is linked to {name}, without which it does not start")),
        None if elf.mentions("libcuda.so")? => {
            need.notes.push(
                "it opens the driver itself, at run time: the functions that it asks for are not listed"
                    .to_owned(),
            );
        }
        None if elf.needed.iter().any(|name| name.starts_with("libcuda")) => {}
        None => need.notes.push("it neither links to the driver nor names it".to_owned()),
    }
    let section = [".nv_fatbin", ".nvFatBin"].iter().find_map(|name| elf.section(name).cloned());
    let Some(section) = section.filter(|_| need.damaged.is_none()) else { return Ok(need) };
    let Some(bytes) = elf.bytes(&section, MOST)? else {
        need.missing.push(too_much(section.size));
        return Ok(need);
    };
    match Image::read(&bytes) {
        _ if bytes.iter().all(|byte| *byte == 0) => {}
        Ok(image) => {
            // Machine code requires no version, and not every device uses the newest PTX.
            let version = need.version;
            need = with_image(need, image);
            need.version = version;
        }
        Err(error) => need.damaged = Some(format!("its section `{}`: {error}", section.name)),
    }
    Ok(need)
}

/// The CUDA version that introduced a driver function, with or without a per-thread suffix.
fn since(name: &str) -> Option<Version> {
    static ALL: OnceLock<HashMap<&[u8], Version>> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        let mut all = HashMap::new();
        for id in FnId::ALL {
            let since = id.symbol().since;
            for symbol in [Some(id.symbol()), id.per_thread_symbol()].into_iter().flatten() {
                all.insert(symbol.name.to_bytes(), since);
            }
        }
        all
    });
    all.get(name.as_bytes()).copied()
}

/// The oldest CUDA version that supports a runtime: drivers support all of their major version.
fn runtime(name: &str) -> Option<Version> {
    let version = name.strip_prefix("libcudart.so.")?;
    let mut parts = version.split('.');
    let major: u32 = parts.next()?.parse().ok()?;
    // Up to CUDA 10 the name also has the minor version, which the driver had to match.
    let minor = parts.next().and_then(|minor| minor.parse().ok()).filter(|_| major < 11);
    Some(Version::new(major, minor.unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runtimes_and_functions_have_their_versions() {
        assert_eq!(runtime("libcudart.so.12"), Some(Version::new(12, 0)));
        assert_eq!(runtime("libcudart.so.11.0"), Some(Version::new(11, 0)));
        assert_eq!(runtime("libcudart.so.10.1"), Some(Version::new(10, 1)));
        assert_eq!(runtime("libcudart.so"), None);
        assert_eq!(since("cuMemAllocAsync"), Some(Version::new(11, 2)));
        assert_eq!(since("cuMemcpyAsync_ptsz"), since("cuMemcpyAsync"));
        assert_eq!(since("cudaMalloc"), None);
    }

    #[test]
    fn what_is_missing_is_told_for_the_driver_and_for_each_device() {
        let devices = [ComputeCapability { major: 9, minor: 0 }, ComputeCapability { major: 7, minor: 5 }];
        let image = Image::read(b".version 8.4\n.target sm_80\n.func f() {}").unwrap();
        let mut need = with_image(Need::new("k.ptx".into(), "PTX"), image);
        assert_eq!(need.version, Some(Version::new(12, 4)));
        need.compare(Some(Version::new(12, 2)), &BTreeSet::new(), &devices, false);
        assert_eq!(need.missing.len(), 2, "{:?}", need.missing);
        assert!(need.missing[0].contains("device 0") && need.missing[0].contains("CUDA 12.4"));
        assert!(need.missing[1].contains("device 1") && need.missing[1].contains("7.5"));

        let mut version = Need::of_version(Version::new(12, 2));
        version.compare(Some(Version::new(12, 4)), &BTreeSet::new(), &[], false);
        assert!(version.missing.is_empty());
        version.compare(Some(Version::new(11, 4)), &BTreeSet::new(), &[], false);
        assert_eq!(version.missing, ["it needs CUDA 12.2, the driver has 11.4"]);

        let mut program = Need::new("p".into(), "program");
        program.functions = vec!["cuInit".into(), "cuMemAllocAsync".into()];
        program.compare(
            Some(Version::new(11, 0)),
            &BTreeSet::from(["cuMemAllocAsync".into()]),
            &devices,
            false,
        );
        assert_eq!(program.missing, ["the driver lacks cuMemAllocAsync (CUDA 11.2)"]);
    }
}
