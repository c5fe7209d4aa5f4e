//! Recordings: work of queues that becomes a graph instead of running.

use std::mem;
use std::sync::Arc;

use cuprum_sys::{CUgraph, CUgraphExec, CUstreamCaptureMode, FnId};

use super::core::{Core, Kept, Mode, Taken};
use super::replay::Replay;
use super::{Mark, Queue, RegionError};
use crate::context::{Capturing, ContextRef, Current, context_call};
use crate::error::Error;
use crate::graph::End;
use crate::raw::debug::debug;
use crate::raw::held::Held;

/// A recording of a queue: work queued there becomes part of a graph instead of running, until the
/// recording [ends](Recording::end). Dropping it also ends it, and drops the work.
///
/// Any thread can begin it, queue work, and end it. Other queues become part of it when they wait
/// for a [`Mark`] of it, and this queue must wait for them before the end. All that the work uses
/// is kept until the [`Replay`] is dropped: regions, page-locked memory and code.
///
/// Meanwhile these queues refuse reads and replays. Their allocations are in the order of no queue.
/// A recording that is neither ended nor dropped never ends: all calls that would wait for the
/// context then fail, because its stream is captured.
///
/// ```
/// # cuprum::example!(driver);
/// use cuprum::context::PrimaryContext;
/// use cuprum::region::{Pool, Recording};
///
/// let context = PrimaryContext::retain(driver.device(0)?)?.share();
/// let copied = context.enter(|cx| {
///     let pool = Pool::new(cx);
///     let queue = pool.queue(cx)?;
///     let (input, output) = (queue.alloc(cx, 4)?, queue.alloc(cx, 4)?);
///
///     let recording: Recording = queue.record(cx)?;
///     let between = queue.alloc(cx, 4)?; // kept by the graph
///     queue.copy(cx, &between, &input)?;
///     queue.copy(cx, &output, &between)?;
///     let replay = recording.end(cx)?;
///
///     queue.fill(cx, &input, 7u8)?;
///     queue.replay(cx, &replay)?;
///     Ok(queue.read(cx, &output, pool.pinned(cx, 4)?)?.wait()?.to_vec())
/// })?;
/// assert_eq!(copied, [7; 4]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "dropping it drops the work"]
pub struct Recording {
    /// `None` after the end.
    open: Option<Open>,
}

struct Open {
    /// The end of the work before it.
    before: Mark,
    taken: Arc<Taken>,
    /// While this exists, frees do not invalidate the capture. `None` after its end.
    capturing: Option<Capturing>,
}

impl Queue {
    /// Begins a recording: work queued from now on becomes part of a graph, and does not run.
    ///
    /// # Errors
    /// [`RegionError::Recording`] during another recording; [`Error::WRONG_CONTEXT`];
    /// [`Error::UNRESOLVED`] on drivers before CUDA 10.1.
    ///
    /// Driver: `cuEventRecord`, CUDA 2.0+, the first time `cuEventCreate`, CUDA 2.0+, and
    /// `cuStreamBeginCapture_v2`, CUDA 10.1+; after an error `cuStreamEndCapture` and
    /// `cuStreamIsCapturing`, CUDA 10.0+.
    #[doc(alias("cuEventRecord", "cuStreamBeginCapture_v2", "cuStreamEndCapture"))]
    pub fn record(&self, cx: &Current<'_, 'static>) -> Result<Recording, RegionError> {
        const RELAXED: CUstreamCaptureMode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        let context = cx.require(self.context(), FnId::cuStreamBeginCapture_v2)?;
        let (core, capturing) = (self.core(), Capturing::begin());
        let mut mode = core.change()?;
        mode.eager()?;
        let before = Mark::make(cx, self, &mode)?;
        // SAFETY: the stream is live, and its context is current. This is the only mode that lets
        // another thread end the capture.
        let begun = unsafe { context_call!(context, cuStreamBeginCapture_v2(self.as_raw(), RELAXED)) };
        if let Err(error) = end_of(context, self).begun(begun) {
            if !error.is_unresolved() {
                *mode = mode_of(core);
            }
            return Err(error.into());
        }
        let taken = Arc::new(Taken::new(before.seen().clone()));
        *mode = Mode::Recording(Arc::clone(&taken));
        Ok(Recording { open: Some(Open { before, taken, capturing: Some(capturing) }) })
    }
}

fn end_of<'a>(context: &'a ContextRef, queue: &Queue) -> End<'a> {
    End { context, stream: queue.as_raw(), makes_a_graph: true }
}

