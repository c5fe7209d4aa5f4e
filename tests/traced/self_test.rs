//! The tracer itself: that each function of the list is traced, that failures are injected as
//! asked, and that the watcher sees each kind of mistake.

use std::collections::BTreeSet;
use std::ffi::c_void;
use std::ptr;

use cuprum::Library;
use cuprum::sys::{CUcontext, CUdeviceptr, CUresult, CUstream, FnId, Fns};

use crate::tracer::{Backing, Build, Injection, Pick, Session, Trouble, calls_of};

const SUCCESS: CUresult = CUresult::CUDA_SUCCESS;
const CODE: CUresult = CUresult::CUDA_ERROR_UNKNOWN;

/// Calls a function of a table, and returns its result.
macro_rules! ask {
    ($fns:expr, $name:ident($($argument:expr),* $(,)?)) => {{
        let function = $fns.$name;
        // SAFETY: out-parameters and host memory outlive the call; the emulator refuses handles
        // that are none.
        unsafe { function($($argument),*) }
    }};
}

/// A call that succeeds.
macro_rules! ok {
    ($($call:tt)*) => { assert_eq!(ask!($($call)*), SUCCESS) };
}

/// A call that fails.
macro_rules! no {
    ($($call:tt)*) => { assert_ne!(ask!($($call)*), SUCCESS) };
}

fn library() -> Library {
    let library = Build::of(Backing::Emulator).library().unwrap();
    assert_eq!(library.init(), SUCCESS);
    library
}

fn create(fns: &Fns) -> CUcontext {
    let mut context = CUcontext::null();
    ok!(fns, cuCtxCreate_v2(&raw mut context, 0, 0));
    context
}

fn stream(fns: &Fns) -> CUstream {
    let mut stream = CUstream::null();
    ok!(fns, cuStreamCreate(&raw mut stream, 0));
    stream
}

fn memory(fns: &Fns, bytes: usize) -> CUdeviceptr {
    let mut address = 0;
    ok!(fns, cuMemAlloc_v2(&raw mut address, bytes));
    address
}

/// Complaints of the watcher about `body`, which is run in a fresh context.
fn found(body: impl FnOnce(&Fns, &Session)) -> Vec<(Trouble, FnId)> {
    let session = Session::watched();
    session.enter(|| {
        let fns = library().fns();
        let context = create(fns);
        body(fns, &session);
        ok!(fns, cuCtxDestroy_v2(context));
    });
    session.violations().iter().map(|violation| (violation.trouble, violation.function)).collect()
}

#[test]
fn every_function_of_the_list_is_traced() {
    let library = library();
    let addresses: BTreeSet<_> = FnId::ALL.iter().map(|&function| library.address(function)).collect();
    assert!(!addresses.contains(&ptr::null()));
    assert_eq!(addresses.len(), FnId::ALL.len());
    // The emulator answers a call that was passed on.
    let mut name = ptr::null();
    let (calls, answer) = calls_of(|| ask!(library.fns(), cuGetErrorName(CODE, &raw mut name)));
    assert_eq!((calls, answer), (vec![FnId::cuGetErrorName], SUCCESS));
    assert!(!name.is_null());
}

#[test]
fn calls_of_other_threads_are_not_heard() {
    let fns = library().fns();
    let count = || {
        let mut count = 0;
        ask!(fns, cuDeviceGetCount(&raw mut count))
    };
    let (calls, _) = calls_of(|| {
        let there = std::thread::scope(|scope| scope.spawn(count).join().unwrap());
        assert_eq!(there, SUCCESS);
        count()
    });
    assert_eq!(calls, [FnId::cuDeviceGetCount]);
}

#[test]
fn an_injected_failure_is_done_or_not_and_lasts_or_not() {
    for (done, lasting) in [(false, false), (false, true), (true, false), (true, true)] {
        let session = Session::default();
        session.enter(|| {
            let fns = library().fns();
            session.inject(Some(Injection { pick: Pick::Nth(1), code: CODE, done, lasting }));
            let answers = [(), (), ()].map(|()| {
                let mut count = 0;
                (ask!(fns, cuDeviceGetCount(&raw mut count)), count)
            });
            let failed = (CODE, if done { 2 } else { 0 });
            assert_eq!(answers, [(SUCCESS, 2), failed, if lasting { failed } else { (SUCCESS, 2) }]);
        });
        let injected: Vec<bool> = session.log().iter().map(|call| call.injected.is_some()).collect();
        assert_eq!(injected, [false, true, lasting]);
    }
}

#[test]
fn right_use_is_no_violation() {
    let nothing = found(|fns, session| {
        let (stream, address, host) = (stream(fns), memory(fns, 16), [0u8; 16]);
        // The end of an allocation belongs to it.
        ok!(fns, cuMemsetD8_v2(address + 15, 1, 1));
        ok!(fns, cuMemcpyHtoDAsync_v2(address, host.as_ptr().cast(), 16, stream));
        ok!(fns, cuStreamSynchronize(stream));
        session.scope_ended();
        ok!(fns, cuStreamDestroy_v2(stream));
        ok!(fns, cuMemFree_v2(address));
        assert_eq!(session.alive().len(), 1, "the context is left: {:?}", session.alive());
    });
    assert_eq!(nothing, []);
}

