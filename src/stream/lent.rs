//! Device memory that is lent to a scope.

use std::fmt;
use std::marker::PhantomData;
use std::ops::RangeBounds;

use cuprum_sys::{CUdeviceptr, CUstream};

use crate::context::{ContextRef, Token};
use crate::error::Error;
use crate::launch::addresses;
use crate::memory::elements::run;
use crate::memory::{DeviceData, Fill, MemoryError, Pattern, bytes_of, copy, resolve, same_length};
use crate::raw::call::context_call;
use crate::raw::keep::Near;
use crate::raw::this_thread::ThisThread;

/// Device memory lent to a scope: used by its stream alone, in the order of the calls, until the scope ends.
///
/// Example: that of [`Scope`](super::Scope), `lend`.
pub struct Lent<'scope, T: DeviceData> {
    part: LentShared<'scope, T>,
    _elements: PhantomData<&'scope mut [T]>,
}

/// Device memory lent to a scope to be read, by other streams too. `Copy`.
///
/// Example: that of [`Scope`](super::Scope), `lend_shared`.
#[derive(Clone, Copy)]
pub struct LentShared<'scope, T: DeviceData> {
    address: CUdeviceptr,
    len: usize,
    stream: CUstream,
    token: Token<'scope>,
    _elements: PhantomData<&'scope [T]>,
    /// Invariant: with a shorter `'scope`, host memory could be borrowed for less than the scope.
    _scope: PhantomData<&'scope mut &'scope ()>,
    _this_thread: ThisThread,
}

run!(LentShared<'_, T>, with parts);

impl<'scope, T: DeviceData> LentShared<'scope, T> {
    pub(crate) fn new(address: CUdeviceptr, len: usize, stream: CUstream, token: Token<'scope>) -> Self {
        let (_elements, _scope, _this_thread) = (PhantomData, PhantomData, ThisThread::MARK);
        Self { address, len, stream, token, _elements, _scope, _this_thread }
    }

    /// Waits for the stream and copies to `host`. Blocks until it is there.
    ///
    /// It is no asynchronous copy: after a fault of any kernel, the device would go on writing page-locked memory when
    /// the scope has ended, and no call would tell. Pageable memory is never copied beside the host anyway. To copy
    /// beside the host, [lend](super::Scope::lend_host) a [`PinnedBuffer`](crate::PinnedBuffer).
    ///
    /// # Errors
    /// [`MemoryError::Length`] unless both have the same length; the sticky errors of earlier work.
    ///
    /// Driver: `cuStreamSynchronize`, CUDA 2.0+, and `cuMemcpyDtoH_v2`, CUDA 3.2+.
    #[doc(alias = "cuMemcpyDtoH_v2")]
    #[doc(alias = "cuStreamSynchronize")]
    #[inline]
    pub fn copy_to_host(&self, host: &mut [T]) -> Result<(), MemoryError> {
        same_length(host.len(), self.len)?;
        // SAFETY: as many elements, borrowed for the call.
        unsafe { self.copy_to_pointer(host.as_mut_ptr()) }
    }

    /// Like [`copy_to_host`](Self::copy_to_host). Nothing is written before the stream was waited for.
    ///
    /// # Safety
    /// `host` is valid for writes of as many elements as were lent, and from the wait on the caller's alone.
    pub(crate) unsafe fn copy_to_pointer(&self, host: *mut T) -> Result<(), MemoryError> {
        let bytes = bytes_of::<T>(self.len)?;
        let context = self.token.get()?;
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: the stream outlives the scope, which borrows it, and its context is current.
        unsafe { context_call!(&context, cuStreamSynchronize(self.stream)) }?;
        // SAFETY: both sides have `bytes` bytes, the host side is ours alone, and any bytes are a `T`.
        unsafe { copy::to_host(&context, host.cast(), self.address, bytes) }?;
        Ok(())
    }

    /// The context that it is lent in, which is current.
    pub(super) fn here(&self) -> Result<Near<'scope, ContextRef>, Error> {
        self.token.get()
    }

    /// As other loans have it.
    pub(super) const fn as_shared(&self) -> Self {
        *self
    }

    /// The stream that it is lent to.
    pub(super) const fn stream(&self) -> CUstream {
        self.stream
    }

    /// True if this and another part of `bytes` bytes overlap.
    pub(super) const fn overlaps(&self, other: CUdeviceptr, bytes: usize) -> bool {
        self.address < other + bytes as CUdeviceptr && other < self.address + bytes as CUdeviceptr
    }
}

