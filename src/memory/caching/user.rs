//! The parts of a caching pool, and the values that keep them: handles, and blocks in use.
//!
//! Each thread works with one part, so that threads that share a pool neither wait for each other
//! nor share a cache line: the lock and the count of each part have separate lines. A block returns
//! to the part that it came from, on any thread. If the thread's part holds no block, it takes one
//! from another part before it calls the driver.
//!
//! A part is a `Mutex` in an `Arc`, which needs six atomic operations per block. A custom lock that
//! counts its users needed two. It saved 9 of 13 ns (one thread, medians of 500 rounds), 4 of them
//! compared with a `Mutex` alone. That was too little for a file of unsafe code, and all threads
//! wrote its cache line.
//!
//! While a part is locked, nothing waits, and neither programs nor the driver are called.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cuprum_sys::FnId;

use super::{Counts, PoolCounters, SizeClass, free_silently};
use crate::context::{ContextRef, KeptContext};
use crate::error::Error;
use crate::raw::held::activated;

pub(crate) trait Stock: Default {
    /// Location of a held block.
    type Place: Copy;

    fn largest(&self) -> Option<SizeClass>;

    fn counts(&mut self) -> &mut Counts;

    /// Takes the largest held block, to free it. Its place is reserved until `put_back`.
    fn take_held(&mut self) -> Option<(Self::Place, u64)>;

    /// Reports that the block taken from a place is free, or returns it.
    fn put_back(&mut self, place: Self::Place, block: Option<u64>);

    /// Frees a block without users, in the pool's context, which is current.
    fn free(context: &ContextRef, block: u64) -> Result<(), Error>;
}

/// A user of a part of a pool: a handle, or a block in use. The part ends with its last user.
///
/// In a forked child the part is not locked, because a thread that no longer exists may hold the
/// lock, and its contents are left alone.
pub(crate) struct User<'p, T: Stock>(Arc<Part<'p, T>>);

/// On separate cache lines, even where hardware fetches them in pairs.
#[repr(align(128))]
struct Part<'p, T: Stock> {
    context: KeptContext<'p>,
    stock: Mutex<T>,
}

impl<'p, T: Stock> User<'p, T> {
    #[inline]
    pub(crate) fn context(&self) -> &KeptContext<'p> {
        &self.0.context
    }

    /// True in a forked child, where no code may wait for the lock.
    #[inline]
    pub(crate) fn forked(&self) -> bool {
        self.context().library().forked()
    }

    /// Locks the part. A thread must not lock it twice, or in a forked child.
    ///
    /// Changes are never partial: no program code, which could panic, runs in between.
    #[inline]
    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.stock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Frees the largest held block, if any, in the pool's context, which is current.
    fn free_one(&self) -> Option<Result<(), Error>> {
        let (place, block) = self.lock().take_held()?;
        let freed = T::free(self.context(), block);
        let is_refused = freed.is_err_and(is_not_freed);
        self.lock().put_back(place, is_refused.then_some(block));
        Some(freed)
    }

    /// Changes the stock. If `change` returns true, drops this user, which may end the part;
    /// otherwise returns it. Not for a forked child.
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

/// True if a capture prevented the free, because the driver cannot exempt the thread.
pub(crate) fn is_not_freed(error: Error) -> bool {
    error.is_refused_by_a_capture() || error.call() == FnId::cuThreadExchangeStreamCaptureMode
}

impl<T: Stock> Drop for Part<'_, T> {
    fn drop(&mut self) {
        let stock = self.stock.get_mut().unwrap_or_else(PoisonError::into_inner);
        if self.context.library().forked() {
            // A thread that no longer exists may have been in the middle of a change.
            std::mem::forget(std::mem::take(stock));
            return;
        }
        let held = std::iter::from_fn(|| Some(stock.take_held()?.1));
        free_silently(&self.context, held, |block| T::free(&self.context, block));
    }
}

/// Number of parts of a pool. Threads get parts in turn, at their first use of any pool.
const PARTS: usize = 16;

thread_local! {
    /// Number of the thread's part, in all pools; `PARTS` until it is assigned.
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

/// The handle of a pool, shared by its clones.
pub(crate) struct Parts<'p, T: Stock>(Arc<[User<'p, T>; PARTS]>);

impl<'p, T: Stock> Parts<'p, T> {
    pub(crate) fn new(context: KeptContext<'p>) -> Self {
        let part = || Part { context: context.clone(), stock: Mutex::default() };
        Self(Arc::new(std::array::from_fn(|_| User(Arc::new(part())))))
    }

    #[inline]
    pub(crate) fn mine(&self) -> &User<'p, T> {
        let part = PART.get();
        self.0.get(part).unwrap_or_else(|| &self.0[next_part()])
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &User<'p, T>> {
        self.0.iter()
    }

    /// Takes from the first other part for which `take` succeeds.
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

    /// Sum over the parts; in a forked child, over the parts that no thread had locked.
    pub(crate) fn counters(&self) -> PoolCounters {
        let forked = self.forked();
        let of_part = |part: &User<'p, T>| match part.0.stock.try_lock() {
            Ok(mut stock) => stock.counts().counters,
            Err(_) if forked => PoolCounters::default(),
            Err(_) => part.lock().counts().counters,
        };
        self.all().map(of_part).fold(PoolCounters::default(), PoolCounters::and)
    }

    /// From now on, blocks that return are freed. Not for a forked child.
    pub(crate) fn stop_holding(&self) {
        self.all().for_each(|part| part.lock().counts().stopped = true);
    }

    /// Frees the largest block that any part holds, in the pool's context, which is current.
    /// Returns `None` if there is none.
    pub(crate) fn free_one(&self) -> Option<Result<(), Error>> {
        loop {
            let largest = self.all().map(|part| (part.lock().largest(), part));
            let (Some(_), part) = largest.max_by_key(|(largest, _)| *largest)? else { return None };
            // Another thread may have freed it first.
            if let Some(freed) = part.free_one() {
                return Some(freed);
            }
        }
    }

    /// Frees all held blocks, on any thread, and returns the first error. Not for a forked child.
    ///
    /// A block no longer exists after an error either, because the driver may have freed it.
    /// Exception: a capture prevented the free.
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
