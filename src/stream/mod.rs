//! Streams: queues of device work, the marks in them, and the scopes that lend memory to them.
//!
//! # What a wait that fails tells
//!
//! Measured on H200s with driver 580 (`tests/data/goldens/after_fault.txt`, made by `tests/gpu/after_fault.sh`): after
//! a kernel has faulted, every wait answers at once, for every stream, context and device of the process, while copies
//! between a device and *page-locked* host memory go on, those that are still queued included. Only the end of the
//! context tells that they are over. Synchronous copies return when they are done, fault or not.
//!
//! So a wait that fails does not prove that the device has stopped writing memory of the host, and this crate holds to
//! three rules:
//!
//! - Copies to a slice of the host, which may be page-locked or not, are synchronous.
//! - Copies that run beside the host go to memory whose *owner* is at hand: lent to a [scope](Scope::lend_host), or
//!   moved into a [`Request`]. If the wait fails, a scope marks the owner as lost, so that it gives the host no element
//!   any more and frees nothing, and a request is leaked as a whole.
//! - Copies from the host are queued. If the wait for them fails, the device may read that memory later, which does no
//!   harm to the host: the bytes end in device memory, whose contents are unspecified after an error.
//!
//! # Waits for numbers
//!
//! A stream can [wait for a number](Until) in memory, which another stream, a kernel, a peer or the host
//! [writes](Signals). Until then all that waits for the stream waits too: synchronizing, the end of a
//! [scope](Current::scope), dropping a [`Pending`], and what of the driver's makes it wait for the device, such as
//! freeing memory. If nobody writes the number, they never return. Nothing is given back or freed under such a wait: it
//! is a hang, and no danger. Blocking streams and the default stream wait for each other, so that a write that is
//! queued on one of them does not overtake a wait on another: use non-blocking streams for this.
//!
//! # Faults
//!
//! It was also measured that freeing and unregistering page-locked memory answers with the fault and leaves it as it is,
//! that functions queued with `cuLaunchHostFunc` are never called then, and that those of `cuStreamAddCallback` are,
//! with the fault: so futures are woken by the latter.
//!
//! # On the driver's threads
//!
//! The driver calls the functions of [`Stream::call_host`] and of [host nodes](crate::graph::Graph::add_host), wakes
//! futures, and drops the values of [user objects](crate::graph::UserObject) on threads of its own. What such a
//! function owns and does not return is dropped there as well, and so is what it returns if nobody takes it. Measured
//! on an H100 with driver 580 (`tests/data/goldens/callbacks.txt`, made by `tests/gpu/callbacks.cpp`), the same in all
//! of these:
//!
//! | call on that thread | answer |
//! |---|---|
//! | allocating and freeing memory, making a context current, waiting for a context, asking for devices | `CUDA_ERROR_NOT_PERMITTED` |
//! | asking for an event, waiting for an event or for another stream | as anywhere |
//! | waiting for the stream that called, or for any work behind the function | never |
//!
//! So a token is not to be had there: [`enter`](crate::ContextRef::enter) gives the error. An object of a context that
//! is dropped there leaks, since its drop cannot make the context current, and is [counted](crate::swallowed). That is
//! no danger; it is memory that is gone until the context ends. Dropping a [`Pending`] or a [`PendingFuture`] there
//! waits for its work, and if that comes behind the function, for ever. Wakers are not dropped there, but by the future
//! or by the next one that is made or dropped. The software device refuses every call there, and never hangs.

mod attributes;
mod batch;
mod copies;
mod decompression;
mod event;
mod foreign;
mod green;
mod host;
mod identity;
mod ipc_event;
mod left_over;
mod lent;
mod lent_array;
mod lent_host;
mod lent_peer;
mod lent_pitched;
mod managed;
pub(crate) mod operations;
mod raw_copy;
mod reached;
mod request;
mod scope;
mod shared;
mod signals;
mod sparse;
pub(crate) mod value;
mod whole_context;

use std::fmt;

use cuprum_sys::{CU_STREAM_LEGACY, CUresult, CUstream, CUstream_flags, FnId, Fns, StreamMode, call};

