//! Work that calls queued on streams, and calls that waited for it.
//!
//! A trace of calls does not see the device. Two facts are known of a piece of work: it did not
//! begin before its call, and it was over when a wait for it returned. Both are reported as such.

use std::collections::HashMap;

use cuprum_sys::{FnId, StreamMode};

use crate::read::{Call, Recording};
use crate::roles::{self, Queues};

/// Work on streams, and waits.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) streams: Vec<Stream>,
    /// In the order in which the calls that queued them returned.
    pub(crate) pieces: Vec<Piece>,
    /// By place of the call: the last piece that a call waited for.
    pub(crate) waits: HashMap<usize, usize>,
}

/// A stream.
#[derive(Debug)]
pub(crate) struct Stream {
    /// Place of its process in the list.
    pub(crate) process: usize,
    pub(crate) name: String,
    context: Option<u64>,
    default: Default,
    /// True if work of the legacy default stream and its own wait for each other.
    blocking: bool,
    capturing: bool,
    /// Pieces that are not known to be over, in order.
    pending: Vec<usize>,
}

/// Kind of default stream, which exists from the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Default {
    No,
    Legacy,
    OfThread,
}

/// A piece of work on a stream.
#[derive(Debug)]
pub(crate) struct Piece {
    pub(crate) stream: usize,
    /// Place of the call that queued it.
    pub(crate) call: usize,
    pub(crate) what: Queues,
    pub(crate) label: String,
    /// Time when it was known to be over; `None` without a wait for it.
    pub(crate) over: Option<u64>,
    /// Measured time of the device's work on it, if any.
    pub(crate) measured: Option<(u64, u64)>,
    /// True if it went into a graph that was being captured, and was not done.
    pub(crate) captured: bool,
}

/// Streams by process, context where they belong to one, thread where they do, and handle.
type StreamKey = (usize, u64, u32, u64);

/// A recording that is being followed.
struct Follower<'a> {
    recording: &'a Recording,
    work: Work,
    streams: HashMap<StreamKey, usize>,
    /// Numbers of streams in each process.
    numbers: HashMap<usize, usize>,
    /// Kernels by process and handle.
    kernels: HashMap<(usize, u64), String>,
    /// For events, by process and handle: the stream, and how many of its pieces were queued
    /// before.
    events: HashMap<(usize, u64), (usize, usize)>,
}

impl Work {
    /// Follows a recording.
    pub(crate) fn of(recording: &Recording) -> Self {
        let mut follower = Follower {
            recording,
            work: Self { streams: Vec::new(), pieces: Vec::new(), waits: HashMap::new() },
            streams: HashMap::new(),
            numbers: HashMap::new(),
            kernels: HashMap::new(),
            events: HashMap::new(),
        };
        for (place, process) in recording.processes.iter().enumerate() {
            for (&handle, name) in &process.kernels {
                follower.kernels.insert((place, handle), name.clone());
            }
        }
        // The effect of a call is known when it has returned.
        let mut order: Vec<usize> = (0..recording.calls.len()).collect();
        order.sort_by_key(|&place| recording.calls[place].end);
        for place in order {
            let call = &recording.calls[place];
            if call.succeeded() {
                follower.call(place, call);
            }
        }
        follower.work
    }
}

