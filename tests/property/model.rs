//! Contents of every buffer, according to the program's order.

use cuprum::stream::StreamKind;

use super::element::{Element, byte_of, uploaded};
use super::step::{Act, CONTEXTS, EVENTS, Kind, Loan, Make, Part, SHARED, SLOTS, STREAMS, Step, THREADS};

/// Scopes and tokens inside of each other on one thread.
const DEPTH: usize = 3;
/// Copies from the host, and to page-locked memory of it, in one scope.
pub(crate) const COPIES: usize = 12;

/// Contents of elements; `None` for those never written, nor read.
pub(crate) type Cells<T> = Vec<Option<T>>;

/// A buffer.
struct Memory<T> {
    cells: Cells<T>,
    context: usize,
    lent: Option<Lent>,
}

/// To which scope a buffer is lent.
#[derive(Clone, Copy)]
struct Lent {
    thread: usize,
    depth: usize,
    halves: bool,
    stream: usize,
    /// The streams that may read it, each a bit; 0 if one may write it.
    shared: usize,
}

#[derive(Clone, Copy)]
struct Stream {
    kind: Kind,
    context: usize,
}

/// Scopes and tokens that a thread is inside of.
#[derive(Clone, Copy)]
struct Frame {
    context: usize,
    scope: bool,
    /// The streams of a scope of several, each a bit.
    streams: Option<usize>,
    copies: usize,
}

/// All that a program has made so far.
pub(crate) struct Model<T> {
    slots: [Option<Memory<T>>; SLOTS],
    streams: [Option<Stream>; STREAMS],
    /// The context of each event.
    events: [Option<usize>; EVENTS],
    frames: [Vec<Frame>; THREADS],
    /// The context in each slot, and how many there have been.
    contexts: [usize; CONTEXTS],
    made: usize,
}

impl<T: Element> Model<T> {
    pub(crate) fn new() -> Self {
        Self {
            slots: std::array::from_fn(|_| None),
            streams: [None; STREAMS],
            events: [None; EVENTS],
            frames: std::array::from_fn(|_| Vec::new()),
            contexts: std::array::from_fn(|context| context),
            made: CONTEXTS,
        }
    }

    /// Depth of a thread in scopes and tokens.
    pub(crate) fn depth(&self, thread: usize) -> usize {
        self.frames[thread].len()
    }

    /// True if a thread is inside of a scope, and of nothing inside of that.
    pub(crate) fn in_scope(&self, thread: usize) -> bool {
        self.frames[thread].last().is_some_and(|top| top.scope)
    }

    /// The buffers that a thread can use, with their lengths.
    pub(crate) fn usable(&mut self, thread: usize) -> Vec<(usize, usize)> {
        let len = |slot: usize| self.slots[slot].as_ref().map_or(0, |memory| memory.cells.len());
        let all = (0..SLOTS).map(|slot| (slot, len(slot))).collect::<Vec<_>>();
        all.into_iter()
            .filter(|&(slot, len)| self.free(thread, Part { slot, start: 0, len }).is_some())
            .collect()
    }

    /// Loans to the scopes that a thread can use.
    pub(crate) fn loans(&mut self, thread: usize) -> Vec<Loan> {
        let halves = SHARED + STREAMS;
        let all = (0..halves * SLOTS).map(|at| Loan { slot: at / halves, half: at % halves });
        all.filter(|&loan| self.lent(thread, loan).is_some()).collect()
    }

    /// The streams that a thread can use.
    pub(crate) fn streams(&self, thread: usize) -> Vec<usize> {
        (0..STREAMS).filter(|&stream| self.here(thread, stream).is_some()).collect()
    }

    /// The slots without a buffer.
    pub(crate) fn empty(&self) -> Vec<usize> {
        (0..SLOTS).filter(|&slot| self.slots[slot].is_none()).collect()
    }

