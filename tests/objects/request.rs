//! Work that outlives the function that queued it.

use std::collections::VecDeque;
use std::error::Error as StdError;
use std::sync::atomic::{AtomicUsize, Ordering};

use cuprum::context::ContextStack;
use cuprum::memory::PinnedFlags;
use cuprum::stream::{Event, EventFlags, Pending, Request};
use cuprum::{
    Buffer, ContextRef, Current, Error, In, InOut, Kernel, LaunchConfig, MemoryError, PinnedBuffer, Shared,
    Stream,
};

use crate::common::{context, kernels};

const LEN: usize = 4096;

/// The memory of one request, on both sides, with its kernel.
struct Slot {
    host: PinnedBuffer<'static, f32>,
    x: Buffer<'static, f32>,
    y: Buffer<'static, f32>,
    saxpy: Kernel<'static, (u32, f32, In<f32>, InOut<f32>)>,
}

fn shared() -> Shared<ContextRef> {
    context().share()
}

fn event(cx: &Current<'_, 'static>) -> Event<'static> {
    Event::new(cx, EventFlags::DISABLE_TIMING).unwrap()
}

fn slot(cx: &Current<'_, 'static>) -> Request<Slot> {
    let module = kernels!(cx, "saxpy").share();
    let slot = Slot {
        host: PinnedBuffer::zeroed(cx, LEN, PinnedFlags::empty()).unwrap(),
        x: Buffer::zeroed(cx, LEN).unwrap(),
        y: Buffer::alloc(cx, LEN).unwrap(),
        saxpy: module.kernel("saxpy").unwrap(),
    };
    Request::new(event(cx), slot)
}

/// Queues y = 3 * y + y on the device, from the host's memory and back to it.
fn submit(
    cx: &Current<'_, '_>,
    stream: &Stream<'_>,
    request: Request<Slot>,
) -> Result<Pending<Slot>, Box<dyn StdError>> {
    let pending = request.submit(cx, stream, |scope, slot| -> Result<(), Box<dyn StdError>> {
        let host = scope.lend(&mut slot.host)?;
        let (x, y) = (scope.lend(slot.x.as_mut_slice())?, scope.lend(slot.y.as_mut_slice())?);
        scope.copy(&y, &host)?;
        scope.copy(&x, &y)?;
        let config = LaunchConfig::for_elements(LEN, 256);
        // SAFETY: saxpy(n, alpha, x, y) touches n elements of each, which are lent to the scope of
        // this stream; the kernel is kept with them.
        unsafe { slot.saxpy.launch(cx, stream, config, (LEN as u32, 3.0, &x, &y)) }?;
        scope.copy(&host, &y)?;
        Ok(())
    });
    Ok(pending?)
}

#[test]
fn its_memory_comes_back_with_the_result() {
    let context = shared();
    let host = context
        .enter(|cx| {
            let stream = Stream::non_blocking(cx).unwrap();
            let mut request = slot(cx);
            request.host.fill(2.0);
            let request = submit(cx, &stream, request).unwrap().wait().unwrap();
            Ok(request.into_parts().1.host.to_vec())
        })
        .unwrap();
    assert_eq!(host, [8.0; LEN]);
}

#[test]
fn it_outlives_function_stream_and_thread() {
    let context = shared();
    let pending = {
        let queued = context.enter(|cx| {
            let stream = Stream::new(cx).unwrap();
            let mut request = slot(cx);
            request.host.fill(1.0);
            Ok(submit(cx, &stream, request).unwrap())
        });
        queued.unwrap()
    };
    drop(context);
    let sum = std::thread::spawn(move || {
        // A device that works late does nothing until it is waited for.
        let mut times = 0..1000;
        while times.next().is_some() && !pending.is_done().unwrap() {
            std::thread::yield_now();
        }
        pending.wait().unwrap().host.iter().sum::<f32>()
    });
    assert_eq!(sum.join().unwrap(), 4.0 * LEN as f32);
}

#[test]
fn a_queue_of_requests_gives_each_its_own_answer() {
    let context = shared();
    let answers = context.enter_as(|cx| -> Result<Vec<f32>, Box<dyn StdError>> {
        let streams = [Stream::non_blocking(cx)?, Stream::non_blocking(cx)?];
        let mut idle: Vec<_> = (0..3).map(|_| slot(cx)).collect();
        let (mut queue, mut answers) = (VecDeque::new(), Vec::new());
        for round in 0..20usize {
            if idle.is_empty() {
                let oldest: Pending<Slot> = queue.pop_front().expect("one is on its way");
                let done = oldest.wait()?;
                answers.push(done.host[LEN - 1]);
                idle.push(done);
            }
            let mut request = idle.pop().expect("one is idle");
            request.host.fill(round as f32);
            queue.push_back(submit(cx, &streams[round % 2], request)?);
        }
        for rest in queue {
            answers.push(rest.wait()?.host[0]);
        }
        Ok(answers)
    });
    let expected: Vec<f32> = (0..20u8).map(|round| 4.0 * f32::from(round)).collect();
    assert_eq!(answers.unwrap(), expected);
}