pub use self::attributes::{AccessPolicy, SyncDomainMap};
pub use self::copies::{BlockCopies, Copies, CopyAttributes};
pub use self::decompression::Decompression;
pub use self::event::{Event, EventFlags};
pub use self::foreign::{ForeignEvent, ForeignStream};
pub use self::host::HostCall;
pub use self::ipc_event::IpcEventHandle;
pub use self::lent::{Lent, LentShared};
pub use self::lent_array::LentArray;
pub use self::lent_host::LentHost;
pub use self::lent_peer::{LentPeer, PeerMemory};
pub use self::lent_pitched::{LentPitched, LentSource};
pub use self::managed::Attachment;
pub use self::operations::{Operations, Watched, Written};
pub use self::reached::{PendingFuture, Reached};
pub use self::request::{Pending, Request, RequestError};
pub(crate) use self::scope::synchronize;
pub use self::scope::{MultiScope, Scope};
pub(crate) use self::shared::KeptStream;
pub use self::shared::{SharedStream, StreamSource};
pub use self::signals::{LentSignals, Signals};
pub use self::value::{StreamValue, Until};

use crate::context::{ContextRef, Current};
use crate::error::Error;
use crate::raw::call::context_call;
use crate::raw::held::{Handle, Held};
use crate::raw::keep::{Keep, Near};

/// Relation of a stream to the legacy default stream.
///
/// Example: that of [`Stream`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum StreamKind {
    /// In order with the legacy default stream, and so with synchronous copies (but not where the library was opened
    /// with per-thread default streams: there copies run on the thread's own). The safe choice.
    #[default]
    Blocking,
    /// Not in order with the default stream. Work that needs what a synchronous copy wrote must wait for it,
    /// with an [`Event`] or in a [scope](Current::scope). So are all streams of a
    /// [`GreenContext`](crate::context::GreenContext) but its default stream, however they are made.
    NonBlocking,
}

/// A queue of work in one context: it runs in the order in which it was queued.
///
/// Dropping it does not wait: the driver finishes the queued work. Drop works on any thread, swallows errors and
/// does nothing in a forked child; [`close`](Stream::close) reports.
///
/// # Keeping it in a struct
///
/// In a struct it is a `Stream<'static>`, made in a [`SharedContext`](crate::SharedContext), of which it has a share.
/// In a context that is borrowed, `'ctx` is that borrow, and no struct can hold both.
///
/// # Example
/// ```
/// # let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
/// # let driver = cuprum::Driver::init(library)?;
/// # let context = cuprum::PrimaryContext::retain(driver.device(0)?)?;
/// # let mut stack = cuprum::ContextStack::take()?;
/// # let cx = stack.push(&context)?;
/// use cuprum::{Buffer, Stream, StreamKind};
///
/// let stream = Stream::new(&cx)?;
/// assert_eq!(stream.kind(), StreamKind::Blocking);
/// let mut buffer = Buffer::<u32>::zeroed(&cx, 4)?;
/// cx.scope(&stream, |scope| scope.lend(buffer.as_mut_slice())?.fill(7))??; // queued, and waited for at the end
/// assert!(stream.is_done(&cx)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Stream<'ctx> {
    queue: Held<'ctx, CUstream>,
    kind: StreamKind,
}

// SAFETY: the driver allows any thread to use a stream handle. The default stream's handle means the same queue on
// every thread, see `default_in`.
unsafe impl Handle for CUstream {
    const NAME: &'static str = "Stream";

    fn is_owned(self) -> bool {
        !self.is_null() && self != CU_STREAM_LEGACY
    }

    unsafe fn free(self, fns: &Fns) -> (CUresult, FnId) {
        // SAFETY: the caller vouches that the stream is live and not used again.
        unsafe { call!(fns, cuStreamDestroy_v2(self)) }
    }
}

impl<'ctx> Stream<'ctx> {
    /// Creates a stream in order with the legacy default stream; in a [`GreenContext`](crate::context::GreenContext),
    /// where there are no such streams, a [non-blocking](StreamKind::NonBlocking) one.
    ///
    /// # Errors
    /// `CUDA_ERROR_OUT_OF_MEMORY`; the sticky errors of earlier work.
    ///
    /// Driver: `cuStreamCreate`, CUDA 2.0+.
    #[doc(alias = "cuStreamCreate")]
    #[inline]
    pub fn new(cx: &Current<'_, 'ctx>) -> Result<Self, Error> {
        Self::create(cx, StreamKind::Blocking)
    }

    /// Creates a stream that runs beside the legacy default stream: see [`StreamKind::NonBlocking`].
    ///
    /// # Errors
    /// Those of [`new`](Stream::new).
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

    /// Creates a stream with a priority, from the range of [`Current::stream_priorities`]; others are clamped.
    ///
    /// # Errors
    /// Those of [`new`](Stream::new).
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

