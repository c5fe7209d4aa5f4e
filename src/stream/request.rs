//! Work that outlives the function that queued it, with all its operands.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::Poll;

use cuprum_sys::{CUstream, FnId};

use super::scope::{Kept, Wait};
use super::{Event, Reached, Scope, Stream};
use crate::context::{Beside, Current, captures, wait_for_context};
use crate::error::Error;
use crate::raw::debug::debug;
use crate::raw::held::activated;

/// Resources of a piece of work, on the host and the device, while no work uses them: the memory as
/// one value, to which this dereferences, and the event that marks the end of the work.
///
/// [`submit`](Request::submit) moves it into a [`Pending`], which can be stored, queued and sent to
/// threads. The request that it returns is submitted again without an allocation. Everything in it
/// is `'static`, for example made in a [shared context](crate::Shared).
///
/// # Example
/// Two requests that alternate, so that the host fills one while the device works on the other:
///
/// ```
/// # cuprum::example!(driver);
/// use cuprum::context::PrimaryContext;
/// use cuprum::memory::PinnedFlags;
/// use cuprum::stream::{Event, EventFlags, Request};
/// use cuprum::{Buffer, MemoryError, PinnedBuffer, Stream};
///
/// struct Slot { host: PinnedBuffer<'static, u32>, device: Buffer<'static, u32> }
///
/// let context = PrimaryContext::retain(driver.device(0)?)?.share();
/// let sum = context.enter(|cx| {
///     let stream = Stream::new(cx)?;
///     let request = || -> cuprum::Result<_> {
///         let host = PinnedBuffer::zeroed(cx, 4, PinnedFlags::empty())?;
///         let slot = Slot { host, device: Buffer::alloc(cx, 4)? };
///         Ok(Request::new(Event::new(cx, EventFlags::DISABLE_TIMING)?, slot))
///     };
///     let (mut idle, mut pending, mut sum) = (request()?, None, 0);
///     for round in 1..=3 {
///         idle.host.fill(round);
///         let next = idle.submit(cx, &stream, |scope, slot| -> Result<(), MemoryError> {
///             let (host, device) = (scope.lend(&mut slot.host)?, scope.lend(&mut slot.device)?);
///             scope.copy(&device, &host)?;
///             scope.copy(&host, &device)
///         })?;
///         idle = match pending.replace(next) {
///             Some(before) => before.wait()?,
///             None => request()?,
///         };
///         sum += idle.host.iter().sum::<u32>();
///     }
///     Ok(sum + pending.map_or(Ok(0), |last| last.wait().map(|last| last.host.iter().sum::<u32>()))?)
/// })?;
/// assert_eq!(sum, 4 * (1 + 2 + 3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Request<V: 'static>(Box<Inner<V>>);

/// Contents of a request, at a fixed address: work may read memory in the value itself.
struct Inner<V> {
    done: Event<'static>,
    value: V,
}

/// A submitted [`Request`]. [`wait`](Pending::wait) returns its memory, on any thread.
///
/// Dropping it waits. Forgetting it leaks it, so that the device never works on freed memory.
///
/// ```
/// # cuprum::example!(driver, context);
/// # context.enter(|cx| {
/// use cuprum::stream::{Event, EventFlags, Request};
/// let (stream, done) = (cuprum::Stream::new(cx)?, Event::new(cx, EventFlags::DISABLE_TIMING)?);
/// let pending = Request::new(done, 7).submit(cx, &stream, |_, _| Ok::<(), cuprum::Error>(()))?;
/// assert_eq!(*pending.wait()?, 7);
/// # Ok(()) })?; Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "dropping it waits for the work"]
pub struct Pending<V: 'static> {
    /// The device uses the value; the host uses only the event.
    inner: NonNull<Inner<V>>,
    _owns: PhantomData<Box<Inner<V>>>,
}

// SAFETY: it owns the value without access to it, and an event that any thread may use.
unsafe impl<V: Send> Send for Pending<V> {}
// SAFETY: a shared reference accesses only the event.
unsafe impl<V> Sync for Pending<V> {}

