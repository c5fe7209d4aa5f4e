//! The state shared by all users of a pool: dead blocks, and the queues.

use std::sync::{Arc, Mutex};
use std::{iter, mem};

use super::core::{Core, is_done, locked, number, wait_for};
use super::raw_memory::{free_device, free_host};
use super::storage::Storage;
use super::visits::Visits;
use crate::context::{ContextRef, Current, KeptContext, captures};
use crate::error::Error;
use crate::memory::caching::{Bins, SizeClass, free_all, is_no_room, is_not_freed};
use crate::stream::Event;

/// Dead blocks of one context, and its queues.
///
/// A dead block is in one of three places: in the lane of its home, in `quiet` or `host` if it is
/// idle, or in `limbo` while a queue other than its home may still use it. It leaves limbo when
/// [`collect`](Hub::collect) finds that an event after each of those uses has passed.
pub(super) struct Hub {
    context: KeptContext<'static>,
    number: u64,
    /// All queues, including queues without a handle, whose streams and lanes new queues reuse.
    pub(super) queues: Mutex<Vec<Arc<Core>>>,
    pub(super) quiet: Mutex<Bins>,
    pub(super) host: Mutex<Bins>,
    pub(super) limbo: Mutex<Vec<Dead>>,
    /// Events recorded for blocks in limbo. Locked during collection, including its driver calls.
    marks: Mutex<Vec<Marked>>,
}

/// A block without users on the host, which the device may still use.
pub(super) struct Dead {
    pub(super) storage: Storage,
    pub(super) home: Option<Arc<Core>>,
    pub(super) visits: Visits,
}

struct Marked {
    queue: Arc<Core>,
    epoch: u64,
    event: Event<'static>,
}

impl Hub {
    pub(super) fn new(context: KeptContext<'static>) -> Self {
        Self {
            context,
            number: number(),
            queues: Mutex::default(),
            quiet: Mutex::default(),
            host: Mutex::default(),
            limbo: Mutex::default(),
            marks: Mutex::default(),
        }
    }

    pub(super) fn context(&self) -> &ContextRef {
        &self.context
    }

    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// True in a forked child, where no lock may be taken.
    pub(super) fn forked(&self) -> bool {
        self.context.library().forked()
    }

    /// Moves idle blocks out of limbo. For each queue that still uses a block, records an event
    /// unless there is one, and queries each event once. After an error, blocks stay in limbo.
    pub(super) fn collect(&self, cx: &Current<'_, 'static>) {
        let mut marks = locked(&self.marks);
        Self::ask(&mut marks);
        let mut dead = mem::take(&mut *locked(&self.limbo));
        let mut over = Vec::new();
        sort_out(&mut dead, &mut over);
        if !dead.is_empty() && Self::mark(cx, &dead, &mut marks) {
            Self::ask(&mut marks);
            sort_out(&mut dead, &mut over);
        }
        drop(marks);
        locked(&self.limbo).append(&mut dead);
        self.release(over);
    }

    fn ask(marks: &mut Vec<Marked>) {
        let mut waiting = Vec::with_capacity(marks.len());
        for mark in mem::take(marks) {
            match is_done(&mark.event) {
                Ok(true) => {
                    mark.queue.pass(mark.epoch);
                    mark.queue.give_back(mark.event);
                }
                waits => {
                    waits.map_or_else(|error| mark.queue.context().swallow(error), drop);
                    waiting.push(mark);
                }
            }
        }
        *marks = waiting;
    }

    /// Records an event for each queue that uses a dead block and has no event yet. Returns true if
    /// it recorded any. A queue cannot have one during a recording, and never gets one after a
    /// failed recording.
    fn mark(cx: &Current<'_, 'static>, dead: &[Dead], marks: &mut Vec<Marked>) -> bool {
        let before = marks.len();
        for (queue, epoch) in dead.iter().flat_map(|dead| dead.visits.each()) {
            let known = |mark: &Marked| Arc::ptr_eq(&mark.queue, queue) && mark.epoch >= epoch;
            if queue.has_passed(epoch) || marks.iter().any(known) {
                continue;
            }
            match end_epoch(cx, queue) {
                Ok(mark) => marks.extend(mark),
                Err(error) => queue.context().swallow(error),
            }
        }
        marks.len() > before
    }

    /// Moves idle blocks to the places that allocate them. Holds no lock, because it drops owners.
    fn release(&self, over: Vec<Dead>) {
        for Dead { storage, home, .. } in over {
            match (storage, home) {
                (Storage::Device { address, class }, Some(home)) => locked(&home.lane).put(class, address),
                (Storage::Device { address, class }, None) => locked(&self.quiet).put(class, address),
                (Storage::Host { address, class }, _) => locked(&self.host).put(class, address),
                (Storage::Kept(owner), _) => drop(owner),
                (Storage::Nothing, _) => {}
            }
        }
    }

    /// True if there is nothing to free, now or later.
    pub(super) fn is_empty(&self) -> bool {
        // Blocks that are being collected are in none of the places.
        let _collecting = locked(&self.marks);
        let queues: Vec<Arc<Core>> = locked(&self.queues).clone();
        locked(&self.limbo).is_empty()
            && locked(&self.quiet).is_empty()
            && locked(&self.host).is_empty()
            && queues.iter().all(|queue| locked(&queue.lane).is_empty())
    }