    /// The contents of a buffer.
    pub(crate) fn contents(&self, slot: usize) -> Option<Cells<T>> {
        self.slots[slot].as_ref().map(|memory| memory.cells.clone())
    }

    /// The objects that a step uses, including those that it returns.
    pub(crate) fn objects(&self, step: &Step) -> u64 {
        let ends = matches!(step.act, Act::End { .. });
        let returned = (0..SLOTS).filter(|&slot| ends && self.is_lent_to_top(slot, step.thread));
        returned.fold(step.act.objects(), |objects, slot| objects | 1 << slot)
    }

    /// Remembers the values read from elements that were never written: they must not change on
    /// their own.
    pub(crate) fn pin(&mut self, part: Part, read: &[T]) {
        let Some(memory) = &mut self.slots[part.slot] else { return };
        for (cell, &value) in memory.cells.iter_mut().skip(part.start).zip(read) {
            cell.get_or_insert(value);
        }
    }

    /// Does a step; `None` if it makes no sense here. Returns the expected elements if the step
    /// reads, and none otherwise.
    pub(crate) fn apply(&mut self, number: usize, step: &Step) -> Option<Cells<T>> {
        let thread = step.thread;
        match step.act {
            Act::Make { slot, len, how } => self.make(thread, slot, uploaded(number, len), how)?,
            Act::Fill(part) => self.free(thread, part)?.fill(Some(T::written(number, 0))),
            Act::SetBytes(part) => self.free(thread, part)?.fill(Some(T::of_byte(byte_of(number)))),
            Act::Mistake(part, stream) => {
                let on = self.streams[stream].filter(|on| on.context == self.context(thread))?;
                (on.kind == Kind::New(StreamKind::NonBlocking)).then_some(())?;
                self.free(thread, part)?.fill(Some(T::of_byte(byte_of(number))));
            }
            Act::CopyFromHost(part) => write(self.free(thread, part)?, uploaded(number, part.len)),
            Act::ToVec(part) | Act::CopyToHost(part) => return Some(self.free(thread, part)?.to_vec()),
            Act::Copy(to, from) => {
                let apart = to.slot != from.slot
                    || to.start + to.len <= from.start
                    || from.start + from.len <= to.start;
                (apart && to.len == from.len).then_some(())?;
                let read = self.free(thread, from)?.to_vec();
                self.free(thread, to)?.copy_from_slice(&read);
            }
            Act::Drop { slot } | Act::Close { slot } => {
                self.slots[slot].take_if(|memory| memory.lent.is_none())?;
            }
            Act::Enter(_) | Act::Push(_) | Act::Scope(_) | Act::MultiScope | Act::End { .. } => {
                self.frame(thread, step.act)?
            }
            Act::Lend { slot, halves, stream } => self.lend(thread, slot, halves, stream)?,
            Act::LendShared { slot, stream } => self.lend_shared(thread, slot, stream)?,
            Act::LentFill(loan) => self.writable(thread, loan)?.fill(Some(T::written(number, 0))),
            Act::LentSetBytes(loan) => self.writable(thread, loan)?.fill(Some(T::of_byte(byte_of(number)))),
            Act::LentFromHost(loan) => {
                self.writable(thread, loan)?;
                self.copy_more(loan)?;
                let cells = self.lent(thread, loan)?;
                write(cells, uploaded(number, cells.len()));
            }
            Act::LentToPinned(loan) => {
                let read = self.lent(thread, loan)?.to_vec();
                return self.copy_more(loan).map(|()| read);
            }
            Act::LentToHost(loan) => return Some(self.lent(thread, loan)?.to_vec()),
            Act::LentCopy(to, from) => {
                let read = self.lent(thread, from)?.to_vec();
                let one_scope = self.queue_of(to)? == self.queue_of(from)?;
                let target = self.writable(thread, to)?;
                (one_scope && target.len() == read.len()).then(|| target.copy_from_slice(&read))?;
            }
            Act::Restart => self.frames[thread].is_empty().then_some(())?,
            _ => self.queue(thread, step.act)?,
        }
        Some(Vec::new())
    }

