//! Streams.

use core::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cuprum_sys::*;

use super::call::{
    Answer, Call, INVALID_HANDLE, INVALID_VALUE, In, NOT_READY, Out, calls, ensure, put_handle,
};
use super::call_in_time::call_in_time;
use super::context::Context;
use super::event::Event;
use super::graph::capture::Taken;
use super::handle::Handle;
use super::operation::{HostCall, Operation, StreamCallback};
use super::schedule::{Lane, Ticket};
use super::state::emulator;

/// Priorities are numbers from least to greatest; a lower number goes first.
pub(super) const LEAST_PRIORITY: i32 = 0;
pub(super) const GREATEST_PRIORITY: i32 = -5;

/// A stream that a client created.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) handle: usize,
    pub(super) context: Arc<Context>,
    pub(super) flags: u32,
    pub(super) priority: i32,
    /// The green context it was made in.
    green: Option<usize>,
}

/// A stream as a call means it: created, or one of the default ones.
#[derive(Debug, Clone)]
pub(super) enum StreamRef {
    Created(Arc<Stream>),
    /// The context's legacy default stream.
    Legacy(Arc<Context>),
    /// The calling thread's default stream in the context.
    PerThread(Arc<Context>),
}

/// The ticket of what went into a graph: never pending.
const CAPTURED: Ticket = 0;

/// Marks the lanes of per-thread streams, next to those whose number is a handle.
const PER_THREAD_LANE: u64 = 1 << 63;

/// A number for the calling thread, never given to another.
fn thread_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    thread_local! {
        static NUMBER: u64 = NEXT.fetch_add(1, Ordering::Relaxed);
    }
    // While the thread ends, a stream of its own again, which is correct: order is kept only
    // within one call.
    NUMBER.try_with(|&number| number).unwrap_or_else(|_| NEXT.fetch_add(1, Ordering::Relaxed))
}

const NON_BLOCKING: u32 = CUstream_flags::CU_STREAM_NON_BLOCKING.0;

impl StreamRef {
    pub(super) fn context(&self) -> &Arc<Context> {
        match self {
            Self::Created(stream) => &stream.context,
            Self::Legacy(context) | Self::PerThread(context) => context,
        }
    }

    pub(super) fn lane(&self) -> Lane {
        let (stream, blocking) = match self {
            Self::Created(stream) => (stream.handle as u64, stream.flags & NON_BLOCKING == 0),
            Self::Legacy(_) => (Lane::LEGACY, false),
            Self::PerThread(_) => (PER_THREAD_LANE | thread_number(), true),
        };
        Lane { context: self.context().handle, stream, blocking }
    }

    /// Pushes an operation; a capturing stream takes it into its graph instead.
    pub(super) fn push(&self, operation: Operation) -> Answer<Ticket> {
        self.push_after(&[], operation)
    }

    /// Pushes an operation that waits for others too.
    pub(super) fn push_after(&self, after: &[Ticket], operation: Operation) -> Answer<Ticket> {
        let emulator = emulator();
        match emulator.captures.take(self.lane(), operation) {
            Taken::Captured(answer) => answer.map(|()| CAPTURED),
            Taken::Not(operation) => {
                Ok(emulator.scheduler.issue(self.context(), self.lane(), after, operation))
            }
        }
    }

    /// Pushes an operation and waits for it; answers the context's sticky error.
    pub(super) fn push_and_wait(&self, operation: Operation) -> Answer {
        let ticket = self.push(operation)?;
        emulator().scheduler.wait(ticket);
        self.context().check()
    }

    /// Waits for what was pushed; answers the context's sticky error.
    pub(super) fn wait(&self) -> Answer {
        emulator().scheduler.wait_lane(self.lane());
        self.context().check()
    }

    fn flags(&self) -> u32 {
        match self {
            Self::Created(stream) => stream.flags,
            Self::Legacy(_) | Self::PerThread(_) => 0,
        }
    }

    /// The green context that the stream belongs to.
    pub(super) fn green(&self) -> Option<usize> {
        match self {
            Self::Created(stream) => stream.green,
            Self::Legacy(_) | Self::PerThread(_) => None,
        }
    }

    fn priority(&self) -> i32 {
        match self {
            Self::Created(stream) => stream.priority,
            Self::Legacy(_) | Self::PerThread(_) => LEAST_PRIORITY,
        }
    }
}

