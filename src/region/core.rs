//! The state shared by all handles of a queue.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use cuprum_sys::CUstreamCaptureStatus;

use super::seen::Seen;
use super::{RegionError, lent};
use crate::context::{ContextRef, Current, KeptContext, captures, context_call};
use crate::error::Error;
use crate::memory::caching::Bins;
use crate::stream::{Event, EventFlags, Stream};

/// A stream, with the known progress of its work.
///
/// Work is counted in epochs; a mark ends one. `mode` is locked around each driver call on the
/// stream, so that each call runs in the mode that its notes were made for. The other locks are
/// never held during a driver call, so that regions can be dropped anywhere.
pub(super) struct Core {
    pub(super) stream: Stream<'static>,
    context: KeptContext<'static>,
    /// Identity for other queues, which hold no reference to this one, to avoid a cycle.
    number: u64,
    pool: u64,
    mode: RwLock<Mode>,
    epoch: AtomicU64,
    /// Number of completed epochs.
    passed: AtomicU64,
    seen: Mutex<Seen>,
    /// Dead blocks that this queue may reuse now: its next work comes after all their uses.
    pub(super) lane: Mutex<Bins>,
    /// Events for the next marks.
    spare: Mutex<Vec<Event<'static>>>,
    /// A stream that wakes futures, made for the first future that has to wait. Never recorded.
    bell: OnceLock<Stream<'static>>,
}

pub(super) enum Mode {
    /// It runs.
    Eager,
    /// It becomes part of a graph.
    Recording(Arc<Taken>),
    /// Unknown, because a recording could not be ended.
    Lost,
}

/// An object that the work of a recording uses, and that the recording keeps.
pub(super) trait Kept: Send + Sync {
    /// Notes a use that was already allowed.
    fn note(&self, queue: &Arc<Core>, epoch: u64);
}

/// Work and memory that a recording captures.
pub(super) struct Taken {
    /// Epochs that come before each replay, from before the recording.
    base: Seen,
    parts: Mutex<Parts>,
}

#[derive(Default)]
struct Parts {
    /// Queues that have waited for a mark of the recording.
    joined: Vec<Arc<Core>>,
    /// Blocks by their addresses.
    kept: BTreeMap<usize, Arc<dyn Kept>>,
    /// True if no more queues can join.
    is_closed: bool,
    /// True if no more work can be captured.
    has_ended: bool,
}

impl Taken {
    pub(super) fn new(base: Seen) -> Self {
        Self { base, parts: Mutex::default() }
    }

    pub(super) const fn base(&self) -> &Seen {
        &self.base
    }

    pub(super) fn keep<K: Kept + 'static>(&self, block: &Arc<K>) {
        let mut parts = locked(&self.parts);
        if !parts.has_ended {
            parts.kept.entry(Arc::as_ptr(block).addr()).or_insert_with(|| Arc::<K>::clone(block));
        }
    }

    /// Adds a queue, whose mode the caller holds exclusively, unless the recording is ending.
    pub(super) fn join(&self, queue: &Arc<Core>) -> bool {
        let mut parts = locked(&self.parts);
        if !parts.is_closed {
            parts.joined.push(Arc::clone(queue));
        }
        !parts.is_closed
    }

    /// Lets no more queues join, and returns the joined ones.
    pub(super) fn close(&self) -> Vec<Arc<Core>> {
        let mut parts = locked(&self.parts);
        parts.is_closed = true;
        mem::take(&mut parts.joined)
    }

    /// Keeps nothing more, and returns all that the captured work uses.
    pub(super) fn end(&self) -> Vec<Arc<dyn Kept>> {
        let mut parts = locked(&self.parts);
        parts.has_ended = true;
        mem::take(&mut parts.kept).into_values().collect()
    }
}

/// Locks a value that no panic leaves in an inconsistent state.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// True if an event has passed, also during captures of other threads.
pub(super) fn is_done(event: &Event<'_>) -> Result<bool, Error> {
    let done = Cell::new(false);
    captures::wait_beside(event.context().library(), || event.is_done().map(|is_done| done.set(is_done)))?;
    Ok(done.get())
}

/// Waits for an event, also during captures of other threads.
pub(super) fn wait_for(event: &Event<'_>) -> Result<(), Error> {
    captures::wait_beside(event.context().library(), || event.synchronize())
}

/// A number unique to a queue or pool; the driver reuses handles.
pub(super) fn number() -> u64 {
    static NUMBERS: AtomicU64 = AtomicU64::new(0);
    NUMBERS.fetch_add(1, Ordering::Relaxed)
}

impl Core {
    pub(super) fn new(stream: Stream<'static>, context: KeptContext<'static>, pool: u64) -> Self {
        Self {
            stream,
            context,
            number: number(),
            pool,
            mode: RwLock::new(Mode::Eager),
            epoch: AtomicU64::new(0),
            passed: AtomicU64::new(0),
            seen: Mutex::default(),
            lane: Mutex::default(),
            spare: Mutex::default(),
            bell: OnceLock::new(),
        }
    }