    fn make(&mut self, thread: usize, slot: usize, uploaded: Vec<T>, how: Make) -> Option<()> {
        if self.slots[slot].as_ref().is_some_and(|memory| memory.lent.is_some()) {
            return None;
        }
        let cells = match how {
            Make::Alloc => vec![None; uploaded.len()],
            Make::Zeroed => vec![Some(T::of_byte(0)); uploaded.len()],
            Make::FromSlice => uploaded.into_iter().map(Some).collect(),
        };
        self.slots[slot] = Some(Memory { cells, context: self.context(thread), lent: None });
        Some(())
    }

    /// Enters and leaves scopes and tokens.
    fn frame(&mut self, thread: usize, act: Act) -> Option<()> {
        let top = self.frames[thread].last().copied();
        let in_scope = top.is_some_and(|top| top.scope);
        let (context, scope) = match act {
            Act::Enter(slot) => (self.contexts[slot], false),
            Act::Push(slot) if !in_scope => (self.contexts[slot], false),
            Act::Scope(stream) => (self.here(thread, stream)?.context, true),
            Act::MultiScope => (self.context(thread), true),
            Act::End { panic } if top.is_some() && (in_scope || !panic) => {
                let returned =
                    (0..SLOTS).filter(|&slot| self.is_lent_to_top(slot, thread)).collect::<Vec<_>>();
                for slot in returned {
                    self.slots[slot].as_mut()?.lent = None;
                }
                self.frames[thread].pop();
                return Some(());
            }
            _ => return None,
        };
        (self.frames[thread].len() < DEPTH).then_some(())?;
        let streams = self.streams(thread).into_iter().fold(0, |all, stream| all | 1 << stream);
        let streams = (act == Act::MultiScope).then_some(streams);
        self.frames[thread].push(Frame { context, scope, streams, copies: 0 });
        Some(())
    }

    fn lend(&mut self, thread: usize, slot: usize, halves: bool, stream: usize) -> Option<()> {
        let top = self.frames[thread].last().filter(|top| top.scope)?;
        top.streams.is_none_or(|streams| streams >> stream & 1 == 1).then_some(())?;
        let depth = self.frames[thread].len();
        let memory = self.slots[slot].as_mut().filter(|memory| memory.context == top.context)?;
        let lent = Lent { thread, depth, halves, stream, shared: 0 };
        memory.lent.is_none().then(|| memory.lent = Some(lent))
    }

    /// Lends a buffer to be read, once to each stream of a scope.
    fn lend_shared(&mut self, thread: usize, slot: usize, stream: usize) -> Option<()> {
        let lent = self.slots[slot].as_ref()?.lent;
        match lent.filter(|lent| lent.shared != 0) {
            None => self.lend(thread, slot, false, stream)?,
            Some(lent) => {
                let streams = self.frames[thread].last()?.streams?;
                let new = (streams & !lent.shared) >> stream & 1 == 1;
                (new && (lent.thread, lent.depth) == (thread, self.depth(thread))).then_some(())?;
            }
        }
        self.slots[slot].as_mut()?.lent.as_mut()?.shared |= 1 << stream;
        Some(())
    }

    /// The scope and the stream in it to which a loan belongs.
    fn queue_of(&self, loan: Loan) -> Option<(usize, usize)> {
        let lent = self.loan(loan)?;
        let several = self.frames[lent.thread][lent.depth - 1].streams.is_some();
        let stream = if loan.half < SHARED { lent.stream } else { loan.half - SHARED };
        Some((lent.depth, if several { stream } else { 0 }))
    }

    /// Elements lent to be written.
    fn writable(&mut self, thread: usize, loan: Loan) -> Option<&mut [Option<T>]> {
        if loan.half < SHARED { self.lent(thread, loan) } else { None }
    }

