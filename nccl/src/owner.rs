//! The state of a communicator, and its end.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use cuprum::Stream;
use cuprum::sys::{CUresult, FnId as DriverFn};

use crate::raw::{nccl_call, ncclComm_t, ncclResult_t};
use crate::{MemberError, Nccl, NcclError};

/// Pause between two looks at a communicator that is in progress.
const PAUSE: Duration = Duration::from_micros(100);
/// Time for which a drop waits for a non-blocking communicator, before it aborts.
const AT_DROP: Duration = Duration::from_secs(10);

/// Ends the communicator when the last user has dropped it.
pub(crate) struct Owner {
    pub(crate) shared: Arc<Shared>,
    /// The default stream, which keeps the context.
    pub(crate) home: Stream<'static>,
}

/// A communicator's state, which also those have that can only abort it.
pub(crate) struct Shared {
    pub(crate) nccl: Nccl,
    pub(crate) driver: cuprum::Library,
    pub(crate) state: Mutex<State>,
    pub(crate) rank: u32,
    pub(crate) size: u32,
    pub(crate) is_blocking: bool,
    /// True once a graph may have one of its collectives. It stays true.
    pub(crate) is_recorded: AtomicBool,
    /// Reports which process ended, if one did, after waiting for the news a little.
    pub(crate) news: OnceLock<News>,
}

pub(crate) type News = Box<dyn Fn() -> Option<MemberError> + Send + Sync>;

pub(crate) enum State {
    Live(ncclComm_t),
    /// Ended, for a reason.
    Ended(String),
}

// SAFETY: NCCL lets any thread use a communicator, one at a time, which the lock around this sees
// to.
unsafe impl Send for State {}

/// A communicator that is alive, and locked.
pub(crate) struct Live<'a> {
    comm: ncclComm_t,
    _lock: MutexGuard<'a, State>,
}

impl Live<'_> {
    pub(crate) const fn comm(&self) -> ncclComm_t {
        self.comm
    }
}

impl Shared {
    pub(crate) const fn nccl(&self) -> Nccl {
        self.nccl
    }

    /// The error of calls in a forked child, where another thread may have held the lock.
    pub(crate) fn forked(&self) -> Option<cuprum::Error> {
        let error = || cuprum::Error::new(CUresult::FORKED, DriverFn::cuLaunchKernel);
        self.driver.forked().then(error).flatten()
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the communicator for a call; an error if it was aborted, or if an earlier call goes on
    /// in the background.
    pub(crate) fn live(&self) -> Result<Live<'_>, NcclError> {
        if let Some(error) = self.forked() {
            return Err(error.into());
        }
        let guard = self.lock();
        let comm = match &*guard {
            State::Live(comm) => *comm,
            State::Ended(reason) => return Err(NcclError::Aborted { reason: reason.clone() }),
        };
        if !self.is_blocking && self.async_error(comm)? == ncclResult_t::ncclInProgress {
            return Err(NcclError::InProgress);
        }
        Ok(Live { comm, _lock: guard })
    }

    /// Makes one call on the communicator.
    pub(crate) fn call<R>(
        &self,
        body: impl FnOnce(Nccl, ncclComm_t) -> Result<R, NcclError>,
    ) -> Result<R, NcclError> {
        let live = self.live().map_err(|error| self.explain(error))?;
        let called = body(self.nccl, live.comm());
        drop(live);
        called.map_err(|error| self.explain(error))
    }

    /// The process that ended, in place of NCCL's error that some other member failed.
    #[cold]
    pub(crate) fn explain(&self, error: NcclError) -> NcclError {
        let news = self.news.get().filter(|_| error.is_of_another_member());
        news.and_then(|news| news()).map_or(error, NcclError::Member)
    }

    pub(crate) fn set_news(&self, news: News) {
        // It is set once, where the communicator is made.
        drop(self.news.set(news));
    }

    fn async_error(&self, comm: ncclComm_t) -> Result<ncclResult_t, NcclError> {
        let mut code = ncclResult_t::ncclSuccess;
        // SAFETY: the communicator is live, and the place is ours to write.
        unsafe { nccl_call!(self.nccl, ncclCommGetAsyncError(comm, &raw mut code)) }?;
        Ok(code)
    }