    pub(super) const fn pool(&self) -> u64 {
        self.pool
    }

    pub(super) const fn number(&self) -> u64 {
        self.number
    }

    pub(super) fn context(&self) -> &ContextRef {
        &self.context
    }

    pub(super) const fn kept_context(&self) -> &KeptContext<'static> {
        &self.context
    }

    /// Holds the mode for a driver call. Not for a forked child.
    #[inline]
    pub(super) fn hold(&self) -> Result<RwLockReadGuard<'_, Mode>, RegionError> {
        self.not_lent()?;
        Ok(self.mode.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Same as [`hold`](Core::hold), for a call that ends an epoch or changes the mode.
    pub(super) fn change(&self) -> Result<RwLockWriteGuard<'_, Mode>, RegionError> {
        self.not_lent()?;
        Ok(self.mode.write().unwrap_or_else(PoisonError::into_inner))
    }

    /// Fails while this thread lends the queue, and so already holds the mode.
    #[inline]
    pub(super) fn not_lent(&self) -> Result<(), RegionError> {
        if lent::contains(self.number) { Err(RegionError::Busy) } else { Ok(()) }
    }

    /// The current epoch. It does not change while the mode is held.
    #[inline]
    pub(super) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Relaxed)
    }

    pub(super) fn has_passed(&self, epoch: u64) -> bool {
        self.passed.load(Ordering::Acquire) > epoch
    }

    /// Records that all work up to the end of `epoch` is certainly complete.
    pub(super) fn pass(&self, epoch: u64) {
        self.passed.fetch_max(epoch + 1, Ordering::Release);
    }

    /// True if all later work here comes after an epoch of another queue.
    pub(super) fn comes_after(&self, queue: u64, epoch: u64) -> bool {
        locked(&self.seen).covers(queue, epoch)
    }

    /// Records that the next work here comes after all epochs in `seen`.
    pub(super) fn come_after(&self, seen: &Seen) {
        locked(&self.seen).merge(seen);
    }

    /// Epochs that come before a mark at the end of this queue's `epoch`.
    pub(super) fn seen_with(&self, epoch: u64) -> Seen {
        let mut seen = locked(&self.seen).clone();
        seen.add(self.number, epoch + 1);
        seen
    }

    /// Ends an epoch with an event after all its work. The caller holds the mode, [`Mode::Eager`],
    /// exclusively.
    pub(super) fn end_epoch(&self, cx: &Current<'_, 'static>) -> Result<(Event<'static>, u64), Error> {
        let event = self.record(cx)?;
        Ok((event, self.epoch.fetch_add(1, Ordering::Relaxed)))
    }

    pub(super) fn record(&self, cx: &Current<'_, 'static>) -> Result<Event<'static>, Error> {
        let spare = locked(&self.spare).pop();
        let event = match spare {
            Some(event) => event,
            None => Event::new(cx, EventFlags::DISABLE_TIMING)?,
        };
        match event.record(cx, &self.stream) {
            Ok(()) => Ok(event),
            Err(error) => {
                self.give_back(event);
                Err(error)
            }
        }
    }

    /// Keeps an event for the next mark, which replaces its earlier record. No driver call.
    pub(super) fn give_back(&self, event: Event<'static>) {
        if self.context().library().forked() {
            mem::forget(event);
        } else {
            locked(&self.spare).push(event);
        }
    }

    /// The stream that wakes futures of this queue's work, in the order of the work.
    pub(super) fn bell(&self, cx: &Current<'_, 'static>) -> Result<&Stream<'static>, Error> {
        if let Some(bell) = self.bell.get() {
            return Ok(bell);
        }
        let bell = Stream::non_blocking(cx)?;
        Ok(self.bell.get_or_init(|| bell))
    }

    /// True unless the driver reports that the queue's work runs.
    #[cold]
    pub(super) fn is_recorded(&self) -> bool {
        let (context, stream) = (self.context(), self.stream.as_raw());
        let mut status = CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_ACTIVE;
        // SAFETY: the stream is live; the out-parameter outlives the call, which reads no current
        // context.
        if let Err(error) = unsafe { context_call!(context, cuStreamIsCapturing(stream, &raw mut status)) } {
            context.swallow(error);
        }
        status != CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE
    }
}

impl Mode {
    /// The recording that captures the work, if any.
    #[inline]
    pub(super) fn taken(&self) -> Result<Option<&Arc<Taken>>, RegionError> {
        match self {
            Self::Eager => Ok(None),
            Self::Recording(taken) => Ok(Some(taken)),
            Self::Lost => Err(RegionError::Lost),
        }
    }

    /// Fails during a recording.
    pub(super) fn eager(&self) -> Result<(), RegionError> {
        match self.taken()? {
            None => Ok(()),
            Some(_) => Err(RegionError::Recording),
        }
    }
}
