//! The order of operations, as vector clocks.
//!
//! A clock contains, per lane, the last operation that is ordered before it. All work that the host
//! has waited for is ordered before all work issued later by any thread, because host threads can
//! synchronize in ways that the driver does not see.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::driver::state::queue::Awaited;
use crate::driver::state::stream_key::{StreamKey, Ticket};

/// The last operation of each lane that is ordered before.
#[derive(Debug, Clone, Default)]
pub(super) struct Clock(BTreeMap<usize, Ticket>);

impl Clock {
    pub(super) fn join(&mut self, other: &Self) {
        for (lane, ticket) in &other.0 {
            self.know(*lane, *ticket);
        }
    }

    fn know(&mut self, lane: usize, ticket: Ticket) {
        let known = self.0.entry(lane).or_default();
        *known = (*known).max(ticket);
    }

    pub(super) fn knows(&self, (lane, ticket): Moment) -> bool {
        self.0.get(&lane).is_some_and(|known| *known >= ticket)
    }
}

pub(super) type Moment = (usize, Ticket);

/// An order that was found later: all successors of `before` also follow `after`.
#[derive(Debug)]
struct Late {
    before: Moment,
    clock: Arc<Clock>,
}

#[derive(Debug, Default)]
pub(super) struct Clocks {
    lanes: BTreeMap<StreamKey, usize>,
    last: Vec<Arc<Clock>>,
    /// The last operation of each lane that the host has waited for.
    host: Vec<Ticket>,
    /// Clocks of operations that the host has not waited for.
    points: BTreeMap<Ticket, (usize, Arc<Clock>)>,
    /// Number of points at which unneeded ones are dropped.
    many: usize,
    /// By context: the last operation that all of its streams synchronize with.
    fences: BTreeMap<usize, Arc<Clock>>,
    /// Copies between devices, for which frees do not wait.
    apart: Vec<Moment>,
    late: Vec<Late>,
}

/// Minimum number of points before some are dropped, and maximum number of late orders.
const MANY: usize = 1024;

const MOST_POINTS: usize = 1 << 16;

impl Clocks {
    /// Returns the clock of a new operation that follows all operations in `after`.
    pub(super) fn start(&mut self, key: StreamKey, after: &[Ticket], fenced: [usize; 2]) -> (usize, Clock) {
        let lane = self.lane(key);
        let mut clock = Clock::clone(&self.last[lane]);
        if key.stream == StreamKey::LEGACY {
            self.join_lanes(&mut clock, key.context, Some(key.green), |other| key.follows(other));
        }
        if key.blocking {
            let default = self.lanes.get(&key.default_stream());
            if let Some(last) = default.and_then(|lane| self.last.get(*lane)) {
                clock.join(last);
            }
        }
        for context in fenced.into_iter().filter(|context| *context != 0) {
            self.join_lanes(&mut clock, context, None, |_| true);
        }
        for context in fenced.into_iter().chain([key.context]) {
            if let Some(fence) = self.fences.get(&context) {
                clock.join(fence);
            }
        }
        for ticket in after {
            if let Some((_, point)) = self.points.get(ticket) {
                clock.join(point);
            }
        }
        (lane, clock)
    }

    /// Records an operation with its final clock.
    pub(super) fn enter(
        &mut self,
        (lane, ticket): Moment,
        mut clock: Clock,
        fenced: [usize; 2],
        is_apart: bool,
    ) -> Arc<Clock> {
        self.complete(&mut clock);
        clock.0.retain(|lane, ticket| self.host.get(*lane).is_none_or(|seen| seen < ticket));
        clock.know(lane, ticket);
        let clock = Arc::new(clock);
        self.last[lane] = Arc::clone(&clock);
        self.points.insert(ticket, (lane, Arc::clone(&clock)));
        for context in fenced.into_iter().filter(|context| *context != 0) {
            self.fences.insert(context, Arc::clone(&clock));
        }
        if is_apart {
            self.apart.push((lane, ticket));
        }
        clock
    }

    /// True if the host has waited for an operation.
    pub(super) fn is_over(&self, (lane, ticket): Moment) -> bool {
        self.host.get(lane).is_some_and(|seen| *seen >= ticket)
    }