    /// The state by NCCL's word: ready, in progress, or failed.
    pub(crate) fn state(&self) -> Result<ncclResult_t, NcclError> {
        self.state_by_nccl().map_err(|error| self.explain(error))
    }

    fn state_by_nccl(&self) -> Result<ncclResult_t, NcclError> {
        if let Some(error) = self.forked() {
            return Err(error.into());
        }
        let guard = self.lock();
        match &*guard {
            State::Live(comm) => match self.async_error(*comm)? {
                code @ (ncclResult_t::ncclSuccess | ncclResult_t::ncclInProgress) => Ok(code),
                code => Err(self.nccl.failed(crate::raw::FnId::ncclCommGetAsyncError, code)),
            },
            State::Ended(reason) => Err(NcclError::Aborted { reason: reason.clone() }),
        }
    }

    /// Waits until no call goes on in the background: until then a non-blocking communicator may
    /// still queue work. The lock is free between two looks, so that another thread can abort.
    pub(crate) fn settle(&self) -> Result<(), NcclError> {
        if self.is_blocking {
            return Ok(());
        }
        self.wait(None)
    }

    pub(crate) fn wait(&self, limit: Option<Duration>) -> Result<(), NcclError> {
        let start = Instant::now();
        while self.state()? == ncclResult_t::ncclInProgress {
            if let Some(limit) = limit.filter(|limit| start.elapsed() >= *limit) {
                return Err(NcclError::NotInTime { milliseconds: limit.as_millis() });
            }
            std::thread::sleep(PAUSE);
        }
        Ok(())
    }

    /// Notes that a graph is about to have one of its collectives. Called before the lock is taken
    /// for the collective, so that an abort either sees this, or ends the communicator before the
    /// collective is called.
    pub(crate) fn note_recorded(&self) {
        self.is_recorded.store(true, Ordering::SeqCst);
    }

    /// Ends it and its queued work, unless it has ended. Fails if a graph may have one of its
    /// collectives.
    pub(crate) fn abort(&self, reason: &str) -> Result<(), NcclError> {
        if let Some(error) = self.forked() {
            return Err(error.into());
        }
        let guard = self.lock();
        if matches!(*guard, State::Live(_)) && self.is_recorded.load(Ordering::SeqCst) {
            return Err(NcclError::Recorded);
        }
        self.end(guard, reason)
    }

    /// Ends it and its queued work. No graph has one of its collectives.
    fn end(&self, mut guard: MutexGuard<'_, State>, reason: &str) -> Result<(), NcclError> {
        let State::Live(comm) = *guard else { return Ok(()) };
        *guard = State::Ended(reason.to_owned());
        // SAFETY: the communicator is live and locked, and is not used again.
        unsafe { nccl_call!(self.nccl, ncclCommAbort(comm)) }
    }
}

/// Finalizes and destroys, or aborts after an error. Errors are not reported:
/// [`Communicator::finalize`] reports them.
impl Drop for Owner {
    fn drop(&mut self) {
        if self.home.context().driver().library().forked() {
            return;
        }
        let shared = &*self.shared;
        // It is also finalized by a blocking destruction.
        if !shared.is_blocking {
            // SAFETY: the communicator is live and locked.
            let call = |nccl: Nccl, comm| unsafe { nccl_call!(nccl, ncclCommFinalize(comm)) };
            drop(shared.call(call).and_then(|()| shared.wait(Some(AT_DROP))));
        }
        let healthy = matches!(shared.state(), Ok(ncclResult_t::ncclSuccess));
        if !healthy || self.home.context().poisoned_by().is_some() {
            // Graphs keep the owner, so that none is left.
            drop(shared.end(shared.lock(), "an error"));
            return;
        }
        let mut guard = shared.lock();
        let State::Live(comm) = *guard else { return };
        *guard = State::Ended("it was dropped".into());
        // SAFETY: the communicator is live and locked, and is not used again.
        drop(unsafe { nccl_call!(shared.nccl, ncclCommDestroy(comm)) });
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("rank", &self.rank).field("size", &self.size).finish_non_exhaustive()
    }
}
