//! Numbers of little-endian files.

pub(super) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().copied().map(u16::from_le_bytes)
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().copied().map(u32::from_le_bytes)
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().copied().map(u64::from_le_bytes)
}

/// The part of a file that a header names, or `None` if it exceeds the file.
pub(super) fn part(bytes: &[u8], offset: u64, size: u64) -> Option<&[u8]> {
    bytes.get(usize::try_from(offset).ok()?..)?.get(..usize::try_from(size).ok()?)
}
