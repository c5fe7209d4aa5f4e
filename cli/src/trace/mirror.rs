//! A copy of the recording library with only the functions of one driver, because programs look up
//! the driver's functions with `dlsym`.

use std::collections::HashSet;
use std::fs;
use std::ops::Range;
use std::path::Path;

/// Sizes in bytes of a section header and a symbol.
const SECTION: usize = 64;
const SYMBOL: usize = 24;
const DYNAMIC_SYMBOLS: u32 = 11;

/// Writes a copy of `library` to `copy`, without the functions that `driver` does not export.
///
/// # Errors
/// Text about the invalid file.
pub(crate) fn write(library: &Path, driver: &Path, copy: &Path) -> Result<(), String> {
    let read = |path: &Path| fs::read(path).map_err(|error| format!("{}: {error}", path.display()));
    let strange = |path: &Path| format!("{} is no library of this kind of machine", path.display());
    let theirs = read(driver)?;
    let symbols = symbols(&theirs).ok_or_else(|| strange(driver))?;
    let names: HashSet<&[u8]> =
        symbols.iter().filter(|symbol| symbol.defined).map(|symbol| symbol.name).collect();
    let mut ours = read(library)?;
    let absent: Vec<Range<usize>> = self::symbols(&ours)
        .ok_or_else(|| strange(library))?
        .into_iter()
        .filter(|symbol| symbol.defined && symbol.name.starts_with(b"cu") && !names.contains(symbol.name))
        .map(|symbol| symbol.place)
        .collect();
    for place in absent {
        // Section and address of an undefined symbol, which is not found.
        ours[place][6..16].fill(0);
    }
    fs::write(copy, ours).map_err(|error| format!("{}: {error}", copy.display()))
}

struct Symbol<'a> {
    name: &'a [u8],
    defined: bool,
    place: Range<usize>,
}

/// The exported symbols of a 64-bit library; `None` for another file.
fn symbols(file: &[u8]) -> Option<Vec<Symbol<'_>>> {
    if file.get(..6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let start = number(file, 40, 8)?;
    let count = number(file, 60, 2)?;
    let section = |index: usize| file.get(start..)?.chunks_exact(SECTION).take(count).nth(index);
    let table = (0..count)
        .filter_map(section)
        .find(|header| number(header, 4, 4) == Some(DYNAMIC_SYMBOLS as usize))?;
    let texts = section(number(table, 40, 4)?)?;
    let bytes = |header: &[u8]| {
        let from = number(header, 24, 8)?;
        Some(from..from.checked_add(number(header, 32, 8)?)?)
    };
    let (places, texts) = (bytes(table)?, file.get(bytes(texts)?)?);
    let symbol = |(index, symbol): (usize, &[u8])| {
        let name = texts.get(number(symbol, 0, 4)?..)?.split(|&byte| byte == 0).next()?;
        let from = places.start + index * SYMBOL;
        Some(Symbol { name, defined: number(symbol, 6, 2)? != 0, place: from..from + SYMBOL })
    };
    Some(file.get(places.clone())?.chunks_exact(SYMBOL).enumerate().filter_map(symbol).collect())
}

fn number(bytes: &[u8], at: usize, count: usize) -> Option<usize> {
    let mut word = [0; 8];
    word.get_mut(..count)?.copy_from_slice(bytes.get(at..at.checked_add(count)?)?);
    usize::try_from(u64::from_le_bytes(word)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_library_has_no_symbols() {
        assert!(symbols(b"").is_none());
        assert!(symbols(b"\x7fELF\x02\x01").is_none());
        assert!(symbols(&[0x7f; 4096]).is_none());
        let mut cut =
            *b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0................................................";
        cut[40..48].fill(0xff);
        assert!(symbols(&cut).is_none());
    }
}
