//! Futures of streams, events and requests, in two executors: one that blocks a thread on one
//! future, and one that runs many tasks.

use std::cell::RefCell;
use std::error::Error as StdError;
use std::future::Future;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use cuprum::memory::PinnedFlags;
use cuprum::stream::{Event, EventFlags, PendingFuture, Request};
use cuprum::{Buffer, Current, MemoryError, PinnedBuffer, Stream};

use crate::common::{context, in_context};
use crate::executors::{Tasks, block_on};

const LEN: usize = 1 << 16;

type Slot = (PinnedBuffer<'static, u32>, Buffer<'static, u32>);

fn slot(cx: &Current<'_, 'static>) -> Request<Slot> {
    let host = PinnedBuffer::zeroed(cx, LEN, PinnedFlags::empty()).unwrap();
    let event = Event::new(cx, EventFlags::DISABLE_TIMING).unwrap();
    Request::new(event, (host, Buffer::alloc(cx, LEN).unwrap()))
}

/// Fills the device with `value`, copies it to the host, and reports completion through `on`.
fn submit(
    cx: &Current<'_, '_>,
    stream: &Stream<'_>,
    on: &Stream<'_>,
    request: Request<Slot>,
    value: u32,
) -> Result<PendingFuture<Slot>, Box<dyn StdError>> {
    let pending = request.submit(cx, stream, |scope, (host, buffer)| -> Result<(), MemoryError> {
        let device = scope.lend(buffer.as_mut_slice())?;
        scope.fill(&device, value)?;
        scope.copy(&scope.lend(host)?, &device)
    })?;
    Ok(pending.notify(cx, on)?)
}

#[test]
fn a_stream_and_an_event_are_awaited() {
    in_context(|cx| {
        let (stream, beside) = (Stream::new(cx).unwrap(), Stream::non_blocking(cx).unwrap());
        let mut buffer = Buffer::<u8>::alloc(cx, 1 << 20).unwrap();
        cx.fill(&mut buffer, 1).unwrap();
        let event = Event::new(cx, EventFlags::empty()).unwrap();
        event.record(cx, &stream).unwrap();
        block_on(event.reached(cx, &beside).unwrap()).unwrap();
        assert!(event.is_done().unwrap());
        let mut reached = pin!(stream.reached(cx).unwrap());
        block_on(reached.as_mut()).unwrap();
        block_on(reached).expect("asked again, it says the same");
    });
}

#[test]
fn one_future_blocks_its_thread() {
    let context = context().share();
    let pending = context
        .enter(|cx| {
            let (stream, beside) = (Stream::new(cx).unwrap(), Stream::new(cx).unwrap());
            Ok(submit(cx, &stream, &beside, slot(cx), 7).unwrap())
        })
        .unwrap();
    let done = std::thread::spawn(|| block_on(pending).unwrap()).join().unwrap();
    assert_eq!(done.0[..], [7; LEN]);
}

#[test]
fn many_tasks_share_two_streams() {
    const TASKS: u32 = 12;
    const ROUNDS: u32 = 5;
    let context = context().share();
    let streams =
        context.enter(|cx| Ok([Stream::new(cx).unwrap(), Stream::non_blocking(cx).unwrap()])).unwrap();
    let (tasks, sums) = (Tasks::default(), Rc::new(RefCell::new(Vec::new())));
    for task in 0..TASKS {
        let (context, sums, stream) = (context.clone(), Rc::clone(&sums), &streams[task as usize % 2]);
        tasks.spawn(async move {
            let mut request = context.enter(|cx| Ok(slot(cx))).unwrap();
            let mut sum = 0;
            for round in 0..ROUNDS {
                let queued = context.enter_as(|cx| submit(cx, stream, stream, request, task + round));
                request = queued.unwrap().await.unwrap();
                assert!(request.0.iter().all(|&element| element == task + round));
                sum += request.0[LEN - 1];
            }
            sums.borrow_mut().push((task, sum));
        });
    }
    tasks.run();
    let mut sums = sums.take();
    sums.sort_unstable();
    assert_eq!(sums, (0..TASKS).map(|task| (task, ROUNDS * task + 10)).collect::<Vec<_>>());
}

/// Counts how often it wakes, and panics then.
struct Panics(AtomicUsize);

impl Wake for Panics {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
        std::panic::resume_unwind(Box::new("on purpose"));
    }
}

#[test]
fn a_waker_that_panics_does_no_harm() {
    in_context(|cx| {
        let stream = Stream::new(cx).unwrap();
        let counted = Arc::new(Panics(AtomicUsize::new(0)));
        let waker = Waker::from(Arc::clone(&counted));
        let mut woken = false;
        // The stream may have got there before the future is asked for the first time.
        for _ in 0..100 {
            let mut reached = pin!(stream.reached(cx).unwrap());
            let first = reached.as_mut().poll(&mut Context::from_waker(&waker));
            stream.synchronize(cx).unwrap();
            block_on(reached).unwrap();
            woken |= first.is_pending();
        }
        assert!(!woken || counted.0.load(Ordering::SeqCst) > 0);
    });
}

#[test]
fn a_future_that_is_dropped_lets_go_of_its_waker_and_waits_for_its_work() {
    let context = context().share();
    let counted = Arc::new(Panics(AtomicUsize::new(0)));
    let waker = Waker::from(Arc::clone(&counted));
    context
        .enter(|cx| {
            let stream = Stream::new(cx).unwrap();
            let mut pending = submit(cx, &stream, &stream, slot(cx), 1).unwrap();
            let _ = pin!(&mut pending).poll(&mut Context::from_waker(&waker));
            drop(waker);
            drop(pending);
            stream.synchronize(cx).unwrap();
            // The driver's thread may be about to call it, and leaves it to the next future then.
            let start = Instant::now();
            while Arc::strong_count(&counted) > 1 && start.elapsed() < Duration::from_secs(10) {
                std::thread::sleep(Duration::from_millis(1));
                drop(stream.reached(cx).unwrap());
            }
            Ok(())
        })
        .unwrap();
    assert_eq!(Arc::strong_count(&counted), 1);
}

#[test]
fn a_future_that_is_forgotten_is_called_all_the_same() {
    let context = context().share();
    context
        .enter(|cx| {
            let stream = Stream::new(cx).unwrap();
            for _ in 0..10 {
                let mut pending = submit(cx, &stream, &stream, slot(cx), 1).unwrap();
                let _ = pin!(&mut pending).poll(&mut Context::from_waker(Waker::noop()));
                std::mem::forget(pending);
                std::mem::forget(stream.reached(cx).unwrap());
            }
            stream.synchronize(cx).unwrap();
            Ok(())
        })
        .unwrap();
}

#[test]
fn a_future_that_was_ready_stays_pending() {
    let context = context().share();
    context
        .enter(|cx| {
            let stream = Stream::new(cx).unwrap();
            let mut pending = submit(cx, &stream, &stream, slot(cx), 1).unwrap();
            assert_eq!(block_on(&mut pending).unwrap().0[0], 1);
            let again = pin!(&mut pending).poll(&mut Context::from_waker(Waker::noop()));
            assert!(matches!(again, Poll::Pending));
            Ok(())
        })
        .unwrap();
}
