//! Contexts: their state, and their end.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cuprum_sys::*;

use crate::driver::answer::{Answer, INVALID_CONTEXT, INVALID_VALUE, ensure};
use crate::driver::call::{Kind, Table, objects};
use crate::driver::handle::Handle;
use crate::driver::state::{Health, captures, memory, scheduler};

use super::config::Config;
use super::heap::Heap;
use super::leak;

pub(crate) static CONTEXTS: Table<Context> = Table::new(Kind::Context);

/// A context. Its objects end with it.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) handle: usize,
    pub(crate) device: i32,
    pub(super) is_primary: bool,
    /// Number of the context among all contexts ever created.
    pub(crate) id: u64,
    flags: AtomicU32,
    /// State that is visible to its operations.
    pub(crate) health: Arc<Health>,
    config: Mutex<Config>,
    /// Heap of its kernels; created when a kernel first allocates.
    heap: Mutex<Option<Arc<Heap>>>,
    /// The memory for the parameters of launches by kernels, and their maximum number. It is
    /// replaced when the limit grows, which no kernel fixes on an H200.
    launch_buffers: Mutex<Option<(usize, Arc<Heap>)>>,
    peers: Mutex<HashSet<u64>>,
    /// Set only in the context of a green context, which owns no objects.
    part: Option<GreenPart>,
}

#[derive(Debug)]
pub(crate) struct GreenPart {
    /// The primary context, which owns all objects created in this one.
    pub(crate) whole: Arc<Context>,
    pub(crate) green: usize,
}

const KNOWN_FLAGS: u32 = CUctx_flags::CU_CTX_FLAGS_MASK.0;

const SCHEDULE_FLAGS: u32 = CUctx_flags::CU_CTX_SCHED_MASK.0;

pub(super) fn check_flags(flags: u32) -> Answer {
    let schedule = flags & SCHEDULE_FLAGS;
    let one_at_most = schedule == 0 || schedule.is_power_of_two();
    ensure(flags & !KNOWN_FLAGS == 0 && one_at_most, INVALID_VALUE)
}

/// Describes two objects that belong to different contexts.
pub(crate) fn other_context(object: &str, home: usize, other: &str, of: usize) -> String {
    let number = |handle| CONTEXTS.number(handle);
    format!("{object} is of context #{}, and {other} of context #{}", number(home), number(of))
}

impl Context {
    pub(crate) fn create(device: i32, flags: u32, is_primary: bool) -> Arc<Self> {
        let make = |handle| Self::new(handle, device, flags, is_primary);
        CONTEXTS.insert_with(make).1
    }

    pub(crate) fn create_part(part: GreenPart) -> Arc<Self> {
        let (device, flags) = (part.whole.device, part.whole.flags());
        let make = |handle| Self { part: Some(part), ..Self::new(handle, device, flags, false) };
        CONTEXTS.insert_with(make).1
    }

    /// Creates a primary context again, under its previous handle.
    pub(super) fn create_again(handle: usize, device: i32, flags: u32) -> Arc<Self> {
        CONTEXTS.insert_again(handle, Self::new(handle, device, flags, true))
    }