impl Call {
    /// The stream that a handle means in this call. Its context is alive and not poisoned.
    pub(super) fn stream(&self, handle: CUstream) -> Answer<StreamRef> {
        let stream = self.stream_to_wait_for(handle)?;
        stream.context().check()?;
        Ok(stream)
    }

    /// As `stream`, whatever the state of its context; see [`Call::context_to_wait_for`].
    pub(super) fn stream_to_wait_for(&self, handle: CUstream) -> Answer<StreamRef> {
        let is = |known: CUstream| handle == known;
        if is(CU_STREAM_PER_THREAD) || handle.is_null() && self.per_thread {
            return Ok(StreamRef::PerThread(self.context_to_wait_for()?));
        }
        if handle.is_null() || is(CU_STREAM_LEGACY) {
            return Ok(StreamRef::Legacy(self.context_to_wait_for()?));
        }
        emulator().streams.get(handle.addr()).map(StreamRef::Created).ok_or(INVALID_HANDLE)
    }

    /// The default stream of calls that take none.
    pub(super) fn default_stream(&self) -> Answer<StreamRef> {
        self.stream(CUstream::null())
    }
}

fn create(call: &Call, out: Out<CUstream>, flags: u32, priority: i32) -> Answer {
    out.check()?;
    ensure(flags & !NON_BLOCKING == 0, INVALID_VALUE)?;
    put_handle(out, create_in(call.context()?, flags, priority, None))
}

pub(super) fn create_in(context: Arc<Context>, flags: u32, priority: i32, green: Option<usize>) -> usize {
    let priority = priority.clamp(GREATEST_PRIORITY, LEAST_PRIORITY);
    let make = |handle| Stream { handle, context, flags, priority, green };
    emulator().streams.insert_with(make).0
}

/// Records all work of a context so far as one event.
pub(super) fn record_context(context: Arc<Context>, event: CUevent) -> Answer {
    context.check()?;
    let event = Event::find(event)?;
    ensure(event.context.handle == context.handle, INVALID_HANDLE)?;
    emulator().scheduler.wait_context(context.handle);
    let ticket = StreamRef::Legacy(context).push(Operation::Record(Arc::clone(&event)))?;
    event.note_recorded(ticket);
    Ok(())
}

/// Makes all later work of a context wait for an event.
pub(super) fn make_context_wait(context: &Context, event: CUevent) -> Answer {
    context.check()?;
    if let Some(ticket) = Event::find(event)?.recorded() {
        emulator().scheduler.wait(ticket);
    }
    Ok(())
}

/// Destroys the handle at once, also where the context has a sticky error; what was pushed still runs.
fn destroy(handle: CUstream) -> Answer {
    let is_default = handle.is_null() || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD;
    ensure(!is_default, INVALID_HANDLE)?;
    let removed = emulator().streams.remove(handle.addr());
    removed.ok_or(INVALID_HANDLE)?.context.check()
}

