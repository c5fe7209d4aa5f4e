//! The interface of operations in a stream. Each kind is defined with its subject.

use core::any::Any;
use core::fmt;
use core::ops::Range;

use crate::driver::answer::Answer;

use super::health::Health;
use super::stream_key::Ticket;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Turn<'a> {
    pub(crate) health: &'a Health,
    pub(crate) ticket: Ticket,
    /// Bytes done earlier, for an operation in parts.
    pub(crate) done: u64,
}

pub(crate) trait Operation: Downcast + Send {
    /// Runs the rest of the operation. An error becomes the context's sticky error.
    fn run(&self, turn: Turn<'_>) -> Answer;

    /// True if it can run after all operations that it waits for.
    fn is_ready(&self) -> bool {
        true
    }

    /// Returns the contexts with whose streams it synchronizes, 0 for none: it runs after all work
    /// issued there before it, and before all work issued later.
    fn fenced(&self) -> [usize; 2] {
        [0; 2]
    }

    /// True for a copy between two devices. Frees and ends of objects do not wait for it.
    fn is_between_devices(&self) -> bool {
        false
    }

    fn calls_client(&self) -> bool {
        false
    }

    /// True if another process or API may wait for its effect.
    fn is_awaited_outside(&self) -> bool {
        false
    }

    /// True for a copy that a fault of its context does not stop.
    fn is_unstoppable(&self) -> bool {
        false
    }

    /// True if it is called even if its context has a sticky error.
    fn is_told_of_fault(&self) -> bool {
        false
    }

    /// Returns the number of bytes to process, if they can be processed in parts.
    fn divisible(&self) -> Option<u64> {
        None
    }

    /// Processes a part of the bytes of a divisible operation.
    fn run_part(&self, _part: Range<u64>) -> Answer {
        Ok(())
    }

    /// Cleans up if it is dropped because its context has a sticky error.
    fn give_up(&self, _health: &Health) {}

    /// Finishes an operation that continues after a fault of its context.
    fn end_after_fault(&self, health: &Health) {
        self.give_up(health);
    }
}

impl fmt::Debug for dyn Operation {
    /// Omits the contents, which refer to large parts of the driver.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Operation")
    }
}

/// Downcasts an operation to its type, for a capture that converts it to a node.
pub(crate) trait Downcast: Any {
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

impl<T: Any> Downcast for T {
    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use cuprum_sys::CUresult;

    use super::*;
    use crate::driver::state::StreamKey;
    use crate::driver::state::order::is_gathering;
    use crate::driver::state::schedule::Scheduler;
    use crate::settings::Mode;

    /// An operation of two bytes that panics, in whole or in parts.
    struct Panics;

    impl Operation for Panics {
        fn run(&self, _turn: Turn<'_>) -> Answer {
            panic!("as the test wants")
        }

        fn divisible(&self) -> Option<u64> {
            Some(2)
        }

        fn run_part(&self, _part: Range<u64>) -> Answer {
            panic!("as the test wants")
        }
    }

    #[test]
    fn a_panic_ends_an_operation_and_what_it_notes() {
        let lane = StreamKey { context: 1, green: 0, stream: 1, blocking: false };
        let modes = (0..20).map(Mode::Shuffled).chain([Mode::Deferred]);
        for (mode, check_order) in modes.flat_map(|mode| [(mode, false), (mode, true)]) {
            let scheduler: &'static Scheduler = Box::leak(Box::new(Scheduler::new(mode, check_order)));
            let health = Arc::new(Health::new(1));
            let ticket = scheduler.issue(&health, lane, &[], Box::new(Panics));
            scheduler.wait(ticket);
            assert!(!scheduler.is_pending(ticket), "{mode:?}");
            assert_eq!(health.check(), Err(CUresult::CUDA_ERROR_UNKNOWN), "{mode:?}");
            assert!(!is_gathering(), "{mode:?} leaves a list open");
        }
    }
}
