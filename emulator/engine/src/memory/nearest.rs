//! Finds the allocation to which an address belongs, or the nearest one.

use core::mem::ManuallyDrop;

use super::Memory;
use super::lock::lock_at_once;
use super::map::Map;
use super::neighbor::Neighbor;
use super::regions::Regions;
use super::space::PAGE;

impl Map {
    /// Returns the allocation around `addr`, or else a freed one, or else the nearest live one.
    pub fn nearest(&self, addr: u64) -> Option<Neighbor> {
        self.regions.nearest(addr, || self.freed.find(addr))
    }

    /// The same for an address of the host, if the allocation is at most a page away: host memory
    /// that a program registered in part.
    pub fn nearest_within_page(&self, addr: u64) -> Option<Neighbor> {
        self.nearest(addr).filter(|neighbor| neighbor.position.distance() <= PAGE)
    }
}

/// Maximum size of the device's range.
const RANGE: u64 = 1 << 40;

/// Minimum recognized lower half. Programs have their own memory at smaller addresses.
const LEAST_HALF: u64 = 1 << 30;

impl Map {
    /// Returns the address in a live allocation that has this lower half, for a pointer that was
    /// converted to a 32-bit integer and back, with zero or sign extension.
    pub fn widened(&self, addr: u64) -> Option<u64> {
        let (low, high) = (addr & 0xffff_ffff, addr >> 32);
        let is_half = low >= LEAST_HALF && (high == 0 || high == 0xffff_ffff && low >> 31 == 1);
        let end = self.windows().shared;
        let mut whole = (end.saturating_sub(RANGE) >> 32..=end >> 32).map(|high| high << 32 | low);
        whole.find(|&addr| is_half && self.find(addr).is_some())
    }
}

impl Regions {
    fn nearest(&self, addr: u64, freed: impl FnOnce() -> Option<Neighbor>) -> Option<Neighbor> {
        let before = self.last_up_to(addr);
        if let Some(region) = before.filter(|region| region.contains(addr, 1)) {
            return Some(region.neighbor(addr, false));
        }
        if let Some(freed) = freed() {
            return Some(freed);
        }
        let around = [before, self.first_after(addr)].into_iter().flatten();
        around.map(|region| region.neighbor(addr, false)).min_by_key(|neighbor| neighbor.position.distance())
    }
}

impl Memory {
    /// Like [`Map::nearest`] for the current memory, for a signal handler: it neither waits nor
    /// allocates nor frees. Also returns `None` if other threads keep changing the memory.
    pub fn nearest_at_once(&self, addr: u64) -> Option<ManuallyDrop<Neighbor>> {
        let state = lock_at_once(&self.state)?;
        // The label is shared, and must not be freed here if the allocation ends meanwhile.
        state.regions.nearest(addr, || self.freed.find_at_once(addr)).map(ManuallyDrop::new)
    }
}
