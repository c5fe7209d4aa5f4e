//! The unfinished operations, and the operations for which each waits.
//!
//! No function here visits all operations. An operation knows its direct predecessors, which wait
//! for the rest, and its successors. Operations that wait for no other are in a separate set, and
//! each wait has the set of operations that it needs.

use std::collections::{BTreeSet, HashSet};
use std::ops::RangeBounds;
use std::sync::Arc;

use crate::ordered::Ordered;

use super::dice::Dice;
use super::fences::{Fence, Fences};
use super::health::Health;
use super::lanes::Lanes;
use super::operation::Operation;
use super::stream_key::{StreamKey, Ticket};

/// Maximum number of operations among which the shuffled mode chooses with equal probability.
const MOST_COUNTED: usize = 64;

#[derive(Debug)]
pub(super) struct Queue {
    next: Ticket,
    entries: Ordered<Entry>,
    fences: Fences,
    lanes: Lanes,
    /// Operations that are not running and wait for no other.
    free: BTreeSet<Ticket>,
    waits: Vec<Wait>,
    last_wait: u64,
    /// Number of threads that pause until something changes.
    pub(super) pausing: usize,
    /// Number of operations that outlive their contexts.
    outliving: usize,
    /// Random source of the shuffled mode.
    pub(super) dice: Option<Dice>,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Awaited {
    Nothing,
    One(Ticket),
    /// A lane, and the lanes that synchronize with it.
    Lane(StreamKey),
    Context(usize),
    /// The operations of a context for which freeing its memory waits.
    Free(usize),
    Green(usize, usize),
}

#[derive(Debug)]
struct Wait {
    number: u64,
    left: HashSet<Ticket>,
    /// These operations, and all operations that they wait for.
    needed: HashSet<Ticket>,
    /// The free ones of the needed operations.
    free: BTreeSet<Ticket>,
}

#[derive(Debug)]
pub(crate) struct Entry {
    lane: StreamKey,
    /// Operations before it, some of which may be finished.
    after: Vec<Ticket>,
    /// Number of unfinished ones in `after`.
    blockers: usize,
    followers: Vec<Ticket>,
    /// `None` while it runs.
    job: Option<Job>,
    fence: Fence,
    /// True for a copy that a fault of its context does not stop.
    is_unstoppable: bool,
    /// True if it continues after a fault of its context: ordinary waits no longer wait for it.
    outlives: bool,
}

impl Entry {
    pub(crate) fn calls_client(&self) -> bool {
        self.job.as_ref().is_some_and(|job| job.operation.calls_client())
    }

    /// True if it waits for a value in memory. Only called if it waits for no other operation.
    fn waits_for_value(&self) -> bool {
        self.job.as_ref().is_some_and(|job| !job.operation.is_ready())
    }

    /// True if it can run. Only called if it waits for no other operation.
    fn is_ready(&self) -> bool {
        self.job.as_ref().is_some_and(Job::is_ready)
    }
}

#[derive(Debug)]
pub(super) struct Job {
    pub(super) health: Arc<Health>,
    pub(super) operation: Box<dyn Operation>,
    /// Progress when it was put back: bytes of a copy.
    pub(super) done: u64,
}

impl Job {
    fn is_ready(&self) -> bool {
        self.operation.is_ready() || self.health.check().is_err()
    }
}

/// An operation that continues after a fault of its context.
#[derive(Debug)]
pub(super) struct Left {
    pub(super) ticket: Ticket,
    pub(super) job: Job,
}

impl Queue {
    pub(super) fn new(dice: Option<Dice>) -> Self {
        Self {
            next: 1,
            entries: Ordered::new(),
            fences: Fences::default(),
            lanes: Lanes::default(),
            free: BTreeSet::new(),
            waits: Vec::new(),
            last_wait: 0,
            pausing: 0,
            outliving: 0,
            dice,
        }
    }

