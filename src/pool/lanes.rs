//! What a caching pool of device memory holds, by stream.
//!
//! A block that comes back is in the order of one stream: all work that may use it is queued there. So it is handed out on
//! that stream at once, and on another one only when that waits for an event behind the block's stream. The streams of all
//! blocks, held and in use, are kept, so that there is one to record the event on. Calls of the driver are made outside of
//! the lock.

use std::mem::ManuallyDrop;

use cuprum_sys::{CUdeviceptr, CUstream, FnId};

use crate::context::{ContextRef, Current};
use crate::error::Error;
use crate::memory::MemoryError;
use crate::memory::caching::{
    Bins, Counts, SizeClass, Stock, StockGuard, User, free_all, free_silently, is_no_room,
};
use crate::raw::call::{context_call, forked};
use crate::raw::keep::Near;
use crate::stream::{Event, EventFlags, KeptStream, Stream, StreamSource};

/// A user of a pool of device memory: a handle, or a block in use.
pub(super) type PoolUser<'p> = User<'p, Lanes<'p>>;

/// What a pool holds.
#[derive(Default)]
pub(super) struct Lanes<'p> {
    /// Their places stay, as blocks in use refer to them.
    lanes: Vec<Option<Lane<'p>>>,
    pub(super) counts: Counts,
}

/// The blocks of one stream.
struct Lane<'p> {
    /// The stream's handle, to be compared.
    raw: usize,
    /// Kept as long as there are blocks, held or in use.
    stream: KeptStream<'p>,
    held: Bins,
    /// Blocks in use.
    active: usize,
}

/// A block in use, which goes back to its pool on drop.
pub(super) struct Lease<'p> {
    /// Taken when this is dropped.
    pool: ManuallyDrop<PoolUser<'p>>,
    /// That of its lane, which keeps it as long as the block is in use.
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
        // SAFETY: it does not lie in this value, and as long as the block is in use, this keeps it; so `Lease` says.
        unsafe { Near::borrowed(&*self.stream).outlived() }
    }
}

impl<'p> Lanes<'p> {
    /// The lane of a stream, if blocks were handed out there.
    #[inline]
    fn find(&mut self, raw: CUstream) -> Option<(usize, &mut Lane<'p>)> {
        let raw = raw.0.addr();
        let mut lanes = self.lanes.iter_mut().enumerate();
        lanes.find_map(|(at, lane)| lane.as_mut().filter(|lane| lane.raw == raw).map(|lane| (at, lane)))
    }

    /// A block that is held for a stream; it is in use now, in that lane.
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

    /// Puts a block in use into the lane of a stream.
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

    /// One block less in use in a lane.
    #[inline]
    fn leave(&mut self, at: usize) -> Option<&mut Lane<'p>> {
        let lane = self.lanes.get_mut(at)?.as_mut()?;
        lane.active -= 1;
        Some(lane)
    }

    /// Holds a block that comes back, unless it is to be freed: then false.
    #[inline]
    fn put(&mut self, lane: usize, class: SizeClass, block: u64, bytes: usize) -> bool {
        let held = self.counts.given_back(class, bytes);
        if let Some(lane) = self.leave(lane).filter(|_| held) {
            lane.held.put(class, block);
        }
        held
    }

    /// Takes all blocks that are held, to free them.
    fn drain(&mut self) -> Vec<u64> {
        let Self { lanes, counts } = self;
        let held = lanes.iter_mut().flatten().flat_map(|lane| lane.held.drain());
        held.map(|(class, block)| (counts.freed(class), block).1).collect()
    }

    /// Takes the largest block that is held, to free it.
    fn largest(&mut self) -> Option<u64> {
        let Self { lanes, counts } = self;
        let lane = lanes.iter_mut().flatten().max_by_key(|lane| lane.held.largest())?;
        let class = lane.held.largest()?;
        counts.freed(class);
        lane.held.take(class)
    }

    /// Takes a block that any stream holds, and that stream; the block counts as in use there.
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

    /// Takes the lanes out that have no blocks any more; to be dropped without the lock, as streams may end with them.
    fn unused(&mut self) -> Vec<Option<Lane<'p>>> {
        let is_unused = |lane: &Lane<'_>| lane.active == 0 && lane.held.is_empty();
        self.lanes.iter_mut().map(|lane| lane.take_if(|lane| is_unused(lane))).collect()
    }
}

impl Stock for Lanes<'_> {
    fn end(&mut self, context: &ContextRef) {
        free_silently(context, self.drain(), |block| free(context, block));
    }
}

/// Locks what is held, which nobody does in a forked child.
pub(super) fn lock<'a, 'p>(pool: &'a PoolUser<'p>) -> Result<StockGuard<'a, 'p, Lanes<'p>>, Error> {
    if pool.forked() { Err(forked(FnId::cuMemFree_v2)) } else { Ok(pool.lock()) }
}

/// Frees a block of a pool, which nobody has, in its context, which is current. The driver waits for what still uses it.
fn free(context: &ContextRef, block: u64) -> Result<(), Error> {
    // SAFETY: a block that nobody has; the driver frees memory of `cuMemAlloc` when no work uses it.
    unsafe { context_call!(context, cuMemFree_v2(block)) }
}

