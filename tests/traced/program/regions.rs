//! Regions, queues, reads and recordings.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context as Task, Waker};

use cuprum::context::{Context, ContextFlags};
use cuprum::region::{Arg, Plane, Pool, Queue, Region, RegionError};
use cuprum::{Buffer, Current, Device, Error, LaunchConfig, Module};

use super::Steps;
use super::steps::{Reported, while_they_succeed};

const BYTES: usize = 1024;

impl Reported for RegionError {
    fn of_driver(&self) -> Option<Error> {
        match self {
            Self::Driver(error) => Some(*error),
            Self::Memory(error) => error.of_driver(),
            Self::Arguments(error) => error.of_driver(),
            Self::Launch(error) => error.of_driver(),
            Self::Module(error) => error.of_driver(),
            _ => None,
        }
    }
}

pub(super) fn all(steps: &Steps, device: Device) {
    let create = || Context::create(device, ContextFlags::empty());
    let Some(context) = steps.attempt("Context::create", create) else { return };
    let context = context.share();
    steps.attempt("Shared::enter", || {
        context.enter(|cx| {
            steps.expect(&context);
            let pool = Pool::new(cx);
            within(steps, cx, &pool);
            steps.done("region::Pool::drop", || drop(pool));
            steps.expect_nothing();
            Ok(())
        })
    });
    steps.done("Shared<ContextRef>::drop", || drop(context));
}

fn within(steps: &Steps, cx: &Current<'_, 'static>, pool: &Pool) {
    let Some(one) = steps.attempt("Pool::queue", || pool.queue(cx)) else { return };
    let Some(two) = steps.attempt("Pool::queue", || pool.queue(cx)) else { return };
    let first = steps.attempt("Queue::alloc", || one.alloc(cx, BYTES));
    let second = steps.attempt("Queue::alloc", || one.alloc(cx, BYTES));
    if let (Some(first), Some(second)) = (&first, &second) {
        copies(steps, cx, &one, [first, second]);
        host(steps, cx, pool, &one, first);
        launched(steps, cx, pool, &one, [first, second]);
        recorded(steps, cx, [&one, &two], [first, second]);
    }
    reused(steps, cx, [&one, &two], first);
    steps.done("Region::drop", || drop(second));
    if let Some(buffer) = steps.attempt("Buffer::alloc", || Buffer::<u32>::alloc(cx, 16)) {
        let region = steps.attempt("Pool::adopt", || pool.adopt(cx, buffer));
        steps.done("Region::drop of what was adopted", || drop(region));
    }
    peers(steps, cx, &one);
    steps.done("Queue::drop", || drop(two));
    let again = steps.attempt("Pool::queue of one that was dropped", || pool.queue(cx));
    steps.done("Queue::drop", || drop((one, again)));
    steps.attempt("Pool::trim", || pool.trim(cx));
}

fn copies(steps: &Steps, cx: &Current<'_, 'static>, queue: &Queue, [to, from]: [&Region; 2]) {
    steps.attempt("Queue::fill", || queue.fill(cx, from, 7u8));
    steps.attempt("Queue::fill", || queue.fill(cx, from, 7u16));
    steps.attempt("Queue::fill", || queue.fill(cx, from, 7u32));
    steps.attempt("Queue::copy", || queue.copy(cx, to, from));
    let planes = (Plane { region: to, pitch: 32, rows: 4 }, Plane { region: from, pitch: 16, rows: 4 });
    steps.attempt("Queue::copy_block", || queue.copy_block(cx, planes.0, planes.1, (8, 4)));
    steps.attempt("Queue::copy_block", || queue.copy_block(cx, planes.0, planes.1, (8, 4, 2)));
}

fn host(steps: &Steps, cx: &Current<'_, 'static>, pool: &Pool, queue: &Queue, region: &Region) {
    let Some(pinned) = steps.attempt("Pool::pinned", || pool.pinned(cx, BYTES)) else { return };
    steps.attempt("Queue::upload", || queue.upload(cx, region, pinned));
    let Some(pinned) = steps.attempt("Pool::pinned", || pool.pinned(cx, BYTES)) else { return };
    if let Some(read) = steps.attempt("Queue::read", || queue.read(cx, region, pinned)) {
        steps.attempt("Read::is_done", || read.is_done());
        if let Some(pinned) = steps.attempt("Read::wait", || read.wait()) {
            steps.done("Pinned::drop", || drop(pinned));
        }
    }
    let Some(pinned) = steps.attempt("Pool::pinned", || pool.pinned(cx, BYTES)) else { return };
    if let Some(mut read) = steps.attempt("Queue::read", || queue.read(cx, region, pinned)) {
        let mut task = Task::from_waker(Waker::noop());
        steps.attempt("Read::poll", || match Pin::new(&mut read).poll(&mut task) {
            std::task::Poll::Ready(ready) => ready.map(drop),
            std::task::Poll::Pending => Ok(()),
        });
        steps.done("Read::drop", || drop(read));
    }
}

