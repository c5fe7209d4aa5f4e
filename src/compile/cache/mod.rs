//! A cache of compiled code in a folder, which many processes share. (Feature `cache`.)
//!
//! The key of an entry is all that its code depends on: the texts, names and name expressions of the source, the
//! options, the output, and the compiler with its version, size and time. The whole key is kept in the entry and
//! compared, so that the hash in the file's name need not be cryptographic, and no crate is needed for it. An entry
//! that is truncated, changed, or has another key counts as missing, and is written anew.
//!
//! Entries are written under a temporary name and renamed, so that a reader sees a whole entry or none. When the folder
//! exceeds its limit, the least recently used entries are removed.
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

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::{Code, CompileError, Output, Source};

/// Default limit of a cache, in bytes.
const USUAL_LIMIT: u64 = 256 << 20;

/// A folder with compiled code. Making one touches no file.
///
/// Example: that of the [module](self).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    folder: PathBuf,
    limit: u64,
}

/// Use of the cache in a compilation.
///
/// Example: that of the [module](self).
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

impl Cache {
    /// A cache in this folder, which is created, for this user alone, when there is something to keep. Machine code
    /// from it is loaded without checks: nobody else should be able to write there.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), limit: USUAL_LIMIT }
    }

    /// The user's own cache: the folder that `CUPRUM_CACHE` names, else `cuprum` in the system's folder for caches. `None`
    /// where no variable says where that is.
    pub fn of_user() -> Option<Self> {
        let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
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
    pub fn limit(mut self, bytes: u64) -> Self {
        self.limit = bytes;
        self
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The cached code, or else the result of `compile`. Errors of the cache itself are part of the value.
    pub(super) fn code(
        &self,
        compiler: Option<&str>,
        source: &Source<'_>,
        arguments: &[OsString],
        output: Output,
        compile: impl FnOnce() -> Result<Code, CompileError>,
    ) -> Result<(Code, CacheUse), CompileError> {
        let key =
            match includes::from_files(source, arguments) {
                Some(what) => Err(format!("the code depends on {what}; give the source a fingerprint")),
                None => compiler.map(|compiler| entry::key(compiler, source, arguments, output)).ok_or_else(
                    || "the compiler's file is not known, and with it not which release it is".into(),
                ),
            };
        let key = match key {
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
}
