//! The values of registers in the vectors of one quad, or of the two of an octet.
//!
//! Instructions are written by the code for single lanes, for one [`Focus`] after the other. It
//! reads registers as numbers or vectors, as the focus says. The results of all focuses are joined
//! at the end of the instruction.

use super::shapes::Shape;
use super::sizes::QUAD;
use crate::exec::compiled::backend::{I8, I32, I64, Kind, Type, Val};
use crate::exec::compiled::vectors::vector_of;
use crate::exec::compiled::writer::Writer;
use crate::program::RowKind;
use crate::program::instruction::Condition;
use crate::semantics::{Predicate, Register};
use std::collections::HashMap;
use std::ops::Range;

/// The lanes for which instructions are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::exec::compiled) enum Focus {
    /// The first lane, for regular results of all lanes.
    First,
    /// The four lanes of a quad, as a vector.
    Whole(usize),
    /// Two lanes, as a vector of wide numbers. Each quad has two.
    Half(usize),
    Lane(usize),
}

impl Focus {
    /// Returns the focus in which operations have numbers as results instead of vectors.
    pub(in crate::exec::compiled) fn of_numbers(self) -> Focus {
        if let Focus::Lane(_) = self { self } else { Focus::First }
    }

    /// Returns the quad of its lanes.
    fn quad(self) -> usize {
        match self {
            Focus::First => 0,
            Focus::Whole(quad) => quad,
            Focus::Half(half) => half / 2,
            Focus::Lane(lane) => lane / QUAD,
        }
    }
}

/// A wide register as a narrow one, extended, times a factor, plus a number that is the same in all
/// lanes.
#[derive(Clone)]
pub(super) struct Stem {
    /// A vector for each quad.
    pub(super) narrow: Vec<Val>,
    pub(super) signed: bool,
    pub(super) factor: u64,
    pub(super) added: Option<Val>,
}

/// The state of a writer of code for quads.
pub(in crate::exec::compiled) struct Quads {
    /// Number of quads that run together.
    pub(super) count: usize,
    focus: Focus,
    /// The difference between lanes of a result that is computed for the first lane only.
    step: i64,
    /// Results of the focuses so far, in the order in which they were written.
    results: Vec<(u32, Val)>,
    /// By the first vector of a wide register.
    pub(super) stems: HashMap<Val, Stem>,
}

impl Quads {
    pub(in crate::exec::compiled) fn new(count: usize) -> Quads {
        Quads { count, focus: Focus::First, step: 0, results: Vec::new(), stems: HashMap::new() }
    }
}

impl Writer<'_, '_> {
    /// Returns the focus of code for quads; [`Focus::First`] in code for single lanes.
    pub(in crate::exec::compiled) fn focus(&self) -> Focus {
        self.quads.as_ref().map_or(Focus::First, |quads| quads.focus)
    }

    /// Returns the shape of a register or predicate. In code for single lanes, each is a number.
    pub(super) fn shape(&self, bit: u32) -> Shape {
        match (&self.quads, &self.plan.shapes) {
            (Some(_), Some(shapes)) => shapes.at(bit),
            _ => Shape::SAME,
        }
    }

    /// True if a register or predicate is the same in all running lanes.
    pub(in crate::exec::compiled) fn is_uniform(&self, bit: u32) -> bool {
        self.shape(bit) == Shape::SAME
    }

    pub(in crate::exec::compiled) fn is_uniform_condition(&self, condition: Condition) -> bool {
        self.is_uniform(self.kernel.rows + condition.predicate.0)
    }

    /// True for a register of two rows.
    pub(in crate::exec::compiled) fn is_wide(&self, bit: u32) -> bool {
        self.kernel.row_kinds.get(bit as usize) == Some(&RowKind::Lower)
    }

    /// Writes an operation for the first lane, whose results differ by `step` between lanes.
    pub(super) fn for_first(&mut self, step: i64, write: impl FnOnce(&mut Self)) {
        if let Some(quads) = &mut self.quads {
            quads.step = step;
        }
        self.with_focus(Focus::First, write);
        if let Some(quads) = &mut self.quads {
            quads.step = 0;
        }
    }

    /// Writes code for each focus, and then sets the results.
    pub(super) fn for_each(&mut self, focuses: &[Focus], mut write: impl FnMut(&mut Self)) {
        for focus in focuses {
            self.with_focus(*focus, &mut write);
        }
        self.join_results(focuses);
    }

    pub(in crate::exec::compiled) fn with_focus<T>(
        &mut self,
        focus: Focus,
        write: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let before = (self.focus(), self.e.half);
        self.set_focus(focus);
        if let Focus::Half(half) = focus {
            self.e.half = half % 2;
        }
        let result = write(self);
        self.set_focus(before.0);
        self.e.half = before.1;
        result
    }

    fn set_focus(&mut self, focus: Focus) {
        if let Some(quads) = &mut self.quads {
            quads.focus = focus;
        }
    }

