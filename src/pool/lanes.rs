//! What a caching pool of device memory holds, by stream.
//!
//! A block that comes back is in the order of one stream: all work that may use it is queued there. So it is handed out on
//! that stream at once, and on another one only when that waits for an event behind the block's stream. The streams of all
//! blocks, held and in use, are kept, so that there is one to record the event on. Calls of the driver are made outside of
//! the lock.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cuprum_sys::{CUdeviceptr, CUstream, FnId};

use crate::context::{Current, KeptContext};
use crate::error::Error;
use crate::memory::MemoryError;
use crate::memory::caching::{Bins, Counts, SizeClass, free_all, free_silently, is_no_room};
use crate::raw::call::{context_call, forked};
use crate::stream::{Event, EventFlags, KeptStream};

/// What the handles and blocks of a pool share.
pub(super) struct Shared<'p> {
    pub(super) context: KeptContext<'p>,
    state: Mutex<State<'p>>,
}

#[derive(Default)]
struct State<'p> {
    /// Their places stay, as blocks in use refer to them.
    lanes: Vec<Option<Lane<'p>>>,
    counts: Counts,
}

/// The blocks of one stream.
struct Lane<'p> {
    stream: KeptStream<'p>,
    held: Bins,
    /// Blocks in use.
    active: usize,
}

/// A block in use, which goes back to its pool on drop.
pub(super) struct Lease<'p> {
    pool: Arc<Shared<'p>>,
    address: CUdeviceptr,
    class: SizeClass,
    bytes: usize,
    lane: usize,
}

impl<'p> State<'p> {
    /// The lane of a stream, if blocks were handed out there.
    #[inline]
    fn find(&mut self, raw: CUstream) -> Option<(usize, &mut Lane<'p>)> {
        let mut lanes = self.lanes.iter_mut().enumerate();
        lanes.find_map(|(at, lane)| {
            lane.as_mut().filter(|lane| lane.stream.as_raw() == raw).map(|lane| (at, lane))
        })
    }

    /// The lane of a stream, with one block more in use.
    fn enter(&mut self, stream: &KeptStream<'p>) -> usize {
        let raw = stream.as_raw();
        if let Some((at, lane)) = self.find(raw) {
            lane.active += 1;
            return at;
        }
        let lane = Lane { stream: stream.clone(), held: Bins::default(), active: 1 };
        let free = self.lanes.iter().position(Option::is_none).unwrap_or(self.lanes.len());
        if free == self.lanes.len() {
            self.lanes.push(None);
        }
        self.lanes[free] = Some(lane);
        free
    }

    /// One block less in use in a lane.
    #[inline]
    fn leave(&mut self, at: usize) -> Option<&mut Lane<'p>> {
        let lane = self.lanes.get_mut(at)?.as_mut()?;
        lane.active -= 1;
        Some(lane)
    }

    /// Takes the lanes out that have no blocks any more; to be dropped without the lock, as streams may end with them.
    fn unused(&mut self) -> Vec<Option<Lane<'p>>> {
        let is_unused = |lane: &Lane<'_>| lane.active == 0 && lane.held.is_empty();
        self.lanes.iter_mut().map(|lane| lane.take_if(|lane| is_unused(lane))).collect()
    }
}

