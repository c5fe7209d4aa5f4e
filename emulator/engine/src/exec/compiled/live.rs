//! The registers that are live at each position, and the registers that a stop has to store.

use super::dataflow::{Set, Transfer, has, put, solve, union};
use super::loops;
use super::plan::{self, Plan};
use super::quads::Shape;
use super::support;
use crate::program::blocks::Blocks;
use crate::program::effects::{self, Course};
use crate::program::instruction::{Condition, Instruction, Op};
use crate::program::{Kernel, RowKind};
use crate::semantics::{Predicate, Register};
use std::collections::{HashMap, HashSet};

/// Maximum total size of all sets in words (4 MiB).
const MOST_WORDS: usize = 1 << 19;
/// The live registers, without constants.
#[derive(Default)]
pub(super) struct Live {
    /// Registers at each position where a block of machine code begins.
    pub(super) at: HashMap<u32, Vec<u32>>,
    /// Registers that a stop has to store: live, written since the entry, and not stored early.
    pub(super) stored: HashMap<u32, Vec<u32>>,
    /// Registers that are stored where they are written, because a stop that needs them is in an
    /// inner loop.
    pub(super) early: HashSet<u32>,
    /// Registers that a call has to keep: live after it, and no results.
    pub(super) kept: HashMap<u32, Vec<u32>>,
    /// Number of live registers at the beginnings of all blocks, and at the ways into them.
    pub(super) joined: usize,
    pub(super) accesses: usize,
    /// Number of live registers at all accesses.
    pub(super) crossed: usize,
    /// Maximum number of live registers at a stop, or at the beginning of a block.
    pub(super) most: usize,
    /// Number of vectors of a quad that are live at all instructions.
    pub(super) vectors: usize,
}

struct Flow<'a> {
    kernel: &'a Kernel,
    plan: &'a Plan,
    blocks: &'a Blocks,
    words: usize,
    /// Registers that have a variable: no constants.
    variable: Set,
    /// Registers and predicates that are vectors in quads, and the wide ones among them, which are
    /// two.
    vectors: [Set; 2],
}

impl Live {
    /// Returns `None` if the kernel is too large.
    pub(super) fn of(kernel: &Kernel, plan: &Plan, blocks: &Blocks) -> Option<Live> {
        let words = ((kernel.rows + kernel.predicates) as usize).div_ceil(64);
        if blocks.count() * words * 3 > MOST_WORDS {
            return None;
        }
        let mut variable = vec![u64::MAX; words];
        kernel.constants.iter().for_each(|(register, ..)| put(&mut variable, register.0, false));
        put(&mut variable, kernel.rows + Predicate::TRUE.0, false);
        let mut vectors = [vec![0; words], vec![0; words]];
        if let Some(shapes) = &plan.shapes {
            let varies = |bit: &u32| has(&variable, *bit) && shapes.at(*bit) == Shape::Varies;
            for bit in (0..kernel.rows + kernel.predicates).filter(varies) {
                put(&mut vectors[0], bit, true);
                put(&mut vectors[1], bit, kernel.row_kinds.get(bit as usize) == Some(&RowKind::Lower));
            }
        }
        let flow = Flow { kernel, plan, blocks, words, variable, vectors };
        let mut live = Live::default();
        let mut live_at_stops = HashMap::new();
        flow.find_live(&mut live, &mut live_at_stops)?;
        live.early = flow.find_early(&live_at_stops);
        flow.find_stored(&mut live, &live_at_stops)?;
        let of_targets = |instruction: &Instruction| match effects::course(&instruction.op) {
            Course::Jump(targets) => {
                targets.iter().filter_map(|target| live.at.get(target)).map(Vec::len).sum()
            }
            _ => 0,
        };
        live.joined += kernel.code.iter().map(of_targets).sum::<usize>();
        Some(live)
    }
}

