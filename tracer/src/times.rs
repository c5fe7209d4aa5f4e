//! Times of the device's work, measured on request with events around each call that queues work.
//!
//! It adds calls to the program's own: two events per piece of work, and queries of these events
//! whenever the program has waited. Work that is captured into graphs is left alone. The device's
//! clock is compared with the host's once per context, at its first work.

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use cuprum_sys::hook::Call;
use cuprum_sys::{
    CUevent, CUresult, CUstream, CUstreamCaptureMode, CUstreamCaptureStatus, FnId, Fns, StreamMode,
    environment,
};

use crate::driver::current_context;
use crate::format::kind;
use crate::segment::{self, Record};
use crate::{driver, os, roles, variables};

/// Milliseconds from the event that others are counted from, after which a later one takes its
/// place. A number of milliseconds has 24 bits: 4 s are exact to half a microsecond.
const LONG: f32 = 4000.0;
/// Number of pieces in flight after which finished ones are collected without a wait.
const MANY: usize = 512;

/// A piece of work between two events.
struct Piece {
    context: u64,
    before: CUevent,
    after: CUevent,
    thread: u32,
    /// Beginning of its call, which identifies the call together with its thread.
    call: u64,
}

/// The event of a context that others are counted from, and when it was on the host's clock.
struct Base {
    event: CUevent,
    time: f64,
}

#[derive(Default)]
struct Times {
    pieces: Vec<Piece>,
    bases: HashMap<u64, Base>,
    /// Events to be used again, by context.
    free: HashMap<u64, Vec<CUevent>>,
}

// SAFETY: events are used on any thread.
unsafe impl Send for Times {}

static TIMES: OnceLock<Mutex<Times>> = OnceLock::new();

/// The times, if they are requested. A forked child has no driver.
fn times() -> Option<std::sync::MutexGuard<'static, Times>> {
    static ASKED: OnceLock<bool> = OnceLock::new();
    let asked = *ASKED.get_or_init(|| environment::variable(variables::DEVICE_TIMES).is_some());
    if !asked || segment::is_forked() {
        return None;
    }
    Some(TIMES.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner))
}

/// The first event of a piece, before its call.
pub(crate) struct Begun {
    context: u64,
    before: CUevent,
    stream: CUstream,
}

/// Marks the beginning of a call's work, if times are requested.
pub(crate) fn begin(call: &Call<'_>, stream: u64, mode: StreamMode) -> Option<Begun> {
    roles::queues(call.function())?;
    let mut times = times()?;
    let stream = CUstream(std::ptr::with_exposed_provenance_mut(stream as usize));
    let fns = driver::functions(mode);
    let mut status = CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
    // SAFETY: the stream that the program is about to use, and a place for the answer.
    let result = unsafe { (fns.cuStreamIsCapturing)(stream, &mut status) };
    let captures = !matches!(result, CUresult::CUDA_SUCCESS | CUresult::UNRESOLVED);
    if captures || status != CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE {
        return None;
    }
    let _relaxed = Relaxed::new();
    let context = current_context();
    times.base(fns, context, stream)?;
    let before = times.event(fns, context)?;
    // SAFETY: an event and a stream of the current context.
    let result = unsafe { (fns.cuEventRecord)(before, stream) };
    (result == CUresult::CUDA_SUCCESS).then_some(Begun { context, before, stream })
}

/// Marks the end of a call's work.
pub(crate) fn end(begun: Begun, function: FnId, mode: StreamMode, call: u64) {
    let Some(mut times) = times() else { return };
    let _relaxed = Relaxed::new();
    let fns = driver::functions(mode);
    let Some(after) = times.event(fns, begun.context) else { return };
    // SAFETY: an event and a stream of the current context.
    let result = unsafe { (fns.cuEventRecord)(after, begun.stream) };
    if roles::blocks(function) {
        // The call has waited for its work, but not for the event.
        // SAFETY: the event that was recorded; an error shows again when the event is asked for its
        // time.
        let _ = unsafe { (fns.cuEventSynchronize)(after) };
    }
    if result == CUresult::CUDA_SUCCESS {
        let Begun { context, before, .. } = begun;
        let thread = segment::thread_number();
        times.pieces.push(Piece { context, before, after, thread, call });
        if times.pieces.len() % MANY == 0 {
            times.harvest();
        }
    }
}

