//! Machine code: a 64-bit ELF file for machine 190, with its architecture in the flags.

use super::bytes::{part, u16_at, u32_at, u64_at};
use crate::diagnosis::part::{CodeKind, CodePart, ImageError, capability};

/// Sizes in bytes of the file's header, a segment's and a section's.
const HEADER: usize = 64;
const SEGMENT: u16 = 56;
const SECTION: u16 = 64;
/// Kinds of sections without bytes in the file.
const NOTHING: [u32; 2] = [0, 8];

/// Reads a cubin. All its tables, segments and sections must be within the slice.
pub(in super::super) fn cubin(bytes: &[u8]) -> Result<CodePart, ImageError> {
    let cut = || ImageError::damaged(format!("its ELF header is cut off after {} bytes", bytes.len()));
    let header = bytes.get(..HEADER).ok_or_else(cut)?;
    let (machine, flags) = (u16_at(header, 18).unwrap_or(0), u32_at(header, 48).unwrap_or(0));
    if header[4..6] != [2, 1] || machine != 190 {
        return Err(ImageError::Unknown);
    }
    check(bytes).map_err(ImageError::Damaged)?;
    // In revisions since 8, of CUDA 12.9 and newer, the architecture is one byte higher.
    let number = if header[8] >= 8 { flags >> 8 & 0xff } else { flags & 0xff };
    if number == 0 {
        return Err(ImageError::damaged("its ELF header names no architecture"));
    }
    Ok(CodePart::new(CodeKind::Machine, capability(number)))
}

fn check(bytes: &[u8]) -> Result<(), String> {
    let half = |at: usize| u16_at(bytes, at).unwrap_or(0);
    let table = |what: &str, offset: usize, [size, count]: [usize; 2], expected: u16| {
        let (offset, size, count) = (u64_at(bytes, offset).unwrap_or(0), half(size), half(count));
        if count > 0 && size != expected {
            return Err(format!("entries of its table of {what} have {size} bytes, and not {expected}"));
        }
        part(bytes, offset, u64::from(size) * u64::from(count)).ok_or_else(|| {
            format!(
                "its table of {what} is beyond its end: {count} entries at {offset} of {} bytes",
                bytes.len()
            )
        })
    };
    let segments = table("segments", 32, [54, 56], SEGMENT)?;
    let sections = table("sections", 40, [58, 60], SECTION)?;
    if sections.is_empty() {
        return Err("it has no sections".to_owned());
    }
    let places = segments.chunks_exact(SEGMENT.into()).map(|segment| ("segment", segment, 8, 32));
    let with_bytes = |section: &&[u8]| !NOTHING.contains(&u32_at(section, 4).unwrap_or(0));
    let sections = sections.chunks_exact(SECTION.into()).filter(with_bytes);
    for (what, entry, offset, size) in places.chain(sections.map(|section| ("section", section, 24, 32))) {
        let (offset, size) = (u64_at(entry, offset).unwrap_or(0), u64_at(entry, size).unwrap_or(0));
        if part(bytes, offset, size).is_none() {
            return Err(format!(
                "a {what} is beyond its end: {size} bytes at {offset} of {} bytes",
                bytes.len()
            ));
        }
    }
    Ok(())
}
