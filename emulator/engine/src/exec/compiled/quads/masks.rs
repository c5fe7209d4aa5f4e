//! Arms as machine code: blocks that run for some lanes of a quad, each with a mask of its lanes.

use super::arms::{Arm, Masks};
use crate::exec::compiled::backend::Val;
use crate::exec::compiled::values::Way;
use crate::exec::compiled::writer::Writer;
use crate::program::effects;
use crate::program::instruction::{Condition, Op};
use std::collections::BTreeMap;
use std::ops::Range;

/// Instructions of a block that lanes skip if it has none of them.
const SKIPPED: usize = 5;

impl Writer<'_, '_> {
    /// Returns the arm after a branch, if lanes may differ.
    pub(in crate::exec::compiled) fn arm_after(&self, pc: u32) -> Option<Arm> {
        let arm = self.quads.as_ref().and_then(|_| self.plan.arms.after(pc))?;
        (!self.is_uniform_condition(self.kernel.code[pc as usize].guard)).then(|| arm.clone())
    }

    /// Writes a branch before an arm, with the ways to its target and to the next instruction. If
    /// only some lanes jump, all run the arm with masks.
    pub(in crate::exec::compiled) fn branch_to_arm(&mut self, pc: u32, arm: &Arm, [yes, no]: [Way; 2]) {
        let guard = self.kernel.code[pc as usize].guard;
        let lanes = self.lanes_of(guard);
        let parted = self.e.block();
        let [none, every] = self.branch_by_lanes(lanes, (no.block, &[]), (yes.block, &[]), parted);
        self.take(no, none);
        self.take(yes, every);
        self.e.go_on(parted);
        self.run_arm(pc, arm);
        self.jump_to(arm.end);
    }

    /// Runs an arm for lanes that take different ways at the branch before it.
    fn run_arm(&mut self, pc: u32, arm: &Arm) {
        self.arm = Some(Masks { own: Condition::ALWAYS, waiting: BTreeMap::new(), end: arm.end });
        for (to, condition) in self.ways_from(pc) {
            let mask = self.masks_of(condition);
            self.send(to, mask);
        }
        for block in &arm.blocks {
            let start = block.start as u32;
            let waiting = self.arm.as_mut().and_then(|masks| masks.waiting.remove(&start));
            let Some(mask) = waiting else { continue };
            let own = self.plan.arms.mask(start);
            for (quad, mask) in mask.iter().enumerate() {
                let slot = self.slot(self.kernel.rows + own.predicate.0, quad);
                self.set_value(slot, *mask);
            }
            if let Some(masks) = &mut self.arm {
                masks.own = own;
            }
            let sent = if block.start == arm.blocks[0].start || block.len() < SKIPPED {
                self.masked_block(block.clone(), &mask)
            } else {
                self.skipped_block(block.clone(), &mask)
            };
            sent.into_iter().for_each(|(to, mask)| self.send(to, mask));
        }
        self.arm = None;
    }

    /// Writes a block for the lanes of a mask. Returns the lanes that go on to each block after it.
    fn masked_block(&mut self, block: Range<usize>, mask: &[Val]) -> Vec<(u32, Vec<Val>)> {
        for pc in block.clone() {
            let instruction = &self.kernel.code[pc];
            if let Op::Branch { .. } = instruction.op {
                continue;
            }
            self.touch(pc..pc + 1);
            if !self.guarded_in_quad(pc as u32, instruction) {
                self.quad_instruction(pc as u32, instruction);
            }
            self.store_early(pc as u32);
        }
        let ways = self.ways_from(block.end as u32 - 1);
        ways.into_iter()
            .map(|(to, condition)| {
                if condition == Condition::ALWAYS {
                    return (to, mask.to_vec());
                }
                let taken = self.masks_of(condition);
                let both = mask.iter().zip(taken);
                (to, both.map(|(mask, taken)| self.e.band(*mask, taken)).collect())
            })
            .collect()
    }

    /// The same for a block that is skipped if none of its lanes runs.
    fn skipped_block(&mut self, block: Range<usize>, mask: &[Val]) -> Vec<(u32, Vec<Val>)> {
        let written = self.touch(block.clone());
        let [run, after] = std::array::from_fn(|_| self.e.block());
        let ways = self.ways_from(block.end as u32 - 1).len();
        let mut old = self.collect(&written);
        (0..ways).for_each(|_| old.extend(mask));
        let some = self.bits_of(mask);
        self.e.branch(some, (run, &[]), (after, &old));
        self.e.go_on(run);
        let sent = self.masked_block(block, mask);
        let mut new = self.collect(&written);
        new.extend(sent.iter().flat_map(|(_, mask)| mask));
        self.e.jump(after, &new);
        self.e.go_on(after);
        let slots = self.slots(&written).into_owned();
        self.set_params(after, &slots);
        let mut param = |mask: Val| self.e.param(after, self.e.ty(mask));
        sent.into_iter().map(|(to, mask)| (to, mask.into_iter().map(&mut param).collect())).collect()
    }

    /// Makes sure that all registers of a block have values before it. Returns the registers and
    /// predicates that it writes.
    fn touch(&mut self, block: Range<usize>) -> Vec<u32> {
        let (mut written, mut touched) = (Vec::new(), Vec::new());
        for instruction in &self.kernel.code[block] {
            written.extend(self.written_by(instruction));
            effects::reads(instruction, &mut |register| touched.push(register.0));
            effects::conditions(instruction, &mut |predicate| touched.push(self.kernel.rows + predicate.0));
        }
        written.sort_unstable();
        written.dedup();
        self.collect(&touched);
        written
    }

    /// Returns the places to which lanes go after the last instruction of a block, and the
    /// conditions.
    fn ways_from(&self, pc: u32) -> Vec<(u32, Condition)> {
        let instruction = &self.kernel.code[pc as usize];
        let guard = instruction.guard;
        match instruction.op {
            Op::Branch { target } if guard == Condition::ALWAYS => vec![(target, guard)],
            Op::Branch { target } => {
                vec![(target, guard), (pc + 1, Condition { negated: !guard.negated, ..guard })]
            }
            _ => vec![(pc + 1, Condition::ALWAYS)],
        }
    }

    /// Lets lanes wait at the beginning of a block of the arm.
    fn send(&mut self, to: u32, mask: Vec<Val>) {
        let Some(masks) = &mut self.arm else { return };
        if to == masks.end {
            return;
        }
        let before = masks.waiting.remove(&to);
        let all = match before {
            Some(before) => before.iter().zip(mask).map(|(a, b)| self.e.bor(*a, b)).collect(),
            None => mask,
        };
        if let Some(masks) = &mut self.arm {
            masks.waiting.insert(to, all);
        }
    }
}
