//! Reads the requirements of programs and libraries: 64-bit little-endian ELF files.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use crate::file;

pub(crate) const CUDA: u16 = 190;

/// Maximum size of a table in bytes, because a file can claim any size.
const MOST: u64 = 256 << 20;
/// Limits for the same reason: entries of the library table, and lengths of names.
const MOST_NEEDED: usize = 4096;
const LONGEST_PATH: usize = 4096;
const LONGEST_NAME: usize = 128;

/// The parts of an ELF file with its requirements.
#[derive(Debug)]
pub(crate) struct Elf {
    pub(crate) machine: u16,
    /// The program interpreter; `None` for a library, and for a statically linked program.
    pub(crate) interpreter: Option<String>,
    /// True if it is linked with shared libraries, or is one.
    pub(crate) is_dynamic: bool,
    /// Names of the libraries that it requires.
    pub(crate) needed: Vec<String>,
    /// Functions with the driver's prefix, `cu…`, that other libraries must define.
    pub(crate) imports: BTreeSet<String>,
    /// The first contradiction between its tables and its contents; `None` if the file is complete.
    pub(crate) damage: Option<String>,
    sections: Vec<Section>,
    file: File,
    length: u64,
}

#[derive(Debug, Clone)]
pub(crate) struct Section {
    pub(crate) name: String,
    kind: u32,
    offset: u64,
    pub(crate) size: u64,
    link: u32,
}

mod constant {
    pub(super) const LOAD: u32 = 1;
    pub(super) const DYNAMIC: u32 = 2;
    pub(super) const INTERPRETER: u32 = 3;
    pub(super) const DYNAMIC_SYMBOLS: u32 = 11;
    pub(super) const NO_BITS: u32 = 8;
    pub(super) const END: u64 = 0;
    pub(super) const NEEDED: u64 = 1;
    pub(super) const STRINGS: u64 = 5;
    pub(super) const STRINGS_SIZE: u64 = 10;
}

/// A loaded part of the file: its address, offset and size.
struct Segment {
    kind: u32,
    offset: u64,
    address: u64,
    size: u64,
}

impl Elf {
    pub(crate) fn is(bytes: &[u8]) -> bool {
        bytes.starts_with(b"\x7fELF")
    }

    /// Reads a file. Returns `None` if it is not a supported ELF file.
    pub(crate) fn open(path: &Path) -> io::Result<Option<Self>> {
        let (mut file, length) = file::open(path)?;
        let head = read_at(&mut file, 0, 64)?;
        // 64 bits, little-endian.
        if !Self::is(&head) || head.get(4..6) != Some(&[2, 1]) || head.len() < 64 {
            return Ok(None);
        }
        let mut elf = Self {
            machine: u16_at(&head, 18),
            interpreter: None,
            is_dynamic: false,
            needed: Vec::new(),
            imports: BTreeSet::new(),
            damage: None,
            sections: Vec::new(),
            file,
            length,
        };
        elf.read_sections(&head)?;
        elf.read_segments(&head)?;
        elf.read_imports()?;
        Ok(Some(elf))
    }

    fn damaged(&mut self, why: impl FnOnce() -> String) {
        if self.damage.is_none() {
            self.damage = Some(why());
        }
    }

    /// Reads a part of the file that its tables name. Records damage if it is incomplete.
    fn part(&mut self, what: &str, offset: u64, size: u64) -> io::Result<Vec<u8>> {
        let length = self.length;
        if offset.checked_add(size).is_none_or(|end| end > length) {
            self.damaged(|| {
                format!("its {what} is beyond its end: {size} bytes at {offset} of {length} bytes")
            });
            return Ok(Vec::new());
        }
        if size > MOST {
            self.damaged(|| format!("its {what} has {size} bytes, more than any that is known"));
            return Ok(Vec::new());
        }
        read_at(&mut self.file, offset, size)
    }