#[test]
fn freed_handles_are_seen() {
    let twice = found(|fns, _| {
        let stream = stream(fns);
        ok!(fns, cuStreamDestroy_v2(stream));
        no!(fns, cuStreamQuery(stream));
        no!(fns, cuStreamDestroy_v2(stream));
    });
    let expected =
        [(Trouble::UsedAfterFree, FnId::cuStreamQuery), (Trouble::FreedTwice, FnId::cuStreamDestroy_v2)];
    assert_eq!(twice, expected);
    let unknown = found(|fns, _| no!(fns, cuMemFree_v2(0x123)));
    assert_eq!(unknown, [(Trouble::Unknown, FnId::cuMemFree_v2)]);
}

#[test]
fn objects_that_ended_with_their_context_are_seen() {
    let session = Session::watched();
    session.enter(|| {
        let fns = library().fns();
        let context = create(fns);
        let address = memory(fns, 16);
        ok!(fns, cuCtxDestroy_v2(context));
        no!(fns, cuMemFree_v2(address));
    });
    let troubles: Vec<_> = session.violations().iter().map(|violation| violation.trouble).collect();
    assert_eq!(troubles, [Trouble::FreedTwice]);
}

#[test]
fn releases_are_counted() {
    let again = found(|fns, session| {
        let mut context = CUcontext::null();
        ok!(fns, cuDevicePrimaryCtxRetain(&raw mut context, 0));
        ok!(fns, cuDevicePrimaryCtxRelease_v2(0));
        no!(fns, cuDevicePrimaryCtxRelease_v2(0));
        ok!(fns, cuDevicePrimaryCtxRetain(&raw mut context, 0));
        assert_eq!(session.alive().len(), 2);
        session.inject(Some(Injection { pick: Pick::Nth(0), code: CODE, done: true, lasting: false }));
        no!(fns, cuDevicePrimaryCtxRelease_v2(0));
        no!(fns, cuDevicePrimaryCtxRelease_v2(0));
    });
    let release = FnId::cuDevicePrimaryCtxRelease_v2;
    assert_eq!(again, [(Trouble::FreedTwice, release), (Trouble::AfterFailedFree, release)]);
}

#[test]
fn a_free_that_failed_although_done_is_recognized() {
    let after = found(|fns, session| {
        let address = memory(fns, 16);
        session.inject(Some(Injection { pick: Pick::Nth(0), code: CODE, done: true, lasting: false }));
        no!(fns, cuMemFree_v2(address));
        no!(fns, cuMemFree_v2(address));
    });
    assert_eq!(after, [(Trouble::AfterFailedFree, FnId::cuMemFree_v2)]);
    let again = found(|fns, session| {
        let address = memory(fns, 16);
        session.inject(Some(Injection { pick: Pick::Nth(0), code: CODE, done: false, lasting: false }));
        no!(fns, cuMemFree_v2(address));
        ok!(fns, cuMemFree_v2(address));
    });
    assert_eq!(again, [], "the first call freed nothing");
}

#[test]
fn another_context_is_seen() {
    let elsewhere = found(|fns, session| {
        let mut home = CUcontext::null();
        ok!(fns, cuCtxGetCurrent(&raw mut home));
        let address = memory(fns, 16);
        session.expect(Some(home));
        let other = create(fns);
        // By the home of the memory and by the program's expectation; an allocation has only the
        // latter.
        ok!(fns, cuMemsetD8_v2(address, 1, 1));
        memory(fns, 16);
        session.expect(None);
        ok!(fns, cuCtxDestroy_v2(other));
    });
    let other = |function| (Trouble::OtherContext, function);
    let (fill, make) = (other(FnId::cuMemsetD8_v2), other(FnId::cuMemAlloc_v2));
    assert_eq!(elsewhere, [fill, fill, make]);
}

#[test]
fn host_memory_in_flight_is_seen() {
    let mut host = [0u8; 16];
    let to = host.as_mut_ptr().cast::<c_void>();
    let left = found(|fns, session| {
        let (one, other, address) = (stream(fns), stream(fns), memory(fns, 16));
        ok!(fns, cuMemcpyDtoHAsync_v2(to, address, 16, one));
        ok!(fns, cuStreamSynchronize(other));
        session.scope_ended();
        ok!(fns, cuMemcpyDtoHAsync_v2(to, address, 16, one));
        ok!(fns, cuCtxSynchronize());
        session.scope_ended();
        ok!(fns, cuMemcpyDtoHAsync_v2(to, address, 16, one));
        session.inject(Some(Injection { pick: Pick::Nth(0), code: CODE, done: false, lasting: false }));
        no!(fns, cuStreamSynchronize(one));
        session.inject(None);
        session.scope_ended();
    });
    assert_eq!(left, [(Trouble::HostInFlight, FnId::cuStreamSynchronize); 2]);
}

#[test]
fn a_function_that_makes_unwatched_objects_is_seen() {
    let unwatched = found(|fns, _| {
        let mut context = CUcontext::null();
        ok!(fns, cuStreamGetCtx(CUstream::null(), &raw mut context));
    });
    assert_eq!(unwatched, [(Trouble::Unwatched, FnId::cuStreamGetCtx)]);
}
