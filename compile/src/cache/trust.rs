//! Checks by the owners and modes of files that no other user could have written the code.

use std::fs::File;
use std::path::Path;

/// Fails, with the user in question, if anyone but this user or the system's can put files into a
/// folder or replace it. Any user can make a missing folder, but it contains nothing.
#[cfg(unix)]
pub(super) fn folder(path: &Path) -> Result<(), String> {
    use std::io::ErrorKind;
    use std::os::unix::fs::MetadataExt;

    let failed = |error| format!("{}: {error}", path.display());
    let real = match path.canonicalize() {
        Ok(real) => real,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
    };
    for (above, part) in real.ancestors().enumerate() {
        let about = part.symlink_metadata().map_err(failed)?;
        if !ours(about.uid()) {
            return Err(format!("{} belongs to another user, number {}", part.display(), about.uid()));
        }
        if others_write(&about, above > 0) {
            return Err(format!(
                "others can write in {}, which has the mode {:o}",
                part.display(),
                about.mode() & 0o7777
            ));
        }
    }
    Ok(())
}

/// True if users other than the owner can change the contents of a folder. For a parent of the
/// cache's folder, they must only not be able to change files of others. The group of new files of
/// this process counts as its user: if the mask lets that group write, it has only one member.
#[cfg(unix)]
fn others_write(about: &std::fs::Metadata, above: bool) -> bool {
    use std::os::unix::fs::MetadataExt;

    let mode = about.mode();
    if above {
        let sticky = mode & 0o1000 != 0;
        let group = mode & 0o020 != 0 && about.gid() != user::getegid();
        return !sticky && (mode & 0o002 != 0 || group);
    }
    mode & 0o022 != 0
}

/// True if only this user, or the system's, can have written the contents of a file.
#[cfg(unix)]
pub(super) fn file(file: &File) -> bool {
    use std::os::unix::fs::MetadataExt;

    file.metadata().is_ok_and(|about| about.is_file() && ours(about.uid()) && about.mode() & 0o022 == 0)
}

/// True for the effective user of this process, and the system's.
#[cfg(unix)]
fn ours(user: u32) -> bool {
    user == 0 || user == user::geteuid()
}

/// The C library's functions for the user of this process. They cannot fail, and the numbers have
/// 32 bits on every system that Rust supports.
#[cfg(unix)]
mod user {
    unsafe extern "C" {
        pub(super) safe fn geteuid() -> u32;
        pub(super) safe fn getegid() -> u32;
    }
}

/// Access control lists are not read. In a user's own folders they let no other user write.
#[cfg(not(unix))]
pub(super) fn folder(_: &Path) -> Result<(), String> {
    Ok(())
}

/// Same as for folders.
#[cfg(not(unix))]
pub(super) fn file(_: &File) -> bool {
    true
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn others_are_neither_this_user_nor_the_system() {
        let this = user::geteuid();
        assert!(ours(this) && ours(0) && !ours(this + 1) && !ours(u32::MAX));
    }
}
