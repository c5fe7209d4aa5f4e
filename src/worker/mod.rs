//! Threads with a stack of contexts of their own, which run closures with one context current.
//!
//! [`Worker::spawn`] is the only place at which this crate starts a thread.
//!
//! # What happens when
//!
//! | what | what happens |
//! |---|---|
//! | a closure panics | whoever waits for it gets [`WorkerError::Panicked`], and the worker goes on. If nobody waits for it any more, [`Worker::close`] tells the first such panic. The panic hook prints as for any thread. |
//! | a closure forgets tokens, or leaves another context current by them | the context is popped after each closure, with the tokens that were forgotten |
//! | the context cannot be pushed | that closure does not run and is dropped on the worker's thread; whoever waits gets [`WorkerError::Driver`] |
//! | a closure waits for its own worker, by [`run`](Worker::run), [`Job::wait`] or [`close`](Worker::close) | [`WorkerError::OwnThread`]; two workers that wait for each other wait for ever, as any two threads would |
//! | the [`Worker`] is dropped, also by one of its own closures | nobody waits: the closures that are queued run, then the thread ends and gives back its share of the context |
//! | the [`Worker`] is forgotten | the thread stays, with its share of the context |
//! | the process ends | threads end with it, whatever they run; [`Worker::close`] before waits |
//! | the process forks | the child has no worker: [`run`](Worker::run) and the others answer with [`Error::is_forked`], drops do nothing. A closure that forks ends its child by `exec` or `_exit`: there, it has nothing to return to |
//! | the thread cannot be started | [`WorkerError::Spawn`] |
//! | Windows: a destructor of a thread-local value, or `DllMain`, waits for a worker | it can wait for ever. They run under the system's loader lock, and the worker's thread takes that lock when it starts, when it ends, and when a driver loads a library. Nothing tells from inside that the lock is held, so this is no error |

mod job;
mod panic;
mod slot;

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::{fmt, io, mem};

use cuprum_sys::{FnId, Library};

pub use self::job::Job;
use self::job::{Task, task};
pub use self::panic::Panic;
use self::slot::{Slot, Unseen};
use crate::context::{Current, SharedContext};
use crate::error::Error;
use crate::raw::call::forked;

thread_local! {
    /// The number of the worker whose thread this is, 0 for none.
    static WORKER: Cell<u64> = const { Cell::new(0) };
}

/// True if this is the thread of that worker.
fn is_on(worker: u64) -> bool {
    WORKER.get() == worker
}

/// Error of running a closure on a worker.
///
/// # Example
/// ```
/// # let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
/// # let driver = cuprum::Driver::init(library)?;
/// use cuprum::{PrimaryContext, Worker, WorkerError};
///
/// let worker = Worker::spawn(&PrimaryContext::retain(driver.device(0)?)?.share())?;
/// match worker.run(|_cx| panic!("no such file")) {
///     Err(WorkerError::Panicked(panic)) => assert_eq!(panic.message(), "no such file"),
///     other => return Err(format!("{other:?}").into()),
/// }
/// // It goes on.
/// assert_eq!(worker.run(|_cx| 4)?, 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkerError {
    /// The system gave no thread.
    #[error("the worker's thread could not be started: {0}")]
    Spawn(io::Error),
    /// The closure panicked. The worker goes on.
    #[error("a closure panicked on the worker: {0}")]
    Panicked(Panic),
    /// The worker's own thread was about to wait for the worker.
    #[error(
        "this is the worker's own thread, which would wait for itself: call the function, or `submit` and go on"
    )]
    OwnThread,
    /// The worker's thread is gone, and the closure with it.
    #[error("the worker has ended, and the closure was not run")]
    Ended,
    /// The context could not be made current, so that the closure was not run.
    #[error(transparent)]
    Driver(#[from] Error),
}

/// A thread that runs closures, one after another, with one context current.
///
/// Each thread has its own current context. A worker brings a thread of its own, on which nobody else pushes
/// anything, to any code that has to use a context without caring for its own thread's stack. It can be used from any
/// number of threads at once; closures run in the order in which they were handed over.
///
/// The [module](self) says what happens in case of panics, forks and the like.
///
/// On Windows, do not wait for a worker ([`run`](Self::run), [`close`](Self::close), [`Job::wait`]) in the destructor of a
/// thread-local value or in `DllMain`: both run under the system's loader lock, which the worker's thread needs to start,
/// to end, and to load what a driver loads, so that the two can wait for each other for ever. [`submit`](Self::submit) and
/// drops do not wait and are fine there.
///
/// ```
/// # let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
/// # let driver = cuprum::Driver::init(library)?;
/// use cuprum::{Buffer, PrimaryContext, Worker};
///
/// let context = PrimaryContext::retain(driver.device(0)?)?.share();
/// let worker = Worker::spawn(&context)?;
///
/// // Waits, and so may borrow.
/// let input = [1.0f32, 2.0];
/// let buffer = worker.run(|cx| Buffer::from_slice(cx, &input))??;
/// // Does not wait, and so owns.
/// let job = worker.submit(move |cx| buffer.to_vec(cx))?;
/// assert_eq!(job.wait()??, input);
/// worker.close()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Worker {
    /// None once it is closed.
    parts: Option<Parts>,
    library: Library,
    number: u64,
    unseen: Arc<Unseen>,
}

struct Parts {
    queue: Sender<Task>,
    thread: JoinHandle<()>,
}

