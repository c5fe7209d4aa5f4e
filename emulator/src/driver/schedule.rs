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

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

use cuprum_sys::CUresult;

use crate::settings::Mode;

use super::context::Context;
use super::dice::Dice;
use super::operation::Operation;
use super::outlive::{self, Left};
use super::state::emulator;

/// Number of an issued operation, ascending in the order of issue.
pub(super) type Ticket = u64;

/// Which stream an operation belongs to, as far as order is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Lane {
    pub(super) context: usize,
    /// Identifies the stream within its context; [`Lane::LEGACY`] is the legacy default stream.
    pub(super) stream: u64,
    /// Whether it keeps order with the legacy default stream.
    pub(super) blocking: bool,
}

impl Lane {
    pub(super) const LEGACY: u64 = 0;

    /// Whether an operation in `self` waits for an earlier one in `earlier`.
    fn follows(self, earlier: Self) -> bool {
        self.context == earlier.context
            && (self.stream == earlier.stream
                || (self.stream == Self::LEGACY && earlier.blocking)
                || (self.blocking && earlier.stream == Self::LEGACY))
    }
}

/// Unfinished operations and who runs them.
#[derive(Debug)]
pub(super) struct Scheduler {
    mode: Mode,
    queue: Mutex<Queue>,
    changed: Condvar,
    executor: Once,
}

#[derive(Debug)]
struct Queue {
    next: Ticket,
    /// In the order of issue.
    entries: Vec<Entry>,
    /// What decides the order in the shuffled mode.
    dice: Option<Dice>,
}

#[derive(Debug)]
struct Entry {
    ticket: Ticket,
    lane: Lane,
    /// Tickets that must be finished first.
    after: Vec<Ticket>,
    /// `None` while it runs.
    job: Option<Job>,
    /// Whether it is a copy that a fault of its context does not stop.
    is_unstoppable: bool,
    /// Whether its context broke and it goes on: ordinary waits no longer wait for it.
    outlives: bool,
}

impl Entry {
    /// Whether it calls a function of the client.
    fn calls_client(&self) -> bool {
        self.job.as_ref().is_some_and(|job| job.operation.calls_client())
    }

    /// Whether a value in memory is all that it waits for.
    fn waits_for_value(&self) -> bool {
        self.after.is_empty() && self.job.as_ref().is_some_and(|job| !job.operation.is_ready())
    }
}

#[derive(Debug)]
pub(super) struct Job {
    pub(super) context: Arc<Context>,
    pub(super) operation: Operation,
    /// How much of it was done when it was put back: bytes of a copy.
    done: u64,
}

/// How often a wait looks again at an operation that waits for a value in memory.
const POLL: Duration = Duration::from_micros(100);

impl Scheduler {
    pub(super) fn new(mode: Mode) -> Self {
        let dice = match mode {
            Mode::Shuffled(seed) => Some(Dice::new(seed)),
            _ => None,
        };
        Self {
            mode,
            queue: Mutex::new(Queue { next: 1, entries: Vec::new(), dice }),
            changed: Condvar::new(),
            executor: Once::new(),
        }
    }

    /// Whether operations run inside of the call that issues them.
    pub(super) fn is_eager(&self) -> bool {
        self.mode == Mode::Eager
    }

    /// Whether a copy to pageable memory is over when the call that issues it returns, as on the GPUs that were asked.
    /// Others reach such memory themselves and need not wait, and a program that counts on it shows in the modes that
    /// are there to show it.
    pub(super) fn waits_for_pageable_memory(&self) -> bool {
        self.mode == Mode::Async
    }

    /// Starts the order of the shuffled mode anew.
    pub(super) fn reseed(&self, seed: u64) {
        if let Some(dice) = &mut self.lock().dice {
            *dice = Dice::new(seed);
        }
    }

    /// In the shuffled mode, runs operations or leaves them, as it happens. Called around driver calls of all kinds.
    pub(super) fn stir(&self) {
        if !matches!(self.mode, Mode::Shuffled(_)) {
            return;
        }
        let mut queue = self.lock();
        while queue.chance() {
            // The client may hold a lock that its own function wants; that one runs when somebody waits.
            let Some((ticket, job)) = queue.take_ready(|entry| !entry.calls_client()) else { return };
            drop(queue);
            queue = self.run(ticket, job);
        }
    }

