//! Replays of recorded work.

use std::sync::{Arc, Mutex};

use cuprum_sys::{CUgraphExec, FnId};

use super::core::{Core, Kept, locked};
use super::naive::naive;
use super::{Mark, Queue, RegionError};
use crate::context::{Current, context_call};
use crate::raw::debug::debug;
use crate::raw::held::Held;
use crate::raw::owner::context;

/// Recorded work, [replayed](Queue::replay) any number of times on any queues of its context.
///
/// It is a handle shared by its clones. It keeps all that the work uses. If it is dropped in
/// flight, the work continues, and its memory is reused only afterwards.
///
/// ```
/// # cuprum::example!(driver, context);
/// # context.enter(|cx| {
/// let queue = cuprum::region::Pool::new(cx).queue(cx)?;
/// let (region, recording) = (queue.alloc(cx, 4)?, queue.record(cx)?);
/// queue.fill(cx, &region, 7u8)?;
/// let replay = recording.end(cx)?;
/// queue.replay(cx, &replay)?; // runs the fill
/// # Ok(()) })?; Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Replay(Arc<Work>);

struct Work {
    exec: Held<'static, CUgraphExec>,
    /// The end of the work before the recording, which each replay follows.
    before: Mark,
    kept: Vec<Arc<dyn Kept>>,
    /// The queues of the replays, with the epoch of the last. Locked for each launch, because only
    /// one at a time is allowed.
    queues: Mutex<Vec<(Arc<Core>, u64)>>,
}

impl Replay {
    pub(super) fn new(exec: Held<'static, CUgraphExec>, before: Mark, kept: Vec<Arc<dyn Kept>>) -> Self {
        Self(Arc::new(Work { exec, before, kept, queues: Mutex::default() }))
    }

    /// The driver's handle. Launches through it are not noted.
    #[inline]
    pub fn as_raw(&self) -> CUgraphExec {
        self.0.exec.raw()
    }

    context!(|this| this.0.exec.context());
}

impl Queue {
    /// Queues recorded work. Replays of one recording run one after another, on any queues.
    ///
    /// # Errors
    /// [`RegionError::Recording`] on a queue that is being recorded;
    /// [`Error::WRONG_CONTEXT`](crate::Error::WRONG_CONTEXT).
    ///
    /// Driver: `cuGraphLaunch`, CUDA 10.0+, and the first time on a queue other than the recorded
    /// one `cuStreamWaitEvent`, CUDA 3.2+.
    #[doc(alias("cuGraphLaunch", "cuStreamWaitEvent"))]
    pub fn replay(&self, cx: &Current<'_, '_>, replay: &Replay) -> Result<(), RegionError> {
        let context = cx.require(self.context(), FnId::cuGraphLaunch)?;
        cx.of(replay.context(), FnId::cuGraphLaunch)?;
        let (core, work) = (self.core(), &*replay.0);
        let mode = core.hold()?;
        mode.eager()?;
        work.come_before(cx, core)?;
        let mut queues = locked(&work.queues);
        let epoch = core.epoch();
        match queues.iter_mut().find(|(queue, _)| Arc::ptr_eq(queue, core)) {
            Some((_, last)) => *last = epoch,
            None => queues.push((Arc::clone(core), epoch)),
        }
        // SAFETY: graph and stream are live, their context is current, and no other thread launches
        // the graph.
        unsafe { context_call!(context, cuGraphLaunch(work.exec.raw(), self.as_raw())) }?;
        drop(queues);
        drop(mode);
        Ok(())
    }
}

impl Work {
    /// Makes a queue come after the work before the recording, unless it already does.
    fn come_before(&self, cx: &Current<'_, '_>, core: &Arc<Core>) -> Result<(), RegionError> {
        let (before, home) = (&self.before, self.before.queue().core());
        let is_behind = Arc::ptr_eq(home, core)
            || home.has_passed(before.epoch())
            || core.comes_after(home.number(), before.epoch());
        if !is_behind && !naive("before") {
            core.stream.wait_event(cx, before.event()?)?;
            core.come_after(before.seen());
        }
        Ok(())
    }
}

/// Destroys the graph, without a wait. First notes its blocks for each queue of a replay.
impl Drop for Work {
    fn drop(&mut self) {
        if self.exec.context().library().forked() || naive("replay") {
            return;
        }
        let queues = self.queues.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
        for (queue, epoch) in queues {
            self.kept.iter().for_each(|block| block.note(queue, *epoch));
        }
    }
}

debug!(Replay: |this, f| f.debug_tuple("Replay").field(&this.0.exec).finish());