    /// Appends an operation to its lane, after the operations in `after`. With `at_once`, it is
    /// returned to be run if no other has to run before.
    pub(super) fn push(
        &mut self,
        lane: StreamKey,
        after: &[Ticket],
        job: Job,
        at_once: bool,
    ) -> (Ticket, Option<Job>) {
        let ticket = self.next;
        self.next += 1;
        let fence = Fence::of(&*job.operation);
        let mut after = after.to_vec();
        self.fences.enter(fence, (lane, ticket), &self.lanes, &mut after);
        self.lanes.enter(lane, ticket, &mut after);
        after.retain(|before| self.entries.get(*before).is_some_and(|entry| !entry.outlives));
        after.sort_unstable();
        after.dedup();
        for before in &after {
            if let Some(entry) = self.entries.get_mut(*before) {
                entry.followers.push(ticket);
            }
        }
        let (blockers, is_unstoppable) = (after.len(), job.operation.is_unstoppable());
        let is_next = at_once && blockers == 0 && self.free.is_empty() && job.is_ready();
        let (job, given) = if is_next { (None, Some(job)) } else { (Some(job), None) };
        let followers = Vec::new();
        let entry = Entry { lane, after, blockers, followers, job, fence, is_unstoppable, outlives: false };
        self.entries.insert(ticket, entry);
        if blockers == 0 && given.is_none() {
            self.set_free(ticket);
        }
        (ticket, given)
    }

    pub(super) fn is_pending(&self, ticket: Ticket) -> bool {
        self.entries.contains(ticket)
    }

    /// True if no operation is unfinished.
    pub(super) fn is_idle(&self) -> bool {
        self.entries.is_empty()
    }

    /// True if an operation is unfinished, and waits neither for others nor for a value.
    pub(super) fn may_end(&self, ticket: Ticket) -> bool {
        self.entries.get(ticket).is_some_and(|entry| entry.blockers == 0 && !entry.waits_for_value())
    }

    /// True if a lane has an unfinished operation, or, for the legacy default stream, if its
    /// context waits for a copy between contexts.
    pub(super) fn is_busy(&self, lane: StreamKey) -> bool {
        let is_fenced = lane.stream == StreamKey::LEGACY && self.fences.of(lane.context).is_some();
        is_fenced || self.lanes.get(lane).is_some_and(|lane| !lane.tickets.is_empty())
    }

    /// True if an operation of a context waits for a value that has not been written.
    pub(super) fn is_stalled(&self, context: usize) -> bool {
        let stalls = |entry: &Entry| entry.lane.context == context && entry.waits_for_value();
        self.free.iter().any(|ticket| self.entries.get(*ticket).is_some_and(stalls))
    }

    /// True if an operation waits for nothing except a value in memory.
    pub(super) fn has_free(&self) -> bool {
        !self.free.is_empty()
    }

    /// True if an operation continues after a fault of its context.
    pub(super) fn has_outliving(&self) -> bool {
        self.outliving > 0
    }

    pub(super) fn begin_wait(&mut self, awaited: Awaited) -> u64 {
        self.last_wait += 1;
        let number = self.last_wait;
        let (left, needed, free) = (HashSet::new(), HashSet::new(), BTreeSet::new());
        self.waits.push(Wait { number, left, needed, free });
        self.extend_wait(number, awaited);
        number
    }

