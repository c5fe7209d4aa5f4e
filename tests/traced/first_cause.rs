//! The first report of a fault is known to every value that stands for the context, and to no other
//! context.

use cuprum::context::{Context, ContextFlags, ForeignContext, PrimaryContext};
use cuprum::sys::{CUresult, FnId};
use cuprum::{Buffer, ContextRef, Driver, Error, MemoryError};

use crate::tracer::{Backing, Session, failing};

const FAULT: CUresult = CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;

/// Has the context report a fault by `cuCtxSynchronize`.
fn fault(context: &ContextRef) -> Error {
    failing(FnId::cuCtxSynchronize, FAULT, || context.enter_as(|cx| cx.synchronize())).unwrap_err()
}

/// A later call that returns the fault.
fn echo(context: &ContextRef) -> Error {
    let made =
        failing(FnId::cuMemAlloc_v2, FAULT, || context.enter_as(|cx| Buffer::<u8>::alloc(cx, 16).map(drop)));
    match made {
        Err(MemoryError::Driver(error)) => error,
        other => panic!("{other:?}"),
    }
}

/// Tests of one process share the primary context of a device: this has the second one to itself.
fn primary(driver: Driver) -> PrimaryContext {
    PrimaryContext::retain(driver.device(1).unwrap()).unwrap()
}

#[test]
fn each_value_of_a_primary_context_knows_what_reported_its_fault_first() {
    let driver = Backing::Emulator.driver();
    let (one, other) = (primary(driver), primary(driver));
    let first = fault(&one);
    assert_eq!(first.first_reported_by(), None);
    assert_eq!(other.poisoned_by(), Some(first));
    drop(one);
    assert_eq!(echo(&other).first_reported_by(), Some(FnId::cuCtxSynchronize));
    // SAFETY: `other` retains the context for longer than these values last.
    let foreign = unsafe { ForeignContext::from_raw(driver, other.as_raw()) }.unwrap();
    let traced_otherwise = Backing::EmulatorPerThread.driver();
    // SAFETY: as above.
    let through = unsafe { ForeignContext::from_raw(traced_otherwise, other.as_raw()) }.unwrap();
    assert_eq!([foreign.poisoned_by(), through.poisoned_by()], [Some(first); 2]);
    let shared = other.share();
    assert_eq!(shared.poisoned_by(), Some(first));
    assert_eq!(echo(&shared).first_reported_by(), Some(FnId::cuCtxSynchronize));
    drop((foreign, through));

    // SAFETY: nothing was made in it, and it is current nowhere.
    unsafe { shared.device().reset_primary_context() }.unwrap();
    assert_eq!(shared.poisoned_by(), None);
    assert_eq!(fault(&shared).first_reported_by(), None);

    // Another context, which may have the same handle.
    drop(shared);
    let anew = primary(driver);
    assert_eq!(anew.poisoned_by(), None);
    assert_eq!(echo(&anew).first_reported_by(), None);
}

/// A swallowed error after a reported fault is known through each value.
#[test]
fn a_drop_is_silent_after_a_fault_that_another_value_reported() {
    let context =
        Context::create(Backing::Emulator.driver().device(0).unwrap(), ContextFlags::empty()).unwrap();
    // SAFETY: the context outlives the objects made through it.
    let foreign = unsafe { ForeignContext::from_raw(context.driver(), context.as_raw()) }.unwrap();
    let memory = foreign.enter_as(|cx| Buffer::<u8>::alloc(cx, 16)).unwrap();
    let first = fault(&context);
    let closed = failing(FnId::cuMemFree_v2, FAULT, || memory.close()).unwrap_err();
    assert_eq!(
        (first.call(), closed.first_reported_by()),
        (FnId::cuCtxSynchronize, Some(FnId::cuCtxSynchronize))
    );
}

/// Two drivers may return equal handles, and one driver may reuse the handle of a destroyed
/// context.
#[test]
fn a_context_of_the_same_handle_is_not_blamed() {
    let session = Session::default();
    session.enter(|| {
        let create = |backing: Backing| {
            Context::create(backing.driver().device(0).unwrap(), ContextFlags::empty()).unwrap()
        };
        let (ours, theirs) = (create(Backing::Nothing), create(Backing::OtherNothing));
        assert_eq!(ours.as_raw(), theirs.as_raw());
        let first = fault(&ours);
        assert_eq!([ours.poisoned_by(), theirs.poisoned_by()], [Some(first), None]);
        let raw = ours.as_raw();
        ours.close().unwrap();
        // SAFETY: a driver that does nothing has no contexts.
        let later = unsafe { ForeignContext::from_raw(Backing::Nothing.driver(), raw) }.unwrap();
        assert_eq!(later.poisoned_by(), None);
    });
}