    fn table(&mut self, what: &str, head: &[u8], at: [usize; 3], expected: u16) -> io::Result<Vec<u8>> {
        let (offset, size, count) = (u64_at(head, at[0]), u16_at(head, at[1]), u16_at(head, at[2]));
        if count > 0 && size != expected {
            self.damaged(|| format!("entries of its {what} have {size} bytes, and not {expected}"));
            return Ok(Vec::new());
        }
        self.part(what, offset, u64::from(size) * u64::from(count))
    }

    fn read_segments(&mut self, head: &[u8]) -> io::Result<()> {
        let table = self.table("table of segments", head, [32, 54, 56], 56)?;
        if table.is_empty() && self.sections.is_empty() {
            self.damaged(|| "it has neither segments nor sections".to_owned());
        }
        let segments: Vec<_> = table
            .chunks_exact(56)
            .map(|entry| Segment {
                kind: u32_at(entry, 0),
                offset: u64_at(entry, 8),
                address: u64_at(entry, 16),
                size: u64_at(entry, 32),
            })
            .collect();
        let length = self.length;
        for Segment { kind, offset, address, size } in &segments {
            let ends = [offset.checked_add(*size).filter(|end| *end <= length), address.checked_add(*size)];
            if ends.contains(&None) {
                self.damaged(|| {
                    format!(
                        "a segment of kind {kind} is beyond its end: {size} bytes at {offset} of {length} bytes"
                    )
                });
            }
        }
        if let Some(segment) = segments.iter().find(|segment| segment.kind == constant::INTERPRETER) {
            let text = self.part("interpreter", segment.offset, segment.size)?;
            self.interpreter = Some(text_at(&text, 0, LONGEST_PATH).unwrap_or_default());
        }
        self.is_dynamic = segments.iter().any(|segment| segment.kind == constant::DYNAMIC);
        self.read_dynamic(&segments)
    }

    fn read_dynamic(&mut self, segments: &[Segment]) -> io::Result<()> {
        let Some(dynamic) = segments.iter().find(|segment| segment.kind == constant::DYNAMIC) else {
            return Ok(());
        };
        let bytes = self.part("dynamic segment", dynamic.offset, dynamic.size)?;
        let entries: Vec<_> = bytes
            .chunks_exact(16)
            .map(|entry| (u64_at(entry, 0), u64_at(entry, 8)))
            .take_while(|entry| entry.0 != constant::END)
            .collect();
        let value = |tag| entries.iter().find(|entry| entry.0 == tag).map(|entry| entry.1);
        let (Some(address), Some(size)) = (value(constant::STRINGS), value(constant::STRINGS_SIZE)) else {
            return Ok(());
        };
        let inside = |segment: &&Segment| {
            let at = address.checked_sub(segment.address).filter(|at| *at < segment.size);
            segment.kind == constant::LOAD && at.is_some()
        };
        let place = segments
            .iter()
            .find(inside)
            .and_then(|loaded| loaded.offset.checked_add(address - loaded.address));
        let Some(place) = place else {
            self.damaged(|| "names of its dynamic segment are in no segment that is loaded".to_owned());
            return Ok(());
        };
        let strings = self.part("dynamic names", place, size)?;
        let needed = entries.iter().filter(|entry| entry.0 == constant::NEEDED).take(MOST_NEEDED);
        for (_, at) in needed {
            match text_at(&strings, *at, LONGEST_PATH) {
                Some(name) => self.needed.push(name),
                None => self.damaged(|| "a library that it needs has no name".to_owned()),
            }
        }
        Ok(())
    }

