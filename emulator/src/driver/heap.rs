//! What running kernels ask of the driver: output of `printf`, and memory from the device heap.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

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
    region: Region,
    /// Allocated blocks, start to end.
    blocks: Mutex<BTreeMap<u64, u64>>,
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
        Ok(Self { region, blocks: Mutex::default() })
    }

    /// The first gap that fits; 0 if there is none, as in CUDA C.
    fn allocate(&self, bytes: u64) -> u64 {
        let end = self.region.base + self.region.len;
        let mut blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        let mut start = self.region.base;
        let fits = |start: u64, limit: u64| {
            let needed = bytes.max(1).checked_next_multiple_of(ALIGN)?.checked_add(ALIGN)?;
            start.checked_add(needed).filter(|&block_end| block_end <= limit)
        };
        let mut found = None;
        for (&block, &block_end) in blocks.iter() {
            found = fits(start, block);
            if found.is_some() {
                break;
            }
            start = block_end;
        }
        match found.or_else(|| fits(start, end)) {
            Some(block_end) => {
                blocks.insert(start, block_end);
                start
            }
            None => 0,
        }
    }

    fn release(&self, address: u64) -> bool {
        let mut blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        blocks.remove(&address).is_some()
    }
}

/// The hooks of one launch.
#[derive(Debug)]
pub(super) struct KernelHooks {
    heap: Option<Arc<Heap>>,
}

impl KernelHooks {
    /// The heap exists from the first launch on of a program that allocates.
    pub(super) fn new(context: &Context, program: &Program) -> Answer<Self> {
        let allocates = program.functions().iter().any(|name| name == "malloc");
        let heap = if allocates { Some(context.heap()?) } else { None };
        Ok(Self { heap })
    }
}

impl Hooks for KernelHooks {
    /// A kernel's output is the program's: it goes where the program's own goes.
    fn print(&self, text: &str) {
        print!("{text}");
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
