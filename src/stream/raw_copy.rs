//! Copies between raw addresses: the way out where no borrow fits.

use cuprum_sys::{CUdeviceptr, FnId};

use super::Stream;
use crate::context::Current;
use crate::error::Error;
use crate::memory::{DeviceData, MemoryError, Slice, SliceMut, bytes_of, copy};

impl<T: DeviceData> Slice<'_, T> {
    /// Queues a copy of all elements to `host` on `stream`. The host does not wait, if `host` is page-locked.
    ///
    /// A [scope](crate::Scope::lend_host) or a [`Request`](crate::Request) does the same with borrows or ownership.
    ///
    /// # Errors
    /// [`Error::is_wrong_context`](crate::Error::is_wrong_context) unless slice and stream are of the current context; the
    /// sticky errors of earlier work.
    ///
    /// # Safety
    /// The copy is *over* when a wait for the stream, for an event recorded after it, or for the context has succeeded.
    /// After a wait that failed, it is over only when the context has ended: a fault does not stop copies.
    /// 1. `host` is valid for writes of as many elements as the slice has, and stays so until the copy is over: it is
    ///    neither freed, moved nor unregistered.
    /// 2. Until the copy is over, the host neither reads nor writes that memory, and no reference to it exists.
    /// 3. The device memory is not freed before the copy is over, and other writes of it meanwhile are ordered by the
    ///    stream, by an event, or by the default stream (see [`Stream`]).
    ///
    /// Driver: `cuMemcpyDtoHAsync_v2`, CUDA 3.2+.
    #[doc(alias = "cuMemcpyDtoHAsync_v2")]
    #[inline]
    pub unsafe fn copy_to_raw(
        self,
        cx: &Current<'_, '_>,
        stream: &Stream<'_>,
        host: *mut T,
    ) -> Result<(), MemoryError> {
        let bytes = bytes_of::<T>(self.len())?;
        let context = cx.of_both([self.context(), stream.context()], FnId::cuMemcpyDtoHAsync_v2)?;
        // SAFETY: the caller vouches for the host side and for the time; the device side has `bytes` bytes.
        unsafe { copy::to_host_on(context, stream.as_raw(), host.cast(), self.as_raw(), bytes) }?;
        Ok(())
    }
}

impl<T: DeviceData> SliceMut<'_, T> {
    /// Queues a copy from `host` to all elements on `stream`. The host does not wait, if `host` is page-locked.
    ///
    /// # Errors
    /// Those of [`Slice::copy_to_raw`].
    ///
    /// # Safety
    /// [`Slice::copy_to_raw`] says when the copy is over.
    /// 1. `host` is valid for reads of as many initialized elements as the slice has, and stays so until the copy is over:
    ///    it is neither freed, moved nor unregistered.
    /// 2. Until the copy is over, the host does not write that memory.
    /// 3. The device memory is not freed before the copy is over, and other uses of it meanwhile are ordered by the
    ///    stream, by an event, or by the default stream (see [`Stream`]).
    ///
    /// Driver: `cuMemcpyHtoDAsync_v2`, CUDA 3.2+.
    #[doc(alias = "cuMemcpyHtoDAsync_v2")]
    #[inline]
    pub unsafe fn copy_from_raw(
        &mut self,
        cx: &Current<'_, '_>,
        stream: &Stream<'_>,
        host: *const T,
    ) -> Result<(), MemoryError> {
        let bytes = bytes_of::<T>(self.len())?;
        let context = cx.of_both([self.context(), stream.context()], FnId::cuMemcpyHtoDAsync_v2)?;
        // SAFETY: the caller vouches for the host side and for the time; the device side has `bytes` bytes.
        unsafe { copy::from_host_on(context, stream.as_raw(), self.as_raw(), host.cast(), bytes) }?;
        Ok(())
    }
}

impl Current<'_, '_> {
    /// Copies `bytes` bytes between addresses of any kind, which the driver tells apart. Returns when memory of the host
    /// among them may be reused, or has what was copied; within the device the host does not wait.
    ///
    /// Slices, pinned memory and blocks have typed copies, which are safe; this one is for addresses from elsewhere.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE`; the sticky errors of earlier work.
    ///
    /// # Safety
    /// 1. `from` is valid for reads and `to` for writes of `bytes` bytes, of the current context or of the host, and they do
    ///    not overlap.
    /// 2. Nobody writes them during the call, and no reference to what is written exists; whatever uses device memory among
    ///    them is ordered by the default stream.
    ///
    /// Driver: `cuMemcpy`, CUDA 4.0+.
    #[doc(alias = "cuMemcpy")]
    #[inline]
    pub unsafe fn copy_raw(&self, to: CUdeviceptr, from: CUdeviceptr, bytes: usize) -> Result<(), Error> {
        let context = self.get()?;
        // SAFETY: the caller's word.
        unsafe { copy::unified(&context, to, from, bytes) }
    }
}

impl Stream<'_> {
    /// Queues a copy of `bytes` bytes between addresses of any kind, which the driver tells apart. The host does not wait, if
    /// memory of the host among them is page-locked.
    ///
    /// # Errors
    /// [`Error::is_wrong_context`]; `CUDA_ERROR_INVALID_VALUE`; the sticky errors of earlier work.
    ///
    /// # Safety
    /// When the copy is over says [`Slice::copy_to_raw`].
    /// 1. `from` is valid for reads and `to` for writes of `bytes` bytes, of the current context or of the host, and they do
    ///    not overlap. They stay so until the copy is over.
    /// 2. Until the copy is over, the host does not write `from`, neither reads nor writes `to`, and has no reference to what
    ///    is written; what uses device memory among them meanwhile is ordered by the stream, by an event, or by the default
    ///    stream (see [`Stream`]).
    ///
    /// Driver: `cuMemcpyAsync`, CUDA 4.0+.
    #[doc(alias = "cuMemcpyAsync")]
    #[inline]
    pub unsafe fn copy_raw(
        &self,
        cx: &Current<'_, '_>,
        to: CUdeviceptr,
        from: CUdeviceptr,
        bytes: usize,
    ) -> Result<(), Error> {
        let context = cx.of(self.context(), FnId::cuMemcpyAsync)?;
        // SAFETY: the caller's word.
        unsafe { copy::unified_on(context, self.as_raw(), to, from, bytes) }
    }
}
