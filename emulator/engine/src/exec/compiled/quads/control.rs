//! The instructions of quads: their branches, arms and operations.

use super::parts;
use super::shapes::Shape;
use super::sizes::QUAD;
use crate::exec::compiled::backend::{Blk, Edge, I32, IntCC, Val};
use crate::exec::compiled::lower;
use crate::exec::compiled::support;
use crate::exec::compiled::writer::Writer;
use crate::program::instruction::{Condition, Instruction, Op};

impl Writer<'_, '_> {
    /// Returns a bit for each running lane.
    pub(in crate::exec::compiled) fn all_lanes(&self) -> u64 {
        (1 << self.lane_count()) - 1
    }

    /// Returns a bit for each running lane in which a condition holds.
    pub(in crate::exec::compiled) fn lanes_of(&mut self, condition: Condition) -> Val {
        let masks = self.masks_of(condition);
        self.bits_of(&masks)
    }

    /// Returns a bit for each lane of a mask.
    pub(super) fn bits_of(&mut self, masks: &[Val]) -> Val {
        let mut all = self.e.bits_of(masks[0]);
        for (quad, mask) in masks.iter().enumerate().skip(1) {
            let (bits, amount) = (self.e.bits_of(*mask), self.e.int(I32, (quad * QUAD) as u64));
            let bits = self.e.ishl(bits, amount);
            all = self.e.bor(all, bits);
        }
        all
    }

    /// Returns a condition as a mask of the lanes of each quad.
    pub(super) fn masks_of(&mut self, condition: Condition) -> Vec<Val> {
        let of_quad = |w: &mut Self| {
            let mask = w.condition(condition);
            w.mask_of(mask, 32)
        };
        self.wholes().into_iter().map(|quad| self.with_focus(quad, of_quad)).collect()
    }

    /// Writes an instruction whose guard, of its own or of its arm, may differ between lanes.
    /// Returns false if it has none, or is no access or cheap.
    pub(in crate::exec::compiled) fn guarded_in_quad(&mut self, pc: u32, instruction: &Instruction) -> bool {
        let own = match self.arm {
            Some(_) => self.plan.arms.guard(pc).map(|guard| guard.mask),
            None => Some(instruction.guard),
        };
        let Some(guard) = own.filter(|guard| !self.is_uniform_condition(*guard)) else { return false };
        if support::is_stop(self.kernel, instruction) {
            return false;
        }
        match &instruction.op {
            Op::Load(access) => self.load_masked(pc, access, guard),
            Op::Store(access) => self.store_masked(pc, access, guard),
            Op::Atomic(atomic) if self.arm.is_some() => self.change_masked(pc, atomic, guard),
            _ if self.arm.is_some() || support::is_cheap(instruction) => {
                self.selected_quad(pc, instruction, guard);
            }
            _ => return false,
        }
        true
    }

    /// Branches by a condition that may differ between lanes: to the first way if it holds in all,
    /// to the second if in none. Otherwise the lanes part before the instruction.
    pub(in crate::exec::compiled) fn branch_together(
        &mut self,
        pc: u32,
        condition: Condition,
        [yes, no]: [(Blk, &[Val]); 2],
    ) -> [Edge; 2] {
        let bits = self.lanes_of(Condition { negated: false, ..condition });
        let parted = self.e.block();
        let (of_all, of_none) = if condition.negated { (no, yes) } else { (yes, no) };
        let [none, all] = self.branch_by_lanes(bits, of_none, of_all, parted);
        self.e.cold(parted);
        self.e.go_on(parted);
        self.part(pc);
        if condition.negated { [none, all] } else { [all, none] }
    }

    /// Branches by the bits of lanes: if none is set, if all are, and otherwise.
    pub(super) fn branch_by_lanes(
        &mut self,
        bits: Val,
        of_none: (Blk, &[Val]),
        of_all: (Blk, &[Val]),
        otherwise: Blk,
    ) -> [Edge; 2] {
        let some = self.e.block();
        let [_, none] = self.e.branch(bits, (some, &[]), of_none);
        self.e.go_on(some);
        let all = self.e.int(I32, self.all_lanes());
        let every = self.e.icmp(IntCC::Equal, bits, all);
        let [all, _] = self.e.branch(every, of_all, (otherwise, &[]));
        [none, all]
    }

    /// Writes an instruction that has machine code, for all lanes of the quad.
    pub(in crate::exec::compiled) fn quad_instruction(&mut self, pc: u32, instruction: &Instruction) {
        match &instruction.op {
            Op::Load(access) => self.load_quad(pc, access),
            Op::Store(access) => self.store_quad(pc, access),
            Op::Atomic(atomic) => self.change_quad(pc, atomic),
            Op::Fence(_) => self.e.fence(),
            Op::BranchIndexed { index, .. } if self.is_uniform(index.0) => {
                lower::instruction(self, pc, instruction);
            }
            Op::BranchIndexed { .. } | Op::Call(_) => self.part(pc),
            _ if self.divide_together(pc, instruction) => {}
            _ => {
                self.part_unless_regular(pc, instruction);
                self.with_stem(instruction, |w| {
                    w.compute(instruction, Condition::ALWAYS, |w| lower::instruction(w, pc, instruction));
                });
            }
        }
    }

    /// Writes an operation, for the first lane only if its results are regular.
    fn compute(&mut self, instruction: &Instruction, guard: Condition, write: impl FnMut(&mut Self)) {
        let shapes = self.plan.shapes.as_ref();
        let shape = shapes.map_or(Shape::Varies, |shapes| shapes.as_computed(instruction));
        // With a guard, the old values count too.
        let vectors = guard != Condition::ALWAYS && self.writes_vectors(instruction);
        match if vectors { Shape::Varies } else { shape } {
            Shape::Regular(step) => self.for_first(step, write),
            Shape::Varies => {
                let focuses = parts::focuses(self, instruction, guard != Condition::ALWAYS);
                if self.is_worth_a_look(instruction, guard) {
                    return self.once_if_same(instruction, &focuses, write);
                }
                self.for_each(&focuses, write);
            }
        }
    }

    fn writes_vectors(&self, instruction: &Instruction) -> bool {
        self.written_by(instruction).into_iter().any(|bit| self.shape(bit) == Shape::Varies)
    }

    /// Writes an instruction without effects. Its results count in lanes in which its guard holds.
    pub(in crate::exec::compiled) fn selected_quad(
        &mut self,
        pc: u32,
        instruction: &Instruction,
        guard: Condition,
    ) {
        self.part_unless_regular(pc, instruction);
        self.compute(instruction, guard, |w| {
            let condition = w.condition(guard);
            lower::selected(w, instruction, condition);
        });
    }
}
