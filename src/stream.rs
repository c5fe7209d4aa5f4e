//! Streams: queues of device work.

use std::fmt;

use cuprum_sys::{CU_STREAM_LEGACY, CUresult, CUstream, FnId, StreamMode, call};

use crate::context::owned::{self, Owned};
use crate::context::{ContextRef, Current};
use crate::error::{Error, context_call};
use crate::event::Event;

/// How a stream relates to the legacy default stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum StreamKind {
    /// In order with the legacy default stream, and so with synchronous copies (but not where the library was opened
    /// with per-thread default streams: there copies run on the thread's own). The safe choice.
    #[default]
    Blocking,
    /// Not in order with the default stream. Work that needs what a synchronous copy wrote must wait for it,
    /// with an [`Event`] or in a [scope](Current::scope).
    NonBlocking,
}

/// A queue of work in one context: what is put into it runs in that order.
///
/// Dropping it does not wait: the driver finishes what is queued. Drop works on any thread, swallows errors and
/// does nothing in a forked child; [`close`](Stream::close) reports.
pub struct Stream<'ctx> {
    raw: CUstream,
    kind: StreamKind,
    owned: bool,
    context: &'ctx ContextRef,
}

// SAFETY: the driver allows any thread to use a stream handle. The default stream's handle means the same
// queue on every thread, see `default_in`.
unsafe impl Send for Stream<'_> {}
// SAFETY: as above.
unsafe impl Sync for Stream<'_> {}

impl<'ctx> Stream<'ctx> {
    /// Creates a stream in order with the legacy default stream.
    ///
    /// # Errors
    /// `CUDA_ERROR_OUT_OF_MEMORY`; the sticky errors of earlier work.
    ///
    /// Driver: `cuStreamCreate`, CUDA 2.0+.
    #[doc(alias = "cuStreamCreate")]
    pub fn new(cx: &Current<'_, 'ctx>) -> Result<Self, Error> {
        Self::create(cx, StreamKind::Blocking)
    }

    /// Creates a stream that runs beside the legacy default stream: see [`StreamKind::NonBlocking`].
    ///
    /// # Errors
    /// As [`new`](Stream::new).
    ///
    /// Driver: `cuStreamCreate`, CUDA 2.0+.
    #[doc(alias = "cuStreamCreate")]
    pub fn non_blocking(cx: &Current<'_, 'ctx>) -> Result<Self, Error> {
        Self::create(cx, StreamKind::NonBlocking)
    }

    fn create(cx: &Current<'_, 'ctx>, kind: StreamKind) -> Result<Self, Error> {
        let context = cx.get()?;
        let mut raw = CUstream::null();
        // SAFETY: `raw` outlives the call, and `cx` proves a current context.
        unsafe { context_call!(context, cuStreamCreate(&raw mut raw, kind as u32)) }?;
        Ok(Self { raw, kind, owned: true, context })
    }

    /// Creates a stream with a priority, from the range of [`Current::stream_priorities`]; others are clamped.
    ///
    /// # Errors
    /// As [`new`](Stream::new).
    ///
    /// Driver: `cuStreamCreateWithPriority`, CUDA 5.5+.
    #[doc(alias = "cuStreamCreateWithPriority")]
    pub fn with_priority(cx: &Current<'_, 'ctx>, kind: StreamKind, priority: i32) -> Result<Self, Error> {
        let context = cx.get()?;
        let mut raw = CUstream::null();
        // SAFETY: `raw` outlives the call, and `cx` proves a current context.
        unsafe { context_call!(context, cuStreamCreateWithPriority(&raw mut raw, kind as u32, priority)) }?;
        Ok(Self { raw, kind, owned: true, context })
    }

    /// The context's legacy default stream, on which synchronous copies run unless the library was opened with
    /// per-thread default streams. No driver call.
    pub fn default_in(cx: &Current<'_, 'ctx>) -> Self {
        let context = cx.context();
        let raw = match context.library().stream_mode() {
            StreamMode::Legacy => CUstream::null(),
            StreamMode::PerThread => CU_STREAM_LEGACY,
        };
        Self { raw, kind: StreamKind::Blocking, owned: false, context }
    }

