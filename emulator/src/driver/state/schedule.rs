//! The order in which operations run.
//!
//! Every operation of every stream gets a number when it is issued, and a list of the unfinished
//! operations it must wait for. Who runs it depends on the [`Mode`]: the issuing call, a thread of
//! the driver, or whoever waits. Those take the oldest operation that is ready, so that the result
//! of a correct program does not depend on the mode. The shuffled mode takes any that is ready, in
//! driver calls that have nothing to do with it, and ends copies late.
//!
//! | operation in | waits for the unfinished ones in |
//! |---|---|
//! | any stream | the same stream |
//! | the legacy default stream | all blocking streams of its context |
//! | a blocking stream | the legacy default stream of its context |
//! | a stream that waits for an event | what the event recorded |
//!
//! A fault ends the operations of its context, but not every copy: module [`outlive`].

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

use cuprum_sys::{CUresult, FnId};

use crate::settings::Mode;

use super::dice::Dice;
use super::health::Health;
use super::in_time::call_in_time;
use super::operation::{Operation, Turn};
use super::outlive;
use super::queue::{Entry, Job, Queue};
use super::stream_key::{StreamKey, Ticket};

/// The unfinished operations, and who runs them.
#[derive(Debug)]
pub(crate) struct Scheduler {
    mode: Mode,
    queue: Mutex<Queue>,
    changed: Condvar,
    executor: Once,
}

/// Interval at which a wait polls an operation that waits for a value in memory.
const POLL: Duration = Duration::from_micros(100);

impl Scheduler {
    pub(crate) fn new(mode: Mode) -> Self {
        let dice = match mode {
            Mode::Shuffled(seed) => Some(Dice::new(seed)),
            _ => None,
        };
        Self { mode, queue: Mutex::new(Queue::new(dice)), changed: Condvar::new(), executor: Once::new() }
    }

    /// True if operations run inside of the call that issues them.
    pub(crate) fn is_eager(&self) -> bool {
        self.mode == Mode::Eager
    }

    /// True if a copy to pageable memory is over when the call that issues it returns, as on the GPUs that were asked.
    /// Others reach such memory themselves and need not wait; the modes that bring out mistakes show a program that
    /// counts on it.
    pub(crate) fn waits_for_pageable_memory(&self) -> bool {
        self.mode == Mode::Async
    }

    /// Restarts the order of the shuffled mode.
    pub(crate) fn reseed(&self, seed: u64) {
        if let Some(dice) = &mut self.lock().dice {
            *dice = Dice::new(seed);
        }
    }

    /// In the shuffled mode, runs operations or leaves them, at random. Called around driver calls of all kinds.
    pub(crate) fn stir(&'static self) {
        if !matches!(self.mode, Mode::Shuffled(_)) {
            return;
        }
        let mut queue = self.lock();
        while queue.chance() {
            // The client may hold a lock that its own function wants; that one runs when somebody waits.
            let Some((ticket, job)) = queue.take_ready(&|entry| !entry.calls_client()) else { return };
            drop(queue);
            queue = self.run(ticket, job);
        }
    }

    /// Issues an operation behind those of its lane and those in `after`.
    pub(crate) fn issue(
        &'static self,
        health: &Arc<Health>,
        lane: StreamKey,
        after: &[Ticket],
        operation: Box<dyn Operation>,
    ) -> Ticket {
        let (is_awaited_outside, calls_client) = (operation.is_awaited_outside(), operation.calls_client());
        let mut queue = self.lock();
        let ticket = queue.push(lane, after, Job { health: Arc::clone(health), operation, done: 0 });
        match self.mode {
            Mode::Eager => self.run_ready(queue),
            Mode::Async => {
                drop(queue);
                self.start_executor();
                self.changed.notify_all();
            }
            Mode::Deferred | Mode::Shuffled(_) => {
                drop(queue);
                if calls_client {
                    call_in_time(self, ticket);
                }
            }
        }
        if is_awaited_outside {
            self.hurry();
        }
        ticket
    }

    /// True if an operation is unfinished.
    pub(crate) fn is_pending(&self, ticket: Ticket) -> bool {
        self.lock().is_pending(ticket)
    }

    /// True if a lane has an unfinished operation.
    pub(crate) fn is_busy(&self, lane: StreamKey) -> bool {
        self.lock().entries.iter().any(|entry| entry.lane == lane)
    }

    /// Waits until an operation is finished.
    pub(crate) fn wait(&'static self, ticket: Ticket) {
        self.wait_for(&|entry| entry.ticket == ticket);
    }

    /// Waits for all operations of a lane that are issued by now, and for those with which it keeps order.
    pub(crate) fn wait_lane(&'static self, lane: StreamKey) {
        let last = self.lock().next;
        self.wait_for(&|entry| entry.ticket < last && lane.follows(entry.lane));
    }

    /// Waits for all operations of a context that are issued by now.
    pub(crate) fn wait_context(&'static self, context: usize) {
        let last = self.lock().next;
        self.wait_for(&|entry| entry.ticket < last && entry.lane.context == context);
    }

    /// Like `wait_context`, for the operations in one green context.
    pub(crate) fn wait_green(&'static self, context: usize, green: usize) {
        let last = self.lock().next;
        let of_green = |lane: StreamKey| lane.context == context && lane.green == green;
        self.wait_for(&|entry| entry.ticket < last && of_green(entry.lane));
    }

    /// True if an operation of a context waits for a value that is not there yet, and so may never
    /// run.
    pub(crate) fn is_stalled(&self, context: usize) -> bool {
        let queue = self.lock();
        queue.entries.iter().any(|entry| entry.lane.context == context && entry.waits_for_value())
    }

