//! A thread of a program: does its steps one by one, on request.

use std::fmt::Display;
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cuprum::context::{Context, ContextFlags, ContextStack};
use cuprum::memory::{Slice, SliceMut};
use cuprum::stream::{Event, EventFlags};
use cuprum::sys::call;
use cuprum::{Buffer, ContextRef, Current, Shared, Stream};

use super::element::{Element, byte_of, uploaded};
use super::step::{Act, CONTEXTS, EVENTS, Kind, Make, Part, SLOTS, STREAMS};

/// The step whose values are written over host memory that the device must no longer read.
pub(crate) const GARBAGE: usize = 9_999;

type Slot<T> = Mutex<Option<T>>;

/// Everything that the threads of a program hand to each other.
pub(crate) struct Tables<T: Element> {
    pub(crate) contexts: [Slot<Shared<ContextRef>>; CONTEXTS],
    pub(crate) buffers: [Slot<Buffer<'static, T>>; SLOTS],
    pub(crate) streams: [Slot<Arc<Stream<'static>>>; STREAMS],
    pub(crate) events: [Slot<Arc<Event<'static>>>; EVENTS],
}

impl<T: Element> Tables<T> {
    pub(crate) fn new(contexts: [Shared<ContextRef>; CONTEXTS]) -> Self {
        Self {
            contexts: contexts.map(|context| Mutex::new(Some(context))),
            buffers: std::array::from_fn(|_| Mutex::new(None)),
            streams: std::array::from_fn(|_| Mutex::new(None)),
            events: std::array::from_fn(|_| Mutex::new(None)),
        }
    }

    pub(crate) fn buffer(&self, slot: usize) -> MutexGuard<'_, Option<Buffer<'static, T>>> {
        self.buffers[slot].lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn context(&self, context: usize) -> Result<Shared<ContextRef>, String> {
        self.contexts[context].lock().map_err(told)?.clone().ok_or("no such context".into())
    }

    pub(crate) fn stream(&self, stream: usize) -> Result<Arc<Stream<'static>>, String> {
        self.streams[stream].lock().map_err(told)?.clone().ok_or("no such stream".into())
    }

    fn event(&self, event: usize) -> Result<Arc<Event<'static>>, String> {
        self.events[event].lock().map_err(told)?.clone().ok_or("no such event".into())
    }
}

/// Outcome of a step.
pub(crate) struct Answer<T> {
    /// Numbers of steps and the elements that they read.
    pub(crate) reads: Vec<(usize, Vec<T>)>,
    pub(crate) error: Option<String>,
}

/// Objects that a thread has at hand.
pub(crate) struct Worker<T: Element> {
    pub(crate) tables: Arc<Tables<T>>,
    pub(crate) orders: Receiver<(usize, Act)>,
    pub(crate) answers: Sender<Answer<T>>,
}

/// A token as the code inside of it has it: a scope lends it to read.
pub(crate) enum Hand<'a, 's> {
    Mut(&'a mut Current<'s, 'static>),
    Shared(&'a Current<'s, 'static>),
}

impl<'s> Hand<'_, 's> {
    fn shared(&self) -> &Current<'s, 'static> {
        match self {
            Self::Mut(cx) => cx,
            Self::Shared(cx) => cx,
        }
    }
}

/// Reasons for leaving a context or scope.
pub(crate) enum Left {
    End {
        panic: bool,
    },
    /// No more orders come.
    Over,
}

/// The effect of the surrounding scopes on steps that use lent memory.
pub(crate) type Lents<'a, T> = dyn FnMut(usize, Act) -> Result<Vec<T>, String> + 'a;

pub(crate) fn told(error: impl Display) -> String {
    error.to_string()
}

impl<T: Element> Worker<T> {
    /// Does steps until no more come.
    pub(crate) fn serve(self, by_stack: bool) {
        let context = self.tables.context(0).expect("the first context");
        let mut nothing = |_, _| Err("nothing is lent".into());
        if by_stack {
            let mut stack = ContextStack::take().expect("the stack of a new thread");
            let mut cx = stack.push(&context).expect("a push");
            self.attend(Hand::Mut(&mut cx), &mut nothing);
        } else {
            context.enter(|cx| Ok(self.attend(Hand::Mut(cx), &mut nothing))).expect("a context to enter");
        }
    }

    /// Does the steps until the one that leaves the token or scope in hand.
    pub(crate) fn attend(&self, mut hand: Hand<'_, '_>, lents: &mut Lents<'_, T>) -> Left {
        while let Ok((number, act)) = self.orders.recv() {
            let done = match act {
                Act::End { panic } => return Left::End { panic },
                Act::Enter(context) => self.enter(context),
                Act::Push(context) => self.push(&mut hand, context),
                Act::Scope(stream) => self.scope(hand.shared(), Some(stream), lents),
                Act::MultiScope => self.scope(hand.shared(), None, lents),
                Act::Lend { .. }
                | Act::LendShared { .. }
                | Act::LentFill(_)
                | Act::LentSetBytes(_)
                | Act::LentFromHost(_)
                | Act::LentToHost(_)
                | Act::LentCopy(..) => lents(number, act).map(|read| vec![(number, read)]),
                // The elements read are reported at the end of the scope.
                Act::LentToPinned(_) => lents(number, act).map(|_| Vec::new()),
                _ => self.plain(hand.shared(), number, act).map(|read| vec![(number, read)]),
            };
            self.answer(done);
        }
        Left::Over
    }

    pub(crate) fn answer(&self, done: Result<Vec<(usize, Vec<T>)>, String>) {
        let answer = match done {
            Ok(reads) => Answer { reads, error: None },
            Err(error) => Answer { reads: Vec::new(), error: Some(error) },
        };
        // The receiver is dropped once a program has failed.
        let _ = self.answers.send(answer);
    }

    fn enter(&self, context: usize) -> Result<Vec<(usize, Vec<T>)>, String> {
        let context = self.tables.context(context)?;
        let inside = context.enter(|cx| {
            self.answer(Ok(Vec::new()));
            Ok(self.attend(Hand::Mut(cx), &mut |_, _| Err("nothing is lent inside of `enter`".into())))
        });
        inside.map(|_| Vec::new()).map_err(told)
    }

    fn push(&self, hand: &mut Hand<'_, '_>, context: usize) -> Result<Vec<(usize, Vec<T>)>, String> {
        let context = self.tables.context(context)?;
        let Hand::Mut(below) = hand else { return Err("a scope has the token".into()) };
        let mut cx = below.push(&context).map_err(told)?;
        self.answer(Ok(Vec::new()));
        self.attend(Hand::Mut(&mut cx), &mut |_, _| Err("nothing is lent above a push".into()));
        cx.pop().map(|()| Vec::new()).map_err(told)
    }

    /// A step outside of scopes. Returns the elements read, if it reads.
    fn plain(&self, cx: &Current<'_, 'static>, number: usize, act: Act) -> Result<Vec<T>, String> {
        match act {
            Act::Make { slot, len, how } => *self.tables.buffer(slot) = Some(make(cx, number, len, how)?),
            Act::Drop { slot } => drop(self.tables.buffer(slot).take()),
            Act::Close { slot } => {
                self.tables.buffer(slot).take().map_or(Ok(()), Buffer::close).map_err(told)?
            }
            Act::Fill(part) => self.write(part, |to| cx.fill(to, T::written(number, 0)))?,
            Act::SetBytes(part) => self.write(part, |to| cx.fill_bytes(to, byte_of(number)))?,
            Act::CopyFromHost(part) => {
                let mut host = uploaded(number, part.len);
                self.write(part, |to| cx.copy(to, &host))?;
                host.fill(T::written(GARBAGE, 0));
            }
            Act::ToVec(part) => return self.read(part, |from| from.to_vec(cx)),
            Act::CopyToHost(part) => {
                let mut host = vec![T::written(GARBAGE, 0); part.len];
                self.read(part, |from| cx.copy(&mut host, &from))?;
                return Ok(host);
            }
            Act::Copy(to, from) => self.copy(cx, to, from)?,
            Act::Mistake(part, stream) => self.mistake(part, byte_of(number), stream)?,
            _ => self.queue(cx, act)?,
        }
        Ok(Vec::new())
    }

    fn write<E: Display>(
        &self,
        part: Part,
        write: impl FnOnce(&mut SliceMut<'_, T>) -> Result<(), E>,
    ) -> Result<(), String> {
        let mut buffer = self.tables.buffer(part.slot);
        let buffer = buffer.as_mut().ok_or("no such buffer")?;
        let mut slice = buffer.slice_mut(part.start..part.start + part.len).ok_or("no such part")?;
        write(&mut slice).map_err(told)
    }

    fn read<R, E: Display>(
        &self,
        part: Part,
        read: impl FnOnce(Slice<'_, T>) -> Result<R, E>,
    ) -> Result<R, String> {
        let buffer = self.tables.buffer(part.slot);
        let buffer = buffer.as_ref().ok_or("no such buffer")?;
        read(buffer.slice(part.start..part.start + part.len).ok_or("no such part")?).map_err(told)
    }

    fn copy(&self, cx: &Current<'_, '_>, to: Part, from: Part) -> Result<(), String> {
        if to.slot != from.slot {
            let source = self.tables.buffer(from.slot);
            let source = source.as_ref().ok_or("no such buffer")?;
            let source = source.slice(from.start..from.start + from.len).ok_or("no such part")?;
            return self.write(to, |to| cx.copy(to, &source));
        }
        let mut buffer = self.tables.buffer(to.slot);
        let whole = buffer.as_mut().ok_or("no such buffer")?.as_mut_slice();
        let (low, high) = whole.into_split_at(to.start.max(from.start)).ok_or("no such part")?;
        let (mut target, source) = if to.start < from.start { (low, high) } else { (high, low) };
        // The upper part is counted from the place of the split.
        let at = |part: Part| if part.start == to.start.max(from.start) { 0 } else { part.start };
        let source = source.as_slice().slice(at(from)..at(from) + from.len).ok_or("no such part")?;
        let mut target = target.slice_mut(at(to)..at(to) + to.len).ok_or("no such part")?;
        cx.copy(&mut target, &source).map_err(told)
    }

    fn queue(&self, cx: &Current<'_, 'static>, act: Act) -> Result<(), String> {
        let tables = &self.tables;
        match act {
            Act::MakeStream(stream, kind) => {
                let made = match kind {
                    Kind::Default => Stream::default_in(cx),
                    Kind::New(cuprum::stream::StreamKind::Blocking) => Stream::new(cx).map_err(told)?,
                    Kind::New(cuprum::stream::StreamKind::NonBlocking) => {
                        Stream::non_blocking(cx).map_err(told)?
                    }
                    Kind::New(other) => return Err(format!("{other:?} is not tried")),
                };
                *tables.streams[stream].lock().map_err(told)? = Some(Arc::new(made));
            }
            Act::DropStream(stream) => *tables.streams[stream].lock().map_err(told)? = None,
            Act::WaitForStream(stream) => tables.stream(stream)?.synchronize(cx).map_err(told)?,
            Act::MakeEvent(event) => {
                let made = Event::new(cx, EventFlags::DISABLE_TIMING).map_err(told)?;
                *tables.events[event].lock().map_err(told)? = Some(Arc::new(made));
            }
            Act::DropEvent(event) => *tables.events[event].lock().map_err(told)? = None,
            Act::Record(event, stream) => {
                tables.event(event)?.record(cx, &*tables.stream(stream)?).map_err(told)?;
            }
            Act::StreamWaits(stream, event) => {
                tables.stream(stream)?.wait_event(cx, &*tables.event(event)?).map_err(told)?;
            }
            Act::WaitForEvent(event) => tables.event(event)?.synchronize().map_err(told)?,
            Act::WaitForContext => cx.synchronize().map_err(told)?,
            Act::AskStream(stream) => drop(tables.stream(stream)?.is_done(cx).map_err(told)?),
            Act::AskEvent(event) => drop(tables.event(event)?.is_done().map_err(told)?),
            Act::MakeContext(context) => {
                let made = Context::create(cx.context().device(), ContextFlags::empty()).map_err(told)?;
                *tables.contexts[context].lock().map_err(told)? = Some(made.share());
            }
            _ => return Err("no step of a thread".into()),
        }
        Ok(())
    }

    /// A fill without a wait.
    fn mistake(&self, part: Part, byte: u8, stream: usize) -> Result<(), String> {
        let stream = self.tables.stream(stream)?;
        let fns = stream.context().driver().library().fns();
        self.write(part, |to| {
            let (address, bytes) = (to.as_raw(), to.len() * size_of::<T>());
            // SAFETY: the bytes are of a live buffer, and the stream of its context. That the
            // buffer may be read, written and freed before they are set is the mistake, which only
            // the emulator, where freed memory stays, is given.
            let (code, _) = unsafe { call!(fns, cuMemsetD8Async(address, byte, bytes, stream.as_raw())) };
            if bytes == 0 || code == cuprum::sys::CUresult::CUDA_SUCCESS {
                Ok(())
            } else {
                Err("a raw fill failed")
            }
        })
    }
}

fn make<T: Element>(
    cx: &Current<'_, 'static>,
    number: usize,
    len: usize,
    how: Make,
) -> Result<Buffer<'static, T>, String> {
    let made = match how {
        Make::Alloc => Buffer::alloc(cx, len),
        Make::Zeroed => Buffer::zeroed(cx, len),
        Make::FromSlice => {
            let mut host = uploaded(number, len);
            let made = Buffer::from_slice(cx, &host);
            host.fill(T::written(GARBAGE, 0));
            made
        }
    };
    made.map_err(told)
}
