//! Compiling with the program `nvcc`, in a temporary folder.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Output as Ended};
use std::sync::atomic::{AtomicU32, Ordering};

use cuprum::device::ComputeCapability;
use cuprum_sys::Version;
use cuprum_sys::environment::{is_trusted, temporary_folder, variable};

use super::architecture::capabilities;
use super::code::Code;
use super::error::Log;
use super::{CompileError, Output, Source};

/// The environment variable that names the `nvcc` to run, instead of a search.
const VARIABLE: &str = "CUPRUM_NVCC";

/// The environment variables with options that `nvcc` adds before and after its arguments.
#[cfg(feature = "cache")]
const FLAGS: [&str; 2] = ["NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"];

/// Other variables that change the output of `nvcc`, its choice of a host compiler, or the host
/// compiler's inputs: of `nvcc`, GCC and Clang, and Microsoft's compiler.
#[cfg(feature = "cache")]
const ENVIRONMENT: [&str; 12] = [
    "NVCC_CCBIN",
    "PATH",
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "GCC_EXEC_PREFIX",
    "COMPILER_PATH",
    "CCC_OVERRIDE_OPTIONS",
    "SOURCE_DATE_EPOCH",
    "INCLUDE",
    "CL",
    "_CL_",
];

#[derive(Clone, Debug)]
pub(super) struct Nvcc {
    path: PathBuf,
    #[cfg(feature = "cache")]
    release: String,
    version: Version,
}

impl Nvcc {
    pub(super) fn find() -> Result<Self, CompileError> {
        if let Some(path) = variable(VARIABLE) {
            return Self::at(Path::new(&path));
        }
        let toolkits = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(variable).map(PathBuf::from);
        let mut folders: Vec<PathBuf> = toolkits.map(|root| root.join("bin")).collect();
        folders
            .extend(variable("PATH").iter().flat_map(env::split_paths).filter(|folder| folder.is_absolute()));
        folders.push(PathBuf::from("/usr/local/cuda/bin"));
        let program = format!("nvcc{}", env::consts::EXE_SUFFIX);
        let looked: Vec<_> = folders.into_iter().map(|folder| folder.join(&program)).collect();
        match looked.iter().find(|path| path.is_file()) {
            Some(path) => Self::at(path),
            None => Err(CompileError::NoNvcc { looked }),
        }
    }

    pub(super) fn at(path: &Path) -> Result<Self, CompileError> {
        let said = ended(path, command(path).arg("--version"))?;
        let text = String::from_utf8_lossy(&said.stdout).into_owned();
        let version = text.split("release ").nth(1).and_then(|rest| {
            let (major, minor) = rest.split([',', ' ', '\n']).next()?.split_once('.')?;
            Some(Version::new(major.parse().ok()?, minor.parse().ok()?))
        });
        match version {
            Some(version) if said.status.success() => Ok(Self {
                path: path.to_owned(),
                #[cfg(feature = "cache")]
                release: text.trim().to_owned(),
                version,
            }),
            _ => Err(failed(path, &said, |text| text)),
        }
    }

    pub(super) fn version(&self) -> Version {
        self.version
    }

    #[cfg(feature = "cache")]
    pub(super) fn release(&self) -> &str {
        &self.release
    }

    #[cfg(feature = "cache")]
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Inputs of code besides the program, its source and its options: the settings next to the
    /// program, the environment of it and the host's compiler, and the host's compiler that it
    /// calls with these options.
    #[cfg(feature = "cache")]
    pub(super) fn surroundings(&self, arguments: &[OsString]) -> Result<Vec<u8>, String> {
        let settings = self.path.with_file_name("nvcc.profile");
        let settings = super::cache::file_identity(&settings).unwrap_or_default();
        let mut known = format!(", settings {settings}, host {}", self.host(arguments)?).into_bytes();
        for name in FLAGS.iter().chain(&ENVIRONMENT) {
            let value = variable(name);
            known.extend(format!(", {name} {:?} ", value.as_ref().map(|value| value.len())).bytes());
            known.extend(value.unwrap_or_default().as_encoded_bytes());
        }
        Ok(known)
    }

    /// The version text of the host's compiler, from its preprocessor on C++ without includes.
    #[cfg(feature = "cache")]
    fn host(&self, arguments: &[OsString]) -> Result<String, String> {
        const MARK: &str = "cuprum_host";
        const WORDS: &str = "__VERSION__ __GNUC__ __clang__ _MSC_FULL_VER __cplusplus";
        let untold = |why: &dyn std::fmt::Display| format!("nvcc does not tell its host's compiler: {why}");
        let folder = Folder::new().map_err(|error| untold(&error))?;
        let text = folder.0.join("host.cpp");
        write(&text, format!("{MARK} {WORDS}\n").as_bytes()).map_err(|error| untold(&error))?;
        let mut command = command(&self.path);
        command.args(["-E", "-x", "c++"]).args(arguments).arg(&text);
        let ran = ended(&self.path, &mut command).map_err(|error| untold(&error))?;
        let told = String::from_utf8_lossy(&ran.stdout);
        let line = told.lines().find_map(|line| line.trim().strip_prefix(MARK));
        match line {
            Some(line) if ran.status.success() => Ok(line.trim().to_owned()),
            _ => Err(untold(&all_text(&ran).trim())),
        }
    }

