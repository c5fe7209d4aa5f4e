//! Checks that machine code is complete.
//!
//! The driver reads as far as an image's tables say, even beyond its end. So before the driver
//! loads an image from a file, all data named in its tables must be inside. This does not make the
//! code itself trustworthy: write access to the entries of a [cache](super::cache) decides which
//! code runs.

struct Elf<'a> {
    image: &'a [u8],
    sections: Vec<Section>,
}

struct Section {
    name: u32,
    kind: u32,
    offset: u64,
    size: u64,
    link: u32,
    info: u32,
    entry: u64,
}

const NONE: u32 = 0;
const SYMBOLS: u32 = 2;
const STRINGS: u32 = 3;
const RELOCATIONS_WITH_ADDENDS: u32 = 4;
/// Memory that exists only at run time: of C, and NVIDIA's global, local and shared memory.
const NOT_IN_FILE: [u32; 5] = [8, 0x7000_0007, 0x7000_0009, 0x7000_000a, 0x7000_0015];
const RELOCATIONS: u32 = 9;
const DYNAMIC_SYMBOLS: u32 = 11;
const ATTRIBUTES: u32 = 0x7000_0000;

/// Section numbers from here on have special meanings.
const RESERVED: u16 = 0xff00;

/// True for machine code whose tables, sections, segments, names, symbols, relocations and
/// attributes are all inside.
pub(super) fn is_whole(image: &[u8]) -> bool {
    Elf::read(image).is_some_and(|elf| elf.sections.iter().all(|section| elf.has(section).is_some()))
}

impl<'a> Elf<'a> {
    /// Reads the headers of 64-bit machine code whose segments are inside; otherwise `None`.
    fn read(image: &'a [u8]) -> Option<Self> {
        let is_machine_code = image.starts_with(b"\x7fELF\x02\x01") && u16_at(image, 18)? == 190;
        (is_machine_code && u16_at(image, 52)? >= 64).then_some(())?;
        for segment in table(image, u64_at(image, 32)?, u16_at(image, 54)?, u16_at(image, 56)?, 56)? {
            part(image, u64_at(segment, 8)?, u64_at(segment, 32)?)?;
        }
        let headers = table(image, u64_at(image, 40)?, u16_at(image, 58)?, u16_at(image, 60)?, 64)?;
        let sections = headers.map(Section::read).collect::<Option<Vec<_>>>()?;
        let elf = Self { image, sections };
        let names = elf.strings(u32::from(u16_at(image, 62)?))?;
        let named = elf.sections.iter().all(|section| u64::from(section.name) < names.size);
        named.then_some(elf)
    }

    /// The bytes of a section; none if it is not in the file.
    fn bytes(&self, section: &Section) -> Option<&'a [u8]> {
        if section.kind == NONE || NOT_IN_FILE.contains(&section.kind) {
            return Some(&[]);
        }
        part(self.image, section.offset, section.size)
    }

    fn section(&self, number: u32) -> Option<&Section> {
        self.sections.get(usize::try_from(number).ok()?)
    }

    fn strings(&self, number: u32) -> Option<&Section> {
        self.section(number).filter(|section| section.kind == STRINGS)
    }

    /// Checks that a section is in the file, and its references to other sections.
    fn has(&self, section: &Section) -> Option<()> {
        let bytes = self.bytes(section)?;
        self.section(section.link)?;
        match section.kind {
            STRINGS => bytes.last().is_none_or(|last| *last == 0).then_some(()),
            SYMBOLS | DYNAMIC_SYMBOLS => self.has_symbols(section, bytes),
            RELOCATIONS => self.has_relocations(section, bytes, 16),
            RELOCATIONS_WITH_ADDENDS => self.has_relocations(section, bytes, 24),
            ATTRIBUTES => has_attributes(bytes),
            _ => Some(()),
        }
    }

    fn has_symbols(&self, section: &Section, bytes: &[u8]) -> Option<()> {
        let names = self.strings(section.link)?.size;
        for symbol in entries(section, bytes, 24)? {
            let (name, of) = (u32_at(symbol, 0)?, u16_at(symbol, 6)?);
            let known = of >= RESERVED || usize::from(of) < self.sections.len();
            (known && (name == 0 || u64::from(name) < names)).then_some(())?;
        }
        Some(())
    }

    fn has_relocations(&self, section: &Section, bytes: &[u8], size: u64) -> Option<()> {
        // The number of the symbol table is unreliable (the compiler of CUDA 12.0 names another
        // section), but there is only one.
        let symbols = self.sections.iter().filter(|other| matches!(other.kind, SYMBOLS | DYNAMIC_SYMBOLS));
        let count = symbols.map(|symbols| symbols.size / 24).max()?;
        let changed = self.section(section.info)?;
        for relocation in entries(section, bytes, size)? {
            let (place, symbol) = (u64_at(relocation, 0)?, u64_at(relocation, 8)? >> 32);
            (symbol < count && place < changed.size).then_some(())?;
        }
        Some(())
    }
}

