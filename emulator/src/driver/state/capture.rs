//! Captures in progress: the streams that take part, their dependencies, and the calls that they forbid.
//!
//! The graph that a capture makes is known as a [`Target`]; its nodes are numbers.

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

/// All captures in progress.
#[derive(Debug)]
pub(crate) struct Captures {
    /// Number of captures, so that a push without any costs one load.
    count: AtomicUsize,
    active: Mutex<Active>,
    last_id: AtomicUsize,
}

/// The captures in progress, by their number, and what finds one without a look at the others.
#[derive(Debug)]
struct Active {
    captures: Ordered<Capture>,
    /// The capture that each capturing stream takes part in.
    lanes: BTreeMap<StreamKey, u64>,
    /// Those streams that keep order with the legacy default stream.
    blocking: BTreeSet<StreamKey>,
    /// Number of captures during which some calls are forbidden to some threads.
    strict: usize,
}

/// One capture: the streams that take part, and what the next operation of each depends on.
#[derive(Debug)]
struct Capture {
    id: u64,
    graph: Box<dyn Target>,
    /// True if the graph existed before, and stays if the capture fails.
    is_given: bool,
    origin: StreamKey,
    /// Threads that may not make unsafe calls meanwhile: all, the one that began it, none.
    mode: CUstreamCaptureMode,
    thread: ThreadId,
    tails: HashMap<StreamKey, Tail>,
    invalid: bool,
}

/// The graph that a capture makes.
pub(crate) trait Target: Send {
    fn handle(&self) -> usize;

    /// Adds a node behind others that does the same as an operation.
    fn add(&self, after: &[usize], operation: Box<dyn Operation>) -> Answer<usize>;

    /// True if it has all of these nodes.
    fn has(&self, nodes: &[usize]) -> bool;

    /// The nodes that a node waits for.
    fn before(&self, node: usize) -> Vec<usize>;

    /// Destroys the graph.
    fn destroy(&self);
}

impl fmt::Debug for dyn Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "graph {:#x}", self.handle())
    }
}

/// Outcome of offering an operation to captures.
#[derive(Debug)]
pub(crate) enum Taken {
    /// It is part of a graph, or cannot be.
    Captured(Answer),
    /// The stream is not capturing.
    Not(Box<dyn Operation>),
}

/// The point in a capture that an event recorded.
#[derive(Debug, Clone)]
pub(crate) struct CapturedPoint {
    capture: u64,
    nodes: Vec<usize>,
}

/// State of a capture, for the client.
pub(crate) struct View {
    pub(crate) status: CUstreamCaptureStatus,
    pub(crate) id: u64,
    pub(crate) graph: usize,
    /// Dependencies of the stream's next operation; valid until that comes.
    pub(crate) nodes: *const CUgraphNode,
    pub(crate) count: usize,
}

impl Captures {
    pub(crate) const fn new() -> Self {
        let active =
            Active { captures: Ordered::new(), lanes: BTreeMap::new(), blocking: BTreeSet::new(), strict: 0 };
        Self { count: AtomicUsize::new(0), active: Mutex::new(active), last_id: AtomicUsize::new(0) }
    }

    /// The capture that a stream takes part in.
    pub(crate) fn view(&self, lane: StreamKey) -> Option<View> {
        let mut active = self.lock();
        let capture = active.of_lane(lane)?;
        let handles = &capture.tails.get(&lane)?.handles;
        Some(View {
            status: capture.status(),
            id: capture.id,
            graph: capture.graph.handle(),
            nodes: handles.as_ptr(),
            count: handles.len(),
        })
    }

    /// Replaces the dependencies of a capturing stream's next operation, or adds to them.
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

    /// Takes an operation if its stream is capturing; gives it back otherwise.
    pub(crate) fn take(&self, lane: StreamKey, operation: Box<dyn Operation>) -> Taken {
        if !self.any() {
            return Taken::Not(operation);
        }
        let mut active = self.lock();
        if let Some(capture) = active.of_lane(lane) {
            return Taken::Captured(capture.add(lane, operation));
        }
        match active.forbid_implicit(lane) {
            Err(code) => Taken::Captured(Err(code)),
            Ok(()) => Taken::Not(operation),
        }
    }

    /// True if a stream is capturing.
    pub(crate) fn has(&self, lane: StreamKey) -> bool {
        self.any() && self.lock().of_lane(lane).is_some()
    }

