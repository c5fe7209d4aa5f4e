//! Streams: created ones, and the default ones.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cuprum_sys::*;

use crate::report::LeakKind;

use crate::driver::answer::{Answer, INVALID_HANDLE, ensure};
use crate::driver::call::{Call, Kind, Leaked, Table};
use crate::driver::context::{Context, GreenPart, current_part};
use crate::driver::handle::Handle;
use crate::driver::state::{Operation, StreamKey, Taken, Ticket, captures, scheduler};

use super::attributes::Attributes;

/// The range of priorities. Lower numbers run first.
pub(crate) const LEAST_PRIORITY: i32 = 0;
pub(super) const GREATEST_PRIORITY: i32 = -5;

pub(super) static STREAMS: Table<Stream> = Table::new(Kind::Stream)
    .owned_by(|stream: &Stream| stream.context.handle)
    .leak(LeakKind::Stream, |_, _| Leaked::Yes);

#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) handle: usize,
    pub(crate) context: Arc<Context>,
    pub(crate) flags: u32,
    pub(crate) priority: i32,
    /// The context of the green context in which it was created.
    pub(super) part: Option<Arc<Context>>,
    pub(super) attributes: Attributes,
}

/// A stream that a call refers to: created, or a default stream.
#[derive(Debug, Clone)]
pub(crate) enum StreamRef {
    Created(Arc<Stream>),
    /// The legacy default stream of the context, or of a part of a device.
    Legacy(Arc<Context>, Option<Arc<Context>>),
    PerThread(Arc<Context>),
}

/// The ticket of a captured operation, which is never pending.
const CAPTURED: Ticket = 0;

/// Distinguishes the lanes of per-thread streams from lanes whose number is a handle.
const PER_THREAD_LANE: u64 = 1 << 63;

/// Returns the number of the calling thread, which no other thread ever gets.
fn thread_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    thread_local! {
        static NUMBER: u64 = NEXT.fetch_add(1, Ordering::Relaxed);
    }
    // While the thread ends, each call gets a new stream: order only matters within one call then.
    NUMBER.try_with(|&number| number).unwrap_or_else(|_| NEXT.fetch_add(1, Ordering::Relaxed))
}

pub(super) const NON_BLOCKING: u32 = CUstream_flags::CU_STREAM_NON_BLOCKING.0;

impl StreamRef {
    pub(crate) fn context(&self) -> &Arc<Context> {
        match self {
            Self::Created(stream) => &stream.context,
            Self::Legacy(context, _) | Self::PerThread(context) => context,
        }
    }

    pub(crate) fn lane(&self) -> StreamKey {
        let (stream, blocking) = match self {
            Self::Created(stream) => (stream.handle as u64, stream.flags & NON_BLOCKING == 0),
            Self::Legacy(..) => (StreamKey::LEGACY, false),
            Self::PerThread(..) => (PER_THREAD_LANE | thread_number(), true),
        };
        StreamKey { context: self.context().handle, green: self.green().unwrap_or(0), stream, blocking }
    }

    /// Queues an operation. If the stream is capturing, its graph takes the operation instead.
    pub(crate) fn push(&self, operation: impl Operation) -> Answer<Ticket> {
        self.push_boxed(&[], Box::new(operation))
    }

    /// Queues an operation that also waits for others.
    pub(crate) fn push_after(&self, after: &[Ticket], operation: impl Operation) -> Answer<Ticket> {
        self.push_boxed(after, Box::new(operation))
    }

    fn push_boxed(&self, after: &[Ticket], operation: Box<dyn Operation>) -> Answer<Ticket> {
        if let (Some(journal), Self::Created(stream)) = (scheduler().journal(), self) {
            journal.name(self.lane(), STREAMS.number(stream.handle));
        }
        match captures().take(self.lane(), operation) {
            Taken::Captured(answer) => answer.map(|()| CAPTURED),
            Taken::Not(operation) => {
                Ok(scheduler().issue(&self.context().health, self.lane(), after, operation))
            }
        }
    }

    /// Queues an operation and waits for it. Returns the context's sticky error.
    pub(crate) fn push_and_wait(&self, operation: impl Operation) -> Answer {
        let ticket = self.push(operation)?;
        scheduler().wait(ticket);
        self.context().check()
    }

