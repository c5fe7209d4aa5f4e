//! Workers: threads that own their stack of contexts and run closures.

mod processes;

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use cuprum::sys::{CUcontext, CUresult, call};
use cuprum::{
    Buffer, ContextStack, In, InOut, Job, LaunchConfig, Module, SharedContext, StackTaken, Stream, Worker,
    WorkerError,
};

use crate::common::{self, context, raw_current};

fn shared() -> SharedContext {
    context().share()
}

fn worker() -> Worker {
    Worker::spawn(&shared()).expect("a worker")
}

/// True if the driver knows a context.
fn is_alive(raw: CUcontext) -> bool {
    let mut version = 0;
    // SAFETY: the out-parameter outlives the call; a handle that is none any more is refused.
    let (code, _) =
        unsafe { call!(common::driver().library().fns(), cuCtxGetApiVersion(raw, &raw mut version)) };
    code == CUresult::CUDA_SUCCESS
}

/// Waits until the driver does not know a context any more.
fn goes(raw: CUcontext) {
    let start = Instant::now();
    while is_alive(raw) {
        assert!(start.elapsed() < Duration::from_secs(20), "the context stays");
        thread::yield_now();
    }
}

#[test]
fn closures_run_on_the_workers_thread_with_the_context_current() {
    let context = shared();
    let worker = Worker::spawn(&context).unwrap();
    let (there, name, current) = worker
        .run(|cx| {
            assert_eq!(cx.context(), &*context);
            (thread::current().id(), thread::current().name().map(str::to_owned), raw_current().0 as usize)
        })
        .unwrap();
    assert_ne!(there, thread::current().id());
    assert_eq!(name.as_deref(), Some("cuprum worker"));
    assert_eq!(current, context.as_raw().0 as usize);
    assert!(raw_current().is_null(), "nothing changed on this thread");
    worker.close().unwrap();
}

#[test]
fn run_borrows_and_submit_owns() {
    let worker = worker();
    let (input, mut output) = (vec![1u32, 2, 3], vec![0; 3]);
    let buffer = worker.run(|cx| Buffer::from_slice(cx, &input)).unwrap().unwrap();
    worker.run(|cx| buffer.copy_to_host(cx, &mut output)).unwrap().unwrap();
    assert_eq!(output, input);
    let job = worker.submit(move |cx| buffer.to_vec(cx)).unwrap();
    assert_eq!(job.wait().unwrap().unwrap(), input);
    worker.close().unwrap();
}

#[test]
fn closures_run_in_the_order_in_which_they_were_handed_over() {
    let (worker, order) = (worker(), Arc::new(Mutex::new(Vec::new())));
    let jobs: Vec<Job<()>> = (0..100)
        .map(|n| {
            let order = Arc::clone(&order);
            worker.submit(move |_| order.lock().unwrap().push(n)).unwrap()
        })
        .collect();
    worker.run(|_| order.lock().unwrap().push(100)).unwrap();
    assert!(jobs.iter().all(Job::is_done));
    assert_eq!(*order.lock().unwrap(), (0..=100).collect::<Vec<_>>());
}

#[test]
fn many_threads_share_one_worker() {
    let (worker, count) = (worker(), AtomicU32::new(0));
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for n in 0..50u32 {
                    let got = worker.run(|cx| Buffer::from_slice(cx, &[n]).unwrap().to_vec(cx).unwrap());
                    assert_eq!(got.unwrap(), [n]);
                    count.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(count.into_inner(), 400);
}

/// Runs `body` without the words of the panic hook.
fn quietly<R>(body: impl FnOnce() -> R) -> R {
    static QUIET: std::sync::Once = std::sync::Once::new();
    QUIET.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if thread::current().name() != Some("cuprum worker") {
                before(info);
            }
        }));
    });
    body()
}

#[test]
fn a_panic_is_reported_and_the_worker_goes_on() {
    let worker = worker();
    let told = quietly(|| worker.run(|_| panic!("{}", "number 7".to_owned())).unwrap_err());
    assert_eq!(told.to_string(), "a closure panicked on the worker: number 7");
    let WorkerError::Panicked(panic) = told else { panic!("another error") };
    assert_eq!(*panic.into_payload().downcast::<String>().unwrap(), "number 7");
    let job = quietly(|| worker.submit(|_| std::panic::panic_any(5u8)).map(|job: Job<()>| job)).unwrap();
    let WorkerError::Panicked(panic) = job.wait().unwrap_err() else { panic!("another error") };
    assert_eq!(panic.message(), "a value that is no text");
    assert_eq!(*panic.into_payload().downcast::<u8>().unwrap(), 5);
    assert!(worker.run(|cx| cx.memory_info().is_ok()).unwrap());
    worker.close().expect("both panics were told");
}

