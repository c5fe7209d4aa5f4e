//! The threads that write device memory, counted so that a launch knows whether it is alone.
//!
//! Nothing else writes the memory of a lone launch, so its atomic operations need no locked
//! instructions, which take most of the time of many kernels. Another writer first waits until the
//! launch has noticed it, between two of its operations, and uses locked ones from then on.

use core::cell::Cell;
use core::marker::PhantomData;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::MutexGuard;
use std::thread;

/// Twice the number of writers, and one more while a launch is alone.
static WRITERS: AtomicU64 = AtomicU64::new(0);

const WRITER: u64 = 2;
const ALONE: u64 = 1;

thread_local! {
    /// True if the lone launch is on this thread.
    static OWN: Cell<bool> = const { Cell::new(false) };
}

/// A thread that writes device memory until this value is dropped. Used by the driver.
#[doc(hidden)]
#[derive(Debug)]
pub struct Writer {
    alone: AtomicBool,
    /// Dropped on the thread that created it.
    thread: PhantomData<MutexGuard<'static, ()>>,
}

impl Writer {
    /// Waits until no launch on another thread is alone.
    pub fn new() -> Self {
        let mut writers = WRITERS.fetch_add(WRITER, Ordering::SeqCst);
        // A function of the client that a lone launch calls, a report for instance, may write.
        while writers & ALONE != 0 && !OWN.get() {
            thread::yield_now();
            writers = WRITERS.load(Ordering::SeqCst);
        }
        Self { alone: AtomicBool::new(false), thread: PhantomData }
    }

    /// Like `new`, and alone if there is no other writer.
    pub(crate) fn alone_if_first() -> Self {
        let (strong, weak) = (Ordering::SeqCst, Ordering::Relaxed);
        if WRITERS.compare_exchange(0, WRITER | ALONE, strong, weak).is_err() {
            return Self::new();
        }
        OWN.set(true);
        Self { alone: AtomicBool::new(true), thread: PhantomData }
    }

    /// True if nothing else writes device memory until the next call of this function.
    #[inline]
    pub(crate) fn is_alone(&self) -> bool {
        if !self.alone.load(Ordering::Relaxed) {
            return false;
        }
        let alone = WRITERS.load(Ordering::SeqCst) == WRITER | ALONE;
        if !alone {
            self.admit_others();
        }
        alone
    }

    /// Lets other writers go on, if there are any.
    #[inline]
    pub(crate) fn admit_if_any(&self) {
        let _ = self.is_alone();
    }

    /// Lets other writers go on, and counts as not alone from now on.
    #[cold]
    pub(crate) fn admit_others(&self) {
        if self.alone.swap(false, Ordering::Relaxed) {
            OWN.set(false);
            WRITERS.fetch_sub(ALONE, Ordering::SeqCst);
        }
    }
}

impl Default for Writer {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.admit_others();
        WRITERS.fetch_sub(WRITER, Ordering::SeqCst);
    }
}

/// Counts a writer for the rest of the process, because another process or API may now write
/// device memory.
pub(super) fn share() {
    core::mem::forget(Writer::new());
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// Launches of other tests in this process may write meanwhile.
    fn alone() -> Writer {
        loop {
            let writer = Writer::alone_if_first();
            if writer.is_alone() {
                return writer;
            }
        }
    }

    #[test]
    fn a_writer_waits_until_a_lone_launch_has_noticed_it() {
        let launch = alone();
        let entered = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                let _writer = Writer::new();
                entered.store(true, Ordering::SeqCst);
            });
            thread::sleep(Duration::from_millis(20));
            assert!(!entered.load(Ordering::SeqCst));
            while launch.is_alone() {
                thread::yield_now();
            }
        });
        assert!(entered.load(Ordering::SeqCst) && !launch.is_alone());
    }

    #[test]
    fn a_writer_on_the_same_thread_does_not_wait() {
        let launch = alone();
        drop(Writer::new());
        drop(launch);
        // The thread waits again for the launches of others.
        let (other, entered) = (AtomicBool::new(false), AtomicBool::new(false));
        thread::scope(|scope| {
            scope.spawn(|| {
                let launch = alone();
                other.store(true, Ordering::SeqCst);
                thread::sleep(Duration::from_millis(20));
                assert!(!entered.load(Ordering::SeqCst));
                drop(launch);
            });
            while !other.load(Ordering::SeqCst) {
                thread::yield_now();
            }
            let _writer = Writer::new();
            entered.store(true, Ordering::SeqCst);
        });
    }
}
