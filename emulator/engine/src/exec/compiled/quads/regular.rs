//! Operations on regular registers, and the tests of the premises of their results.

use super::premises::{Comparison, Premise, Progression};
use crate::exec::compiled::backend::{I32, I64, IntCC, Type, Val};
use crate::exec::compiled::writer::Writer;
use crate::program::instruction::{Instruction, Op};
use crate::semantics::Register;
use crate::semantics::lower::Lower;

impl Writer<'_, '_> {
    /// Lets the lanes part before an instruction if its result has another shape than usually.
    pub(super) fn part_unless_regular(&mut self, pc: u32, instruction: &Instruction) {
        let Some(premise) = self.premise(instruction) else { return };
        let good = match premise {
            Premise::NoWrap(numbers, signed) => {
                let first = self.get(numbers.register, I32);
                self.never_wraps(first, numbers.step, signed)
            }
            Premise::OneSide(numbers, limit) => {
                let [first, last] = self.ends(numbers);
                let limit = self.e.int(self.e.ty(first), limit as u64);
                // They are too near to wrap around and pass the limit too.
                let [a, b] = [first, last].map(|lane| self.e.icmp(IntCC::SignedLessThan, lane, limit));
                let differ = self.e.bxor(a, b);
                self.e.not(differ)
            }
            Premise::SameBits(numbers, bits) => self.have_same_bits(numbers, bits),
            Premise::SameSide(comparison) => self.agree(&comparison, false),
            Premise::Never(comparison) => self.agree(&comparison, true),
            Premise::Unequal(numbers, other) => {
                let ty = self.own_integer(numbers.register);
                let [first, other] = [numbers.register, other].map(|register| self.get(register, ty));
                let from =
                    if numbers.step > 0 { self.e.isub(other, first) } else { self.e.isub(first, other) };
                let apart = self.e.int(ty, numbers.apart(self.lane_count()));
                self.e.icmp(IntCC::UnsignedLessThan, apart, from)
            }
            // It is tested by the division.
            Premise::SameQuotient(..) => return,
        };
        self.part_unless(good, pc);
    }

    /// Writes a division whose quotients should be the same, for the first lane, and lets the lanes
    /// part if they are not. Returns false for another instruction.
    pub(super) fn divide_together(&mut self, pc: u32, instruction: &Instruction) -> bool {
        let Op::Pure { info, out, .. } = &instruction.op else { return false };
        let Some(Premise::SameQuotient(numbers, divisor, signed)) = self.premise(instruction) else {
            return false;
        };
        let ty = self.own_integer(numbers.register);
        let [first, by] = [numbers.register, divisor].map(|register| self.get(register, ty));
        let apart = numbers.apart(self.lane_count());
        let most = u64::MAX >> (64 - 8 * ty.bytes()) >> u32::from(signed);
        let last = self.e.int(ty, if numbers.step > 0 { most - apart } else { most });
        let in_range = self.e.icmp(IntCC::UnsignedLessThanOrEqual, first, last);
        let [zero, one] = [0, 1].map(|number| self.e.int(ty, number));
        let positive = if signed { IntCC::SignedGreaterThan } else { IntCC::NotEqual };
        let positive = self.e.icmp(positive, by, zero);
        let by = self.e.select(positive, by, one);
        let quotient = self.e.udiv(first, by);
        let product = self.e.imul(quotient, by);
        let rest = self.e.isub(first, product);
        // The distance to the first number with another quotient.
        let room = if numbers.step > 0 { self.e.isub(by, rest) } else { self.e.iadd(rest, one) };
        let apart = self.e.int(ty, apart);
        let same = self.e.icmp(IntCC::UnsignedLessThan, apart, room);
        let good = self.e.band(in_range, positive);
        let good = self.e.band(good, same);
        self.part_unless(good, pc);
        let (result, step) = if info.lower == Lower::Div { (quotient, 0) } else { (rest, numbers.step) };
        self.for_first(step, |w| w.set(*out, result));
        true
    }

    /// True if a number, signed or not, that grows by a step from the first lane on does not wrap
    /// around between the lanes.
    pub(super) fn never_wraps(&mut self, first: Val, step: i64, signed: bool) -> Val {
        let ty = self.e.ty(first);
        let bits = 8 * ty.bytes();
        let apart = step.unsigned_abs() * (self.lane_count() as u64 - 1);
        let most = u64::MAX >> (64 - bits) >> u32::from(signed);
        let least = if signed { !most } else { 0 };
        let (limit, cc) = match (step > 0, signed) {
            (true, true) => (most - apart, IntCC::SignedLessThanOrEqual),
            (true, false) => (most - apart, IntCC::UnsignedLessThanOrEqual),
            (false, true) => (least + apart, IntCC::SignedGreaterThanOrEqual),
            (false, false) => (least + apart, IntCC::UnsignedGreaterThanOrEqual),
        };
        let limit = self.e.int(ty, limit);
        self.e.icmp(cc, first, limit)
    }

    fn premise(&self, instruction: &Instruction) -> Option<Premise> {
        self.plan.shapes.as_ref().and_then(|shapes| shapes.premise(instruction))
    }

    /// True if all lanes have the same bits from this one up; they differ by less than this bit.
    fn have_same_bits(&mut self, numbers: Progression, bits: u32) -> Val {
        let [first, last] = self.ends(numbers);
        let differ = self.e.bxor(first, last);
        let limit = self.e.int(self.e.ty(first), 1 << bits);
        self.e.icmp(IntCC::UnsignedLessThan, differ, limit)
    }

    /// True if a comparison has one result for all lanes; with `never`, if it holds for none.
    fn agree(&mut self, comparison: &Comparison, never: bool) -> Val {
        let Comparison { numbers, other, signed, first_less } = *comparison;
        let [first, last] = self.ends(numbers);
        let other = self.get(other, self.e.ty(first));
        let cc = if signed { IntCC::SignedLessThan } else { IntCC::UnsignedLessThan };
        let [a, b] = [first, last].map(|lane| {
            let [a, b] = if first_less { [lane, other] } else { [other, lane] };
            self.e.icmp(cc, a, b)
        });
        let wrong = if never { self.e.bor(a, b) } else { self.e.bxor(a, b) };
        let agree = self.e.not(wrong);
        let stays = self.never_wraps(first, numbers.step, signed);
        self.e.band(agree, stays)
    }

    /// Returns the numbers of the first and of the last lane.
    fn ends(&mut self, numbers: Progression) -> [Val; 2] {
        let first = self.get(numbers.register, self.own_integer(numbers.register));
        [first, self.of_lane(first, numbers.step, self.lane_count() - 1)]
    }

    /// Returns the type of a register as an integer.
    fn own_integer(&self, register: Register) -> Type {
        if self.own_type(register).bytes() == 8 { I64 } else { I32 }
    }
}