    /// The driver's handle.
    pub const fn as_raw(&self) -> CUstream {
        self.raw
    }

    /// How the stream relates to the legacy default stream.
    pub const fn kind(&self) -> StreamKind {
        self.kind
    }

    /// The context that the stream belongs to.
    pub const fn context(&self) -> &'ctx ContextRef {
        self.context
    }

    /// Blocks the host until all work queued here is done, and reports what went wrong in it.
    ///
    /// # Errors
    /// The sticky errors of kernels that ran before; [`Error::is_wrong_context`].
    ///
    /// Driver: `cuStreamSynchronize`, CUDA 2.0+.
    #[doc(alias = "cuStreamSynchronize")]
    pub fn synchronize(&self, cx: &Current<'_, '_>) -> Result<(), Error> {
        let context = cx.of(self.context, FnId::cuStreamSynchronize)?;
        // SAFETY: the stream is live, and its context is current.
        unsafe { context_call!(context, cuStreamSynchronize(self.raw)) }
    }

    /// Whether all work queued here is done. Does not wait.
    ///
    /// # Errors
    /// As [`synchronize`](Stream::synchronize).
    ///
    /// Driver: `cuStreamQuery`, CUDA 2.0+.
    #[doc(alias = "cuStreamQuery")]
    pub fn is_done(&self, cx: &Current<'_, '_>) -> Result<bool, Error> {
        let context = cx.of(self.context, FnId::cuStreamQuery)?;
        // SAFETY: the stream is live, and its context is current.
        ready(unsafe { context_call!(context, cuStreamQuery(self.raw)) })
    }

    /// Makes work queued here later wait for what `event` recorded. The host does not wait.
    ///
    /// # Errors
    /// [`Error::is_wrong_context`] if the stream's context is not current; the event may be of another context, but
    /// not of another driver.
    ///
    /// Driver: `cuStreamWaitEvent`, CUDA 3.2+.
    #[doc(alias = "cuStreamWaitEvent")]
    pub fn wait(&self, cx: &Current<'_, '_>, event: &Event<'_>) -> Result<(), Error> {
        let context = cx.of(self.context, FnId::cuStreamWaitEvent)?;
        event.check_driver(context, FnId::cuStreamWaitEvent)?;
        // SAFETY: both handles are live; the driver keeps what it needs of the event.
        unsafe { context_call!(context, cuStreamWaitEvent(self.raw, event.as_raw(), 0)) }
    }

    /// Destroys the stream and reports what `Drop` would swallow; gives it back if that failed.
    ///
    /// # Errors
    /// As the driver says, with the stream.
    ///
    /// Driver: `cuStreamDestroy_v2`, CUDA 4.0+.
    #[doc(alias = "cuStreamDestroy_v2")]
    pub fn close(self) -> Result<(), (Error, Self)> {
        owned::close(self)
    }
}

impl Owned for Stream<'_> {
    fn home(&self) -> &ContextRef {
        self.context
    }

    fn owns(&self) -> bool {
        self.owned
    }

    unsafe fn free(&self) -> (CUresult, FnId) {
        // SAFETY: the caller vouches that the stream is live and not used again.
        unsafe { call!(self.context.library().fns(), cuStreamDestroy_v2(self.raw)) }
    }
}

/// Reads a query's answer: done, not yet, or failed.
pub(crate) fn ready(answer: Result<(), Error>) -> Result<bool, Error> {
    match answer {
        Ok(()) => Ok(true),
        Err(error) if error.code() == CUresult::CUDA_ERROR_NOT_READY => Ok(false),
        Err(error) => Err(error),
    }
}

impl Drop for Stream<'_> {
    fn drop(&mut self) {
        owned::drop(self);
    }
}

impl fmt::Debug for Stream<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stream({:?}, {:?})", self.raw, self.kind)
    }
}
