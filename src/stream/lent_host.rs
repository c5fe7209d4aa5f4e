//! Page-locked memory of the host that is lent to a scope.

use std::fmt;
use std::marker::PhantomData;
use std::ops::RangeBounds;
use std::ptr::NonNull;

use cuprum_sys::{CUdeviceptr, CUstream};

use super::{Lent, LentShared};
use crate::context::Token;
use crate::error::Error;
use crate::memory::{DeviceData, MemoryError, bytes_of, copy, resolve, same_length};
use crate::raw::call::context_call;
use crate::raw::this_thread::ThisThread;

/// Page-locked memory of the host lent to a scope: used by its stream alone, in the order of the calls, until the scope
/// ends. Made by [`Scope::lend_host`](super::Scope::lend_host).
///
/// Example: that of [`PinnedBuffer`](crate::PinnedBuffer), `lend_host`.
pub struct LentHost<'scope, T: DeviceData> {
    start: NonNull<T>,
    len: usize,
    stream: CUstream,
    token: Token<'scope>,
    /// Invariant, as in [`LentShared`].
    _scope: PhantomData<&'scope mut &'scope mut [T]>,
    _this_thread: ThisThread,
}

impl<'scope, T: DeviceData> LentHost<'scope, T> {
    /// Memory that is borrowed mutably and marked by the scope of `stream`.
    pub(super) const fn new(start: NonNull<T>, len: usize, stream: CUstream, token: Token<'scope>) -> Self {
        Self { start, len, stream, token, _scope: PhantomData, _this_thread: ThisThread::MARK }
    }

    /// Number of elements.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// True if there are no elements.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Address of the first element on the host.
    pub const fn as_raw(&self) -> *mut T {
        self.start.as_ptr()
    }

    /// The stream that it is lent to.
    pub(super) const fn stream(&self) -> CUstream {
        self.stream
    }

    /// Some of the elements, also of those that other parts have: one stream uses them all, in order. `None` if the
    /// range does not lie in the loan.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Option<Self> {
        let (start, len) = resolve(&range, self.len)?;
        // SAFETY: the range lies in the elements.
        let start = unsafe { self.start.add(start) };
        Some(Self::new(start, len, self.stream, self.token))
    }

    /// Queues a copy from device memory lent to this scope. The host does not wait.
    ///
    /// # Errors
    /// [`MemoryError::Length`] unless both have the same length; [`MemoryError::OtherStream`];
    /// [`MemoryError::Overlap`] if the source is this memory [seen from the device](LentHost::as_device); the sticky errors
    /// of earlier work.
    ///
    /// Driver: `cuMemcpyDtoHAsync_v2`, CUDA 3.2+.
    #[doc(alias = "cuMemcpyDtoHAsync_v2")]
    pub fn copy_from(&self, source: impl Into<LentShared<'scope, T>>) -> Result<(), MemoryError> {
        let source = source.into();
        same_length(self.len, source.len())?;
        let bytes = bytes_of::<T>(self.len)?;
        let context = self.token.get()?;
        if self.stream != source.stream() {
            return Err(MemoryError::OtherStream);
        }
        if bytes != 0 && source.overlaps(self.as_raw().addr() as CUdeviceptr, bytes) {
            return Err(MemoryError::Overlap);
        }
        // SAFETY: both sides have `bytes` bytes and are lent to a scope that waits for this stream, and that keeps the
        // host side from everybody if the wait fails; any bytes are a `T`.
        unsafe { copy::to_host_on(&context, self.stream, self.as_raw().cast(), source.as_raw(), bytes) }?;
        Ok(())
    }

    /// Queues a copy to device memory lent to this scope. The host does not wait.
    ///
    /// For memory that the scope only reads, [`Lent::copy_from_host`] takes a plain borrow.
    ///
    /// # Errors
    /// Those of [`copy_from`](LentHost::copy_from).
    ///
    /// Driver: `cuMemcpyHtoDAsync_v2`, CUDA 3.2+.
    #[doc(alias = "cuMemcpyHtoDAsync_v2")]
    #[inline]
    pub fn copy_to(&self, destination: &Lent<'scope, T>) -> Result<(), MemoryError> {
        let to = destination.as_shared();
        same_length(to.len(), self.len)?;
        let bytes = bytes_of::<T>(self.len)?;
        let context = self.token.get()?;
        if self.stream != to.stream() {
            return Err(MemoryError::OtherStream);
        }
        if bytes != 0 && to.overlaps(self.as_raw().addr() as CUdeviceptr, bytes) {
            return Err(MemoryError::Overlap);
        }
        // SAFETY: both sides have `bytes` initialized bytes and are lent to a scope that waits for this stream.
        unsafe { copy::from_host_on(&context, self.stream, to.as_raw(), self.as_raw().cast(), bytes) }?;
        Ok(())
    }

    /// The same memory as kernels, fills and copies of the device see it, under the same loan.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` if the memory is not mapped, on a device without unified addressing; the sticky errors
    /// of earlier work.
    ///
    /// Driver: `cuMemHostGetDevicePointer_v2`, CUDA 3.2+, unless there are no bytes.
    #[doc(alias = "cuMemHostGetDevicePointer_v2")]
    #[inline]
    pub fn as_device(&self) -> Result<Lent<'scope, T>, Error> {
        let context = self.token.get()?;
        let mut address = 0;
        if self.len * size_of::<T>() != 0 {
            let host = self.as_raw().cast();
            // SAFETY: the memory is page-locked as long as it is lent, and the out-parameter outlives the call.
            unsafe { context_call!(&context, cuMemHostGetDevicePointer_v2(&raw mut address, host, 0)) }?;
        }
        Ok(Lent::new(LentShared::new(address, self.len, self.stream, self.token)))
    }
}

impl<T: DeviceData> fmt::Debug for LentHost<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LentHost({:p}, {} elements)", self.start, self.len)
    }
}
