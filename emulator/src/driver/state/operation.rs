//! What can be pushed to a stream. Each kind of operation is defined beside its subject.

use core::any::Any;
use core::fmt::Debug;
use core::ops::Range;

use crate::driver::answer::Answer;

use super::health::Health;
use super::lane::Ticket;

/// When an operation runs, and where.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Turn<'a> {
    /// The context that it was pushed in.
    pub(crate) health: &'a Health,
    pub(crate) ticket: Ticket,
    /// Bytes that were done before, of one that is done in parts.
    pub(crate) done: u64,
}

/// An operation of a stream.
pub(crate) trait Operation: Downcast + Debug + Send {
    /// Runs it, all but what was done before. An error poisons the context.
    fn run(&self, turn: Turn<'_>) -> Answer;

    /// Whether it can run once everything before it has.
    fn is_ready(&self) -> bool {
        true
    }

    /// Whether it calls a function of the client.
    fn calls_client(&self) -> bool {
        false
    }

    /// Whether it is a copy that a fault of its context does not stop.
    fn is_unstoppable(&self) -> bool {
        false
    }

    /// Whether it is called although its context is broken.
    fn is_told_of_fault(&self) -> bool {
        false
    }

    /// How many bytes there are to do, if they can be done in parts.
    fn divisible(&self) -> Option<u64> {
        None
    }

    /// Does some of its bytes, of an operation that is divisible.
    fn run_part(&self, _part: Range<u64>) -> Answer {
        Ok(())
    }

    /// What is left to do when it is dropped since its context is broken.
    fn give_up(&self, _health: &Health) {}

    /// Ends what goes on after a fault of its context.
    fn end_after_fault(&self, health: &Health) {
        self.give_up(health);
    }
}

/// The way back from an operation to its type, for a capture that makes a node of it.
pub(crate) trait Downcast: Any {
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

impl<T: Any> Downcast for T {
    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
