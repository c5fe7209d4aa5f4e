//! Events shared between processes.

use cuprum_sys::{CUevent, CUipcEventHandle, FnId};

use super::Event;
use crate::context::{Current, context_call};
use crate::error::Error;
use crate::raw::held::Held;

impl<'ctx> Event<'ctx> {
    /// Returns the name of an event with
    /// [`EventFlags::INTERPROCESS`](super::EventFlags::INTERPROCESS), with which other processes of
    /// the machine [open](Event::open) it: 64 bytes, to be sent in any way.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_HANDLE` for an event without that flag, and for an opened one;
    /// `CUDA_ERROR_NOT_SUPPORTED` if the system cannot share events; [`Error::WRONG_CONTEXT`].
    ///
    /// Driver: `cuIpcGetEventHandle`, CUDA 4.1+.
    #[doc(alias = "cuIpcGetEventHandle")]
    #[inline]
    pub fn ipc_handle(&self, cx: &Current<'_, '_>) -> Result<[u8; 64], Error> {
        let context = cx.of(self.context(), FnId::cuIpcGetEventHandle)?;
        let mut handle = CUipcEventHandle { reserved: [0; 64] };
        // SAFETY: the event is live, and the out-parameter outlives the call.
        unsafe { context_call!(context, cuIpcGetEventHandle(&raw mut handle, self.as_raw())) }?;
        Ok(handle.reserved)
    }

    /// Opens an event of another process. Either process may record it, and wait for it on the host
    /// or in streams.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_CONTEXT` in the process that made it; `CUDA_ERROR_MAP_FAILED` for an
    /// invalid handle; `CUDA_ERROR_NOT_SUPPORTED` if the system cannot share events.
    ///
    /// # Safety
    /// 1. [`ipc_handle`](Event::ipc_handle) or `cuIpcGetEventHandle` returned the handle, in a
    ///    process of this machine.
    /// 2. That process does not destroy its event before this one is closed or dropped.
    /// 3. No process records its event while another process relies on its own record, as
    ///    [`StreamBuffer::move_to`](crate::pool::StreamBuffer::move_to) and a
    ///    [`Request`](crate::stream::Request) with that event do.
    ///
    /// Driver: `cuIpcOpenEventHandle`, CUDA 4.1+.
    #[doc(alias = "cuIpcOpenEventHandle")]
    #[inline]
    pub unsafe fn open(cx: &Current<'_, 'ctx>, handle: [u8; 64]) -> Result<Self, Error> {
        let context = cx.get()?;
        let mut raw = CUevent::null();
        let handle = CUipcEventHandle { reserved: handle };
        // SAFETY: the out-parameter outlives the call, and `cx` proves a current context; the
        // caller guarantees the handle.
        unsafe { context_call!(&context, cuIpcOpenEventHandle(&raw mut raw, handle)) }?;
        Ok(Self(Held::new(raw, context)))
    }
}
