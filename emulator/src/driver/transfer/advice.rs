//! Advice about managed memory, and prefetch locations: stored per page and reported, no effect.

use std::sync::{Mutex, MutexGuard, PoisonError};

use cuprum_sys::*;

use crate::driver::state::memory;
use crate::memory::Region;
use crate::ordered::Ordered;

const PAGE: u64 = 4096;

/// A location: its kind, and its number as in the attributes of ranges.
pub(super) type Location = (CUmemLocationType, i32);

const NOWHERE: Location = (CUmemLocationType::CU_MEM_LOCATION_TYPE_NONE, CU_DEVICE_INVALID);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) read_mostly: bool,
    pub(super) preferred: Location,
    pub(super) prefetched: Location,
    /// In ascending order.
    pub(super) accessed_by: Vec<i32>,
}

impl Default for Known {
    fn default() -> Self {
        Self { read_mostly: false, preferred: NOWHERE, prefetched: NOWHERE, accessed_by: Vec::new() }
    }
}

impl Known {
    /// Sets whether a device, or the host, accesses the memory.
    pub(super) fn set_accessed_by(&mut self, who: i32, is_so: bool) {
        match (self.accessed_by.binary_search(&who), is_so) {
            (Err(place), true) => self.accessed_by.insert(place, who),
            (Ok(place), false) => drop(self.accessed_by.remove(place)),
            _ => {}
        }
    }
}

/// Advice by the offset from which it applies; the first is 0.
type Parts = Ordered<Known>;

/// The advice for allocations, by base, each with the number of the allocation.
static KNOWN: Mutex<Ordered<(u64, Parts)>> = Mutex::new(Ordered::new());

fn known() -> MutexGuard<'static, Ordered<(u64, Parts)>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the pages of a range, as offsets in its allocation.
fn pages(region: &Region, address: u64, bytes: u64) -> (u64, u64) {
    let start = address - region.base;
    (start / PAGE * PAGE, (start + bytes).next_multiple_of(PAGE))
}

pub(super) fn learn(region: &Region, address: u64, bytes: u64, change: &dyn Fn(&mut Known)) {
    let (start, end) = pages(region, address, bytes);
    let mut all = known();
    // Drops the advice for freed memory.
    let is_alive = |base, id| memory().find(base).is_some_and(|live| live.id == id);
    let freed: Vec<u64> =
        all.iter().filter(|(base, (id, _))| !is_alive(*base, *id)).map(|(base, _)| base).collect();
    freed.into_iter().for_each(|base| drop(all.remove(base)));
    let (_, parts) = all.get_or_insert_with(region.base, || (region.id, Parts::new()));
    parts.get_or_insert_with(0, Known::default);
    for border in [start, end] {
        let before = parts.last_up_to(border).map(|(_, known)| known.clone());
        parts.get_or_insert_with(border, || before.unwrap_or_default());
    }
    for part in parts.keys_in(start..end) {
        parts.get_mut(part).into_iter().for_each(change);
    }
}

/// Returns the advice that holds for all pages of a range.
pub(super) fn of(region: &Region, address: u64, bytes: u64) -> Known {
    let (start, end) = pages(region, address, bytes);
    let known = known();
    let Some((_, parts)) = known.get(region.base).filter(|(id, _)| *id == region.id) else {
        return Known::default();
    };
    let first = parts.last_up_to(start).map_or(start, |(first, _)| first);
    let mut each = parts.keys_in(first..end).into_iter().filter_map(|part| parts.get(part));
    let mut whole = each.next().cloned().unwrap_or_default();
    for part in each {
        whole.read_mostly &= part.read_mostly;
        whole.accessed_by.retain(|place| part.accessed_by.contains(place));
        if whole.preferred != part.preferred {
            whole.preferred = NOWHERE;
        }
        if whole.prefetched != part.prefetched {
            whole.prefetched = NOWHERE;
        }
    }
    whole
}
