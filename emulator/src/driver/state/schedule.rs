//! The order in which operations run.
//!
//! Every operation gets a number when it is issued, and a list of the unfinished operations that it
//! must wait for. The [`Mode`] decides who runs it: the issuing call, a thread of the driver, or a
//! thread that waits. They take the oldest ready operation, so the result of a correct program does
//! not depend on the mode. The shuffled mode takes any ready operation, in unrelated driver calls,
//! and delays the end of copies.
//!
//! | operation in | waits for the unfinished ones in |
//! |---|---|
//! | any stream | the same stream |
//! | the legacy default stream | all blocking streams of its context |
//! | a blocking stream | the legacy default stream of its context |
//! | a stream that waits for an event | the work that the event recorded |
//! | any stream of two contexts | a copy between them without a stream, which waits for all work of both |
//!
//! A fault ends the operations of its context, except some copies: module [`outlive`].

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Once, OnceLock, PoisonError};
use std::time::Duration;

use cuprum_sys::{CUresult, FnId};

use crate::driver::answer::Answer;
use crate::served;
use crate::settings::Mode;

use super::dice::Dice;
use super::health::Health;
use super::in_time::Late;
use super::operation::{Operation, Turn};
use super::order::{Act, Issued, Journal, gather};
use super::outlive;
use super::process::settings;
use super::queue::{Awaited, Job, Queue};
use super::stream_key::{StreamKey, Ticket};

/// The unfinished operations, and the way they run.
#[derive(Debug)]
pub(crate) struct Scheduler {
    mode: Mode,
    queue: Mutex<Queue>,
    changed: Condvar,
    executor: Once,
    /// Operations that call the program, and the thread that waits for them.
    late: Late,
    callbacks: Once,
    /// The check of the order between streams, if it is on.
    journal: Option<Journal>,
}

/// Returns the scheduler of the process. Created on first use.
pub(crate) fn scheduler() -> &'static Scheduler {
    static SCHEDULER: OnceLock<Scheduler> = OnceLock::new();
    SCHEDULER.get_or_init(|| Scheduler::new(settings().mode, settings().check_order))
}

/// Interval at which a wait polls for a value in memory.
const POLL: Duration = Duration::from_micros(100);

impl Scheduler {
    pub(super) fn new(mode: Mode, check_order: bool) -> Self {
        let dice = if let Mode::Shuffled(seed) = mode { Some(Dice::new(seed)) } else { None };
        Self {
            mode,
            queue: Mutex::new(Queue::new(dice)),
            changed: Condvar::new(),
            executor: Once::new(),
            late: Late::default(),
            callbacks: Once::new(),
            journal: check_order.then(Journal::default),
        }
    }

    /// True if operations run within the call that issues them.
    pub(crate) fn is_eager(&self) -> bool {
        self.mode == Mode::Eager
    }

    /// True if a copy to pageable memory has finished when the issuing call returns, as on the
    /// measured GPUs. Other GPUs access such memory directly and need not wait, so the other modes
    /// do not wait either: they reveal programs that rely on it.
    pub(crate) fn waits_for_pageable_memory(&self) -> bool {
        self.mode == Mode::Async
    }

    /// Restarts the random sequence of the shuffled mode.
    pub(crate) fn reseed(&self, seed: u64) {
        if let Some(dice) = &mut self.lock().dice {
            *dice = Dice::new(seed);
        }
    }

    /// In the shuffled mode, runs some operations at random. Called in driver calls of all kinds.
    pub(crate) fn stir(&'static self) {
        if !matches!(self.mode, Mode::Shuffled(_)) {
            return;
        }
        let mut queue = self.lock();
        while queue.chance() {
            // The client may hold a lock that its callback needs: callbacks run only in waits.
            let Some((ticket, job)) = queue.take_ready(&|entry| !entry.calls_client()) else { return };
            drop(queue);
            queue = self.run(ticket, job);
        }
    }

