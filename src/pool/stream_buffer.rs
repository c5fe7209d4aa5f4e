//! Device memory in stream order.

use std::marker::PhantomData;

use cuprum_sys::{CUdeviceptr, FnId};

use super::PoolRef;
use super::block::{Block, refused};
use super::in_order::{InOrder, Ordered};
use crate::context::{ContextRef, Current, context_call};
use crate::error::Error;
use crate::memory::place::place;
use crate::memory::{DeviceData, MemoryError, Slice, SliceMut, bytes_of};
use crate::raw::debug::debug;
use crate::raw::owner::len;
use crate::stream::{Event, Stream, StreamSource};

/// `len` elements of device memory in the order of one stream, which allocates, uses and frees it.
///
/// It keeps its stream, by a borrow for `'s` or by a share, and works only on it: see the
/// [module](super). Fills and copies between buffers of one stream are queued there. A drop, which
/// queues the free, may follow immediately. For work with host memory, lend it to a
/// [scope](crate::stream::Scope::lend) on its stream, or use [copies](Current::copy) that wait. As
/// an argument, it is launched on its own stream; a launch on another stream must be ordered with
/// its stream by events, before and after.
///
/// It can be sent to any thread and dropped there. A buffer without elements, or with elements of
/// size zero, owns nothing, and the driver is not called for it.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::Stream;
/// use cuprum::pool::StreamBuffer;
///
/// let stream = Stream::new(&cx)?;
/// let mut sum = StreamBuffer::<u32>::zeroed(&cx, &stream, 100)?;
/// {
///     let mut part = StreamBuffer::alloc(&cx, &stream, 100)?;
///     cx.fill(&mut part, 7)?;
///     cx.copy(&mut sum, &part)?;
/// } // freed on the stream, after the copy; the host has not waited
/// assert_eq!(sum.to_vec(&cx)?, [7; 100]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Keeping it in a struct
///
/// In a struct it is a `StreamBuffer<'static, T>`, in the order of a [shared
/// stream](crate::Shared).
pub struct StreamBuffer<'s, T: DeviceData> {
    /// Also keeps the stream.
    block: Block<'s>,
    len: usize,
    _elements: PhantomData<T>,
}

impl<'s, T: DeviceData> StreamBuffer<'s, T> {
    /// Allocates `len` elements from the device's current pool, without initializing them. The host
    /// does not wait.
    ///
    /// # Errors
    /// [`MemoryError::TooLarge`]; [`MemoryError::NoRoom`], with the state of the pool, or
    /// `CUDA_ERROR_OUT_OF_MEMORY` for a pool that is not the default one;
    /// [`Error::WRONG_CONTEXT`]; `CUDA_ERROR_NOT_SUPPORTED` for a device without pools.
    ///
    /// Driver: `cuMemAllocAsync`, CUDA 11.2+; if that has no room, `cuDeviceGetMemPool`,
    /// `cuDeviceGetDefaultMemPool` and `cuMemPoolGetAttribute`, CUDA 11.2+.
    #[doc(alias = "cuMemAllocAsync")]
    pub fn alloc(
        cx: &Current<'_, '_>,
        stream: impl StreamSource<'s>,
        len: usize,
    ) -> Result<Self, MemoryError> {
        let (bytes, stream) = (bytes_of::<T>(len)?, stream.kept());
        let context = cx.of(stream.context(), FnId::cuMemAllocAsync)?;
        let (mut address, raw) = (0, stream.as_raw());
        if bytes != 0 {
            // SAFETY: `address` outlives the call; the stream is live, and of the current context.
            unsafe { context_call!(context, cuMemAllocAsync(&raw mut address, bytes, raw)) }
                .map_err(|error| refused(context, None, bytes, error))?;
        }
        Ok(Self::new(Block::ordered(address, stream), len))
    }

    /// Allocates `len` elements from `pool`, see [`alloc`](StreamBuffer::alloc).
    ///
    /// # Errors
    /// Same as [`alloc`](StreamBuffer::alloc), with the state of any pool;
    /// [`Error::WRONG_CONTEXT`] also for a pool of another driver; `CUDA_ERROR_INVALID_VALUE`
    /// for an imported pool.
    ///
    /// Driver: `cuMemAllocFromPoolAsync`, CUDA 11.2+; if that has no room, `cuMemPoolGetAttribute`,
    /// CUDA 11.2+.
    #[doc(alias = "cuMemAllocFromPoolAsync")]
    pub fn alloc_from(
        cx: &Current<'_, '_>,
        stream: impl StreamSource<'s>,
        pool: &PoolRef,
        len: usize,
    ) -> Result<Self, MemoryError> {
        let (bytes, stream) = (bytes_of::<T>(len)?, stream.kept());
        let context = cx.of(stream.context(), FnId::cuMemAllocFromPoolAsync)?;
        pool.check_driver(context, FnId::cuMemAllocFromPoolAsync)?;
        let (mut address, pool, raw) = (0, pool.as_raw(), stream.as_raw());
        if bytes != 0 {
            // SAFETY: `address` outlives the call; the pool is live, and so is the stream, which is
            // of the current context.
            unsafe { context_call!(context, cuMemAllocFromPoolAsync(&raw mut address, bytes, pool, raw)) }
                .map_err(|error| refused(context, Some(pool), bytes, error))?;
        }
        Ok(Self::new(Block::ordered(address, stream), len))
    }