/// Error of submitting a request, or of its work.
///
/// ```
/// # cuprum::example!(driver);
/// use cuprum::context::PrimaryContext;
/// use cuprum::stream::{Event, EventFlags, Request};
/// use cuprum::{Buffer, MemoryError, Stream};
///
/// let context = PrimaryContext::retain(driver.device(0)?)?.share();
/// context.enter(|cx| {
///     let (stream, done) = (Stream::new(cx)?, Event::new(cx, EventFlags::DISABLE_TIMING)?);
///     let request = Request::new(done, Buffer::<u32>::alloc(cx, 4)?);
///     let result = request.submit(cx, &stream, |scope, buffer| {
///         scope.copy(&scope.lend(buffer)?, &[1, 2, 3])
///     });
///     let Err(error) = result else { return Err("three elements for four".into()) };
///     assert!(matches!(error.error, MemoryError::Length { .. }));
///     // No work uses the memory, so the error returns the request.
///     let (_done, buffer) = error.request.ok_or("leaked")?.into_parts();
///     assert_eq!(buffer.len(), 4);
///     Ok(())
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(thiserror::Error)]
#[error("{error}{}", if self.request.is_some() { "" } else { Self::LEAKED })]
#[expect(clippy::exhaustive_structs, reason = "an error with what it gives back")]
pub struct RequestError<V: 'static, E = Error> {
    /// The error.
    pub error: E,
    /// The request, if its work is certainly complete. Otherwise it is leaked, on the host and the
    /// device, because the device may still use it.
    pub request: Option<Request<V>>,
}

impl<V, E> RequestError<V, E> {
    const LEAKED: &'static str = " (the request is leaked, since the device may still use its memory)";
}

impl<V, E: fmt::Debug> fmt::Debug for RequestError<V, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let request = if self.request.is_some() { "given back" } else { "leaked" };
        f.debug_struct("RequestError").field("error", &self.error).field("request", &request).finish()
    }
}

impl<V> Request<V> {
    /// Combines the resources of a piece of work. `done` is recorded after the work. Without
    /// [timing](crate::stream::EventFlags::DISABLE_TIMING) it costs least, and with
    /// [`BLOCKING_SYNC`](crate::stream::EventFlags::BLOCKING_SYNC), [`wait`](Pending::wait) sleeps.
    #[inline]
    pub fn new(done: Event<'static>, value: V) -> Self {
        Self(Box::new(Inner { done, value }))
    }

    /// Returns the event and the value.
    #[inline]
    pub fn into_parts(self) -> (Event<'static>, V) {
        let Inner { done, value } = *self.0;
        (done, value)
    }

    /// Runs `body`, which lends parts of the value to a scope on `stream` and queues work there.
    /// Returns while the work runs. Only the value, and `'static` objects, can be lent.
    ///
    /// If `body` fails or panics, the host waits for the queued work. Lending device memory on a
    /// non-blocking stream first waits for the default stream, see [`Scope::lend`].
    ///
    /// # Errors
    /// The errors of `body`; [`Error::WRONG_CONTEXT`] unless event and stream are of the current
    /// context. The error contains the request, unless a wait failed.
    ///
    /// Driver: `cuEventRecord`, CUDA 2.0+; after an error `cuStreamSynchronize`, CUDA 2.0+, and if
    /// that fails, `cuCtxSynchronize`, CUDA 2.0+.
    #[doc(alias = "cuEventRecord")]
    pub fn submit<E: From<Error>>(
        self,
        cx: &Current<'_, '_>,
        stream: &Stream<'_>,
        body: impl for<'scope> FnOnce(&'scope Scope<'scope, 'static>, &'scope mut V) -> Result<(), E>,
    ) -> Result<Pending<V>, RequestError<V, E>> {
        let context = match cx.of_both([self.0.done.context(), stream.context()], FnId::cuEventRecord) {
            Ok(context) => context,
            Err(error) => return Err(RequestError { error: error.into(), request: Some(self) }),
        };
        let inner = NonNull::from(Box::leak(self.0));
        let (streams, kept) = (stream.as_raw(), Kept::default());
        let wait = ManuallyDrop::new(Wait { context, streams: &streams, marks: &kept.marks });
        let begun = Begun { wait, inner };
        // SAFETY: until the work is complete, the value is on the heap without other users.
        let value = unsafe { &mut (*inner.as_ptr()).value };
        let queued = body(&Scope::new(stream, cx.token(), &kept), value);
        // SAFETY: only the event is borrowed, not the value that the device may be using.
        let done = unsafe { &(*inner.as_ptr()).done };
        match queued.and_then(|()| Ok(done.record(cx, stream)?)) {
            Ok(()) => {
                std::mem::forget(begun);
                Ok(Pending { inner, _owns: PhantomData })
            }
            Err(error) => Err(RequestError { error, request: begun.end() }),
        }
    }
}

/// A request whose body runs. If the body does not return, drop waits for the work.
struct Begun<'a, V: 'static> {
    wait: ManuallyDrop<Wait<'a, CUstream>>,
    inner: NonNull<Inner<V>>,
}