impl<'p> Shared<'p> {
    pub(super) fn new(context: KeptContext<'p>) -> Self {
        Self { context, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State<'p>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True in a forked child, where a thread that is gone may have the lock: nobody waits for it there.
    fn forked(&self) -> bool {
        self.context.library().forked()
    }

    pub(super) fn counts<R>(&self, ask: impl FnOnce(&mut Counts) -> R) -> R {
        if !self.forked() {
            return ask(&mut self.state().counts);
        }
        match self.state.try_lock() {
            Ok(mut state) => ask(&mut state.counts),
            Err(_) => ask(&mut Counts::default()),
        }
    }

    /// Frees a block in the current context. The driver waits for what still uses it.
    fn free(&self, block: u64) -> Result<(), Error> {
        // SAFETY: a block of this pool that nobody has; the driver frees memory of `cuMemAlloc` when no work uses it.
        unsafe { context_call!(&self.context, cuMemFree_v2(block)) }
    }

    /// Frees what is held, and lets go of streams without blocks.
    pub(super) fn free_held(&self) -> Result<(), Error> {
        if self.forked() {
            return Err(forked(FnId::cuMemFree_v2));
        }
        let (blocks, unused) = {
            let mut state = self.state();
            let State { lanes, counts } = &mut *state;
            let mut blocks = Vec::new();
            for lane in lanes.iter_mut().flatten() {
                blocks.extend(lane.held.drain().map(|(class, block)| (counts.freed(class), block).1));
            }
            (blocks, state.unused())
        };
        let freed = free_all(&self.context, blocks, |block| self.free(block));
        drop(unused);
        freed
    }

    /// Takes the largest block that is held, to free it.
    fn largest(&self) -> Option<u64> {
        let mut state = self.state();
        let State { lanes, counts } = &mut *state;
        let lane = lanes.iter_mut().flatten().max_by_key(|lane| lane.held.largest())?;
        let class = lane.held.largest()?;
        counts.freed(class);
        lane.held.take(class)
    }

    /// A block that no other stream has: of the driver's, or of another stream behind an event; and if there is neither, the
    /// driver is asked again each time that the largest block held was freed.
    #[cold]
    fn grow(
        &self,
        cx: &Current<'_, '_>,
        stream: &KeptStream<'p>,
        class: SizeClass,
        bytes: usize,
    ) -> Result<(CUdeviceptr, usize), MemoryError> {
        let mut may_move = true;
        loop {
            let mut address = 0;
            // SAFETY: `address` outlives the call, and `cx` proves a current context.
            let made =
                unsafe { context_call!(&self.context, cuMemAlloc_v2(&raw mut address, class.bytes())) };
            let error = match made {
                Ok(()) => {
                    let mut state = self.state();
                    state.counts.grown(class, bytes);
                    return Ok((address, state.enter(stream)));
                }
                Err(error) if !is_no_room(error) => return Err(error.into()),
                Err(error) => error,
            };
            if std::mem::take(&mut may_move) {
                if let Some(found) = self.of_another(cx, stream, class, bytes)? {
                    return Ok(found);
                }
            }
            let Some(block) = self.largest() else {
                let used = self.counts(|counts| counts.counters.active_bytes as u64);
                return Err(MemoryError::NoRoom { bytes, used, held: 0, error });
            };
            self.free(block)?;
        }
    }

    /// A block that another stream holds, when `stream` waits for that one.
    fn of_another(
        &self,
        cx: &Current<'_, '_>,
        stream: &KeptStream<'p>,
        class: SizeClass,
        bytes: usize,
    ) -> Result<Option<(CUdeviceptr, usize)>, MemoryError> {
        let found = {
            let mut state = self.state();
            let State { lanes, counts } = &mut *state;
            let lanes = lanes.iter_mut().enumerate();
            lanes.filter_map(|(at, lane)| Some((at, lane.as_mut()?))).find_map(|(at, lane)| {
                let block = lane.held.take(class)?;
                lane.active += 1;
                counts.reused(bytes);
                Some((at, block, lane.stream.clone()))
            })
        };
        let Some((from, block, theirs)) = found else { return Ok(None) };
        let ordered = Event::new(cx, EventFlags::DISABLE_TIMING)
            .and_then(|event| event.record(cx, &theirs).and_then(|()| stream.wait(cx, &event)));
        let mut state = self.state();
        let lane = state.leave(from);
        if let Err(error) = ordered {
            if let Some(lane) = lane {
                lane.held.put(class, block);
            }
            state.counts.not_used(bytes);
            return Err(error.into());
        }
        Ok(Some((block, state.enter(stream))))
    }
}

impl<'p> Lease<'p> {
    /// A block of at least `bytes` bytes in the order of `stream`, which is of the pool's context, as `cx` is.
    #[inline]
    pub(super) fn take(
        pool: &Arc<Shared<'p>>,
        cx: &Current<'_, '_>,
        stream: &KeptStream<'p>,
        class: SizeClass,
        bytes: usize,
    ) -> Result<Self, MemoryError> {
        if pool.forked() {
            return Err(forked(FnId::cuMemAlloc_v2).into());
        }
        let held = {
            let mut state = pool.state();
            let held = state.find(stream.as_raw()).and_then(|(at, lane)| {
                let block = lane.held.take(class)?;
                lane.active += 1;
                Some((block, at))
            });
            if held.is_some() {
                state.counts.reused(bytes);
            }
            held
        };
        let (address, lane) = match held {
            Some(held) => held,
            None => pool.grow(cx, stream, class, bytes)?,
        };
        Ok(Self { pool: Arc::clone(pool), address, class, bytes, lane })
    }

    #[inline]
    pub(super) const fn address(&self) -> CUdeviceptr {
        self.address
    }

    /// The block is in the order of another stream from now on.
    pub(super) fn move_to(&mut self, stream: &KeptStream<'p>) {
        if self.pool.forked() {
            return;
        }
        let mut state = self.pool.state();
        state.leave(self.lane);
        self.lane = state.enter(stream);
    }
}

impl Drop for Lease<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.pool.forked() {
            return;
        }
        let held = {
            let mut state = self.pool.state();
            let held = state.counts.given_back(self.class, self.bytes);
            if let Some(lane) = state.leave(self.lane).filter(|_| held) {
                lane.held.put(self.class, self.address);
            }
            held
        };
        if !held {
            free_silently(&self.pool.context, [self.address], |block| self.pool.free(block));
        }
    }
}

impl Drop for Shared<'_> {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        let lanes = std::mem::take(&mut state.lanes);
        let mut blocks = Vec::new();
        let mut kept = Vec::new();
        for mut lane in lanes.into_iter().flatten() {
            blocks.extend(lane.held.drain().map(|(_, block)| block));
            kept.push(lane.stream);
        }
        free_silently(&self.context, blocks, |block| self.free(block));
    }
}
