//! Code that runs on a thread of the driver: functions of the host, wakers, values of user objects.
//! No call is allowed there: one returns an error, objects dropped there leak and are counted, and
//! nothing hangs.
//!
//! Each test runs in a process of its own, because swallowed errors are counted per process, in
//! each mode of the software device.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Wake, Waker};
use std::time::{Duration, Instant};

use cuprum::graph::{Graph, InstantiateFlags, UserObject};
use cuprum::memory::PinnedFlags;
use cuprum::stream::{Event, EventFlags, Pending, Request};
use cuprum::sys::CUresult;
use cuprum::{Buffer, ContextRef, Current, MemoryError, PinnedBuffer, Shared, Stream, swallowed};

use crate::child::in_children;
use crate::common::{context, on_gpu};

const MODES: &[&[(&str, &str)]] = &[
    &[("CUPRUM_EMULATOR_MODE", "eager")],
    &[("CUPRUM_EMULATOR_MODE", "deferred")],
    &[("CUPRUM_EMULATOR_MODE", "async")],
];

/// Runs `body` in each mode; it must come to its end in time.
fn in_each_mode(name: &str, body: impl FnOnce(&Current<'_, 'static>, &Shared<ContextRef>)) {
    in_children(&format!("{}::{name}", module_path!()), MODES, || {
        std::thread::spawn(|| {
            std::thread::sleep(Duration::from_secs(120));
            eprintln!("it hangs");
            std::process::abort();
        });
        let context = context().share();
        context
            .enter(|cx| {
                body(cx, &context);
                Ok(())
            })
            .unwrap();
    });
}

/// Owner of driver objects, each of which calls the driver when it is dropped.
struct Owner {
    _pending: Pending<(PinnedBuffer<'static, u32>, Buffer<'static, u32>)>,
    _buffer: Buffer<'static, u32>,
    _host: PinnedBuffer<'static, u32>,
    _stream: Stream<'static>,
    _event: Event<'static>,
    _graph: Graph<'static>,
    gone: Arc<AtomicBool>,
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.gone.store(true, Ordering::SeqCst);
    }
}

/// Calls that dropping an `Owner` cannot make: the event of the request, then the event of its
/// context, and one for each of five objects. The request leaks.
const REFUSED: u64 = 6;

/// An H100 with driver 580 refused eight.
fn assert_refused(swallowed: u64) {
    assert!(if on_gpu() { swallowed >= REFUSED } else { swallowed == REFUSED }, "{swallowed} refused");
}

fn owner(cx: &Current<'_, 'static>) -> (Owner, Arc<AtomicBool>) {
    let gone = Arc::new(AtomicBool::new(false));
    let host = || PinnedBuffer::zeroed(cx, 4, PinnedFlags::empty()).unwrap();
    let event = || Event::new(cx, EventFlags::DISABLE_TIMING).unwrap();
    let buffer = || Buffer::from_slice(cx, &[1; 4]).unwrap();
    let stream = Stream::new(cx).unwrap();
    let request = Request::new(event(), (host(), buffer()));
    let pending = request
        .submit(cx, &stream, |scope, (host, buffer)| -> Result<(), MemoryError> {
            scope.copy(&scope.lend(host)?, &scope.lend(buffer.as_mut_slice())?)
        })
        .unwrap();
    let graph = Graph::new(cx).unwrap();
    let (_buffer, _host, _event) = (buffer(), host(), event());
    let owner = Owner {
        _pending: pending,
        _buffer,
        _host,
        _stream: stream,
        _event,
        _graph: graph,
        gone: Arc::clone(&gone),
    };
    (owner, gone)
}

/// Waits until something has happened on another thread.
fn until(what: impl Fn() -> bool) {
    let start = Instant::now();
    while !what() {
        assert!(start.elapsed() < Duration::from_secs(60), "it did not happen");
        std::thread::yield_now();
    }
}

/// The answer to a call.
fn asked(context: &Shared<ContextRef>) -> CUresult {
    let answer = context.enter_as(|cx| cx.synchronize());
    answer.err().map_or(CUresult::CUDA_SUCCESS, |error| error.code())
}

const NOT_PERMITTED: CUresult = CUresult::CUDA_ERROR_NOT_PERMITTED;

#[test]
fn a_function_of_the_host_cannot_call_the_driver_and_its_drops_leak() {
    in_each_mode("a_function_of_the_host_cannot_call_the_driver_and_its_drops_leak", |cx, context| {
        let (stream, (owner, gone), before) = (Stream::new(cx).unwrap(), owner(cx), swallowed::count());
        let inside = context.clone();
        let call = stream.call_host(cx, move || {
            drop(owner);
            asked(&inside)
        });
        stream.synchronize(cx).unwrap();
        assert_eq!(call.unwrap().take().unwrap().unwrap(), NOT_PERMITTED);
        assert!(gone.load(Ordering::SeqCst));
        assert_refused(swallowed::count() - before);
        cx.synchronize().unwrap();
        assert_eq!(Buffer::from_slice(cx, &[1u8; 4]).unwrap().to_vec(cx).unwrap(), [1; 4]);
    });
}

