//! The heap of a context, which its kernels allocate from.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::memory::{Region, RegionKind, Request};

use crate::driver::answer::{Answer, OUT_OF_MEMORY};
use crate::driver::state::memory;

/// The heap of a context, from which its kernels allocate. It lives as long as the context, so that
/// one kernel can free what another allocated.
#[derive(Debug)]
pub(crate) struct Heap {
    /// Keeps the heap's bytes alive.
    _region: Region,
    blocks: Mutex<Blocks>,
}

/// Allocated and free parts of a heap.
#[derive(Debug, Default)]
struct Blocks {
    /// Allocated, start to end.
    taken: BTreeMap<u64, u64>,
    /// Gaps, start to end; no two touch.
    gaps: BTreeMap<u64, u64>,
    /// The gaps by their length and start.
    by_length: BTreeSet<(u64, u64)>,
}

impl Blocks {
    fn add_gap(&mut self, start: u64, end: u64) {
        if start < end {
            self.gaps.insert(start, end);
            self.by_length.insert((end - start, start));
        }
    }

    fn take_gap(&mut self, start: u64) -> Option<u64> {
        let end = self.gaps.remove(&start)?;
        self.by_length.remove(&(end - start, start));
        Some(end)
    }

    /// Takes `bytes` bytes from the smallest gap that has them.
    fn allocate(&mut self, bytes: u64) -> Option<u64> {
        let &(_, start) = self.by_length.range((bytes, 0)..).next()?;
        let end = self.take_gap(start)?;
        self.taken.insert(start, start + bytes);
        self.add_gap(start + bytes, end);
        Some(start)
    }

    /// Gives a block back, to the gaps around it.
    fn release(&mut self, start: u64) -> bool {
        let Some(end) = self.taken.remove(&start) else { return false };
        let below = self.gaps.range(..start).next_back().filter(|(_, gap_end)| **gap_end == start);
        let first = below.map_or(start, |(gap, _)| *gap);
        self.take_gap(first);
        let last = self.take_gap(end).unwrap_or(end);
        self.add_gap(first, last);
        true
    }
}

/// Alignment of a block, and the least gap after it, so that small overruns hit no other block.
const ALIGN: u64 = 16;

impl Heap {
    /// A heap of `bytes` bytes for a context on a device.
    pub(crate) fn create(bytes: u64, context: usize, device: i32) -> Answer<Self> {
        let request = Request {
            kind: RegionKind::Heap,
            ..Request::device(bytes.max(ALIGN), context as u64, device as u32)
        };
        let region = memory().alloc(&request).map_err(|_| OUT_OF_MEMORY)?;
        let mut blocks = Blocks::default();
        blocks.add_gap(region.base, region.base + region.len);
        Ok(Self { _region: region, blocks: Mutex::new(blocks) })
    }

    /// A block of at least `bytes` bytes; 0 if there is no room, as in CUDA C.
    pub(crate) fn allocate(&self, bytes: u64) -> u64 {
        let needed = bytes.max(1).checked_next_multiple_of(ALIGN).and_then(|bytes| bytes.checked_add(ALIGN));
        needed.and_then(|needed| self.blocks().allocate(needed)).unwrap_or(0)
    }

    pub(crate) fn release(&self, address: u64) -> bool {
        self.blocks().release(address)
    }

    fn blocks(&self) -> MutexGuard<'_, Blocks> {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_come_back_and_gaps_join() {
        let mut blocks = Blocks::default();
        blocks.add_gap(1000, 1000 + (48 << 16));
        // Quadratic, this would take minutes.
        let all: Vec<u64> = (0..1 << 16).map(|_| blocks.allocate(48).unwrap()).collect();
        assert_eq!(blocks.allocate(1), None);
        assert!(all.iter().step_by(2).all(|start| blocks.release(*start)));
        assert_eq!(blocks.allocate(49), None);
        assert!(all.iter().skip(1).step_by(2).all(|start| blocks.release(*start)));
        assert!(!blocks.release(all[0]));
        assert_eq!(blocks.allocate(48 << 16), Some(1000));
    }
}
