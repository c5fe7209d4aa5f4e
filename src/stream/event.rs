//! Events: marks in a stream, for waits and timing.

use std::time::Duration;

use cuprum_sys::{CUevent, CUevent_flags, FnId};

use super::{Stream, ready};
use crate::context::{ContextRef, Current, context_call};
use crate::error::Error;
use crate::raw::call::either_call;
use crate::raw::debug::debug;
use crate::raw::flags::flags;
use crate::raw::held::{Held, handle};
use crate::raw::keep::Keep;
use crate::raw::owner::{as_raw, close, context};

flags! {
    /// Options of an event. Bits that this crate does not name are passed on.
    ///
    /// ```
    /// # cuprum::example!(driver, context, cx);
    /// use cuprum::stream::{Event, EventFlags};
    ///
    /// let done = Event::new(&cx, EventFlags::BLOCKING_SYNC | EventFlags::DISABLE_TIMING)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub struct EventFlags: u32 {
        /// The host sleeps while it waits for the event, instead of spinning.
        const BLOCKING_SYNC = CUevent_flags::CU_EVENT_BLOCKING_SYNC.0;
        /// The event records no time: cheaper to record and to wait for, but useless for timing.
        const DISABLE_TIMING = CUevent_flags::CU_EVENT_DISABLE_TIMING.0;
        /// Other processes can open the event: see [`Event::ipc_handle`]. Needs
        /// [`DISABLE_TIMING`](Self::DISABLE_TIMING).
        const INTERPROCESS = CUevent_flags::CU_EVENT_INTERPROCESS.0;
        const _ = !0;
    }
}

/// A mark in a stream: recorded, waited for, and compared with another for timing.
///
/// # Keeping it in a struct
///
/// In a struct it is an `Event<'static>`, made in a [shared context](crate::Shared), of which it
/// holds a share. In a borrowed context, `'ctx` is the borrow, and no struct can hold both.
///
/// # Example
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::stream::{Event, EventFlags};
/// use cuprum::{Buffer, Stream};
///
/// let (stream, mut buffer) = (Stream::new(&cx)?, Buffer::<u32>::zeroed(&cx, 1 << 20)?);
/// let (start, end) = (Event::new(&cx, EventFlags::empty())?, Event::new(&cx, EventFlags::empty())?);
/// start.record(&cx, &stream)?;
/// cx.scope(&stream, |scope| Ok(scope.fill(&scope.lend(buffer.as_mut_slice())?, 7)?))?;
/// end.record(&cx, &stream)?;
/// end.synchronize()?;
/// println!("filled in {:?}", end.elapsed_since(&start)?);
///
/// // Without times, only for order: another stream continues after the work of the first.
/// let done = Event::new(&cx, EventFlags::DISABLE_TIMING)?;
/// done.record(&cx, &stream)?;
/// Stream::new(&cx)?.wait_event(&cx, &done)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Event<'ctx>(pub(super) Held<'ctx, CUevent>);

// SAFETY: the driver allows any thread to use an event handle.
handle!(unsafe CUevent: "Event", |raw| cuEventDestroy_v2(raw));

impl<'ctx> Event<'ctx> {
    /// Creates an event. Without flags it records the time.
    ///
    /// # Errors
    /// `CUDA_ERROR_OUT_OF_MEMORY`.
    ///
    /// Driver: `cuEventCreate`, CUDA 2.0+.
    #[doc(alias = "cuEventCreate")]
    #[inline]
    pub fn new(cx: &Current<'_, 'ctx>, flags: EventFlags) -> Result<Self, Error> {
        let context = cx.get()?;
        let mut raw = CUevent::null();
        // SAFETY: `raw` outlives the call, and `cx` proves a current context.
        unsafe { context_call!(&context, cuEventCreate(&raw mut raw, flags.bits())) }?;
        Ok(Self(Held::new(raw, context)))
    }

    as_raw!(CUevent, |this| this.0.raw());
    context!(|this| this.0.context());