    fn read_sections(&mut self, head: &[u8]) -> io::Result<()> {
        let table = self.table("table of sections", head, [40, 58, 60], 64)?;
        let entries: Vec<_> = table.chunks_exact(64).collect();
        let names = match entries.get(usize::from(u16_at(head, 62))) {
            Some(entry) => self.part("section with names", u64_at(entry, 24), u64_at(entry, 32))?,
            None => Vec::new(),
        };
        for entry in entries {
            let section = Section {
                // A section without a name here is never looked up.
                name: text_at(&names, u32_at(entry, 0).into(), LONGEST_NAME).unwrap_or_default(),
                kind: u32_at(entry, 4),
                offset: u64_at(entry, 24),
                size: u64_at(entry, 32),
                link: u32_at(entry, 40),
            };
            let (length, offset, size) = (self.length, section.offset, section.size);
            let is_there = offset.checked_add(size).is_some_and(|end| end <= length);
            if !is_there && ![0, constant::NO_BITS].contains(&section.kind) {
                self.damaged(|| {
                    format!(
                        "a section is beyond its end: `{}`, {size} bytes at {offset} of {length} bytes",
                        section.name
                    )
                });
            }
            self.sections.push(section);
        }
        Ok(())
    }

    fn read_imports(&mut self) -> io::Result<()> {
        let symbols = self.sections.iter().find(|section| section.kind == constant::DYNAMIC_SYMBOLS).cloned();
        let Some(symbols) = symbols else { return Ok(()) };
        let Some(strings) = self.sections.get(symbols.link as usize).cloned() else {
            self.damaged(|| "names of its dynamic symbols are in no section".to_owned());
            return Ok(());
        };
        let strings = self.part("section with names of symbols", strings.offset, strings.size)?;
        let symbols = self.part("section with dynamic symbols", symbols.offset, symbols.size)?;
        // Entries of 24 bytes: the name first, and the defining section at 6, 0 for none.
        for symbol in symbols.chunks_exact(24).filter(|symbol| u16_at(symbol, 6) == 0) {
            let at = u32_at(symbol, 0);
            let is_ours = strings.get(at as usize..).is_some_and(|name| name.starts_with(b"cu"));
            self.imports.extend(is_ours.then(|| text_at(&strings, at.into(), LONGEST_NAME)).flatten());
        }
        Ok(())
    }

    pub(crate) fn section(&self, name: &str) -> Option<&Section> {
        self.sections.iter().find(|section| section.name == name)
    }

    /// Returns all bytes of a section, or `None` if it has more than `most`.
    pub(crate) fn bytes(&mut self, section: &Section, most: u64) -> io::Result<Option<Vec<u8>>> {
        match section.size {
            _ if section.kind == constant::NO_BITS => Ok(Some(Vec::new())),
            size if size > most => Ok(None),
            size => read_at(&mut self.file, section.offset, size).map(Some),
        }
    }

    pub(crate) fn mentions(&mut self, text: &str) -> io::Result<bool> {
        const STEP: u64 = 1 << 20;
        let Some(section) = self.section(".rodata").cloned() else { return Ok(false) };
        // Ends at the file's end, regardless of its table.
        let end = section.offset.saturating_add(section.size).min(self.length);
        let mut at = section.offset;
        while at < end {
            // A text across the end of a step is found in the next step, which overlaps.
            let bytes = read_at(&mut self.file, at, (STEP + text.len() as u64).min(end - at))?;
            if bytes.windows(text.len()).any(|window| window == text.as_bytes()) {
                return Ok(true);
            }
            at += STEP;
        }
        Ok(false)
    }
}

fn read_at(file: &mut File, offset: u64, length: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

pub(crate) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).and_then(|part| part.try_into().ok()).map_or(0, u16::from_le_bytes)
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|part| part.try_into().ok()).map_or(0, u32::from_le_bytes)
}

pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 8).and_then(|part| part.try_into().ok()).map_or(0, u64::from_le_bytes)
}

/// The text from a place up to a NUL, if it has at most `most` bytes.
fn text_at(bytes: &[u8], at: u64, most: usize) -> Option<String> {
    let from = bytes.get(usize::try_from(at).ok()?..)?;
    let end = from.iter().take(most + 1).position(|byte| *byte == 0)?;
    Some(String::from_utf8_lossy(&from[..end]).into_owned())
}
