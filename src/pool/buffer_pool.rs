//! A pool of device memory that keeps freed blocks.

use cuprum_sys::FnId;

use super::StreamBuffer;
use super::block::Block;
use super::lanes::{self, Lease, Pool};
use crate::context::Current;
use crate::error::Error;
use crate::memory::caching::{PoolCounters, SizeClass};
use crate::memory::{DeviceData, MemoryError, bytes_of};
use crate::raw::debug::debug;
use crate::raw::owner::context;
use crate::stream::StreamSource;

/// A pool of device memory that keeps freed blocks. The next buffer of the same size class on the
/// same stream needs no driver call.
///
/// It is a handle: its clones and its buffers share the pool. When the last of them is dropped, the
/// memory is returned to the driver. It can be used on any thread.
///
/// It allocates [`StreamBuffer`]s. All work on a buffer is queued on its stream, so the block can
/// be reused on that stream immediately, while earlier work is still running. Another stream gets
/// the block only when the driver has no memory left, and then waits for an event after the work of
/// the previous stream. If that does not help either, held blocks are freed, the largest first,
/// until the allocation succeeds.
///
/// The pool keeps the streams of its blocks. Borrowed streams must outlive it, so make them first.
/// A [shared stream](crate::Shared) ends when its blocks were [freed](BufferPool::free_held).
///
/// Blocks have sixteen sizes per power of two, so at most a sixteenth is wasted, and at least 512
/// bytes. They are not cleared. A [launch](crate::Kernel::launch) that uses a buffer on another
/// stream must be waited for, or ordered with the buffer's stream by an event, before the buffer is
/// dropped.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::Stream;
/// use cuprum::pool::BufferPool;
///
/// let stream = Stream::new(&cx)?;
/// let pool = BufferPool::new(&cx);
/// for round in 0..3 {
///     let mut part = pool.alloc::<u32>(&cx, &stream, 1000)?; // from the driver only in the first round
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

    context!(|this| this.0.context());

    /// Allocates `len` elements in the order of `stream` from the pool, without initializing them.
    /// Takes nothing for zero bytes.
    ///
    /// # Errors
    /// [`MemoryError::TooLarge`]; [`MemoryError::NoRoom`], after all held blocks were freed;
    /// [`Error::WRONG_CONTEXT`]; sticky errors of earlier work if the driver is called.
    ///
    /// Driver: none if a block of the size class is held for the stream; otherwise `cuMemAlloc_v2`,
    /// CUDA 3.2+, and if that has no room, `cuEventCreate`, `cuEventRecord`, CUDA 2.0+,
    /// `cuStreamWaitEvent`, CUDA 3.2+, and `cuEventDestroy_v2`, CUDA 4.0+, for a block of another
    /// stream, or `cuMemFree_v2`, CUDA 3.2+.
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

    /// Returns the number of blocks, and their bytes. No driver call.
    #[inline]
    pub fn counters(&self) -> PoolCounters {
        self.0.counters()
    }

    /// Frees the held blocks. The driver waits for the work that uses them.
    ///
    /// # Errors
    /// The first error of the driver. The blocks no longer exist after an error either. Exception:
    /// if a capture forbids freeing and the driver cannot exempt the thread, as before CUDA 10.1
    /// ([`Error::UNRESOLVED`]), they are kept.
    ///
    /// Driver: `cuMemFree_v2`, CUDA 3.2+, per block; during a capture
    /// `cuThreadExchangeStreamCaptureMode`, CUDA 10.1+.
    #[doc(alias("cuMemFree_v2", "cuThreadExchangeStreamCaptureMode"))]
    #[inline]
    pub fn free_held(&self) -> Result<(), Error> {
        lanes::free_held(&self.0)
    }

    /// Frees the held blocks, and from now on every block that returns to the pool.
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

debug!(BufferPool<'_>: |this, f| f.debug_tuple("BufferPool").field(&this.counters()).finish());
