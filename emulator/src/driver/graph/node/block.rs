//! Memory of an allocation node: always at the same address, there from a launch of its graph until it is freed.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::driver::call::{Answer, INVALID_VALUE, OUT_OF_MEMORY, ensure};
use crate::driver::context::Context;
use crate::driver::state::emulator;
use crate::memory::{GRANULARITY, Physical};

use super::GraphMemory;

/// The memory of an allocation node. It goes with the last graph that has the node, unless it is allocated then.
#[derive(Debug)]
pub(in crate::driver) struct Block {
    pub(super) base: u64,
    pub(super) bytes: u64,
    device: i32,
    context: u64,
    physical: Physical,
    /// Whether a launch has allocated it, as far as calls have come: the stream may not be there yet.
    allocated: AtomicBool,
    /// Whether the device counts it, which it does from the first launch on.
    counted: AtomicBool,
}

/// The blocks that are allocated, by address.
#[derive(Debug, Default)]
pub(in crate::driver) struct Blocks(Mutex<HashMap<u64, Arc<Block>>>);

impl Blocks {
    /// The block that starts at an address.
    pub(in crate::driver) fn find(&self, address: u64) -> Option<Arc<Block>> {
        self.lock().get(&address).cloned()
    }

    /// Forgets those of a context that goes.
    pub(in crate::driver) fn forget_context(&self, context: u64) {
        self.lock().retain(|_, block| block.context != context);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Arc<Block>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Block {
    /// Memory that a graph can be built with, and that no launch has allocated.
    pub(super) fn create(context: &Context, bytes: usize) -> Answer<Arc<Self>> {
        ensure(bytes > 0, INVALID_VALUE)?;
        let (memory, device) = (&emulator().memory, context.device as u32);
        let span = (bytes as u64).checked_next_multiple_of(GRANULARITY).ok_or(OUT_OF_MEMORY)?;
        let physical = memory.create(span, device).map_err(|_| OUT_OF_MEMORY)?;
        let Ok(base) = memory.reserve(span, GRANULARITY) else {
            memory.discard(&physical);
            return Err(OUT_OF_MEMORY);
        };
        let block = Arc::new(Self {
            base,
            bytes: bytes as u64,
            device: context.device,
            context: context.handle as u64,
            physical,
            allocated: AtomicBool::new(false),
            counted: AtomicBool::new(false),
        });
        block.map();
        Ok(block)
    }

    /// Notes a call that allocates it by a launch; fails if it is allocated, unless the launch frees it first.
    pub(in crate::driver) fn allocate(self: &Arc<Self>, frees_first: bool) -> Answer {
        let was_allocated = self.allocated.swap(true, Ordering::AcqRel);
        ensure(frees_first || !was_allocated, INVALID_VALUE)?;
        if let Some(memory) = self.memory().filter(|_| !self.counted.swap(true, Ordering::AcqRel)) {
            memory.charge(self.bytes);
        }
        self.appear();
        Ok(())
    }

    /// Notes a call that frees it; fails if it is not allocated.
    pub(in crate::driver) fn release(&self) -> Answer {
        ensure(self.allocated.swap(false, Ordering::AcqRel), INVALID_VALUE)
    }

    /// Makes it accessible, if it is not: at the launch, and again where the stream gets to the node.
    pub(in crate::driver) fn appear(self: &Arc<Self>) {
        emulator().graph_blocks.lock().insert(self.base, Arc::clone(self));
        self.map();
    }

    /// Makes it inaccessible, where the stream gets to the end of it.
    pub(in crate::driver) fn vanish(&self) {
        emulator().graph_blocks.lock().remove(&self.base);
        // Not there if its context is gone.
        let _ = emulator().memory.free(self.base);
    }

    fn memory(&self) -> Option<&'static GraphMemory> {
        emulator().graph_memory.get(self.device as usize)
    }

    fn map(&self) {
        // Fails if it is there already.
        let _ = emulator().memory.map(self.base, self.bytes, &self.physical, 0, self.context);
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        let memory = &emulator().memory;
        // Not there if it was freed, or its context is gone.
        let _ = memory.free(self.base);
        memory.release(self.base, self.physical.bytes);
        memory.discard(&self.physical);
        if let Some(memory) = self.memory().filter(|_| self.counted.load(Ordering::Acquire)) {
            memory.refund(self.bytes);
        }
    }
}