    /// Issues an operation after the previous ones of its lane and the operations in `after`.
    pub(crate) fn issue(
        &'static self,
        health: &Arc<Health>,
        lane: StreamKey,
        after: &[Ticket],
        operation: Box<dyn Operation>,
    ) -> Ticket {
        let (is_awaited_outside, calls_client) = (operation.is_awaited_outside(), operation.calls_client());
        let seen = self.journal.as_ref().map(|_| (operation.fenced(), operation.is_between_devices()));
        let mut queue = self.lock();
        let job = Job { health: Arc::clone(health), operation, done: 0 };
        let (ticket, next) = queue.push(lane, after, job, self.is_eager() && !calls_client);
        if let Some((journal, (fenced, is_apart))) = self.journal.as_ref().zip(seen) {
            let (after, call) = (after.to_vec(), served::call());
            journal.issue(Issued { ticket, lane, after, fenced, is_apart, calls_client, call });
        }
        match self.mode {
            Mode::Eager if calls_client => self.call_beside(queue, ticket),
            Mode::Eager => {
                if let Some(job) = next {
                    drop(queue);
                    queue = self.run(ticket, job);
                }
                if self.run_ready(queue).is_pending(ticket) {
                    // It waits for a value, or for work of another thread. Hardware needs no wait
                    // of the host to continue then.
                    self.hurry();
                }
            }
            Mode::Async => {
                drop(queue);
                self.start_executor();
                self.changed.notify_all();
            }
            Mode::Deferred | Mode::Shuffled(_) => {
                drop(queue);
                if calls_client {
                    self.call_in_time(ticket);
                }
            }
        }
        if is_awaited_outside {
            self.hurry();
        }
        ticket
    }

    pub(crate) fn is_pending(&self, ticket: Ticket) -> bool {
        self.lock().is_pending(ticket)
    }

    pub(crate) fn is_busy(&self, lane: StreamKey) -> bool {
        self.lock().is_busy(lane)
    }

    /// Returns the check of the order between streams, if it is on.
    pub(crate) fn journal(&self) -> Option<&Journal> {
        self.journal.as_ref()
    }

    /// Records that the client has seen an operation finished, such as by a query.
    pub(crate) fn note_seen(&self, ticket: Ticket) {
        if let Some(journal) = &self.journal {
            journal.wait(Awaited::One(ticket));
        }
    }

    /// Records that the client has seen a lane finished, such as by a query.
    pub(crate) fn note_lane_seen(&self, lane: StreamKey) {
        if let Some(journal) = &self.journal {
            journal.wait(Awaited::Lane(lane));
        }
    }

    /// Waits until an operation is finished, where hardware would not wait. This orders nothing.
    pub(crate) fn wait_unseen(&'static self, ticket: Ticket) {
        self.finish_all(Awaited::One(ticket));
    }

    /// At the process's end, runs the remaining operations except client functions, and judges all.
    pub(crate) fn end_journal(&'static self) {
        let Some(journal) = &self.journal else { return };
        let mut queue = self.lock();
        while let Some((ticket, job)) = queue.take_ready(&|entry| !entry.calls_client()) {
            drop(queue);
            queue = self.run(ticket, job);
        }
        drop(queue);
        journal.end();
    }

    /// Waits until an operation is finished.
    pub(crate) fn wait(&'static self, ticket: Ticket) {
        self.wait_for(Awaited::One(ticket));
    }

    /// Waits for all operations issued so far in a lane, and for those that synchronize with it.
    pub(crate) fn wait_lane(&'static self, lane: StreamKey) {
        self.wait_for(Awaited::Lane(lane));
    }

    /// Waits for all operations issued so far in a context.
    pub(crate) fn wait_context(&'static self, context: usize) {
        self.wait_for(Awaited::Context(context));
    }

    /// Waits like calls that free or end an object of a context: for the work of that context
    /// alone. This excludes its copies between devices, which also run in the other context, and
    /// work that depends on them. On two H200s (`tests/data/goldens/waits.txt`) a free of the
    /// source waits for such a copy, in whichever context it was queued, and a free of the target
    /// does not. Programs should rely on neither, so here none waits.
    pub(crate) fn wait_to_free(&'static self, context: usize) {
        self.wait_for(Awaited::Free(context));
    }