impl<V> Begun<'_, V> {
    /// Returns the request if its work is complete.
    fn end(self) -> Option<Request<V>> {
        let this = ManuallyDrop::new(self);
        let waited = this.wait.wait();
        // SAFETY: it came from a box, and neither the host nor the device uses it any more.
        waited.is_over.then(|| Request(unsafe { Box::from_raw(this.inner.as_ptr()) }))
    }
}

impl<V> Drop for Begun<'_, V> {
    fn drop(&mut self) {
        let _beside = Beside::exempted(self.wait.context.library());
        let waited = self.wait.wait();
        if let Err(error) = waited.result {
            self.wait.context.swallow(error);
        }
        if waited.is_over {
            // SAFETY: as in `end`.
            drop(unsafe { Box::from_raw(self.inner.as_ptr()) });
        }
    }
}

impl<V> Pending<V> {
    pub(super) fn done(&self) -> &Event<'static> {
        // SAFETY: only the event is borrowed, not the value that the device may be using.
        unsafe { &(*self.inner.as_ptr()).done }
    }

    /// True if the work is complete. Does not wait.
    ///
    /// Driver: `cuEventQuery`, CUDA 2.0+.
    #[doc(alias = "cuEventQuery")]
    #[inline]
    pub fn is_done(&self) -> Result<bool, Error> {
        self.done().is_done()
    }

    /// Makes work queued later on `stream` wait for this work. The host does not wait.
    ///
    /// # Errors
    /// Same as [`Stream::wait_event`].
    ///
    /// Driver: `cuStreamWaitEvent`, CUDA 3.2+.
    #[doc(alias = "cuStreamWaitEvent")]
    #[inline]
    pub fn before(&self, cx: &Current<'_, '_>, stream: &Stream<'_>) -> Result<(), Error> {
        stream.wait_event(cx, self.done())
    }

    /// Waits on the host until the work is complete, and returns its resources. A capture that
    /// forbids waits, on any thread, becomes invalid.
    ///
    /// # Errors
    /// Sticky errors of this or earlier work. Then the request is leaked, because the device may
    /// still write its page-locked memory, and the error says so.
    ///
    /// Driver: `cuEventSynchronize`, CUDA 2.0+; if a capture forbids that,
    /// `cuThreadExchangeStreamCaptureMode`, CUDA 10.1+; if it fails, `cuCtxSynchronize`, CUDA 2.0+.
    #[doc(alias("cuEventSynchronize", "cuCtxSynchronize"))]
    #[inline]
    pub fn wait(self) -> Result<Request<V>, RequestError<V>> {
        match self.wait_in_place() {
            (Ok(()), _) => Ok(self.over()),
            (Err(error), true) => Err(RequestError { error, request: Some(self.over()) }),
            (Err(error), false) => {
                std::mem::forget(self);
                Err(RequestError { error, request: None })
            }
        }
    }

    /// Converts to a future, which is woken when `stream` has reached the end of this work.
    /// `stream` may be the stream of the work, or one without other work, so that no later work
    /// waits for the call.
    ///
    /// # Errors
    /// Errors of the driver when the stream is made to wait or to call. Then the host waits for the
    /// work, as [`wait`](Pending::wait) does.
    ///
    /// Driver: `cuStreamWaitEvent`, CUDA 3.2+, and `cuStreamAddCallback`, CUDA 5.0+; after an error
    /// same as [`Pending::wait`].
    #[doc(alias("cuStreamWaitEvent", "cuStreamAddCallback"))]
    #[inline]
    pub fn notify(
        self,
        cx: &Current<'_, '_>,
        stream: &Stream<'_>,
    ) -> Result<PendingFuture<V>, RequestError<V>> {
        match self.done().reached(cx, stream) {
            Ok(reached) => Ok(PendingFuture::new(self, reached)),
            Err(error) => Err(self.failed(error)),
        }
    }

    /// Waits, and makes the error to return after another call failed.
    #[cold]
    pub(super) fn failed(self, error: Error) -> RequestError<V> {
        let request = match self.wait() {
            Ok(request) => Some(request),
            Err(failed) => failed.request,
        };
        RequestError { error, request }
    }

    /// Waits. Also returns whether the work is certainly complete.
    fn wait_in_place(&self) -> (Result<(), Error>, bool) {
        let done = self.done();
        let result = captures::wait_beside(done.context().library(), || done.synchronize());
        let is_over = match result {
            Ok(()) => true,
            Err(error) if error.is_sticky() || error.is_deinitialized() => false,
            Err(error) => {
                activated(done.context(), || Ok(wait_for_context(done.context(), error))) == Ok(true)
            }
        };
        (result, is_over)
    }

    /// Returns the request. Its work must be complete.
    pub(super) fn over(self) -> Request<V> {
        let this = ManuallyDrop::new(self);
        // SAFETY: it came from a box, and the device no longer uses the value.
        Request(unsafe { Box::from_raw(this.inner.as_ptr()) })
    }
}

