//! Short pieces of code between a branch and the place where its ways join.
//!
//! If the lanes of a quad take different ways, it runs all of an arm, each block with a mask of the
//! lanes that come to it.

use super::dominators::Dominators;
use crate::exec::compiled::backend::Val;
use crate::exec::compiled::support;
use crate::program::blocks::Blocks;
use crate::program::instruction::{Condition, Op};
use crate::program::{Kernel, effects};
use crate::semantics::Predicate;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

/// Maximum number of instructions of an arm of one block, and of several.
const MOST: usize = 24;
const MOST_OF_SEVERAL: usize = 64;

/// Maximum number of instructions of all arms: so many for each instruction of the kernel, and some
/// more. Instructions of an arm in an arm count twice.
const MOST_EACH: usize = 2;
const ALWAYS: usize = 200;

/// The arm after a branch.
#[derive(Clone, Debug)]
pub(in crate::exec::compiled) struct Arm {
    /// Instructions of its blocks, in an order in which none comes before one that leads to it.
    pub(super) blocks: Vec<Range<usize>>,
    /// The place where the ways join.
    pub(super) end: u32,
}

impl Arm {
    fn code(&self) -> Range<usize> {
        self.blocks[0].start..self.end as usize
    }
}

/// The arms of a kernel.
#[derive(Debug, Default)]
pub(in crate::exec::compiled) struct Arms {
    /// By the position of the branch.
    arms: HashMap<u32, Arm>,
    /// The number of the mask of each block in an arm, by its first instruction.
    masks: HashMap<u32, u32>,
    /// The first predicate that stands for a mask.
    first: u32,
    /// Instructions that need a guard.
    guards: HashMap<u32, Guard>,
    /// The branches before arms and in them.
    branches: HashSet<u32>,
}

/// The guard of an instruction in arms.
#[derive(Debug)]
pub(super) struct Guard {
    /// The mask of its block.
    pub(super) mask: Condition,
    /// The conditions of the branches before the arms.
    pub(super) branches: Vec<Condition>,
}

/// The lanes in an arm that is written.
#[derive(Clone)]
pub(in crate::exec::compiled) struct Masks {
    /// The mask of the block that is written.
    pub(super) own: Condition,
    /// Masks of the lanes that wait for the others at the beginnings of blocks; a vector for each
    /// quad.
    pub(super) waiting: BTreeMap<u32, Vec<Val>>,
    /// The place where all join.
    pub(super) end: u32,
}

/// The code of a kernel as arms are searched in it.
pub(in crate::exec::compiled) struct Search<'a> {
    pub(in crate::exec::compiled) kernel: &'a Kernel,
    pub(in crate::exec::compiled) blocks: &'a Blocks,
    /// The places where the ways from each block join.
    pub(in crate::exec::compiled) joins: &'a [Option<u32>],
}

