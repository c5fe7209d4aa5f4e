//! Handles of other code, and the parts that a wrapper of a raw call uses.

use cuprum::memory::ForeignBuffer;
use cuprum::stream::{Event, EventFlags, ForeignEvent, ForeignStream};
use cuprum::sys::call;
use cuprum::{Buffer, ContextRef, Current, Error, Stream};

use super::Steps;

pub(super) fn all(steps: &Steps, cx: &Current<'_, '_>, other: &ContextRef) {
    streams(steps, cx);
    events(steps, cx);
    memory(steps, cx, other);
    wrapper(steps, cx, other);
}

fn streams(steps: &Steps, cx: &Current<'_, '_>) {
    let Some(stream) = steps.attempt("Stream::non_blocking", || Stream::non_blocking(cx)) else { return };
    let raw = stream.into_raw();
    // SAFETY: the stream is live until it is destroyed below.
    let foreign = steps.attempt("ForeignStream::from_raw", || unsafe { ForeignStream::from_raw(cx, raw) });
    if let Some(foreign) = foreign {
        steps.attempt("Stream::synchronize", || foreign.synchronize(cx));
        steps.done("ForeignStream::drop", || drop(foreign));
    }
    // SAFETY: it is live, and the code that took it over destroys it.
    match steps.attempt("Stream::from_raw", || unsafe { Stream::from_raw(cx, raw) }) {
        Some(stream) => steps.done("Stream::drop", || drop(stream)),
        None => {
            let context = cx.context();
            steps.attempt("a stream that was not taken over", || {
                // SAFETY: it is not used again.
                context.check(unsafe { call!(context.driver().library().fns(), cuStreamDestroy_v2(raw)) })
            });
        }
    }
}

fn events(steps: &Steps, cx: &Current<'_, '_>) {
    let Some(event) = steps.attempt("Event::new", || Event::new(cx, EventFlags::empty())) else { return };
    let raw = event.into_raw();
    // SAFETY: the event is live until it is destroyed below.
    let foreign = unsafe { ForeignEvent::from_raw(cx, raw) };
    steps.attempt("Event::is_done", || foreign.is_done());
    steps.done("ForeignEvent::drop", || drop(foreign));
    // SAFETY: as above, and nothing else destroys it.
    let event = unsafe { Event::from_raw(cx, raw) };
    steps.done("Event::drop", || drop(event));
}

fn memory(steps: &Steps, cx: &Current<'_, '_>, other: &ContextRef) {
    let lend = |cx: &Current<'_, '_>, name, end: fn(&Steps, ForeignBuffer<'_, u8>)| {
        let Some(buffer) = steps.attempt("Buffer::alloc", || Buffer::<u8>::alloc(cx, 16)) else { return };
        let fns = cx.context().driver().library().fns();
        let release = move |context: &ContextRef, address| {
            // SAFETY: the memory is not used again.
            context.check(unsafe { call!(fns, cuMemFree_v2(address)) })
        };
        // SAFETY: sixteen bytes that nothing else uses, and which are freed once.
        let foreign = steps.attempt(name, || unsafe {
            ForeignBuffer::<u8>::with_release(cx, buffer.into_raw(), 16, release)
        });
        if let Some(foreign) = foreign {
            end(steps, foreign);
        }
    };
    lend(cx, "ForeignBuffer::with_release", |steps, foreign| {
        steps.attempt("ForeignBuffer::close with its function", || foreign.close());
    });
    lend(cx, "ForeignBuffer::with_release", |steps, foreign| {
        steps.done("ForeignBuffer::drop", || drop(foreign));
    });
    steps.attempt("ContextRef::enter", || {
        other.enter(|inner| {
            steps.expect(other);
            lend(inner, "ForeignBuffer::with_release", |steps, foreign| {
                steps.done("ForeignBuffer::drop", || drop(foreign));
            });
            steps.session().expect(Some(cx.context().as_raw()));
            Ok(())
        })
    });
    let Some(buffer) = steps.attempt("Buffer::alloc", || Buffer::<u8>::alloc(cx, 16)) else { return };
    // SAFETY: the buffer outlives it, and is not used meanwhile.
    let borrowed = steps.attempt("ForeignBuffer::from_raw", || unsafe {
        ForeignBuffer::<u8>::from_raw(cx, buffer.as_raw(), 16)
    });
    borrowed.map(|borrowed| steps.attempt("ForeignBuffer::close", || borrowed.close()));
    steps.done("Buffer::drop", || drop(buffer));
}

fn wrapper(steps: &Steps, cx: &Current<'_, '_>, other: &ContextRef) {
    // The default stream keeps the context for a wrapper of a raw handle.
    let home = Stream::default_in(cx);
    steps.attempt("Stream::enter", || home.enter(|_| Ok(())));
    steps.attempt("Stream::enter_as", || home.enter_as::<Error, _>(|_| Ok(())));
    let memory = steps.attempt("Buffer::alloc", || Buffer::<u8>::alloc(cx, 16));
    memory.as_ref().map(|memory| steps.attempt("Buffer::enter", || memory.enter(|_| Ok(()))));
    memory
        .as_ref()
        .map(|memory| steps.attempt("Buffer::enter_as", || memory.enter_as::<Error, _>(|_| Ok(()))));
    steps.done("Buffer::drop", || drop(memory));
    steps.attempt("ContextRef::enter_as", || other.enter_as::<Error, _>(|_| Ok(())));
    steps.attempt("ContextRef::with_current", || home.context().with_current(|| Ok(())));
    steps.attempt("ContextRef::with_current", || other.with_current(|| Ok(())));
    steps.attempt("Current::memory_info", || cx.memory_info());
}