/// Records the times of finished work, after a call that waited.
pub(crate) fn after_wait(function: FnId) {
    if !roles::waits(function) {
        return;
    }
    if let Some(mut times) = times() {
        let _relaxed = Relaxed::new();
        times.harvest();
    }
}

impl Times {
    /// Makes sure that a context has an event to count from.
    fn base(&mut self, fns: &Fns, context: u64, stream: CUstream) -> Option<()> {
        if self.bases.contains_key(&context) {
            return Some(());
        }
        let event = self.event(fns, context)?;
        // SAFETY: an event and a stream of the current context.
        let recorded = unsafe { (fns.cuEventRecord)(event, stream) };
        // SAFETY: the event that was recorded.
        let passed = unsafe { (fns.cuEventSynchronize)(event) };
        if (recorded, passed) != (CUresult::CUDA_SUCCESS, CUresult::CUDA_SUCCESS) {
            return None;
        }
        self.bases.insert(context, Base { event, time: os::now() as f64 });
        Some(())
    }

    /// An event of the current context.
    fn event(&mut self, fns: &Fns, context: u64) -> Option<CUevent> {
        if let Some(event) = self.free.get_mut(&context).and_then(Vec::pop) {
            return Some(event);
        }
        let mut event = CUevent::null();
        // SAFETY: a place for the answer.
        let result = unsafe { (fns.cuEventCreate)(&mut event, 0) };
        (result == CUresult::CUDA_SUCCESS).then_some(event)
    }

    /// Records the times of finished work, and forgets work that will never finish.
    fn harvest(&mut self) {
        let fns = driver::functions(StreamMode::Legacy);
        for piece in std::mem::take(&mut self.pieces) {
            // SAFETY: an event of ours. If its context is destroyed, the driver returns an error.
            match unsafe { (fns.cuEventQuery)(piece.after) } {
                CUresult::CUDA_SUCCESS => self.write(fns, piece),
                CUresult::CUDA_ERROR_NOT_READY => self.pieces.push(piece),
                _ => {
                    self.bases.remove(&piece.context);
                    self.free.remove(&piece.context);
                }
            }
        }
    }

    fn write(&mut self, fns: &Fns, piece: Piece) {
        let Some(base) = self.bases.get_mut(&piece.context) else { return };
        let free = self.free.entry(piece.context).or_default();
        let (start, time) = (elapsed(fns, base.event, piece.before), elapsed(fns, piece.before, piece.after));
        if let (Some(start), Some(time)) = (start, time) {
            let begin = base.time + f64::from(start) * 1e6;
            if let Some(mut record) = Record::new(kind::WORK) {
                record.push(piece.thread.into());
                record.push(piece.call);
                record.push(begin.max(0.0) as u64);
                record.push((begin + f64::from(time) * 1e6).max(0.0) as u64);
                record.finish();
            }
            if start > LONG {
                free.push(std::mem::replace(&mut base.event, piece.before));
                base.time = begin;
                free.push(piece.after);
                return;
            }
        }
        free.extend([piece.before, piece.after]);
    }
}

/// Milliseconds between two events that have passed.
fn elapsed(fns: &Fns, from: CUevent, to: CUevent) -> Option<f32> {
    let mut time = 0.0;
    let result = if driver::has(FnId::cuEventElapsedTime) {
        // SAFETY: two events with times, and a place for the answer.
        unsafe { (fns.cuEventElapsedTime)(&mut time, from, to) }
    } else {
        // SAFETY: likewise.
        unsafe { (fns.cuEventElapsedTime_v2)(&mut time, from, to) }
    };
    (result == CUresult::CUDA_SUCCESS).then_some(time)
}

/// Lets this thread make calls that a capture elsewhere would forbid; ends with it.
struct Relaxed(Option<CUstreamCaptureMode>);

impl Relaxed {
    fn new() -> Self {
        let mut mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        Self(exchange(&mut mode).then_some(mode))
    }
}

impl Drop for Relaxed {
    fn drop(&mut self) {
        if let Some(mode) = &mut self.0 {
            exchange(mode);
        }
    }
}

/// Exchanges this thread's mode. False on a driver that has none.
fn exchange(mode: &mut CUstreamCaptureMode) -> bool {
    let fns = driver::functions(StreamMode::Legacy);
    // SAFETY: a place for the old mode, which has the new one.
    unsafe { (fns.cuThreadExchangeStreamCaptureMode)(mode) == CUresult::CUDA_SUCCESS }
}
