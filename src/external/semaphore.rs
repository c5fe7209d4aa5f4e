//! Imported semaphores.

use cuprum_sys::{
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC, CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS,
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS, CUexternalSemaphore, CUexternalSemaphoreHandleType as Type,
    CUresult, FnId,
};

use crate::context::{Current, context_call};
use crate::error::Error;
use crate::raw::debug::debug;
use crate::raw::held::{Held, handle};
use crate::raw::owner::{as_raw, close, context};
use crate::stream::Stream;

// SAFETY: the driver allows any thread to use and to destroy imported semaphores.
handle!(unsafe CUexternalSemaphore: "ExternalSemaphore", |raw| cuDestroyExternalSemaphore(raw));

/// A signal with a value, in the form of streams and graph nodes.
pub(crate) fn signal_of(value: u64) -> CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS {
    let mut params = CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS::zeroed();
    params.params.fence.value = value;
    params
}

pub(crate) fn wait_of(value: u64) -> CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS {
    let mut params = CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS::zeroed();
    params.params.fence.value = value;
    params
}

/// A semaphore of another API, imported into one context. Both sides signal it and wait for it.
///
/// A timeline semaphore has a value that only grows. A binary semaphore is signaled or not; a wait
/// resets it, and values are ignored.
///
/// The other API still owns the semaphore.
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// # cuprum::example!(software driver, context, cx);
/// use std::os::fd::{FromRawFd, OwnedFd};
/// use cuprum::{Stream, external::ExternalSemaphore};
///
/// // On a GPU, `vkGetSemaphoreFdKHR` returns the descriptor.
/// let other = cuprum_emulator::memory::ExternalSemaphore::new().ok_or("no shared memory")?;
/// let descriptor = other.descriptor().ok_or("no descriptors left")?;
/// // SAFETY: a new descriptor of a timeline semaphore.
/// let frames = unsafe { ExternalSemaphore::from_timeline_fd(&cx, OwnedFd::from_raw_fd(descriptor)) }?;
/// let stream = Stream::new(&cx)?;
/// // SAFETY: the stream is waited for before the semaphore is dropped.
/// unsafe { frames.wait(&cx, &stream, 1) }?;
/// // SAFETY: as above.
/// unsafe { frames.signal(&cx, &stream, 2) }?;
/// assert!(!stream.is_done(&cx)?);
/// other.signal(1);
/// stream.synchronize(&cx)?;
/// assert_eq!(other.value(), 2);
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ExternalSemaphore<'ctx>(Held<'ctx, CUexternalSemaphore>);

impl<'ctx> ExternalSemaphore<'ctx> {
    /// Imports a semaphore by a description, with any kind of handle except `NvSciSync`, whose
    /// signals and waits need fences that no method here accepts.
    ///
    /// # Errors
    /// `CUDA_ERROR_UNKNOWN` if the handle is not of such a semaphore; `CUDA_ERROR_NOT_SUPPORTED`
    /// for `NvSciSync`, and for a kind of handle that the system does not support;
    /// `CUDA_ERROR_INVALID_VALUE`.
    ///
    /// # Safety
    /// 1. The description follows the driver's documentation, and its handle is live.
    /// 2. The driver owns a descriptor after success; the caller keeps it after an error.
    ///
    /// Driver: `cuImportExternalSemaphore`, CUDA 10.0+.
    #[doc(alias = "cuImportExternalSemaphore")]
    #[inline]
    pub unsafe fn import(
        cx: &Current<'_, 'ctx>,
        described: &CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC,
    ) -> Result<Self, Error> {
        let context = cx.get()?;
        if described.type_ == Type::CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_NVSCISYNC {
            let (code, call) = (CUresult::CUDA_ERROR_NOT_SUPPORTED, FnId::cuImportExternalSemaphore);
            return Err(Error::host(code, call));
        }
        let mut raw = CUexternalSemaphore::null();
        let (out, described) = (&raw mut raw, std::ptr::from_ref(described));
        // SAFETY: description and out-parameter outlive the call, and `cx` proves a current
        // context; the caller guarantees the handle.
        unsafe { context_call!(&context, cuImportExternalSemaphore(out, described)) }?;
        Ok(Self(Held::new(raw, context)))
    }

