//! The conditions under which results are regular.
//!
//! A few are always tested, because they hardly ever fail. Eight lanes also test that they are in
//! one row of a matrix, or on one side of its bounds, and part if they are not. Kernels in which
//! that happens often run in quads, which compute such results lane by lane.

use super::shapes::{Shape, Shapes};
use super::sizes::OCTET;
use crate::program::Kernel;
use crate::program::instruction::{Condition, Instruction, Op};
use crate::semantics::lower::{Lower, LowerTest};
use crate::semantics::{PureInfo, Register, TestInfo, Width};
use std::ops::RangeInclusive;

/// Numbers with which a test for negative indices compares.
const NEGATIVE: RangeInclusive<i64> = -(1 << 16)..=1;

/// Lanes that begin anywhere may be in two rows if at most one of so many is.
const FEW: u64 = 16;

/// A register whose lanes grow by a step other than zero.
#[derive(Clone, Copy)]
pub(in crate::exec::compiled) struct Progression {
    pub(super) register: Register,
    pub(super) step: i64,
}

/// A condition on the numbers of the lanes.
pub(in crate::exec::compiled) enum Premise {
    /// They do not wrap around between lanes where they are extended to 64 bits, with their sign or
    /// not.
    NoWrap(Progression, bool),
    /// All, signed, are less than a number, or none is.
    OneSide(Progression, i64),
    /// Their bits from this one up are the same.
    SameBits(Progression, u32),
    /// Their quotients by a register are the same. With a sign, none is negative.
    SameQuotient(Progression, Register, bool),
    /// A comparison has one result for all.
    SameSide(Comparison),
    /// A comparison holds for none.
    Never(Comparison),
    /// None is equal to a register.
    Unequal(Progression, Register),
}

/// The comparison of a progression with a number.
pub(in crate::exec::compiled) struct Comparison {
    pub(super) numbers: Progression,
    pub(super) other: Register,
    pub(super) signed: bool,
    /// True if the progression has to be less than the number, and false for the opposite order.
    pub(super) first_less: bool,
}

impl Shapes {
    /// Returns the condition under which the result of an instruction has the shape in which it is
    /// computed; `None` if it always has.
    pub(in crate::exec::compiled) fn premise(&self, instruction: &Instruction) -> Option<Premise> {
        if let Some((numbers, limit)) = self.sign_test(instruction) {
            return Some(Premise::OneSide(numbers, limit));
        }
        if let Some((premise, _)) = self.expected(instruction) {
            return Some(premise).filter(|_| !self.varies_anyway(instruction));
        }
        let Op::Pure { info, sources, .. } = &instruction.op else { return None };
        if self.repeats_sign(info, *sources) {
            return self.progression(sources[0]).map(|numbers| Premise::OneSide(numbers, 0));
        }
        if !matches!(info.lower, Lower::Wrap | Lower::MulWide | Lower::MadWide) || info.out != Width::Double {
            return None;
        }
        if info.sizes[1] != 4 || self.of_result(instruction) == Shape::Varies {
            return None;
        }
        let extended = if info.lower == Lower::Wrap { 1 } else { 2 };
        let numbers = sources[..extended].iter().find_map(|source| self.progression(*source))?;
        Some(Premise::NoWrap(numbers, info.signed[1]))
    }

    /// Returns the shape in which the result of an instruction is computed.
    pub(super) fn as_computed(&self, instruction: &Instruction) -> Shape {
        let apart = self.expected(instruction).is_some() && self.varies_anyway(instruction);
        if apart { Shape::Varies } else { self.of_result(instruction) }
    }

    /// True if lanes part where conditions fail that only eight lanes test.
    pub(in crate::exec::compiled) fn has_premises(&self, kernel: &Kernel) -> bool {
        kernel.code.iter().any(|next| self.expected(next).is_some() && !self.varies_anyway(next))
    }

    /// True if the register or predicate that an instruction writes has no shape elsewhere.
    fn varies_anyway(&self, instruction: &Instruction) -> bool {
        match &instruction.op {
            Op::Pure { out, .. } => self.at(out.0) == Shape::Varies,
            Op::Test { out, .. } => {
                self.of_predicate(Condition { predicate: *out, negated: false }) == Shape::Varies
            }
            _ => false,
        }
    }

    /// Returns the condition that eight lanes test before an instruction, and the shape of its
    /// result if it holds; `None` if its result has a shape in any case, or varies.
    pub(super) fn expected(&self, instruction: &Instruction) -> Option<(Premise, Shape)> {
        if self.lanes < OCTET {
            return None;
        }
        match &instruction.op {
            Op::Pure { info, sources, .. } => {
                let [out, first, ..] = info.sizes;
                let whole = out == first && out == if info.out == Width::Double { 8 } else { 4 };
                if !whole || self.repeats_sign(info, *sources) {
                    return None;
                }
                let (premise, step) = self.of_progression(info, *sources)?;
                Some((premise, Shape::Regular(step)))
            }
            Op::Test { info, out, inverse: None, combine: None, sources }
                if self.decides.contains(&out.0) =>
            {
                Some((self.of_test(info, *sources)?, Shape::SAME))
            }
            _ => None,
        }
    }

