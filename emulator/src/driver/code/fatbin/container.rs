//! Reads a container: its entries, and the PTX of the best one.

use super::{lz4, zstd};
use crate::driver::code::refused::Refused;
use cuprum_sys::CUresult;

/// Bytes read of the container's header.
pub(in crate::driver::code) const HEADER: usize = 16;

const HEADER_SIZE: usize = 6;

const FILES_SIZE: usize = 8;

mod entry {
    pub(super) const KIND: usize = 0;
    pub(in crate::driver::code) const HEADER_SIZE: usize = 4;
    pub(super) const PADDED_SIZE: usize = 8;
    pub(super) const COMPRESSED_SIZE: usize = 16;
    pub(super) const ARCHITECTURE: usize = 28;
    pub(crate) const FLAGS: usize = 40;
    pub(super) const UNCOMPRESSED_SIZE: usize = 56;
    /// Minimum header of an entry: up to its flags.
    pub(super) const LEAST_HEADER: usize = 48;
}

/// Maximum size of decompressed PTX: far above the output of compilers, far below a host's memory.
pub(in crate::driver::code) const MOST_TEXT: u64 = 256 << 20;

const KIND_PTX: u16 = 1;

const FLAG_LZ4: u64 = 0x2000;

const FLAG_ZSTD: u64 = 0x8000;

/// Returns the length of the whole container.
pub(in crate::driver::code) fn total_len(header: &[u8]) -> Option<usize> {
    let own = usize::from(u16_at(header, HEADER_SIZE)?);
    let files = usize::try_from(u64_at(header, FILES_SIZE)?).ok()?;
    own.checked_add(files).filter(|_| own >= HEADER)
}

/// Returns the PTX for the highest architecture that is not above `capability`.
pub(in crate::driver::code) fn ptx(container: &[u8], capability: u32) -> Result<String, Refused> {
    let mut lowest = None;
    let best = Entries::of_ptx(container)
        .inspect(|entry| lowest = lowest.min(Some(entry.architecture)).or(Some(entry.architecture)))
        .filter(|entry| entry.architecture <= capability)
        .max_by_key(|entry| entry.architecture);
    match (best, lowest) {
        (Some(entry), _) => entry.text(),
        (None, Some(lowest)) => Err(Refused::new(
            CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU,
            format!(
                "the fat binary has PTX for compute capability {0}.{1} and up, but the device has {2}.{3}; \
                 CUPRUM_EMULATOR_COMPUTE_CAPABILITY={0}.{1} (`--capability {0}.{1}`) makes it such a device",
                lowest / 10,
                lowest % 10,
                capability / 10,
                capability % 10
            ),
        )),
        (None, None) => Err(Refused::machine_code("the fat binary")),
    }
}

/// Returns all PTX in a container that can be read.
pub(in crate::driver::code) fn every_ptx(container: &[u8]) -> impl Iterator<Item = String> {
    Entries::of_ptx(container).filter_map(|entry| entry.text().ok())
}

#[derive(Debug, Clone, Copy)]
struct Entry<'a> {
    kind: u16,
    architecture: u32,
    flags: u64,
    payload: &'a [u8],
    uncompressed: u64,
}

impl Entry<'_> {
    fn text(&self) -> Result<String, Refused> {
        let broken = |why: &str| {
            Refused::new(CUresult::CUDA_ERROR_INVALID_IMAGE, format!("the PTX in the fat binary {why}"))
        };
        let compressed = self.flags & (FLAG_ZSTD | FLAG_LZ4) != 0;
        let claimed = if compressed { self.uncompressed } else { self.payload.len() as u64 };
        let Some(limit) = usize::try_from(claimed).ok().filter(|_| claimed <= MOST_TEXT) else {
            let log = format!(
                "the PTX in the fat binary is {claimed} bytes long; the software device takes up to {MOST_TEXT}"
            );
            return Err(Refused::new(CUresult::CUDA_ERROR_OUT_OF_MEMORY, log));
        };
        let bytes = if self.flags & FLAG_ZSTD != 0 {
            zstd::decompress(self.payload, limit)
        } else if self.flags & FLAG_LZ4 != 0 {
            lz4::decompress(self.payload, limit)
        } else {
            Some(self.payload.to_vec())
        };
        let bytes = bytes.ok_or_else(|| broken("cannot be decompressed"))?;
        let text = String::from_utf8(bytes).map_err(|_| broken("is not text"))?;
        Ok(text.trim_end_matches('\0').to_owned())
    }
}

struct Entries<'a> {
    rest: &'a [u8],
}

impl<'a> Entries<'a> {
    fn of_ptx(container: &'a [u8]) -> impl Iterator<Item = Entry<'a>> {
        let start = u16_at(container, HEADER_SIZE).map_or(HEADER, usize::from);
        let entries = Entries { rest: container.get(start..).unwrap_or_default() };
        entries.filter(|entry| entry.kind == KIND_PTX)
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = Entry<'a>;

    /// Returns the next entry; ends at the first that does not fit.
    fn next(&mut self) -> Option<Entry<'a>> {
        let header = self.rest;
        let own = u32_at(header, entry::HEADER_SIZE)? as usize;
        if own < entry::LEAST_HEADER {
            return None;
        }
        let padded = usize::try_from(u64_at(header, entry::PADDED_SIZE)?).ok()?;
        let body = header.get(own..)?.get(..padded)?;
        self.rest = &header[own + padded..];
        let compressed = u32_at(header, entry::COMPRESSED_SIZE)? as usize;
        let payload = match compressed {
            0 => body,
            len => body.get(..len)?,
        };
        Some(Entry {
            kind: u16_at(header, entry::KIND)?,
            architecture: u32_at(header, entry::ARCHITECTURE)?,
            flags: u64_at(header, entry::FLAGS)?,
            payload,
            uncompressed: u64_at(header, entry::UNCOMPRESSED_SIZE).unwrap_or(0),
        })
    }
}

fn bytes_at<const N: usize>(bytes: &[u8], offset: usize) -> Option<[u8; N]> {
    bytes.get(offset..)?.first_chunk().copied()
}

fn u16_at(bytes: &[u8], offset: usize) -> Option<u16> {
    bytes_at(bytes, offset).map(u16::from_le_bytes)
}

fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    bytes_at(bytes, offset).map(u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], offset: usize) -> Option<u64> {
    bytes_at(bytes, offset).map(u64::from_le_bytes)
}
