//! Functions of the host that a stream calls.

use std::any::Any;
use std::ffi::c_void;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};

use cuprum_sys::FnId;

use super::Stream;
use crate::context::Current;
use crate::error::Error;
use crate::raw::call::either_call;

/// What a function returned, or the payload of its panic.
type Outcome<R> = Result<R, Box<dyn Any + Send>>;

/// Where the outcome of a function is put.
struct Outbox<R>(Mutex<Option<Outcome<R>>>);

/// What the driver is given: the function, and a share of the place of its outcome.
struct Call<F, R> {
    function: F,
    place: Arc<Outbox<R>>,
}

/// Called by the driver, on a thread of its own, once or never.
///
/// # Safety
/// `data` is a box of a [`Call`] of these types that was given away for this call.
unsafe extern "C" fn called<F: FnOnce() -> R, R>(data: *mut c_void) {
    // SAFETY: guaranteed by the caller; the driver calls once.
    let Call { function, place } = *unsafe { Box::from_raw(data.cast::<Call<F, R>>()) };
    let outcome = catch_unwind(AssertUnwindSafe(function));
    *place.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
    // If the handle is gone, the outcome goes here. What that does is somebody else's code: no panic of it may reach the
    // driver.
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(place))) {
        std::mem::forget(payload);
    }
}

/// A function that a stream was given to call: its result, once it was called. Made by [`Stream::call_host`].
///
/// Dropping it changes nothing: the function is called all the same, and its result is dropped on the driver's thread,
/// where objects of this crate [leak](super#on-the-drivers-threads).
///
/// # Example
/// ```
/// # cuprum::example!(driver, context, cx);
/// let stream = cuprum::Stream::new(&cx)?;
/// // On a thread of the driver's, behind the work that was queued before: no call of the driver is allowed in it.
/// let call = stream.call_host(&cx, || 6 * 7)?;
/// stream.synchronize(&cx)?;
/// assert_eq!(call.take().and_then(Result::ok), Some(42));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct HostCall<R>(Arc<Outbox<R>>);

impl<R> HostCall<R> {
    /// Takes what the function returned, or the payload of its panic; `None` if it was not called yet, or was taken
    /// before. Never waits, in a forked child neither: after a wait for the stream that succeeded, it was called.
    ///
    /// After a fault of a kernel the driver does not call the functions that are queued, and they are leaked.
    #[inline]
    pub fn take(&self) -> Option<std::thread::Result<R>> {
        // The lock is the driver's thread's for the moment in which the outcome comes, in a forked child perhaps forever.
        match self.0.0.try_lock() {
            Ok(mut place) => place.take(),
            Err(TryLockError::Poisoned(place)) => place.into_inner().take(),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

impl<R> fmt::Debug for HostCall<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostCall").finish_non_exhaustive()
    }
}

impl Stream<'_> {
    /// Queues a call of a function of the host: once, when all that was queued here before is done, on a thread of the
    /// driver's. What is queued here later waits for it; the host does not.
    ///
    /// The function should not call the driver, which on its own thread [refuses most
    /// calls](super#on-the-drivers-threads), and must not wait for this stream, which waits for the function. So it
    /// should not own what calls the driver when it is dropped: that leaks, and a [`Pending`](super::Pending) of work
    /// behind the function waits forever. What it returns is safe, as [`HostCall::take`] gives it to the host. It owns
    /// what it uses, since nothing tells after a fault whether it is still running. A panic in it is caught, and `take`
    /// gives that too.
    ///
    /// # Example
    /// ```
    /// # cuprum::example!(driver, context, cx);
    /// let stream = cuprum::Stream::new(&cx)?;
    /// let words = vec!["in", "order"];
    /// let call = stream.call_host(&cx, move || words.join(" "))?;
    /// stream.synchronize(&cx)?;
    /// assert!(matches!(call.take(), Some(Ok(text)) if text == "in order"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::is_wrong_context`]; the sticky errors of earlier work. Then the function is leaked, as it may be called
    /// all the same.
    ///
    /// Driver: `cuLaunchHostFunc`, CUDA 10.0+, or `cuLaunchHostFunc_v2`, CUDA 13.1+, where a driver has only that.
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
