//! Queues: streams for work on regions, which any thread may record.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use cuprum_sys::{CUstream, FnId};

use super::block::{Block, Storage};
use super::core::{Core, Mode, locked};
use super::hub::{Hub, alloc_device};
use super::naive::naive;
use super::pool::{class_of, with_room};
use super::{Region, RegionError};
use crate::context::{ContextRef, Current};
use crate::error::Error;
use crate::memory::caching::SizeClass;
use crate::raw::call::forked;

/// A queue of work on regions: it runs in the order in which it was queued, concurrently with other queues and streams.
///
/// A handle that is shared, and used by any number of threads. It is a stream, and not a [`Stream`](crate::Stream): work
/// on it may become part of a [`Recording`](super::Recording) that another thread has begun, which keeps all that it
/// uses, whereas the loans of a scope end with the scope. Each operation makes one driver call.
///
/// Work may still run when the method that queued it returns. [`mark`](Queue::mark) and [`wait`](Queue::wait) put
/// queues in order.
///
/// # Order between queues
///
/// Memory that a queue allocates may still be used by its own earlier work. Another queue must come after that: it
/// [waits](Queue::wait) for a mark that was made after the allocation, or it answers [`RegionError::NotOrdered`]. Beyond
/// that nothing is compared: a queue that reads memory before another one has written it finds old bytes.
///
/// Example: see [`Pool`](super::Pool), `queue`.
#[derive(Clone)]
pub struct Queue {
    core: Arc<Core>,
    hub: Arc<Hub>,
}

impl Queue {
    pub(super) const fn new(core: Arc<Core>, hub: Arc<Hub>) -> Self {
        Self { core, hub }
    }

    /// The driver's handle, for other libraries. Work that is queued with it is not noted anywhere, and becomes part of a
    /// recording if there is one.
    #[inline]
    pub fn as_raw(&self) -> CUstream {
        self.core.stream.as_raw()
    }

    /// The context that the queue belongs to.
    #[inline]
    pub fn context(&self) -> &ContextRef {
        self.core.context()
    }

