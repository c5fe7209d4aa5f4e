//! Copies between raw addresses, for memory that no borrow can describe.

use cuprum_sys::CUdeviceptr;

use super::Scope;
use crate::context::Current;
use crate::error::Error;
use crate::memory::copy;

impl Current<'_, '_> {
    /// Copies `bytes` bytes between addresses of any kind, which the driver distinguishes. On
    /// return, host memory may be reused or has the copied bytes; within the device the host does
    /// not wait.
    ///
    /// Slices, pinned memory and blocks have safe copies; this is for addresses of other code.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE`.
    ///
    /// # Safety
    /// 1. `from` is valid for reads and `to` for writes of `bytes` bytes, of the current context or
    ///    of the host, and they do not overlap.
    /// 2. No code writes them during the call, and no reference to `to` exists; the default stream
    ///    orders other uses of device memory among them.
    ///
    /// Driver: `cuMemcpy`, CUDA 4.0+.
    #[doc(alias = "cuMemcpy")]
    #[inline]
    pub unsafe fn copy_raw(&self, to: CUdeviceptr, from: CUdeviceptr, bytes: usize) -> Result<(), Error> {
        let context = self.get()?;
        // SAFETY: duties 1 and 2.
        unsafe { copy::unified(&context, to, from, bytes) }
    }
}

impl Scope<'_, '_> {
    /// Queues a copy of `bytes` bytes between addresses of any kind, which the driver
    /// distinguishes. The host does not wait if its memory is page-locked.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE`.
    ///
    /// # Safety
    /// The copy is *complete* when a wait for the stream, for an event recorded after it, or for
    /// the context has succeeded. The end of the scope is such a wait if it returns no error. After
    /// a failed wait, it is complete only when the context has ended, because a fault does not stop
    /// copies.
    /// 1. `from` is valid for reads and `to` for writes of `bytes` bytes, of the current context or
    ///    of the host, and they do not overlap. This holds until the copy is complete: host memory
    ///    is not freed, moved or unregistered.
    /// 2. Until the copy is complete, the host does not write `from`, does not access `to`, and has
    ///    no reference to `to`; the stream, an event, or the default stream (see
    ///    [`Stream`](super::Stream)) orders other uses of device memory among them.
    ///
    /// Driver: `cuMemcpyAsync`, CUDA 4.0+.
    #[doc(alias = "cuMemcpyAsync")]
    #[inline]
    pub unsafe fn copy_raw(&self, to: CUdeviceptr, from: CUdeviceptr, bytes: usize) -> Result<(), Error> {
        let context = self.token().get()?;
        // SAFETY: duties 1 and 2.
        unsafe { copy::unified_on(&context, self.stream(), to, from, bytes) }
    }
}