#[test]
fn other_streams_wait_for_it() {
    let context = shared();
    context
        .enter(|cx| {
            let (first, second) = (Stream::non_blocking(cx).unwrap(), Stream::non_blocking(cx).unwrap());
            let mut request = slot(cx);
            request.host.fill(1.0);
            let pending = submit(cx, &first, request).unwrap();
            pending.before(cx, &second).unwrap();
            second.synchronize(cx).unwrap();
            assert!(pending.is_done().unwrap());
            Ok(())
        })
        .unwrap();
}

/// Counts its drops.
struct Counted(&'static AtomicUsize);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn dropping_waits_and_forgetting_leaks() {
    static DROPPED: AtomicUsize = AtomicUsize::new(0);
    let context = shared();
    context
        .enter(|cx| {
            let stream = Stream::new(cx).unwrap();
            let submit = || {
                let host = PinnedBuffer::<u8>::zeroed(cx, 1 << 20, PinnedFlags::empty()).unwrap();
                let buffer = Buffer::<u8>::zeroed(cx, 1 << 20).unwrap();
                let request = Request::new(event(cx), (host, buffer, Counted(&DROPPED)));
                let copy =
                    request.submit(cx, &stream, |scope, (host, buffer, _)| -> Result<(), MemoryError> {
                        scope.copy(&scope.lend(host)?, &scope.lend(buffer.as_mut_slice())?)
                    });
                copy.unwrap()
            };
            drop(submit());
            assert!(stream.is_done(cx).unwrap(), "it was not waited for");
            assert_eq!(DROPPED.load(Ordering::SeqCst), 1);
            std::mem::forget(submit());
            stream.synchronize(cx).unwrap();
            assert_eq!(DROPPED.load(Ordering::SeqCst), 1);
            Ok(())
        })
        .unwrap();
}

#[test]
fn a_body_that_fails_gives_the_request_back_after_a_wait() {
    let context = shared();
    context
        .enter(|cx| {
            let stream = Stream::new(cx).unwrap();
            let error = slot(cx)
                .submit(cx, &stream, |scope, slot| -> Result<(), MemoryError> {
                    let (host, y) = (scope.lend(&mut slot.host)?, scope.lend(slot.y.as_mut_slice())?);
                    scope.fill(&y, 5.0)?;
                    scope.copy(&host, &y)?;
                    scope.copy(&host, &y.slice(1..).unwrap())
                })
                .unwrap_err();
            assert_eq!(error.error, MemoryError::Length { destination_len: LEN, source_len: LEN - 1 });
            assert_eq!(error.request.expect("it is over").host[..], [5.0; LEN]);
            Ok(())
        })
        .unwrap();
}

#[test]
fn a_body_that_panics_is_waited_for() {
    static DROPPED: AtomicUsize = AtomicUsize::new(0);
    let context = shared();
    let panicked = std::panic::catch_unwind(|| {
        context.enter(|cx| {
            let stream = Stream::new(cx).unwrap();
            let request =
                Request::new(event(cx), (Buffer::<u8>::alloc(cx, 4096).unwrap(), Counted(&DROPPED)));
            let _ = request.submit(cx, &stream, |scope, (buffer, _)| -> Result<(), MemoryError> {
                scope.fill(&scope.lend(buffer)?, 1).unwrap();
                panic!("on purpose")
            });
            Ok(())
        })
    });
    assert!(panicked.is_err());
    assert_eq!(DROPPED.load(Ordering::SeqCst), 1);
}

#[test]
fn memory_inside_the_value_is_read_in_place() {
    let context = shared();
    context
        .enter(|cx| {
            let stream = Stream::new(cx).unwrap();
            let value = ([0u32; 64], Buffer::<u32>::zeroed(cx, 64).unwrap());
            let mut request = Request::new(event(cx), value);
            request.0 = std::array::from_fn(|i| i as u32);
            let pending = request
                .submit(cx, &stream, |scope, (array, buffer)| -> Result<(), MemoryError> {
                    scope.copy(&scope.lend(buffer)?, &*array)
                })
                .unwrap();
            let moved = Box::new(pending);
            let (array, buffer) = moved.wait().unwrap().into_parts().1;
            assert_eq!(buffer.to_vec(cx).unwrap(), array);
            Ok(())
        })
        .unwrap();
}

#[test]
fn objects_of_other_contexts_are_refused_and_come_back() {
    let (first, second) = (shared(), shared());
    let mut stack = ContextStack::take().unwrap();
    let mut cx = stack.push(&first).unwrap();
    let request = slot(&cx);
    let stream = Stream::new(&cx).unwrap();
    let cx = cx.push(&second).unwrap();
    let error = request.submit(&cx, &stream, |_, _| -> Result<(), Error> { panic!("it does not run") });
    let error = error.unwrap_err();
    assert!(error.error.code() == cuprum::Error::WRONG_CONTEXT);
    assert_eq!(error.to_string(), error.error.to_string());
    assert!(error.request.is_some());
}