    /// True if [`wait_to_free`](Self::wait_to_free) would not wait.
    pub(crate) fn is_free_to_end(&self, context: usize) -> bool {
        self.lock().awaited_by_free(context).is_empty()
    }

    pub(crate) fn wait_green(&'static self, context: usize, green: usize) {
        self.wait_for(Awaited::Green(context, green));
    }

    /// True if an operation of a context waits for an unwritten value, and so may never run.
    pub(crate) fn is_stalled(&self, context: usize) -> bool {
        self.lock().is_stalled(context)
    }

    /// Helps to run some operations, and those they wait for, to their end. Leaves others, so that
    /// in the deferred mode a wait for one stream does not hide a missing one for another.
    fn wait_for(&'static self, awaited: Awaited) {
        if let Some(journal) = &self.journal {
            journal.wait(awaited);
        }
        self.finish_all(awaited);
    }

    fn finish_all(&'static self, awaited: Awaited) {
        let mut queue = self.lock();
        let wait = queue.begin_wait(awaited);
        while !queue.is_over(wait) {
            queue = self.help(queue, wait);
        }
        queue.end_wait(wait);
    }

    /// Runs an operation that a wait needs. If none is ready, pauses until something may change.
    fn help<'q>(&'static self, mut queue: MutexGuard<'q, Queue>, wait: u64) -> MutexGuard<'q, Queue> {
        match queue.take_for(wait) {
            Some((ticket, job)) => {
                drop(queue);
                self.run(ticket, job)
            }
            None => self.pause(queue, Some(POLL)),
        }
    }