    /// Fails for a call that queries a stream or waits for it: a capturing one never gets there, the legacy stream
    /// waits for those that capture, and with others it is [unsafe](Self::forbid_unsafe). Ends those captures.
    pub(crate) fn forbid_wait(&self, lane: StreamKey) -> Answer {
        self.forbid_captured(lane)?;
        self.forbid_unsafe()
    }

    /// Fails for a call that a stream has to run outside of captures: not if it is capturing, nor on the legacy stream beside
    /// one that keeps order with it. Ends those captures.
    pub(crate) fn forbid_captured(&self, lane: StreamKey) -> Answer {
        if !self.any() {
            return Ok(());
        }
        let mut active = self.lock();
        if let Some(capture) = active.of_lane(lane) {
            return capture.fail(UNSUPPORTED);
        }
        active.forbid_implicit(lane)
    }

    /// Fails for a call that waits for a whole context if something in it is capturing, and ends those captures.
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

    /// Fails for a call that may synchronize with work that a capture has not run, if the capture's mode forbids such
    /// calls to this thread, and ends those captures.
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

    /// Fails for a call that queries an event recorded in a capturing stream, which ends the capture.
    pub(crate) fn forbid_point(&self, point: &CapturedPoint) -> Answer {
        let mut active = self.lock();
        let capture = active.captures.get_mut(point.capture);
        capture.ok_or(INVALID_VALUE)?.fail(CUresult::CUDA_ERROR_CAPTURED_EVENT)
    }

    /// The point that an event recorded now in this stream marks, if the stream is capturing.
    pub(crate) fn point(&self, lane: StreamKey) -> Option<CapturedPoint> {
        if !self.any() {
            return None;
        }
        let mut active = self.lock();
        let capture = active.of_lane(lane)?;
        Some(CapturedPoint { capture: capture.id, nodes: capture.tails.get(&lane)?.nodes.clone() })
    }

    /// Lets a stream wait for a captured point, which makes it part of that capture. Without a
    /// point, fails if the stream is capturing: events outside of the capture cannot be waited for.
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

    /// Begins a capture; into a graph that existed before, behind the nodes in `given`.
    pub(crate) fn begin(
        &self,
        lane: StreamKey,
        mode: CUstreamCaptureMode,
        given: Option<Vec<usize>>,
        graph: impl FnOnce() -> Box<dyn Target>,
    ) -> Answer {
        ensure(mode.name().is_some(), INVALID_VALUE)?;
        ensure(lane.can_be_captured(), UNSUPPORTED)?;
        let mut active = self.lock();
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

    /// Ends the capture that began in a stream; returns the handle of its graph.
    pub(crate) fn end(&self, lane: StreamKey) -> Answer<usize> {
        let mut active = self.lock();
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

    /// Ends the captures of a context that goes.
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
    /// The capture that a stream takes part in.
    fn of_lane(&mut self, lane: StreamKey) -> Option<&mut Capture> {
        self.captures.get_mut(*self.lanes.get(&lane)?)
    }

    /// Notes that a stream takes part in a capture.
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

    /// The legacy stream waits for blocking streams, which a capture of one cannot express: fails, and ends it.
    fn forbid_implicit(&mut self, lane: StreamKey) -> Answer {
        if lane.stream != StreamKey::LEGACY {
            return Ok(());
        }
        let waiting = self.blocking.range(StreamKey::lanes_of(lane.context, None)).next().copied();
        let capture = waiting.and_then(|lane| self.of_lane(lane));
        capture.map_or(Ok(()), |capture| capture.fail(IMPLICIT))
    }
}

impl Capture {
    /// True if it forbids some calls, and has to end on the thread where it began.
    fn is_strict(&self) -> bool {
        self.mode != CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED
    }

    /// Ends the capture without a graph.
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

    /// True if the origin waits, in the end, for everything the other streams did.
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
    /// Mode that decides which calls a capture forbids to this thread; kept for the client to exchange.
    static MODE: Cell<CUstreamCaptureMode> =
        const { Cell::new(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL) };
}

/// Sets the mode that decides which calls a capture forbids to this thread; returns the previous one.
pub(crate) fn exchange_mode(mode: CUstreamCaptureMode) -> CUstreamCaptureMode {
    MODE.replace(mode)
}
