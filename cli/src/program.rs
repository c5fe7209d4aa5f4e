//! Programs to run with another driver library: finds them, and checks whether that is possible.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::elf::Elf;
use crate::exit;

/// A program that can be started with another `libcuda.so.1`.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) path: PathBuf,
    /// Known problems of a program that can still be started.
    pub(crate) warnings: Vec<String>,
    pub(crate) runtime: Option<Runtime>,
}

/// NVIDIA's library of the CUDA runtime, in a program.
#[derive(Debug)]
pub(crate) struct Runtime {
    /// True if the program loads the runtime, so that it can be replaced.
    pub(crate) is_loaded: bool,
    /// Reason why the program cannot run with it, with advice.
    pub(crate) why: String,
}

#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) code: u8,
    why: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

/// Finds a program like a shell, and checks that it would load `libcuda.so.1` from the environment.
pub(crate) fn find(name: &OsStr) -> Result<Program, Refused> {
    let shown = name.to_string_lossy();
    let path = search(name, std::env::var_os("PATH"))
        .ok_or_else(|| Refused { code: exit::NOT_FOUND, why: format!("there is no program `{shown}`") })?;
    let unreadable =
        |error| Refused { code: exit::NOT_EXECUTABLE, why: format!("`{shown}` cannot be read: {error}") };
    let elf = Elf::open(&path).map_err(unreadable)?;
    let (mut warnings, mut runtime) = (Vec::new(), None);
    match elf {
        Some(elf) => runtime = examine(elf, &shown, &mut warnings)?,
        None => script(&path, &shown).map_err(unreadable)??,
    }
    if has_privileges(&path) {
        return Err(Refused {
            code: exit::CANNOT,
            why: format!(
                "`{shown}` runs with another user's rights, for which the system ignores LD_LIBRARY_PATH"
            ),
        });
    }
    Ok(Program { path, warnings, runtime })
}

/// A path as it is; a name in the folders of `PATH`.
fn search(name: &OsStr, folders: Option<OsString>) -> Option<PathBuf> {
    let path = Path::new(name);
    if path.components().count() > 1 || path.is_absolute() {
        return path.is_file().then(|| path.to_owned());
    }
    let folders = folders.unwrap_or_default();
    std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| is_executable(path))
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.is_file()
}

#[cfg(unix)]
fn has_privileges(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|about| about.permissions().mode() & 0o6000 != 0)
}

#[cfg(not(unix))]
fn has_privileges(_path: &Path) -> bool {
    false
}

fn examine(mut elf: Elf, shown: &str, warnings: &mut Vec<String>) -> Result<Option<Runtime>, Refused> {
    let cannot = |why: String| Err(Refused { code: exit::CANNOT, why });
    if elf.interpreter.is_none() {
        return cannot(if elf.is_dynamic {
            format!("`{shown}` is a library, or a program linked statically: it loads no `libcuda.so.1`")
        } else {
            format!("`{shown}` is linked statically: it loads no library, and so no `libcuda.so.1` either")
        });
    }
    let loaded = elf.needed.iter().find(|name| name.starts_with("libcudart.so")).cloned();
    let is_loaded = loaded.is_some();
    let why = if let Some(name) = loaded {
        Some(format!(
            "`{shown}` loads the CUDA runtime ({name}), which takes no driver but NVIDIA's; build the one of this project \
             with emulator/cudart/link.sh, beside the software device's library"
        ))
    } else if elf.section(".nvFatBinSegment").is_some() {
        Some(format!(
            "`{shown}` has NVIDIA's CUDA runtime in it, which takes no driver but NVIDIA's; build it with `nvcc -cudart shared`"
        ))
    } else {
        None
    };
    let runtime = why.map(|why| Runtime { is_loaded, why });
    let absolute = elf.needed.iter().find(|name| name.contains('/') && name.contains("libcuda.so")).cloned();
    if let Some(path) = absolute {
        return cannot(format!(
            "`{shown}` asks for its driver by a path, {path}: the environment does not change that"
        ));
    }
    let links = elf.needed.iter().any(|name| name.starts_with("libcuda.so"));
    let names = elf.mentions("libcuda.so").unwrap_or(true);
    if !links && !names && elf.needed.iter().all(|name| SYSTEM.iter().any(|system| name.starts_with(system)))
    {
        warnings.push(format!(
            "`{shown}` neither links to `libcuda.so.1` nor names it, and no library of its own does: it will hardly use it"
        ));
    }
    Ok(runtime)
}

/// Libraries that do not open a driver.
const SYSTEM: &[&str] = &[
    "libc.so",
    "libm.so",
    "libdl.so",
    "libpthread.so",
    "librt.so",
    "libgcc_s.so",
    "libstdc++.so",
    "ld-linux",
];

/// A file that is not ELF can be a script, whose first line names its interpreter.
fn script(path: &Path, shown: &str) -> std::io::Result<Result<(), Refused>> {
    let mut head = [0; 2];
    let read = std::fs::File::open(path)?.read(&mut head)?;
    Ok(if read == 2 && &head == b"#!" {
        Ok(())
    } else {
        Err(Refused {
            code: exit::NOT_EXECUTABLE,
            why: format!(
                "`{shown}` is neither a program of this machine's kind nor a script with `#!` in its first line"
            ),
        })
    })
}
