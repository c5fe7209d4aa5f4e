//! Copies between raw addresses: the way out where no borrow fits.

use cuprum_sys::CUdeviceptr;

use super::Scope;
use crate::context::Current;
use crate::error::Error;
use crate::memory::copy;

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
        // SAFETY: guaranteed by the caller.
        unsafe { copy::unified(&context, to, from, bytes) }
    }
}

impl Scope<'_, '_> {
    /// Queues a copy of `bytes` bytes between addresses of any kind, which the driver tells apart. The host does not wait, if
    /// memory of the host among them is page-locked.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE`; the sticky errors of earlier work.
    ///
    /// # Safety
    /// The copy is *over* when a wait for the stream, for an event recorded after it, or for the context has succeeded: the
    /// end of the scope, if that gives no error. After a wait that failed, it is over only when the context has ended: a
    /// fault does not stop copies.
    /// 1. `from` is valid for reads and `to` for writes of `bytes` bytes, of the current context or of the host, and they do
    ///    not overlap. They stay so until the copy is over: memory of the host is neither freed, moved nor unregistered.
    /// 2. Until the copy is over, the host does not write `from`, neither reads nor writes `to`, and has no reference to what
    ///    is written; what uses device memory among them meanwhile is ordered by the stream, by an event, or by the default
    ///    stream (see [`Stream`](super::Stream)).
    ///
    /// Driver: `cuMemcpyAsync`, CUDA 4.0+.
    #[doc(alias = "cuMemcpyAsync")]
    #[inline]
    pub unsafe fn copy_raw(&self, to: CUdeviceptr, from: CUdeviceptr, bytes: usize) -> Result<(), Error> {
        let context = self.token().get()?;
        // SAFETY: guaranteed by the caller.
        unsafe { copy::unified_on(&context, self.stream(), to, from, bytes) }
    }
}
