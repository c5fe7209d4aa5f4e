//! Page-locked memory that the host must not access until it waits.
//!
//! Until then, the system denies the access to pages all of whose bytes an operation uses. The
//! handler of the signal (`driver::memory::host_access`) notes the access and permits it, so the
//! program continues. The driver itself uses the bytes at another address.
//!
//! In the eager mode only, because operations have run there when their call returns: in the other
//! modes their bytes are known too late. Linux on x86-64 only, where the handler learns whether an
//! access writes.

use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};

use crate::driver::state::memory;
use crate::exec::touched::{Manner, PAGE};
use crate::memory::{HostAccess, RegionKind};

use super::clocks::Moment;
use super::mask::Mask;
use super::work::{Act, Part};

/// The system's pages.
const HOST_PAGE: u64 = 4096;

/// Accesses that the journal has not read yet: the address, and 1 << 63 for a write; 0 for none.
/// Further ones are lost.
static NOTED: [AtomicU64; 64] = [const { AtomicU64::new(0) }; 64];

const WRITES: u64 = 1 << 63;

/// Notes an access of the host. For a signal handler: neither waits nor allocates.
pub(crate) fn note_host_access(address: u64, writes: bool) {
    let noted = if writes { address | WRITES } else { address };
    let (order, relaxed) = (Ordering::Release, Ordering::Relaxed);
    NOTED.iter().any(|slot| slot.compare_exchange(0, noted, order, relaxed).is_ok());
}

/// Takes the noted accesses: the page of each, in its allocation.
pub(super) fn host_accesses() -> impl Iterator<Item = Part> {
    let noted = NOTED.iter().filter(|slot| slot.load(Ordering::Relaxed) != 0);
    noted.filter_map(|slot| {
        let noted = slot.swap(0, Ordering::Acquire);
        let region = memory().find(noted & !WRITES)?;
        let start = ((noted & !WRITES) - region.base) / HOST_PAGE * HOST_PAGE;
        let manner = if noted & WRITES == 0 { Manner::Read } else { Manner::Write };
        let len = HOST_PAGE.min(region.len - start);
        Some(Part::rows(Some(region.neighbor(region.base + start, false)), manner, [(start, len)]))
    })
}

/// The pages of page-locked memory that open operations use.
#[derive(Debug, Default)]
pub(super) struct Guards(Vec<(Moment, Range<u64>, HostAccess)>);

impl Guards {
    /// Limits the host's access to pages that an operation uses.
    pub(super) fn add(&mut self, moment: Moment, pages: Vec<(Range<u64>, HostAccess)>) {
        for (pages, access) in pages {
            let is_closed = |guard: &(Moment, Range<u64>, HostAccess)| {
                guard.2 == HostAccess::Nothing && guard.1.start < pages.end && pages.start < guard.1.end
            };
            if access == HostAccess::Nothing || !self.0.iter().any(is_closed) {
                memory().limit_host(&pages, access);
            }
            self.0.push((moment, pages, access));
        }
    }

    /// Restores the access to pages of operations for which the host has waited.
    pub(super) fn remove(&mut self, is_over: impl Fn(Moment) -> bool) {
        let (over, open): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.0).into_iter().partition(|guard| is_over(guard.0));
        self.0 = open;
        for (_, pages, _) in &over {
            memory().limit_host(pages, HostAccess::All);
        }
        // Other operations may use some of these pages.
        let touches = |pages: &Range<u64>| {
            over.iter().any(|(_, other, _)| pages.start < other.end && other.start < pages.end)
        };
        for access in [HostAccess::Reads, HostAccess::Nothing] {
            let same = self.0.iter().filter(|guard| guard.2 == access && touches(&guard.1));
            same.for_each(|(_, pages, access)| memory().limit_host(pages, *access));
        }
    }

    /// Forgets the pages of memory that is freed.
    pub(super) fn forget(&mut self, memory: Range<u64>) {
        self.0.retain(|(_, pages, _)| pages.end <= memory.start || memory.end <= pages.start);
    }
}

/// Returns the pages of page-locked memory of which an operation uses all bytes.
pub(super) fn pages_of(acts: &[Act]) -> Vec<(Range<u64>, HostAccess)> {
    let mut found: Vec<(Range<u64>, HostAccess)> = Vec::new();
    let parts = acts.iter().filter(|_| memory().has_guards()).flat_map(|act| &act.parts);
    for part in parts.filter(|part| !part.manner.is_strong()) {
        let Some(memory) = part.memory.as_ref().filter(|memory| memory.kind == RegionKind::Pinned) else {
            continue;
        };
        let access = if part.manner.writes() { HostAccess::Nothing } else { HostAccess::Reads };
        for (number, mask) in &part.pages {
            let first = number * PAGE;
            let end = memory.len.min(first + PAGE);
            for start in (first..end).step_by(HOST_PAGE as usize) {
                let needed = Mask::Range(start - first, end.min(start + HOST_PAGE) - first);
                if !mask.covers(&needed) {
                    continue;
                }
                let start = memory.base + start;
                match found.last_mut() {
                    Some((pages, same)) if *same == access && pages.end == start => {
                        pages.end += HOST_PAGE;
                    }
                    _ => found.push((start..start + HOST_PAGE, access)),
                }
            }
        }
    }
    found
}