    /// Imports a timeline semaphore by its descriptor, which the driver then owns. After an error
    /// it stays open, because the driver may have taken it.
    ///
    /// # Errors
    /// Same as [`import`](ExternalSemaphore::import).
    ///
    /// # Safety
    /// Another API has exported the descriptor, of a timeline semaphore.
    ///
    /// Driver: `cuImportExternalSemaphore`, CUDA 10.0+.
    #[cfg(unix)]
    #[doc(alias = "cuImportExternalSemaphore")]
    #[inline]
    pub unsafe fn from_timeline_fd(
        cx: &Current<'_, 'ctx>,
        descriptor: std::os::fd::OwnedFd,
    ) -> Result<Self, Error> {
        use std::os::fd::IntoRawFd;

        let mut described = CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC::zeroed();
        described.type_ = Type::CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD;
        described.handle.fd = descriptor.into_raw_fd();
        // SAFETY: the descriptor is open, and the caller guarantees its semaphore.
        unsafe { Self::import(cx, &described) }
    }

    /// Queues a signal of the semaphore with `value`. The host does not wait.
    ///
    /// # Errors
    /// [`Error::WRONG_CONTEXT`] unless semaphore, stream and `cx` are of one context.
    ///
    /// # Safety
    /// 1. The semaphore is closed or dropped after the stream has passed the signal.
    /// 2. `value` is greater than a timeline semaphore's value at that time.
    ///
    /// Driver: `cuSignalExternalSemaphoresAsync`, CUDA 10.0+.
    #[doc(alias = "cuSignalExternalSemaphoresAsync")]
    #[inline]
    pub unsafe fn signal(&self, cx: &Current<'_, '_>, stream: &Stream<'_>, value: u64) -> Result<(), Error> {
        let owners = [self.context(), stream.context()];
        let context = cx.of_both(owners, FnId::cuSignalExternalSemaphoresAsync)?;
        let params = signal_of(value);
        let (raw, stream) = (self.as_raw(), stream.as_raw());
        let (one, params) = (&raw const raw, &raw const params);
        // SAFETY: both handles are live, their context is current, and the arrays of one outlive
        // the call.
        unsafe { context_call!(context, cuSignalExternalSemaphoresAsync(one, params, 1, stream)) }
    }

    /// Makes the stream wait until the semaphore is signaled or has `value`. The host does not
    /// wait.
    ///
    /// # Errors
    /// Same as [`signal`](ExternalSemaphore::signal).
    ///
    /// # Safety
    /// The semaphore is closed or dropped after the stream has passed the wait.
    ///
    /// Driver: `cuWaitExternalSemaphoresAsync`, CUDA 10.0+.
    #[doc(alias = "cuWaitExternalSemaphoresAsync")]
    #[inline]
    pub unsafe fn wait(&self, cx: &Current<'_, '_>, stream: &Stream<'_>, value: u64) -> Result<(), Error> {
        let owners = [self.context(), stream.context()];
        let context = cx.of_both(owners, FnId::cuWaitExternalSemaphoresAsync)?;
        let params = wait_of(value);
        let (raw, stream) = (self.as_raw(), stream.as_raw());
        let (one, params) = (&raw const raw, &raw const params);
        // SAFETY: as in `signal`.
        unsafe { context_call!(context, cuWaitExternalSemaphoresAsync(one, params, 1, stream)) }
    }

    as_raw!(CUexternalSemaphore, |this| this.0.raw());
    context!(|this| this.0.context());
    close!("Releases the semaphore", "cuDestroyExternalSemaphore", "10.0", |this| this.0.close());
}

debug!(ExternalSemaphore<'_>: |this, f| this.0.fmt(f));
