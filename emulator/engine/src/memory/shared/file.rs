//! Unnamed files that processes share.

use super::super::writers;
use super::os::{self, Descriptor};
use std::sync::Arc;

/// The first word of each file. It distinguishes the driver's files from others.
const MAGIC: u64 = u64::from_le_bytes(*b"cuprum01");

/// Size of the header; the bytes follow it.
pub(in crate::memory) const HEADER: u64 = 4096;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub(in crate::memory) enum Purpose {
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
pub(in crate::memory) struct SharedFile {
    pub(super) descriptor: Descriptor,
    header: Header,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
struct Header {
    magic: u64,
    pub(super) purpose: u64,
    pub(super) bytes: u64,
    pub(super) device: u64,
}

impl SharedFile {
    /// Creates a file of zeros; `None` if the system does not support it, or has no more of them.
    pub(in crate::memory) fn create(purpose: Purpose, bytes: u64, device: u32) -> Option<Arc<Self>> {
        let header = Header { magic: MAGIC, purpose: purpose as u64, bytes, device: u64::from(device) };
        let descriptor = Descriptor::memory(bytes.checked_add(HEADER)?)?;
        let words = [header.magic, header.purpose, header.bytes, header.device];
        let start = words.map(u64::to_le_bytes);
        descriptor.write_start(start.as_flattened())?;
        Some(Arc::new(Self { descriptor, header }))
    }

    /// Opens this driver's file by a descriptor, which the caller keeps. Fails for another purpose.
    pub(in crate::memory) fn adopt(descriptor: i32, purpose: Purpose) -> Option<Arc<Self>> {
        writers::share();
        Self::check(Descriptor::duplicate(descriptor)?, purpose)
    }

    /// Opens a file of another process by its descriptor there.
    pub(in crate::memory) fn of_process(
        process: u32,
        descriptor: i32,
        purpose: Purpose,
    ) -> Option<Arc<Self>> {
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
    pub(in crate::memory) fn bytes(&self) -> u64 {
        self.header.bytes
    }

    pub(in crate::memory) fn device(&self) -> u32 {
        self.header.device as u32
    }

    /// Returns a descriptor for the client, which closes it.
    pub(in crate::memory) fn give(&self) -> Option<i32> {
        writers::share();
        self.descriptor.give()
    }

    /// Closes a descriptor that a client passed to the driver.
    pub(in crate::memory) fn close(descriptor: i32) {
        Descriptor::close(descriptor);
    }

    pub(in crate::memory) fn number(&self) -> i32 {
        self.descriptor.number()
    }

    /// Returns a number that identifies it among all files of the system.
    pub(in crate::memory) fn identity(&self) -> Option<u64> {
        self.descriptor.identity()
    }

    /// Maps a range of its bytes after the header.
    pub(in crate::memory) fn map(&self, offset: u64, bytes: u64) -> Option<Mapping> {
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
    pub(in crate::memory) unsafe fn map_over(&self, address: u64, writable: bool) -> bool {
        let (Ok(at), Ok(len)) = (usize::try_from(address), usize::try_from(self.header.bytes)) else {
            return false;
        };
        // SAFETY: as the caller promises.
        unsafe { self.descriptor.map_over(HEADER, len, at, writable) }
    }

    /// Returns the memory of whole pages to the system; they read as zero then.
    pub(super) fn forget(&self, offset: u64, bytes: u64) -> bool {
        self.descriptor.punch(HEADER + offset, bytes)
    }
}

/// Bytes of a file, mapped in this process until dropped.
#[derive(Debug)]
pub(in crate::memory) struct Mapping {
    /// Start of the page that contains the first byte.
    pub(super) start: *mut u8,
    pub(super) len: usize,
    inside: usize,
}

// SAFETY: any thread may unmap the owned mapping. Accesses are by raw pointers and atomics.
unsafe impl Send for Mapping {}

// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    pub(in crate::memory) fn pointer(&self) -> *mut u8 {
        self.start.wrapping_add(self.inside)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        os::unmap(self.start, self.len);
    }
}
