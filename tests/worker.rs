//! Workers: threads that own their stack of contexts and run closures.

#[path = "support/child.rs"]
mod child;
mod common;

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use child::in_child;
use common::{context, on_gpu, raw_current};
use cuprum::sys::{CUcontext, CUresult, call};
use cuprum::{
    Buffer, ContextStack, In, InOut, Job, LaunchConfig, Module, SharedContext, StackTaken, Stream, Worker,
    WorkerError,
};

fn shared() -> SharedContext {
    context().share()
}

fn worker() -> Worker {
    Worker::spawn(&shared()).expect("a worker")
}

/// Whether the driver knows a context.
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
        worker.run(|cx| Module::load_ptx(cx, include_str!("../kernels/saxpy.ptx"))).unwrap().unwrap();
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

/// The system has no memory for one more stack.
#[cfg(target_os = "linux")]
#[test]
fn a_thread_that_cannot_be_started_is_an_error() {
    in_child("a_thread_that_cannot_be_started_is_an_error", || {
        use std::ffi::c_int;
        unsafe extern "C" {
            fn setrlimit(resource: c_int, limit: *const [u64; 2]) -> c_int;
        }
        /// Bytes of address space.
        const RLIMIT_AS: c_int = 9;
        let context = shared();
        let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
        let used: u64 = pages.split(' ').next().unwrap().parse::<u64>().unwrap() * 4096;
        // Less than the two MiB of a thread's stack.
        let limit = [used + (1 << 20); 2];
        // SAFETY: C's own function, and a struct of two numbers.
        assert_eq!(unsafe { setrlimit(RLIMIT_AS, &raw const limit) }, 0);
        let error = Worker::spawn(&context).unwrap_err();
        assert!(matches!(error, WorkerError::Spawn(_)), "{error}");
        assert!(error.to_string().starts_with("the worker's thread could not be started: "), "{error}");
        let raw = context.as_raw();
        drop(context);
        assert!(on_gpu() || !is_alive(raw), "no share is left");
    });
}

/// The child has no worker: whoever would wait for one is told, drops do nothing, and nobody hangs.
#[cfg(unix)]
#[test]
fn a_forked_child_is_told() {
    in_child("a_forked_child_is_told", || {
        use std::ffi::c_int;
        unsafe extern "C" {
            fn fork() -> c_int;
            fn waitpid(pid: c_int, status: *mut c_int, options: c_int) -> c_int;
            fn alarm(seconds: u32) -> u32;
            fn _exit(code: c_int) -> !;
        }
        let is_forked =
            |error: &WorkerError| matches!(error, WorkerError::Driver(error) if error.is_forked());
        let context = shared();
        let (worker, closed) = (Worker::spawn(&context).unwrap(), Worker::spawn(&context).unwrap());
        let (sender, receiver) = mpsc::channel::<()>();
        let waited = worker.submit(move |_| receiver.recv().unwrap()).unwrap();
        let dropped = worker.submit(|_| ()).unwrap();
        // SAFETY: the child touches only what this thread owns, and leaves through `_exit`.
        let child = unsafe { fork() };
        if child == 0 {
            // SAFETY: plain values; a child that hangs ends by this signal.
            unsafe { alarm(20) };
            let answers = [
                worker.run(|_| ()).is_err_and(|error| is_forked(&error)),
                worker.submit(|_| ()).is_err_and(|error| is_forked(&error)),
                Worker::spawn(&context).is_err_and(|error| is_forked(&error)),
                !dropped.is_done(),
                waited.wait().is_err_and(|error| is_forked(&error)),
                closed.close().is_err_and(|error| is_forked(&error)),
            ];
            drop((dropped, worker, context));
            let wrong = answers.iter().position(|&right| !right).map_or(0, |i| i as c_int + 1);
            // SAFETY: ends the child without running what the parent registered.
            unsafe { _exit(wrong) };
        }
        let mut status = -1;
        // SAFETY: a child of ours, and a place to write to.
        assert_eq!(unsafe { waitpid(child, &raw mut status, 0) }, child);
        assert_eq!(
            status, 0,
            "the child's wait status; its exit code is the number of the first wrong answer"
        );
        sender.send(()).unwrap();
        waited.wait().unwrap();
        dropped.wait().unwrap();
        closed.close().unwrap();
        // The child of a closure that forks, and does not return in it.
        let status = worker.run(|cx| {
            // SAFETY: as above.
            let child = unsafe { fork() };
            if child == 0 {
                let told = cx.memory_info().is_err_and(|error| error.is_forked());
                // SAFETY: as above.
                unsafe { _exit(i32::from(!told)) };
            }
            let mut status = -1;
            // SAFETY: as above.
            unsafe { waitpid(child, &raw mut status, 0) };
            status
        });
        assert_eq!(status.unwrap(), 0);
        worker.close().unwrap();
    });
}

/// A closure that returns in a forked child ends the child, which hangs nowhere.
#[cfg(unix)]
#[test]
fn a_closure_that_returns_in_a_forked_child_ends_it() {
    in_child("a_closure_that_returns_in_a_forked_child_ends_it", || {
        use std::ffi::c_int;
        unsafe extern "C" {
            fn fork() -> c_int;
            fn waitpid(pid: c_int, status: *mut c_int, options: c_int) -> c_int;
            fn alarm(seconds: u32) -> u32;
        }
        let worker = worker();
        let child = worker.run(|_| {
            // SAFETY: in the child this closure returns to the worker, which ends the thread, the only one.
            let child = unsafe { fork() };
            if child == 0 {
                // SAFETY: plain values.
                unsafe { alarm(20) };
            }
            child
        });
        let mut status = -1;
        // SAFETY: a child of ours, and a place to write to.
        unsafe { waitpid(child.unwrap(), &raw mut status, 0) };
        assert_eq!(status, 0);
    });
}
