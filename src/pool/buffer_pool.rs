//! A pool of device memory that keeps what was freed.

use std::fmt;

use cuprum_sys::FnId;

use super::StreamBuffer;
use super::block::Block;
use super::lanes::{self, Lease, Pool};
use crate::context::{ContextRef, Current};
use crate::error::Error;
use crate::memory::caching::{PoolCounters, SizeClass};
use crate::memory::{DeviceData, MemoryError, bytes_of};
use crate::stream::StreamSource;

/// Device memory that is kept when it is freed: the next buffer of its size class on the same stream takes no call of the
/// driver.
///
/// A handle to a pool that is shared: by its clones, and by the buffers of it. When the last of them is gone, the memory goes
/// back to the driver. It may be used on any threads.
///
/// What it gives is a [`StreamBuffer`]. All work with it is queued on its stream, so that its block is handed out on that
/// stream again at once, while the work before is still running. Another stream gets it only when the driver has no room for
/// a new one, and then waits for an event behind the stream that had it. If that does not help either, the blocks that are held
/// are freed, the largest first, until the driver has room.
///
/// The pool keeps the streams of its blocks: those that are borrowed have to outlive it, so they are made before, and a
/// [shared stream](crate::Shared) ends when its blocks were [freed](BufferPool::free_held).
///
/// Blocks are of sixteen sizes per power of two, so that at most a sixteenth is wasted, and of at least 512 bytes. What the
/// memory held before is still there. A [launch](crate::Kernel::launch) that uses a buffer on another stream than its own has
/// to be waited for, or put in order with that by an event, before the buffer is dropped.
///
/// # Example
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::Stream;
/// use cuprum::pool::BufferPool;
///
/// let stream = Stream::new(&cx)?;
/// let pool = BufferPool::new(&cx);
/// for round in 0..3 {
///     let mut part = pool.alloc::<u32>(&cx, &stream, 1000)?; // from the driver in the first round alone
///     cx.fill(&mut part, round)?;
/// }
/// let counters = pool.counters();
/// assert_eq!((counters.active_blocks, counters.held_blocks, counters.managed_bytes), (0, 1, 4096));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct BufferPool<'p>(Pool<'p>);

impl<'p> BufferPool<'p> {
    /// Makes an empty pool. No driver call.
    #[inline]
    pub fn new(cx: &Current<'_, 'p>) -> Self {
        Self(Pool::new(cx.keep()))
    }

    /// The context in which the memory is allocated.
    #[inline]
    pub fn context(&self) -> &ContextRef {
        self.0.context()
    }

    /// Takes `len` elements in the order of `stream` from the pool, with whatever contents the memory has. Of no bytes,
    /// nothing is taken.
    ///
    /// # Errors
    /// [`MemoryError::TooLarge`]; [`MemoryError::NoRoom`], when all that was held is freed; [`Error::is_wrong_context`];
    /// where the driver is asked, the sticky errors of earlier work.
    ///
    /// Driver: none where a block of the size class is held for the stream; otherwise `cuMemAlloc_v2`, CUDA 3.2+, and where
    /// that has no room, `cuEventCreate`, `cuEventRecord`, CUDA 2.0+, `cuStreamWaitEvent`, CUDA 3.2+, and
    /// `cuEventDestroy_v2`, CUDA 4.0+, for a block of another stream, or `cuMemFree_v2`, CUDA 3.2+.
    #[doc(alias("cuMemAlloc_v2", "cuMemFree_v2"))]
    pub fn alloc<T: DeviceData>(
        &self,
        cx: &Current<'_, '_>,
        stream: impl StreamSource<'p>,
        len: usize,
    ) -> Result<StreamBuffer<'p, T>, MemoryError> {
        let bytes = bytes_of::<T>(len)?;
        cx.of_both([self.context(), stream.stream().context()], FnId::cuMemAlloc_v2)?;
        if bytes == 0 {
            return Ok(StreamBuffer::new(Block::ordered(0, stream.kept()), len));
        }
        let too_large = || MemoryError::TooLarge { len, element_bytes: size_of::<T>() };
        let class = SizeClass::of(bytes).ok_or_else(too_large)?;
        let lease = Lease::take(&self.0, cx, stream, class, bytes)?;
        Ok(StreamBuffer::new(Block::Leased(lease), len))
    }

    /// How many blocks there are, and their bytes. No driver call.
    #[inline]
    pub fn counters(&self) -> PoolCounters {
        self.0.counters()
    }

    /// Gives the blocks that are held back to the driver, which waits for the work that uses them.
    ///
    /// # Errors
    /// As the driver says, the first of them. The blocks are gone all the same; but where a capture forbids to free them and the
    /// driver does not exempt the thread, as before CUDA 10.1 ([`Error::is_unresolved`]), they stay.
    ///
    /// Driver: `cuMemFree_v2`, CUDA 3.2+, per block; beside a capture `cuThreadExchangeStreamCaptureMode`, CUDA 10.1+.
    #[doc(alias("cuMemFree_v2", "cuThreadExchangeStreamCaptureMode"))]
    #[inline]
    pub fn free_held(&self) -> Result<(), Error> {
        lanes::free_held(&self.0)
    }

    /// From now on, gives blocks back to the driver as soon as they are freed, and does so with those that are held.
    ///
    /// # Errors
    /// Same as [`free_held`](BufferPool::free_held).
    ///
    /// Driver: `cuMemFree_v2`, CUDA 3.2+, per block.
    #[doc(alias = "cuMemFree_v2")]
    #[inline]
    pub fn stop_holding(&self) -> Result<(), Error> {
        lanes::stop_holding(&self.0)
    }
}

impl fmt::Debug for BufferPool<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BufferPool").field(&self.counters()).finish()
    }
}
