//! Queues: streams for work on regions, which any thread may record.

use std::any::Any;
use std::sync::Arc;

use cuprum_sys::{CUstream, FnId};

use super::block::Block;
use super::core::{Core, Mode, locked};
use super::hub::Hub;
use super::lent::Lease;
use super::naive::naive;
use super::raw_memory::{alloc_device, class_of};
use super::storage::Storage;
use super::{Region, RegionError};
use crate::context::{ContextRef, Current};
use crate::error::Error;
use crate::memory::caching::SizeClass;
use crate::raw::call::forked;
use crate::raw::debug::debug;
use crate::raw::owner::context;

/// A queue of work on regions. Work runs in the order in which it was queued, concurrently with
/// other queues and streams.
///
/// It is a handle that any number of threads can share. It is not a [`Stream`](crate::Stream),
/// because its work may become part of a [`Recording`](super::Recording) of another thread: a
/// recording keeps all that its work uses, but the loans of a scope end with the scope. Each
/// operation makes one driver call.
///
/// Work may still run when the method that queued it returns. [`mark`](Queue::mark) and
/// [`wait`](Queue::wait) order queues.
///
/// # Order between queues
///
/// A queue's own earlier work may still use memory that the queue allocates. Another queue must
/// come after that work: it [waits](Queue::wait) for a mark made after the allocation; otherwise
/// its operations fail with [`RegionError::NotOrdered`]. No other order is checked: a queue that
/// reads memory before another one has written it finds old bytes.
///
/// ```
/// # cuprum::example!(driver, context);
/// # context.enter(|cx| {
/// let pool = cuprum::region::Pool::new(cx);
/// let (first, second) = (pool.queue(cx)?, pool.queue(cx)?);
/// let region = first.alloc(cx, 4)?;
/// second.wait(cx, &first.mark(cx)?)?; // from here on, `second` may use the region
/// second.fill(cx, &region, 7u8)?;
/// # Ok(()) })?; Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Queue {
    core: Arc<Core>,
    hub: Arc<Hub>,
}

impl Queue {
    pub(super) const fn new(core: Arc<Core>, hub: Arc<Hub>) -> Self {
        Self { core, hub }
    }

    /// The driver's handle, for other libraries. Work queued through it is not noted, and becomes
    /// part of a recording if there is one.
    #[inline]
    pub fn as_raw(&self) -> CUstream {
        self.core.stream.as_raw()
    }

    context!(|this| this.core.context());

    /// Lets another library queue work that uses `regions`. `body` receives the driver's handle of
    /// the stream, and true if its work becomes part of a recording. The regions are noted as for
    /// [`launch`](Queue::launch).
    ///
    /// While `body` runs, other threads cannot mark or record this queue, and in `body` itself its
    /// methods fail. `body` must queue all its work before it returns. The context need not be
    /// current.
    ///
    /// # Errors
    /// The errors of `body`; [`RegionError::NotOrdered`]; [`RegionError::Busy`] in the `body` of
    /// another call for this queue; [`Error::WRONG_CONTEXT`] for a region
    /// of another context than the queue; [`Error::FORKED`]. If another error than one of `body`
    /// is returned, `body` did not run.
    pub fn with_raw<'r, R, E: From<RegionError>>(
        &self,
        regions: impl IntoIterator<Item = &'r Region>,
        body: impl FnOnce(CUstream, bool) -> Result<R, E>,
    ) -> Result<R, E> {
        const CALL: FnId = FnId::cuLaunchKernel;
        if self.context().library().forked() {
            return Err(RegionError::from(forked(CALL)).into());
        }
        let mode = self.core.hold()?;
        for block in regions.into_iter().map(Region::block) {
            block.check_context(&self.core, CALL).map_err(RegionError::from)?;
            block.touch(&self.core, &mode)?;
        }
        let _lease = Lease::new(self.core.number());
        body(self.as_raw(), !matches!(*mode, Mode::Eager))
    }

    /// Makes a region without bytes that keeps `owner`. It is noted like memory: when the last
    /// share is dropped and no queue uses it, the pool drops it, as for
    /// [adopted](super::Pool::adopt) memory. For objects of other libraries that work in
    /// [`with_raw`](Queue::with_raw) uses.
    pub fn keep(&self, owner: impl Any + Send + Sync) -> Region {
        Region::new(Block::new(&self.hub, Storage::Kept(Box::new(owner)), None), 0, 0)
    }

    pub(super) const fn core(&self) -> &Arc<Core> {
        &self.core
    }

    /// Allocates `bytes` bytes in the order of this queue, with unspecified contents. During a
    /// recording, the memory is in the order of no queue. If no dropped memory fits, the pool also
    /// drops adopted owners and code whose last use is complete; freeing them waits for the
    /// context.
    ///
    /// # Errors
    /// [`MemoryError::TooLarge`](crate::MemoryError::TooLarge) in [`RegionError::Memory`];
    /// [`Error::WRONG_CONTEXT`]; `CUDA_ERROR_OUT_OF_MEMORY`, after all kept memory was freed.
    ///
    /// Driver: none if dropped memory of the size class can be reused on this queue; otherwise
    /// `cuMemAlloc_v2`, CUDA 3.2+, unless queries of the queues that use dropped memory release
    /// some, by `cuEventCreate`, `cuEventRecord` and `cuEventQuery`, CUDA 2.0+; without room,
    /// `cuEventSynchronize`, CUDA 2.0+, `cuMemFree_v2`, CUDA 3.2+, and `cuMemFreeHost`, CUDA 2.0+.
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
        let address = self.hub.with_room(cx, || alloc_device(cx, class))?;
        Ok(self.region((address, self.home()?), class, bytes))
    }

    /// Memory that this queue may use now: from its lane, except in a recording, or unused memory.
    fn idle(&self, class: SizeClass) -> Result<Option<(u64, Home)>, RegionError> {
        let mode = self.core.hold()?;
        let home = self.home_in(&mode);
        // A replay could overtake work that still uses memory of a lane.
        if mode.taken()?.is_none() || naive("quiet") {
            if let Some(address) = locked(&self.core.lane).take(class) {
                return Ok(Some((address, home)));
            }
        }
        Ok(locked(&self.hub.quiet).take(class).map(|address| (address, home)))
    }

    /// The home of memory that is allocated now.
    fn home(&self) -> Result<Home, RegionError> {
        Ok(self.home_in(&*self.core.hold()?))
    }

    fn home_in(&self, mode: &Mode) -> Home {
        matches!(mode, Mode::Eager).then(|| (Arc::clone(&self.core), self.core.epoch()))
    }

    fn region(&self, (address, home): (u64, Home), class: SizeClass, bytes: usize) -> Region {
        Region::new(Block::new(&self.hub, Storage::Device { address, class }, home), address, bytes)
    }

    /// Makes one driver call on the stream, after noting its regions. An error keeps the notes.
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

    /// Same as [`operate`](Queue::operate), with blocks, and a check of each.
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
        let mode = self.core.hold()?;
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

impl Region {
    /// Returns the queue in whose order the memory was allocated, after which other queues have to
    /// come: see [`Queue`]. `None` for memory that was adopted, or allocated during a recording.
    pub fn queue(&self) -> Option<Queue> {
        let (core, hub) = self.block().home()?;
        Some(Queue::new(Arc::clone(core), Arc::clone(hub)))
    }
}

/// The home of a block: see [`Block`].
type Home = Option<(Arc<Core>, u64)>;

debug!(Queue: |this| "{:?}", this.as_raw());
