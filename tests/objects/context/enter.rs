//! Contexts entered by code that knows nothing of its caller's tokens.

use cuprum::context::ContextStack;
use cuprum::{Buffer, ContextRef};

use crate::common::{self, context, raw_current};

/// Another author's library: it takes a context and slices, and asks for nothing else.
fn doubled(context: &ContextRef, host: &[u32]) -> Vec<u32> {
    let read = |host: &[u32]| {
        context.enter_as(|cx| Buffer::from_slice(cx, host).and_then(|buffer| buffer.to_vec(cx))).unwrap()
    };
    read(host).iter().zip(read(host)).map(|(a, b)| a + b).collect()
}

#[test]
fn nothing_else_is_needed() {
    let context = context();
    assert_eq!(doubled(&context, &[1, 2]), [2, 4]);
    assert!(raw_current().is_null());
}

#[test]
fn the_application_may_hold_the_stack_and_any_token() {
    let (ours, theirs) = (context(), context());
    let mut stack = ContextStack::take().unwrap();
    assert_eq!(doubled(&ours, &[1]), [2]);
    let mut outer = stack.push(&ours).unwrap();
    assert_eq!(doubled(&ours, &[2]), [4]);
    assert_eq!(doubled(&theirs, &[3]), [6]);
    let inner = outer.push(&theirs).unwrap();
    assert_eq!(doubled(&ours, &[4]), [8]);
    assert_eq!(raw_current(), theirs.as_raw());
    inner.pop().unwrap();
    assert_eq!(raw_current(), ours.as_raw());
}

#[test]
fn entering_nests() {
    let (first, second) = (context(), context());
    let made = first.enter(|outer| {
        let buffer = second.enter(|cx| Ok(Buffer::from_slice(cx, &[5u32]).unwrap())).unwrap();
        assert_eq!(raw_current(), first.as_raw());
        // A token given can be pushed from, like any.
        let inner = outer.push(&second).unwrap();
        assert_eq!(buffer.to_vec(&inner).unwrap(), [5]);
        Ok(buffer)
    });
    let made = made.unwrap();
    assert_eq!(second.enter_as(|cx| made.to_vec(cx)).unwrap(), [5]);
    assert!(raw_current().is_null());
}

/// A token of the code outside is of no use inside, and does no harm there.
#[test]
fn tokens_of_the_code_outside_answer_out_of_order() {
    let (ours, theirs) = (context(), context());
    let mut stack = ContextStack::take().unwrap();
    let outer = stack.push(&ours).unwrap();
    theirs
        .enter(|cx| {
            assert!(outer.memory_info().unwrap_err().code() == cuprum::Error::OUT_OF_ORDER);
            let upper = cx.push(&ours).unwrap();
            assert!(outer.memory_info().unwrap_err().code() == cuprum::Error::OUT_OF_ORDER);
            assert_eq!(Buffer::from_slice(&upper, &[1u8]).unwrap().to_vec(&upper).unwrap(), [1]);
            upper.pop().unwrap();
            assert_eq!(raw_current(), theirs.as_raw());
            cx.memory_info().unwrap();
            Ok(())
        })
        .unwrap();
    outer.memory_info().expect("outside it is as good as before");
    assert_eq!(raw_current(), ours.as_raw());
}

#[test]
fn the_stack_cannot_be_taken_inside() {
    let context = context();
    context
        .enter(|_| {
            assert!(ContextStack::take().is_err());
            Ok(())
        })
        .unwrap();
    let mut stack = ContextStack::take().expect("it is free outside");
    context
        .enter(|_| {
            let pushed = stack.push(&context);
            assert!(pushed.unwrap_err().code() == cuprum::Error::OUT_OF_ORDER);
            Ok(())
        })
        .unwrap();
    stack.push(&context).unwrap().pop().unwrap();
}

#[test]
fn a_panic_leaves_what_was_current() {
    let (ours, theirs) = (context(), context());
    let mut stack = ContextStack::take().unwrap();
    let outer = stack.push(&ours).unwrap();
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        theirs.enter::<()>(|cx| {
            let _upper = cx.push(&theirs).unwrap();
            std::panic::resume_unwind(Box::new("the body failed"))
        })
    }));
    assert!(panicked.is_err());
    assert_eq!(raw_current(), ours.as_raw());
    outer.synchronize().unwrap();
}

#[test]
fn what_is_forgotten_inside_is_popped_at_the_end() {
    let (ours, theirs) = (context(), context());
    let mut stack = ContextStack::take().unwrap();
    let outer = stack.push(&ours).unwrap();
    theirs
        .enter(|cx| {
            std::mem::forget(cx.push(&theirs).unwrap());
            Ok(())
        })
        .unwrap();
    assert_eq!(raw_current(), ours.as_raw());
    outer.synchronize().unwrap();
}

/// Threads that never took anything, at the same time, through a context that was made once.
#[test]
fn a_lazily_made_context_serves_every_thread() {
    static CONTEXT: std::sync::OnceLock<cuprum::Shared<ContextRef>> = std::sync::OnceLock::new();
    std::thread::scope(|scope| {
        for thread in 0..8u32 {
            scope.spawn(move || {
                let _mine = (thread % 2 == 0).then(|| ContextStack::take().unwrap());
                let context = CONTEXT.get_or_init(|| common::context().share());
                assert_eq!(doubled(context, &[thread]), [2 * thread]);
            });
        }
    });
}
