//! What is queued on a context's default stream: whether a scope that has waited for it has to wait again.
//!
//! One word tells it: how many such waits have begun, and whether anything was queued since the last of them. Who queues on
//! the default stream notes it *after* the driver's call, and may then give the memory to another thread; who waits counts the
//! wait *before* the driver's call. So if the word is still that of a wait, all that memory lent by now may wait for was
//! queued before that wait: had it been queued later, its note would have come after the count, and the word never goes back.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Something was queued since the last wait. Never set where there is [`PER_THREAD`].
const QUEUED: u64 = 1;
/// A library with per-thread default streams uses the context, which waits for each call on its own ones.
const PER_THREAD: u64 = 2;
/// Added for each wait.
const WAIT: u64 = 4;

/// The default stream of a context, kept once for all values that stand for the context.
#[derive(Default)]
pub(crate) struct DefaultStream {
    word: AtomicU64,
    /// True if a program has the stream as a value, on which it queues without a note.
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

    /// Notes that something was queued.
    #[cold]
    pub(crate) fn note(&self) {
        self.change(|word| if word & PER_THREAD == 0 { word | QUEUED } else { next(word) });
    }

    /// Notes that a program has the stream as a value.
    pub(crate) fn name(&self) {
        self.named.store(true, Ordering::Release);
    }

    /// Notes a library with per-thread default streams.
    pub(super) fn per_thread(&self) {
        self.change(|word| next(word) | PER_THREAD);
    }

    /// Counts a wait for the stream that is about to begin.
    pub(crate) fn begin_wait(&self) -> Waited {
        Waited(self.change(next))
    }

    /// True if nothing was queued since a wait began.
    #[inline]
    pub(crate) fn is_quiet_since(&self, wait: Waited) -> bool {
        self.word.load(Ordering::Acquire) == wait.0 && !self.named.load(Ordering::Acquire)
    }
}

/// A wait for a default stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waited(u64);
