//! Asynchronous errors, as a future.

use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::owner::Shared;
use crate::{Communicator, NcclError};

/// A thread that asks a communicator for errors, and aborts it after one: so that a scope does not
/// wait forever for members that failed. A communicator with recorded collectives is not aborted:
/// see [`NcclError::Recorded`].
///
/// It is a future of the error. Dropping it ends the thread.
///
/// ```
/// # cuprum_nccl_stand_in::example!(nccl, context);
/// use std::time::Duration;
///
/// use cuprum_nccl::{Communicator, Config, NcclError, Watch};
///
/// context.enter(|cx| {
///     let alone = Communicator::init_rank(nccl, cx, nccl.unique_id()?, 0, 1, Config::default())?;
///     let watch = Watch::start(&alone, Duration::from_millis(1))?;
///     assert!(watch.error().is_none());
///     alone.abort("enough")?;
///     // `watch.await` in an async function.
///     while watch.error().is_none() {
///         std::thread::yield_now();
///     }
///     assert!(matches!(watch.error(), Some(NcclError::Aborted { .. })));
///     Ok(())
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Watch {
    state: Arc<(Mutex<Watched>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Watched {
    error: Option<NcclError>,
    is_over: bool,
    waker: Option<Waker>,
}

impl Watch {
    /// Starts a thread that asks each `period`.
    ///
    /// # Errors
    /// The system starts no thread.
    ///
    /// NCCL: `ncclCommGetAsyncError`, and `ncclCommAbort` after an error.
    #[doc(alias = "ncclCommGetAsyncError")]
    #[doc(alias = "ncclCommAbort")]
    pub fn start(member: &Communicator, period: Duration) -> io::Result<Self> {
        let (member, state) = (member.share(), Arc::<(Mutex<Watched>, Condvar)>::default());
        let theirs = Arc::clone(&state);
        let thread = std::thread::Builder::new()
            .name("cuprum-nccl-watch".into())
            .spawn(move || watch(&member, &theirs, period))?;
        Ok(Self { state, thread: Some(thread) })
    }

    /// The error, if there was one.
    #[must_use]
    pub fn error(&self) -> Option<NcclError> {
        lock(&self.state.0).error.clone()
    }
}

fn watch(member: &Shared, (state, changed): &(Mutex<Watched>, Condvar), period: Duration) {
    loop {
        if let Err(error) = member.state() {
            drop(member.abort(&error.to_string()));
            let mut state = lock(state);
            state.error = Some(error);
            if let Some(waker) = state.waker.take() {
                drop(state);
                waker.wake();
            }
            return;
        }
        let state = lock(state);
        let wait = changed.wait_timeout_while(state, period, |state| !state.is_over);
        if wait.unwrap_or_else(PoisonError::into_inner).0.is_over {
            return;
        }
    }
}

fn lock(state: &Mutex<Watched>) -> std::sync::MutexGuard<'_, Watched> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Future for Watch {
    type Output = NcclError;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<NcclError> {
        let mut state = lock(&self.state.0);
        match state.error.clone() {
            Some(error) => Poll::Ready(error),
            None => {
                state.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        lock(&self.state.0).is_over = true;
        self.state.1.notify_all();
        // It may wait for a call on the communicator, so it ends by itself.
        drop(self.thread.take());
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("error", &self.error()).finish()
    }
}
