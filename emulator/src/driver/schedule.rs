//! The order in which operations run.
//!
//! Every operation of every stream gets a number when it is issued, and a list of the unfinished
//! operations it must wait for. Who runs it depends on the [`Mode`]: the issuing call, a thread of
//! the driver, or whoever waits. All three take the oldest operation that is ready, so that the
//! result of a correct program does not depend on the mode.
//!
//! | operation in | waits for the unfinished ones in |
//! |---|---|
//! | any stream | the same stream |
//! | the legacy default stream | all blocking streams of its context |
//! | a blocking stream | the legacy default stream of its context |
//! | a stream that waits for an event | what the event recorded |

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

use cuprum_sys::CUresult;

use crate::settings::Mode;

use super::context::Context;
use super::operation::Operation;
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
}

#[derive(Debug)]
struct Entry {
    ticket: Ticket,
    lane: Lane,
    /// Tickets that must be finished first.
    after: Vec<Ticket>,
    /// `None` while it runs.
    job: Option<Job>,
}

impl Entry {
    /// Whether a value in memory is all that it waits for.
    fn waits_for_value(&self) -> bool {
        self.after.is_empty() && self.job.as_ref().is_some_and(|job| !job.operation.is_ready())
    }
}

#[derive(Debug)]
struct Job {
    context: Arc<Context>,
    operation: Operation,
}

/// How often a wait looks again at an operation that waits for a value in memory.
const POLL: Duration = Duration::from_micros(100);

impl Scheduler {
    pub(super) fn new(mode: Mode) -> Self {
        Self {
            mode,
            queue: Mutex::new(Queue { next: 1, entries: Vec::new() }),
            changed: Condvar::new(),
            executor: Once::new(),
        }
    }

    /// Whether operations run inside of the call that issues them.
    pub(super) fn is_eager(&self) -> bool {
        self.mode == Mode::Eager
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
            .map(|entry| entry.ticket)
            .collect();
        queue.entries.push(Entry {
            ticket,
            lane,
            after,
            job: Some(Job { context: Arc::clone(context), operation }),
        });
        match self.mode {
            Mode::Eager => self.run_ready(queue),
            Mode::Async => {
                drop(queue);
                self.start_executor();
                self.changed.notify_all();
            }
            Mode::Deferred => {}
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
        let mut queue = self.lock();
        while queue.entries.iter().any(&wanted) {
            let needed = queue.needed(&wanted);
            let is_needed = |entry: &Entry| needed.contains(&entry.ticket);
            let mut ready = queue.take_ready(is_needed);
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

    fn run(&self, ticket: Ticket, job: Job) -> MutexGuard<'_, Queue> {
        let context = job.context;
        if context.check().is_ok() {
            let run = AssertUnwindSafe(|| job.operation.run(&context, ticket));
            match catch_unwind(run) {
                Ok(Ok(())) => {}
                Ok(Err(code)) => context.poison(code),
                Err(_) => context.poison(CUresult::CUDA_ERROR_UNKNOWN),
            }
        }
        let mut queue = self.lock();
        queue.finish(ticket);
        self.changed.notify_all();
        queue
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

    /// Takes the oldest of some operations that waits for nothing.
    fn take_ready(&mut self, among: impl Fn(&Entry) -> bool) -> Option<(Ticket, Job)> {
        self.entries.iter_mut().filter(|entry| among(entry)).filter(|entry| entry.after.is_empty()).find_map(
            |entry| {
                let ready = |job: &mut Job| job.operation.is_ready() || job.context.check().is_err();
                let job = entry.job.take_if(ready)?;
                Some((entry.ticket, job))
            },
        )
    }

    fn finish(&mut self, ticket: Ticket) {
        self.entries.retain(|entry| entry.ticket != ticket);
        for entry in &mut self.entries {
            entry.after.retain(|&before| before != ticket);
        }
    }
}
