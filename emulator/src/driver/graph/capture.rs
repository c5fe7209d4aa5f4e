//! Stream capture: what is pushed to a stream becomes a graph instead of running.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use cuprum_sys::*;

use super::super::call::{Answer, Call, INVALID_VALUE, In, InMut, Out, calls, ensure};
use super::super::handle::Handle;
use super::super::operation::Operation;
use super::super::schedule::Lane;
use super::super::state::emulator;
use super::super::stream::StreamRef;
use super::Graph;
use super::node::NodeKind;

const IMPLICIT: CUresult = CUresult::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
const INVALIDATED: CUresult = CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
const ISOLATION: CUresult = CUresult::CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
const UNJOINED: CUresult = CUresult::CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
const UNMATCHED: CUresult = CUresult::CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
const UNSUPPORTED: CUresult = CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
const MERGE: CUresult = CUresult::CUDA_ERROR_STREAM_CAPTURE_MERGE;
const WRONG_THREAD: CUresult = CUresult::CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;

/// All captures in progress.
#[derive(Debug, Default)]
pub(in crate::driver) struct Captures {
    /// Their number, so that a push without any costs one load.
    count: AtomicUsize,
    active: Mutex<Vec<Capture>>,
    last_id: AtomicUsize,
}

/// One capture: the streams that take part, and what the next operation of each depends on.
#[derive(Debug)]
struct Capture {
    id: u64,
    graph: Arc<Graph>,
    /// Whether the graph was there before, and stays if the capture fails.
    is_given: bool,
    origin: Lane,
    /// Which threads may not make unsafe calls meanwhile: all, the one that began it, none.
    mode: CUstreamCaptureMode,
    thread: ThreadId,
    tails: HashMap<Lane, Tail>,
    invalid: bool,
}

#[derive(Debug, Clone, Default)]
struct Tail {
    nodes: Vec<usize>,
    /// The same as an array of handles, for clients that ask.
    handles: Vec<CUgraphNode>,
}

// SAFETY: handles are numbers.
unsafe impl Send for Tail {}

impl Tail {
    fn new(nodes: Vec<usize>) -> Self {
        let handles = nodes.iter().map(|&node| CUgraphNode::from_addr(node)).collect();
        Self { nodes, handles }
    }
}

/// What became of an operation.
#[derive(Debug)]
pub(in crate::driver) enum Taken {
    /// It is part of a graph, or cannot be.
    Captured(Answer),
    /// The stream is not capturing.
    Not(Operation),
}

/// What an event stands for that was recorded in a capturing stream.
#[derive(Debug, Clone)]
pub(in crate::driver) struct CapturedPoint {
    capture: u64,
    nodes: Vec<usize>,
}

impl Captures {
    fn lock(&self) -> MutexGuard<'_, Vec<Capture>> {
        self.active.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn any(&self) -> bool {
        self.count.load(Ordering::Acquire) != 0
    }

    /// Takes an operation if its stream is capturing; gives it back otherwise.
    pub(in crate::driver) fn take(&self, lane: Lane, operation: Operation) -> Taken {
        if !self.any() {
            return Taken::Not(operation);
        }
        let mut active = self.lock();
        if let Some(capture) = capture_of(&mut active, lane) {
            return Taken::Captured(capture.add(lane, NodeKind::from_operation(operation)));
        }
        match forbid_implicit(&mut active, lane) {
            Err(code) => Taken::Captured(Err(code)),
            Ok(()) => Taken::Not(operation),
        }
    }

    /// Whether a stream is capturing.
    pub(in crate::driver) fn has(&self, lane: Lane) -> bool {
        self.any() && capture_of(&mut self.lock(), lane).is_some()
    }

    /// Adds a node to the graph of a capturing stream.
    pub(in crate::driver) fn add(&self, lane: Lane, kind: NodeKind) -> Answer {
        let mut active = self.lock();
        capture_of(&mut active, lane).ok_or(CUresult::CUDA_ERROR_ILLEGAL_STATE)?.add(lane, Ok(kind))
    }