calls! {
    fn cuStreamCreate(call, phStream: Out<CUstream>, Flags: u32) {
        create(call, phStream, Flags, LEAST_PRIORITY)
    }

    fn cuStreamCreateWithPriority(call, phStream: Out<CUstream>, flags: u32, priority: i32) {
        create(call, phStream, flags, priority)
    }

    fn cuStreamDestroy(_call, hStream: CUstream) {
        destroy(hStream)
    }

    fn cuStreamDestroy_v2(_call, hStream: CUstream) {
        destroy(hStream)
    }

    fn cuStreamGetPriority(call, hStream: CUstream, priority: Out<i32>) {
        priority.check()?;
        priority.set(call.stream(hStream)?.priority())
    }

    fn cuStreamGetFlags(call, hStream: CUstream, flags: Out<u32>) {
        flags.check()?;
        flags.set(call.stream(hStream)?.flags())
    }

    fn cuStreamGetId(call, hStream: CUstream, streamId: Out<u64>) {
        streamId.check()?;
        streamId.set(call.stream(hStream)?.lane().stream)
    }

    fn cuStreamGetDevice(call, hStream: CUstream, device: Out<i32>) {
        device.check()?;
        device.set(call.stream(hStream)?.context().device)
    }

    fn cuStreamGetCtx(call, hStream: CUstream, pctx: Out<CUcontext>) {
        put_handle(pctx, call.stream(hStream)?.context().handle)
    }

    fn cuStreamGetCtx_v2(
        call,
        hStream: CUstream,
        pCtx: Out<CUcontext>,
        pGreenCtx: Out<CUgreenCtx>,
    ) {
        let stream = call.stream(hStream)?;
        // One of both: the streams of a green context belong to no other.
        pGreenCtx.set_if_wanted(stream.green().map_or(CUgreenCtx::null(), CUgreenCtx::from_addr));
        put_handle(pCtx, stream.green().map_or(stream.context().handle, |_| 0))
    }

    fn cuStreamWaitEvent(call, hStream: CUstream, hEvent: CUevent, Flags: u32) {
        ensure(Flags <= CUevent_wait_flags::CU_EVENT_WAIT_EXTERNAL.0, INVALID_VALUE)?;
        let stream = call.stream(hStream)?;
        let event = Event::find(hEvent)?;
        if let Some(point) = event.captured() {
            return emulator().captures.join(stream.lane(), Some(&point));
        }
        emulator().captures.join(stream.lane(), None)?;
        // An event that was never recorded counts as complete.
        match event.recorded() {
            Some(ticket) => stream.push_after(&[ticket], Operation::Marker).map(drop),
            None => Ok(()),
        }
    }

    fn cuStreamAddCallback(
        call,
        hStream: CUstream,
        callback: CUstreamCallback,
        userData: *mut c_void,
        flags: u32,
    ) {
        ensure(callback.is_some() && flags == 0, INVALID_VALUE)?;
        let stream = call.stream(hStream)?;
        let callback = StreamCallback { function: callback, stream: hStream, data: userData };
        stream.push(Operation::Callback(callback)).map(call_in_time)
    }

    fn cuLaunchHostFunc(call, hStream: CUstream, fn_: CUhostFn, userData: *mut c_void) {
        ensure(fn_.is_some(), INVALID_VALUE)?;
        let stream = call.stream(hStream)?;
        stream.push(Operation::Host(HostCall { function: fn_, data: userData })).map(call_in_time)
    }

    fn cuLaunchHostFunc_v2(
        call,
        hStream: CUstream,
        fn_: CUhostFn,
        userData: *mut c_void,
        syncMode: u32,
    ) {
        ensure(fn_.is_some() && syncMode <= 1, INVALID_VALUE)?;
        let stream = call.stream(hStream)?;
        stream.push(Operation::Host(HostCall { function: fn_, data: userData })).map(call_in_time)
    }

    /// Managed memory is visible everywhere at all times here; only the arguments are checked.
    fn cuStreamAttachMemAsync(call, hStream: CUstream, dptr: CUdeviceptr, _length: usize, flags: u32) {
        ensure(matches!(flags, 1 | 2 | 4), INVALID_VALUE)?;
        call.stream(hStream)?;
        emulator().memory.find(dptr).map(drop).ok_or(INVALID_VALUE)
    }

    fn cuStreamQuery(call, hStream: CUstream) {
        let stream = call.stream(hStream)?;
        stream.forbid_capture()?;
        ensure(!emulator().scheduler.is_busy(stream.lane()), NOT_READY)
    }

    fn cuStreamSynchronize(call, hStream: CUstream) {
        let stream = call.stream_to_wait_for(hStream)?;
        stream.forbid_capture()?;
        stream.wait()
    }

    fn cuStreamCopyAttributes(call, dstStream: CUstream, srcStream: CUstream) {
        call.stream(srcStream)?;
        call.stream(dstStream).map(drop)
    }

    /// Attributes advise the hardware; all read as zero, but for the priority.
    fn cuStreamGetAttribute(
        call,
        hStream: CUstream,
        attr: CUlaunchAttributeID,
        value: Out<CUstreamAttrValue>,
    ) {
        value.check()?;
        ensure(attr.name().is_some(), INVALID_VALUE)?;
        let stream = call.stream(hStream)?;
        let mut found = CUstreamAttrValue::zeroed();
        if attr == CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PRIORITY {
            found.priority = stream.priority();
        }
        value.set(found)
    }

    fn cuStreamSetAttribute(
        call,
        hStream: CUstream,
        attr: CUlaunchAttributeID,
        value: In<CUstreamAttrValue>,
    ) {
        value.get()?;
        ensure(attr.name().is_some(), INVALID_VALUE)?;
        call.stream(hStream).map(drop)
    }

    fn cuCtxRecordEvent(_call, hCtx: CUcontext, hEvent: CUevent) {
        record_context(Context::find(hCtx)?, hEvent)
    }

    fn cuCtxWaitEvent(_call, hCtx: CUcontext, hEvent: CUevent) {
        make_context_wait(&*Context::find(hCtx)?, hEvent)
    }
}
