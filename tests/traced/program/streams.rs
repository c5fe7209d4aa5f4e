//! Streams and events.

use cuprum::stream::{Event, EventFlags, StreamKind};
use cuprum::{Current, Stream};

use super::Steps;

pub(super) fn all(steps: &Steps, cx: &Current<'_, '_>) {
    let first = steps.attempt("Stream::new", || Stream::new(cx));
    let second = steps.attempt("Stream::non_blocking", || Stream::non_blocking(cx));
    let third = steps.attempt("Stream::with_priority", || Stream::with_priority(cx, StreamKind::Blocking, 0));
    if let Some(stream) = &first {
        events(steps, cx, stream);
        steps.attempt("Stream::synchronize", || stream.synchronize(cx));
        steps.attempt("Stream::is_done", || stream.is_done(cx));
        steps.attempt("Stream::priority", || stream.priority(cx));
        steps.attempt("Stream::id", || stream.id(cx));
    }
    let default = Stream::default_in(cx);
    steps.attempt("Stream::synchronize", || default.synchronize(cx));
    if let Some(second) = second {
        steps.attempt("Stream::close", || second.close());
    }
    steps.done("Stream::drop", || drop(first));
    steps.done("Stream::drop", || drop(third));
}

fn events(steps: &Steps, cx: &Current<'_, '_>, stream: &Stream<'_>) {
    let start = steps.attempt("Event::new", || Event::new(cx, EventFlags::empty()));
    let end = steps.attempt("Event::new", || Event::new(cx, EventFlags::empty()));
    let (Some(start), Some(end)) = (start, end) else { return };
    let recorded = [
        steps.attempt("Event::record", || start.record(cx, stream)),
        steps.attempt("Event::record", || end.record(cx, stream)),
    ];
    steps.attempt("Stream::wait_event", || stream.wait_event(cx, &end));
    let waited = steps.attempt("Event::synchronize", || end.synchronize());
    steps.attempt("Event::is_done", || end.is_done());
    if recorded.into_iter().chain([waited]).all(|done| done.is_some()) {
        steps.attempt("Event::elapsed_since", || end.elapsed_since(&start));
    }
    steps.attempt("Event::close", || start.close());
    steps.done("Event::drop", || drop(end));
}
