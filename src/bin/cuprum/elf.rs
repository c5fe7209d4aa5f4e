//! ELF files, as far as it takes to say what a program or library needs: little-endian files of 64 bits.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// The machine number of NVIDIA's GPUs.
pub(crate) const CUDA: u16 = 190;

/// The most bytes of one table that are read, against files that claim anything.
const MOST: u64 = 256 << 20;

/// An ELF file's parts that say what it needs.
#[derive(Debug)]
pub(crate) struct Elf {
    pub(crate) machine: u16,
    /// The program that loads it; `None` for a library, and for a program that is linked statically.
    pub(crate) interpreter: Option<String>,
    /// True if it is linked with shared libraries, or is one.
    pub(crate) is_dynamic: bool,
    /// Libraries that it asks for by name.
    pub(crate) needed: Vec<String>,
    /// Folders in which it has those searched.
    pub(crate) run_path: Option<String>,
    /// Symbols that other libraries are to define.
    pub(crate) imports: Vec<String>,
    pub(crate) sections: Vec<Section>,
    file: File,
}

/// A section of a file.
#[derive(Debug, Clone)]
pub(crate) struct Section {
    pub(crate) name: String,
    kind: u32,
    offset: u64,
    pub(crate) size: u64,
    link: u32,
}

/// Names of the constants of the format.
mod constant {
    pub(super) const LOAD: u32 = 1;
    pub(super) const DYNAMIC: u32 = 2;
    pub(super) const INTERPRETER: u32 = 3;
    pub(super) const DYNAMIC_SYMBOLS: u32 = 11;
    pub(super) const NO_BITS: u32 = 8;
    pub(super) const NEEDED: u64 = 1;
    pub(super) const STRINGS: u64 = 5;
    pub(super) const STRINGS_SIZE: u64 = 10;
    pub(super) const R_PATH: u64 = 15;
    pub(super) const RUN_PATH: u64 = 29;
}

/// A part of the file that is loaded: where, from where, how much.
struct Segment {
    kind: u32,
    offset: u64,
    address: u64,
    size: u64,
}

impl Elf {
    /// True if a file begins like one.
    pub(crate) fn is(bytes: &[u8]) -> bool {
        bytes.starts_with(b"\x7fELF")
    }

    /// Reads a file; `None` if it is no ELF file of the kind that is known here.
    pub(crate) fn open(path: &Path) -> io::Result<Option<Self>> {
        let mut file = File::open(path)?;
        let head = read_at(&mut file, 0, 64)?;
        // 64 bits, little-endian.
        if !Self::is(&head) || head.get(4..6) != Some(&[2, 1]) || head.len() < 64 {
            return Ok(None);
        }
        let segments = segments(&mut file, &head)?;
        let mut elf = Self {
            machine: u16_at(&head, 18),
            interpreter: None,
            is_dynamic: segments.iter().any(|segment| segment.kind == constant::DYNAMIC),
            needed: Vec::new(),
            run_path: None,
            imports: Vec::new(),
            sections: sections(&mut file, &head)?,
            file,
        };
        if let Some(segment) = segments.iter().find(|segment| segment.kind == constant::INTERPRETER) {
            let text = read_at(&mut elf.file, segment.offset, segment.size)?;
            elf.interpreter = Some(text_at(&text, 0));
        }
        elf.read_dynamic(&segments)?;
        elf.read_imports()?;
        Ok(Some(elf))
    }

    fn read_dynamic(&mut self, segments: &[Segment]) -> io::Result<()> {
        let Some(dynamic) = segments.iter().find(|segment| segment.kind == constant::DYNAMIC) else {
            return Ok(());
        };
        let bytes = read_at(&mut self.file, dynamic.offset, dynamic.size)?;
        let entries: Vec<_> =
            bytes.chunks_exact(16).map(|entry| (u64_at(entry, 0), u64_at(entry, 8))).collect();
        let value = |tag| entries.iter().find(|entry| entry.0 == tag).map(|entry| entry.1);
        let (Some(address), Some(size)) = (value(constant::STRINGS), value(constant::STRINGS_SIZE)) else {
            return Ok(());
        };
        let loaded = segments.iter().find(|segment| {
            segment.kind == constant::LOAD
                && (segment.address..segment.address + segment.size).contains(&address)
        });
        let Some(loaded) = loaded else { return Ok(()) };
        let strings = read_at(&mut self.file, loaded.offset + (address - loaded.address), size)?;
        let needed = entries.iter().filter(|entry| entry.0 == constant::NEEDED);
        self.needed = needed.map(|entry| text_at(&strings, entry.1)).collect();
        let run_path = value(constant::RUN_PATH).or_else(|| value(constant::R_PATH));
        self.run_path = run_path.map(|at| text_at(&strings, at));
        Ok(())
    }

