//! Marks in queues, and waits for them.

use std::sync::Arc;

use cuprum_sys::FnId;

use super::core::{Core, Mode, Taken, is_done, wait_for};
use super::seen::Seen;
use super::{Queue, RegionError};
use crate::context::Current;
use crate::error::Error;
use crate::raw::call::forked;
use crate::raw::debug::debug;
use crate::stream::Event;

/// A mark in a queue, after all earlier work: other queues and the host can wait for it.
///
/// Dropping it makes no driver call. A mark made during a recording is part of the recording:
/// queues that wait for it become part of the recording too, and the host cannot wait for it.
///
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
///     // From here on, the second queue may use all earlier allocations of the first.
///     work.wait(cx, &loaded)?;
///     let copy = work.alloc(cx, 4096)?;
///     work.copy(cx, &copy, &weights)?;
///     Ok(work.mark(cx)?.synchronize()?)
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Mark {
    event: Option<Event<'static>>,
    queue: Queue,
    epoch: u64,
    seen: Seen,
    /// The recording that contains it.
    taken: Option<Arc<Taken>>,
}

impl Mark {
    /// Marks the end of an epoch, or a place in a recording. The caller holds the mode exclusively.
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

    /// The event, if the host may query it.
    pub(super) fn event(&self) -> Result<&Event<'static>, RegionError> {
        if self.queue.context().library().forked() {
            return Err(forked(FnId::cuEventQuery).into());
        }
        match (&self.event, &self.taken) {
            (Some(event), None) => Ok(event),
            _ => Err(RegionError::Recording),
        }
    }

    /// True if all work before the mark is complete. Does not wait. A capture of streams that
    /// forbids the query becomes invalid.
    ///
    /// # Errors
    /// [`RegionError::Recording`] for a mark of a recording; sticky errors of that or earlier work.
    ///
    /// Driver: `cuEventQuery`, CUDA 2.0+; if a capture forbids that,
    /// `cuThreadExchangeStreamCaptureMode`, CUDA 10.1+.
    #[doc(alias = "cuEventQuery")]
    pub fn is_done(&self) -> Result<bool, RegionError> {
        let done = is_done(self.event()?)?;
        if done {
            self.passed();
        }
        Ok(done)
    }

    /// Waits on the host until all work before the mark is complete. A capture of streams that
    /// forbids waits becomes invalid.
    ///
    /// # Errors
    /// Same as [`is_done`](Mark::is_done).
    ///
    /// Driver: `cuEventSynchronize`, CUDA 2.0+; if a capture forbids that,
    /// `cuThreadExchangeStreamCaptureMode`, CUDA 10.1+.
    #[doc(alias = "cuEventSynchronize")]
    pub fn synchronize(&self) -> Result<(), RegionError> {
        wait_for(self.event()?)?;
        self.passed();
        Ok(())
    }

    /// Records that the work before the mark is certainly complete.
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
    /// [`Error::WRONG_CONTEXT`]; [`RegionError::Lost`].
    ///
    /// Driver: `cuEventRecord`, CUDA 2.0+, and the first time `cuEventCreate`, CUDA 2.0+.
    #[doc(alias("cuEventRecord", "cuEventCreate"))]
    pub fn mark(&self, cx: &Current<'_, 'static>) -> Result<Mark, RegionError> {
        cx.require(self.context(), FnId::cuEventRecord)?;
        let mode = self.core().change()?;
        Mark::make(cx, self, &mode)
    }

    /// Makes later work of this queue wait for a mark of any queue. The host does not wait.
    ///
    /// A queue that waits for a mark of a recording is part of it until the recording ends.
    ///
    /// # Errors
    /// [`RegionError::OtherRecording`] if only one of the two is in a recording, or if they are in
    /// different ones; [`Error::WRONG_CONTEXT`]; [`RegionError::Lost`].
    ///
    /// Driver: `cuStreamWaitEvent`, CUDA 3.2+; if that fails for a mark of a recording,
    /// `cuStreamIsCapturing`, CUDA 10.0+.
    #[doc(alias = "cuStreamWaitEvent")]
    pub fn wait(&self, cx: &Current<'_, '_>, mark: &Mark) -> Result<(), RegionError> {
        cx.require(self.context(), FnId::cuStreamWaitEvent)?;
        let Some(event) = &mark.event else { return Ok(()) };
        let core = self.core();
        let mut mode = core.change()?;
        let joins = match (mode.taken()?, &mark.taken) {
            (None, None) => None,
            (Some(mine), Some(theirs)) if Arc::ptr_eq(mine, theirs) => None,
            // A recording has one context.
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

    /// Adds a queue to a recording, by a wait for one of its marks. After an error the wait may
    /// have taken effect, and the queue is part of the recording.
    fn joined(
        core: &Core,
        mode: &mut Mode,
        taken: &Arc<Taken>,
        waited: Result<(), Error>,
    ) -> Result<(), RegionError> {
        if let Err(error) = waited {
            if !core.is_recorded() {
                return Err(error.into());
            }
            core.context().swallow(error);
        }
        *mode = Mode::Recording(Arc::clone(taken));
        Ok(())
    }
}

debug! {
    Mark: |this, f|
    f.debug_struct("Mark").field("queue", &this.queue).field("epoch", &this.epoch).finish_non_exhaustive()
}