    fn new(handle: usize, device: i32, flags: u32, is_primary: bool) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self {
            handle,
            device,
            is_primary,
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            flags: AtomicU32::new(flags),
            health: Arc::new(Health::new(handle)),
            config: Mutex::default(),
            heap: Mutex::default(),
            launch_buffers: Mutex::default(),
            peers: Mutex::default(),
            part: None,
        }
    }

    /// Finds a context by handle; for a part of a device, the context that owns its objects.
    pub(crate) fn find(handle: CUcontext) -> Answer<Arc<Self>> {
        Self::find_itself(handle).map(|context| context.whole())
    }

    /// Returns the context that owns the objects created in this one.
    pub(crate) fn whole(self: Arc<Self>) -> Arc<Self> {
        match &self.part {
            Some(part) if self.health.is_alive() => Arc::clone(&part.whole),
            _ => self,
        }
    }

    pub(crate) fn part(&self) -> Option<&GreenPart> {
        self.part.as_ref()
    }

    /// Waits for the work of a green context, then ends its context.
    pub(crate) fn end_part(&self) {
        if let Some(part) = &self.part {
            scheduler().wait_context(part.whole.handle);
        }
        self.health.end();
        CONTEXTS.remove(self.handle);
    }

    /// Finds a context by its handle, even if it is a part of a device.
    pub(crate) fn find_itself(handle: CUcontext) -> Answer<Arc<Self>> {
        let contexts = &CONTEXTS;
        contexts.get(handle.addr()).ok_or_else(|| {
            if contexts.was_given(handle.addr()) {
                CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED
            } else {
                INVALID_CONTEXT
            }
        })
    }

    /// Fails if the context was destroyed or has a sticky error.
    pub(crate) fn check(&self) -> Answer {
        self.health.check()
    }

    /// Waits for all queued work, then returns the sticky error if there is one.
    pub(crate) fn synchronize(&self) -> Answer {
        captures().forbid_in(self.handle)?;
        scheduler().wait_context(self.handle);
        self.check()
    }

    /// Like `synchronize`, for the work queued in a green context.
    pub(super) fn synchronize_part(&self, green: usize) -> Answer {
        captures().forbid_in(self.handle)?;
        scheduler().wait_green(self.handle, green);
        self.check()
    }

    pub(crate) fn destroy(&self) {
        // An operation may wait for a value that never arrives. It must not keep the context for
        // ever, so the operations of an ended context are dropped.
        if scheduler().is_stalled(self.handle) {
            self.health.end();
        }
        scheduler().wait_context(self.handle);
        if self.check().is_ok() {
            leak::end_of_context(self.handle, CONTEXTS.number(self.handle));
        }
        self.health.end();
        CONTEXTS.remove(self.handle);
        captures().forget_context(self.handle);
        for objects in objects() {
            objects.end_of_context(self.handle);
        }
        memory().free_context(self.handle as u64);
    }

    pub(crate) fn flags(&self) -> u32 {
        self.flags.load(Ordering::Relaxed)
    }

    pub(super) fn set_flags(&self, flags: u32) {
        self.flags.store(flags, Ordering::Relaxed);
    }

    pub(crate) fn limit(&self, limit: CUlimit) -> Answer<usize> {
        self.config().limit(limit)
    }

    /// Returns a limit that a kernel relies on, and fixes it from now on.
    pub(crate) fn use_limit(&self, limit: CUlimit) -> Answer<usize> {
        self.config().use_limit(limit)
    }

    pub(crate) fn heap(&self) -> Answer<Arc<Heap>> {
        let mut heap = self.heap.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(heap) = heap.as_ref() {
            return Ok(Arc::clone(heap));
        }
        let bytes = self.use_limit(CUlimit::CU_LIMIT_MALLOC_HEAP_SIZE)?;
        let made = Arc::new(Heap::create(bytes as u64, self.handle, self.device)?);
        *heap = Some(Arc::clone(&made));
        Ok(made)
    }

    /// Returns the memory for the parameters of so many launches by kernels.
    pub(crate) fn launch_buffers(&self, launches: usize) -> Answer<Arc<Heap>> {
        /// Bytes of the parameters of most kernels.
        const BUFFER_BYTES: u64 = 1024;
        let mut known = self.launch_buffers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, heap)) = known.as_ref().filter(|(most, _)| *most >= launches) {
            return Ok(Arc::clone(heap));
        }
        let bytes = (launches as u64).saturating_mul(BUFFER_BYTES);
        let made = Arc::new(Heap::create(bytes, self.handle, self.device)?);
        *known = Some((launches, Arc::clone(&made)));
        Ok(made)
    }

    pub(super) fn config(&self) -> MutexGuard<'_, Config> {
        self.config.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True if its kernels may access the memory of another context, on another device.
    pub(crate) fn has_access_to(&self, peer: u64) -> bool {
        self.peers().contains(&peer)
    }

    pub(super) fn peers(&self) -> MutexGuard<'_, HashSet<u64>> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
