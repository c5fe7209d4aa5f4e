//! Tokens, scopes and drops after a call on the thread's stack of contexts has failed, or has
//! reported failure although it was done; and two drivers on one thread.

use cuprum::context::{Context, ContextFlags, ContextStack, ForeignContext};
use cuprum::launch::{Mismatch, Parameter};
use cuprum::sys::{CUresult, FnId};
use cuprum::{Buffer, Current, Module, Stream};

use crate::tracer::{Backing, Injection, Pick, Session, calls_of, failing};

const CODE: CUresult = CUresult::CUDA_ERROR_UNKNOWN;

pub(crate) fn context_of(backing: Backing) -> Context {
    Context::create(backing.driver().device(0).unwrap(), ContextFlags::empty()).unwrap()
}

fn context() -> Context {
    context_of(Backing::Emulator)
}

/// Runs `test` on a thread of its own, over the emulator and with a watcher, which may find
/// nothing.
pub(crate) fn watched(test: impl FnOnce(&Session) + Send) {
    let session = Session::watched();
    std::thread::scope(|scope| {
        let body = || session.enter(|| test(&session));
        if let Err(payload) = scope.spawn(body).join() {
            std::panic::resume_unwind(payload);
        }
    });
    let violations = session.violations();
    assert!(violations.is_empty(), "{violations:#?}");
}

/// Runs `body` with each call of a function failing although it is done.
pub(crate) fn failing_although_done<R>(session: &Session, function: FnId, body: impl FnOnce() -> R) -> R {
    let injection = Injection { pick: Pick::Function(function), code: CODE, done: true, lasting: false };
    session.inject(Some(injection));
    let result = body();
    session.inject(None);
    result
}

/// Calls of `cx` from now on are meant for its context.
pub(crate) fn expect(session: &Session, cx: &Current<'_, '_>) {
    session.expect(Some(cx.context().as_raw()));
}

/// A drop in a scope whose pop fails leaves another context current: copies and the wait would go
/// there.
#[test]
fn copies_in_a_scope_check_the_current_context() {
    watched(|session| {
        let (ours, theirs) = (context(), context());
        let mut stack = ContextStack::take().unwrap();
        let inside = Buffer::<u8>::alloc(&stack.push(&theirs).unwrap(), 16).unwrap();
        let cx = stack.push(&ours).unwrap();
        let mut buffer = Buffer::<u32>::zeroed(&cx, 4).unwrap();
        let (input, stream) = ([1; 4], Stream::default_in(&cx));
        expect(session, &cx);
        // An error is as good as a copy in the right context: the watcher reports anything else.
        let _ = cx.scope_as::<cuprum::MemoryError, _>(&stream, |scope| {
            failing(FnId::cuCtxPopCurrent_v2, CODE, || drop(inside));
            scope.copy(&scope.lend(buffer.as_mut_slice())?, &input)
        });
        session.scope_ended();
        session.expect(None);
    });
}

/// A forgotten token is popped by the next use of one below it. If that pop fails, the current
/// context may have the same handle and another height.
#[test]
fn a_pop_that_fails_in_a_repair_is_not_taken_for_done() {
    watched(|session| {
        let (below, twice) = (context(), context());
        let mut stack = ContextStack::take().unwrap();
        let mut lowest = stack.push(&below).unwrap();
        {
            let mut middle = lowest.push(&twice).unwrap();
            std::mem::forget(middle.push(&twice).unwrap());
            let _ = failing(FnId::cuCtxPopCurrent_v2, CODE, || middle.memory_info());
        }
        expect(session, &lowest);
        let made = Buffer::<u8>::alloc(&lowest, 16);
        session.expect(None);
        drop(made);
    });
}

#[test]
fn a_push_that_fails_although_it_was_done_leaves_the_token_below_right() {
    watched(|session| {
        let (ours, theirs) = (context(), context());
        let mut stack = ContextStack::take().unwrap();
        let mut cx = stack.push(&ours).unwrap();
        failing_although_done(session, FnId::cuCtxPushCurrent_v2, || drop(cx.push(&theirs)));
        expect(session, &cx);
        drop(Buffer::<u8>::alloc(&cx, 16));
        session.expect(None);
    });
}

#[test]
fn a_push_that_fails_although_it_was_done_in_a_drop_leaves_the_token_right() {
    watched(|session| {
        let (ours, theirs) = (context(), context());
        let mut stack = ContextStack::take().unwrap();
        let elsewhere = Buffer::<u8>::alloc(&stack.push(&theirs).unwrap(), 16).unwrap();
        let cx = stack.push(&ours).unwrap();
        failing_although_done(session, FnId::cuCtxPushCurrent_v2, || drop(elsewhere));
        expect(session, &cx);
        drop(Buffer::<u8>::alloc(&cx, 16));
        session.expect(None);
    });
}

