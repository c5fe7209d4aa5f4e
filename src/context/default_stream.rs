//! Tracks work on a context's default stream, so that a scope waits for it only when necessary.
//!
//! One word contains the number of waits that have begun, and whether anything was queued since the
//! last of them. A thread that queues work on the default stream sets the flag *after* the driver
//! call, and only then may pass the memory to another thread. A thread that waits counts the wait
//! *before* the driver call. So if the word still equals the value of a wait, all work on memory
//! lent by now was queued before that wait: otherwise its flag would have been set after the count,
//! and the word never returns to an earlier value.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Work was queued since the last wait. Never set together with [`PER_THREAD`].
const QUEUED: u64 = 1;
/// The library has per-thread default streams; then the context waits for each call.
const PER_THREAD: u64 = 2;
const WAIT: u64 = 4;

/// The state of a context's default stream, kept once for all values that stand for the context.
#[derive(Default)]
pub(crate) struct DefaultStream {
    word: AtomicU64,
    /// True if the program holds the stream as a value, on which it queues work without a note.
    named: AtomicBool,
}

const fn next(word: u64) -> u64 {
    (word & !QUEUED) + WAIT
}

impl DefaultStream {
    /// True if [`note`](Self::note) would change nothing.
    #[inline]
    pub(crate) fn is_noted(&self) -> bool {
        self.word.load(Ordering::Acquire) & QUEUED != 0
    }

    fn change(&self, change: impl Fn(u64) -> u64) -> u64 {
        let mut before = self.word.load(Ordering::Acquire);
        loop {
            let after = change(before);
            match self.word.compare_exchange_weak(before, after, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return after,
                Err(now) => before = now,
            }
        }
    }

    #[cold]
    pub(crate) fn note(&self) {
        self.change(|word| if word & PER_THREAD == 0 { word | QUEUED } else { next(word) });
    }

    /// Notes that the program holds the stream as a value.
    pub(crate) fn name(&self) {
        self.named.store(true, Ordering::Release);
    }

    pub(super) fn per_thread(&self) {
        self.change(|word| next(word) | PER_THREAD);
    }

    /// Counts a wait for the stream that is about to begin.
    pub(crate) fn begin_wait(&self) -> Waited {
        Waited(self.change(next))
    }

    /// True if no work was queued since a wait began.
    #[inline]
    pub(crate) fn is_quiet_since(&self, wait: Waited) -> bool {
        self.word.load(Ordering::Acquire) == wait.0 && !self.named.load(Ordering::Acquire)
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Waited(u64);
