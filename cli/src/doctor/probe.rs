//! Examines a driver library in a child: its kind, functions and devices.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cuprum::diagnosis::Machine;
use cuprum::sys::{CUresult, FnId, Version};
use cuprum::{Driver, Library};
use cuprum_compile::nvrtc;

use super::device::{self, Device};
use crate::child::{self, Ended};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A driver of NVIDIA, or a library that does not identify itself as another.
    Real,
    Software,
    Stub,
    Unusable,
}

impl Kind {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Real => "real",
            Self::Software => "software",
            Self::Stub => "stub",
            Self::Unusable => "unusable",
        }
    }
}

#[derive(Debug)]
pub(crate) struct Probe {
    pub(crate) kind: Kind,
    /// Reason why it is unusable, or why the child did not finish.
    pub(crate) error: Option<String>,
    pub(crate) origin: Option<String>,
    pub(crate) file: Option<PathBuf>,
    /// The driver's own version, such as 535.183.01, if its file name has one.
    pub(crate) release: Option<String>,
    pub(crate) version: Option<Version>,
    /// Functions of the table that it does not have.
    pub(crate) absent: BTreeSet<String>,
    /// Result of `cuInit`, if called: success, or the error's text.
    pub(crate) init: Option<Result<(), String>>,
    pub(crate) init_code: Option<String>,
    pub(crate) devices: Vec<Device>,
}

pub(crate) const OPTION: &str = "--probe";

/// Opens a library in a child: the machine's own for an empty path. With `whole`, also initializes
/// it and lists its devices.
pub(crate) fn probe(path: &OsStr, whole: bool, limit: Duration) -> Probe {
    let mut arguments = vec![OsStr::new("doctor"), OsStr::new(OPTION), path];
    if whole {
        arguments.push(OsStr::new("--whole"));
    }
    read(&child::run(&arguments, &[], limit))
}

fn read(ended: &Ended) -> Probe {
    let version = ended.get("version").and_then(|raw| raw.parse().ok()).map(Version::from_raw);
    let kind = match ended.get("kind") {
        Some("real") => Kind::Real,
        Some("software") => Kind::Software,
        Some("stub") => Kind::Stub,
        _ => Kind::Unusable,
    };
    let init_code = ended.get("init").map(str::to_owned);
    let failed_init = ended.get("init_error").map(str::to_owned);
    Probe {
        kind,
        error: ended.get("error").or(ended.failed.as_deref()).map(str::to_owned),
        origin: ended.get("origin").map(str::to_owned),
        file: ended.get("file").map(PathBuf::from),
        release: ended.get("release").map(str::to_owned),
        version,
        absent: ended.all("absent").map(str::to_owned).collect(),
        init: init_code.is_some().then(|| failed_init.map_or(Ok(()), Err)),
        init_code,
        devices: device::read(&ended.lines),
    }
}

/// The work of the child. It reports each result before the next step, which may crash.
pub(crate) fn child_main(path: &OsStr, whole: bool) {
    let opened = if path.is_empty() {
        Library::open()
    } else {
        // SAFETY: the user named the library, or it has the name of a driver in a folder of the
        // system or the toolkit; this process exists to find out its effects.
        unsafe { Library::open_from(Path::new(path)) }
    };
    let library = match opened {
        Ok(library) => library,
        Err(error) => {
            let stub =
                error.attempts().iter().any(|attempt| *attempt.cause() == cuprum::sys::Refusal::ToolkitStub);
            child::tell("kind", if stub { Kind::Stub.word() } else { Kind::Unusable.word() });
            child::tell("error", error);
            return;
        }
    };
    child::tell("kind", if library.is_software_device() { Kind::Software.word() } else { Kind::Real.word() });
    child::tell("origin", library.origin());
    let machine = Machine::look();
    if let Some(file) = machine.loaded.first() {
        child::tell("file", file.display());
    }
    if let Some(release) = machine.library_version() {
        child::tell("release", release);
    }
    child::tell("version", library.version().as_raw());
    for function in FnId::ALL.iter().filter(|function| !library.has(**function)) {
        child::tell("absent", function);
    }
    if whole {
        initialize(library);
    }
}

fn initialize(library: Library) {
    match Driver::init(library) {
        Err(error) => {
            child::tell("init_error", error);
            child::tell("init", error.name().map_or_else(|| error.code().0.to_string(), str::to_owned));
        }
        Ok(driver) => {
            child::tell("init", CUresult::CUDA_SUCCESS.name().unwrap_or_default());
            match driver.devices() {
                Ok(devices) => devices.into_iter().for_each(device::tell),
                Err(error) => child::tell("error", error),
            }
        }
    }
}

pub(crate) const COMPILER_OPTION: &str = "--probe-compiler";

/// The file and version of NVRTC, or the reason why there is none, from a child.
pub(crate) fn compiler(limit: Duration) -> Result<(String, String), String> {
    let ended = child::run(&[OsStr::new("doctor"), OsStr::new(COMPILER_OPTION)], &[], limit);
    match (ended.get("origin"), ended.get("version")) {
        (Some(origin), Some(version)) => Ok((origin.to_owned(), version.to_owned())),
        _ => Err(ended.get("error").or(ended.failed.as_deref()).unwrap_or("it said nothing").to_owned()),
    }
}

pub(crate) fn compiler_main() {
    match nvrtc::Library::open() {
        Ok(library) => {
            child::tell("origin", library.origin());
            child::tell("version", library.version());
        }
        Err(error) => child::tell("error", error),
    }
}
