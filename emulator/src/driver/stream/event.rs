//! Events.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cuprum_sys::*;

use crate::memory::{EventSlot, HandleError};
use crate::report::LeakKind;
use crate::settings::ApiCheck;

use crate::driver::answer::{Answer, INVALID_HANDLE, INVALID_VALUE, NOT_READY, ensure};
use crate::driver::call::{Call, Kind, Leaked, Out, Table, calls, demand};
use crate::driver::context::{Context, other_context};
use crate::driver::handle::Handle;
use crate::driver::memory::refused;
use crate::driver::state::{CapturedPoint, Operation, Ticket, Turn, captures, memory, scheduler};

static EVENTS: Table<Event> = Table::new(Kind::Event)
    .owned_by(|event: &Event| event.context.handle)
    .leak(LeakKind::Event, |_, _| Leaked::Yes);

#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) handle: usize,
    pub(crate) context: Arc<Context>,
    flags: u32,
    state: Mutex<State>,
    /// Its state in other processes, if it can be shared.
    shared: Option<Arc<EventSlot>>,
    /// True if another process created it.
    is_opened: bool,
}

#[derive(Debug, Default)]
struct State {
    recorded: Option<Ticket>,
    /// The point in a capture, if it was recorded in a capturing stream.
    captured: Option<CapturedPoint>,
    /// Time at which that operation ran; `None` while it is pending.
    reached: Option<(Ticket, Instant)>,
}

const DISABLE_TIMING: u32 = CUevent_flags::CU_EVENT_DISABLE_TIMING.0;
const INTERPROCESS: u32 = CUevent_flags::CU_EVENT_INTERPROCESS.0;
const KNOWN_FLAGS: u32 = CUevent_flags::CU_EVENT_BLOCKING_SYNC.0 | DISABLE_TIMING | INTERPROCESS;

impl Event {
    pub(crate) fn find(handle: CUevent) -> Answer<Arc<Self>> {
        EVENTS.get(handle.addr()).ok_or_else(|| missing(handle))
    }

    fn make(context: Arc<Context>, flags: u32, shared: Option<EventSlot>, is_opened: bool) -> CUevent {
        let (state, shared) = (Mutex::default(), shared.map(Arc::new));
        let (handle, _) =
            EVENTS.insert_with(|handle| Self { handle, context, flags, state, shared, is_opened });
        CUevent::from_addr(handle)
    }

    /// Returns the last record by any process, if processes share the event.
    pub(crate) fn shared_record(&self) -> Option<SharedRecord> {
        let slot = self.shared.as_ref()?;
        Some(SharedRecord { slot: Arc::clone(slot), record: slot.recorded() })
    }

    /// Waits until the last record is reached.
    pub(crate) fn wait(&self) {
        if let Some(ticket) = self.recorded() {
            scheduler().wait(ticket);
        }
        if let Some(record) = self.shared_record() {
            while !record.is_ready() {
                std::thread::sleep(POLL);
            }
        }
    }

    /// True if the last record has not been reached.
    fn is_pending(&self) -> bool {
        match self.shared_record() {
            Some(record) => !record.is_ready(),
            None => self.recorded().is_some_and(|ticket| scheduler().is_pending(ticket)),
        }
    }

    /// Stores the time at which the recording operation ran.
    pub(crate) fn stamp(&self, ticket: Ticket) {
        let mut state = self.state();
        if state.recorded.is_none_or(|newest| newest <= ticket) {
            state.reached = Some((ticket, Instant::now()));
        }
    }

    pub(crate) fn note_recorded(&self, ticket: Ticket) {
        let mut state = self.state();
        state.recorded = Some(ticket);
        state.captured = None;
    }

    /// Returns the point in a capture, if it was last recorded there.
    pub(crate) fn captured(&self) -> Option<CapturedPoint> {
        self.state().captured.clone()
    }

    pub(crate) fn recorded(&self) -> Option<Ticket> {
        self.state().recorded
    }

