//! The parts of a caching pool, and the values that keep them: handles and blocks in use.
//!
//! Each thread works with one part, so that threads which share a pool neither wait for each other nor pass a cache line
//! around: the lock and the count of a part are on lines of their own. A block goes back to the part that it is from,
//! on whichever thread. A thread whose part holds none takes those of other parts over, before the driver is asked.
//!
//! A part is a `Mutex` in an `Arc`, which takes six atomic operations for a block that is taken and given back. A lock of the
//! crate's own with the users counted in it took two. It earned 9 ns of 13 (one thread, medians of 500 rounds), 4 of them
//! over a `Mutex` alone: too little for a file of unsafe code, and it was the one line that all threads wrote.
//!
//! Between locking and unlocking, nothing waits and no code of programs runs, nor does the driver.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cuprum_sys::FnId;

use super::{Counts, PoolCounters, SizeClass, free_silently};
use crate::context::{ContextRef, KeptContext};
use crate::error::Error;
use crate::raw::held::activated;

/// The contents of a part of a pool.
pub(crate) trait Stock: Default {
    /// Place of a held block.
    type Place: Copy;

    /// The largest class of which a block is held.
    fn largest(&self) -> Option<SizeClass>;

    fn counts(&mut self) -> &mut Counts;

    /// Takes the largest held block, to free it. Its place stays reserved until `put_back` reports the outcome.
    fn take_held(&mut self) -> Option<(Self::Place, u64)>;

    /// The block that was taken from a place is free, or comes back.
    fn put_back(&mut self, place: Self::Place, block: Option<u64>);

    /// Frees a block without users, in the context of the pool, which is current.
    fn free(context: &ContextRef, block: u64) -> Result<(), Error>;
}

/// A user of a part of a pool: a handle of the pool, or a block in use. When the last is dropped, the part ends.
///
/// In a forked child, where a thread that is gone may have the lock, it is not locked, and the contents that it guards are left alone.
pub(crate) struct User<'p, T: Stock>(Arc<Part<'p, T>>);

/// On cache lines of its own, also where two are fetched at once.
#[repr(align(128))]
struct Part<'p, T: Stock> {
    context: KeptContext<'p>,
    stock: Mutex<T>,
}

impl<'p, T: Stock> User<'p, T> {
    /// The context in which the pool's memory is allocated.
    #[inline]
    pub(crate) fn context(&self) -> &KeptContext<'p> {
        &self.0.context
    }

    /// True in a forked child, where nobody may wait for the lock.
    #[inline]
    pub(crate) fn forked(&self) -> bool {
        self.context().library().forked()
    }

    /// Waits for other threads to unlock. Not to be called twice by a thread, nor in a forked child.
    ///
    /// What is locked is changed as a whole or not at all, since no code of programs runs in between, which could panic.
    #[inline]
    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.stock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Frees the largest block that is held, in the context of the pool, which is current; `None` if there is none.
    fn free_one(&self) -> Option<Result<(), Error>> {
        let (place, block) = self.lock().take_held()?;
        let freed = T::free(self.context(), block);
        let is_refused = freed.is_err_and(is_not_freed);
        self.lock().put_back(place, is_refused.then_some(block));
        Some(freed)
    }

    /// Changes the stock, and is no user any more if `change` says so: then the part may have ended. Otherwise this comes
    /// back. Not to be called in a forked child.
    #[inline]
    pub(crate) fn leave_if(self, change: impl FnOnce(&mut T) -> bool) -> Option<Self> {
        let leaves = change(&mut self.lock());
        (!leaves).then_some(self)
    }
}

impl<T: Stock> Clone for User<'_, T> {
    #[inline]
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

/// True if an error says that a block was certainly not freed: a capture forbids it, and the driver does not exempt the
/// thread.
pub(crate) fn is_not_freed(error: Error) -> bool {
    error.is_refused_by_a_capture() || error.call() == FnId::cuThreadExchangeStreamCaptureMode
}

