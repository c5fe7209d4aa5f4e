//! Places where NVRTC may be.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::error::Refusal;
use crate::version::Version;

/// A library to try, or a folder that has none.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) path: PathBuf,
    /// Reason why there is nothing to try.
    pub(super) refused: Option<Refusal>,
    /// The version in its name, most significant part first.
    version: Vec<u32>,
}

/// Names under which the system's loader is asked. Files of other versions are found in folders.
#[cfg(not(windows))]
const NAMES: &[&str] = &["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"];
/// A bare name could be found in the working directory there, so that the folders of `PATH` are listed instead.
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

type Variables<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// Libraries to try, in order. With a driver, libraries of a newer major version than its come last.
pub(super) fn candidates(driver: Option<Version>) -> Vec<Candidate> {
    let variables = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
    let mut candidates: Vec<_> = NAMES.iter().map(|name| Candidate::file(PathBuf::from(name))).collect();
    let (mut folders, mut files): (Vec<PathBuf>, Vec<PathBuf>) = (Vec::new(), Vec::new());
    for folder in folders_to_list(&variables) {
        if is_new(&mut folders, folder.clone()) {
            let listed = in_folder(folder);
            candidates.extend(listed.into_iter().filter(|file| {
                let same_file = fs::canonicalize(&file.path).unwrap_or_else(|_| file.path.clone());
                is_new(&mut files, same_file)
            }));
        }
    }
    let newer = |one: &Candidate| {
        driver.is_some_and(|driver| one.version.first().is_some_and(|&number| number > driver.major()))
    };
    let (last, mut first): (Vec<_>, Vec<_>) = candidates.into_iter().partition(newer);
    first.extend(last);
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

fn folders_to_list(variables: Variables<'_>) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    let mut add = |root: &Path, parts: &[&str]| folders.extend(parts.iter().map(|part| root.join(part)));
    if cfg!(windows) {
        for folder in split(variables("PATH")) {
            add(&folder, &["."]);
        }
    }
    for root in ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(variables) {
        add(Path::new(&root), IN_TOOLKIT);
    }
    if let Some(root) = variables("CONDA_PREFIX") {
        add(Path::new(&root), if cfg!(windows) { &["bin", r"Library\bin"] } else { &["lib"] });
    }
    for site in sites(variables) {
        let packages = site.join("nvidia");
        let found: Vec<_> =
            entries(&packages).filter(|name| name.to_string_lossy().starts_with("cu")).collect();
        // The packages of CUDA 13 and newer are named after it, and `cuda_nvrtc` is older than all of them.
        for older in [false, true] {
            for package in found.iter().filter(|name| name.to_string_lossy().starts_with("cuda") == older) {
                add(&packages.join(package), IN_PACKAGE);
            }
        }
        if found.is_empty() {
            add(&packages, &[""]);
        }
    }
    for root in TOOLKITS {
        add(Path::new(root), IN_TOOLKIT);
    }
    // For each toolkit, further folders that do not exist would say no more than the first of them.
    let mut missing = Vec::new();
    folders.retain(|folder| {
        folder.is_dir() || is_new(&mut missing, folder.parent().unwrap_or(folder).to_owned())
    });
    folders
}

/// The folders that hold Python's packages.
fn sites(variables: Variables<'_>) -> Vec<PathBuf> {
    let mut sites = Vec::new();
    for root in ["VIRTUAL_ENV", "CONDA_PREFIX"].into_iter().filter_map(variables) {
        sites.extend(sites_of(Path::new(&root)));
    }
    sites.extend(split(variables("PYTHONPATH")));
    let programs: &[&str] = if cfg!(windows) { &["python.exe"] } else { &["python3", "python"] };
    let is_python = |folder: &PathBuf| programs.iter().any(|program| folder.join(program).is_file());
    if let Some(folder) = split(variables("PATH")).find(is_python) {
        // On Windows the program lies in the root itself, or in `Scripts` of an environment.
        for root in [Some(folder.as_path()), folder.parent()].into_iter().flatten() {
            sites.extend(sites_of(root));
        }
        if folder == Path::new("/usr/bin") {
            sites.extend(sites_of(Path::new("/usr/local")));
        }
    }
    if let Some(home) = variables("HOME") {
        sites.extend(sites_of(&Path::new(&home).join(".local")));
    }
    sites
}

/// Such folders below the root of an installation or of an environment.
fn sites_of(root: &Path) -> Vec<PathBuf> {
    if cfg!(windows) {
        return vec![root.join(r"Lib\site-packages")].into_iter().filter(|site| site.is_dir()).collect();
    }
    let lib = root.join("lib");
    let names = entries(&lib).filter(|name| name.to_string_lossy().starts_with("python3"));
    let versions = newest_first(names.map(|name| (numbers(&name.to_string_lossy()), lib.join(name))));
    let both =
        versions.iter().flat_map(|(_, path)| ["site-packages", "dist-packages"].map(|end| path.join(end)));
    both.filter(|site| site.is_dir()).collect()
}

/// The files of a folder that are named like NVRTC, the newest first; or the reason why there is none.
fn in_folder(folder: PathBuf) -> Vec<Candidate> {
    let listed = match fs::read_dir(&folder) {
        Ok(listed) => listed,
        Err(error) => {
            return vec![Candidate::refused(folder, Refusal::NoFolder(error.to_string()))];
        }
    };
    let names = listed.flatten().map(|entry| entry.file_name());
    let files = names.filter_map(|name| Some((version_of(&name.to_string_lossy())?, folder.join(name))));
    // A name without a number comes last: it may be a link to any of them.
    let files = newest_first(files);
    if files.is_empty() {
        return vec![Candidate::refused(folder, Refusal::NotInFolder)];
    }
    files.into_iter().map(|(version, path)| Candidate { path, refused: None, version }).collect()
}

/// Paths by their versions, the newest first. There are a few; a general sort would be most of this crate's code.
fn newest_first(paths: impl Iterator<Item = (Vec<u32>, PathBuf)>) -> Vec<(Vec<u32>, PathBuf)> {
    let mut sorted: Vec<(Vec<u32>, PathBuf)> = Vec::new();
    for one in paths {
        let at = sorted.iter().position(|other| other.0 < one.0).unwrap_or(sorted.len());
        sorted.insert(at, one);
    }
    sorted
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

/// The version in the name of an NVRTC; empty for a name without, `None` for that of another file.
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
    rest.strip_prefix('.')?.split('.').map(|part| part.parse().ok()).collect()
}

/// The numbers of a name such as `python3.11`.
fn numbers(name: &str) -> Vec<u32> {
    name.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
}

/// The names in a folder; none of one that cannot be listed.
fn entries(folder: &Path) -> impl Iterator<Item = OsString> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name())
}

/// The absolute paths of a variable such as `PATH`.
fn split(variable: Option<OsString>) -> impl Iterator<Item = PathBuf> {
    let paths: Vec<_> = variable.iter().flat_map(|value| env::split_paths(value)).collect();
    paths.into_iter().filter(|path| path.is_absolute())
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