impl Search<'_> {
    /// Returns the arms of one block.
    pub(in crate::exec::compiled) fn short(&self) -> Arms {
        self.arms(|_, arm| arm.blocks.len() == 1)
    }

    /// Returns the arms of one block, and arms of several blocks after branches whose lanes may
    /// take different ways.
    pub(in crate::exec::compiled) fn all(&self, differs: impl Fn(Condition) -> bool) -> Arms {
        self.arms(|branch, arm| arm.blocks.len() == 1 || differs(branch))
    }

    fn arms(&self, suits: impl Fn(Condition, &Arm) -> bool) -> Arms {
        let predecessors = self.blocks.predecessors();
        let of_branch = |block: usize| {
            let pc = self.blocks.range(block).end - 1;
            let arm = self.arm(block, &predecessors)?;
            suits(self.kernel.code[pc].guard, &arm).then_some((pc as u32, arm))
        };
        let mut all: Vec<(u32, Arm)> = (0..self.blocks.count()).filter_map(of_branch).collect();
        all.sort_by_key(|(pc, arm)| (arm.code().len(), *pc));
        let mut left = MOST_EACH * self.kernel.code.len() + ALWAYS;
        let fits = |(_, arm): &(u32, Arm)| {
            let rest = left.checked_sub(arm.code().len());
            left = rest.unwrap_or(left);
            rest.is_some()
        };
        all.retain(fits);
        all.sort_unstable_by_key(|(pc, _)| *pc);
        let mut found = Arms { first: self.kernel.predicates + 1, ..Arms::default() };
        for (pc, arm) in &all {
            found.branches.insert(*pc);
            for block in &arm.blocks {
                let number = found.masks.len() as u32;
                found.masks.entry(block.start as u32).or_insert(number);
                found.branches.insert(block.end as u32 - 1);
            }
        }
        self.add_guards(&mut found, &all, &predecessors);
        found.arms = all.into_iter().collect();
        found
    }

    /// Returns the code after the branch at the end of a block up to the place where its ways join,
    /// if quads can run it with masks.
    fn arm(&self, block: usize, predecessors: &[Vec<usize>]) -> Option<Arm> {
        let Search { kernel, blocks, joins } = self;
        let branch = &kernel.code[blocks.range(block).end - 1];
        let Op::Branch { target } = branch.op else { return None };
        let end = joins[block]?;
        let after = blocks.at(end);
        let back = (target as usize) < blocks.range(block).end;
        if branch.guard == Condition::ALWAYS || back || after <= block + 1 {
            return None;
        }
        let inside: Vec<Range<usize>> = (block + 1..after).map(|inner| blocks.range(inner)).collect();
        let most = if inside.len() == 1 { MOST } else { MOST_OF_SEVERAL };
        let forward = |inner: usize| {
            let entered = predecessors[inner].iter().all(|from| (block..inner).contains(from));
            let left = blocks.successors(inner).iter().all(|to| (inner + 1..=after).contains(to));
            entered && left && !blocks.successors(inner).is_empty()
        };
        let arm = Arm { blocks: inside, end };
        let good = arm.code().len() <= most && (block + 1..after).all(forward);
        (good && arm.code().all(|pc| self.runs_with_mask(pc))).then_some(arm)
    }

    /// True if an instruction can run for some lanes of a quad.
    fn runs_with_mask(&self, pc: usize) -> bool {
        let instruction = &self.kernel.code[pc];
        if let Op::Branch { .. } = instruction.op {
            return true;
        }
        let suits = match &instruction.op {
            Op::Load(_) | Op::Store(_) => true,
            Op::Pure { .. } | Op::Test { .. } | Op::Logic { .. } => true,
            Op::Select { .. } | Op::LocalAddress { .. } => true,
            Op::Atomic(atomic) => support::is_placed(atomic),
            _ => false,
        };
        suits && instruction.guard == Condition::ALWAYS && !support::is_stop(self.kernel, instruction)
    }

    /// Finds the instructions of arms that need a guard: accesses, and others whose results some
    /// lane needs that does not run them.
    fn add_guards(&self, found: &mut Arms, arms: &[(u32, Arm)], predecessors: &[Vec<usize>]) {
        if arms.is_empty() {
            return;
        }
        let uses = Uses::of(self.kernel);
        let mut guards: HashMap<u32, Guard> = HashMap::new();
        let mut outermost = 0;
        for (branch, arm) in arms {
            let condition = self.kernel.code[*branch as usize].guard;
            let code = arm.code();
            if code.start >= outermost {
                outermost = code.end;
                let first = self.blocks.at(code.start as u32);
                let dominators = Dominators::of(first..first + arm.blocks.len(), predecessors);
                for pc in code.clone().filter(|pc| !self.is_own(*pc, &uses, (arm, &dominators))) {
                    let block = self.blocks.range(self.blocks.at(pc as u32));
                    let mask = found.mask(block.start as u32);
                    guards.insert(pc as u32, Guard { mask, branches: Vec::new() });
                }
            }
            for pc in code {
                if let Some(guard) = guards.get_mut(&(pc as u32)) {
                    guard.branches.push(condition);
                }
            }
        }
        found.guards = guards;
    }

    /// True if only lanes that run an instruction of an arm read its results.
    fn is_own(&self, pc: usize, uses: &Uses, (arm, dominators): (&Arm, &Dominators)) -> bool {
        let instruction = &self.kernel.code[pc];
        let mut own = !matches!(instruction.op, Op::Load(_) | Op::Store(_) | Op::Atomic(_));
        let block = self.blocks.at(pc as u32);
        let mut test = |bit: u32| {
            let reads = uses.reads.get(&bit).map_or(&[][..], Vec::as_slice);
            let writes = uses.writes.get(&bit).map_or(&[][..], Vec::as_slice);
            let here = self.blocks.range(block);
            // All in this block, after it was written there.
            let first = writes.iter().find(|at| here.contains(at));
            let local = reads.iter().all(|at| here.contains(at) && first.is_some_and(|first| first < at));
            let dominated = |at: &usize| {
                let other = self.blocks.at(*at as u32);
                arm.code().contains(at)
                    && if other == block { *at > pc } else { dominators.dominates(block, other) }
            };
            own &= local || writes.len() == 1 && reads.iter().all(dominated);
        };
        effects::writes(instruction, &mut |register, _| test(register.0));
        effects::predicates(instruction, &mut |predicate| test(self.kernel.rows + predicate.0));
        own
    }
}