    /// Records that all operations in a clock are ordered before all later actions of the host.
    pub(super) fn reach_host(&mut self, clock: &Clock) {
        let mut clock = clock.clone();
        self.complete(&mut clock);
        for (lane, ticket) in &clock.0 {
            if let Some(seen) = self.host.get_mut(*lane) {
                *seen = (*seen).max(*ticket);
            }
        }
        if self.points.len() >= self.many.max(MANY) || self.late.len() >= MANY {
            let host = &self.host;
            let is_open = |lane: usize, ticket: Ticket| host.get(lane).is_none_or(|seen| *seen < ticket);
            self.points.retain(|ticket, (lane, _)| is_open(*lane, *ticket));
            self.apart.retain(|(lane, ticket)| is_open(*lane, *ticket));
            let last = &self.last;
            self.lanes.retain(|_, lane| last[*lane].0.iter().any(|(lane, ticket)| is_open(*lane, *ticket)));
            self.fences.retain(|_, fence| fence.0.iter().any(|(lane, ticket)| is_open(*lane, *ticket)));
            self.late.retain(|late| late.clock.0.iter().any(|(lane, ticket)| is_open(*lane, *ticket)));
            self.many = 2 * self.points.len();
        }
    }

    /// Returns the clock of all operations if too many are known that the host has not waited for.
    pub(super) fn crowd(&self) -> Option<Clock> {
        if self.points.len() < MOST_POINTS && self.late.len() < MANY {
            return None;
        }
        let mut all = Clock::default();
        self.last.iter().for_each(|last| all.join(last));
        Some(all)
    }

    /// Returns the clock of all operations that a wait covers.
    pub(super) fn awaited(&self, awaited: Awaited) -> Clock {
        let mut clock = Clock::default();
        match awaited {
            Awaited::Nothing => {}
            Awaited::One(ticket) => {
                if let Some((_, point)) = self.points.get(&ticket) {
                    clock.join(point);
                }
            }
            Awaited::Context(context) => {
                self.join_lanes(&mut clock, context, None, |_| true);
                clock.join(self.fences.get(&context).map_or(&Clock::default(), |fence| fence));
            }
            Awaited::Free(context) => {
                self.join_lanes(&mut clock, context, None, |_| true);
                for (lane, ticket) in self.apart.iter().filter(|moment| !self.is_over(**moment)) {
                    if let Some(known) = clock.0.get_mut(lane) {
                        *known = (*known).min(ticket - 1);
                    }
                }
            }
            Awaited::Green(context, green) => {
                self.join_lanes(&mut clock, context, Some(green), |_| true);
            }
            Awaited::Lane(key) if key.stream == StreamKey::LEGACY => {
                self.join_lanes(&mut clock, key.context, Some(key.green), |other| key.follows(other));
                clock.join(self.fences.get(&key.context).map_or(&Clock::default(), |fence| fence));
            }
            Awaited::Lane(key) => {
                let default = key.blocking.then(|| key.default_stream());
                for lane in [Some(key), default].into_iter().flatten().filter_map(|key| self.lanes.get(&key))
                {
                    clock.join(&self.last[*lane]);
                }
            }
        }
        clock
    }

    /// Records that an operation, already judged, follows another one.
    pub(super) fn add_late(&mut self, before: Moment, clock: &Arc<Clock>) {
        self.late.push(Late { before, clock: Arc::clone(clock) });
    }

    fn complete(&self, clock: &mut Clock) {
        let is_known = |clock: &Clock, late: &Late| clock.knows(late.before) || self.is_over(late.before);
        let mut open: Vec<&Late> = self.late.iter().collect();
        loop {
            let before = open.len();
            open.retain(|late| {
                let known = is_known(clock, late);
                if known {
                    clock.join(&late.clock);
                }
                !known
            });
            if open.len() == before {
                return;
            }
        }
    }

    fn lane(&mut self, key: StreamKey) -> usize {
        let next = self.last.len();
        let lane = *self.lanes.entry(key).or_insert(next);
        if lane == next {
            self.last.push(Arc::default());
            self.host.push(0);
        }
        lane
    }

    fn join_lanes(
        &self,
        clock: &mut Clock,
        context: usize,
        green: Option<usize>,
        among: impl Fn(StreamKey) -> bool,
    ) {
        for (key, lane) in self.lanes.range(StreamKey::lanes_of(context, green)) {
            if among(*key) {
                clock.join(&self.last[*lane]);
            }
        }
    }
}
