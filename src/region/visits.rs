//! Notes of the queues that use a block, made without a driver call.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use super::core::Core;

/// Visits of one block: lists of a few places; all but the first list are allocated. Places are
/// only filled and their numbers only grow, so an existing note costs only loads.
#[derive(Default)]
pub(super) struct Visits {
    here: [Visit; 3],
    more: OnceLock<Box<Visits>>,
}

#[derive(Default)]
struct Visit {
    queue: OnceLock<Arc<Core>>,
    /// Twice the number of epochs up to the last use, plus one if the order was checked.
    until: AtomicU64,
}

impl Visits {
    /// Notes a use in `epoch` of `queue`, whose mode is held. `check` allows the first use.
    #[inline]
    pub(super) fn note<E>(
        &self,
        queue: &Arc<Core>,
        epoch: u64,
        check: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        let visit = self.of(queue);
        let until = visit.until.load(Ordering::Relaxed);
        if until & 1 == 0 {
            check()?;
        } else if until / 2 > epoch {
            return Ok(());
        }
        visit.note(epoch, 1);
        Ok(())
    }

    /// Notes a use whose order was checked in another way, which does not cover later uses.
    pub(super) fn note_unchecked(&self, queue: &Arc<Core>, epoch: u64) {
        self.of(queue).note(epoch, 0);
    }

    fn of(&self, queue: &Arc<Core>) -> &Visit {
        let mut list = self;
        loop {
            for visit in &list.here {
                if Arc::ptr_eq(visit.queue.get_or_init(|| Arc::clone(queue)), queue) {
                    return visit;
                }
            }
            list = list.more.get_or_init(Box::default);
        }
    }

    /// Each queue, with the last epoch of its uses.
    pub(super) fn each(&self) -> impl Iterator<Item = (&Arc<Core>, u64)> {
        let lists = std::iter::successors(Some(self), |list| list.more.get().map(|more| &**more));
        lists.flat_map(|list| &list.here).filter_map(|visit| {
            let epoch = (visit.until.load(Ordering::Relaxed) / 2).checked_sub(1)?;
            Some((visit.queue.get()?, epoch))
        })
    }

    /// True if a queue of another pool has used the block.
    pub(super) fn are_of_others(&self, pool: u64) -> bool {
        self.each().any(|(queue, _)| queue.pool() != pool)
    }

    /// True if all uses are complete, or come before the next work of `home`.
    pub(super) fn are_over(&self, home: Option<&Core>) -> bool {
        self.each().all(|(queue, epoch)| {
            queue.has_passed(epoch) || home.is_some_and(|home| home.comes_after(queue.number(), epoch))
        })
    }
}

impl Visit {
    fn note(&self, epoch: u64, checked: u64) {
        let newer = |until: u64| Some((until / 2).max(epoch + 1) * 2 + ((until & 1) | checked));
        // Always succeeds, because there is always a new value.
        let _ = self.until.fetch_update(Ordering::Relaxed, Ordering::Relaxed, newer);
    }
}