/// The mode of a queue after a failed call. A stream that is still captured is lost.
#[cold]
fn mode_of(core: &Core) -> Mode {
    if core.is_recorded() { Mode::Lost } else { Mode::Eager }
}

impl Recording {
    /// Ends the recording, on any thread, and prepares its work to be [replayed](Queue::replay).
    /// Later work of the queues runs again, even after an error. After an error the recorded work
    /// is dropped with all that it keeps.
    ///
    /// # Errors
    /// `CUDA_ERROR_STREAM_CAPTURE_UNJOINED` for a queue that became part of it and was not waited
    /// for; `CUDA_ERROR_STREAM_CAPTURE_INVALIDATED` after a raw call that a capture forbids;
    /// [`Error::WRONG_CONTEXT`].
    ///
    /// Driver: `cuStreamEndCapture`, CUDA 10.0+, `cuGraphInstantiateWithFlags`, CUDA 11.4+, or
    /// `cuGraphInstantiate`, CUDA 10.0+, and `cuGraphDestroy`, CUDA 10.0+; after an error
    /// `cuStreamIsCapturing`, CUDA 10.0+.
    #[doc(alias = "cuStreamEndCapture")]
    pub fn end(mut self, cx: &Current<'_, 'static>) -> Result<Replay, RegionError> {
        if let Some(open) = &self.open {
            cx.require(open.before.queue().context(), FnId::cuStreamEndCapture)?;
        }
        let Some(mut open) = self.open.take() else { return Err(RegionError::Lost) };
        let ended = open.end();
        if matches!(ended, Err(RegionError::Busy)) {
            self.open = Some(open);
            return Err(RegionError::Busy);
        }
        let (graph, kept) = ended?;
        let graph = Held::new(graph, cx.near());
        let exec = instantiate(graph.context(), graph.raw())?;
        let exec = Held::<CUgraphExec>::new(exec, cx.near());
        Ok(Replay::new(exec, open.before, kept))
    }
}

impl Open {
    fn end(&mut self) -> Result<(CUgraph, Vec<Arc<dyn Kept>>), RegionError> {
        let queue = self.before.queue();
        let (core, context) = (queue.core(), queue.context());
        let joined = self.taken.close();
        joined.iter().try_for_each(|core| core.not_lent())?;
        let mut mode = core.change()?;
        let ended = end_of(context, queue).end();
        self.capturing = None;
        // Captured work was kept before it reached the driver, and so before the capture ended.
        let kept = self.taken.end();
        *mode = if ended.is_ok() { Mode::Eager } else { mode_of(core) };
        drop(mode);
        for core in joined {
            let mut mode = core.change()?;
            // A queue that could not join may already be part of another recording.
            if matches!(&*mode, Mode::Recording(taken) if Arc::ptr_eq(taken, &self.taken)) {
                *mode = if ended.is_ok() { Mode::Eager } else { mode_of(&core) };
            }
        }
        Ok((ended?, kept))
    }
}

fn instantiate(context: &ContextRef, graph: CUgraph) -> Result<CUgraphExec, Error> {
    let (mut raw, library) = (CUgraphExec::null(), context.library());
    let out = &raw mut raw;
    if library.has(FnId::cuGraphInstantiateWithFlags) {
        // SAFETY: the graph is live, and the out-parameter outlives the call.
        unsafe { context_call!(context, cuGraphInstantiateWithFlags(out, graph, 0)) }?;
    } else {
        let (node, log) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: as above, without a log.
        unsafe { context_call!(context, cuGraphInstantiate(out, graph, node, log, 0)) }?;
    }
    Ok(raw)
}

impl Drop for Recording {
    fn drop(&mut self) {
        let Some(mut open) = self.open.take() else { return };
        if open.before.queue().context().library().forked() {
            mem::forget(open);
            return;
        }
        let ended = open.end();
        let context = open.before.queue().context();
        match ended {
            Ok((graph, kept)) => {
                let destroyed = context.with_current(|| {
                    // SAFETY: the capture made the graph, which has no other owner.
                    unsafe { context_call!(context, cuGraphDestroy(graph)) }
                });
                destroyed.unwrap_or_else(|error| context.swallow(error));
                drop(kept);
            }
            // The recording goes on, as if it were forgotten.
            Err(RegionError::Busy) => mem::forget(open),
            // The caller already knows that the capture is invalid.
            Err(RegionError::Driver(error)) if !error.is_capture() => context.swallow(error),
            Err(_) => {}
        }
    }
}

debug! {
    Recording: |this, f|
    f.debug_struct("Recording").field("queue", &this.open.as_ref().map(|open| open.before.queue())).finish()
}
