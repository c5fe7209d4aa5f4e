//! Memory of the allocation nodes of graphs.
//!
//! The memory of a node always has the same address. It exists from a launch until it is freed.

use core::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use cuprum_sys::*;

use crate::memory::{GRANULARITY, Physical};
use crate::ordered::Ordered;
use crate::report::Leak;

use crate::driver::answer::{Answer, INVALID_VALUE, OUT_OF_MEMORY, ensure};
use crate::driver::call::{Kind, Objects, Out, calls};
use crate::driver::context::Context;
use crate::driver::device;
use crate::driver::state::{memory, settings};

/// Memory of an allocation node. Ends with the last graph with the node, or when freed later.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) base: u64,
    pub(crate) bytes: u64,
    device: i32,
    context: u64,
    physical: Physical,
    /// True if a launch has allocated it, in the order of calls, even if the stream has not yet.
    allocated: AtomicBool,
    /// True if the device counts it, which it does from the first launch on.
    counted: AtomicBool,
}

#[derive(Debug)]
pub(crate) struct Blocks(Mutex<Ordered<Arc<Block>>>);

pub(crate) static BLOCKS: Blocks = Blocks(Mutex::new(Ordered::new()));

static GRAPH_MEMORY: LazyLock<Vec<GraphMemory>> =
    LazyLock::new(|| (0..settings().devices).map(|_| GraphMemory::default()).collect());

fn memory_of(device: i32) -> Option<&'static GraphMemory> {
    GRAPH_MEMORY.get(usize::try_from(device).ok()?)
}

impl Objects for Blocks {
    fn kind(&self) -> Kind {
        Kind::GraphBlock
    }

    fn end_of_context(&self, context: usize) {
        let mut blocks = self.lock();
        let goes = |block: &Block| block.context == context as u64;
        let gone: Vec<u64> = blocks.iter().filter(|(_, block)| goes(block)).map(|(base, _)| base).collect();
        let gone: Vec<_> = gone.into_iter().filter_map(|base| blocks.remove(base)).collect();
        drop(blocks);
        // Dropping a block frees its memory, so no lock is held.
        drop(gone);
    }

    /// Blocks are memory regions, and are reported as such.
    fn leaks(&self, _context: Option<(usize, u64)>, _found: &mut Vec<Leak>) {}
}

impl Blocks {
    pub(crate) fn find(&self, address: u64) -> Option<Arc<Block>> {
        self.lock().get(address).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, Ordered<Arc<Block>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Block {
    /// Reserves memory for a node of a graph, not yet allocated by a launch.
    pub(crate) fn create(context: &Context, bytes: usize) -> Answer<Arc<Self>> {
        ensure(bytes > 0, INVALID_VALUE)?;
        let (memory, device) = (memory(), context.device as u32);
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

    /// Records that a launch allocates it. Fails if it is allocated, unless `frees_first`.
    pub(crate) fn allocate(self: &Arc<Self>, frees_first: bool) -> Answer {
        let was_allocated = self.allocated.swap(true, Ordering::AcqRel);
        ensure(frees_first || !was_allocated, INVALID_VALUE)?;
        if let Some(memory) = self.memory().filter(|_| !self.counted.swap(true, Ordering::AcqRel)) {
            memory.charge(self.bytes);
        }
        self.appear();
        Ok(())
    }

    /// Records that a call frees it. Fails if it is not allocated.
    pub(crate) fn release(&self) -> Answer {
        ensure(self.allocated.swap(false, Ordering::AcqRel), INVALID_VALUE)
    }

    /// Makes it accessible if it is not: at the launch, and again when the stream reaches the node.
    pub(crate) fn appear(self: &Arc<Self>) {
        BLOCKS.lock().insert(self.base, Arc::clone(self));
        self.map();
    }

    /// Makes it inaccessible when the stream reaches its free.
    pub(crate) fn vanish(&self) {
        BLOCKS.lock().remove(self.base);
        // Fails if its context has ended.
        let _ = memory().free(self.base);
    }

    fn memory(&self) -> Option<&'static GraphMemory> {
        memory_of(self.device)
    }

    fn map(&self) {
        // Fails if it is already mapped.
        let _ = memory().map(self.base, self.bytes, &self.physical, 0, self.context);
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        let memory = memory();
        // Fails if it was freed or its context has ended.
        let _ = memory.free(self.base);
        memory.release(self.base, self.physical.bytes);
        memory.discard(&self.physical);
        if let Some(memory) = self.memory().filter(|_| self.counted.load(Ordering::Acquire)) {
            memory.refund(self.bytes);
        }
    }
}

/// Amount of memory that the allocation nodes of a device use.
#[derive(Debug, Default)]
pub(super) struct GraphMemory {
    used: AtomicU64,
    high: AtomicU64,
}

impl GraphMemory {
    fn charge(&self, bytes: u64) {
        let used = self.used.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.high.fetch_max(used, Ordering::Relaxed);
    }

    fn refund(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }

    pub(super) fn reset_mark(&self) {
        self.high.store(self.used.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// All reserved memory is in use, because graphs cache none.
    pub(crate) fn attribute(&self, attribute: CUgraphMem_attribute) -> Answer<u64> {
        use CUgraphMem_attribute as A;

        match attribute {
            A::CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT | A::CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT => {
                Ok(self.used.load(Ordering::Relaxed))
            }
            A::CU_GRAPH_MEM_ATTR_USED_MEM_HIGH | A::CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH => {
                Ok(self.high.load(Ordering::Relaxed))
            }
            _ => Err(INVALID_VALUE),
        }
    }
}

calls! {
    objects BLOCKS;

    /// Nothing to trim, because memory of graphs is freed when they are destroyed.
    fn cuDeviceGraphMemTrim(_call, device: i32) {
        device::check(device)
    }

    fn cuDeviceGetGraphMemAttribute(
        _call,
        device: i32,
        attr: CUgraphMem_attribute,
        value: Out<c_void>,
    ) {
        device::check(device)?;
        let memory = memory_of(device).ok_or(INVALID_VALUE)?;
        value.cast().set(memory.attribute(attr)?)
    }

    /// Only the maxima can be reset.
    fn cuDeviceSetGraphMemAttribute(
        _call,
        device: i32,
        attr: CUgraphMem_attribute,
        value: Out<c_void>,
    ) {
        device::check(device)?;
        let is_mark = matches!(
            attr,
            CUgraphMem_attribute::CU_GRAPH_MEM_ATTR_USED_MEM_HIGH
                | CUgraphMem_attribute::CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH
        );
        ensure(is_mark && value.cast::<u64>().get()? == 0, INVALID_VALUE)?;
        memory_of(device).ok_or(INVALID_VALUE)?.reset_mark();
        Ok(())
    }
}
