//! Many threads make, use and drop everything at the same time, in one context, in their own, and
//! in each other's.

use std::sync::mpsc::{Receiver, Sender, channel};

use cuprum::context::{Context, ContextStack, PrimaryContext};
use cuprum::stream::{Event, EventFlags};
use cuprum::{Buffer, ContextRef, Current, In, InOut, LaunchConfig, Module, Stream};

use crate::common::{self, context, device, kernels, on_gpu};

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

/// Threads of the hammer, and contexts that they share.
const HAMMERS: usize = 32;
const SHARED: usize = 3;

/// One of each kind of object. The work launched with them is done.
type Made<'ctx> = (Buffer<'ctx, f32>, Buffer<'ctx, f32>, Stream<'ctx>, Event<'ctx>, Module<'ctx>);

/// Makes one of each, launches, copies both ways in a scope, and compares.
fn make<'ctx>(cx: &Current<'_, 'ctx>, value: f32) -> Made<'ctx> {
    let module = kernels!(cx, "saxpy");
    let saxpy = module.function("saxpy").unwrap().bind::<(u32, f32, In<f32>, InOut<f32>)>().unwrap();
    let (stream, done) = (Stream::new(cx).unwrap(), Event::new(cx, EventFlags::DISABLE_TIMING).unwrap());
    let mut x = Buffer::<f32>::zeroed(cx, 256).unwrap();
    let mut y = Buffer::from_slice(cx, &[1f32; 256]).unwrap();
    let (host, mut back) = ([value; 256], [0f32; 256]);
    cx.scope(&stream, |scope| {
        let (x, y) = (scope.lend(x.as_mut_slice()).unwrap(), scope.lend(y.as_mut_slice()).unwrap());
        scope.copy(&x, &host).unwrap();
        // SAFETY: saxpy touches 256 elements of each, which are lent to the scope of this stream.
        unsafe { saxpy.launch(cx, &stream, LaunchConfig::new(2, 128), (256u32, 2f32, &x, &y)) }.unwrap();
        done.record(cx, &stream).unwrap();
        scope.read(&mut back, &y).unwrap();
        Ok(())
    })
    .unwrap();
    assert!(done.is_done().unwrap());
    assert_eq!(back, [2.0 * value + 1.0; 256]);
    drop(saxpy);
    (x, y, stream, done, module)
}

/// One thread: works in a shared context, in one of its own on top of it, and in the primary one;
/// hands over the objects that it made, and drops the objects that it received, whatever context is
/// current.
fn hammer<'ctx>(
    shared: &'ctx [Context],
    thread: usize,
    give: &Sender<Made<'ctx>>,
    given: &Receiver<Made<'ctx>>,
) {
    // Contexts of their own take a GPU a tenth of a second each.
    let rounds = if on_gpu() { 1 } else { 20 };
    let mut stack = ContextStack::take().unwrap();
    for round in 0..rounds {
        let value = (thread * rounds + round) as f32;
        let below = &shared[(thread + round) % SHARED];
        let mut cx = stack.push(below).unwrap();
        give.send(make(&cx, value)).unwrap();
        {
            let own = context();
            let on_top = cx.push(&own).unwrap();
            let made = make(&on_top, -value);
            given.try_iter().for_each(drop);
            on_top.pop().unwrap();
            drop(made);
        }
        // The token below is as good as before.
        give.send(make(&cx, value + 0.5)).unwrap();
        cx.pop().unwrap();
        let primary = PrimaryContext::retain(device()).unwrap();
        drop(make(&stack.push(&primary).unwrap(), value));
        given.try_iter().for_each(drop);
    }
}

#[test]
fn a_hammer_on_thirty_two_threads() {
    let shared: Vec<Context> = (0..SHARED).map(|_| context()).collect();
    let swallowed = cuprum::swallowed::count();
    let (mut senders, receivers): (Vec<_>, Vec<_>) = (0..HAMMERS).map(|_| channel()).unzip();
    // Each thread passes objects to the next, the last to the first.
    senders.rotate_left(1);
    std::thread::scope(|scope| {
        for (thread, (give, given)) in senders.into_iter().zip(receivers).enumerate() {
            let shared = &shared;
            scope.spawn(move || {
                hammer(shared, thread, &give, &given);
                drop(give);
                given.into_iter().for_each(drop);
                assert!(common::raw_current().is_null());
            });
        }
    });
    assert_eq!(cuprum::swallowed::count(), swallowed);
    for context in shared {
        context.close().expect("nothing is left in it");
    }
}
