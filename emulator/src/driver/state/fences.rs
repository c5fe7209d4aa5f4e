//! Copies between contexts in the queue: operations that synchronize with all streams of two
//! contexts, and operations for which a free does not wait.

use std::collections::{BTreeMap, HashSet};

use super::lanes::Lane;
use super::operation::Operation;
use super::queue::Queue;
use super::stream_key::{StreamKey, Ticket};

/// The unfinished copies between contexts and between devices.
#[derive(Debug, Default)]
pub(super) struct Fences {
    /// By context: the last operation that all of its streams synchronize with.
    last: BTreeMap<usize, Ticket>,
    between_devices: usize,
}

/// Synchronization of an operation with other contexts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fence {
    /// The contexts with whose streams it synchronizes, 0 for none.
    contexts: [usize; 2],
    is_between_devices: bool,
}

impl Fence {
    pub(super) fn of(operation: &dyn Operation) -> Self {
        Self { contexts: operation.fenced(), is_between_devices: operation.is_between_devices() }
    }
}

impl Fences {
    /// Returns the last unfinished operation that all streams of a context synchronize with.
    pub(super) fn of(&self, context: usize) -> Option<Ticket> {
        self.last.get(&context).copied()
    }

    /// Registers an operation before its lane does. Appends predecessors in other lanes to `after`.
    pub(super) fn enter(
        &mut self,
        fence: Fence,
        (key, ticket): (StreamKey, Ticket),
        lanes: &BTreeMap<StreamKey, Lane>,
        after: &mut Vec<Ticket>,
    ) {
        after.extend(self.of(key.context));
        self.between_devices += usize::from(fence.is_between_devices);
        for context in fence.contexts.into_iter().filter(|context| *context != 0) {
            let lanes = lanes.range(StreamKey::lanes_of(context, None));
            after.extend(lanes.filter_map(|(_, lane)| lane.last()));
            after.extend(self.last.insert(context, ticket));
        }
    }

    pub(super) fn leave(&mut self, fence: Fence, ticket: Ticket) {
        self.between_devices -= usize::from(fence.is_between_devices);
        for context in fence.contexts {
            if self.of(context) == Some(ticket) {
                self.last.remove(&context);
            }
        }
    }
}

impl Queue {
    /// Returns the operations of a context that a free of its memory waits for: all except copies
    /// between devices and operations that depend on such a copy.
    pub(super) fn awaited_by_free(&self, context: usize) -> Vec<Ticket> {
        let mut awaited = self.tickets(StreamKey::lanes_of(context, None));
        if self.fences.between_devices == 0 {
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
}
