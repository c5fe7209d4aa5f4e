//! Two drivers in one process, one that does nothing and the emulator: objects of one never reach the other.

use cuprum::sys::StreamMode;
use cuprum::{Context, ContextFlags, ContextStack, Driver, Event, EventFlags, Stream};

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
        assert!(stream.wait(&cx, &foreign).unwrap_err().is_wrong_context());
        assert!(event.elapsed_since(&foreign).unwrap_err().is_wrong_context());
    });
    assert_eq!(calls, []);
}

#[test]
fn contexts_of_two_drivers_do_not_nest() {
    let (ours, theirs) = (context_of(driver()), context_of(other_driver()));
    let mut stack = ContextStack::take().unwrap();
    let mut cx = stack.push(&ours).unwrap();
    assert!(cx.push(&theirs).unwrap_err().is_wrong_context());
    cx.pop().unwrap();
    stack.push(&theirs).expect("one after the other is fine").pop().unwrap();
}