    /// Fails for a call that asks or waits for a stream: a capturing one never gets there, the legacy stream waits
    /// for those that capture, and with others it is [unsafe](Self::forbid_unsafe). Ends those captures.
    pub(in crate::driver) fn forbid_wait(&self, lane: Lane) -> Answer {
        if !self.any() {
            return Ok(());
        }
        let mut active = self.lock();
        if let Some(capture) = capture_of(&mut active, lane) {
            return capture.fail(UNSUPPORTED);
        }
        forbid_implicit(&mut active, lane)?;
        drop(active);
        self.forbid_unsafe()
    }

    /// Fails for a call that waits for a whole context if something in it is capturing, and ends those captures.
    pub(in crate::driver) fn forbid_in(&self, context: usize) -> Answer {
        self.forbid_where(|capture| capture.origin.context == context)
    }

    /// Fails for a call that may synchronize with what a capture has not run, if the capture asks this thread not
    /// to make such calls, and ends those captures.
    pub(in crate::driver) fn forbid_unsafe(&self) -> Answer {
        use CUstreamCaptureMode as M;

        if !self.any() || MODE.get() == M::CU_STREAM_CAPTURE_MODE_RELAXED {
            return Ok(());
        }
        let here = thread::current().id();
        let alone = MODE.get() == M::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        self.forbid_where(|capture| match capture.mode {
            M::CU_STREAM_CAPTURE_MODE_RELAXED => false,
            M::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL => capture.thread == here,
            _ => !alone || capture.thread == here,
        })
    }

    fn forbid_where(&self, hit: impl Fn(&Capture) -> bool) -> Answer {
        if !self.any() {
            return Ok(());
        }
        let mut answer = Ok(());
        for capture in self.lock().iter_mut().filter(|capture| hit(capture)) {
            answer = capture.fail(UNSUPPORTED);
        }
        answer
    }

    /// Fails for a call that asks for what an event recorded in a capturing stream, which ends the capture.
    pub(in crate::driver) fn forbid_point(&self, point: &CapturedPoint) -> Answer {
        let mut active = self.lock();
        let capture = active.iter_mut().find(|capture| capture.id == point.capture);
        capture.ok_or(INVALID_VALUE)?.fail(CUresult::CUDA_ERROR_CAPTURED_EVENT)
    }

    /// What an event recorded now in this stream stands for, if the stream is capturing.
    pub(in crate::driver) fn point(&self, lane: Lane) -> Option<CapturedPoint> {
        if !self.any() {
            return None;
        }
        let mut active = self.lock();
        let capture = capture_of(&mut active, lane)?;
        Some(CapturedPoint { capture: capture.id, nodes: capture.tails.get(&lane)?.nodes.clone() })
    }

    /// Lets a stream wait for a captured point, which makes it part of that capture. Without a
    /// point, fails if the stream is capturing: what happened outside cannot be waited for.
    pub(in crate::driver) fn join(&self, lane: Lane, point: Option<&CapturedPoint>) -> Answer {
        let mut active = self.lock();
        let own = capture_of(&mut active, lane);
        let Some(point) = point else {
            return own.map_or(Ok(()), |capture| capture.fail(ISOLATION));
        };
        if let Some(own) = own.filter(|own| own.id != point.capture) {
            own.invalid = true;
            let other = active.iter_mut().find(|capture| capture.id == point.capture);
            return other.ok_or(INVALID_VALUE)?.fail(MERGE);
        }
        let capture = active.iter_mut().find(|capture| capture.id == point.capture);
        let capture = capture.ok_or(INVALID_VALUE)?;
        let mut nodes = capture.tails.remove(&lane).unwrap_or_default().nodes;
        nodes.extend(point.nodes.iter().filter(|node| !nodes.contains(node)).copied().collect::<Vec<_>>());
        capture.tails.insert(lane, Tail::new(nodes));
        Ok(())
    }

