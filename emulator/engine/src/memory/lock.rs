//! Locks for a signal handler.

use std::sync::{Mutex, MutexGuard, TryLockError};

/// Number of attempts to get a lock without waiting. Each takes nanoseconds.
const ATTEMPTS: u32 = 10_000;

/// Locks unless this means waiting for a thread that does not run.
pub(super) fn lock_at_once<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    for _ in 0..ATTEMPTS {
        match mutex.try_lock() {
            Ok(guard) => return Some(guard),
            // Every change of this data is one insertion or removal.
            Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => core::hint::spin_loop(),
        }
    }
    None
}
