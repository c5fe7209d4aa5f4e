//! Scopes of a program: memory is lent to them while they are open.

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::slice::IterMut;
use std::sync::Arc;

use cuprum::memory::{PinnedFlags, Slice, SliceMut};
use cuprum::stream::{Lent, MultiScope, Scope};
use cuprum::{Buffer, Current, Error, PinnedBuffer, Stream};

use super::element::{Element, byte_of, uploaded};
use super::model::COPIES;
use super::step::{Act, Loan, SHARED, SLOTS, STREAMS};
use super::worker::{GARBAGE, Hand, Left, Lents, Tables, Worker, told};

/// Objects that outlive a scope, so that they can be lent to it.
struct Places<T: Element> {
    buffers: Vec<Option<(usize, Buffer<'static, T>)>>,
    inputs: Vec<Vec<T>>,
    outputs: Vec<Output<T>>,
}

/// Page-locked memory that is copied to, and the step that does so.
type Output<T> = Option<(usize, PinnedBuffer<'static, T>)>;

/// A scope of one stream, or of several.
enum Kind<'scope, 'env> {
    One(&'scope Scope<'scope, 'env>),
    Several(&'scope MultiScope<'scope, 'env>, &'env [Option<Arc<Stream<'static>>>]),
}

/// A loan, the number of its stream, the slice lent to read, and the slice to write if it is lent
/// for writing.
type Lending<'scope, T> =
    (Loan, usize, Lent<'scope, Slice<'scope, T>>, Option<Lent<'scope, SliceMut<'scope, T>>>);

/// State of a scope while it is open.
struct Open<'scope, 'env, 'a, T: Element> {
    cx: &'a Current<'a, 'static>,
    kind: Kind<'scope, 'env>,
    tables: &'a Tables<T>,
    lents: Vec<Lending<'scope, T>>,
    /// Buffers that are lent to be read.
    shared: Vec<(usize, &'scope Buffer<'static, T>)>,
    buffers: IterMut<'scope, Option<(usize, Buffer<'static, T>)>>,
    inputs: IterMut<'scope, Vec<T>>,
    outputs: IterMut<'scope, Output<T>>,
}

impl<T: Element> Worker<T> {
    /// Does the steps of a scope of one stream, or of all that there are.
    pub(crate) fn scope(
        &self,
        cx: &Current<'_, 'static>,
        stream: Option<usize>,
        outer: &mut Lents<'_, T>,
    ) -> Result<Vec<(usize, Vec<T>)>, String> {
        let streams: Vec<_> = (0..STREAMS).map(|stream| self.tables.stream(stream).ok()).collect();
        let mut places = Places {
            buffers: (0..SLOTS).map(|_| None).collect(),
            inputs: vec![Vec::new(); COPIES],
            outputs: (0..COPIES).map(|_| None).collect(),
        };
        let places_of_scope = &mut places;
        let body = AssertUnwindSafe(|| match stream {
            None => cx.multi_scope(|scope| {
                self.body(cx, Kind::Several(scope, &streams), places_of_scope, outer);
                Ok(())
            }),
            Some(stream) => {
                let stream = streams[stream].as_ref().expect("the model knows the stream");
                cx.scope(stream, |scope| {
                    self.body(cx, Kind::One(scope), places_of_scope, outer);
                    Ok(())
                })
            }
        });
        let ended = catch_unwind(body).unwrap_or_else(|panic| match panic.is::<AskedTo>() {
            true => Ok(()),
            false => resume_unwind(panic),
        });
        for input in &mut places.inputs {
            input.fill(T::written(GARBAGE, 0));
        }
        for (slot, buffer) in places.buffers.into_iter().flatten() {
            *self.tables.buffer(slot) = Some(buffer);
        }
        let read = |(number, output): (usize, PinnedBuffer<'static, T>)| (number, output.to_vec());
        ended.map(|()| places.outputs.into_iter().flatten().map(read).collect()).map_err(told)
    }

    fn body<'scope>(
        &self,
        cx: &Current<'_, 'static>,
        kind: Kind<'scope, '_>,
        places: &'scope mut Places<T>,
        outer: &mut Lents<'_, T>,
    ) {
        let Places { buffers, inputs, outputs } = places;
        let (buffers, inputs, outputs) = (buffers.iter_mut(), inputs.iter_mut(), outputs.iter_mut());
        let (lents, shared) = (Vec::new(), Vec::new());
        let mut open = Open { cx, kind, tables: &self.tables, lents, shared, buffers, inputs, outputs };
        self.answer(Ok(Vec::new()));
        let left = self.attend(Hand::Shared(cx), &mut |number, act| open.step(number, act, outer));
        if matches!(left, Left::End { panic: true }) {
            resume_unwind(Box::new(AskedTo));
        }
    }
}

/// A panic that is a step of the program.
struct AskedTo;

fn by_stream<'scope, 'env, R, E: From<Error> + Display>(
    kind: &Kind<'scope, 'env>,
    stream: usize,
    lend: impl FnOnce(&Scope<'scope, 'env>) -> Result<R, E>,
) -> Result<R, String> {
    match kind {
        Kind::One(scope) => lend(scope).map_err(told),
        Kind::Several(scope, streams) => {
            let stream = streams[stream].as_ref().ok_or("no such stream")?;
            scope.on(stream).map_err(E::from).and_then(|scope| lend(&scope)).map_err(told)
        }
    }
}

impl<'scope, 'env, T: Element> Open<'scope, 'env, '_, T> {
    /// A step on lent memory, here or in a scope around this one.
    fn step(&mut self, number: usize, act: Act, outer: &mut Lents<'_, T>) -> Result<Vec<T>, String> {
        let loan = match act {
            Act::Lend { slot, halves, stream } => {
                return self.lend(slot, halves, stream).map(|()| Vec::new());
            }
            Act::LendShared { slot, stream } => return self.lend_shared(slot, stream).map(|()| Vec::new()),
            Act::LentFill(loan) | Act::LentSetBytes(loan) => loan,
            Act::LentFromHost(loan) | Act::LentToHost(loan) | Act::LentCopy(loan, _) => loan,
            Act::LentToPinned(loan) => loan,
            _ => return Err("no step on lent memory".into()),
        };
        let find = |loan| self.lents.iter().find(|(at, ..)| *at == loan);
        let Some((_, stream, to_read, to_write)) = find(loan) else { return outer(number, act) };
        let stream = *stream;
        if let Act::LentToPinned(_) = act {
            let to_read = *to_read;
            return self.pin_and_copy(number, stream, to_read).map(|()| Vec::new());
        }
        if let Act::LentToHost(_) = act {
            let mut host = vec![T::written(GARBAGE, 0); to_read.len()];
            return self.by_stream(stream, |scope| scope.read(&mut host, to_read)).map(|()| host);
        }
        let lent = to_write.as_ref().ok_or("lent to be read")?;
        let done = match act {
            Act::LentFill(_) => self.by_stream(stream, |scope| scope.fill(lent, T::written(number, 0))),
            Act::LentSetBytes(_) => self.by_stream(stream, |scope| scope.fill_bytes(lent, byte_of(number))),
            Act::LentCopy(_, from) => {
                let from = &find(from).ok_or("lent to another scope")?.2;
                self.by_stream(stream, |scope| scope.copy(lent, from))
            }
            _ => {
                let input = self.inputs.next().ok_or("no room for a copy")?;
                *input = uploaded(number, lent.len());
                by_stream(&self.kind, stream, |scope| scope.copy(lent, &*input))
            }
        };
        done.map(|()| Vec::new())
    }

    /// Lends by the scope's own stream, or by one of its several.
    fn by_stream<R, E: From<Error> + Display>(
        &self,
        stream: usize,
        lend: impl FnOnce(&Scope<'scope, 'env>) -> Result<R, E>,
    ) -> Result<R, String> {
        by_stream(&self.kind, stream, lend)
    }

    fn take(&mut self, slot: usize) -> Result<&'scope mut Buffer<'static, T>, String> {
        let buffer = self.tables.buffer(slot).take().ok_or("no such buffer")?;
        let place = self.buffers.next().ok_or("no room for a loan")?;
        Ok(&mut place.insert((slot, buffer)).1)
    }

    fn lend(&mut self, slot: usize, halves: bool, stream: usize) -> Result<(), String> {
        let all = self.take(slot)?.as_mut_slice();
        let middle = if halves { all.len() / 2 } else { all.len() };
        let (first, second) = all.into_split_at(middle).ok_or("no such part")?;
        for (half, part) in [first, second].into_iter().take(1 + usize::from(halves)).enumerate() {
            let lent = self.by_stream(stream, |scope| scope.lend(part))?;
            self.lents.push((Loan { slot, half }, stream, lent.as_shared(), Some(lent)));
        }
        Ok(())
    }

    fn lend_shared(&mut self, slot: usize, stream: usize) -> Result<(), String> {
        let known = self.shared.iter().find(|(at, _)| *at == slot).map(|&(_, buffer)| buffer);
        let buffer = match known {
            Some(buffer) => buffer,
            None => {
                let buffer: &'scope Buffer<'static, T> = self.take(slot)?;
                self.shared.push((slot, buffer));
                buffer
            }
        };
        let lent = self.by_stream(stream, |scope| scope.lend(buffer.as_slice()))?;
        self.lents.push((Loan { slot, half: SHARED + stream }, stream, lent, None));
        Ok(())
    }

    /// Copies to memory that is page-locked for this copy.
    fn pin_and_copy(
        &mut self,
        number: usize,
        stream: usize,
        from: Lent<'scope, Slice<'scope, T>>,
    ) -> Result<(), String> {
        let host = PinnedBuffer::zeroed(self.cx, from.len(), PinnedFlags::PORTABLE).map_err(told)?;
        let place = self.outputs.next().ok_or("no room for a copy")?;
        let host = &mut place.insert((number, host)).1;
        self.by_stream(stream, |scope| scope.copy(&scope.lend(host)?, &from))
    }
}
