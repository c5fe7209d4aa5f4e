//! Work that runs in time, also in the modes that leave work for later.
//!
//! In those, work runs when the program waits for it. A program may wait in ways that the driver does not see: for a
//! future that its own function wakes, for instance. So a thread of the driver waits for such functions after a while;
//! hardware comes to them in any case.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::stream_key::Ticket;

/// Delay of a call of the program's function if nobody waits for it.
const LATE: Duration = Duration::from_millis(50);

/// Operations that call the program, each with the time from which on it is waited for, in the order of these times.
#[derive(Debug, Default)]
pub(super) struct Late(Mutex<VecDeque<(Instant, Ticket)>>);

impl Late {
    pub(super) fn add(&self, ticket: Ticket) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.push_back((Instant::now() + LATE, ticket));
    }

    /// Takes those whose time has come. Returns how long it takes until that of the next.
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