    fn begin(&self, lane: Lane, mode: CUstreamCaptureMode, into: Option<(Arc<Graph>, Vec<usize>)>) -> Answer {
        ensure(mode.name().is_some(), INVALID_VALUE)?;
        ensure(lane.stream != Lane::LEGACY, UNSUPPORTED)?;
        let mut active = self.lock();
        ensure(capture_of(&mut active, lane).is_none(), CUresult::CUDA_ERROR_ILLEGAL_STATE)?;
        let is_given = into.is_some();
        let (graph, after) = into.unwrap_or_else(|| (Graph::create(), Vec::new()));
        active.push(Capture {
            id: self.last_id.fetch_add(1, Ordering::Relaxed) as u64 + 1,
            graph,
            is_given,
            origin: lane,
            mode,
            thread: thread::current().id(),
            tails: HashMap::from([(lane, Tail::new(after))]),
            invalid: false,
        });
        self.count.store(active.len(), Ordering::Release);
        Ok(())
    }

    fn end(&self, lane: Lane) -> Answer<Arc<Graph>> {
        let mut active = self.lock();
        let at = active.iter().position(|capture| capture.tails.contains_key(&lane));
        let at = at.ok_or(CUresult::CUDA_ERROR_ILLEGAL_STATE)?;
        if active[at].origin != lane {
            return active[at].fail(UNMATCHED).and(Err(UNMATCHED));
        }
        let capture = active.swap_remove(at);
        self.count.store(active.len(), Ordering::Release);
        let anywhere = capture.mode == CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        let answer = if !anywhere && capture.thread != thread::current().id() {
            Err(WRONG_THREAD)
        } else if capture.invalid {
            Err(INVALIDATED)
        } else if !capture.is_joined() {
            Err(UNJOINED)
        } else {
            Ok(())
        };
        if answer.is_err() && !capture.is_given {
            capture.graph.destroy();
        }
        answer.map(|()| capture.graph)
    }

    /// Ends the captures of a context that goes.
    pub(in crate::driver) fn forget_context(&self, context: usize) {
        let mut active = self.lock();
        active.retain(|capture| capture.origin.context != context);
        self.count.store(active.len(), Ordering::Release);
    }
}

fn capture_of(active: &mut [Capture], lane: Lane) -> Option<&mut Capture> {
    active.iter_mut().find(|capture| capture.tails.contains_key(&lane))
}

/// The legacy stream waits for blocking streams, which a capture of one cannot express: fails, and ends it.
fn forbid_implicit(active: &mut [Capture], lane: Lane) -> Answer {
    let waits = |capture: &&mut Capture| {
        lane.stream == Lane::LEGACY
            && capture.tails.keys().any(|tail| tail.context == lane.context && tail.blocking)
    };
    active.iter_mut().find(waits).map_or(Ok(()), |capture| capture.fail(IMPLICIT))
}

impl Capture {
    /// Ends the capture without a graph.
    fn fail(&mut self, code: CUresult) -> Answer {
        self.invalid = true;
        Err(code)
    }

    fn add(&mut self, lane: Lane, kind: Answer<NodeKind>) -> Answer {
        ensure(!self.invalid, INVALIDATED)?;
        let after = self.tails.get(&lane).map(|tail| tail.nodes.clone()).unwrap_or_default();
        match kind.and_then(|kind| self.graph.add(&after, kind)) {
            Ok(node) => {
                self.tails.insert(lane, Tail::new(vec![node]));
                Ok(())
            }
            Err(code) => self.fail(code),
        }
    }

