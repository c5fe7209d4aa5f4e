//! Copies between contexts in the queue: operations that synchronize with all streams of two
//! contexts, and operations for which a free does not wait.

use std::collections::BTreeMap;

use super::lanes::Lanes;
use super::operation::Operation;
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
    pub(super) is_between_devices: bool,
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

    /// True if a copy between devices is unfinished.
    pub(super) fn are_between_devices(&self) -> bool {
        self.between_devices > 0
    }

    /// Registers an operation before its lane does. Appends predecessors in other lanes to `after`.
    pub(super) fn enter(
        &mut self,
        fence: Fence,
        (key, ticket): (StreamKey, Ticket),
        lanes: &Lanes,
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
