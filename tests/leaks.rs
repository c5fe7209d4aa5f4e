//! What was made is freed, once, whatever the thread and the path.
//!
//! A program of its own, and one test at a time: they count the device's free bytes.

#[path = "support/common/mod.rs"]
mod common;

use std::sync::{Mutex, MutexGuard, PoisonError};

use common::context;
use cuprum::{Buffer, ContextStack, Event, EventFlags, Stream};

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn dropping_frees_on_any_thread() {
    let _alone = alone();
    let context = context();
    let mut stack = ContextStack::take().unwrap();
    let cx = stack.push(&context).unwrap();
    let bytes = 64 << 20;
    let before = cx.memory_info().unwrap().free;
    let swallowed = cuprum::swallowed::count();
    std::thread::scope(|scope| {
        let buffer = Buffer::<u8>::alloc(&cx, bytes).unwrap();
        assert!(cx.memory_info().unwrap().free <= before - bytes);
        // A thread on which no context is current.
        scope.spawn(move || drop(buffer));
    });
    assert_eq!(cx.memory_info().unwrap().free, before);
    Buffer::<u8>::alloc(&cx, bytes).unwrap().close().unwrap();
    assert_eq!(cx.memory_info().unwrap().free, before);
    assert_eq!(cuprum::swallowed::count(), swallowed);
}

#[test]
fn a_forgotten_buffer_leaks_until_its_context_ends() {
    let _alone = alone();
    let context = context();
    let mut stack = ContextStack::take().unwrap();
    let cx = stack.push(&context).unwrap();
    let before = cx.memory_info().unwrap().free;
    std::mem::forget(Buffer::<u8>::alloc(&cx, 64 << 20).unwrap());
    assert!(cx.memory_info().unwrap().free < before);
    cx.pop().unwrap();
    context.close().expect("the context goes, and the memory with it");
}

#[test]
fn cycles_leave_nothing_behind() {
    let _alone = alone();
    let context = context();
    let mut stack = ContextStack::take().unwrap();
    let cx = stack.push(&context).unwrap();
    let cycle = || {
        let stream = Stream::new(&cx).unwrap();
        let event = Event::new(&cx, EventFlags::empty()).unwrap();
        let module = common::kernels!(&cx, "saxpy");
        let buffer = Buffer::from_slice(&cx, &vec![1u8; 1 << 20]).unwrap();
        event.record(&cx, &stream).unwrap();
        event.synchronize().unwrap();
        drop((buffer, module, event, stream));
    };
    // The first cycles fill the driver's own pools.
    (0..4).for_each(|_| cycle());
    let before = cx.memory_info().unwrap().free;
    (0..64).for_each(|_| cycle());
    assert_eq!(cx.memory_info().unwrap().free, before);
}