    /// Allocates `len` elements and queues a fill of all their bytes with zero. The host does not
    /// wait.
    ///
    /// # Errors
    /// Same as [`alloc`](StreamBuffer::alloc).
    ///
    /// Driver: `cuMemAllocAsync`, CUDA 11.2+, and `cuMemsetD8Async`, CUDA 3.2+.
    #[doc(alias("cuMemAllocAsync", "cuMemsetD8Async"))]
    pub fn zeroed(
        cx: &Current<'_, '_>,
        stream: impl StreamSource<'s>,
        len: usize,
    ) -> Result<Self, MemoryError> {
        let mut buffer = Self::alloc(cx, stream, len)?;
        cx.fill_bytes(&mut buffer, 0)?;
        Ok(buffer)
    }

    #[inline]
    pub(super) const fn new(block: Block<'s>, len: usize) -> Self {
        Self { block, len, _elements: PhantomData }
    }

    /// Address of the first element in device memory; 0 for a buffer that owns nothing.
    #[inline]
    pub const fn as_raw(&self) -> CUdeviceptr {
        self.block.address()
    }

    /// The stream of its order.
    #[inline]
    pub fn stream(&self) -> &Stream<'s> {
        self.block.stream()
    }

    pub(super) fn context(&self) -> &ContextRef {
        self.stream().context()
    }

    len!(|this| this.len);

    /// Borrows all elements to read, if the buffer is in the order of the legacy default stream, on
    /// which slices work outside of scopes; otherwise returns `None`.
    #[inline]
    pub fn as_slice(&self) -> Option<Slice<'_, T>> {
        let on_default = self.stream().as_raw().is_null();
        on_default.then(|| Slice::new(self.as_raw(), self.len, self.stream().near()))
    }

    /// Borrows all elements to write, see [`as_slice`](StreamBuffer::as_slice).
    #[inline]
    pub fn as_mut_slice(&mut self) -> Option<SliceMut<'_, T>> {
        let on_default = self.stream().as_raw().is_null();
        on_default.then(|| SliceMut::new(self.as_raw(), self.len, self.stream().near()))
    }

    /// Waits for the stream and copies the elements to a new vector. Blocks until done.
    ///
    /// # Errors
    /// Same as [`Current::copy`]; [`MemoryError::TooLarge`] if the host does not have enough
    /// memory.
    ///
    /// Driver: `cuStreamSynchronize`, CUDA 2.0+, and `cuMemcpyDtoH_v2`, CUDA 3.2+.
    #[doc(alias("cuMemcpyDtoH_v2", "cuStreamSynchronize"))]
    #[inline]
    pub fn to_vec(&self, cx: &Current<'_, '_>) -> Result<Vec<T>, MemoryError> {
        let mut host = Vec::new();
        let no_room = |_| MemoryError::TooLarge { len: self.len, element_bytes: size_of::<T>() };
        host.try_reserve_exact(self.len).map_err(no_room)?;
        // SAFETY: the vector's spare capacity has room for `len` elements.
        unsafe { self.ordered().read_into(cx, host.as_mut_ptr()) }?;
        // SAFETY: the copy has initialized `len` elements, and any bytes are a `T`.
        unsafe { host.set_len(self.len) };
        Ok(host)
    }

    /// The elements and the stream, for copies.
    pub(super) fn ordered(&self) -> Ordered<'_, T> {
        let elements = Slice::new(self.as_raw(), self.len, self.stream().near());
        Ordered { elements, stream: self.stream().as_raw() }
    }

    /// Moves the memory to the order of another stream of the same context: that stream waits for
    /// all earlier work of the current one, and then uses and frees the memory. The host does not
    /// wait.
    ///
    /// `event` is borrowed mutably, so that no other code records it meanwhile. After an error the
    /// memory stays where it was.
    ///
    /// # Errors
    /// [`Error::WRONG_CONTEXT`] unless the event and both streams are of the current context.
    ///
    /// Driver: `cuEventRecord`, CUDA 2.0+, and `cuStreamWaitEvent`, CUDA 3.2+.
    #[doc(alias("cuEventRecord", "cuStreamWaitEvent"))]
    pub fn move_to(
        &mut self,
        cx: &Current<'_, '_>,
        event: &mut Event<'_>,
        stream: impl StreamSource<'s>,
    ) -> Result<(), Error> {
        let stream = stream.kept();
        cx.of(stream.context(), FnId::cuStreamWaitEvent)?;
        event.record(cx, self.stream())?;
        stream.wait_event(cx, event)?;
        self.block.move_to(stream);
        Ok(())
    }

    /// Frees the memory after all work of its stream, and returns the error that `Drop` would
    /// swallow. The host does not wait. Memory of a [`BufferPool`](super::BufferPool) returns to it
    /// without a call.
    ///
    /// Driver: `cuMemFreeAsync`, CUDA 11.2+.
    #[doc(alias = "cuMemFreeAsync")]
    #[inline]
    pub fn close(self) -> Result<(), Error> {
        self.block.close()
    }
}

debug! {
    [T: DeviceData] StreamBuffer<'_, T>: |this|
    "{:#x}, {} elements, {:?}", this.as_raw(), this.len, this.stream()
}

place! {
    [T: DeviceData] StreamBuffer<'_, T>: InOrder, of T,
    read |this| this.ordered(), write |this| this.ordered()
}
