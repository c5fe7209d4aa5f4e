//! The cache, and its use in a compilation.

use super::{entry, folder, includes, trust};
use crate::code::Code;
use crate::{CompileError, Output, Source};
use cuprum_sys::environment::variable;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

const USUAL_LIMIT: u64 = 256 << 20;

/// A folder with compiled code. Making this value accesses no file.
///
/// ```
/// use cuprum_compile::{Compiler, cache::Cache};
///
/// let cache = Cache::new(std::env::temp_dir().join("simulation")).limit(64 << 20); // bytes
/// # let Ok(_) = Compiler::load() else { return Ok(()) };
/// let compiler = Compiler::load()?.with_cache(cache);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    folder: PathBuf,
    limit: u64,
}

/// Use of the cache in a compilation.
///
/// ```
/// use cuprum_compile::{Compiler, Options, Source, cache::CacheUse};
///
/// # let Ok(_) = Compiler::load() else { return Ok(()) };
/// let code = Compiler::load()?.compile(&Source::new("__global__ void f() {}"), &Options::new())?;
/// assert_eq!(code.cache_use(), &CacheUse::Off);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CacheUse {
    /// The compiler has no cache.
    Off,
    /// The code came from the cache; nothing was compiled.
    Hit,
    /// The code was compiled and stored.
    Stored,
    /// The code was compiled and not stored, for this reason.
    NotStored(String),
}

/// All inputs of code besides the source and the options.
pub(crate) struct Identity {
    /// The compiler with its tools and environment, as one byte string.
    pub(crate) known: Vec<u8>,
    /// Options that the compiler gets from elsewhere.
    pub(crate) flags: Vec<OsString>,
}

/// Size and time of a file, which differ between releases; `None` if unknown.
pub(crate) fn file_identity(path: &Path) -> Option<String> {
    let about = std::fs::metadata(path).ok()?;
    let time = about.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some(format!("{} bytes, {} ns", about.len(), time.as_nanos()))
}

impl Cache {
    /// A cache in this folder. The folder is created, accessible only to this user, when the first
    /// entry is stored. On Unix it is not used while others can write in it or replace it
    /// ([`CacheUse::NotStored`] has the reason). On Windows this is not checked: name a folder in
    /// which no other user can write.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), limit: USUAL_LIMIT }
    }

    /// The user's cache: the folder that `CUPRUM_CACHE` names, otherwise `cuprum` in the system's
    /// folder for caches. `None` if no variable names that folder, and in a program with the setuid
    /// bit, which ignores the variables.
    #[inline]
    pub fn of_user() -> Option<Self> {
        let set = |name: &str| variable(name).map(PathBuf::from);
        let of_system = || {
            if cfg!(windows) {
                return set("LOCALAPPDATA");
            }
            set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")))
        };
        set("CUPRUM_CACHE").or_else(|| Some(of_system()?.join("cuprum"))).map(Self::new)
    }

    /// Sets the maximum size of all entries in bytes (default: 256 MiB).
    #[must_use]
    #[inline]
    pub fn limit(mut self, bytes: u64) -> Self {
        self.limit = bytes;
        self
    }

    /// The folder.
    #[inline]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the cached code, or else the result of `compile`. Errors of the cache itself are
    /// part of the value. `compiler` is called only for code that can be stored.
    pub(crate) fn code(
        &self,
        compiler: impl FnOnce() -> Result<Identity, String>,
        source: &Source<'_>,
        arguments: &[OsString],
        output: Output,
        compile: impl FnOnce() -> Result<Code, CompileError>,
    ) -> Result<(Code, CacheUse), CompileError> {
        let key = match self.key(compiler, source, arguments, output) {
            Ok(key) => key,
            Err(why) => return Ok((compile()?, CacheUse::NotStored(why))),
        };
        let path = self.folder.join(entry::file_name(&key));
        let found = folder::read(&path, self.limit).and_then(|bytes| entry::decode(&bytes, &key));
        if let Some(code) = found {
            folder::touch(&path);
            return Ok((code, CacheUse::Hit));
        }
        let code = compile()?;
        let stored = folder::store(&self.folder, &path, &entry::encode(&key, &code), self.limit);
        let cache_use = match stored {
            Ok(()) => CacheUse::Stored,
            Err(why) => CacheUse::NotStored(why),
        };
        Ok((code, cache_use))
    }

    /// The key of this code in this folder, or the reason why it is not cached.
    fn key(
        &self,
        compiler: impl FnOnce() -> Result<Identity, String>,
        source: &Source<'_>,
        arguments: &[OsString],
        output: Output,
    ) -> Result<Vec<u8>, String> {
        let on_files = |what| Err(format!("the code depends on {what}; give the source a fingerprint"));
        includes::from_files(source, arguments).map_or(Ok(()), on_files)?;
        trust::folder(&self.folder)?;
        let compiler = compiler()?;
        includes::from_files(source, &compiler.flags).map_or(Ok(()), on_files)?;
        Ok(entry::key(&compiler.known, source, arguments, output))
    }
}