#[test]
fn what_a_panicking_closure_borrowed_is_free_when_it_is_told() {
    let worker = worker();
    let mut borrowed = vec![1, 2, 3];
    let told = quietly(|| {
        worker.run(|_| {
            borrowed.push(4);
            panic!("in between")
        })
    });
    assert!(matches!(told, Err::<(), _>(WorkerError::Panicked(_))));
    borrowed.push(5);
    assert_eq!(borrowed, [1, 2, 3, 4, 5]);
}

#[test]
fn a_panic_that_nobody_waits_for_is_told_by_close() {
    let worker = worker();
    quietly(|| {
        drop(worker.submit(|_| panic!("the first")).map(|job: Job<()>| job).unwrap());
        drop(worker.submit(|_| panic!("the second")).map(|job: Job<()>| job).unwrap());
    });
    let told = worker.close().unwrap_err();
    assert_eq!(told.to_string(), "a closure panicked on the worker: the first");
}

/// Panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("in a drop");
    }
}

#[test]
fn drops_that_panic_are_panics_of_the_closure() {
    let worker = worker();
    let captured = Bomb;
    let told = quietly(|| worker.run(move |_| drop(captured))).unwrap_err();
    assert!(matches!(&told, WorkerError::Panicked(panic) if panic.message() == "in a drop"));
    // A result that nobody takes.
    let (sender, receiver) = mpsc::channel::<()>();
    let job = quietly(|| worker.submit(move |_| receiver.recv().map_or(Bomb, |()| Bomb))).unwrap();
    drop(job);
    sender.send(()).unwrap();
    // What a closure panicked with, in turn.
    let told = quietly(|| worker.run(|_| std::panic::panic_any(Bomb))).unwrap_err();
    quietly(|| thread::Builder::new().name("cuprum worker".to_owned()).spawn(move || drop(told)))
        .unwrap()
        .join()
        .expect("dropping the error does not panic");
    assert!(worker.run(|cx| cx.synchronize()).unwrap().is_ok(), "it goes on");
    assert!(matches!(worker.close(), Err(WorkerError::Panicked(panic)) if panic.message() == "in a drop"));
}

#[test]
fn waiting_for_oneself_is_an_error() {
    let worker = Arc::new(worker());
    let inner = Arc::clone(&worker);
    let answers = worker
        .run(move |_| {
            let ran = inner.run(|_| ()).unwrap_err();
            let waited = inner.submit(|_| ()).unwrap().wait().unwrap_err();
            (ran.to_string(), waited.to_string())
        })
        .unwrap();
    assert!(answers.0.contains("own thread") && answers.1.contains("own thread"), "{answers:?}");
    let (sender, receiver) = mpsc::channel::<Worker>();
    let other = Worker::spawn(&shared()).unwrap();
    let job = other.submit(move |_| receiver.recv().unwrap().close().unwrap_err().to_string()).unwrap();
    sender.send(other).unwrap();
    assert!(job.wait().unwrap().contains("own thread"));
}

/// Submitting more from within is no wait.
#[test]
fn a_closure_may_submit_to_its_own_worker() {
    let worker = Arc::new(worker());
    let (inner, (sender, receiver)) = (Arc::clone(&worker), mpsc::channel());
    let nested = worker.run(move |_| inner.submit(move |cx| sender.send(cx.memory_info().is_ok())).unwrap());
    nested.unwrap().wait().unwrap().unwrap();
    assert!(receiver.recv().unwrap());
}

#[test]
fn a_closure_may_drop_its_own_worker() {
    let context = shared();
    let raw = context.as_raw();
    let (sender, receiver) = mpsc::channel::<Worker>();
    let worker = Worker::spawn(&context).unwrap();
    drop(context);
    let job = worker
        .submit(move |cx| {
            drop(receiver.recv().unwrap());
            cx.memory_info().is_ok()
        })
        .unwrap();
    sender.send(worker).unwrap();
    assert!(job.wait().unwrap());
    goes(raw);
}

