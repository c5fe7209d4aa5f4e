//! Futures of work on streams, which the driver wakes and which need no runtime.
//!
//! The driver calls a function when the stream reaches it. Of its two kinds, `cuStreamAddCallback`
//! is used, because it is called even after a fault, with the fault; functions of
//! `cuLaunchHostFunc` are never called then (measured on an H200 with driver 580,
//! `tests/data/goldens/after_fault.txt`), and their futures would never be polled again.

use std::ffi::c_void;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use cuprum_sys::{CUresult, CUstream, FnId};

use super::{Event, Stream, left_over};
use crate::context::{ContextRef, Current, context_call};
use crate::error::Error;
use crate::raw::call::forked;
use crate::raw::debug::debug;
use crate::raw::keep::Keep;

/// State shared by the driver's callback and the future. Each has its own share, and the last one
/// frees it. If the driver never calls, its share leaks, without a waker in it.
#[derive(Default)]
struct Told(Mutex<State>);

#[derive(Default)]
struct State {
    /// The status that the driver reported.
    status: Option<CUresult>,
    waker: Option<Waker>,
}

impl Told {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn into_waker(self) -> Option<Waker> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner).waker
    }

    /// Returns the reported status. If there is none yet, the driver's call will wake `waker`.
    fn status_or_wake(&self, waker: &Waker) -> Option<CUresult> {
        // Wakers run code of the program: clone before the lock is taken, and drop after it.
        let mut spare = Some(waker.clone());
        let mut state = self.state();
        if state.status.is_none() && !state.waker.as_ref().is_some_and(|known| known.will_wake(waker)) {
            std::mem::swap(&mut state.waker, &mut spare);
        }
        let status = state.status;
        drop(state);
        drop(spare);
        status
    }
}

/// The driver calls this on its own thread.
///
/// # Safety
/// `told` is a share of a [`Told`], owned by this call.
unsafe extern "C" fn tell(_stream: CUstream, status: CUresult, told: *mut c_void) {
    // SAFETY: guaranteed by the caller; the driver calls once.
    let told = unsafe { Arc::from_raw(told.cast_const().cast::<Told>()) };
    let waker = {
        let mut state = told.state();
        state.status = Some(status);
        state.waker.take()
    };
    let Some(waker) = waker else { return };
    // A waker runs code of the program, whose panic must not unwind into the driver.
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| waker.wake_by_ref())) {
        std::mem::forget(payload);
    }
    // The last waker of a task may own the task, and with it objects whose drop calls the driver,
    // which is not allowed here. So the future drops it, or the next one if this future no longer
    // exists.
    told.state().waker = Some(waker);
    if let Some(waker) = Arc::into_inner(told).and_then(|told| told.into_waker()) {
        left_over::leave(waker);
    }
}

/// A future that is ready after earlier work: of [`Stream::reached`] and [`Event::reached`].
///
/// It needs no runtime: the driver wakes it, on its own thread, which [refuses most
/// calls](super#on-the-drivers-threads). So wakers must not poll; wakers of common executors do
/// not. Objects that a task drops there leak. No waker is dropped there, because its task may own
/// objects of this crate: the future drops it, or the next future that is made or dropped. Dropping
/// a future does not wait.
///
/// It keeps its context alive, because no call comes from a context that has ended. If the context
/// is [reset](crate::Device::reset_primary_context) meanwhile, the future may never be woken.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use std::future::Future;
/// use std::sync::Arc;
/// use std::task::{Poll, Wake, Waker};
///
/// /// The waker of an executor: the thread sleeps until it is woken.
/// struct Thread(std::thread::Thread);
/// impl Wake for Thread {
///     fn wake(self: Arc<Self>) {
///         self.0.unpark();
///     }
/// }
///
/// let stream = cuprum::Stream::new(&cx)?;
/// let mut reached = std::pin::pin!(stream.reached(&cx)?);
/// let waker = Waker::from(Arc::new(Thread(std::thread::current())));
/// let mut task = std::task::Context::from_waker(&waker);
/// while reached.as_mut().poll(&mut task).is_pending() {
///     std::thread::park();
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a future does nothing unless it is polled"]
pub struct Reached<'ctx> {
    told: Arc<Told>,
    context: Keep<'ctx, ContextRef>,
}

