//! What running kernels ask of the driver: output of `printf`, and memory from the device heap.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cuprum_sys::CUlimit;

use crate::exec::{Hooks, texture};
use crate::memory::{Region, RegionKind, Request};
use crate::program::Program;

use super::call::{Answer, OUT_OF_MEMORY};
use super::context::Context;
use super::state::emulator;

/// The heap of a context, from which its kernels allocate. It lives as long as the context, so that
/// one kernel can free what another allocated.
#[derive(Debug)]
pub(super) struct Heap {
    /// Keeps its bytes.
    _region: Region,
    blocks: Mutex<Blocks>,
}

/// What of a heap is allocated, and what is free.
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

    /// Takes so many bytes from the smallest gap that has them.
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
    /// A heap of the size that the context's limit says.
    pub(super) fn create(context: &Context) -> Answer<Self> {
        let bytes = context.limit(CUlimit::CU_LIMIT_MALLOC_HEAP_SIZE)? as u64;
        let request = Request {
            kind: RegionKind::Heap,
            ..Request::device(bytes.max(ALIGN), context.handle as u64, context.device as u32)
        };
        let region = emulator().memory.alloc(&request).map_err(|_| OUT_OF_MEMORY)?;
        let mut blocks = Blocks::default();
        blocks.add_gap(region.base, region.base + region.len);
        Ok(Self { _region: region, blocks: Mutex::new(blocks) })
    }

    /// A block of at least so many bytes; 0 if there is no room, as in CUDA C.
    fn allocate(&self, bytes: u64) -> u64 {
        let needed = bytes.max(1).checked_next_multiple_of(ALIGN).and_then(|bytes| bytes.checked_add(ALIGN));
        needed.and_then(|needed| self.blocks().allocate(needed)).unwrap_or(0)
    }

    fn release(&self, address: u64) -> bool {
        self.blocks().release(address)
    }

    fn blocks(&self) -> MutexGuard<'_, Blocks> {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What kernels have printed and nobody has seen yet. As on hardware it holds a limited number of bytes, the oldest of
/// which go first, and comes out when the launch has ended.
#[derive(Debug, Default)]
struct Printed {
    texts: VecDeque<Box<str>>,
    bytes: usize,
}

/// Bytes that a call of `printf` takes at least.
const LEAST_RECORD: usize = 32;

impl Printed {
    fn push(&mut self, text: &str, limit: usize) {
        let size = |text: &str| text.len().max(LEAST_RECORD);
        self.bytes += size(text);
        self.texts.push_back(text.into());
        while self.bytes > limit {
            let Some(oldest) = self.texts.pop_front() else { return };
            self.bytes -= size(&oldest);
        }
    }
}

/// The hooks of one launch.
#[derive(Debug)]
pub(super) struct KernelHooks {
    heap: Option<Arc<Heap>>,
    printed: Mutex<Printed>,
    most_printed: usize,
}

impl KernelHooks {
    /// The heap exists from the first launch on of a program that allocates.
    pub(super) fn new(context: &Context, program: &Program) -> Answer<Self> {
        let allocates = program.functions().iter().any(|name| name == "malloc");
        let heap = if allocates { Some(context.heap()?) } else { None };
        let most_printed = context.limit(CUlimit::CU_LIMIT_PRINTF_FIFO_SIZE)?;
        Ok(Self { heap, printed: Mutex::default(), most_printed })
    }
}

impl Drop for KernelHooks {
    /// A kernel's output is the program's: it goes where the program's own goes.
    fn drop(&mut self) {
        let printed = self.printed.get_mut().unwrap_or_else(PoisonError::into_inner);
        if printed.texts.is_empty() {
            return;
        }
        let text: String = printed.texts.drain(..).collect();
        // Nobody to be told if nobody reads it.
        let mut stdout = io::stdout().lock();
        let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    }
}

impl Hooks for KernelHooks {
    fn print(&self, text: &str) {
        self.printed.lock().unwrap_or_else(PoisonError::into_inner).push(text, self.most_printed);
    }

    fn malloc(&self, bytes: u64) -> u64 {
        self.heap.as_ref().map_or(0, |heap| heap.allocate(bytes))
    }

    fn free(&self, address: u64) -> bool {
        self.heap.as_ref().is_some_and(|heap| heap.release(address))
    }

    fn set_condition(&self, condition: u64, value: u32) -> bool {
        super::graph::condition::set(condition, value)
    }

    fn object(&self, handle: u64, surface: bool) -> texture::Handle {
        super::texture::find(handle, surface)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_limited_and_the_newest_stays() {
        let mut printed = Printed::default();
        for line in 0..100_000 {
            printed.push(&format!("{line}\n"), 1 << 16);
        }
        assert_eq!(printed.texts.len(), (1 << 16) / LEAST_RECORD);
        assert_eq!(printed.texts.back().map(|text| &**text), Some("99999\n"));
        printed.push(&"x".repeat(1 << 17), 1 << 16);
        assert!(printed.texts.is_empty());
    }

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
