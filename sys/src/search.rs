//! Folders in which libraries of Python's wheels may be, for the crates of this repository.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::environment::variable;

/// The folders that hold Python's packages.
#[must_use]
pub fn python_sites() -> Vec<PathBuf> {
    let mut sites = Vec::new();
    for name in ["VIRTUAL_ENV", "CONDA_PREFIX"] {
        if let Some(root) = variable(name) {
            add_sites_of(Path::new(&root), &mut sites);
        }
    }
    sites.append(&mut split(variable("PYTHONPATH")));
    let programs: &[&str] = if cfg!(windows) { &["python.exe"] } else { &["python3", "python"] };
    for folder in split(variable("PATH")) {
        if !programs.iter().any(|program| folder.join(program).is_file()) {
            continue;
        }
        // On Windows the program is in the root itself, or in `Scripts` of an environment.
        add_sites_of(&folder, &mut sites);
        if let Some(root) = folder.parent() {
            add_sites_of(root, &mut sites);
        }
        if folder == Path::new("/usr/bin") {
            add_sites_of(Path::new("/usr/local"), &mut sites);
        }
        break;
    }
    if let Some(home) = variable("HOME") {
        add_sites_of(&Path::new(&home).join(".local"), &mut sites);
    }
    sites
}

/// Adds such folders below the root of an installation or of an environment.
fn add_sites_of(root: &Path, sites: &mut Vec<PathBuf>) {
    let mut add = |site: PathBuf| {
        if site.is_dir() {
            sites.push(site);
        }
    };
    if cfg!(windows) {
        add(root.join(r"Lib\site-packages"));
        return;
    }
    let lib = root.join("lib");
    let mut versions = Vec::new();
    for name in entries(&lib).unwrap_or_default() {
        let text = name.to_string_lossy();
        if text.starts_with("python3") {
            insert_newest_first(&mut versions, (numbers(&text), lib.join(&name)));
        }
    }
    for (_, path) in versions {
        add(path.join("site-packages"));
        add(path.join("dist-packages"));
    }
}

/// Inserts a path into a list sorted by version, the newest first, after paths of the same version.
/// There are a few; a general sort would be most of this crate's code.
pub fn insert_newest_first(sorted: &mut Vec<(Vec<u32>, PathBuf)>, one: (Vec<u32>, PathBuf)) {
    let at = sorted.iter().position(|other| other.0 < one.0).unwrap_or(sorted.len());
    sorted.insert(at, one);
}

/// The numbers of a name such as `python3.11`.
fn numbers(name: &str) -> Vec<u32> {
    let mut numbers = Vec::new();
    for part in name.split(|c: char| !c.is_ascii_digit()) {
        if let Ok(number) = part.parse() {
            numbers.push(number);
        }
    }
    numbers
}

/// The names in a folder.
///
/// # Errors
/// Errors of the system.
pub fn entries(folder: &Path) -> io::Result<Vec<OsString>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)?.flatten() {
        names.push(entry.file_name());
    }
    Ok(names)
}

/// The absolute paths of a variable such as `PATH`.
#[must_use]
pub fn split(variable: Option<OsString>) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for path in env::split_paths(&variable.unwrap_or_default()) {
        if path.is_absolute() {
            paths.push(path);
        }
    }
    paths
}
