//! Two tables of one driver: with another default stream, and with hooks. They share each thread's
//! stack of contexts.

use cuprum::context::{ContextStack, ForeignContext};
use cuprum::sys::hook::{Call, Hook};
use cuprum::sys::{CUresult, FnId, Fns, StreamMode};
use cuprum::{Buffer, Driver, Library};

use crate::tokens::{context_of, expect, watched};
use crate::tracer::{Backing, calls_of, emulator, failing};

const CODE: CUresult = CUresult::CUDA_ERROR_UNKNOWN;

/// A hook that changes nothing.
struct Passing;

impl Hook for Passing {
    fn target() -> &'static Fns {
        emulator(StreamMode::Legacy).fns()
    }

    fn call(_: &Call<'_>, pass_on: &mut dyn FnMut() -> CUresult) -> CUresult {
        pass_on()
    }
}

fn hooked() -> Library {
    // SAFETY: the hook passes each call on to this library, unchanged.
    unsafe { emulator(StreamMode::Legacy).hooked::<Passing>("the emulator, hooked") }.unwrap()
}

/// The drop of an object of the other table leaves its context current: memory would be made there,
/// of the token's type.
#[test]
fn a_failing_pop_through_the_other_table_is_known_to_the_token_below() {
    watched(|session| {
        let (ours, theirs) = (context_of(Backing::Emulator), context_of(Backing::EmulatorPerThread));
        let mut stack = ContextStack::take().unwrap();
        let elsewhere = theirs.enter_as(|cx| Buffer::<u8>::alloc(cx, 16)).unwrap();
        let cx = stack.push(&ours).unwrap();
        failing(FnId::cuCtxPopCurrent_v2, CODE, || drop(elsewhere));
        expect(session, &cx);
        Buffer::from_slice(&cx, &[1u8; 16]).expect("the context of the token is current again");
        session.expect(None);
    });
}

/// The same with the token of [`enter`](cuprum::ContextRef::enter), if its pop fails.
#[test]
fn a_failing_end_of_enter_through_the_other_table_is_known_to_the_token_outside() {
    watched(|session| {
        let (ours, theirs) = (context_of(Backing::Emulator), context_of(Backing::EmulatorPerThread));
        let mut stack = ContextStack::take().unwrap();
        let cx = stack.push(&ours).unwrap();
        failing(FnId::cuCtxPopCurrent_v2, CODE, || theirs.enter(|_| Ok(()))).unwrap();
        expect(session, &cx);
        Buffer::from_slice(&cx, &[1u8; 16]).expect("the context of the token is current again");
        session.expect(None);
    });
}

#[test]
fn contexts_of_two_tables_nest() {
    watched(|session| {
        let (ours, theirs) = (context_of(Backing::Emulator), context_of(Backing::EmulatorPerThread));
        let mut stack = ContextStack::take().unwrap();
        let mut cx = stack.push(&ours).unwrap();
        let upper = cx.push(&theirs).expect("one driver has one stack");
        expect(session, &upper);
        let made = Buffer::<u8>::alloc(&upper, 16).unwrap();
        session.expect(None);
        std::mem::forget(upper);
        expect(session, &cx);
        Buffer::<u8>::alloc(&cx, 16).expect("the forgotten token was popped");
        session.expect(None);
        drop(made);
    });
}

/// A context that is current by the token of one table is current for objects of the other.
#[test]
fn a_context_that_is_current_is_so_through_each_table() {
    let ours = context_of(Backing::Emulator);
    let mut stack = ContextStack::take().unwrap();
    let cx = stack.push(&ours).unwrap();
    // SAFETY: the context outlives the objects made through it.
    let same =
        unsafe { ForeignContext::from_raw(Backing::EmulatorPerThread.driver(), ours.as_raw()) }.unwrap();
    let memory = same.enter_as(|cx| Buffer::<u8>::alloc(cx, 16)).unwrap();
    let (calls, ()) = calls_of(|| drop(memory));
    assert_eq!(calls, [FnId::cuMemFree_v2]);
    drop(cx);
}

/// A driver with another default stream is another one to the methods that compare: its calls are
/// in another order.
#[test]
fn drivers_are_equal_where_their_objects_can_be_mixed() {
    let plain = emulator(StreamMode::Legacy);
    assert!(plain != hooked() && plain.is_same_driver(hooked()));
    assert_eq!(Driver::init(plain).unwrap(), Driver::init(hooked()).unwrap());
    let [legacy, per_thread] = [Backing::Emulator, Backing::EmulatorPerThread].map(Backing::driver);
    assert!(legacy.library().is_same_driver(per_thread.library()) && plain.is_same_driver(legacy.library()));
    assert_ne!(legacy, per_thread);
    let other = Backing::OtherNothing.driver();
    assert!(!legacy.library().is_same_driver(other.library()));
    assert_ne!(legacy, other);
}

#[test]
fn objects_made_without_a_hook_are_used_through_it() {
    let context = context_of(Backing::Emulator);
    let memory = context.enter_as(|cx| Buffer::from_slice(cx, &[7u32; 4])).unwrap();
    // SAFETY: the context outlives the objects made through it.
    let same =
        unsafe { ForeignContext::from_raw(Driver::init(hooked()).unwrap(), context.as_raw()) }.unwrap();
    assert_eq!(same.enter_as(|cx| memory.to_vec(cx)).unwrap(), [7; 4]);
}