run!(Lent<'_, T>, of its part);

impl<'scope, T: DeviceData> Lent<'scope, T> {
    /// What is borrowed mutably by a scope, as its parts.
    pub(crate) const fn new(part: LentShared<'scope, T>) -> Self {
        Self { part, _elements: PhantomData }
    }

    /// The same memory, to read.
    pub const fn as_shared(&self) -> LentShared<'scope, T> {
        self.part
    }

    /// Some of the elements, also of those that other parts have: one stream uses them all, in order. `None` if the
    /// range does not lie in the loan.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Option<Self> {
        self.part.slice(range).map(Self::new)
    }

    /// Queues a copy of `host` to the device. `host` cannot be written before the scope ends.
    ///
    /// The host may wait all the same: the driver copies pageable memory in its own time.
    ///
    /// # Errors
    /// [`MemoryError::Length`] unless both have the same length; the sticky errors of earlier work.
    ///
    /// Driver: `cuMemcpyHtoDAsync_v2`, CUDA 3.2+.
    #[doc(alias = "cuMemcpyHtoDAsync_v2")]
    #[inline]
    pub fn copy_from_host(&self, host: &'scope [T]) -> Result<(), MemoryError> {
        same_length(self.len(), host.len())?;
        // SAFETY: as many elements, borrowed until the scope has waited for this stream.
        unsafe { self.copy_from_pointer(host.as_ptr()) }
    }

    /// Like [`copy_from_host`](Self::copy_from_host).
    ///
    /// # Safety
    /// `host` has as many elements as were lent, which live and are not written until this stream was waited for or its
    /// context is lost.
    pub(crate) unsafe fn copy_from_pointer(&self, host: *const T) -> Result<(), MemoryError> {
        let bytes = bytes_of::<T>(self.len())?;
        let context = self.part.token.get()?;
        // SAFETY: both sides have `bytes` bytes; the caller's word.
        unsafe { copy::from_host_on(&context, self.part.stream, self.as_raw(), host.cast(), bytes) }?;
        Ok(())
    }

    /// Like [`LentShared::copy_to_host`].
    ///
    /// # Errors
    /// Those of [`LentShared::copy_to_host`].
    ///
    /// Driver: `cuStreamSynchronize`, CUDA 2.0+, and `cuMemcpyDtoH_v2`, CUDA 3.2+.
    #[doc(alias = "cuMemcpyDtoH_v2")]
    #[doc(alias = "cuStreamSynchronize")]
    #[inline]
    pub fn copy_to_host(&self, host: &mut [T]) -> Result<(), MemoryError> {
        self.part.copy_to_host(host)
    }

    /// Queues a copy from memory lent to this scope. From itself there is nothing to copy.
    ///
    /// # Errors
    /// [`MemoryError::Length`] unless both have the same length; [`MemoryError::Overlap`] if they have some elements in
    /// common, and not all; [`MemoryError::OtherStream`]; the sticky errors of earlier work.
    ///
    /// Driver: `cuMemcpyDtoDAsync_v2`, CUDA 3.2+.
    #[doc(alias = "cuMemcpyDtoDAsync_v2")]
    pub fn copy_from(&self, source: impl Into<LentShared<'scope, T>>) -> Result<(), MemoryError> {
        let source = source.into();
        same_length(self.len(), source.len)?;
        let bytes = bytes_of::<T>(self.len())?;
        let context = self.part.token.get()?;
        if self.part.stream != source.stream {
            return Err(MemoryError::OtherStream);
        }
        if self.as_raw() == source.address {
            return Ok(());
        }
        if source.overlaps(self.as_raw(), bytes) {
            return Err(MemoryError::Overlap);
        }
        // SAFETY: both sides have `bytes` bytes and are lent to a scope that waits for this stream.
        unsafe { copy::within_on(&context, self.part.stream, self.as_raw(), source.address, bytes) }?;
        Ok(())
    }

    /// Queues a fill of every element with `value`.
    ///
    /// # Errors
    /// The sticky errors of earlier work.
    ///
    /// Driver: `cuMemsetD8Async`, `cuMemsetD16Async` or `cuMemsetD32Async`, CUDA 3.2+.
    #[doc(alias = "cuMemsetD8Async")]
    #[doc(alias = "cuMemsetD16Async")]
    #[doc(alias = "cuMemsetD32Async")]
    #[inline]
    pub fn fill(&self, value: T) -> Result<(), MemoryError>
    where
        T: Fill,
    {
        let context = self.part.token.get()?;
        // SAFETY: `len` elements of the pattern's width are lent to a scope that waits for this stream; any bytes are a
        // `T`.
        unsafe { copy::fill_on(&context, self.part.stream, self.as_raw(), value.pattern(), self.len()) }?;
        Ok(())
    }

    /// Queues a fill of every byte with `value`.
    ///
    /// # Errors
    /// The sticky errors of earlier work.
    ///
    /// Driver: `cuMemsetD8Async`, CUDA 3.2+.
    #[doc(alias = "cuMemsetD8Async")]
    #[inline]
    pub fn set_bytes(&self, value: u8) -> Result<(), MemoryError> {
        let bytes = bytes_of::<T>(self.len())?;
        let context = self.part.token.get()?;
        // SAFETY: as in `fill`, of single bytes.
        unsafe { copy::fill_on(&context, self.part.stream, self.as_raw(), Pattern::Byte(value), bytes) }?;
        Ok(())
    }
}

impl<'scope, T: DeviceData> From<&Lent<'scope, T>> for LentShared<'scope, T> {
    fn from(lent: &Lent<'scope, T>) -> Self {
        lent.part
    }
}

addresses! {
    In <- &Lent<'_, T>;
    In <- LentShared<'_, T>;
    InOut <- &Lent<'_, T>;
}

impl<T: DeviceData> fmt::Debug for Lent<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Lent({:#x}, {} elements)", self.as_raw(), self.len())
    }
}

impl<T: DeviceData> fmt::Debug for LentShared<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LentShared({:#x}, {} elements)", self.address, self.len)
    }
}
