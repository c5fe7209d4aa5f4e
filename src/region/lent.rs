//! The queues that this thread lends to other libraries.

use std::cell::{Cell, RefCell};

thread_local! {
    /// Number of queues in the list. Without a destructor, so that reading it costs one load.
    static COUNT: Cell<usize> = const { Cell::new(0) };
    static QUEUES: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// A queue that is lent to code on this thread, until this is dropped.
pub(super) struct Lease(());

impl Lease {
    pub(super) fn new(queue: u64) -> Self {
        // At the end of the thread, there is no list.
        let _ = QUEUES.try_with(|queues| queues.borrow_mut().push(queue));
        COUNT.set(COUNT.get() + 1);
        Self(())
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        COUNT.set(COUNT.get() - 1);
        let _ = QUEUES.try_with(|queues| queues.borrow_mut().pop());
    }
}

/// True if this thread lends the queue with this number. Without a list, it may be any.
#[inline]
pub(super) fn contains(queue: u64) -> bool {
    COUNT.get() != 0 && is_listed(queue)
}

#[cold]
fn is_listed(queue: u64) -> bool {
    QUEUES.try_with(|queues| queues.borrow().contains(&queue)).unwrap_or(true)
}
