//! Places where NVRTC may be.

use std::fs;
use std::path::{Path, PathBuf};

use cuprum_sys::Version;
use cuprum_sys::environment::variable;
use cuprum_sys::search::{entries, insert_newest_first, python_sites, split};

use super::error::Refusal;

/// A library to try, or a folder that has none.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) path: PathBuf,
    /// Reason why there is nothing to try.
    pub(super) refused: Option<Refusal>,
    /// The version in its name, most significant part first.
    version: Vec<u32>,
}

/// Names that the system's loader is asked for. Files of other versions are found in folders.
#[cfg(not(windows))]
const NAMES: &[&str] = &["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"];
/// A bare name could be found in the working directory there, so that the folders of `PATH` are
/// listed instead.
#[cfg(windows)]
const NAMES: &[&str] = &[];

/// Folders of a toolkit that hold its libraries.
#[cfg(not(windows))]
const IN_TOOLKIT: &[&str] = &["lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"];
/// Folders of a toolkit that hold its libraries.
#[cfg(windows)]
const IN_TOOLKIT: &[&str] = &["bin", r"bin\x64"];

/// Folders of a wheel's package that hold its libraries.
#[cfg(not(windows))]
const IN_PACKAGE: &[&str] = &["lib"];
/// Folders of a wheel's package that hold its libraries.
#[cfg(windows)]
const IN_PACKAGE: &[&str] = &["bin", r"bin\x86_64"];

/// Folders into which installers put a toolkit.
#[cfg(not(windows))]
const TOOLKITS: &[&str] = &["/usr/local/cuda", "/opt/cuda"];
/// Installers set `CUDA_PATH`.
#[cfg(windows)]
const TOOLKITS: &[&str] = &[];

// Lists are filled by loops here: chains of iterators made a quarter of all code of the crate.

/// Libraries to try, in order. With a driver, libraries of a newer major version than its come
/// last.
pub(super) fn candidates(driver: Option<Version>) -> Vec<Candidate> {
    let newer = |one: &Candidate| match (driver, one.version.first()) {
        (Some(driver), Some(&number)) => number > driver.major(),
        _ => false,
    };
    let (mut first, mut last) = (Vec::new(), Vec::new());
    let mut add = |one: Candidate| if newer(&one) { last.push(one) } else { first.push(one) };
    for name in NAMES {
        add(Candidate::file(PathBuf::from(name)));
    }
    let (mut folders, mut files): (Vec<PathBuf>, Vec<PathBuf>) = (Vec::new(), Vec::new());
    for folder in folders_to_list() {
        if !is_new(&mut folders, folder.clone()) {
            continue;
        }
        for file in in_folder(folder) {
            let same_file = fs::canonicalize(&file.path).unwrap_or_else(|_| file.path.clone());
            if is_new(&mut files, same_file) {
                add(file);
            }
        }
    }
    first.append(&mut last);
    first
}

/// Adds a path to a list unless it is there. Lists are short here, and a set would cost more code.
fn is_new(list: &mut Vec<PathBuf>, path: PathBuf) -> bool {
    let new = !list.contains(&path);
    if new {
        list.push(path);
    }
    new
}

/// The second library of an NVRTC that was opened by its path.
pub(super) fn built_in(nvrtc: &Path, version: Version) -> Option<PathBuf> {
    let (folder, major, minor) = (nvrtc.parent()?, version.major(), version.minor());
    let name = if cfg!(windows) {
        format!("nvrtc-builtins64_{major}{minor}.dll")
    } else {
        format!("libnvrtc-builtins.so.{major}.{minor}")
    };
    Some(folder.join(name)).filter(|path| path.is_file())
}

fn folders_to_list() -> Vec<PathBuf> {
    let mut folders = Vec::new();
    let mut add = |root: &Path, parts: &[&str]| {
        for part in parts {
            folders.push(root.join(part));
        }
    };
    if cfg!(windows) {
        for folder in split(variable("PATH")) {
            add(&folder, &["."]);
        }
    }
    for name in ["CUDA_HOME", "CUDA_PATH"] {
        if let Some(root) = variable(name) {
            add(Path::new(&root), IN_TOOLKIT);
        }
    }
    if let Some(root) = variable("CONDA_PREFIX") {
        add(Path::new(&root), if cfg!(windows) { &["bin", r"Library\bin"] } else { &["lib"] });
    }
    for site in python_sites() {
        add_packages(&site.join("nvidia"), &mut add);
    }
    for root in TOOLKITS {
        add(Path::new(root), IN_TOOLKIT);
    }
    // For each toolkit, further folders that do not exist would say no more than the first of them.
    let (mut listed, mut missing) = (Vec::new(), Vec::new());
    for folder in folders {
        if folder.is_dir() || is_new(&mut missing, folder.parent().unwrap_or(&folder).to_owned()) {
            listed.push(folder);
        }
    }
    listed
}

