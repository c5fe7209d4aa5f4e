//! Swallowed errors are counted and reported, and do no harm.
//!
//! A program of its own: the counter and the hook are the process's, and the hook panics.

use cuprum_testing::tracer;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};

use cuprum::context::{Context, ContextFlags, ContextStack};
use cuprum::memory::ForeignBuffer;
use cuprum::sys::{CUresult, FnId};
use cuprum::{Buffer, ContextRef, Current, Error, Stream};
use tracer::{Backing, calls_of, failing};

/// Held by each test: the counter is the process's.
fn alone() -> MutexGuard<'static, ()> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The code last passed to the hook.
static TOLD: AtomicU32 = AtomicU32::new(0);
/// True if the hook panics.
static PANICS: AtomicBool = AtomicBool::new(false);

/// Sets the hook of the process.
fn hooked() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        cuprum::swallowed::set_hook(|error| {
            TOLD.store(error.code().0, Ordering::Relaxed);
            if PANICS.load(Ordering::Relaxed) {
                panic_any(Payload);
            }
        })
        .expect("the first hook");
    });
}

/// A code that no header has.
const TOMORROW: CUresult = CUresult(954);

fn context() -> Context {
    Context::create(Backing::Nothing.driver().device(0).unwrap(), ContextFlags::empty()).unwrap()
}

#[test]
fn close_does_not_return_memory_freed_before_the_pop_failed() {
    let _alone = alone();
    let context = context();
    let mut stack = ContextStack::take().unwrap();
    let stream = Stream::new(&stack.push(&context).unwrap()).unwrap();
    let (calls, closed) = calls_of(|| {
        failing(FnId::cuCtxPopCurrent_v2, CUresult::CUDA_ERROR_INVALID_CONTEXT, || stream.close())
    });
    assert!(closed.is_ok(), "a stream that is gone would be destroyed again: {closed:?}");
    assert_eq!(calls, [FnId::cuCtxPushCurrent_v2, FnId::cuStreamDestroy_v2, FnId::cuCtxPopCurrent_v2]);
}

/// The context remembers the first fault, and any later one is an echo. A drop must not mistake its
/// own first report for one.
#[test]
fn a_fault_that_a_push_in_a_drop_reports_first_is_passed_to_the_hook() {
    let _alone = alone();
    let context = context();
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
    hooked();
    let context = context();
    let mut stack = ContextStack::take().unwrap();
    let cx = stack.push(&context).unwrap();
    let buffer = Buffer::<u8>::alloc(&cx, 16).unwrap();
    PANICS.store(true, Ordering::Relaxed);
    let dropped = catch_unwind(AssertUnwindSafe(|| {
        failing(FnId::cuMemFree_v2, CUresult::CUDA_ERROR_INVALID_VALUE, || drop(buffer));
    }));
    PANICS.store(false, Ordering::Relaxed);
    assert!(dropped.is_ok());
}

#[test]
fn a_failed_drop_is_no_error_of_the_next_call() {
    let _alone = alone();
    let context = context();
    let mut stack = ContextStack::take().unwrap();
    let cx = stack.push(&context).unwrap();
    let (one, stream) = (Buffer::<u8>::alloc(&cx, 16).unwrap(), Stream::new(&cx).unwrap());
    let before = cuprum::swallowed::count();
    failing(FnId::cuMemFree_v2, TOMORROW, || drop(one));
    assert_eq!(cuprum::swallowed::count(), before + 1);
    let (calls, ()) = calls_of(|| {
        stream.synchronize(&cx).unwrap();
        cx.scope(&stream, |_| Ok(())).unwrap();
        drop(Buffer::<u8>::alloc(&cx, 16).unwrap());
    });
    let waits = [FnId::cuStreamSynchronize; 2];
    assert_eq!(calls, [&waits[..], &[FnId::cuMemAlloc_v2, FnId::cuMemFree_v2]].concat());
}

#[test]
fn a_drop_that_cannot_activate_its_context_is_counted() {
    let _alone = alone();
    let context = context();
    let mut stack = ContextStack::take().unwrap();
    let buffer = Buffer::<u8>::alloc(&stack.push(&context).unwrap(), 16).unwrap();
    let before = cuprum::swallowed::count();
    let (calls, ()) = calls_of(|| failing(FnId::cuCtxPushCurrent_v2, TOMORROW, || drop(buffer)));
    assert_eq!(calls, [FnId::cuCtxPushCurrent_v2], "nothing is freed in whatever is current");
    assert_eq!(cuprum::swallowed::count(), before + 1);
}