impl Section {
    fn read(header: &[u8]) -> Option<Self> {
        Some(Self {
            name: u32_at(header, 0)?,
            kind: u32_at(header, 4)?,
            offset: u64_at(header, 24)?,
            size: u64_at(header, 32)?,
            link: u32_at(header, 40)?,
            info: u32_at(header, 44)?,
            entry: u64_at(header, 56)?,
        })
    }
}

/// Attributes follow each other: a form, a number, and two bytes with the value or its length.
fn has_attributes(mut bytes: &[u8]) -> Option<()> {
    while !bytes.is_empty() {
        let value = if *bytes.first()? == 4 { usize::from(u16_at(bytes, 2)?) } else { 0 };
        bytes = bytes.get(4 + value..)?;
    }
    Some(())
}

/// The entries of a section with fixed-size entries.
fn entries<'a>(section: &Section, bytes: &'a [u8], size: u64) -> Option<std::slice::ChunksExact<'a, u8>> {
    let all = bytes.chunks_exact(usize::try_from(size).ok()?);
    (section.entry == size && all.remainder().is_empty()).then_some(all)
}

/// The entries of a table of the header, of at least `least` bytes each.
fn table(
    image: &[u8],
    offset: u64,
    size: u16,
    count: u16,
    least: u16,
) -> Option<std::slice::ChunksExact<'_, u8>> {
    if count == 0 {
        return Some([].chunks_exact(1));
    }
    let bytes = part(image, offset, u64::from(size) * u64::from(count))?;
    (size >= least).then(|| bytes.chunks_exact(usize::from(size)))
}

