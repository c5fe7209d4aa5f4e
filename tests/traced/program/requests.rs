//! Requests and awaited results.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use cuprum::memory::PinnedFlags;
use cuprum::stream::{Event, EventFlags, Pending, Request};
use cuprum::sys::FnId;
use cuprum::{Buffer, Current, MemoryError, PinnedBuffer, Stream};

use super::Steps;

const LEN: usize = 4;

type Slot = (PinnedBuffer<'static, u32>, Buffer<'static, u32>);

/// Ways in which a request ends.
#[derive(Clone, Copy)]
enum Way {
    Wait,
    /// During a capture that forbids it to others.
    WaitInACapture,
    Await,
    Drop,
    /// By a panic in its body.
    Panic,
}

pub(super) fn all(steps: &Steps, cx: &Current<'_, 'static>) {
    let Some(stream) = steps.attempt("Stream::new", || Stream::new(cx)) else { return };
    reached(steps, cx, &stream);
    for way in [Way::Wait, Way::Await, Way::Drop, Way::Panic] {
        one(steps, cx, &stream, way);
    }
    // Without these two, nothing can be waited for in a capture, and the request is leaked.
    let waits = [FnId::cuEventSynchronize, FnId::cuThreadExchangeStreamCaptureMode];
    if waits.into_iter().all(|function| cx.context().driver().library().has(function)) {
        one(steps, cx, &stream, Way::WaitInACapture);
    }
    steps.done("Stream::drop", || drop(stream));
}

/// Polls a future: at once, or a moment later where work runs at other times than inside of the
/// calls.
fn poll<T>(future: impl Future<Output = T>) -> Option<T> {
    let (mut future, began) = (pin!(future), Instant::now());
    loop {
        match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(value) => return Some(value),
            Poll::Pending if began.elapsed() > Duration::from_secs(20) => return None,
            Poll::Pending => std::thread::yield_now(),
        }
    }
}

fn reached(steps: &Steps, cx: &Current<'_, '_>, stream: &Stream<'_>) {
    if let Some(future) = steps.attempt("Stream::reached", || stream.reached(cx)) {
        steps.attempt("Reached::poll", || poll(future).expect("it was called"));
    }
    if let Some(event) = steps.attempt("Event::new", || Event::new(cx, EventFlags::empty())) {
        steps.attempt("Event::record", || event.record(cx, stream));
        if let Some(future) = steps.attempt("Event::reached", || event.reached(cx, stream)) {
            steps.attempt("Reached::poll", || poll(future).expect("it was called"));
        }
        steps.done("Event::drop", || drop(event));
    }
}

fn one(steps: &Steps, cx: &Current<'_, 'static>, stream: &Stream<'_>, way: Way) {
    let event = steps.attempt("Event::new", || Event::new(cx, EventFlags::DISABLE_TIMING));
    let host =
        steps.attempt("PinnedBuffer::alloc", || PinnedBuffer::<u32>::alloc(cx, LEN, PinnedFlags::empty()));
    let buffer = steps.attempt("Buffer::alloc", || Buffer::<u32>::alloc(cx, LEN));
    let (Some(event), Some(host), Some(buffer)) = (event, host, buffer) else { return };
    let start = host.as_raw();
    let request = Request::new(event, (host, buffer));
    let submitted = || submit(steps, cx, stream, request, way);
    let pending = match way {
        Way::Panic => steps.done("request left by a panic", || {
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(submitted)).ok().flatten()
        }),
        _ => submitted(),
    };
    if let Some(pending) = pending {
        steps.attempt("Pending::is_done", || pending.is_done());
        steps.attempt("Pending::before", || pending.before(cx, stream));
        end(steps, cx, stream, pending, way);
    }
    // If it did not come back, it is leaked.
    steps.session().lost(start);
}

fn submit(
    steps: &Steps,
    cx: &Current<'_, '_>,
    stream: &Stream<'_>,
    request: Request<Slot>,
    way: Way,
) -> Option<Pending<Slot>> {
    steps.attempt("Request::submit", || {
        request.submit(cx, stream, |scope, (host, buffer)| -> Result<(), MemoryError> {
            let device = steps.attempt("Scope::lend", || scope.lend(buffer.as_mut_slice()));
            let host = steps.attempt("Scope::lend", || scope.lend(host));
            let (Some(device), Some(host)) = (device, host) else { return Ok(()) };
            steps.attempt("Scope::fill", || scope.fill(&device, 1));
            steps.attempt("Scope::copy", || scope.copy(&host, &device));
            match way {
                // As a panic, without its message.
                Way::Panic => std::panic::resume_unwind(Box::new(())),
                _ => Ok(()),
            }
        })
    })
}

fn in_a_capture(steps: &Steps, cx: &Current<'_, '_>, pending: Pending<Slot>) -> Option<Request<Slot>> {
    let mut stream = steps.attempt("Stream::non_blocking", || Stream::non_blocking(cx))?;
    let (mut pending, mut idle) = (Some(pending), None);
    super::captures::beside(steps, cx, &mut stream, || {
        let pending = pending.take().expect("one capture");
        idle = steps.attempt("Pending::wait", || pending.wait());
    });
    // Unless it did not begin.
    steps.done("Pending::drop", || drop(pending));
    steps.done("Stream::drop", || drop(stream));
    idle
}

fn end(steps: &Steps, cx: &Current<'_, '_>, stream: &Stream<'_>, pending: Pending<Slot>, way: Way) {
    let idle = match way {
        Way::Wait => steps.attempt("Pending::wait", || pending.wait()),
        Way::WaitInACapture => in_a_capture(steps, cx, pending),
        Way::Await => steps
            .attempt("Pending::notify", || pending.notify(cx, stream))
            .and_then(|future| steps.attempt("PendingFuture::poll", || poll(future).expect("it was called"))),
        Way::Drop | Way::Panic => return steps.done("Pending::drop", || drop(pending)),
    };
    if let Some(idle) = idle {
        assert_eq!(idle.0.len(), LEN, "it is not lost");
        if let Way::Await = way {
            // The driver's callback has reported it, which the watcher does not see.
            steps.session().lost(idle.0.as_raw());
        }
        steps.session().scope_ended();
        steps.done("Request::drop", || drop(idle));
    }
}
