//! Runs some work in time in modes that defer work.
//!
//! In these modes, work runs when the program waits for it. A program may wait in ways that the
//! driver does not see, such as for a future that its own callback wakes. A thread of the driver
//! therefore runs such callbacks after a delay; hardware runs them in any case.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::stream_key::Ticket;

/// Delay after which a callback runs if the program does not wait for it.
const LATE: Duration = Duration::from_millis(50);

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