#[test]
fn what_drop_swallows_is_counted_and_told() {
    let _alone = alone();
    hooked();
    assert!(cuprum::swallowed::set_hook(|_| ()).is_err());
    let context = context();
    let mut stack = ContextStack::take().unwrap();
    let cx = &stack.push(&context).unwrap();
    let dropped_with = |code| {
        let before = cuprum::swallowed::count();
        let buffer = Buffer::<u8>::alloc(cx, 16).unwrap();
        failing(FnId::cuMemFree_v2, code, || drop(buffer));
        cuprum::swallowed::count() - before
    };
    assert_eq!(dropped_with(CUresult::CUDA_ERROR_INVALID_VALUE), 1);
    assert_eq!(TOLD.load(Ordering::Relaxed), CUresult::CUDA_ERROR_INVALID_VALUE.0);
    assert_eq!(
        dropped_with(CUresult::CUDA_ERROR_DEINITIALIZED),
        0,
        "a driver that shuts down has freed everything"
    );

    let lost = |code| failing(FnId::cuCtxSynchronize, code, || cx.synchronize().unwrap_err());
    let first: Error = lost(CUresult::CUDA_ERROR_LAUNCH_FAILED);
    assert_eq!(cx.context().poisoned_by(), Some(first));
    assert_eq!(dropped_with(CUresult::CUDA_ERROR_LAUNCH_FAILED), 0, "the echo of a fault that was reported");
    assert_eq!(lost(CUresult::CUDA_ERROR_LAUNCH_FAILED).first_reported_by(), Some(FnId::cuCtxSynchronize));
}

#[test]
fn what_a_release_does_wrong_is_swallowed_or_reported() {
    let _alone = alone();
    let context = context();
    let mut stack = ContextStack::take().unwrap();
    let cx = &stack.push(&context).unwrap();
    {
        let failing_release = |cx: &Current<'_, '_>, end: fn(ForeignBuffer<'_, u8>)| {
            let fails = |context: &ContextRef, _| {
                context.check((CUresult::CUDA_ERROR_INVALID_VALUE, FnId::cuMemFree_v2))
            };
            // SAFETY: no elements.
            end(unsafe { ForeignBuffer::with_release(cx, 0, 0, fails) }.unwrap());
        };
        let swallowed = cuprum::swallowed::count();
        failing_release(cx, |buffer| drop(buffer));
        assert_eq!(cuprum::swallowed::count(), swallowed + 1);
        failing_release(cx, |buffer| {
            assert_eq!(buffer.close().unwrap_err().code(), CUresult::CUDA_ERROR_INVALID_VALUE);
        });
        assert_eq!(cuprum::swallowed::count(), swallowed + 1, "what is reported is not swallowed");
        let panics = |_: &ContextRef, _| std::panic::resume_unwind(Box::new("on release"));
        // SAFETY: no elements.
        drop(unsafe { ForeignBuffer::<u8>::with_release(cx, 0, 0, panics) }.unwrap());
        cx.memory_info().expect("the panic has left the stack as it was");
    }
}

/// If its context cannot be pushed, the function is neither called nor dropped.
#[test]
fn without_its_context_nothing_is_given_back() {
    let _alone = alone();
    let (context, released) = (context(), Arc::new(AtomicU32::new(0)));
    let counts = Arc::clone(&released);
    let release = move |_: &ContextRef, _| {
        counts.fetch_add(1, Ordering::SeqCst);
        Ok(())
    };
    // SAFETY: no elements.
    let buffer = context.enter_as(|cx| unsafe { ForeignBuffer::<u8>::with_release(cx, 0, 0, release) });
    let buffer = buffer.unwrap();
    let swallowed = cuprum::swallowed::count();
    failing(FnId::cuCtxPushCurrent_v2, CUresult::CUDA_ERROR_INVALID_CONTEXT, || drop(buffer));
    assert_eq!((released.load(Ordering::SeqCst), Arc::strong_count(&released)), (0, 2));
    assert_eq!(cuprum::swallowed::count(), swallowed + 1);
}
