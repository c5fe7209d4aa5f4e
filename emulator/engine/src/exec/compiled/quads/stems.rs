//! Wide registers that are multiples of narrow ones, which most addresses are.
//!
//! If the lanes have different numbers, a wide register is two vectors. Whether its lanes follow
//! each other is decided by the narrow register that it comes from, one vector, and then only the
//! first lane is computed. The code generator leaves the wide vectors out where nothing needs them.

use super::focus::Stem;
use super::places::Vectors;
use super::shapes::Shape;
use crate::exec::compiled::backend::{I32, I64, IntCC, Val};
use crate::exec::compiled::writer::Writer;
use crate::program::instruction::{Condition, Instruction, Op};
use crate::semantics::lower::Lower;
use crate::semantics::{PureInfo, Register, Width};

impl Writer<'_, '_> {
    /// Returns the stem of a register, if it is known.
    pub(super) fn stem(&mut self, register: Register) -> Option<Stem> {
        let varies = self.shape(register.0) == Shape::Varies && self.is_wide(register.0);
        if !varies || self.constants.contains_key(&register.0) {
            return None;
        }
        let value = self.value(register.0);
        self.quads.as_ref()?.stems.get(&value).cloned()
    }

    /// Writes an instruction by `write`, and notes the stem of its result, which may replace an
    /// operand.
    pub(super) fn with_stem(&mut self, instruction: &Instruction, write: impl FnOnce(&mut Self)) {
        let result = match &instruction.op {
            Op::Pure { info, out, sources } if info.out == Width::Double && info.sizes[0] == 8 => {
                let varies = self.shape(out.0) == Shape::Varies && instruction.guard == Condition::ALWAYS;
                varies.then(|| self.stem_of(info, *sources)).flatten().map(|stem| (*out, stem))
            }
            _ => None,
        };
        write(self);
        let Some((out, stem)) = result else { return };
        let value = self.value(out.0);
        if let Some(quads) = &mut self.quads {
            quads.stems.insert(value, stem);
        }
    }

    fn stem_of(&mut self, info: &PureInfo, sources: [Register; 4]) -> Option<Stem> {
        let extends = info.sizes[1] == 4;
        let in_orders = [[sources[0], sources[1]], [sources[1], sources[0]]];
        match info.lower {
            Lower::Wrap if extends => self.extended_stem(sources[0], info.signed[1]),
            Lower::MulWide | Lower::MadWide if extends => {
                let multiplied = |w: &mut Self, [narrow, factor]: [Register; 2]| {
                    let bits = w.known(factor)? as u32;
                    let factor = if info.signed[1] { bits as i32 as u64 } else { bits.into() };
                    Some(w.extended_stem(narrow, info.signed[1])?.times(w, factor))
                };
                let stem = in_orders.into_iter().find_map(|order| multiplied(self, order))?;
                if info.lower == Lower::MulWide { Some(stem) } else { self.plus(stem, sources[2]) }
            }
            Lower::Move => self.stem(sources[0]),
            Lower::Add => in_orders.into_iter().find_map(|[stem, other]| {
                let stem = self.stem(stem)?;
                self.plus(stem, other)
            }),
            Lower::ShiftLeft => {
                let bits = self.known(sources[1]).filter(|bits| *bits < u64::BITS.into())?;
                Some(self.stem(sources[0])?.times(self, 1 << bits))
            }
            _ => None,
        }
    }

    fn extended_stem(&mut self, register: Register, signed: bool) -> Option<Stem> {
        if self.shape(register.0) != Shape::Varies || self.is_wide(register.0) {
            return None;
        }
        let narrow =
            self.wholes().into_iter().map(|focus| self.with_focus(focus, |w| w.get(register, I32))).collect();
        Some(Stem { narrow, signed, factor: 1, added: None })
    }

    fn plus(&mut self, stem: Stem, register: Register) -> Option<Stem> {
        if !self.is_uniform(register.0) {
            return None;
        }
        let number = self.get(register, I64);
        let added = stem.added.map_or(number, |added| self.e.iadd(added, number));
        Some(Stem { added: Some(added), ..stem })
    }

    /// Returns true if the narrow numbers of the lanes follow each other, and the wide number of
    /// the first lane.
    pub(super) fn follow(&mut self, stem: Stem) -> (Val, Val) {
        let first = self.e.lane(stem.narrow[0], 0);
        let differs = self.unlike_steps(&Vectors::Narrow(stem.narrow), 1);
        let differs = self.e.any(differs);
        let zero = self.e.zero(self.e.ty(differs));
        let follow = self.e.icmp(IntCC::Equal, differs, zero);
        let stays = self.never_wraps(first, 1, stem.signed);
        let follow = self.e.band(follow, stays);
        let first = if stem.signed { self.e.sextend(I64, first) } else { self.e.uextend(I64, first) };
        let factor = self.e.int(I64, stem.factor);
        let first = self.e.imul(first, factor);
        (follow, stem.added.map_or(first, |added| self.e.iadd(first, added)))
    }
}

impl Stem {
    fn times(self, w: &mut Writer<'_, '_>, factor: u64) -> Stem {
        let by = w.e.int(I64, factor);
        let added = self.added.map(|added| w.e.imul(added, by));
        Stem { factor: self.factor.wrapping_mul(factor), added, ..self }
    }
}
