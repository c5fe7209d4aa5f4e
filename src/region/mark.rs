//! Marks in queues, and the waits for them.

use std::fmt;
use std::sync::Arc;

use cuprum_sys::FnId;

use super::core::{Core, Mode, Seen, is_done, wait_for};
use super::recording::{Taken, is_recorded};
use super::{Queue, RegionError};
use crate::context::Current;
use crate::error::Error;
use crate::raw::call::forked;
use crate::stream::Event;

/// A mark in a queue, after all work that was queued before it: other queues and the host wait for it.
///
/// Dropping it makes no driver call. A mark that was made during a recording is part of that: queues that wait for it
/// become part of the recording, too, and the host cannot wait for it.
///
/// # Example
/// ```
/// # cuprum::example!(driver);
/// use cuprum::context::PrimaryContext;
/// use cuprum::region::Pool;
///
/// let context = PrimaryContext::retain(driver.device(0)?)?.share();
/// context.enter(|cx| {
///     let pool = Pool::new(cx);
///     let (load, work) = (pool.queue(cx)?, pool.queue(cx)?);
///     let weights = load.alloc(cx, 4096)?;
///     load.fill(cx, &weights, 1.0f32)?;
///     let loaded = load.mark(cx)?;
///     // From here on, the second queue may use all that the first one has allocated so far.
///     work.wait(cx, &loaded)?;
///     let copy = work.alloc(cx, 4096)?;
///     work.copy(cx, &copy, &weights)?;
///     Ok(work.mark(cx)?.synchronize()?)
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Mark {
    /// Taken when this is dropped.
    event: Option<Event<'static>>,
    queue: Queue,
    epoch: u64,
    /// Epochs that come before the mark.
    seen: Seen,
    /// The recording that it is part of.
    taken: Option<Arc<Taken>>,
}

impl Mark {
    /// Marks the end of an epoch, or a place in a recording. The caller holds the queue's mode exclusively.
    pub(super) fn make(cx: &Current<'_, 'static>, queue: &Queue, mode: &Mode) -> Result<Self, RegionError> {
        let core = queue.core();
        let (event, epoch, taken) = match mode.taken()? {
            None => {
                let (event, epoch) = core.end_epoch(cx)?;
                (event, epoch, None)
            }
            Some(taken) => (core.record(cx)?, core.epoch(), Some(Arc::clone(taken))),
        };
        Ok(Self { event: Some(event), queue: queue.clone(), epoch, seen: core.seen_with(epoch), taken })
    }

    pub(super) const fn queue(&self) -> &Queue {
        &self.queue
    }

    pub(super) const fn seen(&self) -> &Seen {
        &self.seen
    }

    pub(super) const fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The event, if the host may ask for it.
    pub(super) fn event(&self) -> Result<&Event<'static>, RegionError> {
        if self.queue.context().library().forked() {
            return Err(forked(FnId::cuEventQuery).into());
        }
        match (&self.event, &self.taken) {
            (Some(event), None) => Ok(event),
            _ => Err(RegionError::Recording),
        }
    }

    /// True if all work before the mark is over. Does not wait. A capture of streams that forbids to ask is invalid then.
    ///
    /// # Errors
    /// [`RegionError::Recording`] for a mark of a recording; the sticky errors of that or earlier work.
    ///
    /// Driver: `cuEventQuery`, CUDA 2.0+; where a capture forbids that, `cuThreadExchangeStreamCaptureMode`, CUDA 10.1+.
    #[doc(alias = "cuEventQuery")]
    pub fn is_done(&self) -> Result<bool, RegionError> {
        let done = is_done(self.event()?)?;
        if done {
            self.passed();
        }
        Ok(done)
    }

    /// Blocks the host until all work before the mark is over. A capture of streams that forbids waits is invalid then.
    ///
    /// # Errors
    /// The errors of [`is_done`](Mark::is_done).
    ///
    /// Driver: `cuEventSynchronize`, CUDA 2.0+; where a capture forbids that, `cuThreadExchangeStreamCaptureMode`,
    /// CUDA 10.1+.
    #[doc(alias = "cuEventSynchronize")]
    pub fn synchronize(&self) -> Result<(), RegionError> {
        wait_for(self.event()?)?;
        self.passed();
        Ok(())
    }

    /// The work before the mark is over for certain.
    pub(super) fn passed(&self) {
        self.queue.core().pass(self.epoch);
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        if let Some(event) = self.event.take() {
            self.queue.core().give_back(event);
        }
    }
}

impl Queue {
    /// Marks the end of all work queued so far. The host does not wait.
    ///
    /// # Errors
    /// [`Error::is_wrong_context`]; [`RegionError::Lost`]; the sticky errors of earlier work.
    ///
    /// Driver: `cuEventRecord`, CUDA 2.0+, and the first time `cuEventCreate`, CUDA 2.0+.
    #[doc(alias("cuEventRecord", "cuEventCreate"))]
    pub fn mark(&self, cx: &Current<'_, 'static>) -> Result<Mark, RegionError> {
        cx.require(self.context(), FnId::cuEventRecord)?;
        let mode = self.core().change();
        Mark::make(cx, self, &mode)
    }

    /// Makes work queued here later wait for a mark of any queue of the driver. The host does not wait.
    ///
    /// A queue that waits for a mark of a recording becomes part of the recording, until that ends.
    ///
    /// # Errors
    /// [`RegionError::OtherRecording`] if one of both is part of a recording and the other is not, or of another one;
    /// [`Error::is_wrong_context`]; [`RegionError::Lost`]; the sticky errors of earlier work.
    ///
    /// Driver: `cuStreamWaitEvent`, CUDA 3.2+; where that fails for a mark of a recording, `cuStreamIsCapturing`,
    /// CUDA 10.0+.
    #[doc(alias = "cuStreamWaitEvent")]
    pub fn wait(&self, cx: &Current<'_, '_>, mark: &Mark) -> Result<(), RegionError> {
        cx.require(self.context(), FnId::cuStreamWaitEvent)?;
        let Some(event) = &mark.event else { return Ok(()) };
        let core = self.core();
        let mut mode = core.change();
        let joins = match (mode.taken()?, &mark.taken) {
            (None, None) => None,
            (Some(mine), Some(theirs)) if Arc::ptr_eq(mine, theirs) => None,
            // A recording is of one context.
            (None, Some(theirs)) if mark.queue.context() == self.context() && theirs.join(core) => {
                Some(theirs)
            }
            _ => return Err(RegionError::OtherRecording),
        };
        let waited = core.stream.wait_event(cx, event);
        if let Some(taken) = joins {
            return Self::joined(core, &mut mode, taken, waited);
        }
        waited?;
        if mark.taken.is_none() {
            core.come_after(&mark.seen);
        }
        Ok(())
    }

    /// Makes a queue part of a recording, by a wait for a mark of it. After an error it may have become part of it all the
    /// same: then the wait was done.
    fn joined(
        core: &Core,
        mode: &mut Mode,
        taken: &Arc<Taken>,
        waited: Result<(), Error>,
    ) -> Result<(), RegionError> {
        if let Err(error) = waited {
            if !is_recorded(core) {
                return Err(error.into());
            }
            core.context().swallow(error);
        }
        *mode = Mode::Recording(Arc::clone(taken));
        Ok(())
    }
}

impl fmt::Debug for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mark").field("queue", &self.queue).field("epoch", &self.epoch).finish_non_exhaustive()
    }
}