impl Follower<'_> {
    fn call(&mut self, place: usize, call: &Call) {
        let process = self.recording.process_of(call);
        match call.function {
            FnId::cuModuleGetFunction | FnId::cuLibraryGetKernel => {
                if let (Some(handle), Some(name)) = (call.gave, self.recording.text(call, 2)) {
                    self.kernels.insert((process, handle), name);
                }
            }
            FnId::cuKernelGetFunction => {
                let kernel = self.recording.argument_of_type(call, "CUkernel");
                let name = kernel.and_then(|kernel| self.kernels.get(&(process, kernel)).cloned());
                if let (Some(handle), Some(name)) = (call.gave, name) {
                    self.kernels.insert((process, handle), name);
                }
            }
            FnId::cuStreamCreate | FnId::cuStreamCreateWithPriority | FnId::cuGreenCtxStreamCreate => {
                self.created(process, call);
            }
            FnId::cuStreamDestroy | FnId::cuStreamDestroy_v2 => self.destroyed(process, call),
            FnId::cuEventRecord | FnId::cuEventRecordWithFlags => {
                let stream = self.stream_of(call);
                if let Some(event) = self.recording.argument_of_type(call, "CUevent") {
                    self.events.insert((process, event), (stream, self.work.pieces.len()));
                }
            }
            FnId::cuStreamWaitEvent => {}
            function if function.to_string().starts_with("cuStreamBeginCapture") => {
                let stream = self.stream_of(call);
                self.work.streams[stream].capturing = true;
            }
            FnId::cuStreamEndCapture => {
                let stream = self.stream_of(call);
                self.work.streams[stream].capturing = false;
            }
            function => {
                if let Some(what) = roles::queues(function) {
                    self.queued(place, call, what);
                }
                if roles::waits(function) {
                    self.waited(place, call);
                }
            }
        }
    }

    /// A stream that a call made. A handle that was used before is another stream.
    fn created(&mut self, process: usize, call: &Call) {
        const NON_BLOCKING: u64 = 1;
        let Some(handle) = call.gave else { return };
        let flags = self.recording.argument(call, "Flags").or_else(|| self.recording.argument(call, "flags"));
        let blocking = flags.is_none_or(|flags| flags & NON_BLOCKING == 0);
        let context = self.recording.context(call);
        let place = self.new_stream(process, None, Default::No, context);
        self.work.streams[place].blocking = blocking;
        self.streams.insert((process, 0, 0, handle), place);
    }

    fn destroyed(&mut self, process: usize, call: &Call) {
        if let Some(handle) = self.recording.argument_of_type(call, "CUstream") {
            self.streams.remove(&(process, 0, 0, handle));
        }
    }

    fn new_stream(
        &mut self,
        process: usize,
        name: Option<String>,
        default: Default,
        context: Option<u64>,
    ) -> usize {
        let name = name.unwrap_or_else(|| {
            let number = self.numbers.entry(process).or_insert(0);
            *number += 1;
            format!("stream {number}")
        });
        let (blocking, capturing, pending) = (true, false, Vec::new());
        self.work.streams.push(Stream { process, name, context, default, blocking, capturing, pending });
        self.work.streams.len() - 1
    }

    /// The stream of a call: the one that it names, or a default stream.
    fn stream_of(&mut self, call: &Call) -> usize {
        const LEGACY: u64 = 1;
        const PER_THREAD: u64 = 2;
        let process = self.recording.process_of(call);
        let named = self.recording.argument_of_type(call, "CUstream");
        let handle = self.recording.launch(call).map(|launch| launch[7]).or(named).unwrap_or(0);
        let handle = match (handle, call.mode) {
            (0, StreamMode::Legacy) => LEGACY,
            (0, StreamMode::PerThread) => PER_THREAD,
            (handle, _) => handle,
        };
        let context = self.recording.context(call);
        let key = match handle {
            LEGACY => (process, context.unwrap_or(0), 0, LEGACY),
            PER_THREAD => (process, context.unwrap_or(0), call.thread + 1, PER_THREAD),
            handle => (process, 0, 0, handle),
        };
        if let Some(&place) = self.streams.get(&key) {
            return place;
        }
        let others = self.streams.keys().filter(|other| (other.0, other.3) == (process, handle)).count();
        let more = if others == 0 { String::new() } else { format!(" {}", others + 1) };
        let (name, default) = match handle {
            LEGACY => (Some(format!("default stream{more}")), Default::Legacy),
            PER_THREAD => {
                let thread = self.recording.threads[call.thread as usize].number;
                (Some(format!("default stream of thread {thread}")), Default::OfThread)
            }
            // It was created by an untraced call.
            _ => (None, Default::No),
        };
        let place = self.new_stream(process, name, default, context);
        self.streams.insert(key, place);
        place
    }

    fn queued(&mut self, place: usize, call: &Call, what: Queues) {
        let stream = self.stream_of(call);
        let label = self.label(call, what);
        let captured = self.work.streams[stream].capturing;
        let piece = self.work.pieces.len();
        let measured = self.recording.measured.get(&(call.thread, call.start)).copied();
        self.work.pieces.push(Piece { stream, call: place, what, label, over: None, measured, captured });
        if !captured {
            self.work.streams[stream].pending.push(piece);
        }
    }

    /// The label of a piece of work.
    fn label(&self, call: &Call, what: Queues) -> String {
        let process = self.recording.process_of(call);
        match what {
            Queues::Kernel => {
                let handle = self.recording.argument_of_type(call, "CUfunction");
                let name = handle.and_then(|handle| self.kernels.get(&(process, handle)));
                name.cloned().unwrap_or_else(|| "kernel without a known name".to_owned())
            }
            Queues::Copy(direction) => roles::copy_label(self.recording, call, direction),
            Queues::Fill => "fill".to_owned(),
            Queues::Other(label) => label.to_owned(),
        }
    }

    /// A call that returned when work was over.
    fn waited(&mut self, place: usize, call: &Call) {
        let process = self.recording.process_of(call);
        let mut covered: Vec<(usize, usize)> = Vec::new();
        if let Some(event) = self.recording.argument_of_type(call, "CUevent") {
            covered.extend(self.events.get(&(process, event)).copied());
        } else if roles::waits_for_context(call.function) {
            let context = self.recording.argument_of_type(call, "CUcontext").or(self.recording.context(call));
            let streams = self.work.streams.iter().enumerate();
            let of_context = streams.filter(|(_, stream)| {
                stream.process == process && (stream.context.is_none() || stream.context == context)
            });
            covered.extend(of_context.map(|(stream, _)| (stream, usize::MAX)));
        } else {
            let stream = self.stream_of(call);
            covered.push((stream, usize::MAX));
            if self.work.streams[stream].default == Default::Legacy {
                let context = self.work.streams[stream].context;
                let blocking = self.work.streams.iter().enumerate().filter(|(_, stream)| {
                    stream.process == process && stream.blocking && stream.context == context
                });
                covered.extend(blocking.map(|(stream, _)| (stream, usize::MAX)));
            }
        }
        let mut last = None;
        for (stream, before) in covered {
            last = last.max(self.over(stream, before, call));
        }
        // A query with a positive answer did not wait.
        if let (Some(piece), true) = (last, roles::blocks(call.function)) {
            self.work.waits.insert(place, piece);
        }
    }

    /// Pieces of a stream that were queued before a wait began are over when it returns. Returns
    /// the last of them.
    fn over(&mut self, stream: usize, before: usize, wait: &Call) -> Option<usize> {
        let mut last = None;
        let mut pending = std::mem::take(&mut self.work.streams[stream].pending);
        pending.retain(|&piece| {
            let queued = &self.recording.calls[self.work.pieces[piece].call];
            // A copy that waits for itself began with its wait.
            let over = piece < before && (queued.end <= wait.start || queued.start == wait.start);
            if over {
                self.work.pieces[piece].over = Some(wait.end);
                // The work was there before the wait, unlike the work that a copy queued for
                // itself.
                if queued.end <= wait.start {
                    last = last.max(Some(piece));
                }
            }
            !over
        });
        self.work.streams[stream].pending = pending;
        last
    }
}