#[test]
fn a_context_that_was_made_by_a_failing_call_is_not_left_current() {
    watched(|session| {
        let ours = context();
        let mut stack = ContextStack::take().unwrap();
        let cx = stack.push(&ours).unwrap();
        let create = || Context::create(ours.device(), ContextFlags::empty());
        failing_although_done(session, FnId::cuCtxCreate_v2, || drop(create()));
        expect(session, &cx);
        drop(Buffer::<u8>::alloc(&cx, 16));
        session.expect(None);
    });
}

/// Borrows a context by its handle while `function` fails, and allocates with the token below.
fn borrow_with_a_failure(function: FnId, done: bool) {
    watched(|session| {
        let (ours, theirs) = (context(), context());
        let mut stack = ContextStack::take().unwrap();
        let cx = stack.push(&ours).unwrap();
        session.inject(Some(Injection { pick: Pick::Function(function), code: CODE, done, lasting: false }));
        // SAFETY: `theirs` outlives the value.
        drop(unsafe { ForeignContext::from_raw(theirs.driver(), theirs.as_raw()) });
        session.inject(None);
        expect(session, &cx);
        drop(Buffer::<u8>::alloc(&cx, 16));
        session.expect(None);
    });
}

#[test]
fn a_foreign_context_whose_push_fails_although_done_leaves_the_token_right() {
    borrow_with_a_failure(FnId::cuCtxPushCurrent_v2, true);
}

#[test]
fn a_foreign_context_whose_pop_fails_leaves_the_token_right() {
    borrow_with_a_failure(FnId::cuCtxPopCurrent_v2, false);
}

#[test]
fn a_foreign_context_whose_pop_fails_although_done_leaves_the_token_right() {
    borrow_with_a_failure(FnId::cuCtxPopCurrent_v2, true);
}

#[test]
fn a_pop_that_fails_although_it_was_done_leaves_the_token_below_right() {
    watched(|session| {
        let (ours, theirs) = (context(), context());
        let mut stack = ContextStack::take().unwrap();
        let mut cx = stack.push(&ours).unwrap();
        let upper = cx.push(&theirs).unwrap();
        failing_although_done(session, FnId::cuCtxPopCurrent_v2, || drop(upper));
        expect(session, &cx);
        Buffer::<u8>::alloc(&cx, 16).expect("the context of this token is current");
        session.expect(None);
    });
}

/// The context that a failing pop left current is destroyed, and with it leaves the stack: the
/// token below is as good as before.
#[test]
fn a_failing_pop_and_the_end_of_its_context_count_once() {
    watched(|session| {
        let (ours, theirs) = (context(), context());
        let mut stack = ContextStack::take().unwrap();
        let mut cx = stack.push(&ours).unwrap();
        let upper = cx.push(&theirs).unwrap();
        failing(FnId::cuCtxPopCurrent_v2, CODE, || drop(upper));
        drop(theirs);
        expect(session, &cx);
        Buffer::<u8>::alloc(&cx, 16).expect("the context of this token is current");
        session.expect(None);
        cx.pop().expect("and is popped");
    });
}

/// A context that is on top under a forgotten token leaves the stack when it is destroyed, whatever
/// the call answers.
#[test]
fn the_end_of_a_context_under_a_forgotten_token_counts_although_it_failed() {
    watched(|session| {
        let (ours, theirs) = (context(), context());
        let mut stack = ContextStack::take().unwrap();
        let mut cx = stack.push(&ours).unwrap();
        std::mem::forget(cx.push(&theirs).unwrap());
        failing_although_done(session, FnId::cuCtxDestroy_v2, || drop(theirs));
        expect(session, &cx);
        Buffer::<u8>::alloc(&cx, 16).expect("the context of this token is current");
        session.expect(None);
    });
}

/// Two drivers may return equal handles.
fn twins() -> (Context, Context) {
    let (ours, theirs) = (context_of(Backing::Nothing), context_of(Backing::OtherNothing));
    assert_eq!(ours.as_raw(), theirs.as_raw());
    assert_ne!(ours.driver(), theirs.driver());
    (ours, theirs)
}

