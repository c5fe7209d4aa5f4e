//! The files of the cache: read completely, written under a temporary name and renamed; the least
//! recently used are removed first.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use super::entry::EXTENSION;
use super::trust;

const UNFINISHED: &str = "part";

/// Age after which such a file is abandoned, because its writer has died.
const ABANDONED: Duration = Duration::from_secs(3600);

/// The bytes of an entry; `None` if it cannot be read, may belong to another user, or exceeds the
/// limit of the whole cache.
pub(super) fn read(path: &Path, limit: u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = File::open(path).ok().filter(trust::file)?;
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= limit).then_some(bytes)
}

/// Records that an entry was used. If that fails, the entry appears older.
pub(super) fn touch(path: &Path) {
    let touched = File::options().append(true).open(path);
    let _swallowed = touched.and_then(|file| file.set_modified(SystemTime::now()));
}

/// Writes an entry, and removes others until the limit is met.
pub(super) fn store(folder: &Path, path: &Path, bytes: &[u8], limit: u64) -> Result<(), String> {
    if bytes.len() as u64 > limit {
        return Err(format!("the entry has {} bytes, and the cache may have {limit}", bytes.len()));
    }
    let failed = |error| format!("{}: {error}", folder.display());
    make(folder).map_err(failed)?;
    trust::folder(folder)?;
    let unfinished = unfinished(path);
    let written = create(&unfinished).and_then(|mut file| {
        file.write_all(bytes)?;
        drop(file);
        fs::rename(&unfinished, path)
    });
    if let Err(error) = written {
        let _swallowed = fs::remove_file(&unfinished);
        return Err(failed(error));
    }
    make_room(folder, path, limit);
    Ok(())
}

/// A temporary name next to the entry's, unique to this writer.
fn unfinished(path: &Path) -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    path.with_extension(format!("{}-{number}-{}.{UNFINISHED}", std::process::id(), since.as_nanos()))
}

/// Makes a folder and its missing parents, accessible only to this user.
fn make(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

/// A new file that only this user can read and write.
fn create(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.write(true).create_new(true).open(path)
}

/// Removes the least recently used entries, and abandoned files. Files that cannot be removed, or
/// no longer exist, are left to other processes.
fn make_room(folder: &Path, kept: &Path, limit: u64) {
    let Ok(listed) = fs::read_dir(folder) else { return };
    let now = SystemTime::now();
    let (mut entries, mut total) = (Vec::new(), 0_u64);
    for file in listed.flatten() {
        let (path, Ok(about)) = (file.path(), file.metadata()) else { continue };
        let used = about.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        // Others may also keep files in the folder.
        let is_ours = path
            .file_stem()
            .and_then(|stem| stem.to_str())
            .is_some_and(|stem| stem.len() >= 32 && stem.as_bytes()[..32].iter().all(u8::is_ascii_hexdigit));
        if !is_ours {
            continue;
        }
        let extension = path.extension().unwrap_or_default();
        if extension == EXTENSION {
            total = total.saturating_add(about.len());
            entries.push((used, about.len(), path));
        } else if extension == UNFINISHED && now.duration_since(used).is_ok_and(|age| age > ABANDONED) {
            let _swallowed = fs::remove_file(path);
        }
    }
    entries.sort_unstable();
    for (_, bytes, path) in entries.into_iter().filter(|(_, _, path)| path != kept) {
        if total <= limit {
            return;
        }
        if fs::remove_file(path).is_ok() {
            total -= bytes;
        }
    }
}