    /// Fails during a capture: an event recorded in a capture never happens, so it cannot be
    /// queried. A capture may also forbid queries of other events.
    fn forbid_capture(&self) -> Answer {
        match self.captured() {
            Some(point) => captures().forbid_point(&point),
            None => captures().forbid_unsafe(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fails for an event that has no time, whether reached or not.
    fn check_timed(&self) -> Answer {
        ensure(self.captured().is_none(), CUresult::CUDA_ERROR_CAPTURED_EVENT)?;
        ensure(self.flags & DISABLE_TIMING == 0 && self.recorded().is_some(), INVALID_HANDLE)
    }

    /// Returns the time at which the last record was reached.
    fn instant(&self) -> Answer<Instant> {
        let state = self.state();
        let recorded = state.recorded.ok_or(INVALID_HANDLE)?;
        match state.reached {
            Some((ticket, instant)) if ticket == recorded => Ok(instant),
            _ => Err(NOT_READY),
        }
    }
}

/// Interval at which a wait polls an event of another process.
const POLL: Duration = Duration::from_micros(100);

/// The record of an event, with its number if several processes share the event.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) event: Arc<Event>,
    shared: Option<SharedRecord>,
}

impl Record {
    pub(crate) fn new(event: Arc<Event>) -> Self {
        let shared =
            event.shared.as_ref().map(|slot| SharedRecord { slot: Arc::clone(slot), record: slot.record() });
        Self { event, shared }
    }
}

impl Operation for Record {
    fn is_awaited_outside(&self) -> bool {
        self.shared.is_some()
    }

    fn run(&self, turn: Turn<'_>) -> Answer {
        self.event.stamp(turn.ticket);
        Ok(())
    }
}

impl Drop for Record {
    /// It has run, was refused or was given up, so waits for it must end.
    fn drop(&mut self) {
        if let Some(shared) = &self.shared {
            shared.slot.reach(shared.record);
        }
    }
}

/// A record of an event by any process. As an operation, it waits for the record.
#[derive(Debug, Clone)]
pub(crate) struct SharedRecord {
    slot: Arc<EventSlot>,
    record: u64,
}

impl Operation for SharedRecord {
    fn is_ready(&self) -> bool {
        self.slot.is_reached(self.record)
    }

    fn run(&self, _turn: Turn<'_>) -> Answer {
        Ok(())
    }
}

/// Makes a graph wait for the event's record at the time of the launch. Streams do not need it.
#[derive(Debug)]
pub(crate) struct WaitFor(pub(crate) Arc<Event>);

impl Operation for WaitFor {
    fn run(&self, _turn: Turn<'_>) -> Answer {
        Ok(())
    }
}

/// Returns the error for a handle that is not an event. For a destroyed event it is hardware's.
fn missing(handle: CUevent) -> CUresult {
    if EVENTS.was_given(handle.addr()) { CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED } else { INVALID_HANDLE }
}

/// Destroys the handle, even if the context has a sticky error.
fn destroy(handle: CUevent) -> Answer {
    let removed = EVENTS.remove(handle.addr());
    removed.ok_or_else(|| missing(handle))?.context.check()
}

fn record(call: &Call, handle: CUevent, stream: CUstream, flags: u32) -> Answer {
    let stream = call.stream(stream)?;
    let event = Event::find(handle)?;
    ensure(flags <= CUevent_record_flags::CU_EVENT_RECORD_EXTERNAL.0, INVALID_VALUE)?;
    let (home, other) = (event.context.handle, stream.context().handle);
    demand(home == other, INVALID_HANDLE, ApiCheck::Certain, || {
        other_context(&format!("event #{}", EVENTS.number(handle.addr())), home, "the stream", other)
    })?;
    let external = flags == CUevent_record_flags::CU_EVENT_RECORD_EXTERNAL.0;
    ensure(!external || captures().has(stream.lane()), CUresult::CUDA_ERROR_ILLEGAL_STATE)?;
    if !external {
        if let Some(point) = captures().point(stream.lane()) {
            event.state().captured = Some(point);
            return Ok(());
        }
    }
    let ticket = stream.push(Record::new(Arc::clone(&event)))?;
    if ticket != 0 {
        event.note_recorded(ticket);
    }
    Ok(())
}

fn elapsed(out: Out<f32>, start: CUevent, end: CUevent) -> Answer {
    out.check()?;
    let start = Event::find(start)?;
    let end = Event::find(end)?;
    start.context.check()?;
    ensure(start.context.handle == end.context.handle, INVALID_HANDLE)?;
    start.check_timed()?;
    end.check_timed()?;
    let times = (start.instant()?, end.instant()?);
    [start, end].iter().filter_map(|event| event.recorded()).for_each(|ticket| scheduler().note_seen(ticket));
    let (start, end) = times;
    let forward = end.saturating_duration_since(start).as_secs_f64();
    let backward = start.saturating_duration_since(end).as_secs_f64();
    out.set(((forward - backward) * 1e3) as f32)
}

calls! {
    objects EVENTS;

    fn cuEventCreate(call, phEvent: Out<CUevent>, Flags: u32) {
        phEvent.check()?;
        let context = call.context()?;
        let timed_between_processes = Flags & (INTERPROCESS | DISABLE_TIMING) == INTERPROCESS;
        ensure(Flags & !KNOWN_FLAGS == 0 && !timed_between_processes, INVALID_VALUE)?;
        let shared = (Flags & INTERPROCESS != 0).then(|| memory().event()).flatten();
        phEvent.set(Event::make(context, Flags, shared, false))
    }

    fn cuIpcGetEventHandle(_call, pHandle: Out<CUipcEventHandle>, event: CUevent) {
        pHandle.check()?;
        let event = Event::find(event)?;
        event.context.check()?;
        ensure(event.flags & INTERPROCESS != 0 && !event.is_opened, INVALID_HANDLE)?;
        let slot = event.shared.as_ref().ok_or(refused(HandleError::Unsupported))?;
        pHandle.set(CUipcEventHandle { reserved: memory().export_event(slot).map_err(refused)? })
    }

    fn cuIpcOpenEventHandle(call, phEvent: Out<CUevent>, handle: CUipcEventHandle) {
        phEvent.check()?;
        let context = call.context()?;
        let slot = memory().open_event(&handle.reserved).map_err(|error| match error {
            HandleError::Invalid => CUresult::CUDA_ERROR_MAP_FAILED,
            other => refused(other),
        })?;
        phEvent.set(Event::make(context, INTERPROCESS | DISABLE_TIMING, Some(slot), true))
    }

    fn [cuEventDestroy, cuEventDestroy_v2](_call, hEvent: CUevent) {
        destroy(hEvent)
    }

    fn cuEventRecord(call, hEvent: CUevent, hStream: CUstream) {
        record(call, hEvent, hStream, 0)
    }

    fn cuEventRecordWithFlags(call, hEvent: CUevent, hStream: CUstream, flags: u32) {
        record(call, hEvent, hStream, flags)
    }

    fn cuEventQuery(_call, hEvent: CUevent) {
        let event = Event::find(hEvent)?;
        event.forbid_capture()?;
        event.context.check()?;
        ensure(!event.is_pending(), NOT_READY)?;
        event.recorded().into_iter().for_each(|ticket| scheduler().note_seen(ticket));
        Ok(())
    }

    fn cuEventSynchronize(_call, hEvent: CUevent) {
        let event = Event::find(hEvent)?;
        event.forbid_capture()?;
        event.wait();
        event.context.check()
    }

    fn [cuEventElapsedTime, cuEventElapsedTime_v2](_call, pMilliseconds: Out<f32>, hStart: CUevent, hEnd: CUevent) {
        elapsed(pMilliseconds, hStart, hEnd)
    }
}
