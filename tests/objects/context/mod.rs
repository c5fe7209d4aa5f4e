//! Contexts, the stack of tokens, and forgotten tokens.

mod enter;
mod shared;

use cuprum::Buffer;
use cuprum::context::{Context, ContextFlags, ContextStack, ForeignContext, PrimaryContext, StackTaken};
use cuprum::sys::{CUcontext, CUresult, FnId, call};

use crate::common::{self, context, device, driver, raw_current};

#[test]
fn creating_leaves_nothing_current() {
    let context = context();
    assert!(!context.as_raw().is_null());
    assert_eq!(raw_current(), CUcontext::null());
    context.close().expect("an unused context closes");
}

#[test]
fn pushes_nest_and_pop_in_order() {
    let (first, second) = (context(), context());
    assert_ne!(first.as_raw(), second.as_raw());
    let mut stack = ContextStack::take().unwrap();
    let mut outer = stack.push(&first).unwrap();
    assert_eq!(raw_current(), first.as_raw());
    {
        let mut middle = outer.push(&second).unwrap();
        assert_eq!(raw_current(), second.as_raw());
        let inner = middle.push(&first).unwrap();
        assert_eq!(raw_current(), first.as_raw());
        inner.pop().unwrap();
        assert_eq!(raw_current(), second.as_raw());
        middle.synchronize().unwrap();
    }
    assert_eq!(raw_current(), first.as_raw());
    outer.pop().unwrap();
    assert_eq!(raw_current(), CUcontext::null());
}

#[test]
fn a_push_is_undone_while_unwinding() {
    let context = context();
    let panicked = std::panic::catch_unwind(|| {
        let mut stack = ContextStack::take().unwrap();
        let _cx = stack.push(&context).unwrap();
        std::panic::resume_unwind(Box::new("the body failed"));
    });
    assert!(panicked.is_err());
    assert_eq!(raw_current(), CUcontext::null());
    ContextStack::take().expect("the token went back");
}

#[test]
fn a_thread_has_one_stack() {
    let stack = ContextStack::take().unwrap();
    assert_eq!(ContextStack::take().unwrap_err(), StackTaken);
    std::thread::scope(|scope| {
        scope.spawn(|| drop(ContextStack::take().expect("another thread has its own")));
    });
    drop(stack);
    ContextStack::take().expect("it went back");
}

#[test]
fn a_forgotten_stack_stays_taken() {
    std::mem::forget(ContextStack::take().unwrap());
    assert_eq!(ContextStack::take().unwrap_err(), StackTaken);
}

#[test]
fn a_forgotten_inner_token_is_popped_before_the_outer_is_used() {
    let (first, second) = (context(), context());
    let mut stack = ContextStack::take().unwrap();
    let mut outer = stack.push(&first).unwrap();
    std::mem::forget(outer.push(&second).unwrap());
    assert_eq!(raw_current(), second.as_raw());

    // Without the check this would be allocated in `second`, and outlive it.
    let mut buffer = Buffer::<u32>::zeroed(&outer, 4).unwrap();
    assert_eq!(raw_current(), first.as_raw());
    drop(second);
    outer.copy(&mut buffer, &[1, 2, 3, 4]).unwrap();
    assert_eq!(buffer.to_vec(&outer).unwrap(), [1, 2, 3, 4]);
    drop(buffer);
    outer.pop().unwrap();
    assert_eq!(raw_current(), CUcontext::null());
}

#[test]
fn a_forgotten_token_of_a_destroyed_context_is_popped() {
    let (first, second) = (context(), context());
    let mut stack = ContextStack::take().unwrap();
    let mut outer = stack.push(&first).unwrap();
    std::mem::forget(outer.push(&second).unwrap());
    drop(second);
    outer.synchronize().unwrap();
    assert_eq!(raw_current(), first.as_raw());
    outer.pop().unwrap();
    assert_eq!(raw_current(), CUcontext::null());
}