#[test]
fn a_context_of_another_driver_is_not_current_for_its_equal_handle() {
    let (ours, theirs) = twins();
    let mut stack = ContextStack::take().unwrap();
    let buffer = Buffer::<u8>::alloc(&stack.push(&theirs).unwrap(), 16).unwrap();
    let _cx = stack.push(&ours).unwrap();
    let (calls, ()) = calls_of(|| drop(buffer));
    assert_eq!(calls, [FnId::cuCtxPushCurrent_v2, FnId::cuMemFree_v2, FnId::cuCtxPopCurrent_v2]);
}

#[test]
fn a_forgotten_token_is_popped_by_its_own_driver() {
    let (ours, theirs) = twins();
    let session = Session::default();
    session.enter(|| {
        let mut stack = ContextStack::take().unwrap();
        std::mem::forget(stack.push(&ours).unwrap());
        drop(stack.push(&theirs));
    });
    let log = session.log();
    let drivers = |function| {
        log.iter().filter(|call| call.function == function).map(|call| call.driver).collect::<Vec<_>>()
    };
    let (pushed, popped) = (drivers(FnId::cuCtxPushCurrent_v2), drivers(FnId::cuCtxPopCurrent_v2));
    assert!(popped.contains(&pushed[0]), "pushed in drivers {pushed:?}, popped in {popped:?}");
    let times = |driver: usize, list: &[usize]| list.iter().filter(|&&one| one == driver).count();
    assert!(
        popped.iter().all(|&driver| times(driver, &popped) <= times(driver, &pushed)),
        "{pushed:?} {popped:?}"
    );
}

const PTX: &str = ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k(.param .u32 n) { ret; }";

/// Drivers use `CUDA_ERROR_INVALID_VALUE` for the end of the parameters, and for much else.
#[test]
fn a_failure_is_not_taken_for_the_end_of_the_parameters() {
    watched(|_| {
        let context = context();
        let mut stack = ContextStack::take().unwrap();
        let cx = stack.push(&context).unwrap();
        let module = Module::load_ptx(&cx, PTX).unwrap();
        let function = module.function("k").unwrap();
        let code = CUresult::CUDA_ERROR_INVALID_VALUE;
        let bound = failing(FnId::cuFuncGetParamInfo, code, || function.bind::<()>());
        assert!(bound.is_err(), "bound a kernel of one parameter as one of none");
        function.bind::<(u32,)>().unwrap();
    });
}

#[test]
fn a_failure_to_tell_the_limits_is_returned_by_bind() {
    watched(|session| {
        let context = context();
        let mut stack = ContextStack::take().unwrap();
        let cx = stack.push(&context).unwrap();
        let module = Module::load_ptx(&cx, PTX).unwrap();
        let function = module.function("k").unwrap();
        let code = CUresult::CUDA_ERROR_LAUNCH_FAILED;
        let (calls, _) = calls_of(|| function.bind::<(u32,)>().unwrap());
        for (at, &call) in calls.iter().enumerate() {
            session.inject(Some(Injection { pick: Pick::Nth(at), code, done: false, lasting: false }));
            let bound = function.bind::<(u32,)>();
            session.inject(None);
            let Err(Mismatch::Driver(error)) = bound.map_err(|error| error.reason) else {
                panic!("{call} failed, and bind did not")
            };
            assert_eq!((error.call(), error.code()), (call, code));
        }
    });
}

/// A context keeps the record of its first fault when it becomes a shared one.
#[test]
fn a_context_that_is_shared_remembers_its_fault() {
    let context = context();
    let fault = CUresult::CUDA_ERROR_LAUNCH_FAILED;
    let failed = failing(FnId::cuCtxSynchronize, fault, || {
        context.enter_as::<cuprum::Error, _>(|cx| Ok(cx.synchronize()))
    });
    let error = failed.unwrap().unwrap_err();
    assert_eq!(context.poisoned_by(), Some(error));
    assert_eq!(context.share().poisoned_by(), Some(error));
}

/// A parameter whose layout is anything, which safe code may claim.
struct Any<const BYTES: usize, const ALIGN: usize>;

impl<const BYTES: usize, const ALIGN: usize> Parameter for Any<BYTES, ALIGN> {
    const LAYOUT: std::alloc::Layout = match std::alloc::Layout::from_size_align(BYTES, ALIGN) {
        Ok(layout) => layout,
        Err(_) => panic!("no layout"),
    };
}

#[test]
fn layouts_beyond_all_memory_are_refused() {
    const HUGE: usize = isize::MAX as usize;
    const HUGE_PTX: &str = ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k(\
        .param .b8 a[9223372036854775807], .param .b8 b[9223372036854775807], .param .u8 c) { ret; }";
    let context = context_of(Backing::Nothing);
    let module = context.enter_as(|cx| Module::load_ptx(cx, HUGE_PTX)).unwrap();
    let function = module.function("k").unwrap();
    type Wrong = (Any<HUGE, 1>, Any<HUGE, 1>, Any<1, 16>);
    let error = function.bind::<Wrong>().unwrap_err();
    assert!(matches!(error.reason, Mismatch::Offset { index: 2, .. }), "{error}");
}

