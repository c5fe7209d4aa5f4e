//! Host functions that a stream calls.

use std::any::Any;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};

use cuprum_sys::FnId;

use super::Stream;
use crate::context::Current;
use crate::error::Error;
use crate::raw::call::either_call;
use crate::raw::debug::debug;

/// The result of a function, or the payload of its panic.
type Outcome<R> = Result<R, Box<dyn Any + Send>>;

struct Outbox<R>(Mutex<Option<Outcome<R>>>);

/// The driver's data: the function, and a share of the place for its outcome.
struct Call<F, R> {
    function: F,
    place: Arc<Outbox<R>>,
}

/// The driver calls this at most once, on its own thread.
///
/// # Safety
/// `data` is a box of a [`Call`] of these types, owned by this call.
unsafe extern "C" fn called<F: FnOnce() -> R, R>(data: *mut c_void) {
    // SAFETY: guaranteed by the caller; the driver calls once.
    let Call { function, place } = *unsafe { Box::from_raw(data.cast::<Call<F, R>>()) };
    let outcome = catch_unwind(AssertUnwindSafe(function));
    *place.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
    // If the handle was dropped, the outcome is dropped here. That runs code of the program, whose
    // panic must not reach the driver.
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(place))) {
        std::mem::forget(payload);
    }
}

/// The result of a function that a stream calls. Made by [`Stream::call_host`].
///
/// Dropping it changes nothing: the function is still called, and its result is dropped on the
/// driver's thread, where objects of this crate [leak](super#on-the-drivers-threads).
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// let stream = cuprum::Stream::new(&cx)?;
/// // On a thread of the driver, after earlier work of the stream. No driver calls are allowed in it.
/// let call = stream.call_host(&cx, || 6 * 7)?;
/// stream.synchronize(&cx)?;
/// assert_eq!(call.take().and_then(Result::ok), Some(42));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct HostCall<R>(Arc<Outbox<R>>);

impl<R> HostCall<R> {
    /// Takes the function's result, or the payload of its panic. Returns `None` if it was not
    /// called yet, or if the result was already taken. Never waits, even in a forked child. After a
    /// successful wait for the stream, the function has been called.
    ///
    /// After a kernel fault the driver does not call queued functions, and they are leaked.
    #[inline]
    pub fn take(&self) -> Option<std::thread::Result<R>> {
        // The driver's thread holds the lock briefly, or in a forked child perhaps forever.
        match self.0.0.try_lock() {
            Ok(mut place) => place.take(),
            Err(TryLockError::Poisoned(place)) => place.into_inner().take(),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

debug!([R] HostCall<R>: |_this, f| f.debug_struct("HostCall").finish_non_exhaustive());

impl Stream<'_> {
    /// Queues one call of a host function, after all earlier work of the stream, on a thread of the
    /// driver. Later work of the stream waits for it; the host does not.
    ///
    /// The function should not call the driver, which [refuses most
    /// calls](super#on-the-drivers-threads) on its own thread, and must not wait for this stream,
    /// which waits for the function. So it should not own objects whose drop calls the driver: they
    /// leak, and a [`Pending`](super::Pending) of work after the function would wait forever. Its
    /// result is safe, because [`HostCall::take`] returns it to the host. The function owns all
    /// that it uses, because after a fault no call reports whether it is still running. A panic in
    /// it is caught, and `take` returns the payload.
    ///
    /// Example: see [`HostCall`].
    ///
    /// # Errors
    /// [`Error::WRONG_CONTEXT`]. Then the function is leaked, because it may still be called.
    ///
    /// Driver: `cuLaunchHostFunc`, CUDA 10.0+, or `cuLaunchHostFunc_v2`, CUDA 13.1+, where a driver
    /// has only that.
    #[doc(alias("cuLaunchHostFunc", "cuLaunchHostFunc_v2"))]
    pub fn call_host<F, R>(&self, cx: &Current<'_, '_>, function: F) -> Result<HostCall<R>, Error>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        let context = cx.of(self.context(), FnId::cuLaunchHostFunc)?;
        let place = Arc::new(Outbox(Mutex::new(None)));
        let call = Box::new(Call { function, place: Arc::clone(&place) });
        let (stream, called, library) = (self.as_raw(), Some(called::<F, R> as _), context.library());
        let data = Box::into_raw(call).cast::<c_void>();
        // SAFETY: the stream is live, and its context is current; the function takes the box.
        let answer = unsafe {
            either_call!(library, cuLaunchHostFunc(stream, called, data)
                or cuLaunchHostFunc_v2(stream, called, data, 0))
        };
        answer.map_err(|error| context.record(error))?;
        Ok(HostCall(place))
    }
}
