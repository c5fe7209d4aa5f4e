//! What the driver refuses while a stream is captured.

use cuprum_sys::CUstreamCaptureMode;

use crate::context::Capturing;
use crate::driver::Driver;
use crate::error::Error;
use crate::raw::call::driver_call;

/// Calls that are refused while a stream is captured, of those that could wait for work that has not run, such as
/// allocating memory or waiting for other streams.
///
/// A call that was refused makes the capture invalid. Three are made all the same, by an exemption of the thread for the
/// moment (`cuThreadExchangeStreamCaptureMode`, CUDA 10.1+): the wait at the end of a [scope](crate::Current::scope),
/// [`Pending::wait`](crate::stream::Pending::wait), and the call that frees an object when it is closed or dropped. Where no exemption
/// allows the wait, for the legacy default stream and for a context, a byte is allocated and freed instead, which waits as
/// long (`cuMemAlloc_v2` and `cuMemFree_v2`). A capture that this crate began goes on; but a wait does not hold up a capture
/// that begins at the same moment, which may be invalid then.
///
/// This crate does not see captures that other code begins. One that a call ends is invalid, and nothing leaks by it.
/// [`ForeignCaptures`] announces such captures, so that they go on too.
///
/// Example: see [`Current::capture`](crate::Current::capture).
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
    /// [Errors of any call](crate#errors).
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

/// Announces captures that code outside of this crate may begin: as long as one of these exists, no object of this crate that
/// is closed or dropped ends a capture of this process.
///
/// Forget it in a program that never knows when other libraries capture. Until it is dropped, each call that frees comes with
/// two more, of some nanoseconds each. Captures that began before it do not count as announced for calls in progress.
///
/// ```
/// # cuprum::example!(driver);
/// # let context = cuprum::context::PrimaryContext::retain(driver.device(0)?)?.share();
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
pub struct ForeignCaptures(#[allow(dead_code, reason = "it is there to be dropped")] Capturing);

impl ForeignCaptures {
    /// Announces captures of other code from now on. Waits at most 50 ms for calls in progress that free.
    pub fn announce() -> Self {
        Self(Capturing::begin())
    }
}