    /// Pauses until something changes, or until `most` has passed.
    pub(super) fn pause<'q>(
        &'q self,
        mut queue: MutexGuard<'q, Queue>,
        most: Option<Duration>,
    ) -> MutexGuard<'q, Queue> {
        queue.pausing += 1;
        let mut queue = match most {
            Some(most) => self.changed.wait_timeout(queue, most).unwrap_or_else(PoisonError::into_inner).0,
            None => self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner),
        };
        queue.pausing -= 1;
        queue
    }

    /// Ensures that callbacks run in time in modes that defer work.
    fn call_in_time(&'static self, ticket: Ticket) {
        self.late.add(ticket);
        self.callbacks.call_once(|| {
            // If no thread can be started, a callback runs when the program waits for it.
            let call = || self.call_for_ever();
            drop(std::thread::Builder::new().name("cuprum-callbacks".into()).spawn(call));
        });
        // The thread checks the list and pauses under the lock, so it cannot miss this.
        drop(self.lock());
        self.changed.notify_all();
    }

    fn call_for_ever(&'static self) {
        let mut queue = self.lock();
        let wait = queue.begin_wait(Awaited::Nothing);
        loop {
            let next = self.late.take_due(|ticket| queue.extend_wait(wait, Awaited::One(ticket)));
            queue = if queue.is_over(wait) { self.pause(queue, next) } else { self.help(queue, wait) };
        }
    }

    /// Runs the ready operations. The others stay until their predecessors finish.
    fn run_ready(&'static self, mut queue: MutexGuard<'static, Queue>) -> MutexGuard<'static, Queue> {
        while let Some((ticket, job)) = queue.take_ready(&|_| true) {
            drop(queue);
            queue = self.run(ticket, job);
        }
        queue
    }

    /// Runs an operation, or in the shuffled mode a part of one.
    fn run(&'static self, ticket: Ticket, mut job: Job) -> MutexGuard<'static, Queue> {
        if job.health.check().is_err() {
            job.operation.give_up(&job.health);
            return self.finished(ticket, job, Vec::new());
        }
        if let Some(end) = self.end_of_part(&job) {
            let (result, acts) = self.perform(|| job.operation.run_part(job.done..end));
            match result {
                Ok(()) => {
                    job.done = end;
                    let mut queue = self.lock();
                    queue.put_back(ticket, job);
                    return queue;
                }
                Err(code) => job.health.poison(code),
            }
            return self.finished(ticket, job, acts);
        }
        let turn = Turn { health: &job.health, ticket, done: job.done };
        let (result, acts) = self.perform(|| job.operation.run(turn));
        if let Err(code) = result {
            job.health.poison(code);
        }
        self.finished(ticket, job, acts)
    }

    /// Runs an operation, or a part of one, and returns its accesses if the check is on. A panic
    /// becomes an unknown error, because threads that wait for the operation must see its end.
    fn perform(&self, run: impl FnOnce() -> Answer) -> (Answer, Vec<Act>) {
        let run = || catch_unwind(AssertUnwindSafe(run)).unwrap_or(Err(CUresult::CUDA_ERROR_UNKNOWN));
        if self.journal.is_some() { gather(run) } else { (run(), Vec::new()) }
    }

    /// Returns the byte at which to stop an operation that should end late.
    fn end_of_part(&self, job: &Job) -> Option<u64> {
        let left = job.operation.divisible()? - job.done;
        let mut queue = self.lock();
        let dice = queue.dice.as_mut()?;
        (left > 1 && dice.chance()).then(|| job.done + 1 + dice.below(left - 1))
    }

    /// Removes a finished operation from the queue. If its context is broken, separates the
    /// operations that continue from the others.
    fn finished(&'static self, ticket: Ticket, job: Job, acts: Vec<Act>) -> MutexGuard<'static, Queue> {
        if let Some(journal) = &self.journal {
            journal.finish(ticket, acts);
        }
        let Job { health, operation, .. } = job;
        // It may own the last reference to an object, so no lock is held.
        drop(operation);
        let mut queue = self.lock();
        let left = if health.is_poisoned() { queue.part_with(health.context, ticket) } else { Vec::new() };
        queue.finish(ticket);
        // Even without a thread that pauses, it would be a system call.
        if queue.pausing > 0 {
            self.changed.notify_all();
        }
        if !left.is_empty() {
            drop(queue);
            outlive::go_on(left, |ticket| self.note_end(ticket));
            queue = self.lock();
        }
        queue
    }

    /// Records the end of an operation that outlived its context.
    pub(super) fn note_end(&self, ticket: Ticket) {
        if let Some(journal) = &self.journal {
            journal.finish(ticket, Vec::new());
        }
        self.lock().finish(ticket);
        self.changed.notify_all();
    }

    /// Waits for the operations that outlive their contexts, if `call` must.
    pub(crate) fn wait_in(&self, call: FnId) {
        if !outlive::is_awaited_by(call) {
            return;
        }
        let mut queue = self.lock();
        while queue.has_outliving() {
            queue = self.pause(queue, Some(POLL));
        }
    }

    /// Runs issued operations although no thread of this process waits for them.
    pub(super) fn hurry(&'static self) {
        self.start_executor();
        self.changed.notify_all();
    }

    /// Waits within an operation and runs others meanwhile, because they may satisfy the wait.
    pub(crate) fn run_others_until(&'static self, is_over: impl Fn() -> bool) {
        while !is_over() {
            let mut queue = self.lock();
            match queue.take_ready(&|entry| !entry.calls_client()) {
                Some((ticket, job)) => {
                    drop(queue);
                    drop(self.run(ticket, job));
                }
                None => drop(self.pause(queue, Some(POLL))),
            }
        }
    }

    fn start_executor(&'static self) {
        self.executor.call_once(|| {
            let started =
                std::thread::Builder::new().name("cuprum-executor".into()).spawn(|| self.execute_for_ever());
            // If no thread can be started, operations run when a thread waits for them.
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
                None => {
                    // Operations that wait for a value in memory are polled.
                    let most = queue.has_free().then_some(POLL);
                    queue = self.pause(queue, most);
                }
            }
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