    /// Queues an operation for which the host does not wait on hardware. In the eager mode it has
    /// finished on return, and the context's sticky error is returned.
    pub(crate) fn push_unawaited(&self, operation: impl Operation) -> Answer {
        let ticket = self.push(operation)?;
        if !scheduler().is_eager() {
            return Ok(());
        }
        scheduler().wait_unseen(ticket);
        self.context().check()
    }

    /// Waits for the queued operations. Returns the context's sticky error.
    pub(crate) fn wait(&self) -> Answer {
        scheduler().wait_lane(self.lane());
        self.context().check()
    }

    /// Fails if a capture forbids queries of the stream and waits; see [`Captures::forbid_wait`].
    ///
    /// [`Captures::forbid_wait`]: crate::driver::state::capture::Captures::forbid_wait
    pub(super) fn forbid_capture(&self) -> Answer {
        captures().forbid_wait(self.lane())
    }

    pub(crate) fn flags(&self) -> u32 {
        match self {
            Self::Created(stream) => stream.flags,
            Self::Legacy(_, part) => part.as_ref().map_or(0, |_| NON_BLOCKING),
            Self::PerThread(_) => 0,
        }
    }

    pub(crate) fn part(&self) -> Option<&Arc<Context>> {
        match self {
            Self::Created(stream) => stream.part.as_ref(),
            Self::Legacy(_, part) => part.as_ref(),
            Self::PerThread(_) => None,
        }
    }

    pub(crate) fn green(&self) -> Option<usize> {
        self.part()?.part().map(|part: &GreenPart| part.green)
    }

    pub(crate) fn priority(&self) -> i32 {
        match self {
            Self::Created(stream) => stream.attributes.priority().unwrap_or(stream.priority),
            Self::Legacy(..) | Self::PerThread(..) => LEAST_PRIORITY,
        }
    }
}

impl Call {
    /// Returns a handle's stream in this call. Fails if its context has ended or a sticky error,
    /// and if captures [forbid](Captures::admit) the call.
    ///
    /// [`Captures::admit`]: crate::driver::state::capture::Captures::admit
    pub(crate) fn stream(&self, handle: CUstream) -> Answer<StreamRef> {
        let stream = self.stream_of_capture(handle)?;
        captures().admit(stream.lane())?;
        Ok(stream)
    }

    /// Like `stream`, for a call that the stream must run outside of captures: it fails if the
    /// stream is capturing, and ends the capture.
    pub(crate) fn stream_outside_captures(&self, handle: CUstream) -> Answer<StreamRef> {
        let stream = self.stream_of_capture(handle)?;
        captures().forbid_captured(stream.lane())?;
        Ok(stream)
    }

    /// Like `stream`, for a call that begins, ends or describes a capture: no capture forbids it.
    pub(crate) fn stream_of_capture(&self, handle: CUstream) -> Answer<StreamRef> {
        let stream = self.stream_to_wait_for(handle)?;
        stream.context().check()?;
        Ok(stream)
    }

    /// Like `stream`, for any state of the context; see [`Call::context_to_wait_for`].
    pub(super) fn stream_to_wait_for(&self, handle: CUstream) -> Answer<StreamRef> {
        let is = |known: CUstream| handle == known;
        if is(CU_STREAM_PER_THREAD) || handle.is_null() && self.per_thread {
            // A green context has no per-thread stream.
            ensure(current_part().is_none(), INVALID_HANDLE)?;
            return Ok(StreamRef::PerThread(self.context_to_wait_for()?));
        }
        if handle.is_null() || is(CU_STREAM_LEGACY) {
            return Ok(StreamRef::Legacy(self.context_to_wait_for()?, current_part()));
        }
        let stream = STREAMS.get(handle.addr()).ok_or(INVALID_HANDLE)?;
        if let Some(part) = &stream.part {
            part.check()?;
        }
        Ok(StreamRef::Created(stream))
    }

    /// Returns the default stream, for calls without a stream parameter.
    pub(crate) fn default_stream(&self) -> Answer<StreamRef> {
        self.stream(CUstream::null())
    }
}

pub(crate) fn create_in(
    context: Arc<Context>,
    flags: u32,
    priority: i32,
    part: Option<Arc<Context>>,
) -> usize {
    let priority = priority.clamp(GREATEST_PRIORITY, LEAST_PRIORITY);
    // No stream of a green context synchronizes with its default stream.
    let flags = if part.is_some() { flags | NON_BLOCKING } else { flags };
    let attributes = Attributes::default();
    let make = |handle| Stream { handle, context, flags, priority, part, attributes };
    STREAMS.insert_with(make).0
}
