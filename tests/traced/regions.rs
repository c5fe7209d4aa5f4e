//! Calls that regions make: one per operation, none per drop, and one event per queue however much
//! was dropped.

use cuprum::Current;
use cuprum::context::{Context, ContextFlags};
use cuprum::region::{Pool, Queue, Region};
use cuprum::sys::FnId;

use crate::child::in_children;
use crate::tracer::{Backing, calls_of};

const BYTES: usize = 1024;
/// Regions that are dropped at once.
const MANY: usize = 100;

fn in_pool(test: impl FnOnce(&Current<'_, 'static>, &Pool)) {
    let device = Backing::Emulator.driver().device(0).unwrap();
    let context = Context::create(device, ContextFlags::empty()).unwrap().share();
    context
        .enter(|cx| {
            test(cx, &Pool::new(cx));
            Ok(())
        })
        .unwrap();
}

fn regions(cx: &Current<'_, 'static>, queue: &Queue) -> Vec<Region> {
    (0..MANY).map(|_| queue.alloc(cx, BYTES).unwrap()).collect()
}

#[test]
fn memory_of_the_lane_takes_no_call_and_no_drop_does() {
    in_pool(|cx, pool| {
        let queue = pool.queue(cx).unwrap();
        let many = regions(cx, &queue);
        let (calls, ()) = calls_of(|| drop(many));
        assert_eq!(calls, []);
        let (calls, many) = calls_of(|| regions(cx, &queue));
        assert_eq!(calls, []);
        let (calls, ()) = calls_of(|| many.iter().for_each(|region| queue.fill(cx, region, 1u8).unwrap()));
        assert_eq!(calls, [FnId::cuMemsetD8Async; MANY]);
    });
}

/// Only if work runs inside of the calls: then the first answer is that the work is over.
#[test]
fn a_queue_is_asked_by_one_event_for_all_memory_that_it_used() {
    let this = concat!(module_path!(), "::a_queue_is_asked_by_one_event_for_all_memory_that_it_used");
    let eager = || {
        in_pool(|cx, pool| {
            let (home, other) = (pool.queue(cx).unwrap(), pool.queue(cx).unwrap());
            let many = regions(cx, &home);
            other.wait(cx, &home.mark(cx).unwrap()).unwrap();
            let fill = || many.iter().for_each(|region| other.fill(cx, region, 1u8).unwrap());
            assert_eq!(calls_of(fill).0, [FnId::cuMemsetD8Async; MANY]);
            let (calls, ()) = calls_of(|| drop(many));
            assert_eq!(calls, []);
            let (calls, _many) = calls_of(|| regions(cx, &home));
            assert_eq!(calls, [FnId::cuEventCreate, FnId::cuEventRecord, FnId::cuEventQuery]);
        });
    };
    in_children(this, &[&[("CUPRUM_EMULATOR_MODE", "eager")]], eager);
}

#[test]
fn memory_comes_back_without_a_call_if_its_queue_comes_after_the_other_one() {
    in_pool(|cx, pool| {
        let (home, other) = (pool.queue(cx).unwrap(), pool.queue(cx).unwrap());
        let many = regions(cx, &home);
        other.wait(cx, &home.mark(cx).unwrap()).unwrap();
        many.iter().for_each(|region| other.fill(cx, region, 1u8).unwrap());
        home.wait(cx, &other.mark(cx).unwrap()).unwrap();
        drop(many);
        let (calls, _many) = calls_of(|| regions(cx, &home));
        assert_eq!(calls, []);
    });
}
