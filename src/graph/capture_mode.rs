//! What the driver refuses while a stream is captured.

use cuprum_sys::CUstreamCaptureMode;

use crate::driver::Driver;
use crate::error::Error;
use crate::raw::call::driver_call;

/// Calls that are refused while a stream is captured, of those that could wait for work that has not run, such as
/// allocating memory or waiting for other streams.
///
/// A call that was refused makes the capture invalid. Three are made all the same, by an exemption of the thread for the
/// moment (`cuThreadExchangeStreamCaptureMode`), so that nothing is lost: the wait at the end of a
/// [scope](crate::Current::scope), [`Pending::wait`](crate::Pending::wait), and the call that frees an object when it is
/// closed or dropped.
///
/// Example: that of [`Current::capture`](crate::Current::capture).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CaptureMode {
    /// Those of all threads, but for threads that have [exchanged](CaptureMode::exchange) their mode.
    Global,
    /// Those of the thread that captures.
    ThreadLocal,
    /// None.
    Relaxed,
}

impl CaptureMode {
    pub(super) const fn raw(self) -> CUstreamCaptureMode {
        match self {
            Self::Global => CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL,
            Self::ThreadLocal => CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
            Self::Relaxed => CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED,
        }
    }

    /// Sets which captures refuse calls of this thread, and returns the previous mode: with `Global`, as every thread
    /// begins, its own and the global ones of others; with `ThreadLocal` its own; with `Relaxed` none.
    ///
    /// # Errors
    /// Whatever the driver reports.
    ///
    /// Driver: `cuThreadExchangeStreamCaptureMode`, CUDA 10.1+.
    #[doc(alias = "cuThreadExchangeStreamCaptureMode")]
    #[inline]
    pub fn exchange(self, driver: Driver) -> Result<Self, Error> {
        let mut mode = self.raw();
        // SAFETY: the place outlives the call.
        unsafe { driver_call!(driver.library(), cuThreadExchangeStreamCaptureMode(&raw mut mode)) }?;
        Ok(match mode {
            CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED => Self::Relaxed,
            CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL => Self::ThreadLocal,
            _ => Self::Global,
        })
    }
}