    /// Whether the origin waits, in the end, for everything the other streams did.
    fn is_joined(&self) -> bool {
        let shape = self.graph.shape();
        let mut reached = HashSet::new();
        let origin = self.tails.get(&self.origin).map(|tail| tail.nodes.clone());
        let mut left = origin.unwrap_or_default();
        while let Some(node) = left.pop() {
            if reached.insert(node) {
                left.extend(shape.edges.iter().filter(|(_, to)| *to == node).map(|(from, _)| *from));
            }
        }
        self.tails.values().all(|tail| tail.nodes.iter().all(|node| reached.contains(node)))
    }

    fn status(&self) -> CUstreamCaptureStatus {
        if self.invalid {
            CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_INVALIDATED
        } else {
            CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_ACTIVE
        }
    }
}

impl StreamRef {
    /// Fails if a capture forbids to ask or wait for the stream; see [`Captures::forbid_wait`].
    pub(in crate::driver) fn forbid_capture(&self) -> Answer {
        emulator().captures.forbid_wait(self.lane())
    }
}

fn begin(call: &Call, stream: CUstream, mode: CUstreamCaptureMode) -> Answer {
    let lane = call.stream(stream)?.lane();
    emulator().captures.begin(lane, mode, None)
}

/// What a client may know of a capture; places that are null are skipped.
struct Info {
    id: Out<u64>,
    graph: Option<Out<CUgraph>>,
    nodes: Option<Out<*const CUgraphNode>>,
    count: Option<Out<usize>>,
}

fn info(call: &Call, stream: CUstream, status: Out<CUstreamCaptureStatus>, wanted: &Info) -> Answer {
    status.check()?;
    let lane = call.stream(stream)?.lane();
    let mut active = emulator().captures.lock();
    let Some(capture) = capture_of(&mut active, lane) else {
        return status.set(CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE);
    };
    status.set(capture.status())?;
    wanted.id.set_if_wanted(capture.id);
    if let Some(graph) = wanted.graph {
        graph.set_if_wanted(CUgraph::from_addr(capture.graph.handle));
    }
    if let Some(tail) = capture.tails.get(&lane) {
        if let Some(nodes) = wanted.nodes {
            nodes.set_if_wanted(tail.handles.as_ptr());
        }
        if let Some(count) = wanted.count {
            count.set_if_wanted(tail.handles.len());
        }
    }
    Ok(())
}

fn update_dependencies(
    call: &Call,
    stream: CUstream,
    nodes: In<CUgraphNode>,
    count: usize,
    flags: u32,
) -> Answer {
    let set = CUstreamUpdateCaptureDependencies_flags::CU_STREAM_SET_CAPTURE_DEPENDENCIES.0;
    ensure(flags <= set, INVALID_VALUE)?;
    let lane = call.stream(stream)?.lane();
    let nodes: Vec<usize> = nodes.get_all(count)?.into_iter().map(Handle::addr).collect();
    let mut active = emulator().captures.lock();
    let capture = capture_of(&mut active, lane).ok_or(CUresult::CUDA_ERROR_ILLEGAL_STATE)?;
    let known = capture.graph.shape().nodes.clone();
    ensure(nodes.iter().all(|node| known.contains(node)), INVALID_VALUE)?;
    let mut tail = match flags == set {
        true => Vec::new(),
        false => capture.tails.remove(&lane).unwrap_or_default().nodes,
    };
    tail.extend(nodes);
    capture.tails.insert(lane, Tail::new(tail));
    Ok(())
}

thread_local! {
    /// Which calls a capture forbids to this thread; kept for the client to exchange.
    static MODE: Cell<CUstreamCaptureMode> =
        const { Cell::new(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL) };
}

