//! Scopes and what is lent to them.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use cuprum::{Buffer, ContextRef, Current, Stream};

use super::Steps;

const LEN: usize = 4;

pub(super) fn all(steps: &Steps, cx: &mut Current<'_, '_>, other: &ContextRef) {
    let blocking = steps.attempt("Stream::new", || Stream::new(cx));
    let beside = steps.attempt("Stream::non_blocking", || Stream::non_blocking(cx));
    for stream in [&blocking, &beside].into_iter().flatten() {
        copies(steps, cx, stream);
    }
    if let Some(stream) = &blocking {
        steps.attempt("Current::scope", || cx.scope(stream, |_| ()));
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
            let (Some(lent), Some(target)) = (lent, target) else { return };
            steps.attempt("Lent::copy_from_host", || lent.copy_from_host(&input));
            steps.attempt("Lent::copy_from", || target.copy_from(&lent));
            steps.attempt("Lent::copy_to_host", || target.copy_to_host(&mut output));
        })
    });
    steps.session().scope_ended();
    steps.done("Buffer::drop", || drop(first));
    steps.done("Buffer::drop", || drop(second));
}

/// A scope whose body panics after it has queued a copy.
fn left_by_a_panic(steps: &Steps, cx: &Current<'_, '_>, stream: &Stream<'_>) {
    let Some(mut buffer) = steps.attempt("Buffer::alloc", || Buffer::<u32>::alloc(cx, LEN)) else { return };
    let input = [1; LEN];
    steps.attempt("scope left by a panic", || {
        let scope = || {
            cx.scope(stream, |scope| {
                let lent = steps.attempt("Scope::lend", || scope.lend(buffer.as_mut_slice()));
                lent.map(|lent| steps.attempt("Lent::copy_from_host", || lent.copy_from_host(&input)));
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
            lent.map(|lent| steps.attempt("Lent::copy_from_host", || lent.copy_from_host(&input)));
        })
    });
    steps.session().scope_ended();
    steps.done("Buffer::drop", || drop(buffer));
}
