//! Place for the outcome of a job, on which its submitter waits.
//!
//! In a forked child nothing here takes a lock: another thread may have held it when the process forked, and that thread
//! is not there any more.

use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use cuprum_sys::{FnId, Library};

use super::{Panic, WorkerError};
use crate::raw::call::forked;

/// The first panic of a worker's jobs that nobody was told of.
pub(super) struct Unseen {
    library: Library,
    first: Mutex<Option<Panic>>,
}

impl Unseen {
    pub(super) const fn new(library: Library) -> Self {
        Self { library, first: Mutex::new(None) }
    }

    pub(super) fn keep(&self, panic: Panic) {
        if !self.library.forked() {
            let mut first = lock(&self.first);
            if first.is_none() {
                *first = Some(panic);
            } else {
                // The payload of a panic may run any code when it is dropped: not under the lock.
                drop(first);
                drop(panic);
            }
        }
    }

    pub(super) fn take(&self) -> Option<Panic> {
        lock(&self.first).take()
    }
}

enum State<R> {
    /// There is no outcome.
    Open,
    /// Nor is there one, and somebody sleeps until there is.
    WaitedFor,
    Done(Result<R, WorkerError>),
    Taken,
}

/// Place for one job's outcome.
pub(super) struct Slot<R> {
    state: Mutex<State<R>>,
    /// Copy of `state` that is read without its lock.
    is_filled: AtomicBool,
    done: Condvar,
    unseen: Arc<Unseen>,
}

/// Number of looks before a wait sleeps: first with a pause twice as long each time, then after each other thread's
/// turn, as in the standard library's channels.
const SPINS: u32 = 7;
const YIELDS: u32 = 4;

impl<R> Slot<R> {
    pub(super) const fn new(unseen: Arc<Unseen>) -> Self {
        Self {
            state: Mutex::new(State::Open),
            is_filled: AtomicBool::new(false),
            done: Condvar::new(),
            unseen,
        }
    }

    fn forked(&self) -> bool {
        self.unseen.library.forked()
    }

    /// Blocks until there is an outcome, and takes it.
    pub(super) fn wait(&self) -> Result<R, WorkerError> {
        if self.forked() {
            return Err(forked(FnId::cuCtxPushCurrent_v2).into());
        }
        match mem::replace(&mut *self.done(), State::Taken) {
            State::Done(outcome) => outcome,
            // Taken before, which none of the callers does.
            State::Open | State::WaitedFor | State::Taken => Err(WorkerError::Ended),
        }
    }

    /// Blocks until there is an outcome, and leaves it.
    pub(super) fn wait_only(&self) {
        drop(self.done());
    }

    fn done(&self) -> MutexGuard<'_, State<R>> {
        // An outcome that comes soon is cheaper to look for than to be woken for.
        for turn in 0..SPINS + YIELDS {
            if self.is_filled.load(Ordering::Acquire) {
                break;
            } else if turn < SPINS {
                (0..1u32 << turn).for_each(|_| std::hint::spin_loop());
            } else {
                std::thread::yield_now();
            }
        }
        let mut state = lock(&self.state);
        while let State::Open | State::WaitedFor = *state {
            *state = State::WaitedFor;
            state = self.done.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state
    }

    /// True if there is an outcome.
    pub(super) fn is_done(&self) -> bool {
        !self.forked() && self.is_filled.load(Ordering::Acquire)
    }

    /// Puts the outcome. Called once.
    fn fill(&self, outcome: Result<R, WorkerError>) {
        if self.forked() {
            return;
        }
        let before = mem::replace(&mut *lock(&self.state), State::Done(outcome));
        self.is_filled.store(true, Ordering::Release);
        if let State::WaitedFor = before {
            // Not under the lock, for which whoever is woken would wait. This end has a share of the slot.
            self.done.notify_one();
        }
    }
}

/// A panic that nobody was told of is kept for the end of the worker.
impl<R> Drop for Slot<R> {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let State::Done(Err(WorkerError::Panicked(panic))) = mem::replace(state, State::Taken) {
            self.unseen.keep(panic);
        }
    }
}

/// The worker's end of a slot: if it is dropped without an outcome, the job will never run.
pub(super) struct Signal<R>(Option<Arc<Slot<R>>>);

impl<R> Signal<R> {
    pub(super) const fn new(slot: Arc<Slot<R>>) -> Self {
        Self(Some(slot))
    }

    pub(super) fn give(mut self, outcome: Result<R, WorkerError>) {
        if let Some(slot) = self.0.take() {
            slot.fill(outcome);
        }
    }
}

impl<R> Drop for Signal<R> {
    fn drop(&mut self) {
        if let Some(slot) = self.0.take() {
            slot.fill(Err(WorkerError::Ended));
        }
    }
}

/// Nothing that is done under these locks panics.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
