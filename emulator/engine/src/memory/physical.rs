//! Reserved addresses, physical memory, and mappings between them.

use std::sync::Arc;

use super::backing::Backing;
use super::region::Region;
use super::shared::{Purpose, SharedFile};
use super::{AllocError, GRANULARITY, Memory, RegionKind, Request};

/// Memory without an address, made by [`Memory::create`].
///
/// ```
/// use cuprum_engine::memory::Memory;
///
/// let memory = Memory::new(1, 1 << 20, false);
/// let physical = memory.create(4096, 0).map_err(|error| format!("{error:?}"))?;
/// assert_eq!((physical.bytes, physical.device), (4096, 0)); // without an address
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Physical {
    backing: Backing,
    /// Size in bytes.
    pub bytes: u64,
    /// The device whose memory it uses.
    pub device: u32,
    /// Its file, if it was created for sharing.
    file: Option<Arc<SharedFile>>,
    /// True if it was created here, and counts as used memory.
    counts: bool,
    /// True if it is memory of the host, which no device counts.
    pub on_host: bool,
}

/// Stands for the host in place of a device, in files of physical memory.
const HOST: u32 = u32::MAX;

impl Physical {
    /// Returns a descriptor of its bytes, which the client passes to another process and closes.
    /// Returns `None` if it was not created for sharing, or no descriptors are left.
    pub fn export(&self) -> Option<i32> {
        self.file.as_ref()?.give()
    }

    /// The bytes of a file, which do not count.
    fn of_file(file: Arc<SharedFile>) -> Option<Self> {
        let (bytes, on_host) = (file.bytes(), file.device() == HOST);
        let device = if on_host { 0 } else { file.device() };
        let backing = Backing::mapped(file.map(0, bytes)?, None);
        Some(Self { backing, bytes, device, file: Some(file), counts: false, on_host })
    }
}

impl Memory {
    /// Reserves addresses without memory.
    ///
    /// # Errors
    ///
    /// [`AllocError::OutOfMemory`] if the address range is exhausted.
    pub fn reserve(&self, bytes: u64, align: u64) -> Result<u64, AllocError> {
        let mut state = self.lock();
        let base = self.place(&mut state, bytes, align.max(GRANULARITY)).ok_or(AllocError::OutOfMemory)?;
        state.taken.insert(base, base + bytes);
        Ok(base)
    }

    /// Releases addresses from [`Memory::reserve`]. Returns false if unknown or if mappings exist.
    pub fn release(&self, base: u64, bytes: u64) -> bool {
        let mut state = self.lock();
        let known = state.taken.is_taken(base, base + bytes);
        if !known || state.overlaps_region(base, base + bytes) {
            return false;
        }
        state.taken.remove(base);
        true
    }

    /// Creates physical memory without an address.
    ///
    /// # Errors
    ///
    /// [`AllocError::OutOfMemory`].
    pub fn create(&self, bytes: u64, device: u32) -> Result<Physical, AllocError> {
        self.create_in(bytes, device, || Some((Backing::heap(bytes)?, None)))
    }

    /// Creates physical memory that other processes can use through a descriptor.
    ///
    /// # Errors
    ///
    /// [`AllocError::OutOfMemory`], also if the system cannot share memory.
    pub fn create_shared(&self, bytes: u64, device: u32) -> Result<Physical, AllocError> {
        self.create_in(bytes, device, || {
            let file = SharedFile::create(Purpose::Physical, bytes, device)?;
            let backing = Backing::mapped(file.map(0, bytes)?, None);
            Some((backing, Some(file)))
        })
    }

    /// Creates physical memory of the host.
    ///
    /// # Errors
    ///
    /// [`AllocError::OutOfMemory`], also where the system shares no memory.
    pub fn create_on_host(&self, bytes: u64) -> Result<Physical, AllocError> {
        let file = SharedFile::create(Purpose::Physical, bytes, HOST);
        file.and_then(Physical::of_file).ok_or(AllocError::OutOfMemory)
    }

    /// Imports physical memory by a descriptor, which the caller keeps; `None` for any other.
    pub fn import(&self, descriptor: i32) -> Option<Physical> {
        Physical::of_file(SharedFile::adopt(descriptor, Purpose::Physical)?)
    }

    fn create_in(
        &self,
        bytes: u64,
        device: u32,
        make: impl FnOnce() -> Option<(Backing, Option<Arc<SharedFile>>)>,
    ) -> Result<Physical, AllocError> {
        let mut state = self.lock();
        self.charge(&mut state, device, bytes)?;
        match make() {
            Some((backing, file)) => {
                Ok(Physical { backing, bytes, device, file, counts: true, on_host: false })
            }
            None => {
                self.refund(&mut state, device, bytes);
                Err(AllocError::OutOfMemory)
            }
        }
    }

    /// Releases physical memory: no longer counted as used, and freed with the last mapping.
    pub fn discard(&self, physical: &Physical) {
        if physical.counts {
            self.refund(&mut self.lock(), physical.device, physical.bytes);
        }
    }

    /// Maps `bytes` bytes of physical memory, from `offset` on, to `base`.
    ///
    /// # Errors
    ///
    /// [`AllocError::Overlap`] if `base` is mapped or the range is outside of the physical memory.
    pub fn map(
        &self,
        base: u64,
        bytes: u64,
        physical: &Physical,
        offset: u64,
        context: u64,
    ) -> Result<Region, AllocError> {
        let mut state = self.lock();
        let inside = offset.checked_add(bytes).is_some_and(|end| end <= physical.bytes);
        if bytes == 0 || !inside || state.overlaps_region(base, base.saturating_add(bytes)) {
            return Err(AllocError::Overlap);
        }
        let kind = if physical.on_host { RegionKind::MappedHost } else { RegionKind::Mapped };
        let request = Request { kind, ..Request::device(bytes, context, physical.device) };
        let backing = physical.backing.part(offset);
        Ok(self.insert(&mut state, &request, base, backing, None))
    }

    /// Gives the host access to the host memory mapped at `base`, under the same address. Returns
    /// false if the system cannot.
    pub fn show_to_host(&self, base: u64, physical: &Physical, writable: bool) -> bool {
        let state = self.lock();
        let is_there = state.regions.get(base).is_some_and(|region| region.kind == RegionKind::MappedHost);
        let file = physical.file.as_ref().filter(|file| is_there && file.bytes() == physical.bytes);
        file.is_some_and(|file| self.space.show(base, file, writable))
    }

    /// Removes the host's access to the memory mapped at `base`.
    pub fn hide_from_host(&self, base: u64) {
        let state = self.lock();
        let shown = state.regions.get(base).filter(|region| region.kind == RegionKind::MappedHost);
        if let Some(region) = shown {
            self.space.decommit(base, region.len);
        }
    }

    /// True if one call of [`Memory::reserve`] reserved the whole range.
    pub fn is_reserved(&self, base: u64, bytes: u64) -> bool {
        let state = self.lock();
        let range = state.taken.last_up_to(base);
        range.is_some_and(|(_, end)| base.checked_add(bytes).is_some_and(|last| last <= end))
    }
}
