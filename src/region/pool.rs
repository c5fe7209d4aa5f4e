//! The pool, which makes queues, memory and kernels.

use std::sync::Arc;

use cuprum_sys::FnId;

use super::adopted::sealed::Owner;
use super::block::Block;
use super::core::{Core, locked};
use super::hub::Hub;
use super::pinned::Pinned;
use super::raw_memory::{alloc_host, class_of};
use super::storage::Storage;
use super::{Queue, Region, RegionError};
use crate::context::Current;
use crate::memory::copy;
use crate::raw::debug::debug;
use crate::raw::owner::context;
use crate::stream::Stream;

/// A pool of memory in one context, with its queues and its page-locked memory.
///
/// It is a handle: its clones, and all objects made with it, share the pool. Dropped memory is
/// kept, and reused without a driver call. Device memory belongs to the [`Queue`] that allocated
/// it. That queue can reuse it immediately after a drop, because its next work comes after the work
/// that still runs. Memory that other queues have used waits until they have passed that use;
/// events are recorded to check this when memory is needed. So no drop calls the driver, except the
/// last of all: it waits for the work that uses the memory, and frees it. Memory whose work cannot
/// be waited for leaks.
///
/// Sizes are rounded up to sixteen classes per power of two, of at least 512 bytes.
///
/// ```
/// # cuprum::example!(driver);
/// use cuprum::context::PrimaryContext;
/// use cuprum::region::Pool;
///
/// let context = PrimaryContext::retain(driver.device(0)?)?.share();
/// context.enter(|cx| {
///     let pool = Pool::new(cx);
///     let queue = pool.queue(cx)?;
///     let first = queue.alloc(cx, 1 << 20)?;
///     let address = first.as_raw();
///     queue.fill(cx, &first, 7u8)?;
///     drop(first);
///     // The same memory, without a wait: later work on it comes after the fill.
///     assert_eq!(queue.alloc(cx, 1 << 20)?.as_raw(), address);
///     Ok(())
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Pool(Arc<Hub>);

impl Pool {
    /// Makes an empty pool. No driver call.
    pub fn new(cx: &Current<'_, 'static>) -> Self {
        Self(Arc::new(Hub::new(cx.keep())))
    }

    context!(|this| this.0.context());

    pub(super) const fn hub(&self) -> &Arc<Hub> {
        &self.0
    }

    /// Makes a queue, on a non-blocking stream. Reuses the stream of a dropped queue, with the
    /// memory in its order, if its work is complete.
    ///
    /// # Errors
    /// [`Error::WRONG_CONTEXT`](crate::Error::WRONG_CONTEXT); `CUDA_ERROR_OUT_OF_MEMORY`.
    ///
    /// Driver: `cuStreamCreate`, CUDA 2.0+, and `cuStreamQuery`, CUDA 2.0+, for each queue that was
    /// dropped.
    #[doc(alias("cuStreamCreate", "cuStreamQuery"))]
    pub fn queue(&self, cx: &Current<'_, 'static>) -> Result<Queue, RegionError> {
        cx.require(self.context(), FnId::cuStreamCreate)?;
        let mut queues = locked(&self.0.queues);
        // A queue used only by this list has no recording, and no other code can access it.
        let unused = queues.iter().filter(|core| Arc::strong_count(core) == 1);
        let idle = unused.filter(|core| core.hold().is_ok_and(|mode| mode.eager().is_ok()));
        let is_done = |core: &Arc<Core>| {
            let asked = core.stream.is_done(cx);
            asked.unwrap_or_else(|error| {
                core.context().swallow(error);
                false
            })
        };
        let found = idle.map(Arc::clone).find(is_done);
        let core = match found {
            Some(core) => core,
            None => {
                let core = Core::new(Stream::non_blocking(cx)?, cx.keep(), self.0.number());
                queues.push(Arc::new(core));
                Arc::clone(&queues[queues.len() - 1])
            }
        };
        Ok(Queue::new(core, Arc::clone(&self.0)))
    }