    /// Streams and events, which change no memory.
    fn queue(&mut self, thread: usize, act: Act) -> Option<()> {
        let context = self.context(thread);
        match act {
            Act::MakeStream(stream, kind) => self.streams[stream] = Some(Stream { kind, context }),
            Act::DropStream(stream) => drop(self.streams[stream].take()?),
            Act::WaitForStream(stream) | Act::AskStream(stream) => drop(self.here(thread, stream)?),
            Act::MakeEvent(event) => self.events[event] = Some(context),
            Act::DropEvent(event) => drop(self.events[event].take()?),
            Act::Record(event, stream) => {
                self.here(thread, stream)?;
                (self.events[event]? == context).then_some(())?;
            }
            Act::StreamWaits(stream, event) => {
                self.here(thread, stream)?;
                self.events[event]?;
            }
            Act::WaitForEvent(event) | Act::AskEvent(event) => drop(self.events[event]?),
            Act::WaitForContext => {}
            // All threads begin in the first.
            Act::MakeContext(slot) if slot > 0 => {
                self.contexts[slot] = self.made;
                self.made += 1;
            }
            _ => return None,
        }
        Some(())
    }

    /// The context that is current on a thread.
    fn context(&self, thread: usize) -> usize {
        self.frames[thread].last().map_or(0, |top| top.context)
    }

    /// A stream of the current context.
    fn here(&self, thread: usize, stream: usize) -> Option<Stream> {
        self.streams[stream].filter(|stream| stream.context == self.context(thread))
    }

    fn is_lent_to_top(&self, slot: usize, thread: usize) -> bool {
        let lent = self.slots[slot].as_ref().and_then(|memory| memory.lent);
        lent.is_some_and(|lent| (lent.thread, lent.depth) == (thread, self.depth(thread)))
    }

    /// Elements of a buffer of the current context that is not lent.
    fn free(&mut self, thread: usize, part: Part) -> Option<&mut [Option<T>]> {
        let context = self.context(thread);
        let memory = self.slots[part.slot].as_mut()?;
        (memory.context == context && memory.lent.is_none()).then_some(())?;
        memory.cells.get_mut(part.start..part.start + part.len)
    }

    fn loan(&self, loan: Loan) -> Option<Lent> {
        self.slots[loan.slot].as_ref()?.lent
    }

    /// Elements lent to a scope of the thread, whose token nothing covers.
    fn lent(&mut self, thread: usize, loan: Loan) -> Option<&mut [Option<T>]> {
        let lent = self.loan(loan).filter(|lent| lent.thread == thread)?;
        let uncovered = self.frames[thread][lent.depth - 1..].iter().all(|frame| frame.scope);
        let memory = self.slots[loan.slot].as_mut().filter(|_| uncovered)?;
        if lent.shared != 0 || loan.half >= SHARED {
            let shared = loan.half >= SHARED && lent.shared >> (loan.half - SHARED) & 1 == 1;
            return shared.then_some(&mut memory.cells);
        }
        match (lent.halves, loan.half) {
            (false, 0) => Some(&mut memory.cells),
            (true, half @ 0..=1) => {
                let middle = memory.cells.len() / 2;
                let (first, second) = memory.cells.split_at_mut(middle);
                Some(if half == 0 { first } else { second })
            }
            _ => None,
        }
    }

    /// Counts a copy of the host: a scope has room for so many.
    fn copy_more(&mut self, loan: Loan) -> Option<()> {
        let Lent { thread, depth, .. } = self.loan(loan)?;
        let frame = &mut self.frames[thread][depth - 1];
        (frame.copies < COPIES).then(|| frame.copies += 1)
    }
}

fn write<T: Element>(cells: &mut [Option<T>], values: Vec<T>) {
    for (cell, value) in cells.iter_mut().zip(values) {
        *cell = Some(value);
    }
}
