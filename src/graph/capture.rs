//! Capture: work queued on a stream becomes nodes of a graph instead of running.

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;

use cuprum_sys::{CUgraphNode, CUstream, CUstreamCaptureStatus, FnId};

use super::capture_mode::CaptureMode;
use super::ending::{Abandon, End};
use super::error::GraphError;
use super::graph::Graph;
use super::kept::Kept;
use super::lend::LendToGraph;
use super::loan::Loan;
use super::node::Node;
use super::nodes::Nodes;
use crate::context::{Capturing, ContextRef, Current, context_call};
use crate::error::Error;
use crate::raw::call::either_call;
use crate::raw::debug::debug;
use crate::raw::seal::Key;
use crate::stream::{Event, EventFlags, Stream};

/// Status of a stream's capture, as the driver's number.
pub type CaptureStatus = CUstreamCaptureStatus;

/// State of a capture.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::Stream;
/// use cuprum::graph::CaptureMode;
///
/// let (_, info) = cx.capture(&mut Stream::new(&cx)?, CaptureMode::ThreadLocal, |capture| capture.info())?;
/// assert!(info.next_after.is_empty()); // nothing was queued yet
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CaptureInfo {
    /// Active, or invalidated by a call that captures do not allow.
    pub status: CaptureStatus,
    /// Number of the capture, unique in the process.
    pub id: u64,
    /// Nodes after which the next node of this lane runs. Empty on drivers before CUDA 11.3, which
    /// do not report them.
    pub next_after: Vec<Node>,
}

/// State that all lanes of a capture share.
pub(super) struct Shared<'a> {
    pub(super) kept: RefCell<Kept<'a>>,
    pub(super) nodes: RefCell<Nodes>,
    /// Recorded and waited for at each fork and join. A later record does not affect an earlier
    /// wait.
    mark: RefCell<Option<Event<'a>>>,
}

/// A stream that is being captured. Work queued here becomes nodes, each of which runs after the
/// previous one.
///
/// Made by [`Current::capture`] and [`Graph::capture_into`]. The stream is borrowed until the
/// capture ends, so no other code can queue work on it or wait for it.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::graph::CaptureMode;
/// use cuprum::{Buffer, Stream};
///
/// let buffer = Buffer::<u32>::alloc(&cx, 4)?;
/// let (mut graph, ()) = cx.capture(&mut Stream::new(&cx)?, CaptureMode::ThreadLocal, |capture| {
///     capture.fill(capture.lend(buffer)?, 7)
/// })?;
/// assert_eq!(graph.nodes(&cx)?.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Capture<'c, 'env: 'c, 'a: 'c> {
    pub(super) cx: &'c Current<'c, 'a>,
    pub(super) stream: &'c Stream<'c>,
    pub(super) shared: &'c Shared<'a>,
    /// Invariant: with a shorter `'env`, a stream could be used otherwise before the capture ends.
    _env: PhantomData<Cell<&'env ()>>,
}

