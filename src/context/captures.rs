//! Calls that captures forbid although they have nothing to do with them: those that free, and waits.
//!
//! The driver ends a capture whose mode forbids a call, also one of another thread, and does not make the call (H100, driver
//! 580: `tests/data/goldens/captures.txt`). No mode lets anybody wait for a context, or use its legacy default stream, while a
//! stream of it is captured. So the captures that this crate begins are counted. While there are any, a thread that frees is
//! exempted for the moment; and because a call that began before might be looked at by the driver too late, a capture
//! begins when there are none of these any more. Programs without captures pay a load and a branch for that.
//!
//! Captures that other code begins are counted only if they are announced. A call that others forbid ends them, and is made
//! again with an exemption.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use cuprum_sys::{
    CU_STREAM_LEGACY, CU_STREAM_PER_THREAD, CUresult, CUstream, CUstreamCaptureMode, FnId, Fns, Library, call,
};

use super::ContextRef;
use crate::error::Error;
use crate::raw::call::{context_call, driver_call};
use crate::swallowed;

/// True once this crate has begun a capture: calls are counted from then on.
static EVER: AtomicBool = AtomicBool::new(false);
/// Captures in progress that this crate began.
static CAPTURES: AtomicUsize = AtomicUsize::new(0);
/// Counted calls in progress that began when there was no capture.
static PLAIN: AtomicUsize = AtomicUsize::new(0);
/// The longest time that a capture waits for these. The driver looks for captures first, so that one which waits for the
/// device all this time has passed that.
const LONGEST_WAIT: Duration = Duration::from_millis(50);
/// The time that the first capture of a process leaves to calls that were not counted. They need less than a microsecond.
const FIRST_WAIT: Duration = Duration::from_millis(1);

/// A capture in progress, or one about to begin.
#[derive(Debug)]
pub(crate) struct Capturing(());

impl Capturing {
    pub(crate) fn begin() -> Self {
        CAPTURES.fetch_add(1, Ordering::SeqCst);
        if !EVER.swap(true, Ordering::SeqCst) {
            thread::sleep(FIRST_WAIT);
        }
        let began = Instant::now();
        while PLAIN.load(Ordering::SeqCst) != 0 && began.elapsed() < LONGEST_WAIT {
            thread::yield_now();
        }
        Self(())
    }
}

impl Drop for Capturing {
    fn drop(&mut self) {
        CAPTURES.fetch_sub(1, Ordering::SeqCst);
    }
}

/// As long as this is there, calls of this thread that free, or wait, end no capture.
pub(crate) struct Beside {
    library: Library,
    way: Way,
}

enum Way {
    /// There was never a capture.
    Uncounted,
    /// There was no capture.
    Plain,
    /// The thread is exempted, and had this mode before; or why it is not.
    Exempted(Result<CUstreamCaptureMode, Error>),
}

impl Beside {
    /// For a call that frees. It is to be short: a capture waits for it.
    #[inline]
    pub(crate) fn captures(library: Library) -> Self {
        if ever() { Self::counted(library) } else { Self { library, way: Way::Uncounted } }
    }

    #[cold]
    #[inline(never)]
    fn counted(library: Library) -> Self {
        if !any() {
            PLAIN.fetch_add(1, Ordering::SeqCst);
            if CAPTURES.load(Ordering::SeqCst) == 0 {
                return Self { library, way: Way::Plain };
            }
            PLAIN.fetch_sub(1, Ordering::SeqCst);
        }
        Self::exempted(library)
    }

    /// For a call that waits, or that a capture of other code has refused.
    #[cold]
    #[inline(never)]
    pub(crate) fn exempted(library: Library) -> Self {
        let mode = exchange(library, CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED);
        Self { library, way: Way::Exempted(mode) }
    }

    /// True if there may be a capture: then neither a context nor its legacy default stream is to be waited for.
    #[inline]
    pub(crate) const fn is_exempted(&self) -> bool {
        matches!(self.way, Way::Exempted(_))
    }

    fn attempt(self, mut calls: impl FnMut(&Self) -> Result<(), Error>) -> Result<(), Error> {
        let (library, answer) = (self.library, calls(&self));
        drop(self);
        match answer {
            Err(error) if error.is_refused_by_a_capture() => {
                let beside = Self::exempted(library);
                calls(&beside).map_err(|error| beside.blame(error))
            }
            answer => answer,
        }
    }

