//! Streams: created, queried, waited for, and destroyed.

use cuprum_sys::{CU_STREAM_LEGACY, CUresult, CUstream, CUstream_flags, FnId, StreamMode};

use crate::context::{ContextRef, Current, context_call};
use crate::error::Error;
use crate::raw::debug::debug;
use crate::raw::held::{Handle, Held, handle};
use crate::raw::keep::{Keep, Near};
use crate::raw::owner::{as_raw, close, context};

/// Relation of a stream to the legacy default stream.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::Stream;
/// use cuprum::stream::StreamKind;
///
/// assert_eq!(Stream::new(&cx)?.kind(), StreamKind::Blocking);
/// assert_eq!(Stream::non_blocking(&cx)?.kind(), StreamKind::NonBlocking);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum StreamKind {
    /// Ordered with the legacy default stream, and so with synchronous copies (but not if the
    /// library was opened with per-thread default streams: then copies run on the thread's own
    /// default stream). The safe choice.
    #[default]
    Blocking,
    /// Not ordered with the default stream. Work that needs the result of a synchronous copy must
    /// wait for it, with an [`Event`](super::Event) or in a [scope](Current::scope). All streams of
    /// a [`GreenContext`](crate::context::GreenContext) except its default stream are of this kind.
    NonBlocking,
}

/// A queue of work in one context. Work runs in the order in which it was queued.
///
/// Dropping it does not wait: the driver finishes the queued work.
///
/// # Keeping it in a struct
///
/// To keep it in a struct, make it in a [shared context](crate::Shared): it is then a
/// `Stream<'static>`, which holds a share of the context. Made in a borrowed context, it borrows
/// the context for `'ctx`, so no struct can hold it together with the context.
///
/// # Example
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::stream::StreamKind;
/// use cuprum::{Buffer, Stream};
///
/// let stream = Stream::new(&cx)?;
/// assert_eq!(stream.kind(), StreamKind::Blocking);
/// let mut buffer = Buffer::<u32>::zeroed(&cx, 4)?;
/// cx.scope(&stream, |scope| Ok(scope.fill(&scope.lend(&mut buffer)?, 7)?))?; // queued; the scope waits at its end
/// assert!(stream.is_done(&cx)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Stream<'ctx> {
    pub(super) queue: Held<'ctx, CUstream>,
    pub(super) kind: StreamKind,
}

// SAFETY: the driver allows any thread to use a stream handle. The default stream's handle means
// the same queue on every thread, see `default_in`.
handle! {
    unsafe CUstream: "Stream", owned if |raw| !raw.is_null() && raw != CU_STREAM_LEGACY,
    |raw| cuStreamDestroy_v2(raw)
}

impl<'ctx> Stream<'ctx> {
    /// Creates a stream that is ordered with the legacy default stream; in a
    /// [`GreenContext`](crate::context::GreenContext), which has no such streams, a
    /// [non-blocking](StreamKind::NonBlocking) one.
    ///
    /// # Errors
    /// `CUDA_ERROR_OUT_OF_MEMORY`.
    ///
    /// Driver: `cuStreamCreate`, CUDA 2.0+.
    #[doc(alias = "cuStreamCreate")]
    #[inline]
    pub fn new(cx: &Current<'_, 'ctx>) -> Result<Self, Error> {
        Self::create(cx, StreamKind::Blocking)
    }

    /// Creates a stream that is not ordered with the legacy default stream: see
    /// [`StreamKind::NonBlocking`].
    ///
    /// # Errors
    /// Same as [`new`](Stream::new).
    ///
    /// Driver: `cuStreamCreate`, CUDA 2.0+.
    #[doc(alias = "cuStreamCreate")]
    #[inline]
    pub fn non_blocking(cx: &Current<'_, 'ctx>) -> Result<Self, Error> {
        Self::create(cx, StreamKind::NonBlocking)
    }

    fn create(cx: &Current<'_, 'ctx>, kind: StreamKind) -> Result<Self, Error> {
        let context = cx.get()?;
        let mut raw = CUstream::null();
        // SAFETY: `raw` outlives the call, and `cx` proves a current context.
        unsafe { context_call!(&context, cuStreamCreate(&raw mut raw, kind.flags())) }?;
        Ok(Self { kind: kind.in_context(&context), queue: Held::new(raw, context) })
    }

