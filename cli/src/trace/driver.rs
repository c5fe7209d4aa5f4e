//! Chooses the driver to which calls are forwarded.

use std::path::{Path, PathBuf};

use cuprum::sys::{FnId, Library};

pub(crate) fn at(path: &Path) -> Result<PathBuf, String> {
    std::fs::canonicalize(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// The file of the driver that programs on this machine get, found before it is replaced.
pub(crate) fn of_this_machine() -> Result<PathBuf, String> {
    let library = Library::open()
        .map_err(|error| format!("{error}\n  `--software` traces the program on the software device"))?;
    let address = library.address(FnId::cuInit).addr();
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let path = maps.lines().find_map(|line| file_of(line, address));
    path.ok_or_else(|| {
        format!("{} is loaded, and the system does not tell from which file", library.origin())
    })
}

/// The file of a line of `/proc/PROCESS/maps`, if it contains an address.
fn file_of(line: &str, address: usize) -> Option<PathBuf> {
    let (range, rest) = line.split_once(' ')?;
    let (start, end) = range.split_once('-')?;
    let number = |text| usize::from_str_radix(text, 16).ok();
    let path = &rest[rest.find('/')?..];
    (number(start)?..number(end)?).contains(&address).then(|| PathBuf::from(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_map_names_the_file_at_an_address() {
        let line =
            "7f00aa000000-7f00ab000000 r-xp 00000000 fe:00 1234     /usr/lib/my folder/libcuda.so.580.1";
        assert_eq!(file_of(line, 0x7f00_aa00_1234), Some("/usr/lib/my folder/libcuda.so.580.1".into()));
        assert_eq!(file_of(line, 0x7f00_ab00_0000), None);
        assert_eq!(file_of("7f00-7fff rw-p 00000000 00:00 0", 0x7f10), None);
    }
}
