//! Runs callbacks in time.
//!
//! In modes that defer work, it runs when the program waits for it. A program may wait in ways that
//! the driver does not see, such as for a future that its own callback wakes. A thread of the
//! driver therefore runs such callbacks after a delay; hardware runs them in any case. In the eager
//! mode a thread of the driver runs them too, because they may wait for the thread that has queued
//! them.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::queue::Queue;
use super::schedule::Scheduler;
use super::stream_key::Ticket;

/// Delay after which a callback runs if the program does not wait for it.
const LATE: Duration = Duration::from_millis(50);

/// Time for which the call that queues a callback waits for its end in the eager mode.
const PATIENCE: Duration = Duration::from_millis(100);

/// Operations that call the program, each with its deadline, in the order of the deadlines.
#[derive(Debug, Default)]
pub(super) struct Late(Mutex<VecDeque<(Instant, Ticket)>>);

impl Late {
    pub(super) fn add(&self, ticket: Ticket) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.push_back((Instant::now() + LATE, ticket));
    }

    /// Takes the operations whose deadline has passed. Returns the time until the next deadline.
    pub(super) fn take_due(&self, mut take: impl FnMut(Ticket)) -> Option<Duration> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        while let Some((due, ticket)) = all.front().copied() {
            if due > now {
                return Some(due - now);
            }
            all.pop_front();
            take(ticket);
        }
        None
    }
}

impl Scheduler {
    /// True if an operation runs within the call that queues it: in the eager mode, if none waits
    /// for a value or for a callback.
    pub(crate) fn runs_at_once(&self) -> bool {
        self.is_eager() && self.lock().is_idle()
    }

    /// In the eager mode, runs an operation that calls the program on another thread. Waits for its
    /// end, but not longer than [`PATIENCE`], and not for operations before it.
    pub(super) fn call_beside(&'static self, mut queue: MutexGuard<'_, Queue>, ticket: Ticket) {
        self.hurry();
        let due = Instant::now() + PATIENCE;
        while queue.may_end(ticket) {
            let left = due.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            queue = self.pause(queue, Some(left));
        }
    }
}
