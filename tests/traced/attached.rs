//! Threads that are attached to a context: their driver calls, the view of other tokens, the state
//! after failures.

use std::cell::RefCell;

use cuprum::context::{Attached, ContextStack, StackTaken};
use cuprum::sys::{CUcontext, CUresult, FnId};
use cuprum::{AnyError, Buffer, ContextRef, Current, Error, Shared};

use crate::tokens::{context_of, expect, failing_although_done, watched};
use crate::tracer::{Backing, calls_of, failing};

fn context() -> Shared<ContextRef> {
    context_of(Backing::Emulator).share()
}

fn nothing(_: &mut Current<'_, 'static>) -> Result<(), AnyError> {
    Ok(())
}

#[test]
fn no_call_is_made_for_its_context() {
    watched(|session| {
        let (context, other) = (context(), context());
        let (calls, attached) = calls_of(|| context.attach().unwrap());
        assert_eq!(calls, [FnId::cuCtxPushCurrent_v2]);
        expect(session, &attached);
        let (calls, buffer) = calls_of(|| Buffer::from_slice(&attached, &[1u8]).unwrap());
        assert_eq!(calls, [FnId::cuMemAlloc_v2, FnId::cuMemcpyHtoD_v2]);
        let entered = || {
            context.enter(nothing).unwrap();
            buffer.enter(|cx| context.enter(nothing).map(|()| expect(session, cx))).unwrap();
        };
        assert_eq!(calls_of(entered).0, []);
        // Another context is pushed. Inside its closure, the thread knows it without a call.
        let elsewhere = || other.enter(|_| other.enter(nothing)).unwrap();
        assert_eq!(calls_of(elsewhere).0, [FnId::cuCtxPushCurrent_v2, FnId::cuCtxPopCurrent_v2]);
        assert_eq!(calls_of(|| drop(attached)).0, [FnId::cuCtxPopCurrent_v2]);
        // Detached, the driver is asked.
        let asked = [FnId::cuCtxGetCurrent, FnId::cuCtxPushCurrent_v2, FnId::cuCtxPopCurrent_v2];
        assert_eq!(calls_of(|| context.enter(nothing).unwrap()).0, asked);
    });
}

#[test]
fn it_is_the_stack_of_its_thread() {
    watched(|_| {
        let context = context();
        let is_taken = || matches!(context.attach(), Err(AnyError::StackTaken(StackTaken)));
        let attached = context.attach().unwrap();
        assert!(is_taken() && ContextStack::take().is_err());
        context
            .enter(|_| {
                assert!(is_taken());
                // Another context was entered above it, so it is not on top.
                assert!(
                    attached
                        .synchronize()
                        .is_err_and(|error: Error| error.code() == cuprum::Error::OUT_OF_ORDER)
                );
                Ok(())
            })
            .unwrap();
        attached.synchronize().unwrap();
        drop(attached);
        assert!(context.enter(|_| Ok(is_taken())).unwrap());
        drop(context.attach().unwrap());
        let stack = ContextStack::take().unwrap();
        assert!(is_taken());
        drop(stack);
    });
}

/// The thread's end detaches it, and may drop the last share.
#[test]
fn a_thread_keeps_it_until_it_ends() {
    thread_local! {
        static ATTACHED: RefCell<Option<Attached>> = const { RefCell::new(None) };
    }
    watched(|session| {
        let context = context();
        let address = context.as_raw().0.addr();
        std::thread::scope(|threads| {
            let body = move || {
                ATTACHED.set(Some(context.attach().unwrap()));
                drop(context);
                ATTACHED
                    .with_borrow(|cx| Buffer::from_slice(cx.as_ref().unwrap(), &[1u8]).map(drop))
                    .unwrap();
            };
            threads.spawn(|| session.enter(body)).join().unwrap();
        });
        // It was ended, so that the driver refuses its handle.
        let raw = CUcontext(std::ptr::without_provenance_mut(address));
        // SAFETY: the driver of these tests knows which handles are live.
        let (answer, _) = unsafe {
            cuprum::sys::call!(Backing::Emulator.driver().library().fns(), cuCtxPushCurrent_v2(raw))
        };
        assert_ne!(answer, CUresult::CUDA_SUCCESS);
    });
}

#[test]
fn forgotten_it_stays_with_its_context() {
    watched(|session| {
        let (context, other) = (context(), context());
        std::mem::forget(context.attach().unwrap());
        let made = context.enter(|cx| {
            expect(session, cx);
            Ok(Buffer::from_slice(cx, &[1u8])?)
        });
        session.expect(None);
        let elsewhere = other.enter(|cx| {
            expect(session, cx);
            Ok(Buffer::from_slice(cx, &[1u8])?)
        });
        session.expect(None);
        drop(elsewhere.unwrap());
        assert!(ContextStack::take().is_err());
        let ended = calls_of(|| drop((made, context))).0;
        assert!(!ended.contains(&FnId::cuCtxDestroy_v2), "the thread keeps it: {ended:?}");
    });
}

/// After a push or a pop that failed the record is not believed, attached or not.
#[test]
fn failures_are_noticed() {
    watched(|session| {
        let (context, other) = (context(), context());
        failing(FnId::cuCtxPushCurrent_v2, CUresult::CUDA_ERROR_UNKNOWN, || {
            assert!(matches!(context.attach(), Err(AnyError::Driver(_))))
        });
        drop(ContextStack::take().expect("a failure takes nothing"));

        let attached = context.attach().unwrap();
        failing_although_done(session, FnId::cuCtxPushCurrent_v2, || {
            assert!(other.enter(nothing).is_err(), "the push failed");
        });
        // The other context is current now, as the driver reports.
        let (calls, made) = calls_of(|| {
            context.enter(|cx| {
                expect(session, cx);
                Ok(Buffer::<u8>::alloc(cx, 16)?)
            })
        });
        session.expect(None);
        assert!(calls.contains(&FnId::cuCtxGetCurrent), "{calls:?}");
        drop(made);
        expect(session, &attached);
        attached.synchronize().unwrap();
        session.expect(None);
    });
}