fn part(bytes: &[u8], offset: u64, size: u64) -> Option<&[u8]> {
    let start = usize::try_from(offset).ok()?;
    bytes.get(start..start.checked_add(usize::try_from(size).ok()?)?)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().copied().map(u16::from_le_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().copied().map(u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().copied().map(u64::from_le_bytes)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    const NAMES: &[u8] = b"\0k\0";
    const SECTIONS: usize = 7;

    fn section(kind: u32, place: std::ops::Range<usize>, link: u32, info: u32, entry: u64) -> [u8; 64] {
        let mut header = [0; 64];
        header[0..4].copy_from_slice(&1u32.to_le_bytes());
        header[4..8].copy_from_slice(&kind.to_le_bytes());
        header[24..32].copy_from_slice(&(place.start as u64).to_le_bytes());
        header[32..40].copy_from_slice(&(place.len() as u64).to_le_bytes());
        header[40..44].copy_from_slice(&link.to_le_bytes());
        header[44..48].copy_from_slice(&info.to_le_bytes());
        header[56..64].copy_from_slice(&entry.to_le_bytes());
        header
    }

    /// Machine code with a section of each kind, and the section headers last.
    pub(crate) fn image() -> Vec<u8> {
        let mut image = vec![0; 64];
        let mut add = |bytes: &[u8]| {
            let start = image.len();
            image.extend_from_slice(bytes);
            start..image.len()
        };
        let names = add(NAMES);
        let mut symbol = [0u8; 48];
        (symbol[24], symbol[30]) = (1, 3);
        let (symbols, text) = (add(&symbol), add(&[7; 16]));
        let mut relocation = [0u8; 24];
        (relocation[0], relocation[12]) = (8, 1);
        let (relocations, attributes) = (add(&relocation), add(&[4, 1, 2, 0, 9, 9, 3, 1, 0, 0]));
        let mut segment = [0u8; 56];
        segment[8..16].copy_from_slice(&(text.start as u64).to_le_bytes());
        segment[32] = 16;
        let segments = add(&segment);
        let headers = [
            section(NONE, 0..0, 0, 0, 0),
            section(STRINGS, names, 0, 0, 0),
            section(SYMBOLS, symbols, 1, 0, 24),
            section(1, text, 0, 0, 0),
            section(RELOCATIONS_WITH_ADDENDS, relocations, 2, 3, 24),
            section(ATTRIBUTES, attributes, 2, 0, 0),
            section(NOT_IN_FILE[3], 0..1 << 20, 0, 3, 0),
        ];
        let sections = add(headers.as_flattened());
        image[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
        image[18] = 190;
        image[32..40].copy_from_slice(&(segments.start as u64).to_le_bytes());
        image[40..48].copy_from_slice(&(sections.start as u64).to_le_bytes());
        (image[52], image[54], image[56], image[58], image[60], image[62]) =
            (64, 56, 1, 64, SECTIONS as u8, 1);
        image
    }

    /// The image with a number of eight bytes replaced.
    fn with(at: usize, number: u64, size: usize) -> Vec<u8> {
        let mut image = image();
        image[at..at + size].copy_from_slice(&number.to_le_bytes()[..size]);
        image
    }

    #[test]
    fn what_a_table_names_beyond_the_end_is_seen() {
        let whole = image();
        assert!(is_whole(&whole));
        assert!((0..whole.len()).all(|len| !is_whole(&whole[..len])), "a cut");
        let headers = whole.len() - 64 * SECTIONS;
        let header = |number: usize, field: usize| headers + 64 * number + field;
        let (symbol, relocation, segment) = (68 + 24, 68 + 48 + 16, headers - 56);
        for (at, number, size) in [
            (32, u64::MAX, 8),
            (40, u64::MAX - 8, 8),
            (40, 1 << 40, 8),
            (54, 8, 2),
            (56, 0xffff, 2),
            (58, 63, 2),
            (60, SECTIONS as u64 + 1, 2),
            (62, 3, 2),
            (62, 0xffff, 2),
            (segment + 8, 1 << 33, 8),
            (segment + 32, u64::MAX, 8),
            (header(3, 24), u64::MAX, 8),
            (header(3, 32), 1 << 20, 8),
            (header(3, 0), 4, 4),
            (header(3, 40), SECTIONS as u64, 4),
            (header(1, 32), 2, 8),
            (header(2, 40), 3, 4),
            (header(2, 56), 16, 8),
            (header(4, 44), 99, 4),
            (symbol, 4, 4),
            (symbol + 6, SECTIONS as u64, 2),
            (relocation, 16, 8),
            (relocation + 12, 2, 4),
            (relocation + 24 + 2, 200, 2),
        ] {
            assert!(!is_whole(&with(at, number, size)), "{number:#x} at {at}");
        }
        assert!(is_whole(&with(header(6, 32), 1 << 40, 8)), "what is there at run time alone");
    }

    #[test]
    fn any_bytes_are_looked_at_without_a_panic() {
        let whole = image();
        for at in 0..whole.len() {
            for value in [0, 1, 7, 0x7f, 0x80, 0xff] {
                let mut changed = whole.clone();
                changed[at] = value;
                let _ = is_whole(&changed);
            }
        }
    }
}