/// Makes `context` current as other code does that puts it back later.
fn push_as_other_code(context: &Context) {
    // SAFETY: the context outlives its time on the stack of this thread, which is the test's own.
    let (code, _) = unsafe {
        cuprum::sys::call!(context.driver().library().fns(), cuCtxPushCurrent_v2(context.as_raw()))
    };
    assert_eq!(code, CUresult::CUDA_SUCCESS);
}

/// If a context that is destroyed may be on top and the driver does not tell, one token too many
/// would be counted.
#[test]
fn a_context_that_ends_unseen_leaves_the_tokens_below_right() {
    watched(|session| {
        let [other, ours, upper, uppermost] = [context(), context(), context(), context()];
        push_as_other_code(&other);
        let mut stack = ContextStack::take().unwrap();
        let mut lowest = stack.push(&ours).unwrap();
        let mut cx = lowest.push(&ours).unwrap();
        let mut forgotten = cx.push(&upper).unwrap();
        std::mem::forget(forgotten.push(&uppermost).unwrap());
        std::mem::forget(forgotten);
        drop(uppermost);
        failing(FnId::cuCtxGetCurrent, CODE, || drop(upper));
        drop(cx);
        expect(session, &lowest);
        drop(Buffer::<u8>::alloc(&lowest, 16));
        session.expect(None);
    });
}

/// A push of a context onto itself fails: whether it was done is not known when a token of it is
/// forgotten, and the context destroyed.
#[test]
fn a_context_in_doubt_that_ends_under_a_forgotten_token_leaves_the_tokens_below_right() {
    for done in [false, true] {
        watched(|session| {
            let [other, ours, upper] = [context(), context(), context()];
            push_as_other_code(&other);
            let mut stack = ContextStack::take().unwrap();
            let mut lowest = stack.push(&ours).unwrap();
            let mut cx = lowest.push(&ours).unwrap();
            let mut forgotten = cx.push(&upper).unwrap();
            let function = FnId::cuCtxPushCurrent_v2;
            let pick = Pick::Function(function);
            session.inject(Some(Injection { pick, code: CODE, done, lasting: false }));
            assert!(forgotten.push(&upper).is_err());
            session.inject(None);
            std::mem::forget(forgotten);
            drop(upper);
            drop(cx);
            expect(session, &lowest);
            drop(Buffer::<u8>::alloc(&lowest, 16));
            session.expect(None);
        });
    }
}

/// The same with a token that is popped: doubt above it becomes doubt above the token below.
#[test]
fn a_context_in_doubt_that_ends_without_a_token_leaves_the_token_below_usable() {
    for done in [false, true] {
        watched(|session| {
            let [ours, upper] = [context(), context()];
            let mut stack = ContextStack::take().unwrap();
            let mut lowest = stack.push(&ours).unwrap();
            let mut cx = lowest.push(&upper).unwrap();
            let pick = Pick::Function(FnId::cuCtxPushCurrent_v2);
            session.inject(Some(Injection { pick, code: CODE, done, lasting: false }));
            assert!(cx.push(&upper).is_err());
            session.inject(None);
            drop(cx);
            drop(upper);
            expect(session, &lowest);
            Buffer::<u8>::alloc(&lowest, 16).expect("the context of this token is current");
            session.expect(None);
        });
    }
}

/// One of several contexts in doubt is destroyed, and it was not a token's. If the height were
/// lowered all the same, the next `enter` would use it again.
#[test]
fn a_context_that_ends_among_several_in_doubt_leaves_the_token_below_outside_of_an_enter() {
    watched(|session| {
        let [ours, pushed, popped] = [context(), context(), context()];
        let elsewhere = popped.enter_as(|cx| Buffer::<u8>::alloc(cx, 16)).unwrap();
        let mut stack = ContextStack::take().unwrap();
        let mut cx = stack.push(&ours).unwrap();
        failing_although_done(session, FnId::cuCtxPushCurrent_v2, || drop(cx.push(&pushed)));
        failing(FnId::cuCtxPopCurrent_v2, CODE, || drop(elsewhere));
        drop(popped);
        let used = ours.enter(|_| Ok(cx.synchronize())).unwrap();
        assert!(used.unwrap_err().code() == cuprum::Error::OUT_OF_ORDER);
    });
}