impl<V> Drop for Pending<V> {
    fn drop(&mut self) {
        let _beside = Beside::exempted(self.done().context().library());
        let (result, is_over) = self.wait_in_place();
        if let Err(error) = result {
            self.done().context().swallow(error);
        }
        if is_over {
            // SAFETY: as in `over`.
            drop(unsafe { Box::from_raw(self.inner.as_ptr()) });
        }
    }
}

impl<V> Deref for Request<V> {
    type Target = V;

    fn deref(&self) -> &V {
        &self.0.value
    }
}

impl<V> DerefMut for Request<V> {
    fn deref_mut(&mut self) -> &mut V {
        &mut self.0.value
    }
}

debug! {
    [V] Request<V>: |this, f|
    f.debug_struct("Request").field("done", &this.0.done).finish_non_exhaustive()
}

debug! {
    [V] Pending<V>: |this, f|
    f.debug_struct("Pending").field("done", this.done()).finish_non_exhaustive()
}

/// The future of a [`Pending`], which returns the request. Made by [`Pending::notify`].
///
/// Dropping it before it is ready waits for the work, like dropping a [`Pending`].
///
/// ```
/// # cuprum::example!(driver);
/// use cuprum::context::PrimaryContext;
/// use cuprum::stream::{Event, EventFlags, Request};
/// use cuprum::{Buffer, Error, Stream};
///
/// /// Fills a buffer concurrently with other tasks of the executor.
/// async fn filled(context: cuprum::Shared<cuprum::ContextRef>) -> Result<Buffer<'static, u32>, Box<dyn std::error::Error>> {
///     // No token may live across `await`: it belongs to a thread.
///     let future = context.enter(|cx| {
///         let (stream, done) = (Stream::new(cx)?, Event::new(cx, EventFlags::DISABLE_TIMING)?);
///         let request = Request::new(done, Buffer::<u32>::alloc(cx, 4)?);
///         let pending = request.submit(cx, &stream, |scope, buffer| {
///             scope.fill(&scope.lend(buffer.as_mut_slice())?, 7)
///         })?;
///         Ok(pending.notify(cx, &stream)?)
///     })?;
///     Ok(future.await?.into_parts().1)
/// }
///
/// let context = PrimaryContext::retain(driver.device(0)?)?.share();
/// # let mut future = std::pin::pin!(filled(context.clone()));
/// # let mut task = std::task::Context::from_waker(std::task::Waker::noop());
/// # let buffer = loop {
/// #     if let std::task::Poll::Ready(ready) = std::future::Future::poll(future.as_mut(), &mut task) { break ready?; }
/// #     std::thread::yield_now();
/// # };
/// # assert_eq!(context.enter(|cx| Ok(buffer.to_vec(cx)?))?, [7; 4]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "dropping it waits for the work"]
pub struct PendingFuture<V: 'static> {
    /// `None` after it was ready.
    pending: Option<Pending<V>>,
    reached: Reached<'static>,
}

impl<V> PendingFuture<V> {
    /// `reached` comes after the work of `pending`.
    const fn new(pending: Pending<V>, reached: Reached<'static>) -> Self {
        Self { pending: Some(pending), reached }
    }
}

impl<V> Future for PendingFuture<V> {
    type Output = Result<Request<V>, RequestError<V>>;

    /// Makes no driver call, unless the work has failed. It is ready only once.
    fn poll(self: Pin<&mut Self>, cx: &mut std::task::Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let Poll::Ready(answer) = Pin::new(&mut this.reached).poll(cx) else { return Poll::Pending };
        let Some(pending) = this.pending.take() else { return Poll::Pending };
        Poll::Ready(match answer {
            // The driver's callback ran after the work succeeded.
            Ok(()) => Ok(pending.over()),
            Err(error) => Err(pending.failed(error)),
        })
    }
}

debug! {
    [V] PendingFuture<V>: |this, f|
    f.debug_struct("PendingFuture").field("pending", &this.pending).finish_non_exhaustive()
}