    /// Issues an operation behind those of its lane and those in `after`.
    pub(super) fn issue(
        &self,
        context: &Arc<Context>,
        lane: Lane,
        after: &[Ticket],
        operation: Operation,
    ) -> Ticket {
        let mut queue = self.lock();
        let ticket = queue.next;
        queue.next += 1;
        let after = queue
            .entries
            .iter()
            .filter(|entry| lane.follows(entry.lane) || after.contains(&entry.ticket))
            .filter(|entry| !entry.outlives)
            .map(|entry| entry.ticket)
            .collect();
        queue.entries.push(Entry {
            ticket,
            lane,
            after,
            is_unstoppable: operation.is_unstoppable(),
            outlives: false,
            job: Some(Job { context: Arc::clone(context), operation, done: 0 }),
        });
        match self.mode {
            Mode::Eager => self.run_ready(queue),
            Mode::Async => {
                drop(queue);
                self.start_executor();
                self.changed.notify_all();
            }
            Mode::Deferred | Mode::Shuffled(_) => {}
        }
        ticket
    }

    /// Whether an operation is unfinished.
    pub(super) fn is_pending(&self, ticket: Ticket) -> bool {
        self.lock().is_pending(ticket)
    }

    /// Whether a lane has an unfinished operation.
    pub(super) fn is_busy(&self, lane: Lane) -> bool {
        self.lock().entries.iter().any(|entry| entry.lane == lane)
    }

    /// Waits until an operation is finished.
    pub(super) fn wait(&self, ticket: Ticket) {
        self.wait_for(|entry| entry.ticket == ticket);
    }

    /// Waits for all operations of a lane that are issued by now, and those it keeps order with.
    pub(super) fn wait_lane(&self, lane: Lane) {
        let last = self.lock().next;
        self.wait_for(|entry| entry.ticket < last && lane.follows(entry.lane));
    }

    /// Waits for all operations of a context that are issued by now.
    pub(super) fn wait_context(&self, context: usize) {
        let last = self.lock().next;
        self.wait_for(|entry| entry.ticket < last && entry.lane.context == context);
    }

    /// Whether an operation of a context waits for a value that is not there yet, and so may never
    /// run.
    pub(super) fn is_stalled(&self, context: usize) -> bool {
        let queue = self.lock();
        queue.entries.iter().any(|entry| entry.lane.context == context && entry.waits_for_value())
    }

    /// Helps to run some operations, and those they wait for, until they are finished. Others stay where they are, so
    /// that in the deferred mode a wait for one stream does not hide that nobody waited for another.
    fn wait_for(&self, wanted: impl Fn(&Entry) -> bool) {
        let wanted = |entry: &Entry| !entry.outlives && wanted(entry);
        let mut queue = self.lock();
        while queue.entries.iter().any(wanted) {
            let needed = queue.needed(wanted);
            let is_needed = |entry: &Entry| needed.contains(&entry.ticket);
            let mut ready = if queue.chance() { queue.take_ready(|_| true) } else { None };
            ready = ready.or_else(|| queue.take_ready(is_needed));
            if ready.is_none()
                && queue.entries.iter().any(|entry| is_needed(entry) && entry.waits_for_value())
            {
                // Any other may write it.
                ready = queue.take_ready(|_| true);
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

    /// Runs what is ready. What is not stays for whoever finishes what it waits for.
    fn run_ready<'a>(&'a self, mut queue: MutexGuard<'a, Queue>) {
        while let Some((ticket, job)) = queue.take_ready(|_| true) {
            drop(queue);
            queue = self.run(ticket, job);
        }
    }

    /// Runs an operation, or in the shuffled mode part of one.
    fn run(&self, ticket: Ticket, mut job: Job) -> MutexGuard<'_, Queue> {
        let context = Arc::clone(&job.context);
        if context.check().is_err() {
            job.operation.drop_after_fault(&context);
            return self.finished(ticket, &context);
        }
        if let Some(end) = self.end_of_part(&job) {
            let Operation::Copy(copy) = &job.operation else { return self.finished(ticket, &context) };
            match copy.run_part(job.done..end) {
                Ok(()) => {
                    job.done = end;
                    let mut queue = self.lock();
                    queue.put_back(ticket, job);
                    return queue;
                }
                Err(code) => context.poison(code),
            }
            return self.finished(ticket, &context);
        }
        let run = AssertUnwindSafe(|| job.operation.run(&context, ticket, job.done));
        match catch_unwind(run) {
            Ok(Ok(())) => {}
            Ok(Err(code)) => context.poison(code),
            Err(_) => context.poison(CUresult::CUDA_ERROR_UNKNOWN),
        }
        self.finished(ticket, &context)
    }

    /// Where to stop in a copy that shall end late.
    fn end_of_part(&self, job: &Job) -> Option<u64> {
        let Operation::Copy(copy) = &job.operation else { return None };
        let mut queue = self.lock();
        let dice = queue.dice.as_mut()?;
        let left = copy.len() - job.done;
        (left > 1 && dice.chance()).then(|| job.done + 1 + dice.below(left - 1))
    }

    /// Takes an operation out of the queue; if its context is broken, parts what goes on from what does not.
    fn finished(&self, ticket: Ticket, context: &Context) -> MutexGuard<'_, Queue> {
        let mut queue = self.lock();
        let left = if context.is_poisoned() { queue.part_with(context.handle, ticket) } else { Vec::new() };
        queue.finish(ticket);
        self.changed.notify_all();
        if !left.is_empty() {
            drop(queue);
            outlive::go_on(left);
            queue = self.lock();
        }
        queue
    }