    pub(super) fn extend_wait(&mut self, number: u64, awaited: Awaited) {
        let mut open: Vec<Ticket> = match awaited {
            Awaited::Nothing => Vec::new(),
            Awaited::One(ticket) => vec![ticket],
            Awaited::Context(context) => {
                let mut tickets = self.tickets(StreamKey::lanes_of(context, None));
                tickets.extend(self.fences.of(context));
                tickets
            }
            Awaited::Free(context) => self.awaited_by_free(context),
            Awaited::Green(context, green) => self.tickets(StreamKey::lanes_of(context, Some(green))),
            Awaited::Lane(key) if key.stream == StreamKey::LEGACY => {
                let lanes = self.lanes.range(StreamKey::lanes_of(key.context, Some(key.green)));
                let lanes = lanes.filter(|(other, _)| key.follows(**other));
                let tickets = lanes.flat_map(|(_, lane)| &lane.tickets).copied();
                tickets.chain(self.fences.of(key.context)).collect()
            }
            Awaited::Lane(key) => {
                let default = key.blocking.then(|| key.default_stream());
                let lanes = [Some(key), default].into_iter().flatten();
                lanes.filter_map(|key| self.lanes.get(key)).flat_map(|lane| &lane.tickets).copied().collect()
            }
        };
        let Queue { waits, entries, .. } = self;
        let Some(wait) = waits.iter_mut().find(|wait| wait.number == number) else { return };
        open.retain(|ticket| entries.get(*ticket).is_some_and(|entry| !entry.outlives));
        wait.left.extend(&open);
        while let Some(ticket) = open.pop() {
            let Some(entry) = entries.get(ticket) else { continue };
            if wait.needed.insert(ticket) {
                if entry.blockers == 0 && entry.job.is_some() {
                    wait.free.insert(ticket);
                }
                open.extend(&entry.after);
            }
        }
    }

    /// Returns the unfinished operations of some lanes.
    pub(super) fn tickets(&self, lanes: impl RangeBounds<StreamKey>) -> Vec<Ticket> {
        self.lanes.range(lanes).flat_map(|(_, lane)| &lane.tickets).copied().collect()
    }

    /// Returns the operations of a context that a free of its memory waits for: all except copies
    /// between devices and operations that depend on such a copy.
    pub(super) fn awaited_by_free(&self, context: usize) -> Vec<Ticket> {
        let mut awaited = self.tickets(StreamKey::lanes_of(context, None));
        if !self.fences.are_between_devices() {
            return awaited;
        }
        let mut apart = HashSet::new();
        let mut all = self.tickets(..);
        all.sort_unstable();
        for ticket in all {
            let Some(entry) = self.entries.get(ticket) else { continue };
            if entry.fence.is_between_devices || entry.after.iter().any(|before| apart.contains(before)) {
                apart.insert(ticket);
            }
        }
        awaited.retain(|ticket| !apart.contains(ticket));
        awaited
    }

    pub(super) fn is_over(&self, wait: u64) -> bool {
        self.wait(wait).is_none_or(|wait| wait.left.is_empty())
    }

    pub(super) fn end_wait(&mut self, wait: u64) {
        self.waits.retain(|other| other.number != wait);
    }

    fn wait(&self, number: u64) -> Option<&Wait> {
        self.waits.iter().find(|wait| wait.number == number)
    }

    pub(super) fn take_for(&mut self, wait: u64) -> Option<(Ticket, Job)> {
        let any = if self.chance() { self.take_ready(&|_| true) } else { None };
        let taken = any.or_else(|| self.take(Some(wait), &|_| true));
        if taken.is_some() {
            return taken;
        }
        let waits_for_value = |ticket: &Ticket| self.entries.get(*ticket).is_some_and(Entry::waits_for_value);
        if !self.wait(wait)?.free.iter().any(waits_for_value) {
            return None;
        }
        // Any other operation may write the value.
        self.take_ready(&|_| true)
    }

    /// Takes the oldest ready operation that `among` accepts; in the shuffled mode, any of them.
    pub(super) fn take_ready(&mut self, among: &dyn Fn(&Entry) -> bool) -> Option<(Ticket, Job)> {
        self.take(None, among)
    }