#[test]
fn forgotten_tokens_whose_contexts_are_destroyed_do_not_hand_the_token_below_another_context() {
    let (bottom, ours, second, third) = (context(), context(), context(), context());
    let mut stack = ContextStack::take().unwrap();
    let mut outer = stack.push(&bottom).unwrap();
    let mut cx = outer.push(&ours).unwrap();
    {
        let mut inner = cx.push(&second).unwrap();
        std::mem::forget(inner.push(&third).unwrap());
        std::mem::forget(inner);
    }
    // The driver pops each, as each is on top when it is destroyed.
    drop(third);
    drop(second);
    let buffer = Buffer::from_slice(&cx, &[1u32, 2, 3]).unwrap();
    assert_eq!(raw_current(), ours.as_raw());
    cx.pop().unwrap();
    outer.pop().unwrap();
    drop(bottom);
    assert_eq!(buffer.to_vec(&stack.push(&ours).unwrap()).unwrap(), [1, 2, 3]);
}

#[test]
fn a_forgotten_bottom_token_is_popped_by_the_next_push() {
    let (first, second) = (context(), context());
    let mut stack = ContextStack::take().unwrap();
    std::mem::forget(stack.push(&first).unwrap());
    let cx = stack.push(&second).unwrap();
    assert_eq!(raw_current(), second.as_raw());
    cx.pop().unwrap();
    assert_eq!(raw_current(), CUcontext::null());
}

#[test]
fn whatever_is_forgotten_leaks_and_no_more() {
    let context = context();
    let mut stack = ContextStack::take().unwrap();
    {
        let cx = stack.push(&context).unwrap();
        let stream = cuprum::Stream::new(&cx).unwrap();
        let mut buffer = Buffer::<u32>::zeroed(&cx, 1 << 16).unwrap();
        let mut host = vec![1; 1 << 16];
        cx.scope(&stream, |scope| {
            let lent = scope.lend(buffer.as_mut_slice()).unwrap();
            scope.read(&mut host, &lent).unwrap();
            // Neither scope nor loan can be forgotten: the scope waits in the frame that made it.
            Ok(())
        })
        .unwrap();
        assert_eq!(host, vec![0; 1 << 16]);
        let event = cuprum::stream::Event::new(&cx, cuprum::stream::EventFlags::empty()).unwrap();
        event.record(&cx, &stream).unwrap();
        let module = common::kernels!(&cx, "saxpy");
        std::mem::forget((stream, buffer, event, module));
    }
    context.close().expect("the context goes, and all that was forgotten in it");
    std::mem::forget(common::context());
    std::mem::forget(PrimaryContext::retain(device()).unwrap());
    let another = common::context();
    let cx = stack.push(&another).unwrap();
    assert_eq!(Buffer::from_slice(&cx, &[1u8, 2]).unwrap().to_vec(&cx).unwrap(), [1, 2]);
}

#[test]
fn a_context_changed_by_foreign_code_is_noticed_when_popped() {
    let (ours, theirs) = (context(), context());
    let mut stack = ContextStack::take().unwrap();
    let cx = stack.push(&ours).unwrap();
    // SAFETY: a live context; another library might do this and should not.
    let (code, _) = unsafe { call!(driver().library().fns(), cuCtxPushCurrent_v2(theirs.as_raw())) };
    assert_eq!(code, CUresult::CUDA_SUCCESS);
    let error = cx.pop().unwrap_err();
    assert!(error.code() == cuprum::Error::OUT_OF_ORDER, "{error}");
    let mut popped = CUcontext::null();
    // SAFETY: the out-parameter outlives the call.
    let (code, _) = unsafe { call!(driver().library().fns(), cuCtxPopCurrent_v2(&raw mut popped)) };
    assert_eq!((code, popped), (CUresult::CUDA_SUCCESS, ours.as_raw()));
}

#[test]
fn threads_share_a_context() {
    let context = context();
    std::thread::scope(|scope| {
        for thread in 0..4u32 {
            let context = &context;
            scope.spawn(move || {
                let mut stack = ContextStack::take().unwrap();
                let cx = stack.push(context).unwrap();
                let host: Vec<u32> = (0..1000).map(|i| i * (thread + 1)).collect();
                let buffer = Buffer::from_slice(&cx, &host).unwrap();
                assert_eq!(buffer.to_vec(&cx).unwrap(), host);
            });
        }
    });
}

