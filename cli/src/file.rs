//! Opens files from the command line.

use std::fs::{File, FileType, Metadata};
use std::io;
use std::path::Path;

/// Maximum size of a file in bytes: 64 GiB, several times the largest libraries.
const MOST: u64 = 64 << 30;

/// Opens a regular file and returns it with its length. Other files are refused, because they could
/// block, be endless, or have side effects when opened. Files of `/proc`, which are made while they
/// are read, have length 0.
///
/// # Errors
/// Errors of the system; [`io::ErrorKind::InvalidInput`], with the reason, for a refused file.
pub(crate) fn open(path: &Path) -> io::Result<(File, u64)> {
    check(&path.metadata()?)?;
    let file = File::open(path)?;
    // The path may refer to another file by now.
    let length = check(&file.metadata()?)?;
    Ok((file, length))
}

fn check(about: &Metadata) -> io::Result<u64> {
    let refused = |why| Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    match (about.is_file(), about.len()) {
        (false, _) => refused(format!("it is {}, and only regular files are read", kind(about.file_type()))),
        (true, 0) => refused("it is empty".to_owned()),
        (true, length) if length > MOST => {
            refused(format!("it has {length} bytes, and files of up to {} GiB are read", MOST >> 30))
        }
        (true, length) => Ok(length),
    }
}

fn kind(what: FileType) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if what.is_fifo() {
            return "a pipe";
        }
        if what.is_socket() {
            return "a socket";
        }
        if what.is_char_device() || what.is_block_device() {
            return "a device";
        }
    }
    if what.is_dir() { "a folder" } else { "no file" }
}
