//! Steps of a program.

use std::fmt;

use cuprum::stream::StreamKind;

/// Buffers, streams, events, threads and contexts that a program has at most.
pub(crate) const SLOTS: usize = 6;
pub(crate) const STREAMS: usize = 4;
pub(crate) const EVENTS: usize = 2;
pub(crate) const THREADS: usize = 3;
pub(crate) const CONTEXTS: usize = 2;

/// Some elements of a buffer.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Part {
    pub(crate) slot: usize,
    pub(crate) start: usize,
    pub(crate) len: usize,
}

/// A buffer that is lent: all of it (half 0), one half (0 or 1), or all to be read by one stream
/// (`SHARED` and the stream's number).
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Loan {
    pub(crate) slot: usize,
    pub(crate) half: usize,
}

/// Value of `half` for a loan that the first stream reads.
pub(crate) const SHARED: usize = 2;

/// Origin of a buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Make {
    Alloc,
    Zeroed,
    FromSlice,
}

/// One stream of a program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Default,
    New(StreamKind),
}

/// Action of a step. Numbers are slots of tables.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Act {
    /// Makes a buffer, in place of the one in its slot, which is dropped.
    Make {
        slot: usize,
        len: usize,
        how: Make,
    },
    Fill(Part),
    SetBytes(Part),
    CopyFromHost(Part),
    ToVec(Part),
    CopyToHost(Part),
    /// To the first from the second.
    Copy(Part, Part),
    Drop {
        slot: usize,
    },
    Close {
        slot: usize,
    },
    /// The steps up to the matching `End` are inside of it. The last three take the number of the
    /// context or stream.
    Enter(usize),
    Push(usize),
    Scope(usize),
    /// A scope of all streams that there are.
    MultiScope,
    /// Leaves the innermost `Enter`, `Push` or `Scope`, the last one by a panic if asked to.
    End {
        panic: bool,
    },
    /// The stream counts in a scope of several.
    Lend {
        slot: usize,
        halves: bool,
        stream: usize,
    },
    LendShared {
        slot: usize,
        stream: usize,
    },
    LentFill(Loan),
    LentSetBytes(Loan),
    LentFromHost(Loan),
    LentToHost(Loan),
    /// To page-locked memory, which is looked at when the scope has ended.
    LentToPinned(Loan),
    /// To the first from the second.
    LentCopy(Loan, Loan),
    MakeStream(usize, Kind),
    DropStream(usize),
    WaitForStream(usize),
    MakeEvent(usize),
    DropEvent(usize),
    /// Records an event in a stream.
    Record(usize, usize),
    /// A stream waits for an event.
    StreamWaits(usize, usize),
    WaitForEvent(usize),
    WaitForContext,
    /// Asks whether a stream or an event is done.
    AskStream(usize),
    AskEvent(usize),
    /// Makes a context in place of another, which lives on with the objects made in it.
    MakeContext(usize),
    /// The thread ends, and another takes its place.
    Restart,
    /// Sets bytes by a raw call on a non-blocking stream without a wait, which no program in safe
    /// code can do.
    Mistake(Part, usize),
}

/// One step of one thread.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Step {
    pub(crate) thread: usize,
    /// True if steps of other threads on other objects may begin before this one is done.
    pub(crate) beside: bool,
    pub(crate) act: Act,
}

impl Act {
    /// Kinds of steps, without mistakes.
    pub(crate) const KINDS: usize = 35;

    /// The objects that it uses, each a bit. Concurrent steps use disjoint sets.
    pub(crate) fn objects(self) -> u64 {
        let slot = |slot: usize| 1u64 << slot;
        let stream = |stream: usize| 1u64 << (SLOTS + stream);
        let event = |event: usize| 1u64 << (SLOTS + STREAMS + event);
        let context = |context: usize| 1u64 << (SLOTS + STREAMS + EVENTS + context);
        match self {
            Self::Make { slot: at, .. }
            | Self::Drop { slot: at }
            | Self::Close { slot: at }
            | Self::Lend { slot: at, .. }
            | Self::LendShared { slot: at, .. } => slot(at),
            Self::Fill(part)
            | Self::SetBytes(part)
            | Self::CopyFromHost(part)
            | Self::ToVec(part)
            | Self::CopyToHost(part) => slot(part.slot),
            Self::Copy(to, from) => slot(to.slot) | slot(from.slot),
            Self::LentFromHost(loan)
            | Self::LentToHost(loan)
            | Self::LentToPinned(loan)
            | Self::LentFill(loan)
            | Self::LentSetBytes(loan) => slot(loan.slot),
            Self::MultiScope => (0..STREAMS).fold(0, |all, on| all | stream(on)),
            Self::LentCopy(to, from) => slot(to.slot) | slot(from.slot),
            Self::Mistake(part, on) => slot(part.slot) | stream(on),
            Self::Scope(on)
            | Self::MakeStream(on, _)
            | Self::DropStream(on)
            | Self::WaitForStream(on)
            | Self::AskStream(on) => stream(on),
            Self::MakeEvent(at) | Self::DropEvent(at) | Self::WaitForEvent(at) | Self::AskEvent(at) => {
                event(at)
            }
            Self::Record(at, on) | Self::StreamWaits(on, at) => event(at) | stream(on),
            Self::Enter(of) | Self::Push(of) | Self::MakeContext(of) => context(of),
            Self::End { .. } | Self::WaitForContext | Self::Restart => 0,
        }
    }
}

impl fmt::Debug for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "buffer {} [{}..{}]", self.slot, self.start, self.start + self.len)
    }
}

impl fmt::Debug for Loan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "buffer {} half {}", self.slot, self.half)
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let beside = if self.beside { ", beside the next" } else { "" };
        write!(f, "thread {}: {:?}{beside}", self.thread, self.act)
    }
}
