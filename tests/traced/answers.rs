//! Answers that break other layers, from a driver that gives them on demand.
//!
//! `tests/holes.md` says which layer each of them breaks.

use cuprum::sys::{CU_STREAM_LEGACY, CUcontext, CUresult, FnId, call};
use cuprum::{Buffer, Context, ContextFlags, ContextStack, Driver, Stream};

use crate::tracer::{Backing, calls_of, failing};

/// A code that no header has.
const TOMORROW: CUresult = CUresult(954);

fn driver() -> Driver {
    Backing::Nothing.driver()
}

fn create(driver: Driver) -> Context {
    Context::create(driver.device(0).unwrap(), ContextFlags::empty()).unwrap()
}

fn raw_current() -> CUcontext {
    let mut raw = CUcontext::null();
    // SAFETY: the out-parameter outlives the call.
    let (code, _) = unsafe { call!(driver().library().fns(), cuCtxGetCurrent(&raw mut raw)) };
    assert_eq!(code, CUresult::CUDA_SUCCESS);
    raw
}

#[test]
fn a_code_of_tomorrow_is_an_error_like_any_other() {
    let error = failing(FnId::cuDeviceGetCount, TOMORROW, || driver().device_count()).unwrap_err();
    assert_eq!((error.code(), error.call(), error.name()), (TOMORROW, FnId::cuDeviceGetCount, None));
    assert!(error.to_string().contains("954"), "{error}");
    assert!(!error.is_sticky());
    let context = create(driver());
    let mut stack = ContextStack::take().unwrap();
    let cx = stack.push(&context).unwrap();
    let error = failing(FnId::cuCtxSynchronize, TOMORROW, || cx.synchronize()).unwrap_err();
    assert_eq!((error.code(), context.poisoned_by()), (TOMORROW, None));
}

#[test]
fn a_loan_whose_wait_fails_is_none() {
    let context = create(driver());
    let mut stack = ContextStack::take().unwrap();
    let cx = stack.push(&context).unwrap();
    let stream = Stream::non_blocking(&cx).unwrap();
    let mut buffer = Buffer::<u8>::alloc(&cx, 16).unwrap();
    cx.scope(&stream, |scope| {
        let (calls, lent) = calls_of(|| {
            failing(FnId::cuStreamSynchronize, TOMORROW, || scope.lend(buffer.as_mut_slice()).map(drop))
        });
        assert_eq!(lent.unwrap_err().code(), TOMORROW);
        assert_eq!(calls, [FnId::cuStreamSynchronize]);
    })
    .unwrap();
}

#[test]
fn a_failed_push_leaves_the_stack_as_it_was() {
    let driver = driver();
    let (first, second) = (create(driver), create(driver));
    let mut stack = ContextStack::take().unwrap();
    let mut cx = stack.push(&first).unwrap();
    let error = failing(FnId::cuCtxPushCurrent_v2, TOMORROW, || cx.push(&second).map(drop)).unwrap_err();
    assert_eq!(error.code(), TOMORROW);
    assert_eq!(raw_current(), first.as_raw());
    // Whether it was pushed all the same is asked once; then the token below is as good as before.
    drop(Buffer::<u8>::alloc(&cx, 16).unwrap());
    let (calls, buffer) = calls_of(|| Buffer::<u8>::alloc(&cx, 16).unwrap());
    assert_eq!(calls, [FnId::cuMemAlloc_v2]);
    drop(buffer);
    cx.pop().unwrap();
    assert!(raw_current().is_null());
}

#[test]
fn a_failed_create_leaves_the_stack_as_it_was() {
    let context = create(driver());
    let mut stack = ContextStack::take().unwrap();
    let cx = stack.push(&context).unwrap();
    let device = driver().device(0).unwrap();
    let (calls, failed) = calls_of(|| {
        failing(FnId::cuCtxCreate_v2, TOMORROW, || Context::create(device, ContextFlags::empty()))
    });
    assert_eq!(failed.unwrap_err().code(), TOMORROW);
    assert_eq!(calls, [FnId::cuCtxCreate_v2]);
    assert_eq!(raw_current(), context.as_raw());
    cx.pop().unwrap();
    assert!(raw_current().is_null());
}

#[test]
fn the_default_stream_is_the_same_queue_on_every_thread() {
    let context = create(Backing::NothingPerThread.driver());
    let of_a_thread = || {
        let mut stack = ContextStack::take().unwrap();
        Stream::default_in(&stack.push(&context).unwrap()).as_raw() == CU_STREAM_LEGACY
    };
    assert!(of_a_thread());
    assert!(std::thread::scope(|threads| threads.spawn(of_a_thread).join().unwrap()));
}
