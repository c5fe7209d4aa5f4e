//! Frees and waits during unrelated captures, which forbid them.
//!
//! If the mode of a capture forbids a call, the driver invalidates the capture and does not make
//! the call, even on another thread (H100, driver 580: `tests/data/goldens/captures.txt`). No mode
//! allows waiting for a context, or using its legacy default stream, while one of its streams is
//! captured. So this module counts the captures that this crate begins. While there are any, a
//! thread that frees exempts itself briefly. The driver might check a call that began before the
//! capture too late, so a capture begins only when no such call is in progress. Programs without
//! captures pay a load and a branch.
//!
//! Captures by other code are counted only if they are announced. If such a capture refuses a call,
//! the call is repeated with an exemption.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use cuprum_sys::{
    CU_STREAM_LEGACY, CU_STREAM_PER_THREAD, CUresult, CUstream, CUstreamCaptureMode, FnId, Fns, Library, call,
};

use super::ContextRef;
use super::call::context_call;
use crate::error::Error;
use crate::raw::call::driver_call;
use crate::swallowed;

/// True once this crate has begun a capture. Calls are counted from then on.
static EVER: AtomicBool = AtomicBool::new(false);
/// Captures in progress that this crate began.
static CAPTURES: AtomicUsize = AtomicUsize::new(0);
/// Counted calls in progress that began without a capture.
static PLAIN: AtomicUsize = AtomicUsize::new(0);
/// Longest time that a capture waits for these calls. The driver checks for captures first, so a
/// call that has waited for the device this long has passed the check.
const LONGEST_WAIT: Duration = Duration::from_millis(50);
/// Time that the first capture leaves to uncounted calls. They need less than a microsecond.
const FIRST_WAIT: Duration = Duration::from_millis(1);

/// A capture that is in progress or about to begin.
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

/// While this exists, frees and waits of this thread do not invalidate captures.
pub(crate) struct Beside {
    library: Library,
    way: Way,
}

enum Way {
    /// There was never a capture.
    Uncounted,
    /// There was no capture.
    Plain,
    /// The thread is exempted and had this mode before, or the exemption failed.
    Exempted(Result<CUstreamCaptureMode, Error>),
}

impl Beside {
    /// For a call that frees. The call must be short, because a capture waits for it.
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

    /// For a call that waits, or that a capture by other code has refused.
    #[cold]
    #[inline(never)]
    pub(crate) fn exempted(library: Library) -> Self {
        let mode = exchange(library, CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED);
        Self { library, way: Way::Exempted(mode) }
    }

    /// True if there may be a capture: no wait for a context or its legacy default stream is
    /// allowed.
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

    /// Waits for all work of a context, which must be current.
    pub(crate) fn wait_for(&self, context: &ContextRef) -> Result<(), Error> {
        if self.is_exempted() {
            // SAFETY: the context is current, and the thread is exempted.
            return context.check(unsafe { wait_by_freeing(context.library().fns()) });
        }
        // SAFETY: no arguments; it waits in the current context.
        unsafe { context_call!(context, cuCtxSynchronize()) }
    }

    /// The default stream to use. During an exemption the legacy default stream is not allowed.
    pub(crate) const fn default_stream(&self) -> CUstream {
        if self.is_exempted() { CU_STREAM_PER_THREAD } else { CUstream::null() }
    }

    /// Returns the error to report: if a capture refused the call, why the exemption failed.
    pub(crate) fn blame(mut self, error: Error) -> Error {
        match self.way {
            Way::Exempted(Err(cause)) if error.is_refused_by_a_capture() => {
                self.way = Way::Exempted(Err(error));
                cause
            }
            _ => error,
        }
    }

    /// Ends the exemption. Swallows errors of beginning or ending it: the call itself was made.
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
            // `blame` returns it.
            Err(error) if error.is_refused_by_a_capture() => {}
            // In a function that the driver calls, where it refuses the call itself too.
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

/// True if this crate has ever captured a stream. Then frees must check for captures.
#[inline]
pub(crate) fn ever() -> bool {
    EVER.load(Ordering::Relaxed)
}

#[inline]
pub(crate) fn any() -> bool {
    CAPTURES.load(Ordering::Relaxed) != 0
}

/// Frees an object, or requests it, even during captures by other code.
#[inline]
pub(crate) fn free_beside(library: Library, free: impl Fn() -> Result<(), Error>) -> Result<(), Error> {
    beside(library, |_| free())
}

/// Waits for work that is unrelated to captures. It may invalidate a capture that begins meanwhile,
/// because that capture does not wait for it.
#[inline]
pub(crate) fn wait_beside(library: Library, wait: impl Fn() -> Result<(), Error>) -> Result<(), Error> {
    let first = if any() { Beside::exempted(library) } else { Beside { library, way: Way::Uncounted } };
    first.attempt(|_| wait())
}

/// Makes calls that free or wait, as [`Beside`] allows; twice if a capture by other code refused.
#[inline]
pub(crate) fn beside(library: Library, calls: impl FnMut(&Beside) -> Result<(), Error>) -> Result<(), Error> {
    Beside::captures(library).attempt(calls)
}

/// Waits for all work of the current context by freeing memory, which a capture allows.
///
/// # Safety
/// A context is current, on an exempted thread.
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

/// True for a stream that is ordered with the other streams of its context.
pub(crate) fn is_legacy(stream: CUstream) -> bool {
    stream.is_null() || stream == CU_STREAM_LEGACY
}

/// Sets the mode of this thread and returns the previous one.
fn exchange(library: Library, mut mode: CUstreamCaptureMode) -> Result<CUstreamCaptureMode, Error> {
    // SAFETY: the place outlives the call.
    unsafe { driver_call!(library, cuThreadExchangeStreamCaptureMode(&raw mut mode)) }?;
    Ok(mode)
}