impl<'ctx> Current<'_, 'ctx> {
    /// Runs `body`, which queues work on a captured stream, and returns a graph of that work. The
    /// work does not run.
    ///
    /// The stream is borrowed mutably, so no other code can queue work on it or wait for it. The
    /// driver refuses calls that wait for the whole context, or for a default stream with which the
    /// stream is ordered, and such a call invalidates the capture. Memory is lent to the graph for
    /// as long as the graph or its executable exists.
    ///
    /// ```
    /// # cuprum::example!(driver, context, cx);
    /// use cuprum::graph::{CaptureMode, InstantiateFlags};
    /// use cuprum::{Buffer, In, InOut, LaunchConfig, Module, Stream};
    ///
    /// let module = Module::load_ptx(&cx, &std::fs::read_to_string("kernels/saxpy.ptx")?)?;
    /// let saxpy = module.function("saxpy")?.bind::<(u32, f32, In<f32>, InOut<f32>)>()?;
    /// let x = Buffer::from_slice(&cx, &[1.0f32; 100])?;
    /// let mut y = Buffer::<f32>::alloc(&cx, 100)?;
    /// let mut stream = Stream::new(&cx)?;
    /// let config = LaunchConfig::for_elements(100, 64);
    ///
    /// let (graph, y) = cx.capture(&mut stream, CaptureMode::ThreadLocal, |capture| {
    ///     let x = capture.lend(&x)?;
    ///     let y = capture.lend(&mut y)?;
    ///     capture.fill(y, 2.0)?;
    ///     assert_eq!(capture.info()?.next_after.len(), 1); // the fill
    ///     for _ in 0..20 {
    ///         // SAFETY: saxpy(n, alpha, x, y) touches n elements of each, one launch after the other.
    ///         unsafe { capture.launch(&saxpy, config, (100, 1.0, x, y)) }?;
    ///     }
    ///     Ok(y)
    /// })?;
    /// let mut exec = graph.instantiate(&cx, InstantiateFlags::empty())?;
    /// exec.launch(&cx, &stream)?;
    /// assert_eq!(exec.view(y)?.to_vec(&cx)?, [22.0; 100]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Errors of `body`; `CUDA_ERROR_STREAM_CAPTURE_INVALIDATED` after a call that a capture does
    /// not allow (the call itself fails with [`Error::is_capture`]);
    /// `CUDA_ERROR_STREAM_CAPTURE_UNJOINED` for a lane that was forked and not joined;
    /// `CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED` for the default stream; [`Error::WRONG_CONTEXT`].
    ///
    /// Driver: `cuStreamBeginCapture_v2`, CUDA 10.1+, or `cuStreamBeginCapture`, CUDA 10.0+ (with
    /// [`CaptureMode::Global`] alone), and `cuStreamEndCapture`, CUDA 10.0+; with other lanes
    /// `cuEventDestroy_v2`, CUDA 4.0+.
    #[doc(alias("cuStreamBeginCapture_v2", "cuStreamBeginCapture", "cuStreamEndCapture"))]
    pub fn capture<'env, 'a, R>(
        &'env self,
        stream: &'env mut Stream<'_>,
        mode: CaptureMode,
        body: impl for<'c> FnOnce(&Capture<'c, 'env, 'a>) -> Result<R, GraphError>,
    ) -> Result<(Graph<'a>, R), GraphError>
    where
        'ctx: 'a,
        'a: 'env,
    {
        let stream = stream.capturable(FnId::cuStreamBeginCapture_v2)?;
        let context = self.of(stream.context(), FnId::cuStreamBeginCapture_v2)?;
        let (raw, library) = (stream.as_raw(), context.library());
        let capturing = Capturing::begin();
        let end = End { context, stream: raw, makes_a_graph: true };
        end.begun(if mode == CaptureMode::Global && !library.has(FnId::cuStreamBeginCapture_v2) {
            // SAFETY: the stream is live, and its context is current.
            unsafe { context_call!(context, cuStreamBeginCapture(raw)) }
        } else {
            // SAFETY: as above.
            unsafe { context_call!(context, cuStreamBeginCapture_v2(raw, mode.raw())) }
        })?;
        let shared = Shared::new(Kept::new());
        let abandon = Abandon(end);
        let result = body(&Capture::new(self, stream, &shared));
        if let Err(error) = result {
            drop(abandon);
            return Err(error);
        }
        let ended = abandon.0.end();
        std::mem::forget(abandon);
        drop(capturing);
        let graph = ended?;
        let mut graph = Graph::from_parts(self, graph, shared.kept.into_inner());
        graph.nodes = shared.nodes.into_inner();
        Ok((graph, result?))
    }
}

