//! Errors that are swallowed do no harm. In a program of its own, since the counter and the hook are the process's.

#[path = "support/tracer/mod.rs"]
mod tracer;

use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::{Mutex, MutexGuard, PoisonError};

use cuprum::sys::{CUresult, FnId};
use cuprum::{Buffer, Context, ContextFlags, ContextStack, Stream};
use tracer::list::{enums, structs, table, types};
use tracer::{Backing, calls_of, failing};

/// Held by each test: the counter is the process's.
fn alone() -> MutexGuard<'static, ()> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn close_does_not_give_back_what_was_freed_before_the_pop_failed() {
    let _alone = alone();
    let context =
        Context::create(Backing::Nothing.driver().device(0).unwrap(), ContextFlags::empty()).unwrap();
    let mut stack = ContextStack::take().unwrap();
    let stream = Stream::new(&stack.push(&context).unwrap()).unwrap();
    let (calls, closed) = calls_of(|| {
        failing(FnId::cuCtxPopCurrent_v2, CUresult::CUDA_ERROR_INVALID_CONTEXT, || stream.close())
    });
    assert!(closed.is_ok(), "a stream that is gone would be destroyed again: {closed:?}");
    assert_eq!(calls, [FnId::cuCtxPushCurrent_v2, FnId::cuStreamDestroy_v2, FnId::cuCtxPopCurrent_v2]);
}

/// The context remembers the first fault, and what comes after it is an echo. A drop must not take its own first report
/// for one.
#[test]
fn a_fault_that_a_push_in_a_drop_reports_first_is_told() {
    let _alone = alone();
    let context =
        Context::create(Backing::Nothing.driver().device(0).unwrap(), ContextFlags::empty()).unwrap();
    let mut stack = ContextStack::take().unwrap();
    let buffer = Buffer::<u8>::alloc(&stack.push(&context).unwrap(), 16).unwrap();
    let before = cuprum::swallowed::count();
    failing(FnId::cuCtxPushCurrent_v2, CUresult::CUDA_ERROR_LAUNCH_FAILED, || drop(buffer));
    assert_eq!(cuprum::swallowed::count(), before + 1);
    let first = context.poisoned_by().unwrap();
    assert_eq!((first.call(), first.first_reported_by()), (FnId::cuCtxPushCurrent_v2, None));
}

/// Panics once more when it is dropped.
struct Payload;

impl Drop for Payload {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

#[test]
fn a_panic_in_the_hook_does_not_leave_a_drop() {
    let _alone = alone();
    cuprum::swallowed::set_hook(|error| {
        if error.call() == FnId::cuMemFree_v2 {
            panic_any(Payload);
        }
    })
    .expect("the first hook");
    let context =
        Context::create(Backing::Nothing.driver().device(0).unwrap(), ContextFlags::empty()).unwrap();
    let mut stack = ContextStack::take().unwrap();
    let cx = stack.push(&context).unwrap();
    let buffer = Buffer::<u8>::alloc(&cx, 16).unwrap();
    let dropped = catch_unwind(AssertUnwindSafe(|| {
        failing(FnId::cuMemFree_v2, CUresult::CUDA_ERROR_INVALID_VALUE, || drop(buffer));
    }));
    assert!(dropped.is_ok());
}