    #[cfg(feature = "cache")]
    pub(super) fn flags_of_environment() -> Vec<OsString> {
        let text = |name| variable(name).unwrap_or_default().to_string_lossy().into_owned();
        FLAGS
            .iter()
            .flat_map(|name| text(name).split_whitespace().map(OsString::from).collect::<Vec<_>>())
            .collect()
    }

    pub(super) fn architectures(&self) -> Result<Vec<ComputeCapability>, CompileError> {
        let said = ended(&self.path, command(&self.path).arg("--list-gpu-arch"))?;
        if !said.status.success() {
            return Err(failed(&self.path, &said, |text| text));
        }
        let text = String::from_utf8_lossy(&said.stdout).into_owned();
        let numbers = text.lines().filter_map(|line| line.trim().strip_prefix("compute_")?.parse().ok());
        Ok(capabilities(&numbers.collect::<Vec<_>>()))
    }

    pub(super) fn compile(
        &self,
        source: &Source<'_>,
        arguments: &[OsString],
        output: Output,
    ) -> Result<Code, CompileError> {
        let kind = match output {
            Output::Ptx => "--ptx",
            Output::Cubin => "--cubin",
            Output::LtoIr => {
                return Err(CompileError::Unsupported(
                    "code for link-time optimization comes from NVRTC alone",
                ));
            }
        };
        if !source.expressions.is_empty() {
            return Err(CompileError::Unsupported("name expressions are resolved by NVRTC alone"));
        }
        let folder = Folder::new()?;
        let (text, code) = (folder.0.join("source.cu"), folder.0.join("code"));
        write(&text, source.text)?;
        let headers = folder.0.join("include");
        for (name, header) in &source.headers {
            write(&headers.join(inside(name)?), header)?;
        }
        let mut command = command(&self.path);
        command.arg(kind).arg("--output-file").arg(&code).arg("-I").arg(&headers);
        command.args(arguments).arg(&text);
        let ran = ended(&self.path, &mut command)?;
        // Messages use the names of the source and headers.
        let path_of = |path: &Path| path.to_string_lossy().into_owned();
        let header_of = format!("{}{}", path_of(&headers), std::path::MAIN_SEPARATOR);
        let named = |log: String| log.replace(&path_of(&text), source.name).replace(&header_of, "");
        if !ran.status.success() {
            return Err(failed(&self.path, &ran, named));
        }
        let bytes = fs::read(&code).map_err(|error| CompileError::file("cannot be read", &code, error))?;
        if bytes.is_empty() {
            return Err(failed(&self.path, &ran, named));
        }
        Ok(Code { bytes, log: named(all_text(&ran)), names: Vec::new() })
    }
}

/// A command for the program. It gets no environment if the environment is not trusted, because it
/// calls other programs by name.
fn command(path: &Path) -> Command {
    let mut command = Command::new(path);
    if !is_trusted() {
        command.env_clear().env("PATH", "/usr/bin:/bin");
    }
    command
}

fn ended(path: &Path, command: &mut Command) -> Result<Ended, CompileError> {
    command.output().map_err(|error| CompileError::file("cannot be run", path, error))
}

fn failed(path: &Path, ended: &Ended, named: impl FnOnce(String) -> String) -> CompileError {
    let log = Log::new(&named(all_text(ended)));
    CompileError::Nvcc { program: path.to_owned(), status: ended.status.to_string(), log }
}

fn all_text(ended: &Ended) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&ended.stdout) + &text(&ended.stderr)
}

/// A header's name as a path inside its folder.
fn inside(name: &str) -> Result<&Path, CompileError> {
    let path = Path::new(name);
    let stays = path.components().all(|part| matches!(part, Component::Normal(_)));
    if stays && !name.is_empty() && !name.contains('\0') {
        return Ok(path);
    }
    Err(CompileError::Unsupported("for nvcc, a header's name is a relative path without `..`"))
}

fn write(path: &Path, text: &[u8]) -> Result<(), CompileError> {
    let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
    folder
        .and_then(|()| fs::write(path, text))
        .map_err(|error| CompileError::file("cannot be written", path, error))
}

/// A folder for one compilation, removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self, CompileError> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = temporary_folder().join(format!("cuprum-nvcc-{}-{number}", std::process::id()));
            match private_folder(&path) {
                Ok(()) => return Ok(Self(path)),
                // An earlier process with this id has left it.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(CompileError::file("cannot be made", path, error)),
            }
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // On failure, the system's cleaning of temporary files removes it.
        let _swallowed = fs::remove_dir_all(&self.0);
    }
}

fn private_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}
