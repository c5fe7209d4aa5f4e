//! A cache of compiled code in a folder, which many processes share. (Feature `cache`.)
//!
//! The key of an entry contains all inputs of its code: the texts, names and name expressions of
//! the source, the options, the output, and the compiler with its version, size and time; for
//! `nvcc` also the version text of the host's compiler, and their environment. The entry contains
//! the whole key, which is compared, so the hash in the file's name need not be cryptographic and
//! needs no crate. An entry that is truncated, changed, or has another key or incomplete machine
//! code counts as missing, and is replaced.
//!
//! Entries are written under a temporary name and renamed, so a reader sees a complete entry or
//! none. When the folder exceeds its limit, the least recently used entries are removed.
//!
//! # Trust in a folder
//!
//! A cache trusts this process's user and the system's (root). Users with write access to an entry
//! decide which code this process runs on the device, and which data the driver reads: an entry has
//! no signature, and its checksum detects damage but not forgery. The tables of machine code are
//! checked before it is loaded; the code itself is not. So do not share a folder with users who may
//! not run programs as this user, or restore it from a place where they can write.
//!
//! On Unix, the cache checks the owners and modes of the folder, its parents and each entry. It
//! neither reads from nor writes to a folder that others can write in or replace. Only this user
//! can access the folders and entries that it makes. On Windows nothing is checked: access control
//! lists decide, which a folder inherits, and the lists of `LOCALAPPDATA` let no other user write.
//!
//! The cache does not track files that a source includes. Such code is not cached, unless the
//! source has a [fingerprint](crate::Source::fingerprint) for them.
//!
//! ```
//! use cuprum_compile::cache::{Cache, CacheUse};
//! use cuprum_compile::{Compiler, Options, Source};
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
mod store;
mod trust;

pub use self::store::{Cache, CacheUse};
pub(super) use self::store::{Identity, file_identity};