impl Flow<'_> {
    fn find_live(&self, live: &mut Live, at_stops: &mut HashMap<u32, Vec<u32>>) -> Option<()> {
        let (blocks, words) = (self.blocks, self.words);
        let transfer = |block: usize| {
            let mut transfer = Transfer::of(vec![0; words]);
            blocks.range(block).rev().for_each(|pc| self.before(pc, &mut transfer));
            transfer
        };
        let successors = |block: usize| blocks.successors(block);
        let predecessors = self.blocks.predecessors();
        let mut order: Vec<usize> = (0..blocks.count()).collect();
        order.sort_unstable_by_key(|block| std::cmp::Reverse(blocks.rank(*block)));
        let before = solve(&order, words, transfer, successors, |block| &predecessors[block])?;
        for block in 0..blocks.count() {
            let mut transfer = Transfer::of(union(blocks.successors(block), &before, words));
            for pc in blocks.range(block).rev() {
                if support::jumps(self.kernel, &self.kernel.code[pc]) {
                    let mut kept = transfer.added.clone();
                    let results = &mut |result: Register, _| put(&mut kept, result.0, false);
                    effects::writes(&self.kernel.code[pc], results);
                    live.kept.insert(pc as u32, self.members(&kept));
                }
                self.before(pc, &mut transfer);
                self.note(pc, &transfer.added, live, at_stops);
            }
        }
        Some(())
    }

    /// Notes the live registers at an instruction as far as they matter.
    fn note(&self, pc: usize, set: &Set, live: &mut Live, at_stops: &mut HashMap<u32, Vec<u32>>) {
        let (leads, stops) = (self.plan.leads[pc], self.plan.stop_of[pc] != plan::NONE);
        if leads || stops {
            let members = self.members(set);
            live.joined += members.len();
            live.most = live.most.max(members.len());
            if stops {
                at_stops.insert(pc as u32, members.clone());
            }
            if leads {
                live.at.insert(pc as u32, members);
            }
        }
        let ones = |of: &Set| set.iter().zip(of).map(|(a, b)| (a & b).count_ones() as usize).sum::<usize>();
        live.vectors += self.vectors.iter().map(ones).sum::<usize>();
        if matches!(self.kernel.code[pc].op, Op::Load(_) | Op::Store(_) | Op::Atomic(_)) {
            live.accesses += 1;
            live.crossed += ones(&self.variable);
        }
    }

    /// Finds the registers that are live at a stop in more loops than all instructions that write
    /// them. Calls keep registers, so a kernel with functions has none.
    fn find_early(&self, at_stops: &HashMap<u32, Vec<u32>>) -> HashSet<u32> {
        let Flow { kernel, .. } = self;
        if !kernel.functions.is_empty() {
            return HashSet::new();
        }
        let loops = loops::of(kernel);
        let mut deepest = HashMap::new();
        for (pc, live) in at_stops {
            let pc = *pc as usize;
            let stops = support::is_stop(kernel, &kernel.code[pc]) && !self.plan.crosses(pc as u32);
            if loops[pc] != 0 && stops {
                for bit in live {
                    let most = deepest.entry(*bit).or_insert(0);
                    *most = loops[pc].max(*most);
                }
            }
        }
        for (pc, instruction) in kernel.code.iter().enumerate() {
            let mut written = |bit: u32| {
                if deepest.get(&bit).is_some_and(|most| *most <= loops[pc]) {
                    deepest.remove(&bit);
                }
            };
            effects::writes(instruction, &mut |register, _| written(register.0));
            effects::predicates(instruction, &mut |predicate| written(kernel.rows + predicate.0));
        }
        deepest.into_keys().collect()
    }

    /// Finds the registers that may have been written since an entry, and are live, at each stop.
    fn find_stored(&self, live: &mut Live, at_stops: &HashMap<u32, Vec<u32>>) -> Option<()> {
        let (blocks, words) = (self.blocks, self.words);
        let entries = self.kernel.functions.iter().map(|function| function.entry);
        let entered: HashMap<u32, Vec<u32>> =
            entries.map(|entry| (entry, live.at.get(&entry).cloned().unwrap_or_default())).collect();
        let transfer = |block: usize| {
            let mut transfer = Transfer::of(vec![0; words]);
            self.written_by_calls(block, &entered, &mut transfer);
            blocks.range(block).for_each(|pc| self.after(pc, &live.early, &mut transfer));
            transfer
        };
        let predecessors = self.blocks.predecessors();
        let mut order: Vec<usize> = (0..blocks.count()).collect();
        order.sort_unstable_by_key(|block| blocks.rank(*block));
        let successors = |block: usize| blocks.successors(block);
        let at_end = solve(&order, words, transfer, |block| &predecessors[block], successors)?;
        for (block, predecessors) in predecessors.iter().enumerate() {
            let mut transfer = Transfer::of(union(predecessors, &at_end, words));
            self.written_by_calls(block, &entered, &mut transfer);
            for pc in blocks.range(block) {
                if let Some(live_here) = at_stops.get(&(pc as u32)) {
                    let written = |bit: &u32| has(&transfer.added, *bit);
                    let stored = live_here.iter().copied().filter(written).collect();
                    live.stored.insert(pc as u32, stored);
                }
                self.after(pc, &live.early, &mut transfer);
            }
        }
        Some(())
    }

    /// Adds the registers that a call sets, at the beginning of a function.
    fn written_by_calls(&self, block: usize, entered: &HashMap<u32, Vec<u32>>, transfer: &mut Transfer) {
        let start = self.blocks.range(block).start as u32;
        entered.get(&start).into_iter().flatten().for_each(|bit| transfer.add(*bit));
    }

    /// Computes the live registers before an instruction from those after it.
    fn before(&self, pc: usize, transfer: &mut Transfer) {
        let Flow { kernel, .. } = self;
        let instruction = &kernel.code[pc];
        if instruction.guard == Condition::ALWAYS {
            effects::writes(instruction, &mut |register, _| transfer.remove(register.0));
            effects::predicates(instruction, &mut |predicate| transfer.remove(kernel.rows + predicate.0));
        }
        effects::reads(instruction, &mut |register| transfer.add(register.0));
        effects::conditions(instruction, &mut |predicate| transfer.add(kernel.rows + predicate.0));
        if matches!(instruction.op, Op::Return) {
            let function = support::function_at(kernel, pc as u32);
            let returns = function.iter().flat_map(|function| &function.returns);
            returns.for_each(|register| transfer.add(register.0));
        }
    }

    /// Computes the registers written since an entry after an instruction from those before it.
    fn after(&self, pc: usize, early: &HashSet<u32>, transfer: &mut Transfer) {
        let Flow { kernel, .. } = self;
        let instruction = &kernel.code[pc];
        if support::is_stop(kernel, instruction) && !self.plan.crosses(pc as u32) {
            if instruction.guard == Condition::ALWAYS {
                transfer.added.fill(0);
                transfer.removed.fill(u64::MAX);
            }
            return;
        }
        let mut add = |bit: u32| {
            if !early.contains(&bit) {
                transfer.add(bit);
            }
        };
        effects::writes(instruction, &mut |register, _| add(register.0));
        effects::predicates(instruction, &mut |predicate| add(kernel.rows + predicate.0));
    }

    fn members(&self, set: &Set) -> Vec<u32> {
        let mut members = Vec::new();
        for (word, (bits, variable)) in set.iter().zip(&self.variable).enumerate() {
            let mut bits = bits & variable;
            while bits != 0 {
                members.push(word as u32 * 64 + bits.trailing_zeros());
                bits &= bits - 1;
            }
        }
        members
    }
}
