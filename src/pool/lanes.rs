//! The blocks that a caching pool of device memory holds, by stream.
//!
//! A block that returns is in the order of one stream, which has all work that may use it. So it is
//! reused on that stream immediately, and on another stream only after that one waits for an event
//! of the block's stream. The streams of all blocks, held and in use, are kept, to record such
//! events. Driver calls are made without locks.

use std::mem::ManuallyDrop;

use cuprum_sys::{CUdeviceptr, CUstream, FnId};

use crate::context::{ContextRef, Current, captures, context_call};
use crate::error::Error;
use crate::memory::MemoryError;
use crate::memory::caching::{Bins, Counts, Parts, SizeClass, Stock, User, free_silently, is_no_room};
use crate::raw::call::forked;
use crate::raw::keep::Near;
use crate::stream::{Event, EventFlags, KeptStream, Stream, StreamSource};

pub(super) type Pool<'p> = Parts<'p, Lanes<'p>>;

type PoolUser<'p> = User<'p, Lanes<'p>>;

/// The contents of a part of a pool.
#[derive(Default)]
pub(super) struct Lanes<'p> {
    /// Never removed, because blocks in use refer to them by index.
    lanes: Vec<Option<Lane<'p>>>,
    pub(super) counts: Counts,
}

struct Lane<'p> {
    /// The stream's handle, for comparison.
    raw: usize,
    /// Kept while there are blocks, held or in use.
    stream: KeptStream<'p>,
    held: Bins,
    active: usize,
}

/// A block in use, which returns to its pool on drop.
pub(super) struct Lease<'p> {
    pool: ManuallyDrop<PoolUser<'p>>,
    /// The stream of its lane, which keeps it while the block is in use.
    stream: Near<'p, Stream<'p>>,
    address: CUdeviceptr,
    bytes: usize,
    lane: usize,
    class: SizeClass,
}

impl<'p> Lane<'p> {
    /// The stream, for a block in use.
    #[inline]
    fn near(&self) -> Near<'p, Stream<'p>> {
        // SAFETY: the stream is outside of this value, and kept while the block is in use.
        unsafe { Near::borrowed(&*self.stream).outlived() }
    }
}

impl<'p> Lanes<'p> {
    #[inline]
    fn find(&mut self, raw: CUstream) -> Option<(usize, &mut Lane<'p>)> {
        let raw = raw.0.addr();
        let mut lanes = self.lanes.iter_mut().enumerate();
        lanes.find_map(|(at, lane)| lane.as_mut().filter(|lane| lane.raw == raw).map(|lane| (at, lane)))
    }

    /// Takes a held block of a stream into use, in its lane.
    #[inline]
    fn take(
        &mut self,
        raw: CUstream,
        class: SizeClass,
        bytes: usize,
    ) -> Option<(CUdeviceptr, usize, Near<'p, Stream<'p>>)> {
        let (at, lane) = self.find(raw)?;
        let block = lane.held.take(class)?;
        lane.active += 1;
        let stream = lane.near();
        self.counts.reused(bytes);
        Some((block, at, stream))
    }

    /// Takes a held block of a stream for another part.
    fn give_away(&mut self, raw: CUstream, class: SizeClass) -> Option<CUdeviceptr> {
        let block = self.find(raw)?.1.held.take(class)?;
        self.counts.freed(class);
        Some(block)
    }

    /// Adds a block in use to the lane of a stream.
    fn enter(&mut self, stream: &KeptStream<'p>) -> (usize, Near<'p, Stream<'p>>) {
        let raw = stream.as_raw();
        if let Some((at, lane)) = self.find(raw) {
            lane.active += 1;
            return (at, lane.near());
        }
        let lane = Lane { raw: raw.0.addr(), stream: stream.clone(), held: Bins::default(), active: 1 };
        let near = lane.near();
        let free = self.lanes.iter().position(Option::is_none).unwrap_or(self.lanes.len());
        if free == self.lanes.len() {
            self.lanes.push(None);
        }
        self.lanes[free] = Some(lane);
        (free, near)
    }