impl Arms {
    /// Returns the arm after a branch.
    pub(super) fn after(&self, pc: u32) -> Option<&Arm> {
        self.arms.get(&pc)
    }

    /// True if a branch is before an arm or in one.
    pub(super) fn has(&self, branch: u32) -> bool {
        self.branches.contains(&branch)
    }

    /// Returns the guard of an instruction in an arm, if it needs one.
    pub(super) fn guard(&self, pc: u32) -> Option<&Guard> {
        self.guards.get(&pc)
    }

    /// Returns the mask of a block in an arm.
    pub(super) fn mask(&self, start: u32) -> Condition {
        let number = self.masks.get(&start).copied().unwrap_or_default();
        Condition { predicate: Predicate(self.first + number), negated: false }
    }

    /// Returns the number of masks.
    pub(in crate::exec::compiled) fn masks(&self) -> u32 {
        self.masks.len() as u32
    }

    /// Returns the ends of all arms.
    pub(in crate::exec::compiled) fn ends(&self) -> impl Iterator<Item = u32> {
        self.arms.values().map(|arm| arm.end)
    }

    /// Returns the beginnings of the blocks of arms where lanes may wait for others.
    pub(in crate::exec::compiled) fn starts(&self) -> impl Iterator<Item = u32> {
        self.arms.values().flat_map(|arm| &arm.blocks[1..]).map(|block| block.start as u32)
    }

    /// Returns the number of instructions of all arms.
    pub(in crate::exec::compiled) fn size(&self) -> usize {
        self.arms.values().map(|arm| arm.code().len()).sum()
    }
}

/// The instructions that read and write each register, and each predicate after all rows.
#[derive(Default)]
struct Uses {
    reads: HashMap<u32, Vec<usize>>,
    writes: HashMap<u32, Vec<usize>>,
}

impl Uses {
    fn of(kernel: &Kernel) -> Uses {
        let mut uses = Uses::default();
        for (pc, instruction) in kernel.code.iter().enumerate() {
            let mut read = |bit: u32| uses.reads.entry(bit).or_default().push(pc);
            effects::reads(instruction, &mut |register| read(register.0));
            effects::conditions(instruction, &mut |predicate| read(kernel.rows + predicate.0));
            let mut write = |bit: u32| uses.writes.entry(bit).or_default().push(pc);
            effects::writes(instruction, &mut |register, _| write(register.0));
            effects::predicates(instruction, &mut |predicate| write(kernel.rows + predicate.0));
        }
        uses
    }
}
