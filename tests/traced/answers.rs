//! Results that break other layers, from a driver that returns them on demand.
//!
//! `tests/holes.md` says which layer each of them breaks.

use cuprum::context::{Context, ContextFlags, ContextStack};
use cuprum::memory::{ManagedBuffer, Peer};
use cuprum::sys::{CU_STREAM_LEGACY, CUcontext, CUresult, FnId, call};
use cuprum::{Buffer, Driver, MemoryError, Stream};

use crate::tracer::{Backing, Injection, Pick, Session, calls_of, failing};

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
    let error = failing(FnId::cuDeviceGetCount, TOMORROW, || driver().devices()).unwrap_err();
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
        let (calls, lent) =
            calls_of(|| failing(FnId::cuStreamSynchronize, TOMORROW, || scope.lend(&mut buffer).map(drop)));
        let MemoryError::Driver(error) = lent.unwrap_err() else { panic!("no driver error") };
        assert_eq!(error.code(), TOMORROW);
        assert_eq!(calls, [FnId::cuStreamSynchronize]);
        Ok(())
    })
    .unwrap();
}

/// The end of the copy cannot be observed, so neither side is freed, nor anything else of either
/// context.
#[test]
fn memory_of_a_copy_between_contexts_that_cannot_be_waited_for_is_kept() {
    let is_kept = |buffers: [Buffer<'_, u8>; 2]| {
        let (calls, closed) = calls_of(|| buffers.map(Buffer::close));
        calls.is_empty()
            && closed.iter().all(|closed| closed.is_err_and(|error| error.name() == Some("LOST")))
    };
    let fails = Injection {
        pick: Pick::Function(FnId::cuStreamSynchronize),
        code: CUresult::CUDA_ERROR_LAUNCH_FAILED,
        done: false,
        lasting: false,
    };
    for is_queued in [false, true] {
        let (here, there) = (create(driver()), create(driver()));
        let mut stack = ContextStack::take().unwrap();
        let mut cx = stack.push(&here).unwrap();
        let mut mine = Buffer::<u8>::alloc(&cx, 16).unwrap();
        let above = cx.push(&there).unwrap();
        let theirs = Buffer::<u8>::alloc(&above, 16).unwrap();
        let mut managed = ManagedBuffer::<u8>::alloc(&above, 16).unwrap();
        drop(above);
        let (stream, session) = (Stream::new(&cx).unwrap(), Session::default());
        let error = session.enter(|| {
            if !is_queued {
                session.inject(Some(fails));
                return cx.copy(&mut mine, &Peer(&theirs)).unwrap_err();
            }
            let ended = cx.scope_as::<MemoryError, _>(&stream, |scope| {
                let from = scope.lend(Peer(theirs.as_slice())).unwrap();
                scope.copy(&scope.lend(mine.as_mut_slice()).unwrap(), &from).unwrap();
                session.inject(Some(fails));
                Ok(())
            });
            ended.unwrap_err()
        });
        assert!(matches!(error, MemoryError::Driver(error) if error.is_sticky()), "{error}");
        assert!(is_kept([mine, theirs]));
        // The host does not get memory that the copy may be writing.
        let for_host = managed.on_host(&cx.push(&there).unwrap(), |_| ()).unwrap_err();
        assert!(
            matches!(for_host, MemoryError::Driver(error) if error.code() == cuprum::Error::LOST),
            "{for_host}"
        );
        drop((stream, managed, cx));
        assert!(
            there.close().unwrap_err().code() == cuprum::Error::LOST
                && here.close().unwrap_err().code() == cuprum::Error::LOST
        );
    }
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