    /// Notes the end of an operation that outlived its context.
    pub(super) fn note_end(&self, ticket: Ticket) {
        self.lock().finish(ticket);
        self.changed.notify_all();
    }

    /// Waits for the operations that outlive their contexts.
    pub(super) fn wait_for_outliving(&self) {
        let mut queue = self.lock();
        while queue.entries.iter().any(|entry| entry.outlives) {
            let waited = self.changed.wait_timeout(queue, POLL);
            queue = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn start_executor(&self) {
        self.executor.call_once(|| {
            let started = std::thread::Builder::new()
                .name("cuprum-executor".into())
                .spawn(|| emulator().scheduler.execute_for_ever());
            // Without a thread, operations run when somebody waits for them.
            drop(started);
        });
    }

    fn execute_for_ever(&self) {
        let mut queue = self.lock();
        loop {
            match queue.take_ready(|_| true) {
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

impl Queue {
    fn is_pending(&self, ticket: Ticket) -> bool {
        self.entries.iter().any(|entry| entry.ticket == ticket)
    }

    /// The tickets of some operations and of all that they wait for.
    fn needed(&self, wanted: impl Fn(&Entry) -> bool) -> HashSet<Ticket> {
        let mut needed = HashSet::new();
        // An operation waits for earlier ones only.
        for entry in self.entries.iter().rev() {
            if wanted(entry) || needed.contains(&entry.ticket) {
                needed.insert(entry.ticket);
                needed.extend(&entry.after);
            }
        }
        needed
    }

    /// Takes the oldest of some operations that waits for nothing, or any of them in the shuffled mode.
    fn take_ready(&mut self, among: impl Fn(&Entry) -> bool) -> Option<(Ticket, Job)> {
        let is_ready = |entry: &&mut Entry| {
            let ready = |job: &Job| job.operation.is_ready() || job.context.check().is_err();
            entry.after.is_empty() && among(entry) && entry.job.as_ref().is_some_and(ready)
        };
        let skipped = match &mut self.dice {
            Some(dice) => {
                let count = self.entries.iter_mut().filter(is_ready).count();
                dice.below(count as u64) as usize
            }
            None => 0,
        };
        let entry = self.entries.iter_mut().filter(is_ready).nth(skipped)?;
        Some((entry.ticket, entry.job.take()?))
    }

    /// True at random in the shuffled mode, never in others.
    fn chance(&mut self) -> bool {
        self.dice.as_mut().is_some_and(Dice::chance)
    }

    fn put_back(&mut self, ticket: Ticket, job: Job) {
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.ticket == ticket) {
            entry.job = Some(job);
        }
    }

    /// Parts the operations of a broken context: those that go on are given back if nobody runs them yet, and the
    /// others wait for nothing any more, so that whoever waits drops them.
    fn part_with(&mut self, context: usize, faulty: Ticket) -> Vec<Left> {
        let is_left = |entry: &&mut Entry| entry.lane.context == context && entry.ticket != faulty;
        let mut going_on: HashSet<Ticket> = HashSet::new();
        let mut left = Vec::new();
        for entry in self.entries.iter_mut().filter(is_left) {
            let issued = entry.after.iter().all(|before| going_on.contains(before));
            let is_callback = entry.job.as_ref().is_some_and(|job| job.operation.is_told_of_fault());
            if entry.outlives || entry.is_unstoppable && issued {
                going_on.insert(entry.ticket);
            } else if !is_callback {
                entry.after.clear();
                continue;
            }
            entry.outlives = true;
            left.extend(entry.job.take().map(|job| Left { ticket: entry.ticket, job }));
        }
        left
    }

    fn finish(&mut self, ticket: Ticket) {
        self.entries.retain(|entry| entry.ticket != ticket);
        for entry in &mut self.entries {
            entry.after.retain(|&before| before != ticket);
        }
    }
}
