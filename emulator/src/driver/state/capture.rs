//! Captures in progress: their streams, their dependencies, and the calls that they forbid.
//!
//! The graph of a capture is known as a [`Target`]; its nodes are numbers.

use core::fmt;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use cuprum_sys::*;

use crate::driver::answer::{Answer, INVALID_VALUE, ensure};
use crate::ordered::Ordered;

use super::operation::Operation;
use super::stream_key::StreamKey;
use super::tail::Tail;

const IMPLICIT: CUresult = CUresult::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
const INVALIDATED: CUresult = CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
const ISOLATION: CUresult = CUresult::CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
const UNJOINED: CUresult = CUresult::CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
const UNMATCHED: CUresult = CUresult::CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
const UNSUPPORTED: CUresult = CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
const MERGE: CUresult = CUresult::CUDA_ERROR_STREAM_CAPTURE_MERGE;
const WRONG_THREAD: CUresult = CUresult::CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;

#[derive(Debug)]
pub(crate) struct Captures {
    /// Number of captures, so that queuing an operation without any costs one load.
    count: AtomicUsize,
    active: Mutex<Active>,
    last_id: AtomicUsize,
}

/// The captures in progress by their number, with indexes to find one quickly.
#[derive(Debug)]
struct Active {
    captures: Ordered<Capture>,
    lanes: BTreeMap<StreamKey, u64>,
    /// The capturing streams that synchronize with the legacy default stream.
    blocking: BTreeSet<StreamKey>,
    /// Number of captures that forbid some calls to some threads.
    strict: usize,
}

/// One capture: its streams, and the dependencies of the next operation of each.
#[derive(Debug)]
struct Capture {
    id: u64,
    graph: Box<dyn Target>,
    /// True if the graph existed before. It is kept if the capture fails.
    is_given: bool,
    origin: StreamKey,
    /// Threads that must not make unsafe calls meanwhile: all, the one that began it, or none.
    mode: CUstreamCaptureMode,
    thread: ThreadId,
    tails: HashMap<StreamKey, Tail>,
    invalid: bool,
}

pub(crate) trait Target: Send {
    fn handle(&self) -> usize;

    /// Adds a node that is equivalent to an operation and depends on the nodes `after`.
    fn add(&self, after: &[usize], operation: Box<dyn Operation>) -> Answer<usize>;

    fn has(&self, nodes: &[usize]) -> bool;

    fn before(&self, node: usize) -> Vec<usize>;

    fn destroy(&self);
}

impl fmt::Debug for dyn Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "graph {:#x}", self.handle())
    }
}

/// Result of offering an operation to captures.
#[derive(Debug)]
pub(crate) enum Taken {
    /// The stream is capturing: the operation became a node, or cannot.
    Captured(Answer),
    Not(Box<dyn Operation>),
}

#[derive(Debug, Clone)]
pub(crate) struct CapturedPoint {
    capture: u64,
    nodes: Vec<usize>,
}

pub(crate) struct View {
    pub(crate) status: CUstreamCaptureStatus,
    pub(crate) id: u64,
    pub(crate) graph: usize,
    /// Dependencies of the stream's next operation; valid until that is captured.
    pub(crate) nodes: *const CUgraphNode,
    pub(crate) count: usize,
}

/// Returns the captures of the process.
pub(crate) fn captures() -> &'static Captures {
    static CAPTURES: Captures = Captures::new();
    &CAPTURES
}

impl Captures {
    pub(crate) const fn new() -> Self {
        let active =
            Active { captures: Ordered::new(), lanes: BTreeMap::new(), blocking: BTreeSet::new(), strict: 0 };
        Self { count: AtomicUsize::new(0), active: Mutex::new(active), last_id: AtomicUsize::new(0) }
    }

    /// Describes the capture of a stream. Fails for the legacy stream while a blocking stream is
    /// capturing; that capture continues.
    pub(crate) fn view(&self, lane: StreamKey) -> Answer<Option<View>> {
        let mut active = self.lock();
        ensure(active.waits_for(lane).is_none(), IMPLICIT)?;
        let Some(capture) = active.of_lane(lane) else { return Ok(None) };
        let handles = capture.tails.get(&lane).map_or(&[][..], |tail| &tail.handles);
        Ok(Some(View {
            status: capture.status(),
            id: capture.id,
            graph: capture.graph.handle(),
            nodes: handles.as_ptr(),
            count: handles.len(),
        }))
    }