/// Adds the folders of the wheels below one folder.
fn add_packages(packages: &Path, add: &mut dyn FnMut(&Path, &[&str])) {
    let names = entries(packages).unwrap_or_default();
    let mut found = false;
    // The packages of CUDA 13 and newer are named after it, and `cuda_nvrtc` is older than all of
    // them.
    for older in [false, true] {
        for name in &names {
            let text = name.to_string_lossy();
            if text.starts_with("cu") && text.starts_with("cuda") == older {
                found = true;
                add(&packages.join(name), IN_PACKAGE);
            }
        }
    }
    if !found {
        add(packages, &[""]);
    }
}

/// The files of a folder that are named like NVRTC, the newest first; or the reason why there is
/// none.
fn in_folder(folder: PathBuf) -> Vec<Candidate> {
    let names = match entries(&folder) {
        Ok(names) => names,
        Err(error) => return vec![Candidate::refused(folder, Refusal::NoFolder(error.to_string()))],
    };
    // A name without a number comes last: it may be a link to any of them.
    let mut files = Vec::new();
    for name in names {
        if let Some(version) = version_of(&name.to_string_lossy()) {
            insert_newest_first(&mut files, (version, folder.join(&name)));
        }
    }
    if files.is_empty() {
        return vec![Candidate::refused(folder, Refusal::NotInFolder)];
    }
    let mut found = Vec::new();
    for (version, path) in files {
        found.push(Candidate { path, refused: None, version });
    }
    found
}

impl Candidate {
    fn file(path: PathBuf) -> Self {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        Self { version: version_of(&name).unwrap_or_default(), refused: None, path }
    }

    fn refused(path: PathBuf, why: Refusal) -> Self {
        Self { path, refused: Some(why), version: Vec::new() }
    }
}

/// The version in the name of an NVRTC; empty for a name without, `None` for another file.
fn version_of(name: &str) -> Option<Vec<u32>> {
    if cfg!(windows) {
        let digits = name.strip_prefix("nvrtc64_")?.strip_suffix("_0.dll")?;
        let number: u32 = digits.parse().ok()?;
        return Some(vec![number / 10, number % 10]);
    }
    let rest = name.strip_prefix("libnvrtc.so")?;
    if rest.is_empty() {
        return Some(Vec::new());
    }
    let mut version = Vec::new();
    for part in rest.strip_prefix('.')?.split('.') {
        version.push(part.parse().ok()?);
    }
    Some(version)
}

#[cfg(all(test, not(windows)))]
mod tests {
    use super::*;

    #[test]
    fn names_have_versions() {
        assert_eq!(version_of("libnvrtc.so"), Some(vec![]));
        assert_eq!(version_of("libnvrtc.so.11.2"), Some(vec![11, 2]));
        assert_eq!(version_of("libnvrtc.so.13"), Some(vec![13]));
        for other in
            ["libnvrtc.alt.so.13", "libnvrtc-builtins.so.13.0", "libnvrtc_static.a", "libnvrtc.so.old"]
        {
            assert_eq!(version_of(other), None, "{other}");
        }
    }

    #[test]
    fn newer_libraries_than_the_driver_come_last() {
        let first = |driver| candidates(driver).swap_remove(0).path;
        assert_eq!(first(None), Path::new("libnvrtc.so.13"));
        assert_eq!(first(Some(Version::new(13, 0))), Path::new("libnvrtc.so.13"));
        assert_eq!(first(Some(Version::new(12, 4))), Path::new("libnvrtc.so.12"));
        assert_eq!(first(Some(Version::new(11, 4))), Path::new("libnvrtc.so.11.2"));
        assert!(
            candidates(Some(Version::new(11, 4))).iter().any(|one| one.version == [13]),
            "they are still tried"
        );
    }
}
