//! Scopes and their loans.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use cuprum::memory::PinnedFlags;
use cuprum::{Buffer, ContextRef, Current, Error, PinnedBuffer, Stream};

use super::Steps;

const LEN: usize = 4;

pub(super) fn all(steps: &Steps, cx: &mut Current<'_, '_>, other: &ContextRef) {
    let blocking = steps.attempt("Stream::new", || Stream::new(cx));
    let beside = steps.attempt("Stream::non_blocking", || Stream::non_blocking(cx));
    for stream in [&blocking, &beside].into_iter().flatten() {
        copies(steps, cx, stream);
        page_locked(steps, cx, stream);
    }
    if let Some(stream) = &blocking {
        steps.attempt("Current::scope", || cx.scope(stream, |_| Ok(())));
        steps.session().scope_ended();
        steps.attempt("Current::scope_as", || cx.scope_as::<Error, _>(stream, |_| Ok(())));
        steps.session().scope_ended();
        steps.session().scope_ended();
        left_by_a_panic(steps, cx, stream);
    }
    let context = cx.context().as_raw();
    let mut theirs = None;
    if let Some(upper) = steps.attempt("Current::push", || cx.push(other)) {
        steps.expect(other);
        theirs = steps.attempt("Buffer::alloc", || Buffer::<u8>::alloc(&upper, 16));
        steps.done("Current::drop", || drop(upper));
    }
    steps.session().expect(Some(context));
    drop_inside(steps, cx, theirs);
    if let (Some(blocking), Some(beside)) = (&blocking, &beside) {
        several(steps, cx, [blocking, beside]);
    }
    steps.done("Stream::drop", || drop(blocking));
    steps.done("Stream::drop", || drop(beside));
}

fn copies(steps: &Steps, cx: &Current<'_, '_>, stream: &Stream<'_>) {
    let first = steps.attempt("Buffer::alloc", || Buffer::<u32>::alloc(cx, LEN));
    let second = steps.attempt("Buffer::alloc", || Buffer::<u32>::alloc(cx, LEN));
    let (Some(mut first), Some(mut second)) = (first, second) else { return };
    let (input, mut output) = ([1; LEN], [0; LEN]);
    steps.attempt("Current::scope", || {
        cx.scope(stream, |scope| {
            let lent = steps.attempt("Scope::lend", || scope.lend(first.as_mut_slice()));
            let target = steps.attempt("Scope::lend", || scope.lend(second.as_mut_slice()));
            let (Some(lent), Some(target)) = (lent, target) else { return Ok(()) };
            steps.attempt("Scope::copy", || scope.copy(&lent, &input));
            steps.attempt("Scope::copy", || scope.copy(&target, &lent));
            steps.attempt("Scope::read", || scope.read(&mut output, &target));
            Ok(())
        })
    });
    steps.session().scope_ended();
    steps.done("Buffer::drop", || drop(first));
    steps.done("Buffer::drop", || drop(second));
}

/// Copies to page-locked memory, and fills of it.
fn page_locked(steps: &Steps, cx: &Current<'_, '_>, stream: &Stream<'_>) {
    let buffer = steps.attempt("Buffer::zeroed", || Buffer::<u32>::zeroed(cx, LEN));
    let host =
        steps.attempt("PinnedBuffer::zeroed", || PinnedBuffer::<u32>::zeroed(cx, LEN, PinnedFlags::MAPPED));
    let (Some(mut buffer), Some(mut host)) = (buffer, host) else { return };
    let start = host.as_raw();
    steps.attempt("Current::scope", || {
        cx.scope(stream, |scope| {
            let device = steps.attempt("Scope::lend", || scope.lend(buffer.as_mut_slice()));
            let host = steps.attempt("Scope::lend", || scope.lend(&mut host));
            let (Some(device), Some(host)) = (device, host) else { return Ok(()) };
            steps.attempt("Scope::copy", || scope.copy(&device, &host));
            steps.attempt("Scope::copy", || scope.copy(&host, &device));
            let mapped = steps.attempt("Scope::as_device", || scope.as_device(&host));
            mapped.map(|mapped| steps.attempt("Scope::fill", || scope.fill(&mapped, 1)));
            Ok(())
        })
    });
    if host.is_lost() {
        steps.session().lost(start);
    }
    steps.session().scope_ended();
    steps.done("PinnedBuffer::drop", || drop(host));
    steps.done("Buffer::drop", || drop(buffer));
}