    #[inline]
    fn leave(&mut self, at: usize) -> Option<&mut Lane<'p>> {
        let lane = self.lanes.get_mut(at)?.as_mut()?;
        lane.active -= 1;
        Some(lane)
    }

    /// Holds a block that returns. Returns false if it is to be freed instead.
    #[inline]
    fn put(&mut self, lane: usize, class: SizeClass, block: u64, bytes: usize) -> bool {
        let held = self.counts.given_back(class, bytes);
        if let Some(lane) = self.leave(lane).filter(|_| held) {
            lane.held.put(class, block);
        }
        held
    }

    /// Takes a held block of any stream, with the stream. The block counts as in use there.
    fn of_any(&mut self, class: SizeClass, bytes: usize) -> Option<(usize, u64, KeptStream<'p>)> {
        let Self { lanes, counts } = self;
        let lanes = lanes.iter_mut().enumerate();
        lanes.filter_map(|(at, lane)| Some((at, lane.as_mut()?))).find_map(|(at, lane)| {
            let block = lane.held.take(class)?;
            lane.active += 1;
            counts.reused(bytes);
            Some((at, block, lane.stream.clone()))
        })
    }

    /// Removes lanes without blocks, to be dropped without the lock: streams may end with them.
    fn unused(&mut self) -> Vec<Option<Lane<'p>>> {
        let is_unused = |lane: &Lane<'_>| lane.active == 0 && lane.held.is_empty();
        self.lanes.iter_mut().map(|lane| lane.take_if(|lane| is_unused(lane))).collect()
    }
}

impl Stock for Lanes<'_> {
    /// The lane, which is kept as for a block in use, and the class.
    type Place = (usize, SizeClass);

    fn largest(&self) -> Option<SizeClass> {
        self.lanes.iter().flatten().filter_map(|lane| lane.held.largest()).max()
    }

    fn counts(&mut self) -> &mut Counts {
        &mut self.counts
    }

    fn take_held(&mut self) -> Option<((usize, SizeClass), u64)> {
        let Self { lanes, counts } = self;
        let lanes = lanes.iter_mut().enumerate().filter_map(|(at, lane)| Some((at, lane.as_mut()?)));
        let (at, lane) = lanes.max_by_key(|(_, lane)| lane.held.largest())?;
        let class = lane.held.largest()?;
        let block = lane.held.take(class)?;
        counts.freed(class);
        lane.active += 1;
        Some(((at, class), block))
    }

    fn put_back(&mut self, (lane, class): (usize, SizeClass), block: Option<u64>) {
        let lane = self.leave(lane);
        if let Some((lane, block)) = lane.zip(block) {
            lane.held.put(class, block);
            self.counts.not_freed(class);
        }
    }

    /// Frees a block in its context, which is current. The driver waits for work of this context
    /// that still uses it. A copy by another context is complete before its borrow of the block
    /// ends; otherwise the context is marked.
    fn free(context: &ContextRef, block: u64) -> Result<(), Error> {
        context.check_kept(FnId::cuMemFree_v2)?;
        captures::free_beside(context.library(), || {
            // SAFETY: the block is in no lease; the driver waits for the work of its context before
            // it frees memory of `cuMemAlloc`.
            unsafe { context_call!(context, cuMemFree_v2(block)) }
        })
    }
}

/// Frees the held blocks, and drops streams without blocks.
pub(super) fn free_held(pool: &Pool<'_>) -> Result<(), Error> {
    check_not_forked(pool)?;
    let freed = pool.free_held();
    for part in pool.all() {
        let unused = part.lock().unused();
        drop(unused);
    }
    freed
}

/// Same as [`free_held`], and holds no blocks from now on.
pub(super) fn stop_holding(pool: &Pool<'_>) -> Result<(), Error> {
    check_not_forked(pool)?;
    pool.stop_holding();
    free_held(pool)
}

/// Fails in a forked child, where no thread may wait for a lock.
fn check_not_forked(pool: &Pool<'_>) -> Result<(), Error> {
    if pool.forked() { Err(forked(FnId::cuMemFree_v2)) } else { Ok(()) }
}

impl<'p> Lease<'p> {
    /// Takes a block of at least `bytes` bytes in the order of `stream`, of the pool's context.
    #[inline]
    pub(super) fn take(
        pool: &Pool<'p>,
        cx: &Current<'_, '_>,
        stream: impl StreamSource<'p>,
        class: SizeClass,
        bytes: usize,
    ) -> Result<Self, MemoryError> {
        if pool.forked() {
            return Err(forked(FnId::cuMemAlloc_v2).into());
        }
        let part = pool.mine();
        let held = part.lock().take(stream.stream().as_raw(), class, bytes);
        if let Some((address, lane, stream)) = held {
            let pool = ManuallyDrop::new(part.clone());
            return Ok(Self { pool, stream, address, bytes, lane, class });
        }
        Self::grow(pool, cx, &stream.kept(), class, bytes)
    }