    /// The context's legacy default stream, on which synchronous copies run unless the library was opened with
    /// per-thread default streams. No driver call.
    #[inline]
    pub fn default_in(cx: &Current<'_, 'ctx>) -> Self {
        let context = cx.near();
        let raw = match context.library().stream_mode() {
            StreamMode::Legacy => CUstream::null(),
            StreamMode::PerThread => CU_STREAM_LEGACY,
        };
        Self { queue: Held::new(raw, context), kind: StreamKind::Blocking }
    }

    /// The driver's handle.
    #[inline]
    pub const fn as_raw(&self) -> CUstream {
        self.queue.raw()
    }

    /// Relation of the stream to the legacy default stream.
    pub const fn kind(&self) -> StreamKind {
        self.kind
    }

    /// The context that the stream belongs to.
    #[inline]
    pub fn context(&self) -> &ContextRef {
        self.queue.context()
    }

    /// The stream, unless it is a default stream: of these there are more values than one, so that nobody has such a
    /// queue alone, and work that others queue on it would become part of a capture.
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

    /// The context, kept for something else.
    fn keep(&self) -> Keep<'ctx, ContextRef> {
        self.queue.keep()
    }

    /// Blocks the host until all work queued here is done, and reports its errors.
    ///
    /// # Errors
    /// The sticky errors of kernels that ran before; [`Error::is_wrong_context`].
    ///
    /// Driver: `cuStreamSynchronize`, CUDA 2.0+.
    #[doc(alias = "cuStreamSynchronize")]
    #[inline]
    pub fn synchronize(&self, cx: &Current<'_, '_>) -> Result<(), Error> {
        let context = cx.of(self.context(), FnId::cuStreamSynchronize)?;
        // SAFETY: the stream is live, and its context is current.
        unsafe { context_call!(context, cuStreamSynchronize(self.as_raw())) }
    }

    /// True if all work queued here is done. Does not wait.
    ///
    /// # Errors
    /// Those of [`synchronize`](Stream::synchronize).
    ///
    /// Driver: `cuStreamQuery`, CUDA 2.0+.
    #[doc(alias = "cuStreamQuery")]
    #[inline]
    pub fn is_done(&self, cx: &Current<'_, '_>) -> Result<bool, Error> {
        let context = cx.of(self.context(), FnId::cuStreamQuery)?;
        // SAFETY: the stream is live, and its context is current.
        ready(unsafe { context_call!(context, cuStreamQuery(self.as_raw())) })
    }

    /// Makes work queued here later wait for the work that `event` recorded. The host does not wait.
    ///
    /// # Errors
    /// [`Error::is_wrong_context`] if the stream's context is not current; the event may be of another context, but
    /// not of another driver.
    ///
    /// Driver: `cuStreamWaitEvent`, CUDA 3.2+.
    #[doc(alias = "cuStreamWaitEvent")]
    #[inline]
    pub fn wait(&self, cx: &Current<'_, '_>, event: &Event<'_>) -> Result<(), Error> {
        let context = cx.of(self.context(), FnId::cuStreamWaitEvent)?;
        event.check_driver(context, FnId::cuStreamWaitEvent)?;
        // SAFETY: both handles are live; the driver keeps the parts of the event that it needs.
        unsafe { context_call!(context, cuStreamWaitEvent(self.as_raw(), event.as_raw(), 0)) }
    }

    /// Destroys the stream and reports the error that `Drop` would swallow. It is gone after an error too: the driver
    /// may have destroyed it all the same, so that it must not be destroyed again.
    ///
    /// # Errors
    /// Whatever the driver reports.
    ///
    /// Driver: `cuStreamDestroy_v2`, CUDA 4.0+.
    #[doc(alias = "cuStreamDestroy_v2")]
    #[inline]
    pub fn close(self) -> Result<(), Error> {
        self.queue.close()
    }
}

impl StreamKind {
    /// The kind of a stream that is created as this. Measured on an H100 with driver 580: in a green context none but the
    /// default stream is in order with synchronous copies, whatever flags it was created with.
    fn in_context(self, context: &ContextRef) -> Self {
        if context.is_green() { Self::NonBlocking } else { self }
    }

    /// The driver's flags.
    const fn flags(self) -> u32 {
        match self {
            Self::Blocking => CUstream_flags::CU_STREAM_DEFAULT.0,
            Self::NonBlocking => CUstream_flags::CU_STREAM_NON_BLOCKING.0,
        }
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

impl fmt::Debug for Stream<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stream({:?}, {:?})", self.as_raw(), self.kind)
    }
}