    /// Returns the value of a register that is no constant, as the focus reads it.
    pub(in crate::exec::compiled) fn focused(&mut self, bit: u32) -> Val {
        let wide = self.is_wide(bit);
        if let Shape::Regular(step) = self.shape(bit) {
            let first = self.value(bit);
            return self.of_focus(first, step);
        }
        let focus = self.focus();
        let slot = self.slot(bit, focus.quad());
        match focus {
            Focus::Half(half) if wide => self.value(slot + half as u32 % 2),
            Focus::Lane(lane) => {
                let lane = lane % QUAD;
                let vector = self.value(if wide { slot + lane as u32 / 2 } else { slot });
                self.e.lane(vector, if wide { lane % 2 } else { lane })
            }
            _ => self.value(slot),
        }
    }

    /// Returns the numbers of lanes that grow by `step` from the first, as the focus reads them.
    fn of_focus(&mut self, first: Val, step: i64) -> Val {
        if step == 0 || self.focus() == Focus::First {
            return first;
        }
        let first = self.integer(first);
        match self.focus() {
            Focus::Lane(lane) => self.of_lane(first, step, lane),
            Focus::Half(half) if self.e.ty(first) == I64 => self.of_half(first, step, half),
            focus => self.of_lanes(first, step, focus.quad()),
        }
    }

    /// Returns the bits of a number as an integer.
    fn integer(&mut self, value: Val) -> Val {
        let wide = self.e.ty(value).bytes() == 8;
        self.convert(value, if wide { I64 } else { I32 })
    }

    pub(super) fn of_lane(&mut self, first: Val, step: i64, lane: usize) -> Val {
        let added = self.e.int(self.e.ty(first), (step * lane as i64) as u64);
        self.e.iadd(first, added)
    }

    pub(super) fn of_half(&mut self, first: Val, step: i64, half: usize) -> Val {
        let steps = self.e.two([0, 1].map(|lane| (step * (2 * half as i64 + lane)) as u64));
        self.e.iadd(first, steps)
    }

    pub(super) fn of_lanes(&mut self, first: Val, step: i64, quad: usize) -> Val {
        let steps = self.e.four([0, 1, 2, 3].map(|lane| (step * ((QUAD * quad) as i64 + lane)) as u32));
        self.e.iadd(first, steps)
    }

    /// Returns the vectors of a register whose lanes grow from the first, of all quads.
    pub(super) fn expanded(&mut self, first: Val, step: i64) -> Vec<Val> {
        let first = if step == 0 { first } else { self.integer(first) };
        let (quads, wide) = (self.quad_count(), self.e.ty(first).bytes() == 8);
        let count = if wide { 2 * quads } else { quads };
        if step == 0 {
            return vec![self.e.splat(first); count];
        }
        let vector =
            |index| if wide { self.of_half(first, step, index) } else { self.of_lanes(first, step, index) };
        (0..count).map(vector).collect()
    }

    /// Returns a constant that differs between lanes, as the focus reads it, from its row.
    pub(in crate::exec::compiled) fn focused_constant(
        &mut self,
        (at, offset): (Val, i32),
        register: Register,
        ty: Type,
    ) -> Val {
        let wide = self.is_wide(register.0);
        let bytes = if wide { 8 } else { 4 };
        if let Shape::Regular(step) = self.shape(register.0) {
            let first = self.e.load(if wide { I64 } else { I32 }, Kind::Constant, at, offset);
            let value = self.of_focus(first, step);
            return self.convert(value, ty);
        }
        match self.focus() {
            Focus::Half(half) if wide => {
                self.e.load(vector_of(ty), Kind::Constant, at, offset + 16 * half as i32)
            }
            Focus::Lane(lane) => self.e.load(ty, Kind::Constant, at, offset + bytes * lane as i32),
            focus => self.e.load(vector_of(ty), Kind::Constant, at, offset + 16 * focus.quad() as i32),
        }
    }

    /// Returns a predicate as the focus reads it: a condition of one lane, or a mask.
    pub(in crate::exec::compiled) fn focused_predicate(&mut self, predicate: Predicate) -> Val {
        let bit = self.kernel.rows + predicate.0;
        if self.is_uniform(bit) {
            return self.value(bit);
        }
        let focus = self.focus();
        let value = self.value(self.slot(bit, focus.quad()));
        match focus {
            Focus::Half(_) => self.e.sextend(I64, value),
            Focus::Lane(lane) => {
                let word = self.e.lane(value, lane % QUAD);
                let last = self.e.int(I32, 31);
                let condition = self.e.ushr(word, last);
                self.e.ireduce(I8, condition)
            }
            _ => value,
        }
    }

    /// Sets the value of a register or predicate in the lanes of the focus.
    pub(in crate::exec::compiled) fn set_focused(&mut self, bit: u32, value: Val) {
        let varies = self.shape(bit) == Shape::Varies;
        match &mut self.quads {
            Some(quads) if quads.focus != Focus::First => quads.results.push((bit, value)),
            Some(quads) if varies && bit < self.kernel.rows => {
                let step = quads.step;
                let (vectors, own) = (self.expanded(value, step), self.own_type(Register(bit)));
                for (slot, value) in self.slots(&[bit]).iter().copied().zip(vectors) {
                    let value = self.convert(value, own);
                    self.set_value(slot, value);
                }
            }
            _ if varies => self.set_parts(bit, Focus::First, &[value]),
            _ => self.set_value(bit, value),
        }
    }

