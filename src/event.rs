//! Events: marks in a stream, to wait for and to time by.

use std::fmt;
use std::time::Duration;

use cuprum_sys::{CUevent, CUresult, FnId, call};

use crate::context::owned::{self, Owned};
use crate::context::{ContextRef, Current};
use crate::error::{Error, context_call};
use crate::stream::{Stream, ready};

bitflags::bitflags! {
    /// What an event is for. A bit that this crate does not name is passed on.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
    pub struct EventFlags: u32 {
        /// The host sleeps while it waits for the event, where it would spin.
        const BLOCKING_SYNC = 1;
        /// The event takes no time: cheaper to record and to wait for, useless for timing.
        const DISABLE_TIMING = 2;
        const _ = !0;
    }
}

/// A mark that a stream passes: recorded, waited for, and subtracted from another to time what lies between.
///
/// Drop works on any thread, swallows errors and does nothing in a forked child; [`close`](Event::close) reports.
pub struct Event<'ctx> {
    raw: CUevent,
    context: &'ctx ContextRef,
}

// SAFETY: the driver allows any thread to use an event handle.
unsafe impl Send for Event<'_> {}
// SAFETY: as above.
unsafe impl Sync for Event<'_> {}

impl<'ctx> Event<'ctx> {
    /// Creates an event; with no flags, one that takes the time.
    ///
    /// # Errors
    /// `CUDA_ERROR_OUT_OF_MEMORY`; the sticky errors of earlier work.
    ///
    /// Driver: `cuEventCreate`, CUDA 2.0+.
    #[doc(alias = "cuEventCreate")]
    pub fn new(cx: &Current<'_, 'ctx>, flags: EventFlags) -> Result<Self, Error> {
        let context = cx.get()?;
        let mut raw = CUevent::null();
        // SAFETY: `raw` outlives the call, and `cx` proves a current context.
        unsafe { context_call!(context, cuEventCreate(&raw mut raw, flags.bits())) }?;
        Ok(Self { raw, context })
    }

    /// The driver's handle.
    pub const fn as_raw(&self) -> CUevent {
        self.raw
    }

    /// The context that the event belongs to.
    pub const fn context(&self) -> &'ctx ContextRef {
        self.context
    }

    /// A handle of one driver is a wild pointer to another.
    pub(crate) fn check_driver(&self, context: &ContextRef, call: FnId) -> Result<(), Error> {
        if self.context.driver() == context.driver() { Ok(()) } else { Err(Error::wrong_context(call)) }
    }

    /// Puts the mark behind all work queued in `stream`; a mark it had before is moved.
    ///
    /// # Errors
    /// [`Error::is_wrong_context`] unless event, stream and `cx` are of one context.
    ///
    /// Driver: `cuEventRecord`, CUDA 2.0+.
    #[doc(alias = "cuEventRecord")]
    pub fn record(&self, cx: &Current<'_, '_>, stream: &Stream<'_>) -> Result<(), Error> {
        let context = cx.of_both([self.context, stream.context()], FnId::cuEventRecord)?;
        // SAFETY: both handles are live, and their context is current.
        unsafe { context_call!(context, cuEventRecord(self.raw, stream.as_raw())) }
    }

    /// Blocks the host until the stream has passed the mark; at once if none was recorded.
    ///
    /// # Errors
    /// The sticky errors of kernels that ran before.
    ///
    /// Driver: `cuEventSynchronize`, CUDA 2.0+.
    #[doc(alias = "cuEventSynchronize")]
    pub fn synchronize(&self) -> Result<(), Error> {
        // SAFETY: the event is live; the call reads no current context.
        unsafe { context_call!(self.context, cuEventSynchronize(self.raw)) }
    }

    /// Whether the stream has passed the mark. Does not wait.
    ///
    /// # Errors
    /// As [`synchronize`](Event::synchronize).
    ///
    /// Driver: `cuEventQuery`, CUDA 2.0+.
    #[doc(alias = "cuEventQuery")]
    pub fn is_done(&self) -> Result<bool, Error> {
        // SAFETY: the event is live; the call reads no current context.
        ready(unsafe { context_call!(self.context, cuEventQuery(self.raw)) })
    }

    /// The time between two marks, which both streams must have passed. Its resolution is about 0.5 µs.
    ///
    /// # Errors
    /// `CUDA_ERROR_NOT_READY` if one mark is not passed yet; `CUDA_ERROR_INVALID_HANDLE` if one was never
    /// recorded or has [`EventFlags::DISABLE_TIMING`]; [`Error::is_wrong_context`] for events of two drivers.
    ///
    /// Driver: `cuEventElapsedTime`, CUDA 2.0+, or `cuEventElapsedTime_v2`, CUDA 12.8+, where a driver has only that.
    #[doc(alias = "cuEventElapsedTime")]
    pub fn elapsed_since(&self, start: &Event<'_>) -> Result<Duration, Error> {
        start.check_driver(self.context, FnId::cuEventElapsedTime)?;
        let mut milliseconds = 0f32;
        let out = &raw mut milliseconds;
        if self.context.library().has(FnId::cuEventElapsedTime) {
            // SAFETY: both events are live, and the out-parameter outlives the call.
            unsafe { context_call!(self.context, cuEventElapsedTime(out, start.raw, self.raw)) }?;
        } else {
            // SAFETY: as above.
            unsafe { context_call!(self.context, cuEventElapsedTime_v2(out, start.raw, self.raw)) }?;
        }
        // To the nearest nanosecond; what is no length of time becomes none.
        Ok(Duration::from_nanos((f64::from(milliseconds) * 1e6 + 0.5) as u64))
    }

    /// Destroys the event and reports what `Drop` would swallow; gives it back if that failed.
    ///
    /// # Errors
    /// As the driver says, with the event.
    ///
    /// Driver: `cuEventDestroy_v2`, CUDA 4.0+.
    #[doc(alias = "cuEventDestroy_v2")]
    pub fn close(self) -> Result<(), (Error, Self)> {
        owned::close(self)
    }
}

impl Owned for Event<'_> {
    fn home(&self) -> &ContextRef {
        self.context
    }

    unsafe fn free(&self) -> (CUresult, FnId) {
        // SAFETY: the caller vouches that the event is live and not used again.
        unsafe { call!(self.context.library().fns(), cuEventDestroy_v2(self.raw)) }
    }
}

impl Drop for Event<'_> {
    fn drop(&mut self) {
        owned::drop(self);
    }
}

impl fmt::Debug for Event<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Event({:?})", self.raw)
    }
}