    /// Takes a block that another part holds for the stream, or else a new one, or one of another
    /// stream after an event. If all fail, frees the largest held block and tries the driver again,
    /// repeatedly.
    #[cold]
    #[inline(never)]
    fn grow(
        pool: &Pool<'p>,
        cx: &Current<'_, '_>,
        stream: &KeptStream<'p>,
        class: SizeClass,
        bytes: usize,
    ) -> Result<Self, MemoryError> {
        let part = pool.mine();
        let grown = |address| {
            part.lock().counts.grown(class, bytes);
            Self::enter(part, stream, address, class, bytes)
        };
        if let Some(address) = pool.of_others(|lanes| lanes.give_away(stream.as_raw(), class)) {
            return Ok(grown(address));
        }
        let mut may_move = true;
        loop {
            let mut address = 0;
            // SAFETY: `address` outlives the call, and `cx` proves a current context.
            let made =
                unsafe { context_call!(pool.context(), cuMemAlloc_v2(&raw mut address, class.bytes())) };
            let error = match made {
                Ok(()) => return Ok(grown(address)),
                Err(error) if !is_no_room(error) => return Err(error.into()),
                Err(error) => error,
            };
            if std::mem::take(&mut may_move) {
                for part in pool.all() {
                    if let Some(found) = Self::of_another(part, cx, stream, class, bytes)? {
                        return Ok(found);
                    }
                }
            }
            let Some(freed) = pool.free_one() else {
                let used = pool.counters().active_bytes as u64;
                return Err(MemoryError::NoRoom { bytes, used, held: 0, error });
            };
            freed?;
        }
    }

    /// Takes a block that another stream holds, after `stream` waits for that one.
    fn of_another(
        pool: &PoolUser<'p>,
        cx: &Current<'_, '_>,
        stream: &KeptStream<'p>,
        class: SizeClass,
        bytes: usize,
    ) -> Result<Option<Self>, MemoryError> {
        let found = pool.lock().of_any(class, bytes);
        let Some((from, block, theirs)) = found else { return Ok(None) };
        let ordered = Event::new(cx, EventFlags::DISABLE_TIMING)
            .and_then(|event| event.record(cx, &theirs).and_then(|()| stream.wait_event(cx, &event)));
        let mut lanes = pool.lock();
        let lane = lanes.leave(from);
        if let Err(error) = ordered {
            if let Some(lane) = lane {
                lane.held.put(class, block);
            }
            lanes.counts.not_used(bytes);
            return Err(error.into());
        }
        drop(lanes);
        Ok(Some(Self::enter(pool, stream, block, class, bytes)))
    }

    /// A block that is already counted as in use, on its stream.
    fn enter(
        part: &PoolUser<'p>,
        stream: &KeptStream<'p>,
        address: CUdeviceptr,
        class: SizeClass,
        bytes: usize,
    ) -> Self {
        let (lane, stream) = part.lock().enter(stream);
        Self { pool: ManuallyDrop::new(part.clone()), stream, address, bytes, lane, class }
    }

    #[inline]
    pub(super) const fn address(&self) -> CUdeviceptr {
        self.address
    }

    #[inline]
    pub(super) fn stream(&self) -> &Stream<'p> {
        &self.stream
    }

    pub(super) fn move_to(&mut self, stream: &KeptStream<'p>) {
        if self.pool.forked() {
            return;
        }
        let mut lanes = self.pool.lock();
        // The new lane may be the same one, which has to keep its stream meanwhile.
        let (lane, near) = lanes.enter(stream);
        lanes.leave(self.lane);
        drop(lanes);
        (self.lane, self.stream) = (lane, near);
    }
}

impl Drop for Lease<'_> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: taken once, here, where the value has no users any more.
        let pool = unsafe { ManuallyDrop::take(&mut self.pool) };
        if pool.forked() {
            return;
        }
        if let Err(error) = pool.context().check_kept(FnId::cuMemFree_v2) {
            pool.context().swallow(error);
            return;
        }
        let (lane, class, block, bytes) = (self.lane, self.class, self.address, self.bytes);
        if let Some(pool) = pool.leave_if(|lanes| lanes.put(lane, class, block, bytes)) {
            let context = pool.context();
            free_silently(context, [block], |block| Lanes::free(context, block));
        }
    }
}