    /// Helps to run some operations, and those they wait for, until they are finished. Others stay where they are, so
    /// that in the deferred mode a wait for one stream does not hide that nobody waited for another.
    fn wait_for(&'static self, wanted: &dyn Fn(&Entry) -> bool) {
        let wanted = |entry: &Entry| !entry.outlives && wanted(entry);
        let mut queue = self.lock();
        while queue.entries.iter().any(wanted) {
            let needed = queue.needed(&wanted);
            let is_needed = |entry: &Entry| needed.contains(&entry.ticket);
            let mut ready = if queue.chance() { queue.take_ready(&|_| true) } else { None };
            ready = ready.or_else(|| queue.take_ready(&is_needed));
            if ready.is_none()
                && queue.entries.iter().any(|entry| is_needed(entry) && entry.waits_for_value())
            {
                // Any other may write it.
                ready = queue.take_ready(&|_| true);
            }
            match ready {
                Some((ticket, job)) => {
                    drop(queue);
                    queue = self.run(ticket, job);
                }
                None => {
                    let waited = self.changed.wait_timeout(queue, POLL);
                    queue = waited.unwrap_or_else(PoisonError::into_inner).0;
                }
            }
        }
    }

    /// Runs the ready operations. The others stay for whoever finishes the operations that they wait for.
    fn run_ready(&'static self, mut queue: MutexGuard<'static, Queue>) {
        while let Some((ticket, job)) = queue.take_ready(&|_| true) {
            drop(queue);
            queue = self.run(ticket, job);
        }
    }

    /// Runs an operation, or in the shuffled mode part of one.
    fn run(&'static self, ticket: Ticket, mut job: Job) -> MutexGuard<'static, Queue> {
        if job.health.check().is_err() {
            job.operation.give_up(&job.health);
            return self.finished(ticket, job);
        }
        if let Some(end) = self.end_of_part(&job) {
            match job.operation.run_part(job.done..end) {
                Ok(()) => {
                    job.done = end;
                    let mut queue = self.lock();
                    queue.put_back(ticket, job);
                    return queue;
                }
                Err(code) => job.health.poison(code),
            }
            return self.finished(ticket, job);
        }
        let turn = Turn { health: &job.health, ticket, done: job.done };
        let run = AssertUnwindSafe(|| job.operation.run(turn));
        match catch_unwind(run) {
            Ok(Ok(())) => {}
            Ok(Err(code)) => job.health.poison(code),
            Err(_) => job.health.poison(CUresult::CUDA_ERROR_UNKNOWN),
        }
        self.finished(ticket, job)
    }

    /// Byte at which to stop an operation that is to end late.
    fn end_of_part(&self, job: &Job) -> Option<u64> {
        let left = job.operation.divisible()? - job.done;
        let mut queue = self.lock();
        let dice = queue.dice.as_mut()?;
        (left > 1 && dice.chance()).then(|| job.done + 1 + dice.below(left - 1))
    }

    /// Takes an operation out of the queue; if its context is broken, separates the operations that go on from the
    /// others.
    fn finished(&'static self, ticket: Ticket, job: Job) -> MutexGuard<'static, Queue> {
        let Job { health, operation, .. } = job;
        // It may own the last reference to some object.
        drop(operation);
        let mut queue = self.lock();
        let left = if health.is_poisoned() { queue.part_with(health.context, ticket) } else { Vec::new() };
        queue.finish(ticket);
        self.changed.notify_all();
        if !left.is_empty() {
            drop(queue);
            outlive::go_on(left, |ticket| self.note_end(ticket));
            queue = self.lock();
        }
        queue
    }

    /// Notes the end of an operation that outlived its context.
    pub(super) fn note_end(&self, ticket: Ticket) {
        self.lock().finish(ticket);
        self.changed.notify_all();
    }

    /// Waits for the operations that outlive their contexts, if `call` has to.
    pub(crate) fn wait_in(&self, call: FnId) {
        if !outlive::is_awaited_by(call) {
            return;
        }
        let mut queue = self.lock();
        while queue.entries.iter().any(|entry| entry.outlives) {
            let waited = self.changed.wait_timeout(queue, POLL);
            queue = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Has what is issued run although nobody waits for it in this process.
    fn hurry(&'static self) {
        self.start_executor();
        self.changed.notify_all();
    }

    /// Waits inside of an operation, and runs others meanwhile: one of them may bring what it waits for.
    pub(crate) fn run_others_until(&'static self, is_over: impl Fn() -> bool) {
        while !is_over() {
            let mut queue = self.lock();
            match queue.take_ready(&|entry| !entry.calls_client()) {
                Some((ticket, job)) => {
                    drop(queue);
                    drop(self.run(ticket, job));
                }
                None => drop(self.changed.wait_timeout(queue, POLL)),
            }
        }
    }

    fn start_executor(&'static self) {
        self.executor.call_once(|| {
            let started =
                std::thread::Builder::new().name("cuprum-executor".into()).spawn(|| self.execute_for_ever());
            // Without a thread, operations run when somebody waits for them.
            drop(started);
        });
    }

    fn execute_for_ever(&'static self) {
        let mut queue = self.lock();
        loop {
            match queue.take_ready(&|_| true) {
                Some((ticket, job)) => {
                    drop(queue);
                    queue = self.run(ticket, job);
                }
                // Something waits for a value in memory: look again soon.
                None if queue.entries.iter().any(|entry| entry.job.is_some()) => {
                    let waited = self.changed.wait_timeout(queue, POLL);
                    queue = waited.unwrap_or_else(PoisonError::into_inner).0;
                }
                None => {
                    let waited = self.changed.wait(queue);
                    queue = waited.unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