    /// Takes back the result that was set last for one of several focuses.
    pub(super) fn take_result(&mut self) -> Option<Val> {
        self.quads.as_mut()?.results.pop().map(|(_, value)| value)
    }

    /// Sets registers and predicates to their results of all focuses.
    pub(super) fn join_results(&mut self, focuses: &[Focus]) {
        let Some(quads) = &mut self.quads else { return };
        let results = std::mem::take(&mut quads.results);
        let count = results.len() / focuses.len().max(1);
        for index in 0..count {
            let bit = results[index].0;
            let parts: Vec<Val> = results[index..].iter().step_by(count).map(|(_, value)| *value).collect();
            self.set_parts(bit, focuses[0], &parts);
        }
    }

    /// Sets a register or predicate to its results of all focuses; one is for all quads.
    fn set_parts(&mut self, bit: u32, focus: Focus, parts: &[Val]) {
        let quads = self.quad_count();
        let each = (parts.len() / quads).max(1);
        for quad in 0..quads {
            let parts = if parts.len() == 1 { parts } else { &parts[quad * each..(quad + 1) * each] };
            self.set_quad(bit, quad, focus, parts);
        }
    }

    fn set_quad(&mut self, bit: u32, quad: usize, focus: Focus, parts: &[Val]) {
        let slot = self.slot(bit, quad);
        if bit >= self.kernel.rows {
            let mask = self.join_mask(focus, parts);
            return self.set_value(slot, mask);
        }
        let own = self.own_type(Register(bit));
        if !self.is_wide(bit) {
            let vector = match (focus, parts) {
                (Focus::Half(_), [low, high]) => {
                    let halves = [*low, *high].map(|half| self.repeated(half, I64));
                    self.e.join_words(halves)
                }
                (Focus::Lane(_), lanes) => self.join_numbers(lanes, own),
                (_, [value]) => self.repeated(*value, own),
                _ => return,
            };
            let vector = self.convert(vector, own);
            return self.set_value(slot, vector);
        }
        let halves = match (focus, parts) {
            (Focus::Half(_), [low, high]) => [*low, *high].map(|half| self.repeated(half, own)),
            (Focus::Lane(_), [a, b, c, d]) => {
                [[*a, *b], [*c, *d]].map(|lanes| self.join_numbers(&lanes, own))
            }
            (_, [value]) => [self.repeated(*value, own); 2],
            _ => return,
        };
        for (half, value) in halves.into_iter().enumerate() {
            let value = self.convert(value, own);
            self.set_value(slot + half as u32, value);
        }
    }

    fn join_mask(&mut self, focus: Focus, parts: &[Val]) -> Val {
        match (focus, parts) {
            (Focus::Half(_), [low, high]) => {
                let halves = [*low, *high].map(|half| self.mask_of(half, 64));
                self.e.join_words(halves)
            }
            (Focus::Lane(_), lanes) => {
                let lanes: Vec<Val> = lanes.iter().map(|lane| self.e.mask(*lane, 32)).collect();
                self.e.join(&lanes)
            }
            (_, parts) => self.mask_of(parts[0], 32),
        }
    }

    /// Returns a condition as a mask of numbers of this many bits.
    pub(super) fn mask_of(&mut self, condition: Val, bits: u32) -> Val {
        if self.e.is_vector(condition) {
            return condition;
        }
        let mask = self.e.mask(condition, bits);
        self.e.splat(mask)
    }

    /// Returns a value as a vector of numbers of this type.
    fn repeated(&mut self, value: Val, ty: Type) -> Val {
        if self.e.is_vector(value) {
            return value;
        }
        let value = if self.e.ty(value) == I32 && ty == I64 { self.e.uextend(I64, value) } else { value };
        let value = self.convert(value, ty);
        self.e.splat(value)
    }

    fn join_numbers(&mut self, lanes: &[Val], ty: Type) -> Val {
        let lanes: Vec<Val> = lanes.iter().map(|lane| self.convert(*lane, ty)).collect();
        self.e.join(&lanes)
    }

    /// Joins values that functions have returned for the lanes of the focus.
    pub(in crate::exec::compiled) fn join_returned(&mut self, lanes: &[Val]) -> Val {
        let wide = matches!(self.focus(), Focus::Half(_));
        let extended = |w: &mut Self, lane: &Val| {
            if wide && w.e.ty(*lane) == I32 { w.e.uextend(I64, *lane) } else { *lane }
        };
        let lanes: Vec<Val> = lanes.iter().map(|lane| extended(self, lane)).collect();
        self.e.join(&lanes)
    }

    /// Returns the lanes of the focus, if it reads vectors.
    pub(in crate::exec::compiled) fn lanes_of_focus(&self) -> Range<usize> {
        match self.focus() {
            Focus::Whole(quad) => quad * QUAD..(quad + 1) * QUAD,
            Focus::Half(half) => half * 2..(half + 1) * 2,
            Focus::First | Focus::Lane(_) => 0..0,
        }
    }
}