    /// Allocates `bytes` bytes of page-locked host memory, with unspecified contents.
    ///
    /// # Errors
    /// [`MemoryError::TooLarge`](crate::MemoryError::TooLarge) in [`RegionError::Memory`];
    /// [`Error::WRONG_CONTEXT`](crate::Error::WRONG_CONTEXT);
    /// `CUDA_ERROR_OUT_OF_MEMORY`, after all kept memory was freed.
    ///
    /// Driver: none if memory of the size class is idle; otherwise `cuMemHostAlloc`, CUDA 2.2+,
    /// unless queries of the queues that use dropped memory release some, by `cuEventCreate`,
    /// `cuEventRecord` and `cuEventQuery`, CUDA 2.0+; without room, `cuEventSynchronize`,
    /// CUDA 2.0+, `cuMemFree_v2`, CUDA 3.2+, and `cuMemFreeHost`, CUDA 2.0+.
    #[doc(alias = "cuMemHostAlloc")]
    pub fn pinned(&self, cx: &Current<'_, 'static>, bytes: usize) -> Result<Pinned, RegionError> {
        cx.require(self.context(), FnId::cuMemHostAlloc)?;
        if bytes == 0 {
            return Ok(Pinned::new(Block::new(&self.0, Storage::Nothing, None), None, 0));
        }
        let class = class_of(bytes)?;
        let idle = || locked(&self.0.host).take(class);
        let address = match idle() {
            Some(address) => address,
            None => {
                self.0.collect(cx);
                match idle() {
                    Some(address) => address,
                    None => self.0.with_room(cx, || alloc_host(cx, class))?,
                }
            }
        };
        let start = std::ptr::with_exposed_provenance_mut(address as usize);
        let block = Block::new(&self.0, Storage::Host { address, class }, None);
        Ok(Pinned::new(block, std::ptr::NonNull::new(start), bytes))
    }

    /// Makes a region of owned memory: a [`Buffer`](crate::Buffer), a
    /// [`ManagedBuffer`](crate::memory::ManagedBuffer) or, of other code, a
    /// [`ForeignBuffer`](crate::memory::ForeignBuffer) with its release function. First waits for
    /// the default stream, which may still use the memory; afterwards it is in the order of no
    /// queue. When the last share is dropped and no queue uses the memory, the pool drops the
    /// owner: when it looks for memory, adopts, is [trimmed](Pool::trim), or ends.
    ///
    /// # Errors
    /// [`Error::WRONG_CONTEXT`](crate::Error::WRONG_CONTEXT). Then the owner is dropped.
    ///
    /// Driver: `cuStreamSynchronize`, CUDA 2.0+; for queues that use dropped memory
    /// `cuEventCreate`, `cuEventRecord` and `cuEventQuery`, CUDA 2.0+, and the calls that free
    /// unused memory and code.
    #[doc(alias = "cuStreamSynchronize")]
    pub fn adopt(&self, cx: &Current<'_, 'static>, owner: impl Owner) -> Result<Region, RegionError> {
        let context = cx.require(self.context(), FnId::cuStreamSynchronize)?;
        cx.of(owner.home(), FnId::cuStreamSynchronize)?;
        copy::wait_for_default_stream(context)?;
        self.0.collect(cx);
        let (address, bytes) = owner.place();
        let block = Block::new(&self.0, Storage::Kept(Box::new(owner)), None);
        Ok(Region::new(block, address, bytes))
    }

    /// Frees all unused memory, drops [adopted](Pool::adopt) owners and code whose last use is
    /// complete, and destroys the streams of dropped queues. Waits for work of queues whose memory
    /// is freed.
    ///
    /// # Errors
    /// The first error of the driver; [`Error::WRONG_CONTEXT`](crate::Error::WRONG_CONTEXT).
    ///
    /// Driver: `cuMemFree_v2`, CUDA 3.2+, and `cuMemFreeHost`, CUDA 2.0+, for each block; for
    /// queues that use dropped memory `cuEventCreate`, `cuEventRecord` and `cuEventQuery`,
    /// CUDA 2.0+; `cuStreamDestroy_v2` and `cuEventDestroy_v2`, CUDA 4.0+.
    #[doc(alias = "cuMemFree_v2")]
    pub fn trim(&self, cx: &Current<'_, 'static>) -> Result<(), RegionError> {
        cx.require(self.context(), FnId::cuMemFree_v2)?;
        self.0.collect(cx);
        let freed = self.0.free_held();
        // A queue without users has only work that the driver finishes and, after the line above,
        // no memory in its lane, unless a block has arrived since. So the lane is checked under the
        // lock of the list.
        let mut queues = locked(&self.0.queues);
        let (unused, used) = std::mem::take(&mut *queues).into_iter().partition(is_unused);
        *queues = used;
        drop(queues);
        drop::<Vec<Arc<Core>>>(unused);
        Ok(freed?)
    }
}

/// True if only the list refers to the queue, and it has no memory.
fn is_unused(core: &Arc<Core>) -> bool {
    Arc::strong_count(core) == 1 && locked(&core.lane).is_empty()
}

debug!(Pool: |this, f| f.debug_struct("Pool").field("context", this.context()).finish_non_exhaustive());
