//! Short pieces of code that a branch jumps over, which quads run with a guard in place of it.

use crate::exec::compiled::support;
use crate::program::blocks::Blocks;
use crate::program::instruction::{Condition, Instruction, Op};
use crate::program::{Kernel, effects};
use crate::semantics::Predicate;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Maximum number of instructions of an arm.
const MOST: usize = 24;

/// The arm after a branch.
#[derive(Clone, Debug)]
pub(in crate::exec::compiled) struct Arm {
    pub(super) code: Range<usize>,
    /// The condition of its lanes.
    pub(super) guard: Condition,
}

/// The arms of a kernel.
#[derive(Debug, Default)]
pub(in crate::exec::compiled) struct Arms {
    /// By the position of the branch.
    arms: HashMap<u32, Arm>,
    /// The guards of instructions that need one.
    guards: HashMap<u32, Condition>,
}

impl Arms {
    pub(in crate::exec::compiled) fn of(kernel: &Kernel, blocks: &Blocks) -> Arms {
        let mut reads: HashMap<u32, usize> = HashMap::new();
        for instruction in &kernel.code {
            effects::reads(instruction, &mut |register| *reads.entry(register.0).or_default() += 1);
        }
        let mut ways = vec![0; blocks.count()];
        (0..blocks.count()).flat_map(|block| blocks.successors(block)).for_each(|next| ways[*next] += 1);
        let mut found = Arms::default();
        for block in 0..blocks.count().saturating_sub(1) {
            let (pc, code) = (blocks.range(block).end - 1, blocks.range(block + 1));
            let branch = &kernel.code[pc];
            let Op::Branch { target } = branch.op else { continue };
            let skips = branch.guard != Condition::ALWAYS && target as usize == code.end;
            if !skips || ways[block + 1] != 1 || !suits(kernel, code.clone(), branch.guard.predicate) {
                continue;
            }
            let guard = Condition { negated: !branch.guard.negated, ..branch.guard };
            let inside = Inside::of(&kernel.code[code.clone()]);
            for (at, instruction) in code.clone().zip(&kernel.code[code.clone()]) {
                // Results that no lane needs outside of this run of the arm need no guard.
                let mut own = true;
                effects::writes(instruction, &mut |register, _| {
                    own &= inside.reads.get(&register.0) == reads.get(&register.0);
                    own &= !inside.before.contains(&register.0);
                });
                effects::predicates(instruction, &mut |_| own = false);
                if !own || !support::is_cheap(instruction) {
                    found.guards.insert(at as u32, guard);
                }
            }
            found.arms.insert(pc as u32, Arm { code, guard });
        }
        found
    }

    /// Returns the arm after a branch.
    pub(super) fn after(&self, pc: u32) -> Option<&Arm> {
        self.arms.get(&pc)
    }

    /// Returns the guard of an instruction in an arm, if it needs one.
    pub(super) fn guard(&self, pc: u32) -> Option<Condition> {
        self.guards.get(&pc).copied()
    }

    /// Returns the ends of all arms.
    pub(in crate::exec::compiled) fn ends(&self) -> impl Iterator<Item = u32> {
        self.arms.values().map(|arm| arm.code.end as u32)
    }
}

/// The registers that the instructions of an arm read.
#[derive(Default)]
struct Inside {
    /// The number of reads of each.
    reads: HashMap<u32, usize>,
    /// The registers whose values are from before the arm, perhaps from its last run.
    before: HashSet<u32>,
}

impl Inside {
    fn of(code: &[Instruction]) -> Inside {
        let (mut inside, mut written) = (Inside::default(), HashSet::new());
        for instruction in code {
            effects::reads(instruction, &mut |register| {
                *inside.reads.entry(register.0).or_default() += 1;
                if !written.contains(&register.0) {
                    inside.before.insert(register.0);
                }
            });
            effects::writes(instruction, &mut |register, _| _ = written.insert(register.0));
        }
        inside
    }
}

/// True if instructions can run with a guard.
fn suits(kernel: &Kernel, code: Range<usize>, predicate: Predicate) -> bool {
    let mut good = code.len() <= MOST && code.end < kernel.code.len();
    for instruction in &kernel.code[code] {
        let access = matches!(instruction.op, Op::Load(_) | Op::Store(_));
        good &= instruction.guard == Condition::ALWAYS && !support::is_stop(kernel, instruction);
        good &= access || support::is_cheap(instruction);
        effects::predicates(instruction, &mut |changed| good &= changed != predicate);
    }
    good
}