    /// Fails for a call on a stream whose capture has ended by a mistake, and on the legacy stream
    /// while a blocking stream is capturing, which ends that capture.
    pub(crate) fn admit(&self, lane: StreamKey) -> Answer {
        if !self.any() {
            return Ok(());
        }
        let mut active = self.lock();
        match active.of_lane(lane) {
            Some(capture) => ensure(!capture.invalid, INVALIDATED),
            None => active.forbid_implicit(lane),
        }
    }

    /// Replaces the dependencies of a capturing stream's next operation, or extends them.
    pub(crate) fn depend_on(&self, lane: StreamKey, nodes: Vec<usize>, replaces: bool) -> Answer {
        let mut active = self.lock();
        let capture = active.of_lane(lane).ok_or(CUresult::CUDA_ERROR_ILLEGAL_STATE)?;
        ensure(capture.graph.has(&nodes), INVALID_VALUE)?;
        let tail = capture.tails.entry(lane).or_default();
        if replaces {
            *tail = Tail::default();
        }
        tail.extend(&nodes);
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Active> {
        self.active.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn any(&self) -> bool {
        self.count.load(Ordering::Acquire) != 0
    }

    /// Captures an operation if its stream is capturing; returns it otherwise.
    pub(crate) fn take(&self, lane: StreamKey, operation: Box<dyn Operation>) -> Taken {
        if !self.any() {
            return Taken::Not(operation);
        }
        match self.lock().of_lane(lane) {
            Some(capture) => Taken::Captured(capture.add(lane, operation)),
            None => Taken::Not(operation),
        }
    }

    pub(crate) fn has(&self, lane: StreamKey) -> bool {
        self.any() && self.lock().of_lane(lane).is_some()
    }

    /// Fails for a call that queries a stream or waits for it, and ends the captures concerned.
    /// Work of a capturing stream never runs, the legacy stream waits for capturing streams, and
    /// for other streams the call is [unsafe](Self::forbid_unsafe).
    pub(crate) fn forbid_wait(&self, lane: StreamKey) -> Answer {
        self.forbid_captured(lane)?;
        self.forbid_unsafe()
    }

    /// Ends the capture of a stream because of a call on it. Returns false if there is none.
    pub(crate) fn spoil(&self, lane: StreamKey) -> bool {
        self.any() && self.lock().of_lane(lane).map(|capture| capture.invalid = true).is_some()
    }

    /// Fails for a call that its stream must run outside of captures, and ends the captures
    /// concerned. This is the case if the stream is capturing, or is the legacy stream while a
    /// blocking stream is capturing.
    pub(crate) fn forbid_captured(&self, lane: StreamKey) -> Answer {
        ensure(!self.spoil(lane), UNSUPPORTED)?;
        if self.any() { self.lock().forbid_implicit(lane) } else { Ok(()) }
    }

    /// Fails for a call that waits for a context if its streams are capturing. Ends those captures.
    pub(crate) fn forbid_in(&self, context: usize) -> Answer {
        if !self.any() {
            return Ok(());
        }
        let mut active = self.lock();
        let Active { captures, lanes, .. } = &mut *active;
        let mut answer = Ok(());
        for (_, id) in lanes.range(StreamKey::lanes_of(context, None)) {
            if let Some(capture) = captures.get_mut(*id).filter(|capture| capture.origin.context == context) {
                answer = capture.fail(UNSUPPORTED);
            }
        }
        answer
    }

    /// Fails for a call that may synchronize with captured work, if the mode of a capture forbids
    /// such calls to this thread. Ends those captures.
    pub(crate) fn forbid_unsafe(&self) -> Answer {
        use CUstreamCaptureMode as M;

        if !self.any() || MODE.get() == M::CU_STREAM_CAPTURE_MODE_RELAXED {
            return Ok(());
        }
        let here = thread::current().id();
        let alone = MODE.get() == M::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        let hit = |capture: &Capture| match capture.mode {
            M::CU_STREAM_CAPTURE_MODE_RELAXED => false,
            M::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL => capture.thread == here,
            _ => !alone || capture.thread == here,
        };
        let mut active = self.lock();
        let ids: Vec<u64> = if active.strict > 0 { active.captures.keys().collect() } else { Vec::new() };
        let mut answer = Ok(());
        for id in ids {
            if let Some(capture) = active.captures.get_mut(id).filter(|capture| hit(capture)) {
                answer = capture.fail(UNSUPPORTED);
            }
        }
        answer
    }

    /// Fails for a call that queries an event recorded in a capturing stream, and ends the capture.
    pub(crate) fn forbid_point(&self, point: &CapturedPoint) -> Answer {
        let mut active = self.lock();
        let capture = active.captures.get_mut(point.capture);
        capture.ok_or(INVALID_VALUE)?.fail(CUresult::CUDA_ERROR_CAPTURED_EVENT)
    }

    /// Returns the point that an event recorded now in this stream marks, if it is capturing.
    pub(crate) fn point(&self, lane: StreamKey) -> Option<CapturedPoint> {
        if !self.any() {
            return None;
        }
        let mut active = self.lock();
        let capture = active.of_lane(lane)?;
        Some(CapturedPoint { capture: capture.id, nodes: capture.tails.get(&lane)?.nodes.clone() })
    }

    /// Makes a stream wait for a captured point, which adds it to that capture. Without a point,
    /// fails if the stream is capturing, because it cannot wait for events outside of the capture.
    pub(crate) fn join(&self, lane: StreamKey, point: Option<&CapturedPoint>) -> Answer {
        let mut active = self.lock();
        let own = active.of_lane(lane);
        let Some(point) = point else {
            return own.map_or(Ok(()), |capture| capture.fail(ISOLATION));
        };
        if let Some(own) = own.filter(|own| own.id != point.capture) {
            own.invalid = true;
            return active.captures.get_mut(point.capture).ok_or(INVALID_VALUE)?.fail(MERGE);
        }
        let capture = active.captures.get_mut(point.capture).ok_or(INVALID_VALUE)?;
        if !lane.can_be_captured() {
            return capture.fail(IMPLICIT);
        }
        capture.tails.entry(lane).or_default().extend(&point.nodes);
        active.enter(lane, point.capture);
        Ok(())
    }

    /// Begins a capture. If the graph existed before, the capture depends on its nodes in `given`.
    pub(crate) fn begin(
        &self,
        lane: StreamKey,
        mode: CUstreamCaptureMode,
        given: Option<Vec<usize>>,
        graph: impl FnOnce() -> Box<dyn Target>,
    ) -> Answer {
        ensure(mode.name().is_some(), INVALID_VALUE)?;
        let mut active = self.lock();
        active.forbid_implicit(lane)?;
        ensure(lane.can_be_captured(), UNSUPPORTED)?;
        ensure(active.of_lane(lane).is_none(), CUresult::CUDA_ERROR_ILLEGAL_STATE)?;

        let id = self.last_id.fetch_add(1, Ordering::Relaxed) as u64 + 1;
        let capture = Capture {
            id,
            graph: graph(),
            is_given: given.is_some(),
            origin: lane,
            mode,
            thread: thread::current().id(),
            tails: HashMap::from([(lane, Tail::new(&given.unwrap_or_default()))]),
            invalid: false,
        };
        active.strict += usize::from(capture.is_strict());
        active.captures.insert(id, capture);
        active.enter(lane, id);
        self.count.store(active.captures.len(), Ordering::Release);
        Ok(())
    }

    /// Ends the capture that began in a stream. Returns the handle of its graph.
    pub(crate) fn end(&self, lane: StreamKey) -> Answer<usize> {
        let mut active = self.lock();
        active.forbid_implicit(lane)?;
        let own = active.of_lane(lane).ok_or(CUresult::CUDA_ERROR_ILLEGAL_STATE)?;
        if own.origin != lane {
            return own.fail(UNMATCHED).and(Err(UNMATCHED));
        }
        let id = own.id;
        let capture = active.remove(id).ok_or(CUresult::CUDA_ERROR_ILLEGAL_STATE)?;
        self.count.store(active.captures.len(), Ordering::Release);
        let answer = if capture.is_strict() && capture.thread != thread::current().id() {
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
        answer.map(|()| capture.graph.handle())
    }

    /// Ends the captures of a context that is being destroyed.
    pub(crate) fn forget_context(&self, context: usize) {
        let mut active = self.lock();
        let in_context = |capture: &Capture| capture.origin.context == context;
        let going = active.captures.iter().filter(|(_, capture)| in_context(capture));
        for id in going.map(|(id, _)| id).collect::<Vec<_>>() {
            active.remove(id);
        }
        self.count.store(active.captures.len(), Ordering::Release);
    }
}

impl Active {
    fn of_lane(&mut self, lane: StreamKey) -> Option<&mut Capture> {
        self.captures.get_mut(*self.lanes.get(&lane)?)
    }

    fn enter(&mut self, lane: StreamKey, capture: u64) {
        self.lanes.insert(lane, capture);
        if lane.blocking {
            self.blocking.insert(lane);
        }
    }

    fn remove(&mut self, id: u64) -> Option<Capture> {
        let capture = self.captures.remove(id)?;
        self.strict -= usize::from(capture.is_strict());
        for lane in capture.tails.keys() {
            self.lanes.remove(lane);
            self.blocking.remove(lane);
        }
        Some(capture)
    }

    /// Returns a capture for whose stream the legacy stream would have to wait.
    fn waits_for(&mut self, lane: StreamKey) -> Option<&mut Capture> {
        if lane.stream != StreamKey::LEGACY {
            return None;
        }
        let blocking = *self.blocking.range(StreamKey::lanes_of(lane.context, None)).next()?;
        self.of_lane(blocking)
    }

    /// Fails and ends a capture if the legacy stream would have to wait for its blocking streams,
    /// which a graph cannot express.
    fn forbid_implicit(&mut self, lane: StreamKey) -> Answer {
        self.waits_for(lane).map_or(Ok(()), |capture| capture.fail(IMPLICIT))
    }
}

impl Capture {
    /// True if it forbids some calls, and must end on the thread that began it.
    fn is_strict(&self) -> bool {
        self.mode != CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED
    }

    fn fail(&mut self, code: CUresult) -> Answer {
        self.invalid = true;
        Err(code)
    }

    fn add(&mut self, lane: StreamKey, operation: Box<dyn Operation>) -> Answer {
        ensure(!self.invalid, INVALIDATED)?;
        let after = self.tails.get(&lane).map(|tail| tail.nodes.clone()).unwrap_or_default();
        match self.graph.add(&after, operation) {
            Ok(node) => {
                self.tails.insert(lane, Tail::new(&[node]));
                Ok(())
            }
            Err(code) => self.fail(code),
        }
    }

    /// True if the origin depends, directly or not, on all work of the other streams.
    fn is_joined(&self) -> bool {
        let mut reached = HashSet::new();
        let origin = self.tails.get(&self.origin).map(|tail| tail.nodes.clone());
        let mut left = origin.unwrap_or_default();
        while let Some(node) = left.pop() {
            if reached.insert(node as u64) {
                left.extend(self.graph.before(node));
            }
        }
        self.tails.values().all(|tail| tail.nodes.iter().all(|node| reached.contains(&(*node as u64))))
    }

    fn status(&self) -> CUstreamCaptureStatus {
        if self.invalid {
            CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_INVALIDATED
        } else {
            CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_ACTIVE
        }
    }
}

thread_local! {
    /// Mode of this thread, which the client can exchange: which calls a capture forbids.
    static MODE: Cell<CUstreamCaptureMode> =
        const { Cell::new(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL) };
}

/// Sets this thread's capture mode and returns the previous one.
pub(crate) fn exchange_mode(mode: CUstreamCaptureMode) -> CUstreamCaptureMode {
    MODE.replace(mode)
}
