//! A scope that has queued nothing has nothing to wait for: whatever the driver answers, it
//! returns.
//!
//! Each test is a process of its own, because a scope that cannot wait for its queued work aborts.

use cuprum::context::{Context, ContextFlags, ContextStack};
use cuprum::sys::{CUresult, FnId};
use cuprum::{Driver, Stream};

use crate::child::in_child;
use crate::tracer::{Backing, Build, Injection, Pick, Session};

/// Opens a scope on each kind of stream, which queues nothing, with every call failing from the
/// first on.
fn with_a_lasting(code: u32) {
    let session = Session::watched();
    session.enter(|| {
        let driver = Backing::Emulator.driver();
        let context = Context::create(driver.device(0).unwrap(), ContextFlags::empty()).unwrap();
        let mut stack = ContextStack::take().unwrap();
        let cx = stack.push(&context).unwrap();
        for stream in [Stream::default_in(&cx), Stream::new(&cx).unwrap(), Stream::non_blocking(&cx).unwrap()]
        {
            let code = CUresult(code);
            session.inject(Some(Injection { pick: Pick::Nth(0), code, done: false, lasting: true }));
            // It may or may not report a failed wait; it returns.
            if let Err(error) = cx.scope_as::<cuprum::Error, _>(&stream, |_| Ok(())) {
                assert_eq!(error.code(), code);
            }
            session.inject(None);
            session.scope_ended();
        }
    });
    assert!(session.violations().is_empty(), "{:?}", session.violations());
}

/// Opens a scope on a driver that lacks functions.
fn without(lacking: &[FnId]) {
    let driver: Driver = Build { lacking, ..Build::of(Backing::Emulator) }.driver();
    let context = Context::create(driver.device(0).unwrap(), ContextFlags::empty()).unwrap();
    let mut stack = ContextStack::take().unwrap();
    let cx = stack.push(&context).unwrap();
    let stream = Stream::new(&cx).unwrap();
    if let Err(error) = cx.scope_as::<cuprum::Error, _>(&stream, |_| Ok(())) {
        assert!(error.code() == cuprum::Error::UNRESOLVED && lacking.contains(&error.call()), "{error}");
    }
}

macro_rules! lasting {
    ($($name:ident $code:literal)*) => { $(
        #[test]
                fn $name() {
            in_child(concat!(module_path!(), "::", stringify!($name)), || with_a_lasting($code));
        }
    )* };
}

lasting! {
    returns_after_a_lasting_launch_out_of_resources 701
    returns_after_a_lasting_context_is_destroyed 709
    returns_after_a_lasting_mps_connection_failed 805
    returns_after_a_lasting_mps_client_terminated 810
    returns_after_a_lasting_capture_error 911
    returns_after_a_lasting_nvlink_uncorrectable 220
    returns_after_a_lasting_unknown_error 999
    returns_after_a_lasting_code_that_nobody_knows 12345
}

#[test]
fn returns_after_a_lasting_fault() {
    in_child(concat!(module_path!(), "::returns_after_a_lasting_fault"), || with_a_lasting(719));
}

#[test]
fn returns_without_functions_that_wait() {
    in_child(concat!(module_path!(), "::returns_without_functions_that_wait"), || {
        without(&[FnId::cuStreamSynchronize, FnId::cuCtxSynchronize, FnId::cuCtxSynchronize_v2]);
    });
}

#[test]
fn returns_without_the_function_that_waits_for_a_stream() {
    in_child(concat!(module_path!(), "::returns_without_the_function_that_waits_for_a_stream"), || {
        without(&[FnId::cuStreamSynchronize])
    });
}
