//! Blocks of memory: counted, noted when used, and released without a driver call.

use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::Arc;

use cuprum_sys::FnId;

use super::RegionError;
use super::core::{Core, Kept, Mode, Taken, locked};
use super::hub::{Dead, Hub};
use super::naive::naive;
use super::storage::Storage;
use super::visits::Visits;
use crate::context::ContextRef;
use crate::error::Error;

/// An object that queues use, shared by all its possible users.
pub(super) struct Block {
    hub: ManuallyDrop<Arc<Hub>>,
    storage: ManuallyDrop<Storage>,
    /// The queue in whose order the memory was allocated and is reused, with its epoch at that
    /// time. Uses by that queue need no note. Memory without a home was idle when it was allocated,
    /// and each queue is noted.
    home: ManuallyDrop<Option<(Arc<Core>, u64)>>,
    visits: ManuallyDrop<Visits>,
}

impl Block {
    pub(super) fn new(hub: &Arc<Hub>, storage: Storage, home: Option<(Arc<Core>, u64)>) -> Self {
        Self {
            hub: ManuallyDrop::new(Arc::clone(hub)),
            storage: ManuallyDrop::new(storage),
            home: ManuallyDrop::new(home),
            visits: ManuallyDrop::new(Visits::default()),
        }
    }

    /// The queue in whose order the memory was allocated, and its pool.
    pub(super) fn home(&self) -> Option<(&Arc<Core>, &Arc<Hub>)> {
        self.home.as_ref().map(|(home, _)| (home, &*self.hub))
    }

    pub(super) fn context(&self) -> &ContextRef {
        self.hub.context()
    }

    /// Notes that the next call on `queue`, whose mode is held, uses the block. Recordings also
    /// keep it.
    ///
    /// A recording makes the note too, in case the call runs immediately.
    #[inline]
    pub(super) fn touch(self: &Arc<Self>, queue: &Arc<Core>, mode: &Mode) -> Result<(), RegionError> {
        match mode.taken()? {
            None => {
                if !self.is_home(queue) {
                    self.visits.note(queue, queue.epoch(), || self.check_order(queue))?;
                }
            }
            Some(taken) => self.record(queue, taken)?,
        }
        Ok(())
    }

    #[inline]
    fn is_home(&self, queue: &Arc<Core>) -> bool {
        self.home.as_ref().is_some_and(|(home, _)| Arc::ptr_eq(home, queue))
    }

    /// Earlier work of a queue may still use memory of its lane: another queue must come after it.
    fn check_order(&self, queue: &Core) -> Result<(), RegionError> {
        match &*self.home {
            Some((home, born))
                if !queue.comes_after(home.number(), *born) && !home.has_passed(*born) && !naive("order") =>
            {
                Err(RegionError::NotOrdered)
            }
            _ => Ok(()),
        }
    }

    /// Keeps the block for a recording. A replay comes after all earlier work of the recording, on
    /// any queue. Memory whose earlier uses may come later is refused.
    fn record(self: &Arc<Self>, queue: &Arc<Core>, taken: &Taken) -> Result<(), RegionError> {
        if let Some((home, born)) = &*self.home {
            if !taken.base().covers(home.number(), *born) && !home.has_passed(*born) && !naive("order") {
                return Err(RegionError::NotOrdered);
            }
        }
        if !naive("keep") {
            taken.keep(self);
        }
        self.note(queue, queue.epoch());
        Ok(())
    }

    /// Fails unless the block is of the context of `queue`.
    #[inline]
    pub(super) fn check_context(&self, queue: &Core, call: FnId) -> Result<(), Error> {
        let (mine, other) = (self.context(), queue.context());
        if ptr::eq(mine, other) || mine == other { Ok(()) } else { Err(Error::wrong_context(call)) }
    }
}

impl Kept for Block {
    fn note(&self, queue: &Arc<Core>, epoch: u64) {
        if !self.is_home(queue) {
            self.visits.note_unchecked(queue, epoch);
        }
    }
}

/// Makes no driver call and does not wait, unless this is the last user of the pool: see [`Hub`].
impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: each field is taken once, here.
        let hub = unsafe { ManuallyDrop::take(&mut self.hub) };
        // SAFETY: as above.
        let storage = unsafe { ManuallyDrop::take(&mut self.storage) };
        // SAFETY: as above.
        let home = unsafe { ManuallyDrop::take(&mut self.home) }.map(|(home, _)| home);
        // SAFETY: as above.
        let visits = unsafe { ManuallyDrop::take(&mut self.visits) };
        if hub.forked() {
            // A thread that the child does not have may hold a lock.
            std::mem::forget((hub, storage, home, visits));
            return;
        }
        // Dropping the note may end a queue of another pool, by a driver call.
        let over = visits.are_over(home.as_deref()) && !visits.are_of_others(hub.number());
        match (storage, home) {
            (Storage::Nothing, _) => {}
            (Storage::Device { address, class }, Some(home)) if over || naive("device") => {
                locked(&home.lane).put(class, address);
            }
            (Storage::Device { address, class }, None) if over || naive("device") => {
                locked(&hub.quiet).put(class, address);
            }
            (Storage::Host { address, class }, _) if over || naive("host") => {
                locked(&hub.host).put(class, address);
            }
            (storage, home) => locked(&hub.limbo).push(Dead { storage, home, visits }),
        }
        drop(hub);
    }
}
