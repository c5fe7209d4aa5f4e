//! Workers of processes that fork, or cannot start a thread: each test runs in a child.

use std::ffi::c_int;
use std::sync::mpsc;

use cuprum::{Worker, WorkerError};

use super::{is_alive, shared, worker};
use crate::child::in_child;
use crate::common::on_gpu;

#[cfg(unix)]
unsafe extern "C" {
    fn fork() -> c_int;
    fn waitpid(pid: c_int, status: *mut c_int, options: c_int) -> c_int;
    fn alarm(seconds: u32) -> u32;
    fn _exit(code: c_int) -> !;
}

/// The system has no memory for one more stack.
#[cfg(target_os = "linux")]
#[test]
fn a_thread_that_cannot_be_started_is_an_error() {
    in_child(concat!(module_path!(), "::a_thread_that_cannot_be_started_is_an_error"), || {
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
    in_child(concat!(module_path!(), "::a_forked_child_is_told"), || {
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
        worker.close().unwrap();
    });
}

/// The child of a closure that forks, and does not return in it.
#[cfg(unix)]
#[test]
fn a_closure_may_fork() {
    in_child(concat!(module_path!(), "::a_closure_may_fork"), || {
        let worker = worker();
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
    in_child(concat!(module_path!(), "::a_closure_that_returns_in_a_forked_child_ends_it"), || {
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
