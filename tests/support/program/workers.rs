//! Workers, and a context that ends on the thread of one.

use cuprum::{Buffer, Context, ContextFlags, Device, Job, MemoryError, Worker, WorkerError};

use super::Steps;

pub(super) fn all(steps: &Steps, device: Device) {
    let create = || Context::create(device, ContextFlags::empty());
    let Some(context) = steps.attempt("Context::create", create) else { return };
    let context = context.share();
    let Some(worker) = steps.attempt("Worker::spawn", || Worker::spawn(&context)) else { return };
    // From then on the calls of its thread are heard: of this step only what comes after the closure.
    let session = steps.session().clone();
    if steps.attempt("Worker::run", || worker.run(|_| session.stay())).is_none() {
        // Not heard, the thread may not be the one on which the context ends.
        steps.attempt("Worker::close", || worker.close());
        return steps.done("SharedContext::drop", || drop(context));
    }
    steps.attempt("Worker::run", || worker.run(|_| ()));
    steps.attempt("Worker::submit", || worker.submit(|_| ()).and_then(Job::wait));
    let allocate = || worker.run(|cx| Buffer::<u8>::zeroed(cx, 16)).and_then(|made| made.map_err(of_worker));
    let buffer = steps.attempt("Worker::run of an allocation", allocate);
    steps.attempt("Worker::submit of a drop", || worker.submit(move |_| drop(buffer)).and_then(Job::wait));
    steps.done("SharedContext::drop", || drop(context));
    steps.attempt("Worker::close with the last share", || worker.close());
}

fn of_worker(error: MemoryError) -> WorkerError {
    match error {
        MemoryError::Driver(error) => WorkerError::Driver(error),
        error => panic!("{error}"),
    }
}
