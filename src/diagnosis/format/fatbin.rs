//! Containers with code for several architectures.

use super::bytes::{part, u16_at, u32_at, u64_at};
use super::{cubin, ptx};
use crate::diagnosis::part::{CodeKind, CodePart, ImageError, capability};

pub(in super::super) const FATBIN: [u8; 4] = 0xba55_ed50_u32.to_le_bytes();

/// Sizes in bytes of a container's header, and of the smallest entry, up to its flags.
const HEADER: usize = 16;
const ENTRY: usize = 48;
const COMPRESSED: u64 = 0x2000 | 0x8000;

/// The parts of consecutive containers, with zeros between them, without duplicates.
pub(in super::super) fn fatbins(mut bytes: &[u8]) -> Result<Vec<CodePart>, ImageError> {
    let mut parts: Vec<CodePart> = Vec::new();
    while bytes.starts_with(&FATBIN) {
        let (own, size) = (u16_at(bytes, 6).unwrap_or(0), u64_at(bytes, 8).unwrap_or(0));
        let entries = part(bytes, own.into(), size).filter(|_| usize::from(own) >= HEADER);
        let entries = entries.ok_or_else(|| {
            let whole = u64::from(own).saturating_add(size);
            ImageError::damaged(format!("a container claims {whole} bytes, and has {}", bytes.len()))
        })?;
        read_entries(entries, &mut parts)?;
        bytes = &bytes[usize::from(own) + entries.len()..];
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        bytes = &bytes[zeros..];
    }
    if bytes.is_empty() {
        return Ok(parts);
    }
    Err(ImageError::damaged(format!("{} bytes after a container are not one", bytes.len())))
}

fn read_entries(mut entries: &[u8], parts: &mut Vec<CodePart>) -> Result<(), ImageError> {
    while !entries.is_empty() {
        let (own, size) = (u32_at(entries, 4).unwrap_or(0) as usize, u64_at(entries, 8).unwrap_or(0));
        let body = part(entries, own as u64, size).filter(|_| own >= ENTRY);
        let body = body.ok_or_else(|| {
            ImageError::damaged(format!(
                "an entry of a container claims {size} bytes after its header of {own}, and has {}",
                entries.len()
            ))
        })?;
        let kind = match u16_at(entries, 0) {
            Some(1) => Some(CodeKind::Ptx),
            Some(2) => Some(CodeKind::Machine),
            // Code for linking, and unknown kinds.
            _ => None,
        };
        if let Some(kind) = kind {
            let part = read_entry(entries, body, kind)?;
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
        entries = &entries[own + body.len()..];
    }
    Ok(())
}

fn read_entry(header: &[u8], body: &[u8], kind: CodeKind) -> Result<CodePart, ImageError> {
    let number = u32_at(header, 28).unwrap_or(0);
    let version = u16_at(header, 26).zip(u16_at(header, 24)).map(|(major, minor)| format!("{major}.{minor}"));
    let mut part = CodePart::new(kind, capability(number));
    part.ptx_version = version.filter(|_| kind == CodeKind::Ptx);
    if u64_at(header, 40).unwrap_or(0) & COMPRESSED == 0 {
        let read = match kind {
            CodeKind::Ptx => ptx(body),
            CodeKind::Machine => cubin(body),
        };
        let wrong = |why: String| ImageError::Damaged(format!("in a container, {part}: {why}"));
        match read {
            Ok(read) => part.is_empty = read.is_empty,
            Err(ImageError::Damaged(why)) => return Err(wrong(why)),
            Err(ImageError::Unknown) => return Err(wrong("it is something else".to_owned())),
        }
    }
    Ok(part)
}