impl<T: Stock> Drop for Part<'_, T> {
    fn drop(&mut self) {
        let stock = self.stock.get_mut().unwrap_or_else(PoisonError::into_inner);
        if self.context.library().forked() {
            // A thread that is gone may have been in the middle of a change.
            std::mem::forget(std::mem::take(stock));
            return;
        }
        let held = std::iter::from_fn(|| Some(stock.take_held()?.1));
        free_silently(&self.context, held, |block| T::free(&self.context, block));
    }
}

/// Number of parts of a pool. So many threads have parts of their own, if they used their first pool one after
/// the other.
const PARTS: usize = 16;

thread_local! {
    /// Number of the part that the thread works with, in all pools; beyond them before it has one.
    static PART: Cell<usize> = const { Cell::new(PARTS) };
}

#[cold]
#[inline(never)]
fn next_part() -> usize {
    static THREADS: AtomicUsize = AtomicUsize::new(0);
    let part = THREADS.fetch_add(1, Ordering::Relaxed) % PARTS;
    PART.set(part);
    part
}

/// The handle of a pool, which is shared by its clones.
pub(crate) struct Parts<'p, T: Stock>(Arc<[User<'p, T>; PARTS]>);

impl<'p, T: Stock> Parts<'p, T> {
    pub(crate) fn new(context: KeptContext<'p>) -> Self {
        let part = || Part { context: context.clone(), stock: Mutex::default() };
        Self(Arc::new(std::array::from_fn(|_| User(Arc::new(part())))))
    }

    /// The part that the calling thread works with.
    #[inline]
    pub(crate) fn mine(&self) -> &User<'p, T> {
        let part = PART.get();
        self.0.get(part).unwrap_or_else(|| &self.0[next_part()])
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &User<'p, T>> {
        self.0.iter()
    }

    /// Takes from the first of the other parts that has any.
    pub(crate) fn of_others<R>(&self, take: impl Fn(&mut T) -> Option<R>) -> Option<R> {
        let mine = self.mine();
        let mut others = self.all().filter(|part| !Arc::ptr_eq(&part.0, &mine.0));
        others.find_map(|part| take(&mut part.lock()))
    }

    #[inline]
    pub(crate) fn context(&self) -> &KeptContext<'p> {
        self.0[0].context()
    }

    #[inline]
    pub(crate) fn forked(&self) -> bool {
        self.0[0].forked()
    }

    /// Sum over the parts, one after the other; in a forked child, of those that no thread had locked.
    pub(crate) fn counters(&self) -> PoolCounters {
        let forked = self.forked();
        let of_part = |part: &User<'p, T>| match part.0.stock.try_lock() {
            Ok(mut stock) => stock.counts().counters,
            Err(_) if forked => PoolCounters::default(),
            Err(_) => part.lock().counts().counters,
        };
        self.all().map(of_part).fold(PoolCounters::default(), PoolCounters::and)
    }

    /// From now on, blocks that are given back go to the driver. Not to be called in a forked child.
    pub(crate) fn stop_holding(&self) {
        self.all().for_each(|part| part.lock().counts().stopped = true);
    }

    /// Frees the largest block that any part holds, in the context of the pool, which is current; `None` if there is none.
    pub(crate) fn free_one(&self) -> Option<Result<(), Error>> {
        loop {
            let largest = self.all().map(|part| (part.lock().largest(), part));
            let (Some(_), part) = largest.max_by_key(|(largest, _)| *largest)? else { return None };
            // Another thread may have been faster.
            if let Some(freed) = part.free_one() {
                return Some(freed);
            }
        }
    }

    /// Frees as many blocks as are held, on whichever thread, and returns the first error. Not to be called in a forked child.
    ///
    /// A block whose freeing failed is gone all the same, as the driver may have freed it, unless a capture has kept it from
    /// that.
    pub(crate) fn free_held(&self) -> Result<(), Error> {
        let held = self.counters().held_blocks;
        if held == 0 {
            return Ok(());
        }
        activated(self.context(), || {
            let mut first = Ok(());
            for freed in (0..held).map_while(|_| self.free_one()) {
                first = first.and(freed);
                if freed.is_err_and(is_not_freed) {
                    break;
                }
            }
            first
        })
    }
}

impl<T: Stock> Clone for Parts<'_, T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}