#[test]
fn dropping_does_not_wait_and_what_is_queued_runs() {
    let context = shared();
    let (raw, ran) = (context.as_raw(), Arc::new(AtomicBool::new(false)));
    let (sender, receiver) = mpsc::channel::<()>();
    let worker = Worker::spawn(&context).unwrap();
    drop(context);
    let held = worker.submit(move |_| receiver.recv().unwrap()).unwrap();
    let last = worker
        .submit({
            let ran = Arc::clone(&ran);
            move |_| ran.store(true, Ordering::SeqCst)
        })
        .unwrap();
    drop(worker);
    assert!(!held.is_done() && !ran.load(Ordering::SeqCst), "the drop has not waited");
    assert!(is_alive(raw), "the thread has a share");
    sender.send(()).unwrap();
    held.wait().unwrap();
    last.wait().unwrap();
    assert!(ran.load(Ordering::SeqCst));
    goes(raw);
}

#[test]
fn closing_waits_and_gives_back_the_share() {
    let context = shared();
    let raw = context.as_raw();
    let worker = Worker::spawn(&context).unwrap();
    drop(context);
    let count = Arc::new(AtomicU32::new(0));
    for _ in 0..20 {
        let count = Arc::clone(&count);
        drop(worker.submit(move |_| count.fetch_add(1, Ordering::SeqCst)).unwrap());
    }
    worker.close().unwrap();
    assert_eq!(count.load(Ordering::SeqCst), 20);
    assert!(!is_alive(raw));
}

#[test]
fn what_a_closure_forgets_is_popped() {
    let (ours, theirs) = (shared(), shared());
    let worker = Worker::spawn(&ours).unwrap();
    for _ in 0..3 {
        worker.run(|cx| std::mem::forget(cx.push(&theirs).unwrap())).unwrap();
        worker
            .run(|cx| {
                assert_eq!(raw_current(), ours.as_raw());
                assert_eq!(Buffer::from_slice(cx, &[3u8]).unwrap().to_vec(cx).unwrap(), [3]);
            })
            .unwrap();
    }
    worker.close().unwrap();
    let raw = theirs.as_raw();
    drop(theirs);
    assert!(!is_alive(raw), "nothing forgotten keeps it");
}

/// The thread's stack is the worker's.
#[test]
fn a_closure_pushes_from_its_token_or_enters() {
    let (worker, other) = (worker(), shared());
    worker
        .run(|cx| {
            assert_eq!(ContextStack::take().unwrap_err(), StackTaken);
            cx.push(&other).unwrap().memory_info().unwrap();
            other.enter(|cx| cx.memory_info().unwrap()).unwrap();
            cx.memory_info().unwrap();
        })
        .unwrap();
}

/// Workers on different contexts, one from within another.
#[test]
fn a_closure_may_wait_for_another_worker() {
    let (first, second) = (worker(), worker());
    let made = first.run(|cx| {
        let buffer = second.run(|cx| Buffer::from_slice(cx, &[9u8]).unwrap()).unwrap();
        assert!(buffer.to_vec(cx).is_err(), "it belongs to the other context");
        buffer
    });
    let made = made.unwrap();
    assert_eq!(second.run(|cx| made.to_vec(cx).unwrap()).unwrap(), [9]);
}

/// The closure has a kernel, a stream and buffers of its caller, of any lifetime.
#[test]
fn run_launches_what_the_caller_holds() {
    let worker = worker();
    let module =
        worker.run(|cx| Module::load_ptx(cx, include_str!("../../../kernels/saxpy.ptx"))).unwrap().unwrap();
    let kernel = module.function("saxpy").unwrap().bind::<(u32, f32, In<f32>, InOut<f32>)>().unwrap();
    let got = worker.run(|cx| {
        let (x, mut y) =
            (Buffer::from_slice(cx, &[1f32; 8]).unwrap(), Buffer::from_slice(cx, &[1f32; 8]).unwrap());
        let config = LaunchConfig::new(1, 8);
        // SAFETY: saxpy touches eight elements of each; the copy comes after it on the same stream.
        unsafe { kernel.launch(cx, &Stream::default_in(cx), config, (8u32, 3f32, &x, &mut y)) }.unwrap();
        y.to_vec(cx).unwrap()
    });
    assert_eq!(got.unwrap(), [4.0; 8]);
}

/// A worker that a thread keeps until it ends, and uses when it does.
#[test]
fn a_thread_may_keep_a_worker_until_it_ends() {
    struct AtTheEnd(Worker);
    impl Drop for AtTheEnd {
        fn drop(&mut self) {
            assert!(self.0.run(|cx| cx.memory_info().is_ok()).unwrap());
        }
    }
    thread_local! {
        static KEPT: Cell<Option<AtTheEnd>> = const { Cell::new(None) };
    }
    thread::spawn(|| KEPT.set(Some(AtTheEnd(worker())))).join().expect("no destructor panics");
}