    fn take(&mut self, wait: Option<u64>, among: &dyn Fn(&Entry) -> bool) -> Option<(Ticket, Job)> {
        let free = match wait {
            Some(number) => &self.waits.iter().find(|wait| wait.number == number)?.free,
            None => &self.free,
        };
        let is_ready = |ticket: &&Ticket| {
            self.entries.get(**ticket).is_some_and(|entry| entry.is_ready() && among(entry))
        };
        let ticket = match (&mut self.dice, free.first(), free.last()) {
            (Some(dice), Some(first), Some(last)) if free.len() > MOST_COUNTED => {
                let from = first + dice.below(last - first + 1);
                *free.range(from..).chain(free.range(..from)).find(is_ready)?
            }
            (Some(dice), ..) => {
                let ready: Vec<Ticket> = free.iter().filter(is_ready).copied().collect();
                *ready.get(dice.below(ready.len() as u64) as usize)?
            }
            (None, ..) => *free.iter().find(is_ready)?,
        };
        Some((ticket, self.take_job(ticket)?))
    }

    fn take_job(&mut self, ticket: Ticket) -> Option<Job> {
        self.free.remove(&ticket);
        for wait in &mut self.waits {
            wait.free.remove(&ticket);
        }
        self.entries.get_mut(ticket)?.job.take()
    }

    /// Marks an operation that is not running as waiting for no other.
    fn set_free(&mut self, ticket: Ticket) {
        self.free.insert(ticket);
        for wait in self.waits.iter_mut().filter(|wait| wait.needed.contains(&ticket)) {
            wait.free.insert(ticket);
        }
    }

    /// True at random in the shuffled mode, never in other modes.
    pub(super) fn chance(&mut self) -> bool {
        self.dice.as_mut().is_some_and(Dice::chance)
    }

    pub(super) fn put_back(&mut self, ticket: Ticket, job: Job) {
        if let Some(entry) = self.entries.get_mut(ticket) {
            entry.job = Some(job);
            self.set_free(ticket);
        }
    }

    /// Splits the operations of a broken context. Returns those that continue and are not running
    /// yet. The others no longer wait for anything, so the next wait drops them.
    pub(super) fn part_with(&mut self, context: usize, faulty: Ticket) -> Vec<Left> {
        let mut tickets = self.tickets(StreamKey::lanes_of(context, None));
        tickets.sort_unstable();
        let mut going_on: HashSet<Ticket> = HashSet::new();
        let mut left = Vec::new();
        for ticket in tickets.into_iter().filter(|ticket| *ticket != faulty) {
            let Some(entry) = self.entries.get(ticket) else { continue };
            let goes_on = |before: &Ticket| going_on.contains(before) || !self.entries.contains(*before);
            let issued = entry.after.iter().all(goes_on);
            let is_callback = entry.job.as_ref().is_some_and(|job| job.operation.is_told_of_fault());
            let goes_on = entry.outlives || entry.is_unstoppable && issued;
            let Some(entry) = self.entries.get_mut(ticket) else { continue };
            if goes_on {
                going_on.insert(ticket);
            } else if !is_callback {
                entry.after.clear();
                entry.blockers = 0;
                if entry.job.is_some() {
                    self.set_free(ticket);
                }
                continue;
            }
            self.outliving += usize::from(!std::mem::replace(&mut entry.outlives, true));
            for wait in &mut self.waits {
                wait.left.remove(&ticket);
            }
            left.extend(self.take_job(ticket).map(|job| Left { ticket, job }));
        }
        left
    }

    pub(super) fn finish(&mut self, ticket: Ticket) {
        let Some(entry) = self.entries.remove(ticket) else { return };
        self.outliving -= usize::from(entry.outlives);
        self.fences.leave(entry.fence, ticket);
        for wait in &mut self.waits {
            wait.left.remove(&ticket);
            wait.needed.remove(&ticket);
        }
        for follower in entry.followers {
            // An operation that no longer waits has no blockers either.
            let Some(next) = self.entries.get_mut(follower).filter(|next| next.blockers > 0) else {
                continue;
            };
            next.blockers -= 1;
            if next.blockers == 0 {
                self.set_free(follower);
            }
        }
        self.lanes.leave(ticket, entry.lane);
    }
}