fn launched(steps: &Steps, cx: &Current<'_, 'static>, pool: &Pool, queue: &Queue, [x, y]: [&Region; 2]) {
    let ptx = include_str!("../../../kernels/saxpy.ptx");
    let Some(module) = steps.attempt("Module::load_ptx", || Module::load_ptx(cx, ptx)) else { return };
    let module = module.share();
    if let Some(saxpy) = steps.attempt("Pool::function", || pool.function(&module, "saxpy")) {
        let arguments = [Arg::U32(16), Arg::F32(2.0), Arg::Region(x), Arg::Region(y)];
        let config = LaunchConfig::new(1, 32);
        // SAFETY: saxpy touches 16 floats of each region.
        steps.attempt("Queue::launch", || unsafe { queue.launch(cx, &saxpy, config, &arguments, &[]) });
        steps.done("SharedFunction::drop", || drop(saxpy));
    }
    steps.done("Shared<Module>::drop", || drop(module));
}

fn recorded(steps: &Steps, cx: &Current<'_, 'static>, [one, two]: [&Queue; 2], [to, from]: [&Region; 2]) {
    for _ in 0..2 {
        let Some(recording) = steps.attempt("Queue::record", || one.record(cx)) else { continue };
        steps.attempt("Queue::copy in a recording", || one.copy(cx, to, from));
        if let Some(mark) = steps.attempt("Queue::mark in a recording", || one.mark(cx)) {
            let joined = steps.attempt("Queue::wait in a recording", || two.wait(cx, &mark));
            let mark = || steps.attempt("Queue::mark in a recording", || two.mark(cx));
            if let Some(back) = joined.and_then(|()| mark()) {
                steps.attempt("Queue::wait in a recording", || one.wait(cx, &back));
            }
        }
        let Some(replay) = steps.attempt("Recording::end", || recording.end(cx)) else { continue };
        steps.attempt("Queue::replay", || one.replay(cx, &replay));
        steps.attempt("Queue::replay elsewhere", || two.replay(cx, &replay));
        steps.done("Replay::drop", || drop(replay));
    }
    if let Some(recording) = steps.attempt("Queue::record", || one.record(cx)) {
        steps.done("Recording::drop", || drop(recording));
    }
}

/// Memory that another queue has used is wanted again.
fn reused(steps: &Steps, cx: &Current<'_, 'static>, [one, two]: [&Queue; 2], region: Option<Region>) {
    if let (Some(region), Some(mark)) = (&region, steps.attempt("Queue::mark", || one.mark(cx))) {
        if steps.attempt("Queue::wait", || two.wait(cx, &mark)).is_some() {
            steps.attempt("Queue::fill", || two.fill(cx, region, 1u8));
        }
        steps.attempt("Mark::is_done", || mark.is_done());
        steps.attempt("Mark::synchronize", || mark.synchronize());
        steps.done("Mark::drop", || drop(mark));
    }
    steps.done("Region::drop", || drop(region));
    let again = steps.attempt("Queue::alloc of memory in limbo", || one.alloc(cx, BYTES));
    steps.done("Region::drop", || drop(again));
    let again = steps.attempt("Queue::alloc of memory of the lane", || one.alloc(cx, BYTES));
    steps.done("Region::drop", || drop(again));
}

/// Memory of another context of the device.
fn peers(steps: &Steps, cx: &Current<'_, 'static>, queue: &Queue) {
    let device = cx.context().device();
    let create = || Context::create(device, ContextFlags::empty());
    let Some(there) = steps.attempt("Context::create", create) else { return };
    let there = there.share();
    steps.expect_nothing();
    let made = steps.attempt("Shared::enter", || {
        there.enter(|there| {
            while_they_succeed(|| {
                let pool = Pool::new(there);
                let other = steps.attempt("Pool::queue", || pool.queue(there))?;
                let region = steps.attempt("Queue::alloc", || other.alloc(there, BYTES))?;
                let mark = steps.attempt("Queue::mark", || other.mark(there))?;
                Some((region, mark))
            })
        })
    });
    if let Some(Some((region, mark))) = made {
        if steps.attempt("Queue::wait", || queue.wait(cx, &mark)).is_some() {
            if let Some(to) = steps.attempt("Queue::alloc", || queue.alloc(cx, BYTES)) {
                steps.attempt("Queue::copy_peer", || queue.copy_peer(cx, &to, &region));
            }
        }
        steps.done("Region::drop of the last user of a pool", || drop((mark, region)));
    }
    steps.done("Shared<ContextRef>::drop", || drop(there));
    steps.expect(cx.context());
}
