//! Wakers left on a thread of the driver, where objects whose drop may call it must not be dropped.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::task::Waker;

static LEFT: Mutex<Vec<Waker>> = Mutex::new(Vec::new());
/// True if there may be wakers, so that the lock is rarely taken.
static SOME: AtomicBool = AtomicBool::new(false);

/// Leaves a waker for another thread to drop.
pub(super) fn leave(waker: Waker) {
    LEFT.lock().unwrap_or_else(PoisonError::into_inner).push(waker);
    SOME.store(true, Ordering::Release);
}

/// Drops the wakers left. Never waits, because in a forked child the lock may be held forever.
pub(super) fn clear() {
    if !SOME.load(Ordering::Acquire) {
        return;
    }
    let Ok(mut left) = LEFT.try_lock() else { return };
    SOME.store(false, Ordering::Relaxed);
    let wakers = std::mem::take(&mut *left);
    // After unlocking, because wakers run code of the program.
    drop(left);
    drop(wakers);
}
