//! Events that several processes have.

use std::fmt;

use cuprum_sys::{CUevent, CUipcEventHandle, FnId};

use super::Event;
use crate::context::Current;
use crate::error::Error;
use crate::raw::call::context_call;
use crate::raw::held::Held;

/// The name of an event, by which another process of the machine opens it: 64 bytes, to be sent in any way.
///
/// # Example
/// ```
/// # let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
/// # let driver = cuprum::Driver::init(library)?;
/// # let context = cuprum::PrimaryContext::retain(driver.device(0)?)?;
/// # let mut stack = cuprum::ContextStack::take()?;
/// # let cx = stack.push(&context)?;
/// use cuprum::{Event, EventFlags};
///
/// let event = Event::new(&cx, EventFlags::INTERPROCESS | EventFlags::DISABLE_TIMING)?;
/// // Not every system shares events.
/// if let Ok(handle) = event.ipc_handle(&cx) {
///     let sent: [u8; 64] = handle.to_bytes();
///     assert_eq!(cuprum::stream::IpcEventHandle::from_bytes(sent), handle);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct IpcEventHandle([u8; 64]);

impl IpcEventHandle {
    /// The handle that another process has sent.
    pub const fn from_bytes(bytes: [u8; 64]) -> Self {
        Self(bytes)
    }

    /// The handle, to be sent.
    pub const fn to_bytes(self) -> [u8; 64] {
        self.0
    }
}

impl fmt::Debug for IpcEventHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IpcEventHandle")
    }
}

impl<'ctx> Event<'ctx> {
    /// The name of an event with [`EventFlags::INTERPROCESS`](super::EventFlags::INTERPROCESS), for other processes to
    /// [open](Event::open).
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_HANDLE` for an event without that flag, and for one that was opened; `CUDA_ERROR_NOT_SUPPORTED`
    /// where the system shares none; [`Error::is_wrong_context`].
    ///
    /// ```
    /// # let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
    /// # let driver = cuprum::Driver::init(library)?;
    /// # let context = cuprum::PrimaryContext::retain(driver.device(0)?)?;
    /// # let mut stack = cuprum::ContextStack::take()?;
    /// # let cx = stack.push(&context)?;
    /// use cuprum::{Event, EventFlags};
    ///
    /// let written = Event::new(&cx, EventFlags::INTERPROCESS | EventFlags::DISABLE_TIMING)?;
    /// # if cfg!(target_os = "linux") {
    /// let bytes = written.ipc_handle(&cx)?.to_bytes();
    /// # assert_eq!(bytes.len(), 64);
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Driver: `cuIpcGetEventHandle`, CUDA 4.1+.
    #[doc(alias = "cuIpcGetEventHandle")]
    #[inline]
    pub fn ipc_handle(&self, cx: &Current<'_, '_>) -> Result<IpcEventHandle, Error> {
        let context = cx.of(self.context(), FnId::cuIpcGetEventHandle)?;
        let mut handle = CUipcEventHandle { reserved: [0; 64] };
        // SAFETY: the event is live, and the out-parameter outlives the call.
        unsafe { context_call!(context, cuIpcGetEventHandle(&raw mut handle, self.as_raw())) }?;
        Ok(IpcEventHandle(handle.reserved))
    }

    /// Opens an event of another process. Either process may record it, and wait for it on the host or in streams.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_CONTEXT` in the process that made it; `CUDA_ERROR_MAP_FAILED` if it is none;
    /// `CUDA_ERROR_NOT_SUPPORTED` where the system shares none.
    ///
    /// # Safety
    /// 1. [`ipc_handle`](Event::ipc_handle) gave the handle, or `cuIpcGetEventHandle`, in a process of this machine.
    /// 2. That process does not destroy its event before this one is closed or dropped.
    /// 3. No process records its event while another relies on what it has just recorded itself, as
    ///    [`StreamBuffer::move_to`](crate::pool::StreamBuffer::move_to) and a [`Request`](crate::Request) with that event do.
    ///
    /// Driver: `cuIpcOpenEventHandle`, CUDA 4.1+.
    #[doc(alias = "cuIpcOpenEventHandle")]
    #[inline]
    pub unsafe fn open(cx: &Current<'_, 'ctx>, handle: IpcEventHandle) -> Result<Self, Error> {
        let context = cx.get()?;
        let mut raw = CUevent::null();
        let handle = CUipcEventHandle { reserved: handle.0 };
        // SAFETY: the out-parameter outlives the call, and `cx` proves a current context; the caller vouches for the handle.
        unsafe { context_call!(&context, cuIpcOpenEventHandle(&raw mut raw, handle)) }?;
        Ok(Self(Held::new(raw, context)))
    }
}