impl Worker {
    /// Starts a thread, named "cuprum worker", which keeps a share of `context`. No driver call.
    ///
    /// # Errors
    /// [`WorkerError::Spawn`] if the system gives no thread; [`Error::is_forked`] in a forked child.
    #[inline]
    pub fn spawn(context: &SharedContext) -> Result<Self, WorkerError> {
        static NUMBER: AtomicU64 = AtomicU64::new(1);
        let library = context.driver().library();
        if library.forked() {
            return Err(forked(FnId::cuCtxPushCurrent_v2).into());
        }
        let (number, unseen) = (NUMBER.fetch_add(1, Ordering::Relaxed), Arc::new(Unseen::new(library)));
        let (queue, tasks) = channel();
        let (context, kept) = (context.clone(), Arc::clone(&unseen));
        let thread = Builder::new()
            .name("cuprum worker".to_owned())
            .spawn(move || {
                WORKER.set(number);
                run_all(context, tasks, &kept);
            })
            .map_err(WorkerError::Spawn)?;
        Ok(Self { parts: Some(Parts { queue, thread }), library, number, unseen })
    }

    /// Runs `body` on the worker's thread with the context current, and gives its result. Blocks until then, so that
    /// `body` may borrow from the caller.
    ///
    /// Objects that it makes in the context are `'static`. The token cannot leave it.
    ///
    /// # Errors
    /// [`WorkerError::Panicked`] if `body` panicked; [`WorkerError::Driver`] if the context could not be pushed or the
    /// process is a forked child; [`WorkerError::OwnThread`] within a closure of this worker.
    ///
    /// Driver: `cuCtxPushCurrent_v2` and `cuCtxPopCurrent_v2`, CUDA 4.0+.
    #[doc(alias = "cuCtxPushCurrent_v2")]
    #[doc(alias = "cuCtxPopCurrent_v2")]
    pub fn run<R: Send>(
        &self,
        body: impl FnOnce(&mut Current<'_, 'static>) -> R + Send,
    ) -> Result<R, WorkerError> {
        self.may_wait()?;
        let slot = Arc::new(Slot::new(Arc::clone(&self.unseen)));
        // Also if something below panics.
        let waits = WaitsAnyway(&slot);
        let borrowing = task(body, Arc::clone(&slot));
        // SAFETY: the types differ in a lifetime alone. This function is left after the slot was filled, by any way, and
        // when it is, nothing of `body` exists any more; of the result, which goes into the slot, the worker has nothing.
        let task = unsafe { mem::transmute::<Box<dyn FnOnce(&SharedContext) + Send + '_>, Task>(borrowing) };
        self.send(task);
        mem::forget(waits);
        slot.wait()
    }

    /// Queues `body` to be run on the worker's thread with the context current. Does not wait.
    ///
    /// # Errors
    /// [`Error::is_forked`] in a forked child.
    ///
    /// Driver: `cuCtxPushCurrent_v2` and `cuCtxPopCurrent_v2`, CUDA 4.0+, on the worker's thread.
    #[doc(alias = "cuCtxPushCurrent_v2")]
    #[doc(alias = "cuCtxPopCurrent_v2")]
    pub fn submit<R: Send + 'static>(
        &self,
        body: impl FnOnce(&mut Current<'_, 'static>) -> R + Send + 'static,
    ) -> Result<Job<R>, WorkerError> {
        self.not_forked()?;
        let slot = Arc::new(Slot::new(Arc::clone(&self.unseen)));
        self.send(task(body, Arc::clone(&slot)));
        Ok(Job::new(slot, self.number))
    }

    /// Waits until all closures that were handed over have run, and the thread has ended.
    ///
    /// # Errors
    /// [`WorkerError::Panicked`] with the first panic that nobody was told of; [`WorkerError::OwnThread`] within a closure
    /// of this worker, and [`Error::is_forked`] in a forked child: there the worker goes as if it were dropped.
    #[inline]
    pub fn close(mut self) -> Result<(), WorkerError> {
        self.may_wait()?;
        if let Some(Parts { queue, thread }) = self.parts.take() {
            drop(queue);
            thread.join().map_err(|payload| WorkerError::Panicked(Panic::new(payload)))?;
        }
        self.unseen.take().map_or(Ok(()), |panic| Err(WorkerError::Panicked(panic)))
    }

    /// Hands over a task. Without a thread to take it, it is dropped, and so says that it has ended.
    #[inline]
    fn send(&self, task: Task) {
        if let Some(parts) = &self.parts {
            drop(parts.queue.send(task));
        }
    }

    fn not_forked(&self) -> Result<(), WorkerError> {
        if self.library.forked() { Err(forked(FnId::cuCtxPushCurrent_v2).into()) } else { Ok(()) }
    }

    fn may_wait(&self) -> Result<(), WorkerError> {
        self.not_forked()?;
        if is_on(self.number) { Err(WorkerError::OwnThread) } else { Ok(()) }
    }
}

/// Dropped while unwinding, it waits for the task that borrows what is being left.
struct WaitsAnyway<'a, R>(&'a Slot<R>);

impl<R> Drop for WaitsAnyway<'_, R> {
    fn drop(&mut self) {
        self.0.wait_only();
    }
}

/// Runs tasks until no sender is left.
///
/// Inline like all that has to do with the queue: its code, which is long, is compiled by programs with workers alone.
#[inline]
fn run_all(context: SharedContext, tasks: Receiver<Task>, unseen: &Unseen) {
    while let Ok(task) = tasks.recv() {
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| task(&context))) {
            // Of a result that nobody waited for, and whose drop panicked.
            unseen.keep(Panic::new(payload));
        }
        if context.driver().library().forked() {
            // The closure has forked and come back in the child. Whoever held the queue's locks is not in it.
            mem::forget((context, tasks));
            return;
        }
    }
}

/// Does not wait.
impl Drop for Worker {
    #[inline]
    fn drop(&mut self) {
        let parts = self.parts.take();
        if self.library.forked() {
            mem::forget(parts);
        }
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").field("number", &self.number).finish_non_exhaustive()
    }
}
