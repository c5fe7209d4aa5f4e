//! Scopes of a program: memory is lent to them while they are open.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::slice::IterMut;

use cuprum::{Buffer, Current, Lent, Scope};

use super::element::{Element, uploaded};
use super::model::COPIES;
use super::step::{Act, Loan, SLOTS};
use super::worker::{GARBAGE, Hand, Left, Lents, Tables, Worker, told};

/// What outlives a scope, so that it can be lent to it.
struct Places<T: Element> {
    buffers: Vec<Option<(usize, Buffer<'static, T>)>>,
    inputs: Vec<Vec<T>>,
    outputs: Vec<Vec<T>>,
}

/// What a scope holds while it is open.
struct Open<'scope, 'env, 'a, T: Element> {
    scope: &'scope Scope<'scope, 'env>,
    tables: &'a Tables<T>,
    /// Steps that read, in the order of `outputs`.
    reads: &'a mut Vec<usize>,
    lents: Vec<(Loan, Lent<'scope, T>)>,
    buffers: IterMut<'scope, Option<(usize, Buffer<'static, T>)>>,
    inputs: IterMut<'scope, Vec<T>>,
    outputs: IterMut<'scope, Vec<T>>,
}

impl<T: Element> Worker<T> {
    /// Does the steps of a scope; answers what they read.
    pub(crate) fn scope(
        &self,
        cx: &Current<'_, 'static>,
        stream: usize,
        outer: &mut Lents<'_>,
    ) -> Result<Vec<(usize, Vec<T>)>, String> {
        let stream = self.tables.stream(stream)?;
        let mut places = Places {
            buffers: (0..SLOTS).map(|_| None).collect(),
            inputs: vec![Vec::new(); COPIES],
            outputs: vec![Vec::new(); COPIES],
        };
        let mut reads = Vec::new();
        let body = AssertUnwindSafe(|| {
            cx.scope(&stream, |scope| {
                let mut open = Open {
                    scope,
                    tables: &self.tables,
                    reads: &mut reads,
                    lents: Vec::new(),
                    buffers: places.buffers.iter_mut(),
                    inputs: places.inputs.iter_mut(),
                    outputs: places.outputs.iter_mut(),
                };
                self.answer(Ok(Vec::new()));
                let left = self.attend(Hand::Shared(cx), &mut |number, act| open.step(number, act, outer));
                if matches!(left, Left::End { panic: true }) {
                    resume_unwind(Box::new("asked to"));
                }
            })
        });
        let ended = catch_unwind(body).unwrap_or(Ok(()));
        for input in &mut places.inputs {
            input.fill(T::written(GARBAGE, 0));
        }
        for (slot, buffer) in places.buffers.into_iter().flatten() {
            *self.tables.buffer(slot) = Some(buffer);
        }
        ended.map(|()| reads.into_iter().zip(places.outputs).collect()).map_err(told)
    }
}

impl<T: Element> Open<'_, '_, '_, T> {
    /// A step on lent memory, here or in a scope around this one.
    fn step(&mut self, number: usize, act: Act, outer: &mut Lents<'_>) -> Result<(), String> {
        match act {
            Act::Lend { slot, halves } => self.lend(slot, halves),
            Act::LentFromHost(loan) => {
                let Some(lent) = self.find(loan) else { return outer(number, act) };
                let input = self.inputs.next().ok_or("no room for a copy")?;
                *input = uploaded(number, self.lents[lent].1.len());
                self.lents[lent].1.copy_from_host(input).map_err(told)
            }
            Act::LentToHost(loan) => {
                let Some(lent) = self.find(loan) else { return outer(number, act) };
                let output = self.outputs.next().ok_or("no room for a copy")?;
                *output = vec![T::written(GARBAGE, 0); self.lents[lent].1.len()];
                self.reads.push(number);
                self.lents[lent].1.copy_to_host(output).map_err(told)
            }
            Act::LentCopy(to, from) => {
                let (Some(to), Some(from)) = (self.find(to), self.find(from)) else {
                    return outer(number, act);
                };
                self.lents[to].1.copy_from(&self.lents[from].1).map_err(told)
            }
            _ => Err("no step on lent memory".into()),
        }
    }

    fn find(&self, loan: Loan) -> Option<usize> {
        self.lents.iter().position(|(at, _)| *at == loan)
    }

    fn lend(&mut self, slot: usize, halves: bool) -> Result<(), String> {
        let buffer = self.tables.buffer(slot).take().ok_or("no such buffer")?;
        let (_, buffer) = self.buffers.next().ok_or("no room for a loan")?.insert((slot, buffer));
        let all = buffer.as_mut_slice();
        if !halves {
            let lent = self.scope.lend(all).map_err(told)?;
            self.lents.push((Loan { slot, half: 0 }, lent));
            return Ok(());
        }
        let middle = all.len() / 2;
        let (first, second) = all.split_at_mut(middle).ok_or("no such part")?;
        for (half, part) in [first, second].into_iter().enumerate() {
            let lent = self.scope.lend(part).map_err(told)?;
            self.lents.push((Loan { slot, half }, lent));
        }
        Ok(())
    }
}
