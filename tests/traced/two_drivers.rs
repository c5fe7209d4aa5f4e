//! Two drivers in one process, one that does nothing and the emulator: objects of one never reach
//! the other.

use cuprum::context::{Context, ContextFlags, ContextStack};
use cuprum::memory::{
    Advice, Granularity, ManagedBuffer, Mapping, MemoryAccess, MemoryLocation, PhysicalFlags, PhysicalMemory,
    Reservation,
};
use cuprum::stream::{Event, EventFlags};
use cuprum::sys::StreamMode;
use cuprum::{Driver, MemoryError, Stream};

use crate::tracer::{Backing, calls_of, emulator};

fn driver() -> Driver {
    Backing::Nothing.driver()
}

fn other_driver() -> Driver {
    Driver::init(emulator(StreamMode::Legacy)).unwrap()
}

fn context_of(driver: Driver) -> Context {
    Context::create(driver.device(0).unwrap(), ContextFlags::empty()).unwrap()
}

#[test]
fn a_handle_of_another_driver_does_not_reach_this_one() {
    let (ours, theirs) = (context_of(driver()), context_of(other_driver()));
    let mut stack = ContextStack::take().unwrap();
    let foreign = Event::new(&stack.push(&theirs).unwrap(), EventFlags::empty()).unwrap();
    let cx = stack.push(&ours).unwrap();
    let (stream, event) = (Stream::new(&cx).unwrap(), Event::new(&cx, EventFlags::empty()).unwrap());
    let (calls, ()) = calls_of(|| {
        assert!(stream.wait_event(&cx, &foreign).unwrap_err().code() == cuprum::Error::WRONG_CONTEXT);
        assert!(event.elapsed_since(&foreign).unwrap_err().code() == cuprum::Error::WRONG_CONTEXT);
    });
    assert_eq!(calls, []);
}

/// The number of a device of another driver is also the number of one of ours.
#[test]
fn a_place_on_a_device_of_another_driver_is_no_place_here() {
    let (ours, theirs) = (other_driver(), driver());
    let context = context_of(ours);
    let mut stack = ContextStack::take().unwrap();
    let cx = stack.push(&context).unwrap();
    let [here, there] = [ours, theirs].map(|driver| MemoryLocation::Device(driver.device(0).unwrap()));
    let flags = PhysicalFlags::empty();
    let bytes = PhysicalMemory::granularity(ours, here, flags, Granularity::CU_MEM_ALLOC_GRANULARITY_MINIMUM)
        .unwrap();
    let memory = PhysicalMemory::new(ours, here, bytes, flags).unwrap();
    let mut mapping: Mapping<'_, u32> =
        Reservation::new(ours, bytes, 0).unwrap().map(&cx, 0, &memory).unwrap();
    let managed = ManagedBuffer::<u32>::zeroed(&cx, 4).unwrap();
    let (range, stream) = (managed.range(..).unwrap(), Stream::new(&cx).unwrap());
    let (calls, ()) = calls_of(|| {
        let refused = mapping.set_access(there, MemoryAccess::CU_MEM_ACCESS_FLAGS_PROT_NONE).unwrap_err();
        assert!(
            matches!(refused, MemoryError::Driver(error) if error.code() == cuprum::Error::WRONG_CONTEXT),
            "{refused:?}"
        );
        assert!(mapping.access(there).unwrap_err().code() == cuprum::Error::WRONG_CONTEXT);
        assert!(
            range.advise(&cx, Advice::Preferred(there)).unwrap_err().code() == cuprum::Error::WRONG_CONTEXT
        );
        assert!(stream.prefetch(&cx, range, there).unwrap_err().code() == cuprum::Error::WRONG_CONTEXT);
        assert!(
            stream.prefetch_batch(&cx, &[(range, there)]).unwrap_err().code() == cuprum::Error::WRONG_CONTEXT
        );
    });
    assert_eq!(calls, []);
    assert_eq!(mapping.slice(..0).unwrap().to_vec(&cx).unwrap(), []);
}

#[test]
fn contexts_of_two_drivers_do_not_nest() {
    let (ours, theirs) = (context_of(driver()), context_of(other_driver()));
    let mut stack = ContextStack::take().unwrap();
    let mut cx = stack.push(&ours).unwrap();
    assert!(cx.push(&theirs).unwrap_err().code() == cuprum::Error::WRONG_CONTEXT);
    cx.pop().unwrap();
    stack.push(&theirs).expect("one after the other is fine").pop().unwrap();
}