impl<'a> Graph<'a> {
    /// Same as [`Current::capture`], but adds the nodes to this graph. The first nodes run after
    /// `after`.
    ///
    /// # Errors
    /// Same as [`Current::capture`]; [`GraphError::Foreign`]; [`GraphError::Removed`]. The contents
    /// of the graph are unknown after a failed capture, so all later calls fail with
    /// [`GraphError::Incomplete`].
    ///
    /// Driver: `cuStreamBeginCaptureToGraph`, CUDA 12.3+, and `cuStreamEndCapture`, CUDA 10.0+;
    /// with other lanes `cuEventDestroy_v2`, CUDA 4.0+.
    #[doc(alias("cuStreamBeginCaptureToGraph", "cuStreamEndCapture"))]
    pub fn capture_into<'env, R>(
        &mut self,
        cx: &'env Current<'_, 'a>,
        stream: &'env mut Stream<'_>,
        after: &[Node],
        mode: CaptureMode,
        body: impl for<'c> FnOnce(&Capture<'c, 'env, 'a>) -> Result<R, GraphError>,
    ) -> Result<R, GraphError>
    where
        'a: 'env,
    {
        let stream = stream.capturable(FnId::cuStreamBeginCaptureToGraph)?;
        let (context, graph) = self.ready(cx, FnId::cuStreamBeginCaptureToGraph)?;
        cx.of(stream.context(), FnId::cuStreamBeginCaptureToGraph)?;
        let after = self.nodes.raws(after)?;
        let (raw, first, count, mode) = (stream.as_raw(), after.as_ptr(), after.len(), mode.raw());
        let none = std::ptr::null();
        let capturing = Capturing::begin();
        // SAFETY: stream, graph and nodes are live, and the list outlives the call; no data stands
        // for ordinary edges.
        let begun = unsafe {
            context_call!(context, cuStreamBeginCaptureToGraph(raw, graph, first, none, count, mode))
        };
        // A call that was not made has begun nothing.
        self.nodes.is_incomplete(begun.is_err_and(|error| !error.is_unresolved()));
        let end = End { context, stream: raw, makes_a_graph: false };
        end.begun(begun)?;
        let mut back = Back::new(self);
        let abandon = Abandon(end);
        let result = body(&Capture::new(cx, stream, &back.shared));
        if result.is_ok() {
            let ended = abandon.0.end();
            std::mem::forget(abandon);
            drop(capturing);
            ended?;
            back.ended = true;
        }
        result
    }
}

/// Moves the state of a graph back from the lanes of a capture.
struct Back<'g, 'a> {
    graph: &'g mut Graph<'a>,
    shared: Shared<'a>,
    /// True after the capture has ended without an error.
    ended: bool,
}

impl<'g, 'a> Back<'g, 'a> {
    fn new(graph: &'g mut Graph<'a>) -> Self {
        let mut back = Self { graph, shared: Shared::new(Kept::new()), ended: false };
        back.swap();
        back
    }

    fn swap(&mut self) {
        std::mem::swap(&mut self.graph.kept, self.shared.kept.get_mut());
        std::mem::swap(&mut self.graph.nodes, self.shared.nodes.get_mut());
    }
}

impl Drop for Back<'_, '_> {
    fn drop(&mut self) {
        self.swap();
        self.graph.nodes.is_incomplete(!self.ended);
    }
}

impl<'a> Shared<'a> {
    fn new(kept: Kept<'a>) -> Self {
        let nodes = RefCell::new(Nodes::new(kept.brand));
        Self { kept: RefCell::new(kept), nodes, mark: RefCell::new(None) }
    }
}

impl<'c, 'env, 'a> Capture<'c, 'env, 'a> {
    fn new(cx: &'c Current<'c, 'a>, stream: &'c Stream<'c>, shared: &'c Shared<'a>) -> Self {
        Self { cx, stream, shared, _env: PhantomData }
    }

    /// The current context, for a call on this lane.
    pub(super) fn ready(&self, call: FnId) -> Result<&ContextRef, GraphError> {
        Ok(self.cx.of(self.stream.context(), call)?)
    }