#[test]
fn a_node_cannot_call_the_driver_and_its_drops_leak() {
    in_each_mode("a_node_cannot_call_the_driver_and_its_drops_leak", |cx, context| {
        let (stream, (owner, gone), before) = (Stream::new(cx).unwrap(), owner(cx), swallowed::count());
        let (mut owner, inside, answer) = (Some(owner), context.clone(), Arc::new(Mutex::new(None)));
        let told = Arc::clone(&answer);
        let mut graph = Graph::new(cx).unwrap();
        graph
            .add_host(cx, &[], move || {
                drop(owner.take());
                *told.lock().unwrap() = Some(asked(&inside));
            })
            .unwrap();
        let mut executable = graph.instantiate(cx, InstantiateFlags::empty()).unwrap();
        executable.launch(cx, &stream).unwrap();
        assert_eq!(*answer.lock().unwrap(), Some(NOT_PERMITTED));
        assert!(gone.load(Ordering::SeqCst));
        assert_refused(swallowed::count() - before);
        executable.close().map(drop).unwrap();
    });
}

#[test]
fn a_value_that_the_driver_drops_cannot_call_it_and_leaks_its_contents() {
    in_each_mode("a_value_that_the_driver_drops_cannot_call_it_and_leaks_its_contents", |cx, context| {
        struct Value(Shared<ContextRef>, Option<Owner>, Arc<Mutex<Option<CUresult>>>);
        impl Drop for Value {
            fn drop(&mut self) {
                drop(self.1.take());
                *self.2.lock().unwrap_or_else(PoisonError::into_inner) = Some(asked(&self.0));
            }
        }
        let ((owner, _), before) = (owner(cx), swallowed::count());
        let answer = Arc::new(Mutex::new(None));
        let value = Value(context.clone(), Some(owner), Arc::clone(&answer));
        let mut graph = Graph::new(cx).unwrap();
        graph.retain(&UserObject::new(cx.context().driver(), value).unwrap()).unwrap();
        let mut executable = graph.instantiate(cx, InstantiateFlags::empty()).unwrap();
        executable.launch(cx, &Stream::new(cx).unwrap()).unwrap();
        executable.close().map(drop).unwrap();
        until(|| answer.lock().unwrap().is_some());
        assert_eq!(*answer.lock().unwrap(), Some(NOT_PERMITTED));
        assert_refused(swallowed::count() - before);
    });
}

/// A task as executors have them: it owns the objects that the future works on.
struct Task {
    _owner: Mutex<Owner>,
    context: Shared<ContextRef>,
    woken: AtomicU32,
    answer: Mutex<Option<CUresult>>,
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        *self.answer.lock().unwrap() = Some(asked(&self.context));
        self.woken.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn a_waker_cannot_call_the_driver_and_no_task_is_dropped_there() {
    in_each_mode("a_waker_cannot_call_the_driver_and_no_task_is_dropped_there", |cx, context| {
        let ((owner, gone), stream) = (owner(cx), Stream::new(cx).unwrap());
        let answer = Mutex::new(None);
        let task =
            Task { _owner: Mutex::new(owner), context: context.clone(), woken: AtomicU32::new(0), answer };
        let task = Arc::new(task);
        let before = swallowed::count();
        let mut future = Box::pin(stream.reached(cx).unwrap());
        let pending =
            future.as_mut().poll(&mut Context::from_waker(&Waker::from(Arc::clone(&task)))).is_pending();
        let watched = Arc::downgrade(&task);
        // From here on the waker alone has the task.
        drop(task);
        stream.synchronize(cx).unwrap();
        if pending {
            until(|| watched.upgrade().is_none_or(|task| task.woken.load(Ordering::SeqCst) > 0));
            let task = watched.upgrade().expect("the future still has the waker");
            assert_eq!(*task.answer.lock().unwrap(), Some(NOT_PERMITTED));
        }
        assert_eq!(gone.load(Ordering::SeqCst), !pending);
        drop(future);
        assert!(gone.load(Ordering::SeqCst));
        assert_eq!(swallowed::count(), before, "all of it was freed");
    });
}

/// Futures dropped while they are notified: the next caller drops the waker, never the driver.
#[test]
fn futures_dropped_while_notified_leave_their_wakers_to_others() {
    in_each_mode("futures_dropped_while_notified_leave_their_wakers_to_others", |cx, _| {
        let stream = Stream::new(cx).unwrap();
        let before = swallowed::count();
        let mut tasks = Vec::new();
        for round in 0..300 {
            let buffer = Buffer::<u8>::alloc(cx, 64).unwrap();
            let kept = Arc::new(Small { _buffer: Some(buffer) });
            let mut future = Box::pin(stream.reached(cx).unwrap());
            let waker = Waker::from(Arc::clone(&kept));
            let _ = pin!(&mut future).poll(&mut Context::from_waker(&waker));
            tasks.push(Arc::downgrade(&kept));
            drop((waker, kept));
            for _ in 0..round {
                std::hint::spin_loop();
            }
            drop(future);
            if round % 7 == 0 {
                stream.synchronize(cx).unwrap();
            }
        }
        stream.synchronize(cx).unwrap();
        until(|| {
            drop(stream.reached(cx).unwrap());
            stream.synchronize(cx).unwrap();
            tasks.iter().all(|task| task.upgrade().is_none())
        });
        assert_eq!(swallowed::count(), before, "all of it was freed");
    });
}

/// A waker that owns a buffer.
struct Small {
    _buffer: Option<Buffer<'static, u8>>,
}

impl Wake for Small {
    fn wake(self: Arc<Self>) {}
}
