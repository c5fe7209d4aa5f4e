//! Many threads make, use and drop everything at the same time, in one context and in their own.

mod common;

use common::{context, kernels};
use cuprum::{Buffer, ContextRef, ContextStack, Event, EventFlags, In, InOut, LaunchConfig, Stream};

/// Rounds of a thread: enough to collide, few enough for two cores.
const ROUNDS: u32 = 40;
const THREADS: u32 = 8;

fn work(context: &ContextRef, thread: u32) {
    let mut stack = ContextStack::take().unwrap();
    let cx = stack.push(context).unwrap();
    for round in 0..ROUNDS {
        let module = kernels!(&cx, "saxpy");
        let saxpy = module.function("saxpy").unwrap().bind::<(u32, f32, In<f32>, InOut<f32>)>().unwrap();
        let stream = if round % 2 == 0 { Stream::new(&cx) } else { Stream::non_blocking(&cx) }.unwrap();
        let done = Event::new(&cx, EventFlags::DISABLE_TIMING).unwrap();
        let x = Buffer::from_slice(&cx, &[thread as f32; 64]).unwrap();
        let mut y = Buffer::from_slice(&cx, &[round as f32; 64]).unwrap();
        cx.synchronize().unwrap();
        // SAFETY: saxpy touches 64 elements of each, which live until the event was waited for.
        unsafe { saxpy.launch(&cx, &stream, LaunchConfig::new(1, 64), (64u32, 2f32, &x, &mut y)) }.unwrap();
        done.record(&cx, &stream).unwrap();
        done.synchronize().unwrap();
        assert_eq!(y.to_vec(&cx).unwrap(), [2.0 * thread as f32 + round as f32; 64]);
    }
}

#[test]
fn in_one_context() {
    let context = context();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let context = &context;
            scope.spawn(move || work(context, thread));
        }
    });
}

#[test]
fn in_contexts_of_their_own() {
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || work(&common::context(), thread));
        }
    });
}

#[test]
fn what_one_thread_makes_another_drops() {
    let context = context();
    let (sender, receiver) = std::sync::mpsc::channel();
    let swallowed = cuprum::swallowed::count();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut stack = ContextStack::take().unwrap();
            let cx = stack.push(&context).unwrap();
            let sender = sender;
            for _ in 0..ROUNDS {
                let stream = Stream::new(&cx).unwrap();
                let event = Event::new(&cx, EventFlags::empty()).unwrap();
                let module = kernels!(&cx, "saxpy");
                sender.send((Buffer::<u8>::alloc(&cx, 4096).unwrap(), stream, event, module)).unwrap();
            }
        });
        // No context is ever current on this thread but while a drop activates one.
        scope.spawn(move || assert_eq!(receiver.into_iter().map(drop).count(), ROUNDS as usize));
    });
    assert_eq!(cuprum::swallowed::count(), swallowed);
    assert!(common::raw_current().is_null());
}