impl<'ctx> Reached<'ctx> {
    fn new(stream: CUstream, current: &ContextRef, context: Keep<'ctx, ContextRef>) -> Result<Self, Error> {
        left_over::clear();
        let told = Arc::<Told>::default();
        let theirs = Arc::into_raw(Arc::clone(&told)).cast_mut().cast::<c_void>();
        // SAFETY: the stream is live, and its context is current; the function takes the share.
        // After an error that share leaks, because the function may still be called.
        unsafe { context_call!(current, cuStreamAddCallback(stream, Some(tell), theirs, 0)) }?;
        Ok(Self { told, context })
    }
}

impl Future for Reached<'_> {
    type Output = Result<(), Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut std::task::Context<'_>) -> Poll<Self::Output> {
        const CALL: FnId = FnId::cuStreamAddCallback;
        // A forked child lacks the driver's thread, which may hold the lock.
        if self.context.library().forked() {
            return Poll::Ready(Err(forked(CALL)));
        }
        let lost = || self.context.poisoned_by().map(Error::code);
        // A context that is known to be lost may have lost its calls.
        let Some(status) = self.told.status_or_wake(cx.waker()).or_else(lost) else { return Poll::Pending };
        let answer = Error::check(self.context.library(), (status, CALL));
        Poll::Ready(answer.map_err(|error| self.context.record(error)))
    }
}

impl Drop for Reached<'_> {
    fn drop(&mut self) {
        if !self.context.library().forked() {
            // After unlocking, because it runs code of the program.
            let waker = self.told.state().waker.take();
            drop(waker);
            left_over::clear();
        }
    }
}

debug! {
    Reached<'_>: |this, f|
    f.debug_struct("Reached").field("context", &*this.context).finish_non_exhaustive()
}

impl<'ctx> Stream<'ctx> {
    /// Returns a future that is ready when all earlier work of the stream is complete.
    ///
    /// Later work runs after the driver's call, some microseconds after the earlier work. On an
    /// H200, the call for a small copy came 35 µs after the copy was queued; waiting for an
    /// [`Event`] took 7 µs.
    ///
    /// Example: see [`Reached`].
    ///
    /// # Errors
    /// [`Error::WRONG_CONTEXT`]. The future returns the sticky errors of the work.
    ///
    /// Driver: `cuStreamAddCallback`, CUDA 5.0+.
    #[doc(alias = "cuStreamAddCallback")]
    #[inline]
    pub fn reached(&self, cx: &Current<'_, '_>) -> Result<Reached<'ctx>, Error> {
        let context = cx.of(self.context(), FnId::cuStreamAddCallback)?;
        Reached::new(self.as_raw(), context, self.keep())
    }
}

impl<'ctx> Event<'ctx> {
    /// Returns a future that is ready when the mark is passed. `stream` waits for the mark and then
    /// calls back. Ready soon if no mark was recorded. The host does not wait.
    ///
    /// The stream may be the mark's, or one without other work, so that no work waits for the call.
    ///
    /// # Errors
    /// [`Error::WRONG_CONTEXT`] unless event and stream are of the current context.
    ///
    /// Driver: `cuStreamWaitEvent`, CUDA 3.2+, and `cuStreamAddCallback`, CUDA 5.0+.
    #[doc(alias("cuStreamWaitEvent", "cuStreamAddCallback"))]
    #[inline]
    pub fn reached(&self, cx: &Current<'_, '_>, stream: &Stream<'_>) -> Result<Reached<'ctx>, Error> {
        let context = cx.of_both([self.context(), stream.context()], FnId::cuStreamWaitEvent)?;
        stream.wait_event(cx, self)?;
        Reached::new(stream.as_raw(), context, self.keep())
    }
}
