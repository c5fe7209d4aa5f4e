//! Addresses without memory, memory without addresses, and what brings them together.

use super::map::{Backing, Region, RegionKind};
use super::{AllocError, GRANULARITY, Memory, Request};

/// Memory without an address, made by [`Memory::create`].
#[derive(Debug, Clone)]
pub struct Physical {
    backing: Backing,
    /// Size in bytes.
    pub bytes: u64,
    /// The device it counts against.
    pub device: u32,
}

impl Memory {
    /// Reserves addresses without memory behind them.
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

    /// Gives back addresses from [`Memory::reserve`]. Returns whether such a range existed and
    /// nothing is mapped in it any more.
    pub fn release(&self, base: u64, bytes: u64) -> bool {
        let mut state = self.lock();
        let known = state.taken.is_taken(base, base + bytes);
        if !known || state.overlaps_region(base, base + bytes) {
            return false;
        }
        state.taken.remove(base);
        true
    }

    /// Creates physical memory that is not visible at any address yet.
    ///
    /// # Errors
    ///
    /// [`AllocError::OutOfMemory`].
    pub fn create(&self, bytes: u64, device: u32) -> Result<Physical, AllocError> {
        let mut state = self.lock();
        self.charge(&mut state, device, bytes)?;
        match Backing::heap(bytes) {
            Some(backing) => Ok(Physical { backing, bytes, device }),
            None => {
                self.refund(&mut state, device, bytes);
                Err(AllocError::OutOfMemory)
            }
        }
    }

    /// Gives up physical memory: its bytes no longer count, and are freed with the last mapping.
    pub fn discard(&self, physical: &Physical) {
        self.refund(&mut self.lock(), physical.device, physical.bytes);
    }

    /// Makes `bytes` bytes of physical memory, from `offset` on, visible at `base`.
    ///
    /// # Errors
    ///
    /// [`AllocError::Overlap`] if something is mapped there or the range is outside of the
    /// physical memory.
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
        let request =
            Request { kind: RegionKind::Mapped, ..Request::device(bytes, context, physical.device) };
        let backing = physical.backing.part(offset);
        Ok(self.insert(&mut state, &request, base, backing, None))
    }

    /// Whether the whole range was reserved by one call of [`Memory::reserve`].
    pub fn is_reserved(&self, base: u64, bytes: u64) -> bool {
        let state = self.lock();
        let range = state.taken.last_up_to(base);
        range.is_some_and(|(_, end)| base.checked_add(bytes).is_some_and(|last| last <= end))
    }
}