    fn read_imports(&mut self) -> io::Result<()> {
        let symbols = self.sections.iter().find(|section| section.kind == constant::DYNAMIC_SYMBOLS).cloned();
        let Some(symbols) = symbols else { return Ok(()) };
        let Some(strings) = self.sections.get(symbols.link as usize).cloned() else { return Ok(()) };
        let strings = read_at(&mut self.file, strings.offset, strings.size)?;
        let symbols = read_at(&mut self.file, symbols.offset, symbols.size)?;
        // Of 24 bytes: the name first, and the section that defines it, 0 for none, at 6.
        let undefined = symbols.chunks_exact(24).filter(|symbol| u16_at(symbol, 6) == 0);
        let names = undefined.map(|symbol| text_at(&strings, u32_at(symbol, 0).into()));
        self.imports = names.filter(|name| !name.is_empty()).collect();
        Ok(())
    }

    /// The section of a name.
    pub(crate) fn section(&self, name: &str) -> Option<&Section> {
        self.sections.iter().find(|section| section.name == name)
    }

    /// Some bytes of a section; fewer if it has fewer.
    pub(crate) fn bytes(&mut self, section: &Section, from: u64, length: u64) -> io::Result<Vec<u8>> {
        if section.kind == constant::NO_BITS {
            return Ok(Vec::new());
        }
        let length = length.min(section.size.saturating_sub(from));
        read_at(&mut self.file, section.offset.saturating_add(from), length)
    }

    /// True if its constant data has a text.
    pub(crate) fn mentions(&mut self, text: &str) -> io::Result<bool> {
        const STEP: u64 = 1 << 20;
        let Some(section) = self.section(".rodata").cloned() else { return Ok(false) };
        let mut at = 0;
        while at < section.size {
            // What lies across the end of a step is found in the next, which begins before it.
            let bytes = self.bytes(&section, at, STEP + text.len() as u64)?;
            if bytes.windows(text.len()).any(|window| window == text.as_bytes()) {
                return Ok(true);
            }
            at += STEP;
        }
        Ok(false)
    }
}

fn segments(file: &mut File, head: &[u8]) -> io::Result<Vec<Segment>> {
    let (size, count) = (u16_at(head, 54), u16_at(head, 56));
    let table = read_at(file, u64_at(head, 32), u64::from(size) * u64::from(count))?;
    let entries = table.chunks_exact(usize::from(size).max(1)).filter(|entry| entry.len() >= 56);
    let segments = entries.map(|entry| Segment {
        kind: u32_at(entry, 0),
        offset: u64_at(entry, 8),
        address: u64_at(entry, 16),
        size: u64_at(entry, 32),
    });
    Ok(segments.filter(|segment| segment.address.checked_add(segment.size).is_some()).collect())
}

fn sections(file: &mut File, head: &[u8]) -> io::Result<Vec<Section>> {
    let (size, count, names) = (u16_at(head, 58), u16_at(head, 60), u16_at(head, 62));
    let table = read_at(file, u64_at(head, 40), u64::from(size) * u64::from(count))?;
    let entries: Vec<_> =
        table.chunks_exact(usize::from(size).max(1)).filter(|entry| entry.len() >= 64).collect();
    let strings = match entries.get(usize::from(names)) {
        Some(entry) => read_at(file, u64_at(entry, 24), u64_at(entry, 32))?,
        None => Vec::new(),
    };
    let sections = entries.iter().map(|entry| Section {
        name: text_at(&strings, u32_at(entry, 0).into()),
        kind: u32_at(entry, 4),
        offset: u64_at(entry, 24),
        size: u64_at(entry, 32),
        link: u32_at(entry, 40),
    });
    Ok(sections.collect())
}

/// Bytes of a file, as many as there are.
fn read_at(file: &mut File, offset: u64, length: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    file.take(length.min(MOST)).read_to_end(&mut bytes)?;
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

/// The text that begins at a place and ends before a NUL.
fn text_at(bytes: &[u8], at: u64) -> String {
    let from = usize::try_from(at).ok().and_then(|at| bytes.get(at..)).unwrap_or_default();
    let end = from.iter().position(|byte| *byte == 0).unwrap_or(from.len());
    String::from_utf8_lossy(&from[..end]).into_owned()
}
