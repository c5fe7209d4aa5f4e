//! The operations of each stream, in the order of issue.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::ops::RangeBounds;

use super::stream_key::{StreamKey, Ticket};

/// Maximum number of idle lanes kept. Most lanes are used again soon.
const MOST_IDLE: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Lane {
    /// Unfinished operations, in the order of issue.
    pub(super) tickets: VecDeque<Ticket>,
    /// For a legacy default stream: the blocking lanes with operations issued after its last one.
    since: Vec<StreamKey>,
    /// True if it is in such a list.
    is_noted: bool,
}

impl Lane {
    pub(super) fn last(&self) -> Option<Ticket> {
        self.tickets.back().copied()
    }
}

/// All lanes with unfinished operations, and a few idle ones.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    by_key: BTreeMap<StreamKey, Lane>,
    idle: usize,
}

impl Lanes {
    pub(super) fn get(&self, key: StreamKey) -> Option<&Lane> {
        self.by_key.get(&key)
    }

    pub(super) fn range(
        &self,
        keys: impl RangeBounds<StreamKey>,
    ) -> impl Iterator<Item = (&StreamKey, &Lane)> {
        self.by_key.range(keys)
    }

    /// Appends an operation to its lane, and those that it awaits in other lanes to `after`.
    pub(super) fn enter(&mut self, key: StreamKey, ticket: Ticket, after: &mut Vec<Ticket>) {
        let (lanes, idle) = (&mut self.by_key, &mut self.idle);
        let mut made = |lanes: &mut BTreeMap<StreamKey, Lane>, key: StreamKey| {
            lanes.entry(key).or_insert_with(|| {
                *idle += 1;
                Lane::default()
            });
        };
        made(lanes, key);
        if key.blocking {
            made(lanes, key.default_stream());
        }
        let Some(lane) = lanes.get_mut(&key) else { return };
        after.extend(lane.tickets.back());
        *idle -= usize::from(lane.tickets.is_empty());
        lane.tickets.push_back(ticket);
        let (since, was_noted) = (std::mem::take(&mut lane.since), lane.is_noted);
        lane.is_noted = key.blocking;
        for other in since {
            if let Some(other) = lanes.get_mut(&other) {
                after.extend(other.tickets.back());
                other.is_noted = false;
            }
        }
        if let Some(default) = lanes.get_mut(&key.default_stream()).filter(|_| key.blocking) {
            after.extend(default.tickets.back());
            default.since.extend((!was_noted).then_some(key));
        }
    }

    pub(super) fn leave(&mut self, ticket: Ticket, key: StreamKey) {
        let Some(lane) = self.by_key.get_mut(&key) else { return };
        // The operations of a lane end in order, except in a broken context.
        if let Ok(at) = lane.tickets.binary_search(&ticket) {
            lane.tickets.remove(at);
            self.idle += usize::from(lane.tickets.is_empty());
        }
        if self.idle > MOST_IDLE.max(self.by_key.len() / 2) {
            self.drop_idle();
        }
    }

    fn drop_idle(&mut self) {
        let busy: HashSet<StreamKey> =
            self.by_key.iter().filter(|(_, lane)| !lane.tickets.is_empty()).map(|(key, _)| *key).collect();
        self.by_key.retain(|key, lane| {
            lane.since.retain(|other| busy.contains(other));
            !lane.since.is_empty() || busy.contains(key)
        });
        self.idle = self.by_key.len() - busy.len();
    }
}
