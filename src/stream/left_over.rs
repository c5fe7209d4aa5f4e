//! Wakers that are left on a thread of the driver, where nothing may be dropped that could call it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::task::Waker;

static LEFT: Mutex<Vec<Waker>> = Mutex::new(Vec::new());
/// True if there may be some, so that the lock is hardly ever taken.
static SOME: AtomicBool = AtomicBool::new(false);

/// Leaves a waker for another thread to drop.
pub(super) fn leave(waker: Waker) {
    LEFT.lock().unwrap_or_else(PoisonError::into_inner).push(waker);
    SOME.store(true, Ordering::Release);
}

/// Drops what was left. Never waits: in a forked child the lock may be taken forever.
pub(super) fn clear() {
    if !SOME.load(Ordering::Acquire) {
        return;
    }
    let Ok(mut left) = LEFT.try_lock() else { return };
    SOME.store(false, Ordering::Relaxed);
    let wakers = std::mem::take(&mut *left);
    // Out of the lock, as they are somebody else's code.
    drop(left);
    drop(wakers);
}