    pub(super) fn keep(&self) -> Keep<'ctx, ContextRef> {
        self.0.keep()
    }

    /// Fails for a context of another driver, for which the handle is a wild pointer.
    pub(crate) fn check_driver(&self, context: &ContextRef, call: FnId) -> Result<(), Error> {
        if self.context().driver() == context.driver() { Ok(()) } else { Err(Error::wrong_context(call)) }
    }

    /// Records the event after all work queued on `stream` so far. This replaces an earlier mark of
    /// the event.
    ///
    /// # Errors
    /// [`Error::WRONG_CONTEXT`] unless event, stream and `cx` are of one context.
    ///
    /// Driver: `cuEventRecord`, CUDA 2.0+.
    #[doc(alias = "cuEventRecord")]
    #[inline]
    pub fn record(&self, cx: &Current<'_, '_>, stream: &Stream<'_>) -> Result<(), Error> {
        let context = cx.of_both([self.context(), stream.context()], FnId::cuEventRecord)?;
        // SAFETY: both handles are live, and their context is current.
        unsafe { context_call!(context, cuEventRecord(self.as_raw(), stream.as_raw())) }
    }

    /// Waits until the stream has passed the mark. Returns immediately if none was recorded.
    ///
    /// Driver: `cuEventSynchronize`, CUDA 2.0+.
    #[doc(alias = "cuEventSynchronize")]
    #[inline]
    pub fn synchronize(&self) -> Result<(), Error> {
        // SAFETY: the event is live; the call reads no current context.
        unsafe { context_call!(self.context(), cuEventSynchronize(self.as_raw())) }
    }

    /// True if the stream has passed the mark. Does not wait.
    ///
    /// # Errors
    /// Same as [`synchronize`](Event::synchronize).
    ///
    /// Driver: `cuEventQuery`, CUDA 2.0+.
    #[doc(alias = "cuEventQuery")]
    #[inline]
    pub fn is_done(&self) -> Result<bool, Error> {
        // SAFETY: the event is live; the call reads no current context.
        ready(unsafe { context_call!(self.context(), cuEventQuery(self.as_raw())) })
    }

    /// Returns the time between two passed marks. The resolution is about 0.5 µs.
    ///
    /// # Errors
    /// `CUDA_ERROR_NOT_READY` if a mark has not been passed; `CUDA_ERROR_INVALID_HANDLE` if one was
    /// never recorded or has [`EventFlags::DISABLE_TIMING`]; [`Error::WRONG_CONTEXT`] for events
    /// of two drivers.
    ///
    /// Calls the newer function if the driver has it: 90 ns instead of 446 ns on an H200.
    ///
    /// Driver: `cuEventElapsedTime_v2`, CUDA 12.8+, or `cuEventElapsedTime`, CUDA 2.0+, on older
    /// drivers.
    #[doc(alias = "cuEventElapsedTime_v2")]
    #[inline]
    pub fn elapsed_since(&self, start: &Event<'_>) -> Result<Duration, Error> {
        start.check_driver(self.context(), FnId::cuEventElapsedTime)?;
        let mut milliseconds = 0f32;
        let (out, library) = (&raw mut milliseconds, self.context().library());
        let (start, end) = (start.as_raw(), self.as_raw());
        // SAFETY: both events are live, and the out-parameter outlives the call.
        unsafe {
            either_call!(library, cuEventElapsedTime_v2(out, start, end) or cuEventElapsedTime(out, start, end))
        }
        .map_err(|error| self.context().record(error))?;
        // To the nearest nanosecond; an invalid duration becomes zero.
        Ok(Duration::from_nanos((f64::from(milliseconds) * 1e6 + 0.5) as u64))
    }

    close!("Destroys the event", "cuEventDestroy_v2", "4.0", |this| this.0.close());
}

impl Stream<'_> {
    /// Makes later work of this stream wait for the work recorded by `event`. The host does not
    /// wait.
    ///
    /// # Errors
    /// [`Error::WRONG_CONTEXT`] if the stream's context is not current; the event may be of
    /// another context, but not of another driver.
    ///
    /// Driver: `cuStreamWaitEvent`, CUDA 3.2+.
    #[doc(alias = "cuStreamWaitEvent")]
    #[inline]
    pub fn wait_event(&self, cx: &Current<'_, '_>, event: &Event<'_>) -> Result<(), Error> {
        let context = cx.of(self.context(), FnId::cuStreamWaitEvent)?;
        event.check_driver(context, FnId::cuStreamWaitEvent)?;
        // SAFETY: both handles are live; the driver keeps the state of the event that it needs.
        unsafe { context_call!(context, cuStreamWaitEvent(self.as_raw(), event.as_raw(), 0)) }
    }
}

debug!(Event<'_>: |this, f| this.0.fmt(f));
