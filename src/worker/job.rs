//! Jobs: closures in a worker's queue, and their submitters' handles.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::slot::{Signal, Slot};
use super::{Panic, WorkerError, is_on};
use crate::context::{Current, SharedContext};

/// Entry of a worker's queue.
pub(super) type Task = Box<dyn FnOnce(&SharedContext) + Send>;

/// A closure and the place for its outcome. Dropped unrun, the closure goes first: whoever waits may own what it borrows.
struct Work<F, R> {
    body: F,
    signal: Signal<R>,
}

/// A task that runs `body` with the context current and puts its outcome into `slot`.
///
/// Nothing of `body` is left when there is an outcome, by whichever way.
pub(super) fn task<'env, F, R>(body: F, slot: Arc<Slot<R>>) -> Box<dyn FnOnce(&SharedContext) + Send + 'env>
where
    F: FnOnce(&mut Current<'_, 'static>) -> R + Send + 'env,
    R: Send + 'env,
{
    let work = Work { body, signal: Signal::new(slot) };
    Box::new(move |context| {
        let Work { body, signal } = work;
        let outcome = catch_unwind(AssertUnwindSafe(move || context.enter(body)));
        signal.give(match outcome {
            Ok(entered) => entered.map_err(WorkerError::Driver),
            Err(payload) => Err(WorkerError::Panicked(Panic::new(payload))),
        });
    })
}

/// A closure that was handed to a [`Worker`](super::Worker), from which its result can be had.
///
/// Dropping it does not wait: the closure runs all the same, and its result is dropped on the worker's thread.
///
/// Example: that of [`Worker`](super::Worker), `submit`.
#[must_use = "the result and a panic of the closure are told by `wait` alone"]
pub struct Job<R> {
    slot: Arc<Slot<R>>,
    worker: u64,
}

impl<R> Job<R> {
    pub(super) const fn new(slot: Arc<Slot<R>>, worker: u64) -> Self {
        Self { slot, worker }
    }

    /// True if the closure has run, or will not run any more. Does not wait; false in a forked child.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.slot.is_done()
    }

    /// Blocks until the closure has run, and gives its result.
    ///
    /// # Errors
    /// Those of [`Worker::run`](super::Worker::run). On the worker's own thread, where it would wait for ever,
    /// [`WorkerError::OwnThread`]: the closure runs later, and its result is dropped.
    #[inline]
    pub fn wait(self) -> Result<R, WorkerError> {
        if is_on(self.worker) { Err(WorkerError::OwnThread) } else { self.slot.wait() }
    }
}

impl<R> fmt::Debug for Job<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job").field("worker", &self.worker).field("is_done", &self.is_done()).finish()
    }
}
