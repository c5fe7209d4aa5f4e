//! The unfinished operations, and the operations for which each waits.

use std::collections::HashSet;
use std::sync::Arc;

use super::dice::Dice;
use super::health::Health;
use super::operation::Operation;
use super::stream_key::{StreamKey, Ticket};

#[derive(Debug)]
pub(super) struct Queue {
    pub(super) next: Ticket,
    /// In the order of issue.
    pub(super) entries: Vec<Entry>,
    /// Source of the order in the shuffled mode.
    pub(super) dice: Option<Dice>,
}

#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) ticket: Ticket,
    pub(crate) lane: StreamKey,
    /// Tickets that must be finished first.
    pub(crate) after: Vec<Ticket>,
    /// `None` while it runs.
    pub(super) job: Option<Job>,
    /// True for a copy that a fault of its context does not stop.
    pub(crate) is_unstoppable: bool,
    /// True if its context broke and it goes on: ordinary waits no longer wait for it.
    pub(super) outlives: bool,
}

impl Entry {
    /// True if it calls a function of the client.
    pub(crate) fn calls_client(&self) -> bool {
        self.job.as_ref().is_some_and(|job| job.operation.calls_client())
    }

    /// True if it waits only for a value in memory.
    pub(super) fn waits_for_value(&self) -> bool {
        self.after.is_empty() && self.job.as_ref().is_some_and(|job| !job.operation.is_ready())
    }
}

#[derive(Debug)]
pub(super) struct Job {
    pub(super) health: Arc<Health>,
    pub(super) operation: Box<dyn Operation>,
    /// Progress at the time when it was put back: bytes of a copy.
    pub(super) done: u64,
}

/// An operation that goes on after its context broke.
#[derive(Debug)]
pub(super) struct Left {
    pub(super) ticket: Ticket,
    pub(super) job: Job,
}

impl Queue {
    pub(super) fn new(dice: Option<Dice>) -> Self {
        Self { next: 1, entries: Vec::new(), dice }
    }

    /// Enters an operation behind those of its lane and those in `after`.
    pub(super) fn push(&mut self, lane: StreamKey, after: &[Ticket], job: Job) -> Ticket {
        let ticket = self.next;
        self.next += 1;
        let earlier = self.entries.iter();
        let after = earlier
            .filter(|entry| lane.follows(entry.lane) || after.contains(&entry.ticket))
            .filter(|entry| !entry.outlives)
            .map(|entry| entry.ticket)
            .collect();
        let is_unstoppable = job.operation.is_unstoppable();
        self.entries.push(Entry { ticket, lane, after, is_unstoppable, outlives: false, job: Some(job) });
        ticket
    }

    pub(super) fn is_pending(&self, ticket: Ticket) -> bool {
        self.entries.iter().any(|entry| entry.ticket == ticket)
    }

    /// The tickets of some operations and of all operations that they wait for.
    pub(super) fn needed(&self, wanted: &dyn Fn(&Entry) -> bool) -> HashSet<Ticket> {
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

    /// Takes the oldest ready operation among some, or any of them in the shuffled mode.
    pub(super) fn take_ready(&mut self, among: &dyn Fn(&Entry) -> bool) -> Option<(Ticket, Job)> {
        let is_ready = |entry: &&mut Entry| {
            let ready = |job: &Job| job.operation.is_ready() || job.health.check().is_err();
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
    pub(super) fn chance(&mut self) -> bool {
        self.dice.as_mut().is_some_and(Dice::chance)
    }

    pub(super) fn put_back(&mut self, ticket: Ticket, job: Job) {
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.ticket == ticket) {
            entry.job = Some(job);
        }
    }

    /// Parts the operations of a broken context: those that go on are returned if nobody runs them yet, and the
    /// others no longer wait for anything, so that whoever waits drops them.
    pub(super) fn part_with(&mut self, context: usize, faulty: Ticket) -> Vec<Left> {
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

    pub(super) fn finish(&mut self, ticket: Ticket) {
        self.entries.retain(|entry| entry.ticket != ticket);
        for entry in &mut self.entries {
            entry.after.retain(|&before| before != ticket);
        }
    }
}
