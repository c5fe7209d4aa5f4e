//! Memory and semaphores in place of another API's, as files.
//!
//! On a machine with a GPU, Vulkan or another driver of the system creates these and exports
//! descriptors. A software device has no such driver, so these replace it: its
//! `cuImportExternalMemory` and `cuImportExternalSemaphore` accept only their descriptors, and
//! descriptors of its own physical memory.

use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use super::backing::Backing;
use super::region::Region;
use super::shared::{Mapping, Purpose, SharedFile};
use super::{Memory, Request};

/// Memory of another API.
///
/// ```
/// use cuprum_engine::memory::ExternalMemory;
///
/// if let Some(memory) = ExternalMemory::new(4096) {
///     assert!(memory.set_byte(5, 7));
///     assert_eq!(memory.byte(5), Some(7));
/// }
/// ```
#[derive(Debug)]
pub struct ExternalMemory {
    file: Arc<SharedFile>,
    mapping: Option<Mapping>,
}

impl ExternalMemory {
    /// Creates zeroed memory, like another API. Returns `None` if the system cannot share memory.
    pub fn new(bytes: u64) -> Option<Self> {
        let file = SharedFile::create(Purpose::External, bytes, 0)?;
        let mapping = Some(file.map(0, bytes)?);
        Some(Self { file, mapping })
    }

    /// Returns a new descriptor of the type `CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD`. A
    /// successful import takes it over.
    pub fn descriptor(&self) -> Option<i32> {
        self.file.give()
    }

    /// Returns the byte at an offset, as the other API would read it.
    pub fn byte(&self, offset: u64) -> Option<u8> {
        let place = self.place(offset)?;
        // SAFETY: within the mapping, which this value keeps alive. Other processes or threads
        // write it with plain stores, of which a volatile load sees some value.
        Some(unsafe { place.read_volatile() })
    }

    /// Writes a byte. Returns false beyond the end.
    pub fn set_byte(&self, offset: u64, value: u8) -> bool {
        let Some(place) = self.place(offset) else { return false };
        // SAFETY: as for reading.
        unsafe { place.write_volatile(value) };
        true
    }

    fn place(&self, offset: u64) -> Option<*mut u8> {
        let mapping = self.mapping.as_ref().filter(|_| offset < self.file.bytes())?;
        Some(mapping.pointer().wrapping_add(usize::try_from(offset).ok()?))
    }

    /// Imports a descriptor of such memory, or of physical memory that a driver like this one
    /// exported. The caller keeps the descriptor.
    #[doc(hidden)]
    pub fn import(descriptor: i32) -> Option<Self> {
        let file = SharedFile::adopt(descriptor, Purpose::External)
            .or_else(|| SharedFile::adopt(descriptor, Purpose::Physical))?;
        Some(Self { file, mapping: None })
    }

    /// Closes a descriptor that a client passed to the driver.
    #[doc(hidden)]
    pub fn close(descriptor: i32) {
        SharedFile::close(descriptor);
    }

    /// Returns its size in bytes.
    pub fn bytes(&self) -> u64 {
        self.file.bytes()
    }
}

impl Memory {
    /// Maps a part of external memory to an address.
    #[doc(hidden)]
    pub fn map_external(&self, memory: &ExternalMemory, offset: u64, request: &Request) -> Option<Region> {
        self.enter(request, Backing::mapped(memory.file.map(offset, request.bytes)?, None))
    }
}

/// A semaphore of another API: a counter that only grows, or a binary semaphore.
///
/// ```
/// use cuprum_engine::memory::ExternalSemaphore;
///
/// if let Some(semaphore) = ExternalSemaphore::new() {
///     semaphore.signal(3);
///     assert_eq!(semaphore.value(), 3);
/// }
/// ```
#[derive(Debug)]
pub struct ExternalSemaphore {
    file: Arc<SharedFile>,
    mapping: Mapping,
}

impl ExternalSemaphore {
    /// Creates a semaphore with the value 0. Returns `None` if the system cannot share memory.
    pub fn new() -> Option<Self> {
        Self::of(SharedFile::create(Purpose::Semaphore, 64, 0)?)
    }

    /// Imports a descriptor. The caller keeps the descriptor.
    #[doc(hidden)]
    pub fn import(descriptor: i32) -> Option<Self> {
        Self::of(SharedFile::adopt(descriptor, Purpose::Semaphore)?)
    }

    fn of(file: Arc<SharedFile>) -> Option<Self> {
        let mapping = file.map(0, 64)?;
        Some(Self { file, mapping })
    }

    /// Returns a new descriptor. A successful import takes it over. Its type is
    /// `CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD` for a counter, and
    /// `CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD` for a binary semaphore.
    pub fn descriptor(&self) -> Option<i32> {
        self.file.give()
    }

    /// Returns the counter; 1 for a signaled binary semaphore.
    pub fn value(&self) -> u64 {
        self.counter().load(Ordering::Acquire)
    }

    /// Raises the counter to a value. A smaller value has no effect.
    pub fn signal(&self, value: u64) {
        self.counter().fetch_max(value, Ordering::AcqRel);
    }

    /// Resets a signaled binary semaphore. Returns false if it is not signaled.
    pub fn take(&self) -> bool {
        self.counter().compare_exchange(1, 0, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    fn counter(&self) -> &AtomicU64 {
        // SAFETY: a page after the header, in this value's mapping; all accesses are atomic.
        unsafe { AtomicU64::from_ptr(self.mapping.pointer().cast()) }
    }
}
