//! Regions, and their snapshot for a launch.

use std::sync::{Arc, Mutex, PoisonError};

use crate::ordered::Ordered;

use super::lock::lock_at_once;
use super::neighbor::{Neighbor, Position};
use super::region::Region;
use super::regions::Regions;
use super::windows::Windows;

/// The regions at one time. Keeps their memory alive.
///
/// ```
/// use cuprum_engine::memory::{Memory, Request};
///
/// let memory = Memory::new(1, 1 << 20, false);
/// let region = memory.alloc(&Request::device(100, 1, 0)).map_err(|error| format!("{error:?}"))?;
/// let map = memory.snapshot();
/// memory.free(region.base).map_err(|error| format!("{error:?}"))?;
/// assert!(map.find(region.base).is_some()); // a running kernel still has it
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Map {
    pub(super) regions: Regions,
    pub(super) freed: Arc<FreedLog>,
    windows: Windows,
}

impl Map {
    pub(super) fn new(regions: Regions, freed: Arc<FreedLog>, windows: Windows) -> Self {
        Self { regions, freed, windows }
    }

    /// The region that contains `addr`.
    #[inline]
    pub fn find(&self, addr: u64) -> Option<&Region> {
        let region = self.regions.last_up_to(addr)?;
        region.contains(addr, 1).then_some(region)
    }

    /// True if only launches and the driver access its memory, unless a region is exported.
    pub(crate) fn is_private(&self) -> bool {
        self.regions.are_private()
    }

    /// The freed allocation that contained `addr`.
    pub fn find_freed(&self, addr: u64) -> Option<Neighbor> {
        self.freed.find(addr)
    }

    /// Returns the generic addresses of shared and local memory and of code.
    pub fn windows(&self) -> Windows {
        self.windows
    }
}

/// Freed allocations, by address, until the range is reused or there are too many.
///
/// ```
/// assert!(cuprum_engine::memory::FreedLog::default().find(4096).is_none()); // nothing was freed
/// ```
#[derive(Debug, Default)]
pub struct FreedLog {
    entries: Mutex<Ordered<Neighbor>>,
}

impl FreedLog {
    /// Maximum number of entries. Beyond it, the lowest addresses are removed, which are the oldest
    /// until the address range has been used up once.
    const KEPT: usize = 1 << 16;

    /// The freed allocation that contained `addr`.
    pub fn find(&self, addr: u64) -> Option<Neighbor> {
        Self::find_in(&self.entries.lock().unwrap_or_else(PoisonError::into_inner), addr)
    }

    /// Like `find`, but returns `None` instead of waiting for another thread.
    pub(super) fn find_at_once(&self, addr: u64) -> Option<Neighbor> {
        Self::find_in(&*lock_at_once(&self.entries)?, addr)
    }

    fn find_in(entries: &Ordered<Neighbor>, addr: u64) -> Option<Neighbor> {
        let (_, entry) = entries.last_up_to(addr)?;
        match Position::of(addr, entry.base, entry.len) {
            position @ Position::Inside(_) => Some(Neighbor { position, ..entry.clone() }),
            _ => None,
        }
    }

    pub(super) fn remember(&self, region: &Region) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.insert(region.base, region.neighbor(region.base, true));
        if entries.len() > Self::KEPT {
            if let Some(lowest) = entries.first_key() {
                entries.remove(lowest);
            }
        }
    }

    pub(super) fn forget(&self, base: u64, end: u64) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        for start in entries.keys_in(base..end) {
            entries.remove(start);
        }
    }
}