/// A scope over two streams, with memory that both read.
fn several(steps: &Steps, cx: &Current<'_, '_>, streams: [&Stream<'_>; 2]) {
    let own = streams.map(|_| steps.attempt("Buffer::alloc", || Buffer::<u32>::alloc(cx, LEN)));
    let read = steps.attempt("Buffer::zeroed", || Buffer::<u32>::zeroed(cx, LEN));
    let ([Some(mut first), Some(mut second)], Some(read)) = (own, read) else { return };
    let mut output = [0; LEN];
    steps.attempt("Current::multi_scope", || {
        cx.multi_scope(|scope| {
            for (stream, own) in streams.into_iter().zip([&mut first, &mut second]) {
                let Some(lane) = steps.attempt("MultiScope::on", || scope.on(stream)) else { return Ok(()) };
                let own = steps.attempt("Scope::lend", || lane.lend(own.as_mut_slice()));
                let read = steps.attempt("Scope::lend", || lane.lend(read.as_slice()));
                let (Some(own), Some(read)) = (own, read) else { return Ok(()) };
                steps.attempt("Scope::copy", || lane.copy(&own, &read));
                steps.attempt("Scope::fill", || lane.fill(&own, 1));
                steps.attempt("Scope::fill_bytes", || lane.fill_bytes(&own, 1));
                steps.attempt("Scope::read", || lane.read(&mut output, &read));
            }
            Ok(())
        })
    });
    steps.session().scope_ended();
    steps.done("Buffer::drop", || drop((first, second, read)));
    let Some(mut halves) = steps.attempt("Buffer::alloc", || Buffer::<u16>::alloc(cx, LEN)) else { return };
    steps.attempt("Current::scope", || {
        cx.scope(streams[0], |scope| {
            let halves = steps.attempt("Scope::lend", || scope.lend(halves.as_mut_slice()));
            halves.map(|halves| steps.attempt("Scope::fill", || scope.fill(&halves, 1)));
            Ok(())
        })
    });
    steps.done("Buffer::drop", || drop(halves));
}

/// A scope whose body panics after it has queued a copy.
fn left_by_a_panic(steps: &Steps, cx: &Current<'_, '_>, stream: &Stream<'_>) {
    let Some(mut buffer) = steps.attempt("Buffer::alloc", || Buffer::<u32>::alloc(cx, LEN)) else { return };
    let input = [1; LEN];
    steps.attempt("scope left by a panic", || {
        let scope = || {
            cx.scope::<()>(stream, |scope| {
                let lent = steps.attempt("Scope::lend", || scope.lend(buffer.as_mut_slice()));
                lent.map(|lent| steps.attempt("Scope::copy", || scope.copy(&lent, &input)));
                // As a panic, without its message.
                resume_unwind(Box::new(()))
            })
        };
        match catch_unwind(AssertUnwindSafe(scope)) {
            // It did not begin, so that nothing panicked.
            Ok(not_begun) => not_begun,
            Err(_) => Ok(()),
        }
    });
    steps.session().scope_ended();
    steps.done("Buffer::drop", || drop(buffer));
}

/// A scope on the default stream, whose body drops something of another context before it copies.
fn drop_inside(steps: &Steps, cx: &Current<'_, '_>, theirs: Option<Buffer<'_, u8>>) {
    let Some(mut buffer) = steps.attempt("Buffer::alloc", || Buffer::<u32>::alloc(cx, LEN)) else { return };
    let (input, default) = ([1; LEN], Stream::default_in(cx));
    steps.attempt("Current::scope", || {
        cx.scope(&default, |scope| {
            steps.done("Buffer::drop in a scope", || drop(theirs));
            let lent = steps.attempt("Scope::lend", || scope.lend(buffer.as_mut_slice()));
            lent.map(|lent| steps.attempt("Scope::copy", || scope.copy(&lent, &input)));
            Ok(())
        })
    });
    steps.session().scope_ended();
    steps.done("Buffer::drop", || drop(buffer));
}
