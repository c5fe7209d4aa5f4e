//! Bytes that several processes have: files without a name, which are gone with the last process that has them.
//!
//! * [`SharedFile`]: such a file, which travels by its descriptor.
//! * [`Arena`]: a file of which allocations take pieces, so that an allocation costs no descriptor.
//! * [`Board`]: a file of counters, by which processes know what became of an allocation or an event.
//!
//! Linux only. Elsewhere nothing is shared, and whoever asks is told so.

mod arena;
mod board;
mod os;

use std::sync::Arc;

pub(super) use arena::{Arena, Piece};
pub use board::EventSlot;
pub(super) use board::{Board, Slot};
use os::Descriptor;

/// The first word of each file, by which a file of the driver is told from others.
const MAGIC: u64 = u64::from_le_bytes(*b"cuprum01");

/// What a file starts with; its bytes follow.
pub(super) const HEADER: u64 = 4096;

/// What a file is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub(super) enum Purpose {
    /// Allocations of a process.
    Arena = 1,
    /// What processes tell each other about allocations and events.
    Board,
    /// Physical memory.
    Physical,
    /// A pool.
    Pool,
    /// Memory of another API.
    External,
    /// A semaphore of another API.
    Semaphore,
}

/// A file without a name, which processes map.
#[derive(Debug)]
pub(super) struct SharedFile {
    descriptor: Descriptor,
    header: Header,
}

/// The first words of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
struct Header {
    magic: u64,
    purpose: u64,
    /// The bytes behind the header.
    bytes: u64,
    device: u64,
}

impl SharedFile {
    /// Makes a file of zeros. `None` where there are none, or no more of them.
    pub(super) fn create(purpose: Purpose, bytes: u64, device: u32) -> Option<Arc<Self>> {
        let header = Header { magic: MAGIC, purpose: purpose as u64, bytes, device: u64::from(device) };
        let descriptor = Descriptor::memory(bytes.checked_add(HEADER)?)?;
        let words = [header.magic, header.purpose, header.bytes, header.device];
        let start = words.map(u64::to_le_bytes);
        descriptor.write_start(start.as_flattened())?;
        Some(Arc::new(Self { descriptor, header }))
    }

    /// Takes a file of this driver for a purpose, by a descriptor that stays the caller's.
    pub(super) fn adopt(descriptor: i32, purpose: Purpose) -> Option<Arc<Self>> {
        Self::check(Descriptor::duplicate(descriptor)?, purpose)
    }

    /// Opens a file of another process by the number of its descriptor there.
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

    /// The bytes behind its header.
    pub(super) fn bytes(&self) -> u64 {
        self.header.bytes
    }

    /// The device that it was made for.
    pub(super) fn device(&self) -> u32 {
        self.header.device as u32
    }

    /// A descriptor for the client to keep and to close.
    pub(super) fn give(&self) -> Option<i32> {
        self.descriptor.give()
    }

    /// Closes a descriptor that a client has handed over.
    pub(super) fn close(descriptor: i32) {
        Descriptor::close(descriptor);
    }

    /// The number by which this process knows it.
    pub(super) fn number(&self) -> i32 {
        self.descriptor.number()
    }

    /// What tells it from all other files of the system.
    pub(super) fn identity(&self) -> Option<u64> {
        self.descriptor.identity()
    }

    /// Maps bytes of it, counted from behind the header.
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

    /// Gives memory of whole pages back to the system; they read as zero then.
    fn forget(&self, offset: u64, bytes: u64) -> bool {
        self.descriptor.punch(HEADER + offset, bytes)
    }
}

/// Bytes of a file in the memory of this process. Unmapped when it is dropped.
#[derive(Debug)]
pub(super) struct Mapping {
    /// Where the page starts in which the first byte is.
    start: *mut u8,
    len: usize,
    inside: usize,
}

// SAFETY: it owns a mapping that any thread may unmap, once; whoever uses the bytes does so through raw pointers and
// atomics.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// The first byte asked for.
    pub(super) fn pointer(&self) -> *mut u8 {
        self.start.wrapping_add(self.inside)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        os::unmap(self.start, self.len);
    }
}