    /// Lets another library queue work that uses `regions`. `body` receives the driver's handle of the stream. Its
    /// work there becomes part of a recording if there is one, and the regions are noted as for [`launch`](Queue::launch).
    ///
    /// While `body` runs, other threads neither mark nor record this queue. It must not use the queue itself, and it must
    /// have queued all its work before it returns. The context need not be current.
    ///
    /// # Errors
    /// Errors of `body`; [`RegionError::NotOrdered`]; [`Error::is_wrong_context`] for a region of another context than the
    /// queue; [`Error::is_forked`]. Unless it is an error of `body`, that did not run.
    pub fn with_raw<'r, R, E: From<RegionError>>(
        &self,
        regions: impl IntoIterator<Item = &'r Region>,
        body: impl FnOnce(CUstream) -> Result<R, E>,
    ) -> Result<R, E> {
        const CALL: FnId = FnId::cuLaunchKernel;
        if self.context().library().forked() {
            return Err(RegionError::from(forked(CALL)).into());
        }
        let mode = self.core.hold();
        for block in regions.into_iter().map(Region::block) {
            block.check_context(&self.core, CALL).map_err(RegionError::from)?;
            block.touch(&self.core, &mode)?;
        }
        body(self.as_raw())
    }

    /// A region without bytes that keeps `owner`: noted as memory is, it is dropped when the last share is dropped and no
    /// queue uses it any more, by the pool, as for memory that was [adopted](super::Pool::adopt). For objects of other
    /// libraries that work queued by [`with_raw`](Queue::with_raw) uses.
    pub fn keep(&self, owner: impl Any + Send + Sync) -> Region {
        Region::new(Block::new(&self.hub, Storage::Kept(Box::new(owner)), None), 0, 0)
    }

    pub(super) const fn core(&self) -> &Arc<Core> {
        &self.core
    }

    /// Allocates `bytes` bytes in the order of this queue, with unspecified contents. During a recording, the memory is in
    /// the order of no queue. Where nothing that was dropped fits, the pool also drops owners that were adopted and code,
    /// once their last use is over; freeing them waits for the context.
    ///
    /// # Errors
    /// [`MemoryError::TooLarge`](crate::MemoryError::TooLarge) in [`RegionError::Memory`]; [`Error::is_wrong_context`];
    /// `CUDA_ERROR_OUT_OF_MEMORY`, when all that the pool kept is freed; the sticky errors of earlier work.
    ///
    /// Driver: none where memory of the size class was dropped that this queue may use again; otherwise `cuMemAlloc_v2`,
    /// CUDA 3.2+, unless memory comes back when each queue that uses dropped memory was asked, by `cuEventCreate`,
    /// `cuEventRecord` and `cuEventQuery`, CUDA 2.0+; where there is no room, `cuEventSynchronize`, CUDA 2.0+,
    /// `cuMemFree_v2`, CUDA 3.2+, and `cuMemFreeHost`, CUDA 2.0+.
    #[doc(alias = "cuMemAlloc_v2")]
    pub fn alloc(&self, cx: &Current<'_, 'static>, bytes: usize) -> Result<Region, RegionError> {
        cx.require(self.context(), FnId::cuMemAlloc_v2)?;
        if bytes == 0 {
            return Ok(Region::new(Block::new(&self.hub, Storage::Nothing, None), 0, 0));
        }
        let class = class_of(bytes)?;
        if let Some(found) = self.idle(class)? {
            return Ok(self.region(found, class, bytes));
        }
        self.hub.collect(cx);
        if let Some(found) = self.idle(class)? {
            return Ok(self.region(found, class, bytes));
        }
        let address = with_room(cx, &self.hub, || alloc_device(cx, class))?;
        Ok(self.region((address, self.home()), class, bytes))
    }

    /// Memory that this queue may use now, and its home: from its lane, unless its work is being recorded, or memory that
    /// nothing uses.
    fn idle(&self, class: SizeClass) -> Result<Option<(u64, Home)>, RegionError> {
        let mode = self.core.hold();
        let home = self.home_in(&mode);
        // A replay could overtake work that still uses memory of a lane.
        if mode.taken()?.is_none() || naive("quiet") {
            if let Some(address) = locked(&self.core.lane).take(class) {
                return Ok(Some((address, home)));
            }
        }
        Ok(locked(&self.hub.quiet).take(class).map(|address| (address, home)))
    }

    /// The home of memory that is given out now.
    fn home(&self) -> Home {
        self.home_in(&self.core.hold())
    }

    fn home_in(&self, mode: &Mode) -> Home {
        matches!(mode, Mode::Eager).then(|| (Arc::clone(&self.core), self.core.epoch()))
    }

    fn region(&self, (address, home): (u64, Home), class: SizeClass, bytes: usize) -> Region {
        Region::new(Block::new(&self.hub, Storage::Device { address, class }, home), address, bytes)
    }

    /// Makes one driver call on the stream, after noting the regions that it uses. The notes stay if the call fails.
    #[inline]
    pub(super) fn operate<'r>(
        &self,
        cx: &Current<'_, '_>,
        call: FnId,
        regions: impl IntoIterator<Item = &'r Region>,
        body: impl FnOnce(&ContextRef, CUstream) -> Result<(), Error>,
    ) -> Result<(), RegionError> {
        let blocks = regions.into_iter().map(Region::block);
        self.operate_on(cx, call, blocks, |block| block.check_context(&self.core, call), body)
    }

    /// Like [`operate`](Queue::operate), with blocks, and a check of each.
    #[inline]
    pub(super) fn operate_on<'r>(
        &self,
        cx: &Current<'_, '_>,
        call: FnId,
        blocks: impl IntoIterator<Item = &'r Arc<Block>>,
        check: impl Fn(&Block) -> Result<(), Error>,
        body: impl FnOnce(&ContextRef, CUstream) -> Result<(), Error>,
    ) -> Result<(), RegionError> {
        let context = cx.require(self.context(), call)?;
        let mode = self.core.hold();
        for block in blocks {
            check(block)?;
            block.touch(&self.core, &mode)?;
        }
        if naive("lock") {
            drop(mode);
            std::thread::sleep(std::time::Duration::from_micros(50));
            return Ok(body(context, self.as_raw())?);
        }
        let done = body(context, self.as_raw());
        drop(mode);
        Ok(done?)
    }
}

/// The home of a block: see [`Block`].
type Home = Option<(Arc<Core>, u64)>;

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Queue({:?})", self.as_raw())
    }
}