    /// Creates a stream with a priority, which is clamped to the range of
    /// [`Current::stream_priorities`].
    ///
    /// # Errors
    /// Same as [`new`](Stream::new).
    ///
    /// Driver: `cuStreamCreateWithPriority`, CUDA 5.5+.
    #[doc(alias = "cuStreamCreateWithPriority")]
    #[inline]
    pub fn with_priority(cx: &Current<'_, 'ctx>, kind: StreamKind, priority: i32) -> Result<Self, Error> {
        let context = cx.get()?;
        let mut raw = CUstream::null();
        // SAFETY: `raw` outlives the call, and `cx` proves a current context.
        unsafe { context_call!(&context, cuStreamCreateWithPriority(&raw mut raw, kind.flags(), priority)) }?;
        Ok(Self { kind: kind.in_context(&context), queue: Held::new(raw, context) })
    }

    /// Returns the context's legacy default stream, on which synchronous copies run unless the
    /// library was opened with per-thread default streams. No driver call.
    #[inline]
    pub fn default_in(cx: &Current<'_, 'ctx>) -> Self {
        let context = cx.near();
        context.default_stream().name();
        let raw = match context.library().stream_mode() {
            StreamMode::Legacy => CUstream::null(),
            StreamMode::PerThread => CU_STREAM_LEGACY,
        };
        Self { queue: Held::new(raw, context), kind: StreamKind::Blocking }
    }

    as_raw!(CUstream, |this| this.queue.raw());

    /// Returns whether the stream is ordered with the legacy default stream.
    pub const fn kind(&self) -> StreamKind {
        self.kind
    }

    /// True if work of other calls on the default stream must be waited for. Per-thread default
    /// streams have no work in flight.
    pub(crate) fn is_apart(&self) -> bool {
        self.kind == StreamKind::NonBlocking && self.context().library().stream_mode() == StreamMode::Legacy
    }

    context!(|this| this.queue.context());

    /// Returns the stream, unless it is a default stream: several values stand for a default
    /// stream, so other code could queue work on it, which would become part of a capture.
    pub(crate) fn capturable(&self, call: FnId) -> Result<&Self, Error> {
        if self.as_raw().is_owned() {
            Ok(self)
        } else {
            Err(Error::host(CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, call))
        }
    }

    /// The context, for objects that borrow the stream.
    pub(crate) fn near(&self) -> Near<'_, ContextRef> {
        self.queue.near()
    }

    pub(super) fn keep(&self) -> Keep<'ctx, ContextRef> {
        self.queue.keep()
    }

    /// Waits on the host until all work queued here is complete, and returns its errors.
    ///
    /// # Errors
    /// Sticky errors of earlier kernels; [`Error::WRONG_CONTEXT`].
    ///
    /// Driver: `cuStreamSynchronize`, CUDA 2.0+.
    #[doc(alias = "cuStreamSynchronize")]
    #[inline]
    pub fn synchronize(&self, cx: &Current<'_, '_>) -> Result<(), Error> {
        let context = cx.of(self.context(), FnId::cuStreamSynchronize)?;
        // SAFETY: the stream is live, and its context is current.
        unsafe { context_call!(context, cuStreamSynchronize(self.as_raw())) }
    }

    /// True if all work queued here is complete. Does not wait.
    ///
    /// # Errors
    /// Same as [`synchronize`](Stream::synchronize).
    ///
    /// Driver: `cuStreamQuery`, CUDA 2.0+.
    #[doc(alias = "cuStreamQuery")]
    #[inline]
    pub fn is_done(&self, cx: &Current<'_, '_>) -> Result<bool, Error> {
        let context = cx.of(self.context(), FnId::cuStreamQuery)?;
        // SAFETY: the stream is live, and its context is current.
        ready(unsafe { context_call!(context, cuStreamQuery(self.as_raw())) })
    }

    close!("Destroys the stream", "cuStreamDestroy_v2", "4.0", |this| this.queue.close());
}

impl StreamKind {
    /// The actual kind of a stream created with this kind. In a green context, only the default
    /// stream is ordered with synchronous copies, regardless of flags (measured on an H100 with
    /// driver 580).
    pub(super) fn in_context(self, context: &ContextRef) -> Self {
        if context.is_green() { Self::NonBlocking } else { self }
    }

    const fn flags(self) -> u32 {
        match self {
            Self::Blocking => CUstream_flags::CU_STREAM_DEFAULT.0,
            Self::NonBlocking => CUstream_flags::CU_STREAM_NON_BLOCKING.0,
        }
    }
}

/// Converts the answer of a query: complete, not yet complete, or failed.
pub(crate) fn ready(answer: Result<(), Error>) -> Result<bool, Error> {
    match answer {
        Ok(()) => Ok(true),
        Err(error) if error.code() == CUresult::CUDA_ERROR_NOT_READY => Ok(false),
        Err(error) => Err(error),
    }
}

debug!(Stream<'_>: |this| "{:?}, {:?}", this.as_raw(), this.kind);