/// Frees what is held, and lets go of streams without blocks.
pub(super) fn free_held(pool: &PoolUser<'_>) -> Result<(), Error> {
    let (blocks, unused) = {
        let mut lanes = lock(pool)?;
        (lanes.drain(), lanes.unused())
    };
    let freed = free_all(pool.context(), blocks, |block| free(pool.context(), block));
    drop(unused);
    freed
}

impl<'p> Lease<'p> {
    /// A block of at least `bytes` bytes in the order of `stream`, which is of the pool's context, as `cx` is.
    #[inline]
    pub(super) fn take(
        pool: &PoolUser<'p>,
        cx: &Current<'_, '_>,
        stream: impl StreamSource<'p>,
        class: SizeClass,
        bytes: usize,
    ) -> Result<Self, MemoryError> {
        if pool.forked() {
            return Err(forked(FnId::cuMemAlloc_v2).into());
        }
        let mut lanes = pool.lock();
        if let Some((address, lane, stream)) = lanes.take(stream.stream().as_raw(), class, bytes) {
            let pool = ManuallyDrop::new(lanes.user());
            return Ok(Self { pool, stream, address, bytes, lane, class });
        }
        drop(lanes);
        Self::grow(pool, cx, &stream.kept(), class, bytes)
    }

    /// A block that no other stream has: of the driver's, or of another stream behind an event; and if there is neither, the
    /// driver is asked again each time that the largest block held was freed.
    #[cold]
    #[inline(never)]
    fn grow(
        pool: &PoolUser<'p>,
        cx: &Current<'_, '_>,
        stream: &KeptStream<'p>,
        class: SizeClass,
        bytes: usize,
    ) -> Result<Self, MemoryError> {
        let mut may_move = true;
        loop {
            let mut address = 0;
            // SAFETY: `address` outlives the call, and `cx` proves a current context.
            let made =
                unsafe { context_call!(pool.context(), cuMemAlloc_v2(&raw mut address, class.bytes())) };
            let error = match made {
                Ok(()) => {
                    let mut lanes = pool.lock();
                    lanes.counts.grown(class, bytes);
                    return Ok(Self::enter(lanes, stream, address, class, bytes));
                }
                Err(error) if !is_no_room(error) => return Err(error.into()),
                Err(error) => error,
            };
            if std::mem::take(&mut may_move) {
                if let Some(found) = Self::of_another(pool, cx, stream, class, bytes)? {
                    return Ok(found);
                }
            }
            let largest = pool.lock().largest();
            let Some(block) = largest else {
                let used = pool.lock().counts.counters.active_bytes as u64;
                return Err(MemoryError::NoRoom { bytes, used, held: 0, error });
            };
            free(pool.context(), block)?;
        }
    }

    /// A block that another stream holds, when `stream` waits for that one.
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
            .and_then(|event| event.record(cx, &theirs).and_then(|()| stream.wait(cx, &event)));
        let mut lanes = pool.lock();
        let lane = lanes.leave(from);
        if let Err(error) = ordered {
            if let Some(lane) = lane {
                lane.held.put(class, block);
            }
            lanes.counts.not_used(bytes);
            return Err(error.into());
        }
        Ok(Some(Self::enter(lanes, stream, block, class, bytes)))
    }

    /// A block that is counted as in use, on its stream.
    fn enter(
        mut lanes: StockGuard<'_, 'p, Lanes<'p>>,
        stream: &KeptStream<'p>,
        address: CUdeviceptr,
        class: SizeClass,
        bytes: usize,
    ) -> Self {
        let (lane, stream) = lanes.enter(stream);
        Self { pool: ManuallyDrop::new(lanes.user()), stream, address, bytes, lane, class }
    }

    #[inline]
    pub(super) const fn address(&self) -> CUdeviceptr {
        self.address
    }

    /// The stream in whose order the block is.
    #[inline]
    pub(super) fn stream(&self) -> &Stream<'p> {
        &self.stream
    }

    /// The block is in the order of another stream from now on.
    pub(super) fn move_to(&mut self, stream: &KeptStream<'p>) {
        if self.pool.forked() {
            return;
        }
        let mut lanes = self.pool.lock();
        // The new lane may be the one that it is in, which has to keep its stream meanwhile.
        let (lane, near) = lanes.enter(stream);
        lanes.leave(self.lane);
        drop(lanes);
        (self.lane, self.stream) = (lane, near);
    }
}

impl Drop for Lease<'_> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: taken once, here, as nobody uses the value any more.
        let pool = unsafe { ManuallyDrop::take(&mut self.pool) };
        if pool.forked() {
            return;
        }
        let (lane, class, block, bytes) = (self.lane, self.class, self.address, self.bytes);
        if let Some(pool) = pool.leave_if(|lanes| lanes.put(lane, class, block, bytes)) {
            let context = pool.context();
            free_silently(context, [block], |block| free(context, block));
        }
    }
}
