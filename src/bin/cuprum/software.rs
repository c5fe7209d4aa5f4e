//! Where libraries are that take the place of `libcuda.so.1`, and how a program is made to load one.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// Environment variable that names the software device's library.
pub(crate) const VARIABLE: &str = "CUPRUM_SOFTWARE_LIBRARY";
/// Name of the software device's library as cargo builds it.
pub(crate) const BUILT: &str = "libcuprum_libcuda.so";
/// Folder under `lib` beside the executable's folder, for packages: `lib/cuprum/libcuda.so.1`.
const INSTALLED: &str = "../lib/cuprum";

/// Finds a library: the path given, else the variable's, else one of that name beside this program, in its folder `deps`
/// or in the `lib/cuprum` of where this program is installed; for the software device last the one of its Python package.
///
/// # Errors
/// A text that says what was looked for, and how to get it.
pub(crate) fn find(given: Option<OsString>, variable: &str, built: &str) -> Result<PathBuf, String> {
    let named = given.map(|path| ("the option", path));
    let named =
        named.or_else(|| env::var_os(variable).filter(|path| !path.is_empty()).map(|path| (variable, path)));
    if let Some((who, path)) = named {
        let path = PathBuf::from(path);
        return if path.is_file() {
            Ok(absolute(&path))
        } else {
            Err(format!("{who} names {}, which is no file", path.display()))
        };
    }
    let here =
        env::current_exe().map_err(|error| format!("this program does not know where it is: {error}"))?;
    let folder = here.parent().unwrap_or(Path::new("."));
    let places = [folder.join(built), folder.join("deps").join(built), folder.join(INSTALLED).join(built)];
    let found = places.iter().find(|path| path.is_file()).cloned();
    let found = found.or_else(|| if built == BUILT { packaged() } else { None });
    found.map(|path| absolute(&path)).ok_or_else(|| {
        let places: Vec<_> = places.iter().map(|path| path.display().to_string()).collect();
        format!(
            "{built} is not there: neither {variable} nor an option names it, and none of these exists: {}",
            places.join(", ")
        )
    })
}

/// The software device's library in its Python package, if that is installed in the active virtual environment.
fn packaged() -> Option<PathBuf> {
    let lib = PathBuf::from(env::var_os("VIRTUAL_ENV")?).join("lib");
    let pythons = fs::read_dir(lib).ok()?.flatten().map(|entry| entry.path());
    let packages = pythons.map(|python| python.join("site-packages/cuda_software/lib/libcuda.so.1"));
    packages.into_iter().find(|path| path.is_file())
}

fn absolute(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// A folder in which a library has the names under which programs ask for the driver. It is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// Makes one, with links to a library.
    #[cfg(unix)]
    pub(crate) fn with(library: &Path) -> io::Result<Self> {
        let folder = Self(temporary()?);
        for name in ["libcuda.so.1", "libcuda.so"] {
            std::os::unix::fs::symlink(library, folder.0.join(name))?;
        }
        Ok(folder)
    }

    #[cfg(not(unix))]
    pub(crate) fn with(_library: &Path) -> io::Result<Self> {
        Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "programs are given another driver library on Linux alone",
        ))
    }

    /// Its path; more can be put there.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Has a program look for libraries here first.
    pub(crate) fn give_to(&self, command: &mut Command) {
        const VARIABLE: &str = "LD_LIBRARY_PATH";
        let before = env::var_os(VARIABLE).filter(|value| !value.is_empty());
        let folders = std::iter::once(self.0.clone()).chain(before.iter().flat_map(env::split_paths));
        // A folder of ours has no colon in its name, and the others were split at them.
        let value = env::join_paths(folders).unwrap_or_else(|_| self.0.clone().into_os_string());
        command.env(VARIABLE, value);
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed stays in the folder for temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A new folder of our own.
#[cfg(unix)]
fn temporary() -> io::Result<PathBuf> {
    use std::os::unix::fs::DirBuilderExt;
    let base = absolute(&env::temp_dir());
    let mut number = std::process::id();
    loop {
        let path = base.join(format!("cuprum-{}-{number}", std::process::id()));
        // Whoever else may write there cannot put libraries into it.
        match fs::DirBuilder::new().mode(0o700).create(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number = number.wrapping_add(1),
            made => return made.map(|()| path),
        }
    }
}
