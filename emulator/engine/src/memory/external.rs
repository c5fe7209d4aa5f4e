//! What another API would export: memory and semaphores, as files.
//!
//! On a machine with a GPU, Vulkan or another driver of the system makes these and hands out descriptors. There is none
//! beside a software device, so these stand in for it: `cuImportExternalMemory` and `cuImportExternalSemaphore` of the
//! software device take their descriptors, and no others but those of its own physical memory.

use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use super::map::{Backing, Region};
use super::shared::{Mapping, Purpose, SharedFile};
use super::{Memory, Request};

/// Memory of another API.
#[derive(Debug)]
pub struct ExternalMemory {
    file: Arc<SharedFile>,
    mapping: Option<Mapping>,
}

impl ExternalMemory {
    /// Makes memory of zeros, as another API would. `None` where the system shares no memory.
    pub fn new(bytes: u64) -> Option<Self> {
        let file = SharedFile::create(Purpose::External, bytes, 0)?;
        let mapping = Some(file.map(0, bytes)?);
        Some(Self { file, mapping })
    }

    /// A new descriptor of it, of the type `CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD`. A successful import takes it.
    pub fn descriptor(&self) -> Option<i32> {
        self.file.give()
    }

    /// The byte at an offset, as the other API sees it.
    pub fn byte(&self, offset: u64) -> Option<u8> {
        let place = self.place(offset)?;
        // SAFETY: inside of the mapping, which this keeps; others write it with plain stores of their own processes or
        // threads, of which a volatile load sees some value.
        Some(unsafe { place.read_volatile() })
    }

    /// Writes a byte. Gives false behind the end.
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

    /// Takes what a client imports by a descriptor, which stays the caller's: such memory, or physical memory that a
    /// driver like this one has exported.
    #[doc(hidden)]
    pub fn import(descriptor: i32) -> Option<Self> {
        let file = SharedFile::adopt(descriptor, Purpose::External)
            .or_else(|| SharedFile::adopt(descriptor, Purpose::Physical))?;
        Some(Self { file, mapping: None })
    }

    /// Closes a descriptor that a client has handed over.
    #[doc(hidden)]
    pub fn close(descriptor: i32) {
        SharedFile::close(descriptor);
    }

    /// Its size.
    pub fn bytes(&self) -> u64 {
        self.file.bytes()
    }
}

impl Memory {
    /// Gives a part of external memory an address.
    #[doc(hidden)]
    pub fn map_external(&self, memory: &ExternalMemory, offset: u64, request: &Request) -> Option<Region> {
        self.enter(request, Backing::mapped(memory.file.map(offset, request.bytes)?, None))
    }
}

/// A semaphore of another API: a counter that only grows, or one that is signaled or not.
#[derive(Debug)]
pub struct ExternalSemaphore {
    file: Arc<SharedFile>,
    mapping: Mapping,
}

impl ExternalSemaphore {
    /// Makes a semaphore at 0, as another API would. `None` where the system shares no memory.
    pub fn new() -> Option<Self> {
        Self::of(SharedFile::create(Purpose::Semaphore, 64, 0)?)
    }

    /// Takes what a client imports by a descriptor, which stays the caller's.
    #[doc(hidden)]
    pub fn import(descriptor: i32) -> Option<Self> {
        Self::of(SharedFile::adopt(descriptor, Purpose::Semaphore)?)
    }

    fn of(file: Arc<SharedFile>) -> Option<Self> {
        let mapping = file.map(0, 64)?;
        Some(Self { file, mapping })
    }

    /// A new descriptor of it. A successful import takes it. Of the type
    /// `CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD` for a counter, and
    /// `CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD` for one that is signaled or not.
    pub fn descriptor(&self) -> Option<i32> {
        self.file.give()
    }

    /// The counter; 1 for one that is signaled.
    pub fn value(&self) -> u64 {
        self.counter().load(Ordering::Acquire)
    }

    /// Raises the counter to a value; a smaller one changes nothing.
    pub fn signal(&self, value: u64) {
        self.counter().fetch_max(value, Ordering::AcqRel);
    }

    /// Takes the signal of one that is signaled. Gives false if it is not.
    pub fn take(&self) -> bool {
        self.counter().compare_exchange(1, 0, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    fn counter(&self) -> &AtomicU64 {
        // SAFETY: the start of a page behind the header, in a mapping that this keeps; all use it as an atomic.
        unsafe { AtomicU64::from_ptr(self.mapping.pointer().cast()) }
    }
}