    /// Returns the condition for an operation on a register that grows, and the step of its result.
    fn of_progression(&self, info: &PureInfo, sources: [Register; 4]) -> Option<(Premise, i64)> {
        let (index, numbers) = (0..2).find_map(|index| Some((index, self.progression(sources[index])?)))?;
        let other = sources[1 - index];
        if self.at(other.0) != Shape::SAME {
            return None;
        }
        let known = self.known.get(&other.0).copied();
        let width = info.sizes[0] * 8;
        let signed = info.signed[1];
        let never =
            |first_less| (Premise::Never(Comparison { numbers, other, signed, first_less }), numbers.step);
        match info.lower {
            Lower::ShiftRight if index == 0 => {
                let bits = u32::try_from(known?).ok().filter(|bits| *bits < width)?;
                self.is_below(numbers, bits).then_some((Premise::SameBits(numbers, bits), 0))
            }
            Lower::And => {
                let mask = known?;
                let lower = mask & 1 != 0;
                let under = if lower { mask } else { !mask } & (u64::MAX >> (64 - width));
                let bits = under.trailing_ones();
                let whole = under.count_ones() == bits && bits < width && self.is_below(numbers, bits);
                whole.then_some((Premise::SameBits(numbers, bits), if lower { numbers.step } else { 0 }))
            }
            Lower::Div if index == 0 => Some((Premise::SameQuotient(numbers, other, signed), 0)),
            Lower::Rem if index == 0 => Some((Premise::SameQuotient(numbers, other, signed), numbers.step)),
            // Indices are mostly inside of the bounds that they are clamped to. The maximum of an
            // index and an unknown number is mostly this number, as in the count of a loop.
            Lower::Min => Some(never(false)),
            Lower::Max if known.is_some_and(|bits| bits <= 1) => Some(never(true)),
            _ => None,
        }
    }

    fn of_test(&self, info: &TestInfo, sources: [Register; 2]) -> Option<Premise> {
        let [a, b] = info.in_order(sources);
        let (numbers, other, first_less) = match (self.progression(a), self.progression(b)) {
            (Some(numbers), None) => (numbers, b, true),
            (None, Some(numbers)) => (numbers, a, false),
            _ => return None,
        };
        if self.at(other.0) != Shape::SAME || info.size < 4 || info.unary {
            return None;
        }
        match info.lower {
            LowerTest::Less => {
                let comparison = Comparison { numbers, other, signed: info.signed, first_less };
                Some(Premise::SameSide(comparison))
            }
            LowerTest::Equal => Some(Premise::Unequal(numbers, other)),
            _ => None,
        }
    }

    fn progression(&self, register: Register) -> Option<Progression> {
        match self.at(register.0) {
            Shape::Regular(step) if step != 0 => Some(Progression { register, step }),
            _ => None,
        }
    }

    /// True if lanes mostly have the same bits from this one up. The first of eight mostly has the
    /// number of a multiple of eight, but for a constant that is added to it.
    fn is_below(&self, numbers: Progression, bits: u32) -> bool {
        let apart = numbers.apart(self.lanes);
        let added = self.added.get(&numbers.register.0).copied().unwrap_or(0);
        let is_aligned = added % (numbers.step * self.lanes as i64) == 0;
        if is_aligned { apart >> bits == 0 } else { (apart * FEW) >> bits == 0 }
    }

    /// Returns the register and the limit if an instruction compares it with a number that is small
    /// or negative, which it subtracts then, for a selection. Compilers make negative indices
    /// count from the end this way.
    pub(super) fn sign_test(&self, instruction: &Instruction) -> Option<(Progression, i64)> {
        let Op::Test { info, out, inverse: None, combine: None, sources } = &instruction.op else {
            return None;
        };
        if info.lower != LowerTest::Less || !info.signed || info.size < 4 || !self.selects.contains(&out.0) {
            return None;
        }
        let [a, b] = info.in_order(*sources);
        let known = |register: Register| {
            let bits = *self.known.get(&register.0)?;
            Some(if info.size == 4 { i64::from(bits as i32) } else { bits as i64 })
        };
        let (register, limit) = known(b).map(|b| (a, b)).or_else(|| Some((b, known(a)?.checked_add(1)?)))?;
        let numbers = self.progression(register)?;
        NEGATIVE.contains(&limit).then_some((numbers, limit))
    }

    /// True if all bits of the result of an operation are the sign of its first operand.
    pub(super) fn repeats_sign(&self, info: &PureInfo, sources: [Register; 4]) -> bool {
        let bits = self.known.get(&sources[1].0);
        info.lower == Lower::ShiftRight
            && info.signed[1]
            && bits.is_some_and(|bits| *bits >= u64::from(info.sizes[0]) * 8 - 1)
    }
}

impl Progression {
    /// Returns the distance of the first of so many lanes from the last.
    pub(super) fn apart(self, lanes: usize) -> u64 {
        self.step.unsigned_abs() * (lanes as u64 - 1)
    }
}
