//! Streams and events.

use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::sync::Arc;

use cudarc::driver::sys::CUstream_st;
use cudarc::driver::{CudaContext, CudaEvent, CudaStream};
use cuprum::stream::{Event, ForeignEvent, ForeignStream};
use cuprum::sys::{CUevent, CUstream};
use cuprum::{Current, Shared, Stream};

use crate::BridgeError;
use crate::context::check;

/// A stream of cudarc as a [`Stream`] of cuprum, which keeps it alive. Made by [`stream`].
#[derive(Debug)]
pub struct KeptStream<'ctx> {
    /// Dropped before its keeper.
    ours: ForeignStream<'ctx>,
    theirs: Arc<CudaStream>,
}

/// Returns a stream of cudarc for cuprum: its scopes, launches and copies are in order with
/// cudarc's work on it.
///
/// # Errors
/// [`BridgeError::OtherContext`]; [`BridgeError::OtherDriver`]; [`BridgeError::Cuprum`] for the
/// per-thread default stream.
///
/// # Safety
/// While cuprum queues work on it, cudarc does not capture the stream
/// (`CudaStream::begin_capture`), and it does not take part in a capture by an event: work of
/// cuprum is good for one run, and not for the replays of a graph.
pub unsafe fn stream<'ctx>(
    cx: &Current<'_, 'ctx>,
    theirs: Arc<CudaStream>,
) -> Result<KeptStream<'ctx>, BridgeError> {
    check(cx.context(), theirs.context(), "stream")?;
    // SAFETY: the stream belongs to this context and lives as long as its keeper; the caller
    // vouches for captures.
    let ours = unsafe { ForeignStream::from_raw(cx, CUstream(theirs.cu_stream().cast())) }?;
    Ok(KeptStream { ours, theirs })
}

impl KeptStream<'_> {
    /// The stream's type in cudarc.
    pub fn theirs(&self) -> &Arc<CudaStream> {
        &self.theirs
    }
}

impl<'ctx> Deref for KeptStream<'ctx> {
    type Target = Stream<'ctx>;

    fn deref(&self) -> &Stream<'ctx> {
        &self.ours
    }
}

/// An event of cudarc as an [`Event`] of cuprum, which keeps it alive. Made by [`event`].
#[derive(Debug)]
pub struct KeptEvent<'ctx> {
    /// Dropped before its keeper.
    ours: ForeignEvent<'ctx>,
    theirs: Arc<CudaEvent>,
}

/// Returns an event of cudarc for cuprum.
///
/// # Errors
/// [`BridgeError::OtherContext`]; [`BridgeError::OtherDriver`].
///
/// # Safety
/// When a stream of cuprum waits for it, its last record is none on a stream that is being
/// captured.
pub unsafe fn event<'ctx>(
    cx: &Current<'_, 'ctx>,
    theirs: Arc<CudaEvent>,
) -> Result<KeptEvent<'ctx>, BridgeError> {
    check(cx.context(), theirs.context(), "event")?;
    // SAFETY: the event belongs to this context and lives as long as its keeper; the caller vouches
    // for captures.
    let ours = unsafe { ForeignEvent::from_raw(cx, CUevent(theirs.cu_event().cast())) };
    Ok(KeptEvent { ours, theirs })
}

impl KeptEvent<'_> {
    /// The event's type in cudarc.
    pub fn theirs(&self) -> &Arc<CudaEvent> {
        &self.theirs
    }
}

impl<'ctx> Deref for KeptEvent<'ctx> {
    type Target = Event<'ctx>;

    fn deref(&self) -> &Event<'ctx> {
        &self.ours
    }
}

/// A stream of cuprum as a `CudaStream` of cudarc. Made by [`cuda_stream`].
///
/// The stream lives as long as this. If cudarc still has a clone of it when this is dropped, the
/// stream is leaked, because that clone may be used.
pub struct CudaStreamOf {
    theirs: ManuallyDrop<Arc<CudaStream>>,
    ours: ManuallyDrop<Shared<Stream<'static>>>,
}

/// Returns a stream of cuprum for cudarc: for `CudaBlas::new` and for work in memory that is
/// [lent](crate::view) to a scope of that stream.
///
/// # Errors
/// [`BridgeError::OtherContext`]; [`BridgeError::OtherDriver`]; the errors of
/// [`library`](crate::library).
///
/// # Safety
/// While cuprum queues work on the stream, cudarc does not capture it
/// (`CudaStream::begin_capture`), and does not make it wait for an event of a capture.
pub unsafe fn cuda_stream(
    context: &Arc<CudaContext>,
    ours: Shared<Stream<'static>>,
) -> Result<CudaStreamOf, BridgeError> {
    check(ours.context(), context, "stream")?;
    // SAFETY: the stream belongs to this context, and lives as long as any clone of the wrapper.
    let theirs = unsafe { context.wrap_borrowed_stream(ours.as_raw().0.cast::<CUstream_st>()) };
    Ok(CudaStreamOf { theirs: ManuallyDrop::new(theirs), ours: ManuallyDrop::new(ours) })
}

impl CudaStreamOf {
    /// The stream's type in cuprum.
    pub fn ours(&self) -> &Shared<Stream<'static>> {
        &self.ours
    }
}

impl Deref for CudaStreamOf {
    type Target = Arc<CudaStream>;

    fn deref(&self) -> &Arc<CudaStream> {
        &self.theirs
    }
}

impl Drop for CudaStreamOf {
    fn drop(&mut self) {
        // SAFETY: it is taken once, because this is dropped once.
        let theirs = unsafe { ManuallyDrop::take(&mut self.theirs) };
        // A clone that cudarc still has keeps the share of the stream.
        if Arc::into_inner(theirs).is_some() {
            // SAFETY: as above.
            unsafe { ManuallyDrop::drop(&mut self.ours) };
        }
    }
}

impl fmt::Debug for CudaStreamOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CudaStreamOf").field(&*self.ours).finish()
    }
}
