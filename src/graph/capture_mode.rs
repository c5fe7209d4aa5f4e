//! Calls that the driver refuses while a stream is captured.

use cuprum_sys::CUstreamCaptureMode;

use crate::context::Capturing;
use crate::driver::Driver;
use crate::error::Error;
use crate::raw::call::driver_call;

/// Selects the threads whose calls the driver refuses while a stream is captured. It refuses calls
/// that could wait for work that has not run, such as allocating memory or waiting for other
/// streams.
///
/// A refused call invalidates the capture. Three calls are made in spite of a capture, by exempting
/// the thread during the call (`cuThreadExchangeStreamCaptureMode`, CUDA 10.1+): the wait at the
/// end of a [scope](crate::Current::scope), [`Pending::wait`](crate::stream::Pending::wait), and
/// the call that frees an object when it is closed or dropped. For the legacy default stream and
/// for a context, no exemption allows the wait; a byte is allocated and freed instead, which waits
/// for the same work (`cuMemAlloc_v2` and `cuMemFree_v2`). A capture that this crate began
/// continues. A capture that begins during such a wait may become invalid.
///
/// This crate does not see captures that other code begins. A call that frees an object may
/// invalidate such a capture, but does not leak. [`ForeignCaptures`] announces such captures, so
/// that they continue too.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::graph::CaptureMode;
///
/// let before = CaptureMode::Relaxed.exchange(driver)?; // no capture refuses calls of this thread
/// let buffer = cuprum::Buffer::<u32>::alloc(&cx, 4)?;
/// before.exchange(driver)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CaptureMode {
    /// Calls of all threads, except threads that have [exchanged](CaptureMode::exchange) their
    /// mode.
    Global,
    /// Calls of the thread that captures.
    ThreadLocal,
    /// No calls.
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

    /// Sets the captures that refuse calls of this thread, and returns the previous mode. `Global`,
    /// the initial mode of every thread, means its own captures and the global captures of other
    /// threads; `ThreadLocal` means its own captures; `Relaxed` means none.
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

/// Announces captures that code outside of this crate may begin. As long as a value of this type
/// exists, closing or dropping an object of this crate does not invalidate a capture of this
/// process.
///
/// A program that cannot know when other libraries capture can forget the value. While it exists,
/// each call that frees makes two more calls, of a few nanoseconds each. For calls in progress,
/// captures that began earlier do not count as announced.
///
/// ```
/// # cuprum::example!(driver, context);
/// use cuprum::Buffer;
/// use cuprum::graph::ForeignCaptures;
///
/// let buffer = context.enter(|cx| Ok(Buffer::<f32>::zeroed(cx, 1024)?))?;
/// let announced = ForeignCaptures::announce();
/// // Another library captures a stream here, on any thread.
/// drop(buffer); // freed at once, and that capture goes on
/// drop(announced);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "captures are announced until this is dropped"]
pub struct ForeignCaptures {
    /// Ends the announcement when it is dropped.
    _capturing: Capturing,
}

impl ForeignCaptures {
    /// Announces captures of other code from now on. Waits at most 50 ms for calls in progress that
    /// free objects.
    pub fn announce() -> Self {
        Self { _capturing: Capturing::begin() }
    }
}
