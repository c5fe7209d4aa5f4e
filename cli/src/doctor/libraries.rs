//! Driver libraries of this machine: all candidate files, in the order of the loader's search.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use cuprum::sys::DRIVER_VARIABLE;
use cuprum::sys::environment::variable;

/// A file that may be a driver, and how it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) path: PathBuf,
    pub(crate) from: &'static str,
}

#[cfg(not(windows))]
const NAMES: &[&str] = &["libcuda.so.1", "libcuda.so"];
#[cfg(windows)]
const NAMES: &[&str] = &["nvcuda.dll"];

/// Folders of the system, in addition to the loader's cache.
#[cfg(not(windows))]
const SYSTEM: &[&str] = &[
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/usr/local/nvidia/lib64",
    "/usr/lib/x86_64-linux-gnu/nvidia/current",
    "/run/opengl-driver/lib",
];
#[cfg(windows)]
const SYSTEM: &[&str] = &[r"C:\Windows\System32"];

const WSL: &str = "/usr/lib/wsl/lib";

/// Finds all candidates. Each file appears once, under the first name that leads to it.
pub(crate) fn candidates() -> Vec<Candidate> {
    let mut found = Found::default();
    if let Some(path) = variable(DRIVER_VARIABLE) {
        found.add(PathBuf::from(path), DRIVER_VARIABLE);
    }
    let list = variable("LD_LIBRARY_PATH").unwrap_or_default();
    for folder in env::split_paths(&list) {
        found.add_folder(&folder, "LD_LIBRARY_PATH");
    }
    for path in cached() {
        found.add(path, "the loader's cache");
    }
    for folder in SYSTEM {
        found.add_folder(Path::new(folder), "a folder of the system");
    }
    found.add_folder(Path::new(WSL), "WSL");
    for toolkit in toolkits() {
        for part in
            ["lib64/stubs", "lib/stubs", "targets/x86_64-linux/lib/stubs", "targets/sbsa-linux/lib/stubs"]
        {
            found.add_folder(&toolkit.join(part), "the toolkit's stubs");
        }
        found.add_folder(&toolkit.join("compat"), "the compatibility package");
    }
    found.candidates
}

#[derive(Default)]
struct Found {
    candidates: Vec<Candidate>,
    files: BTreeSet<PathBuf>,
}

impl Found {
    fn add_folder(&mut self, folder: &Path, from: &'static str) {
        for name in NAMES {
            self.add(folder.join(name), from);
        }
    }

    fn add(&mut self, path: PathBuf, from: &'static str) {
        // A file that a variable names is listed even if it does not exist.
        let file = fs::canonicalize(&path);
        let is_told = file.is_ok() || from == DRIVER_VARIABLE;
        if is_told && self.files.insert(file.unwrap_or_else(|_| path.clone())) {
            self.candidates.push(Candidate { path, from });
        }
    }
}

/// Folders of toolkits: from variables, and the usual ones.
pub(crate) fn toolkits() -> Vec<PathBuf> {
    let variables = ["CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"].into_iter().filter_map(variable);
    let mut folders: Vec<PathBuf> = variables.map(PathBuf::from).collect();
    folders.extend(["/usr/local/cuda", "/opt/cuda"].map(PathBuf::from));
    let versioned = fs::read_dir("/usr/local").into_iter().flatten().flatten().map(|entry| entry.path());
    let mut versioned: Vec<_> = versioned
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("cuda-")))
        .collect();
    versioned.sort_unstable();
    folders.extend(versioned);
    folders.retain(|folder| folder.is_dir());
    let mut seen = BTreeSet::new();
    folders.retain(|folder| seen.insert(fs::canonicalize(folder).unwrap_or_else(|_| folder.clone())));
    folders
}

fn cached() -> Vec<PathBuf> {
    if cfg!(not(target_os = "linux")) {
        return Vec::new();
    }
    let programs = ["/sbin/ldconfig", "/usr/sbin/ldconfig", "ldconfig"];
    let listed = programs.iter().find_map(|program| {
        let output =
            Command::new(program).arg("-p").stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    });
    in_cache(&listed.unwrap_or_default())
}

/// Lines such as `\tlibcuda.so.1 (libc6,x86-64) => /lib/x86_64-linux-gnu/libcuda.so.1`.
fn in_cache(listed: &str) -> Vec<PathBuf> {
    let here = if cfg!(target_arch = "x86_64") { "x86-64" } else { "" };
    let lines = listed.lines().filter_map(|line| line.trim().split_once(" => "));
    let ours = lines.filter(|(what, _)| {
        let name = what.split(' ').next().unwrap_or_default();
        NAMES.contains(&name) && what.contains(here)
    });
    ours.map(|(_, path)| PathBuf::from(path)).collect()
}

/// The reason for the choice of a file, in words.
pub(crate) fn reason(chosen: Option<&Path>, given: bool) -> String {
    let set = variable(DRIVER_VARIABLE);
    let why = match (given, set) {
        (true, _) => "it was asked for on the command line".to_owned(),
        (false, Some(path)) => {
            format!("{DRIVER_VARIABLE}={} names it, and nothing else is tried", path.to_string_lossy())
        }
        (false, None) => format!("it is what the system's loader finds as {}", NAMES[0]),
    };
    match chosen {
        Some(_) => why,
        None => "none serves".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    fn the_loaders_cache_is_read_for_this_kind_of_machine() {
        let listed = "2 libs found\n\tlibcuda.so.1 (libc6,x86-64) => /lib/a/libcuda.so.1\n\tlibcuda.so.1 (libc6) => \
                      /lib32/libcuda.so.1\n\tlibcudart.so.12 (libc6,x86-64) => /x/libcudart.so.12\n";
        assert_eq!(in_cache(listed), [PathBuf::from("/lib/a/libcuda.so.1")]);
    }
}