    /// Lends memory to the graph, as [`Graph::lend`] does. No driver call.
    ///
    /// # Errors
    /// Same as [`Graph::lend`].
    pub fn lend<M: LendToGraph<'a>>(&self, memory: M) -> Result<Loan<M::Memory>, GraphError> {
        memory.keep(&mut self.shared.kept.borrow_mut(), self.stream.context(), Key::new())
    }

    /// The driver's handle of the stream.
    #[inline]
    pub fn as_raw(&self) -> CUstream {
        self.stream.as_raw()
    }

    /// Returns the stream, for code that queues work on streams. That work becomes nodes.
    ///
    /// # Safety
    /// 1. Every replay of the queued work is sound. The work touches only memory that was lent to
    ///    the graph, or memory that lives and that no other code touches as long as the graph and
    ///    its executable exist. Kernels meet the duties of [`Graph::add_kernel`], also for textures
    ///    and code, which are not borrowed here. The work does not borrow host memory, and does not
    ///    include functions that may be called only once ([`Stream::call_host`]).
    /// 2. The stream is not used after the closure of the capture.
    #[inline]
    pub unsafe fn stream(&self) -> &Stream<'_> {
        self.stream
    }

    /// Adds another stream to the capture, as a new lane. Work queued there runs after all work
    /// that this lane has so far, and concurrently with its later work. The lane must be
    /// [joined](Capture::join) before the capture ends.
    ///
    /// ```
    /// # cuprum::example!(driver, context, cx);
    /// use cuprum::graph::CaptureMode;
    /// use cuprum::{Buffer, Stream};
    ///
    /// let (mut one, mut two) = (Stream::new(&cx)?, Stream::new(&cx)?);
    /// let (mut a, mut b) = (Buffer::<u32>::alloc(&cx, 8)?, Buffer::<u32>::alloc(&cx, 8)?);
    /// let (mut graph, ()) = cx.capture(&mut one, CaptureMode::ThreadLocal, |capture| {
    ///     let (a, b) = (capture.lend(&mut a)?, capture.lend(&mut b)?);
    ///     let beside = capture.fork(&mut two)?;
    ///     capture.fill(a, 1)?;
    ///     beside.fill(b, 2)?;
    ///     capture.join(&beside)?;
    ///     capture.copy(a, b)
    /// })?;
    /// assert_eq!(graph.nodes(&cx)?.len(), 3);
    /// assert_eq!(graph.edges(&cx)?.len(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::WRONG_CONTEXT`]; `CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED` for a default stream;
    /// `CUDA_ERROR_STREAM_CAPTURE_ISOLATION` and similar codes; the sticky errors of earlier work.
    ///
    /// Driver: `cuEventRecord`, CUDA 2.0+, and `cuStreamWaitEvent`, CUDA 3.2+; the first time
    /// `cuEventCreate`, CUDA 2.0+.
    #[doc(alias("cuEventRecord", "cuStreamWaitEvent"))]
    #[inline]
    pub fn fork(&self, stream: &'env mut Stream<'_>) -> Result<Self, GraphError> {
        let stream = stream.capturable(FnId::cuStreamWaitEvent)?;
        self.cx.of(stream.context(), FnId::cuStreamWaitEvent)?;
        self.mark(|mark| {
            mark.record(self.cx, self.stream)?;
            stream.wait_event(self.cx, mark)
        })?;
        Ok(Self::new(self.cx, stream, self.shared))
    }

    /// Makes later work of this lane run after all work that another lane has so far.
    ///
    /// # Errors
    /// Same as [`fork`](Capture::fork).
    ///
    /// Driver: `cuEventRecord`, CUDA 2.0+, and `cuStreamWaitEvent`, CUDA 3.2+; the first time
    /// `cuEventCreate`, CUDA 2.0+.
    #[doc(alias("cuEventRecord", "cuStreamWaitEvent"))]
    #[inline]
    pub fn join(&self, other: &Capture<'c, 'env, 'a>) -> Result<(), GraphError> {
        self.mark(|mark| {
            mark.record(self.cx, other.stream)?;
            self.stream.wait_event(self.cx, mark)
        })
    }

    fn mark(&self, pass: impl FnOnce(&Event<'a>) -> Result<(), Error>) -> Result<(), GraphError> {
        let mut mark = self.shared.mark.borrow_mut();
        let event = match mark.take() {
            Some(event) => event,
            None => Event::new(self.cx, EventFlags::DISABLE_TIMING)?,
        };
        let passed = pass(&event);
        *mark = Some(event);
        Ok(passed?)
    }

    /// Returns the state of the capture.
    ///
    /// Driver: `cuStreamGetCaptureInfo_v3`, CUDA 12.3+, `cuStreamGetCaptureInfo_v2`, CUDA 11.3+, or
    /// `cuStreamGetCaptureInfo`, CUDA 10.1+.
    #[doc(alias("cuStreamGetCaptureInfo_v3", "cuStreamGetCaptureInfo_v2", "cuStreamGetCaptureInfo"))]
    pub fn info(&self) -> Result<CaptureInfo, GraphError> {
        let context = self.ready(FnId::cuStreamGetCaptureInfo_v3)?;
        let (library, stream) = (context.library(), self.as_raw());
        let (mut status, mut id) = (CaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE, 0);
        let (mut nodes, mut data, mut count) = (std::ptr::null(), std::ptr::null(), 0);
        let (at, of) = (&raw mut status, &raw mut id);
        let (to, edges, len, graph) = (&raw mut nodes, &raw mut data, &raw mut count, std::ptr::null_mut());
        let answer = if library.has(FnId::cuStreamGetCaptureInfo_v3) {
            // SAFETY: the stream is live; all places outlive the call.
            unsafe {
                context_call!(context, cuStreamGetCaptureInfo_v3(stream, at, of, graph, to, edges, len))
            }
        } else {
            // SAFETY: as above.
            let answer = unsafe {
                either_call!(library, cuStreamGetCaptureInfo_v2(stream, at, of, graph, to, len)
                    or cuStreamGetCaptureInfo(stream, at, of))
            };
            answer.map_err(|error| context.record(error))
        };
        answer?;
        let active = status == CaptureStatus::CU_STREAM_CAPTURE_STATUS_ACTIVE && !nodes.is_null();
        let mut known = self.shared.nodes.borrow_mut();
        let next_after = (0..if active { count } else { 0 }).map(|at| {
            // SAFETY: the driver returns a list of `count` nodes, which is valid until the next
            // call on the capture.
            known.token(unsafe { nodes.wrapping_add(at).read() })
        });
        Ok(CaptureInfo { status, id, next_after: next_after.collect() })
    }

    /// Makes the next node of this lane run after these nodes too, or only after these nodes.
    ///
    /// # Errors
    /// [`GraphError::Foreign`]; `CUDA_ERROR_INVALID_VALUE`.
    ///
    /// Driver: `cuStreamUpdateCaptureDependencies_v2`, CUDA 12.3+, or
    /// `cuStreamUpdateCaptureDependencies`, CUDA 11.3+.
    #[doc(alias("cuStreamUpdateCaptureDependencies_v2", "cuStreamUpdateCaptureDependencies"))]
    #[inline]
    pub fn come_after(&self, nodes: &[Node], alone: bool) -> Result<(), GraphError> {
        let context = self.ready(FnId::cuStreamUpdateCaptureDependencies_v2)?;
        let mut raws: Vec<CUgraphNode> = self.shared.nodes.borrow().raws(nodes)?;
        let (library, stream, flags) = (context.library(), self.as_raw(), u32::from(alone));
        let (first, count, none) = (raws.as_mut_ptr(), raws.len(), std::ptr::null());
        // SAFETY: stream and nodes are live, and the list outlives the call; no data stands for
        // ordinary edges. The flag is `CU_STREAM_SET_CAPTURE_DEPENDENCIES` or none.
        let answer = unsafe {
            either_call!(library, cuStreamUpdateCaptureDependencies_v2(stream, first, none, count, flags)
                or cuStreamUpdateCaptureDependencies(stream, first, count, flags))
        };
        answer.map_err(|error| context.record(error).into())
    }
}

impl Stream<'_> {
    /// Returns the status of the stream's capture, which this crate or other code began.
    ///
    /// # Errors
    /// [`Error::WRONG_CONTEXT`]; `CUDA_ERROR_STREAM_CAPTURE_IMPLICIT` for the default stream while
    /// a stream that is ordered with it is captured.
    ///
    /// Driver: `cuStreamIsCapturing`, CUDA 10.0+.
    #[doc(alias = "cuStreamIsCapturing")]
    #[inline]
    pub fn capture_status(&self, cx: &Current<'_, '_>) -> Result<CaptureStatus, Error> {
        let context = cx.of(self.context(), FnId::cuStreamIsCapturing)?;
        let (stream, mut status) = (self.as_raw(), CaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE);
        // SAFETY: the stream is live; the out-parameter outlives the call.
        unsafe { context_call!(context, cuStreamIsCapturing(stream, &raw mut status)) }?;
        Ok(status)
    }
}

debug! {
    Capture<'_, '_, '_>: |this, f|
    f.debug_struct("Capture").field("stream", &this.stream).finish_non_exhaustive()
}
