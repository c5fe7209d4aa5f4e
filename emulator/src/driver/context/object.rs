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

/// The live contexts.
pub(crate) static CONTEXTS: Table<Context> = Table::new(Kind::Context);

/// A context: what it owns dies with it.
#[derive(Debug)]
pub(crate) struct Context {
    /// Its handle, by which everything it owns refers to it.
    pub(crate) handle: usize,
    pub(crate) device: i32,
    pub(super) is_primary: bool,
    /// Of all contexts that there ever were, which.
    pub(crate) id: u64,
    flags: AtomicU32,
    /// State that its operations know.
    pub(crate) health: Arc<Health>,
    config: Mutex<Config>,
    /// Heap of its kernels; made when one first allocates.
    heap: Mutex<Option<Arc<Heap>>>,
    /// Contexts whose memory this one may use.
    peers: Mutex<HashSet<u64>>,
    /// Of the context of a green context alone, which holds nothing itself.
    part: Option<GreenPart>,
}

/// What a context on a part of a device is.
#[derive(Debug)]
pub(crate) struct GreenPart {
    /// The primary context, in which all that is made in this one lies.
    pub(crate) whole: Arc<Context>,
    /// The handle of the green context.
    pub(crate) green: usize,
}

/// All flags that a context can be created with.
const KNOWN_FLAGS: u32 = CUctx_flags::CU_CTX_FLAGS_MASK.0;

/// The scheduling flags, of which at most one may be set.
const SCHEDULE_FLAGS: u32 = CUctx_flags::CU_CTX_SCHED_MASK.0;

/// Fails for flags that no context can have.
pub(super) fn check_flags(flags: u32) -> Answer {
    let schedule = flags & SCHEDULE_FLAGS;
    let one_at_most = schedule == 0 || schedule.is_power_of_two();
    ensure(flags & !KNOWN_FLAGS == 0 && one_at_most, INVALID_VALUE)
}

/// Words for an object that meets another of a different context.
pub(crate) fn other_context(object: &str, home: usize, other: &str, of: usize) -> String {
    let number = |handle| CONTEXTS.number(handle);
    format!("{object} is of context #{}, and {other} of context #{}", number(home), number(of))
}

impl Context {
    pub(crate) fn create(device: i32, flags: u32, is_primary: bool) -> Arc<Self> {
        let make = |handle| Self::new(handle, device, flags, is_primary);
        CONTEXTS.insert_with(make).1
    }

    /// Makes the context of a green context.
    pub(crate) fn create_part(part: GreenPart) -> Arc<Self> {
        let (device, flags) = (part.whole.device, part.whole.flags());
        let make = |handle| Self { part: Some(part), ..Self::new(handle, device, flags, false) };
        CONTEXTS.insert_with(make).1
    }

    /// Makes a primary context again, under the handle that it had.
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
            peers: Mutex::default(),
            part: None,
        }
    }

    /// The context behind a handle; of a part of a device, the one in which its things lie.
    pub(crate) fn find(handle: CUcontext) -> Answer<Arc<Self>> {
        Self::find_itself(handle).map(|context| context.whole())
    }

    /// Where the things of this context lie.
    pub(crate) fn whole(self: Arc<Self>) -> Arc<Self> {
        match &self.part {
            Some(part) if self.health.is_alive() => Arc::clone(&part.whole),
            _ => self,
        }
    }

    /// What there is to know of a part of a device, if it is one.
    pub(crate) fn part(&self) -> Option<&GreenPart> {
        self.part.as_ref()
    }

    /// Ends the context of a green context. Its work is done then.
    pub(crate) fn end_part(&self) {
        if let Some(part) = &self.part {
            scheduler().wait_context(part.whole.handle);
        }
        self.health.end();
        CONTEXTS.remove(self.handle);
    }

    /// The context behind a handle, and not the one in which its things lie.
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

    /// Waits for everything that was pushed, then returns the sticky error if there is one.
    pub(crate) fn synchronize(&self) -> Answer {
        captures().forbid_in(self.handle)?;
        scheduler().wait_context(self.handle);
        self.check()
    }

    /// Like `synchronize`, for what was pushed in a green context.
    pub(super) fn synchronize_part(&self, green: usize) -> Answer {
        captures().forbid_in(self.handle)?;
        scheduler().wait_green(self.handle, green);
        self.check()
    }

    /// Ends the context and everything in it.
    pub(crate) fn destroy(&self) {
        // An operation that waits for a value that may never come must not keep the context for ever: the
        // operations of a dead context are dropped.
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

    /// The value of a limit, if this device has it.
    pub(crate) fn limit(&self, limit: CUlimit) -> Answer<usize> {
        self.config().limit(limit)
    }

    /// The value of a limit that a kernel counts on, and that stays from now on.
    pub(crate) fn use_limit(&self, limit: CUlimit) -> Answer<usize> {
        self.config().use_limit(limit)
    }

    /// The heap of this context's kernels.
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

    pub(super) fn config(&self) -> MutexGuard<'_, Config> {
        self.config.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True if its kernels may use the memory of another context, on another device.
    pub(crate) fn has_access_to(&self, peer: u64) -> bool {
        self.peers().contains(&peer)
    }

    pub(super) fn peers(&self) -> MutexGuard<'_, HashSet<u64>> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