    /// Waits for all uses of blocks in limbo that can be waited for.
    pub(super) fn wait_for_limbo(&self, cx: &Current<'_, 'static>) {
        self.collect(cx);
        let waiting = mem::take(&mut *locked(&self.marks));
        for mark in waiting {
            match wait_for(&mark.event) {
                Ok(()) => {
                    mark.queue.pass(mark.epoch);
                    mark.queue.give_back(mark.event);
                }
                Err(error) => {
                    mark.queue.context().swallow(error);
                    locked(&self.marks).push(mark);
                }
            }
        }
        self.collect(cx);
    }

    /// Waits for blocks in limbo after the last user was dropped, even if an event could not be
    /// recorded. No thread can begin a recording of these queues any more.
    fn wait_for_all(&self, cx: &Current<'_, 'static>) {
        self.wait_for_limbo(cx);
        if locked(&self.limbo).is_empty() {
            return;
        }
        let queues: Vec<Arc<Core>> = locked(&self.queues).clone();
        for queue in queues {
            match captures::wait_beside(self.context.library(), || queue.stream.synchronize(cx)) {
                Ok(()) => queue.pass(queue.epoch()),
                Err(error) => queue.context().swallow(error),
            }
        }
        self.collect(cx);
    }

    /// Frees all idle blocks and the blocks of lanes, and returns the first error. Freeing waits
    /// for earlier work of a lane. A block that a capture protects from the free stays.
    pub(super) fn free_held(&self) -> Result<(), Error> {
        let queues: Vec<Arc<Core>> = locked(&self.queues).clone();
        let lanes = queues.iter().map(|queue| &queue.lane);
        let mut first = Ok(());
        for (bins, free) in iter::once(&self.quiet)
            .chain(lanes)
            .map(|bins| (bins, free_device as Free))
            .chain(iter::once((&self.host, free_host as Free)))
        {
            first = first.and(self.free_bins(bins, free));
        }
        first
    }

    /// Allocates. Without room, waits for blocks in limbo, frees kept memory, and retries once.
    pub(super) fn with_room(
        &self,
        cx: &Current<'_, 'static>,
        mut alloc: impl FnMut() -> Result<u64, Error>,
    ) -> Result<u64, Error> {
        match alloc() {
            Err(error) if is_no_room(error) && !self.is_empty() => {
                self.wait_for_limbo(cx);
                // The failed free may still have made room.
                self.free_held().unwrap_or_else(|error| self.context.swallow(error));
                alloc()
            }
            other => other,
        }
    }

    fn free_bins(&self, bins: &Mutex<Bins>, free: Free) -> Result<(), Error> {
        let held: Vec<(SizeClass, u64)> = locked(bins).drain().collect();
        let mut refused = false;
        let mut first = Ok(());
        for (class, block) in held {
            if !refused {
                let freed = free_all(&self.context, [block], |block| free(&self.context, block));
                first = first.and(freed);
                refused = freed.is_err_and(is_not_freed);
            }
            if refused {
                locked(bins).put(class, block);
            }
        }
        first
    }
}

type Free = fn(&ContextRef, u64) -> Result<(), Error>;

/// Moves unused blocks from `dead` to `over`.
fn sort_out(dead: &mut Vec<Dead>, over: &mut Vec<Dead>) {
    let (idle, busy) = mem::take(dead).into_iter().partition::<Vec<_>, _>(|dead| dead.is_over());
    over.extend(idle);
    *dead = busy;
}

impl Dead {
    fn is_over(&self) -> bool {
        self.visits.are_over(self.home.as_deref())
    }
}

/// Ends an epoch of a queue, in the queue's own context. Returns `None` during a recording, and
/// while this thread lends the queue.
fn end_epoch(cx: &Current<'_, 'static>, queue: &Arc<Core>) -> Result<Option<Marked>, Error> {
    if cx.context() != queue.context() {
        return queue.kept_context().enter_as(|cx| end_epoch(cx, queue));
    }
    let Ok(mode) = queue.change() else { return Ok(None) };
    if mode.eager().is_err() {
        return Ok(None);
    }
    let (event, epoch) = queue.end_epoch(cx)?;
    Ok(Some(Marked { queue: Arc::clone(queue), epoch, event }))
}

/// Waits for the work on dead blocks, and frees them. Leaks blocks if the wait fails.
impl Drop for Hub {
    fn drop(&mut self) {
        if self.forked() {
            mem::forget(mem::take(&mut self.limbo));
            return;
        }
        let has_dead = !locked(&self.limbo).is_empty();
        if has_dead {
            let waited = self.context.enter_as(|cx| {
                self.wait_for_all(cx);
                Ok(())
            });
            waited.unwrap_or_else(|error| self.context.swallow(error));
        }
        for dead in locked(&self.limbo).drain(..) {
            if dead.visits.each().any(|(queue, _)| *queue.context() != *self.context) {
                // The end of the context waits only for its own work.
                self.context.mark().lose();
            }
            mem::forget(dead.storage);
        }
        if let Err(error) = self.free_held() {
            self.context.swallow(error);
        }
    }
}
