//! Who else could have written the code: files and folders of other users are not believed.

use std::fs::File;
use std::path::Path;

/// Checks that only this user, or the system's, can have put files into a folder, and can put others in its place; the
/// error says who else could. A folder that is not there yet is everybody's to make, and holds nothing.
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

/// True if others than the owner can change what is in a folder. Above the cache's own, it is enough if they cannot
/// change what is somebody else's, and the group that new files of this process get counts as its user: where the mask
/// lets that group write, it is a group of one.
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

/// True if only this user, or the system's, can have written what is in a file.
#[cfg(unix)]
pub(super) fn file(file: &File) -> bool {
    use std::os::unix::fs::MetadataExt;

    file.metadata().is_ok_and(|about| about.is_file() && ours(about.uid()) && about.mode() & 0o022 == 0)
}

/// True if a user is the one as whom this process acts, or the system's.
#[cfg(unix)]
fn ours(user: u32) -> bool {
    user == 0 || user == user::geteuid()
}

/// The C library's answers on who runs this process. They cannot fail, and the numbers have 32 bits on every system
/// that Rust runs on.
#[cfg(unix)]
mod user {
    unsafe extern "C" {
        pub(super) safe fn geteuid() -> u32;
        pub(super) safe fn getegid() -> u32;
    }
}

/// Here lists of rights say who may write, and those of a user's own folders let nobody else. They are not read.
#[cfg(not(unix))]
pub(super) fn folder(_: &Path) -> Result<(), String> {
    Ok(())
}

/// As for folders.
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
