//! Finds libraries that replace `libcuda.so.1`, and makes a program load one.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

use cuprum::sys::environment;

pub(crate) const VARIABLE: &str = "CUPRUM_SOFTWARE_LIBRARY";
/// Name of the software device's library in cargo's build folder.
pub(crate) const BUILT: &str = "libcuprum_libcuda.so";
/// Variable that makes PyTorch allocate each tensor by a separate call. Otherwise it divides
/// segments, in which out-of-bounds accesses are not detected.
const TORCH_MEMORY: &str = "PYTORCH_NO_CUDA_MEMORY_CACHING";
/// Folder of packages, relative to the executable's folder; it contains the library [`BUILT`].
const INSTALLED: &str = "../lib/cuprum";

/// Finds a library: the given path, otherwise the variable's, otherwise one of that name next to
/// this program, in its folder `deps`, or in `lib/cuprum` of its installation; for the software
/// device finally the one in its Python package.
///
/// # Errors
/// Text with the places searched, and advice on installing the library.
pub(crate) fn find(given: Option<OsString>, variable: &str, built: &str) -> Result<PathBuf, String> {
    let named = given.map(|path| ("the option", path));
    let named = named.or_else(|| environment::variable(variable).map(|path| (variable, path)));
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
    let found = found.or_else(|| if built == BUILT { packaged(folder) } else { None });
    found.map(|path| absolute(&path)).ok_or_else(|| {
        let places: Vec<_> = places.iter().map(|path| path.display().to_string()).collect();
        format!(
            "{built} is not there: neither {variable} nor an option names it, and none of these exists: {}",
            places.join(", ")
        )
    })
}

/// The software device's library in its Python package, if it is installed with this program, in
/// its folder `bin`, or in the active virtual environment.
fn packaged(bin: &Path) -> Option<PathBuf> {
    let active = environment::variable("VIRTUAL_ENV").map(PathBuf::from);
    let roots = bin.parent().map(Path::to_path_buf).into_iter().chain(active);
    let pythons = roots.filter_map(|root| fs::read_dir(root.join("lib")).ok()).flatten().flatten();
    let package = |python: fs::DirEntry| {
        let folders = ["site-packages", "dist-packages"].map(|folder| python.path().join(folder));
        folders.map(|folder| folder.join("cuda_software/lib/libcuda.so.1"))
    };
    pythons.flat_map(package).find(|path| path.is_file())
}

fn absolute(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Our libraries of the CUDA runtime, which are next to the software device's library. The newest
/// comes first, because it provides functions that a program requests without a version.
const RUNTIMES: [&str; 2] = ["libcudart.so.13", "libcudart.so.12"];

/// A folder with links under the names by which programs load the driver. Removed on drop.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    /// Names of its libraries that programs load before all others.
    preloaded: Vec<&'static str>,
}

impl Folder {
    #[cfg(unix)]
    pub(crate) fn with(library: &Path) -> io::Result<Self> {
        let folder = Self { path: temporary()?, preloaded: Vec::new() };
        for name in ["libcuda.so.1", "libcuda.so"] {
            std::os::unix::fs::symlink(library, folder.path.join(name))?;
        }
        Ok(folder)
    }

    #[cfg(unix)]
    pub(crate) fn add_runtimes(&mut self, software_device: &Path) -> io::Result<()> {
        for name in RUNTIMES {
            let runtime = software_device.with_file_name(name);
            if runtime.is_file() {
                std::os::unix::fs::symlink(runtime, self.path.join(name))?;
                self.preloaded.push(name);
            }
        }
        Ok(())
    }

    #[cfg(not(unix))]
    pub(crate) fn add_runtimes(&mut self, _software_device: &Path) -> io::Result<()> {
        Ok(())
    }

    pub(crate) fn has_runtimes(&self) -> bool {
        !self.preloaded.is_empty()
    }

    #[cfg(not(unix))]
    pub(crate) fn with(_library: &Path) -> io::Result<Self> {
        Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "programs are given another driver library on Linux alone",
        ))
    }

    /// Its path, where more files can be put.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Makes a program search for libraries here first.
    pub(crate) fn give_to(&self, command: &mut Command) {
        const VARIABLE: &str = "LD_LIBRARY_PATH";
        let before = env::var_os(VARIABLE).filter(|value| !value.is_empty());
        let folders = std::iter::once(self.path.clone()).chain(before.iter().flat_map(env::split_paths));
        // The names of our folders have no colon, and the others were split at colons.
        let value = env::join_paths(folders).unwrap_or_else(|_| self.path.clone().into_os_string());
        command.env(VARIABLE, value);
        if self.has_runtimes() {
            self.preload(command);
        }
    }

    /// Makes a program load our libraries of the CUDA runtime, even if it has a path to NVIDIA's.
    fn preload(&self, command: &mut Command) {
        const VARIABLE: &str = "LD_PRELOAD";
        let before = env::var_os(VARIABLE).filter(|value| !value.is_empty());
        // The variable cannot contain a blank. Without the folder, the program's own path comes
        // first.
        let has_blank = self.path.to_string_lossy().contains(' ');
        let folder = if has_blank { Path::new("") } else { &self.path };
        let ours = self.preloaded.iter().map(|name| folder.join(name).into_os_string());
        command.env(VARIABLE, before.into_iter().chain(ours).collect::<Vec<_>>().join(OsStr::new(":")));
        if env::var_os(TORCH_MEMORY).is_none() {
            command.env(TORCH_MEMORY, "1");
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // If it cannot be removed, it stays in the folder for temporary files.
        let _ = fs::remove_dir_all(&self.path);
    }
}

#[cfg(unix)]
fn temporary() -> io::Result<PathBuf> {
    use std::os::unix::fs::DirBuilderExt;
    let base = absolute(&env::temp_dir());
    let mut number = std::process::id();
    loop {
        let path = base.join(format!("cuprum-{}-{number}", std::process::id()));
        // Other users of the temporary folder cannot put libraries into it.
        match fs::DirBuilder::new().mode(0o700).create(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number = number.wrapping_add(1),
            made => return made.map(|()| path),
        }
    }
}
