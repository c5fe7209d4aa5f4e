//! A cache of compiled code in a folder, which many processes share. (Feature `cache`.)
//!
//! The key of an entry is all that its code depends on: the texts, names and name expressions of the source, the
//! options, the output, and the compiler with its version, size and time; for `nvcc` also the host's compiler, as it
//! tells its version, and the environment that either reads. The whole key is kept in the entry and
//! compared, so that the hash in the file's name need not be cryptographic, and no crate is needed for it. An entry
//! that is truncated, changed, or has another key counts as missing, and is written anew; so does one whose machine code names
//! what does not lie in it.
//!
//! Entries are written under a temporary name and renamed, so that a reader sees a whole entry or none. When the folder
//! exceeds its limit, the least recently used entries are removed.
//!
//! # Whom a folder is trusted to
//!
//! A cache believes this process's user and the system's (root). Who can write an entry decides what code this process runs
//! on the device, and gives the driver what it reads: an entry carries no signature, and its checksum finds damage, no forgery.
//! That the tables of machine code stay inside is checked before it is loaded; what the code does is not. So a folder must not
//! be shared with those who are not trusted to run programs as this user, nor restored from where they could write.
//!
//! On Unix, the owners and modes of the folder, of those above it and of each entry are compared with the user of this
//! process: nothing is read from a folder in which others can write, or that they could replace, and nothing is kept
//! there. Folders and entries that are made here are this user's alone. On Windows nothing is compared: there the lists
//! of rights decide, which a folder gets from the one above it, and those of `LOCALAPPDATA` let nobody else write.
//!
//! Files that a source includes are not seen here. Such code is not cached, unless the source has a
//! [fingerprint](Source::fingerprint) for them.
//!
//! ```
//! use cuprum::compile::cache::{Cache, CacheUse};
//! use cuprum::compile::{Compiler, Options, Source};
//!
//! let cache = Cache::new(std::env::temp_dir().join("simulation")).limit(64 << 20);
//! # let Ok(_) = Compiler::load() else { return Ok(()) };
//! let compiler = Compiler::load()?.with_cache(cache);
//! let code = compiler.compile(&Source::new("__global__ void f() {}"), &Options::new())?;
//! if let CacheUse::NotStored(why) = code.cache_use() {
//!     eprintln!("compiled every time: {why}");
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod entry;
mod folder;
mod includes;
mod trust;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use cuprum_sys::environment::variable;

use super::{Code, CompileError, Output, Source};

/// Default limit of a cache, in bytes.
const USUAL_LIMIT: u64 = 256 << 20;

/// A folder with compiled code. Making one touches no file.
///
/// Example: see the [module](self).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    folder: PathBuf,
    limit: u64,
}

/// Use of the cache in a compilation.
///
/// Example: see the [module](self).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CacheUse {
    /// The compiler has no cache.
    Off,
    /// The code was there; nothing was compiled.
    Hit,
    /// The code was compiled, and is there from now on.
    Stored,
    /// The code was compiled and is not there, for this reason.
    NotStored(String),
}

/// All that code depends on besides the source and the options.
pub(super) struct Identity {
    /// The compiler with what it calls and reads, as one byte string.
    pub(super) known: Vec<u8>,
    /// Options that the compiler gets from elsewhere.
    pub(super) flags: Vec<OsString>,
}

/// Size and time of a file, which differ between releases; `None` if it does not tell them.
pub(super) fn file_identity(path: &Path) -> Option<String> {
    let about = std::fs::metadata(path).ok()?;
    let time = about.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some(format!("{} bytes, {} ns", about.len(), time.as_nanos()))
}

impl Cache {
    /// A cache in this folder, which is created, for this user alone, when there is something to keep. On Unix it is
    /// not used while others could write in it, or put another in its place ([`CacheUse::NotStored`] says where).
    /// Windows does not tell as much: there, name a folder in which nobody else can write.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), limit: USUAL_LIMIT }
    }

    /// The user's own cache: the folder that `CUPRUM_CACHE` names, else `cuprum` in the system's folder for caches. `None`
    /// where no variable says where that is, and in a program with the setuid bit, which obeys none.
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

    /// The most bytes that all entries together may have (default: 256 MiB).
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

    /// The cached code, or else the result of `compile`. Errors of the cache itself are part of the value. `compiler` is
    /// asked only for code that can be kept.
    pub(super) fn code(
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

    /// The key of this code in this folder, or the reason why it is not looked for there.
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
