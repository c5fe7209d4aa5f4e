//! One driver library, opened in a child: what it is, what it has, and what its devices are.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cuprum::diagnosis::Machine;
use cuprum::sys::{CUresult, FnId, Version, nvrtc};
use cuprum::{Driver, Library};

use super::device::{self, Device};
use crate::child::{self, Ended};

/// What a library turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A driver of NVIDIA's, or one that does not say that it is another.
    Real,
    /// A driver in software.
    Software,
    /// The toolkit's library to link against.
    Stub,
    /// It cannot be loaded, or is none.
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

/// A driver library as a child found it.
#[derive(Debug)]
pub(crate) struct Probe {
    pub(crate) kind: Kind,
    /// Reason why it is unusable, or why the child did not come to its end.
    pub(crate) error: Option<String>,
    /// Name or path under which it was opened.
    pub(crate) origin: Option<String>,
    /// The file that the system loaded.
    pub(crate) file: Option<PathBuf>,
    /// The driver's own version, such as 535.183.01, where the file's name has it.
    pub(crate) release: Option<String>,
    /// CUDA version that it reports.
    pub(crate) version: Option<Version>,
    /// Functions of the table that it lacks.
    pub(crate) absent: BTreeSet<String>,
    /// Answer of `cuInit`, if it was called: success, or its error's text.
    pub(crate) init: Option<Result<(), String>>,
    /// The name of its code.
    pub(crate) init_code: Option<String>,
    pub(crate) devices: Vec<Device>,
}

/// What the parent asks a child to do: `--probe`.
pub(crate) const OPTION: &str = "--probe";

/// Opens a library in a child: the machine's own for an empty path. With `whole` it is initialized and its devices are
/// listed.
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

/// What the child does. It tells each thing before it does the next, which may be its last.
pub(crate) fn child_main(path: &OsStr, whole: bool) {
    let opened = if path.is_empty() {
        Library::open()
    } else {
        // SAFETY: the path is a library that the user named, or that has the name of a driver in a folder where the system
        // or the toolkit keeps them; this process exists to find out what it does.
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

/// What the parent asks a child to do: open NVRTC.
pub(crate) const COMPILER_OPTION: &str = "--probe-compiler";

/// NVRTC as a child found it: its file and version, or why there is none.
pub(crate) fn compiler(limit: Duration) -> Result<(String, String), String> {
    let ended = child::run(&[OsStr::new("doctor"), OsStr::new(COMPILER_OPTION)], &[], limit);
    match (ended.get("origin"), ended.get("version")) {
        (Some(origin), Some(version)) => Ok((origin.to_owned(), version.to_owned())),
        _ => Err(ended.get("error").or(ended.failed.as_deref()).unwrap_or("it said nothing").to_owned()),
    }
}

/// What that child does.
pub(crate) fn compiler_main() {
    match nvrtc::Library::open() {
        Ok(library) => {
            child::tell("origin", library.origin());
            child::tell("version", library.version());
        }
        Err(error) => child::tell("error", error),
    }
}