calls! {
    fn cuStreamBeginCapture(call, hStream: CUstream) {
        begin(call, hStream, CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL)
    }

    fn cuStreamBeginCapture_v2(call, hStream: CUstream, mode: CUstreamCaptureMode) {
        begin(call, hStream, mode)
    }

    fn cuStreamBeginCaptureToGraph(
        call,
        hStream: CUstream,
        hGraph: CUgraph,
        dependencies: In<CUgraphNode>,
        _dependencyData: In<CUgraphEdgeData>,
        numDependencies: usize,
        mode: CUstreamCaptureMode,
    ) {
        let graph = Graph::find(hGraph)?;
        let after = dependencies.get_all(numDependencies)?.into_iter().map(Handle::addr).collect();
        let lane = call.stream(hStream)?.lane();
        emulator().captures.begin(lane, mode, Some((graph, after)))
    }

    fn cuStreamEndCapture(call, hStream: CUstream, phGraph: Out<CUgraph>) {
        let lane = call.stream(hStream)?.lane();
        let graph = emulator().captures.end(lane);
        let handle = graph.as_ref().map_or(0, |graph| graph.handle);
        // A client that captures to a graph of its own has it already.
        phGraph.set_if_wanted(CUgraph::from_addr(handle));
        graph.map(drop)
    }

    fn cuStreamIsCapturing(
        call,
        hStream: CUstream,
        captureStatus: Out<CUstreamCaptureStatus>,
    ) {
        captureStatus.check()?;
        let lane = call.stream(hStream)?.lane();
        let mut active = emulator().captures.lock();
        let capture = capture_of(&mut active, lane);
        let none = CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
        captureStatus.set(capture.map_or(none, |capture| capture.status()))
    }

    fn cuStreamGetCaptureInfo(
        call,
        hStream: CUstream,
        captureStatus_out: Out<CUstreamCaptureStatus>,
        id_out: Out<u64>,
    ) {
        let wanted = Info { id: id_out, graph: None, nodes: None, count: None };
        info(call, hStream, captureStatus_out, &wanted)
    }

    fn cuStreamGetCaptureInfo_v2(
        call,
        hStream: CUstream,
        captureStatus_out: Out<CUstreamCaptureStatus>,
        id_out: Out<u64>,
        graph_out: Out<CUgraph>,
        dependencies_out: Out<*const CUgraphNode>,
        numDependencies_out: Out<usize>,
    ) {
        let wanted = Info {
            id: id_out,
            graph: Some(graph_out),
            nodes: Some(dependencies_out),
            count: Some(numDependencies_out),
        };
        info(call, hStream, captureStatus_out, &wanted)
    }

    fn cuStreamGetCaptureInfo_v3(
        call,
        hStream: CUstream,
        captureStatus_out: Out<CUstreamCaptureStatus>,
        id_out: Out<u64>,
        graph_out: Out<CUgraph>,
        dependencies_out: Out<*const CUgraphNode>,
        edgeData_out: Out<*const CUgraphEdgeData>,
        numDependencies_out: Out<usize>,
    ) {
        edgeData_out.set_if_wanted(core::ptr::null());
        let wanted = Info {
            id: id_out,
            graph: Some(graph_out),
            nodes: Some(dependencies_out),
            count: Some(numDependencies_out),
        };
        info(call, hStream, captureStatus_out, &wanted)
    }

    fn cuStreamUpdateCaptureDependencies(
        call,
        hStream: CUstream,
        dependencies: InMut<CUgraphNode>,
        numDependencies: usize,
        flags: u32,
    ) {
        update_dependencies(call, hStream, dependencies.input(), numDependencies, flags)
    }

    fn cuStreamUpdateCaptureDependencies_v2(
        call,
        hStream: CUstream,
        dependencies: InMut<CUgraphNode>,
        _dependencyData: In<CUgraphEdgeData>,
        numDependencies: usize,
        flags: u32,
    ) {
        update_dependencies(call, hStream, dependencies.input(), numDependencies, flags)
    }

    /// As hardware does, it takes any number; an unknown one forbids as much as the global mode.
    fn cuThreadExchangeStreamCaptureMode(_call, mode: Out<CUstreamCaptureMode>) {
        let wanted = mode.get()?;
        mode.set(MODE.replace(wanted))
    }
}
