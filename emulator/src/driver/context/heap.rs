use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::memory::{Ranges, Region, RegionKind, Request};

use crate::driver::answer::{Answer, OUT_OF_MEMORY};
use crate::driver::state::memory;

/// The heap of a context, from which its kernels allocate. It lives as long as the context, so that
/// one kernel can free memory that another allocated.
#[derive(Debug)]
pub(crate) struct Heap {
    /// Keeps the heap's bytes alive.
    _region: Region,
    blocks: Mutex<Ranges>,
}

/// Alignment of a block, and minimum gap after it, so that small overruns reach no other block.
const ALIGN: u64 = 16;

impl Heap {
    pub(crate) fn create(bytes: u64, context: usize, device: i32) -> Answer<Self> {
        let request = Request {
            kind: RegionKind::Heap,
            ..Request::device(bytes.max(ALIGN), context as u64, device as u32)
        };
        let region = memory().alloc(&request).map_err(|_| OUT_OF_MEMORY)?;
        let blocks = Ranges::new(region.base, region.base + region.len, ALIGN);
        Ok(Self { _region: region, blocks: Mutex::new(blocks) })
    }

    /// Allocates at least `bytes` bytes. Returns 0 if there is no room, as in CUDA C.
    pub(crate) fn allocate(&self, bytes: u64) -> u64 {
        let Some(bytes) = bytes.max(1).checked_next_multiple_of(ALIGN) else { return 0 };
        let mut blocks = self.blocks();
        let Some(start) = blocks.find(bytes, 1) else { return 0 };
        blocks.insert(start, start + bytes);
        start
    }

    pub(crate) fn release(&self, address: u64) -> bool {
        self.blocks().remove(address)
    }

    fn blocks(&self) -> MutexGuard<'_, Ranges> {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