#[test]
fn objects_of_another_context_are_refused() {
    let (first, second) = (context(), context());
    let mut stack = ContextStack::take().unwrap();
    let mut outer = stack.push(&first).unwrap();
    let mut buffer = Buffer::<u8>::zeroed(&outer, 16).unwrap();
    let inner = outer.push(&second).unwrap();
    let cuprum::MemoryError::Driver(error) = inner.copy(&mut buffer, &[0; 16]).unwrap_err() else {
        panic!("another error")
    };
    assert!(error.code() == cuprum::Error::WRONG_CONTEXT);
    assert_eq!(error.call(), FnId::cuMemcpyHtoD_v2);
    let stream = cuprum::Stream::default_in(&inner);
    let event = cuprum::stream::Event::new(&inner, cuprum::stream::EventFlags::empty()).unwrap();
    drop((buffer, event));
    inner.pop().unwrap();
    assert!(stream.synchronize(&outer).unwrap_err().code() == cuprum::Error::WRONG_CONTEXT);
}

#[test]
fn the_primary_context_is_counted() {
    let device = device();
    let first = PrimaryContext::retain(device).unwrap();
    let second = PrimaryContext::retain(device).unwrap();
    assert_eq!(first.as_raw(), second.as_raw());
    assert_eq!(*first, *second);
    drop(first);
    assert!(device.primary_context_state().unwrap().1);
    let mut stack = ContextStack::take().unwrap();
    let cx = stack.push(&second).unwrap();
    assert!(cx.memory_info().unwrap().total > 0);
    cx.pop().unwrap();
    second.close().expect("the last retain is released");
}

#[test]
fn a_leaked_context_serves_statics() {
    let context: &'static cuprum::ContextRef = context().leak();
    let mut stack = ContextStack::take().unwrap();
    let buffer: Buffer<'static, u32> = Buffer::from_slice(&stack.push(context).unwrap(), &[7]).unwrap();
    std::thread::spawn(move || {
        let mut stack = ContextStack::take().unwrap();
        assert_eq!(buffer.to_vec(&stack.push(context).unwrap()).unwrap(), [7]);
    })
    .join()
    .unwrap();
}

#[test]
fn a_foreign_context_is_borrowed_and_not_destroyed() {
    let owner = context();
    // SAFETY: `owner` outlives the borrow.
    let foreign = unsafe { ForeignContext::from_raw(driver(), owner.as_raw()) }.unwrap();
    assert_eq!(foreign.device(), owner.device());
    let mut stack = ContextStack::take().unwrap();
    let cx = stack.push(&foreign).unwrap();
    // SAFETY: as above.
    let current = unsafe { ForeignContext::current(driver()) }.unwrap().expect("a context is current");
    assert_eq!(current.as_raw(), owner.as_raw());
    cx.pop().unwrap();
    let cx = stack.push(&owner).expect("the context is still alive");
    cx.synchronize().unwrap();
    drop(cx);
    // SAFETY: none is current, so nothing is borrowed.
    assert!(unsafe { ForeignContext::current(driver()) }.unwrap().is_none());
}

#[test]
fn flags_reach_the_driver() {
    let context = Context::create(device(), ContextFlags::BLOCKING_SYNC).unwrap();
    let mut stack = ContextStack::take().unwrap();
    let _cx = stack.push(&context).unwrap();
    let mut flags = 0;
    // SAFETY: the out-parameter outlives the call.
    let (code, _) = unsafe { call!(driver().library().fns(), cuCtxGetFlags(&raw mut flags)) };
    assert_eq!(code, CUresult::CUDA_SUCCESS);
    assert!(ContextFlags::from_bits_retain(flags).contains(ContextFlags::BLOCKING_SYNC));
}

#[test]
fn limits_can_be_set() {
    common::in_context(|cx| {
        let limit = cuprum::context::Limit::CU_LIMIT_STACK_SIZE;
        let before = cx.limit(limit).unwrap();
        cx.set_limit(limit, before + 4096).unwrap();
        assert!(cx.limit(limit).unwrap() >= before + 4096);
        let (least, greatest) = cx.stream_priorities().unwrap();
        assert!(greatest <= least);
    });
}
