//! What the handles of a caching pool and its blocks in use have in common: a lock, and the number of them, which it guards.
//!
//! A `Mutex` in an `Arc` takes six atomic operations for a block that is taken and given back: to lock and to unlock, and to
//! count a user more and one less. They are most of what that costs. Here an atomic operation locks, a plain store unlocks,
//! and users are counted in between.
//!
//! That store is the last thing that a thread does with the memory of a pool. So whoever has counted the last user, and
//! locked for it behind all others, frees it. The standard `Mutex` does not promise that nobody touches it after unlocking.
//!
//! Between locking and unlocking, nothing waits and no code of programs runs, nor does the driver. A thread that finds the
//! lock taken spins for a moment, lets other threads run, and at last sleeps, so that the thread that has it gets on whatever
//! its priority is.

use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::context::{ContextRef, KeptContext};

/// What a pool holds.
pub(crate) trait Stock {
    /// Frees what is held, as the last user is gone.
    fn end(&mut self, context: &ContextRef);
}

/// A user of a pool: a handle, or a block in use. When the last is dropped, the pool ends.
///
/// In a forked child, where a thread that is gone may have the lock, users are not counted and nothing ends.
pub(crate) struct User<'p, T: Stock>(NonNull<Common<'p, T>>);

struct Common<'p, T: Stock> {
    context: KeptContext<'p>,
    locked: AtomicBool,
    /// Guarded by the lock, as the stock is.
    users: UnsafeCell<u64>,
    stock: UnsafeCell<T>,
}

// SAFETY: what is behind the lock is reached by one thread at a time, and ends on any thread; a context is for all threads.
unsafe impl<T: Stock + Send> Send for User<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Stock + Send> Sync for User<'_, T> {}

/// What is locked is changed as a whole or not at all: no code of programs runs in between, which could panic.
impl<T: Stock> UnwindSafe for User<'_, T> {}
impl<T: Stock> RefUnwindSafe for User<'_, T> {}

/// The stock of a pool, while this is there.
pub(crate) struct StockGuard<'a, 'p, T: Stock> {
    common: NonNull<Common<'p, T>>,
    _user: PhantomData<&'a User<'p, T>>,
}

impl<'p, T: Stock> User<'p, T> {
    /// The first user of a new pool.
    pub(crate) fn new(context: KeptContext<'p>, stock: T) -> Self {
        let (locked, users, stock) = (AtomicBool::new(false), UnsafeCell::new(1), UnsafeCell::new(stock));
        Self(NonNull::from(Box::leak(Box::new(Common { context, locked, users, stock }))))
    }

    #[inline]
    fn common(&self) -> &Common<'p, T> {
        // SAFETY: it lives as long as it has users, and only parts in cells change.
        unsafe { self.0.as_ref() }
    }

    /// The context in which the pool's memory is allocated.
    #[inline]
    pub(crate) fn context(&self) -> &KeptContext<'p> {
        &self.common().context
    }

    /// True in a forked child, where nobody may wait for the lock.
    #[inline]
    pub(crate) fn forked(&self) -> bool {
        self.context().library().forked()
    }

    /// Waits for other threads to unlock. Not to be called twice by a thread, nor in a forked child.
    #[inline]
    pub(crate) fn lock(&self) -> StockGuard<'_, 'p, T> {
        let common = self.common();
        if common.locked.swap(true, Ordering::Acquire) {
            wait_for(&common.locked);
        }
        StockGuard { common: self.0, _user: PhantomData }
    }

    /// Locks, unless another thread has the lock.
    pub(crate) fn try_lock(&self) -> Option<StockGuard<'_, 'p, T>> {
        let taken = self.common().locked.swap(true, Ordering::Acquire);
        (!taken).then_some(StockGuard { common: self.0, _user: PhantomData })
    }

    /// Changes the stock, and is no user any more if `change` says so: then the pool may have ended. Otherwise this comes
    /// back. Not to be called in a forked child.
    #[inline]
    pub(crate) fn leave_if(self, change: impl FnOnce(&mut T) -> bool) -> Option<Self> {
        let this = ManuallyDrop::new(self);
        let mut stock = this.lock();
        if !change(&mut stock) {
            drop(stock);
            return Some(ManuallyDrop::into_inner(this));
        }
        if stock.count(-1) == 0 {
            drop(stock);
            end(this.0);
        }
        None
    }
}

/// Ends a pool that has no users any more.
#[cold]
#[inline(never)]
fn end<T: Stock>(common: NonNull<Common<'_, T>>) {
    // SAFETY: made of a box, and the last user has locked behind all others, whose last use was to unlock.
    drop(unsafe { Box::from_raw(common.as_ptr()) });
}

/// Locks what another thread has locked.
#[cold]
#[inline(never)]
fn wait_for(locked: &AtomicBool) {
    let mut turn = 0u32;
    loop {
        match turn {
            ..64 => std::hint::spin_loop(),
            64..128 => thread::yield_now(),
            _ => thread::sleep(Duration::from_micros(50)),
        }
        turn = turn.saturating_add(1);
        if !locked.load(Ordering::Relaxed) && !locked.swap(true, Ordering::Acquire) {
            return;
        }
    }
}

impl<'p, T: Stock> StockGuard<'_, 'p, T> {
    /// One user more.
    #[inline]
    pub(crate) fn user(&mut self) -> User<'p, T> {
        self.count(1);
        User(self.common)
    }

    /// So many users more; gives their number.
    #[inline]
    fn count(&mut self, more: i64) -> u64 {
        // SAFETY: it lives, as its users do, one of which is borrowed.
        let common = unsafe { self.common.as_ref() };
        // SAFETY: this thread has the lock, and nothing else refers to the number.
        let users = unsafe { &mut *common.users.get() };
        *users = users.wrapping_add_signed(more);
        *users
    }
}

impl<T: Stock> Deref for StockGuard<'_, '_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: it lives, as its users do, one of which is borrowed.
        let common = unsafe { self.common.as_ref() };
        // SAFETY: this thread has the lock, and lends the stock to be read.
        unsafe { &*common.stock.get() }
    }
}

impl<T: Stock> DerefMut for StockGuard<'_, '_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: it lives, as its users do, one of which is borrowed.
        let common = unsafe { self.common.as_ref() };
        // SAFETY: this thread has the lock, and lends the stock to be written by this borrow alone.
        unsafe { &mut *common.stock.get() }
    }
}

impl<T: Stock> Drop for StockGuard<'_, '_, T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: whoever counts the last user locks for it, and so nobody frees it before this thread has unlocked.
        let locked = unsafe { &(*self.common.as_ptr()).locked };
        locked.store(false, Ordering::Release);
    }
}

impl<T: Stock> Clone for User<'_, T> {
    fn clone(&self) -> Self {
        if self.forked() { Self(self.0) } else { self.lock().user() }
    }
}

impl<T: Stock> Drop for User<'_, T> {
    fn drop(&mut self) {
        if self.forked() {
            return;
        }
        let mut stock = self.lock();
        if stock.count(-1) == 0 {
            drop(stock);
            end(self.0);
        }
    }
}

impl<T: Stock> Drop for Common<'_, T> {
    fn drop(&mut self) {
        self.stock.get_mut().end(&self.context);
    }
}