    /// Waits for all work of a context, which is current.
    pub(crate) fn wait_for(&self, context: &ContextRef) -> Result<(), Error> {
        if self.is_exempted() {
            // SAFETY: the context is current, and the thread is exempted.
            return context.check(unsafe { wait_by_freeing(context.library().fns()) });
        }
        // SAFETY: no arguments; it waits in the current context.
        unsafe { context_call!(context, cuCtxSynchronize()) }
    }

    /// The default stream to use: while this is exempted, the legacy one is not to be used.
    pub(crate) const fn default_stream(&self) -> CUstream {
        if self.is_exempted() { CU_STREAM_PER_THREAD } else { CUstream::null() }
    }

    /// The error to return for one of the call: if a capture has refused that, it is why the thread was not exempted.
    pub(crate) fn blame(mut self, error: Error) -> Error {
        match self.way {
            Way::Exempted(Err(cause)) if error.is_refused_by_a_capture() => {
                self.way = Way::Exempted(Err(error));
                cause
            }
            _ => error,
        }
    }

    /// Ends the exemption. That the driver did not begin or end it is swallowed: the call was made all the same.
    #[cold]
    #[inline(never)]
    fn end(&self) {
        let Way::Exempted(before) = self.way else {
            PLAIN.fetch_sub(1, Ordering::SeqCst);
            return;
        };
        match before.and_then(|mode| exchange(self.library, mode)) {
            Ok(_) => {}
            Err(error) if error.is_deinitialized() || error.is_forked() || error.is_unresolved() => {}
            // Returned, by `blame`.
            Err(error) if error.is_refused_by_a_capture() => {}
            // In a function that the driver calls, where the call itself is refused as well.
            Err(error) if error.code() == CUresult::CUDA_ERROR_NOT_PERMITTED => {}
            Err(error) => swallowed::tell(error),
        }
    }
}

impl Drop for Beside {
    #[inline]
    fn drop(&mut self) {
        if !matches!(self.way, Way::Uncounted) {
            self.end();
        }
    }
}

/// True if this crate has captured a stream, on any thread: then what frees is to look for captures.
#[inline]
pub(crate) fn ever() -> bool {
    EVER.load(Ordering::Relaxed)
}

/// True if this crate captures a stream, on any thread.
#[inline]
pub(crate) fn any() -> bool {
    CAPTURES.load(Ordering::Relaxed) != 0
}

/// Frees something, or asks to; beside captures of other code too.
#[inline]
pub(crate) fn free_beside(library: Library, free: impl Fn() -> Result<(), Error>) -> Result<(), Error> {
    beside(library, |_| free())
}

/// Waits for work that has nothing to do with captures. One that begins meanwhile may end by it, as it does not wait for this.
#[inline]
pub(crate) fn wait_beside(library: Library, wait: impl Fn() -> Result<(), Error>) -> Result<(), Error> {
    let first = if any() { Beside::exempted(library) } else { Beside { library, way: Way::Uncounted } };
    first.attempt(|_| wait())
}

/// Makes calls that free, or wait, as [`Beside`] allows them; once more if a capture of other code has refused one.
#[inline]
pub(crate) fn beside(library: Library, calls: impl FnMut(&Beside) -> Result<(), Error>) -> Result<(), Error> {
    Beside::captures(library).attempt(calls)
}

/// Waits for all work of the current context where a capture allows no wait for it: freeing memory waits, whichever it is.
///
/// # Safety
/// A context is current, on a thread that is exempted.
#[cold]
pub(crate) unsafe fn wait_by_freeing(fns: &Fns) -> (CUresult, FnId) {
    let mut byte = 0;
    // SAFETY: the out-parameter outlives the call; the caller vouches for the context.
    let made = unsafe { call!(fns, cuMemAlloc_v2(&raw mut byte, 1)) };
    if made.0 != CUresult::CUDA_SUCCESS {
        return made;
    }
    // SAFETY: it was just made, and has no users.
    unsafe { call!(fns, cuMemFree_v2(byte)) }
}

/// True if work on the stream waits for the other streams of its context, and they for it.
pub(crate) fn is_legacy(stream: CUstream) -> bool {
    stream.is_null() || stream == CU_STREAM_LEGACY
}

/// Sets the mode of this thread and returns the previous one.
fn exchange(library: Library, mut mode: CUstreamCaptureMode) -> Result<CUstreamCaptureMode, Error> {
    // SAFETY: the place outlives the call.
    unsafe { driver_call!(library, cuThreadExchangeStreamCaptureMode(&raw mut mode)) }?;
    Ok(mode)
}
