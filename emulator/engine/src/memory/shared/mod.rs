//! Memory shared by processes: unnamed files, which end with the last process that uses them.
//!
//! * [`SharedFile`]: such a file, passed on by its descriptor.
//! * [`Arena`]: a file from which allocations take pieces, so that an allocation needs no
//!   descriptor.
//! * [`Board`]: a file of counters, which report the state of allocations and events to other
//!   processes.
//!
//! Linux only. Elsewhere nothing can be shared, and requests fail.

mod arena;
mod board;
mod os;

use std::sync::Arc;

pub(super) use arena::{Arena, Piece};
pub use board::EventSlot;
pub(super) use board::{Board, Slot};
use os::Descriptor;

/// The first word of each file. It distinguishes the driver's files from others.
const MAGIC: u64 = u64::from_le_bytes(*b"cuprum01");

/// Size of the header; the bytes follow it.
pub(super) const HEADER: u64 = 4096;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub(super) enum Purpose {
    Arena = 1,
    /// Shared state of allocations and events.
    Board,
    Physical,
    Pool,
    /// Memory of another API.
    External,
    Semaphore,
}

/// An unnamed file, which processes map.
#[derive(Debug)]
pub(super) struct SharedFile {
    descriptor: Descriptor,
    header: Header,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
struct Header {
    magic: u64,
    purpose: u64,
    bytes: u64,
    device: u64,
}

impl SharedFile {
    /// Creates a file of zeros; `None` if the system does not support it, or has no more of them.
    pub(super) fn create(purpose: Purpose, bytes: u64, device: u32) -> Option<Arc<Self>> {
        let header = Header { magic: MAGIC, purpose: purpose as u64, bytes, device: u64::from(device) };
        let descriptor = Descriptor::memory(bytes.checked_add(HEADER)?)?;
        let words = [header.magic, header.purpose, header.bytes, header.device];
        let start = words.map(u64::to_le_bytes);
        descriptor.write_start(start.as_flattened())?;
        Some(Arc::new(Self { descriptor, header }))
    }

    /// Opens this driver's file by a descriptor, which the caller keeps. Fails for another purpose.
    pub(super) fn adopt(descriptor: i32, purpose: Purpose) -> Option<Arc<Self>> {
        Self::check(Descriptor::duplicate(descriptor)?, purpose)
    }

    /// Opens a file of another process by its descriptor there.
    pub(super) fn of_process(process: u32, descriptor: i32, purpose: Purpose) -> Option<Arc<Self>> {
        Self::check(Descriptor::of_process(process, descriptor)?, purpose)
    }

    fn check(descriptor: Descriptor, purpose: Purpose) -> Option<Arc<Self>> {
        let mut start = [0; 32];
        descriptor.read_start(&mut start)?;
        let word = |index: usize| {
            let bytes = start.get(8 * index..8 * index + 8)?;
            Some(u64::from_le_bytes(bytes.try_into().ok()?))
        };
        let header = Header { magic: word(0)?, purpose: word(1)?, bytes: word(2)?, device: word(3)? };
        let is_ours = header.magic == MAGIC && header.purpose == purpose as u64;
        let is_whole = header.bytes.checked_add(HEADER)? <= descriptor.bytes()?;
        (is_ours && is_whole).then(|| Arc::new(Self { descriptor, header }))
    }

    /// Returns the number of bytes after its header.
    pub(super) fn bytes(&self) -> u64 {
        self.header.bytes
    }

    pub(super) fn device(&self) -> u32 {
        self.header.device as u32
    }

    /// Returns a descriptor for the client, which closes it.
    pub(super) fn give(&self) -> Option<i32> {
        self.descriptor.give()
    }

    /// Closes a descriptor that a client passed to the driver.
    pub(super) fn close(descriptor: i32) {
        Descriptor::close(descriptor);
    }

    pub(super) fn number(&self) -> i32 {
        self.descriptor.number()
    }

    /// Returns a number that identifies it among all files of the system.
    pub(super) fn identity(&self) -> Option<u64> {
        self.descriptor.identity()
    }

    /// Maps a range of its bytes after the header.
    pub(super) fn map(&self, offset: u64, bytes: u64) -> Option<Mapping> {
        let end = offset.checked_add(bytes)?;
        if bytes == 0 || end > self.header.bytes {
            return None;
        }
        let first = (HEADER + offset) / HEADER * HEADER;
        let inside = HEADER + offset - first;
        let len = usize::try_from(bytes.checked_add(inside)?).ok()?;
        let start = self.descriptor.map(first, len)?;
        Some(Mapping { start, len, inside: inside as usize })
    }

    /// Maps all its bytes at an address, in place of the pages there.
    ///
    /// # Safety
    ///
    /// The pages from `address` on are the caller's, and nothing refers to their bytes.
    pub(super) unsafe fn map_over(&self, address: u64, writable: bool) -> bool {
        let (Ok(at), Ok(len)) = (usize::try_from(address), usize::try_from(self.header.bytes)) else {
            return false;
        };
        // SAFETY: as the caller promises.
        unsafe { self.descriptor.map_over(HEADER, len, at, writable) }
    }

    /// Returns the memory of whole pages to the system; they read as zero then.
    fn forget(&self, offset: u64, bytes: u64) -> bool {
        self.descriptor.punch(HEADER + offset, bytes)
    }
}

/// Bytes of a file, mapped in this process until dropped.
#[derive(Debug)]
pub(super) struct Mapping {
    /// Start of the page that contains the first byte.
    start: *mut u8,
    len: usize,
    inside: usize,
}

// SAFETY: any thread may unmap the owned mapping. Accesses are by raw pointers and atomics.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    pub(super) fn pointer(&self) -> *mut u8 {
        self.start.wrapping_add(self.inside)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        os::unmap(self.start, self.len);
    }
}
