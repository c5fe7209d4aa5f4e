//! Liveness of registers.
//!
//! Lanes on other divergent paths need the registers that are live at their positions. A result may
//! overwrite all lanes of its row if no such lane needs the old value.

use super::uses::{rows_of, visit_reads, visit_writes};
use crate::program::blocks::Blocks;
use crate::program::effects::Course;
use crate::program::instruction::{Condition, Op};
use crate::program::{Kernel, RowKind, effects};
use crate::semantics::Register;

/// Maximum total size of all sets in words (4 MiB). Larger kernels are not analyzed.
const MOST_WORDS: usize = 1 << 19;

/// Maximum number of passes over all blocks. Liveness needs one per level of nested loops, and two
/// more; in more complex control flow it may need as many as there are blocks.
const MOST_ROUNDS: usize = 32;

pub(in crate::exec) type RowSet = [u64];

/// The live rows at each position where lanes may wait while others run.
#[derive(Debug)]
pub(in crate::exec) struct Liveness {
    words: usize,
    /// Index of the set of an instruction; `u32::MAX` if lanes never wait there.
    slots: Vec<u32>,
    sets: Vec<u64>,
    /// Rows that lanes read from each other.
    exchanged: Vec<u64>,
}

impl Liveness {
    /// Returns `None` for huge kernels, complex control flow, and instructions not analyzed.
    pub(in crate::exec) fn find(kernel: &Kernel, blocks: &Blocks) -> Option<Liveness> {
        let words = (kernel.rows as usize + 1).div_ceil(64);
        let stops = kernel.code.iter().filter(|instruction| may_wait(&instruction.op)).count();
        if !kernel.functions.is_empty() || (blocks.count() * 2 + stops * 2) * words > MOST_WORDS {
            return None;
        }
        let exchanged = exchanged(kernel, words)?;
        let mut live_in = vec![0u64; blocks.count() * words];
        let mut set = vec![0u64; words];
        let at_end = |block: usize, live_in: &[u64], set: &mut RowSet| {
            set.fill(0);
            for next in blocks.successors(block) {
                let next = &live_in[next * words..(next + 1) * words];
                set.iter_mut().zip(next).for_each(|(to, from)| *to |= from);
            }
        };
        let mut last_first: Vec<usize> = (0..blocks.count()).collect();
        last_first.sort_unstable_by_key(|block| std::cmp::Reverse(blocks.rank(*block)));
        let mut changed = true;
        for round in 0.. {
            if !changed {
                break;
            }
            if round == MOST_ROUNDS {
                return None;
            }
            changed = false;
            for block in &last_first {
                at_end(*block, &live_in, &mut set);
                blocks.range(*block).rev().for_each(|pc| before(kernel, pc, &mut set));
                let known = &mut live_in[block * words..(block + 1) * words];
                changed |= *known != set[..];
                known.copy_from_slice(&set);
            }
        }
        let slots = vec![u32::MAX; kernel.code.len()];
        let mut liveness = Liveness { words, slots, sets: Vec::new(), exchanged };
        for block in 0..blocks.count() {
            let range = blocks.range(block);
            at_end(block, &live_in, &mut set);
            for pc in range.clone().rev() {
                let waits = may_wait(&kernel.code[pc].op);
                if waits && pc + 1 < range.end {
                    liveness.keep(pc + 1, &set);
                }
                before(kernel, pc, &mut set);
                if waits || pc == range.start {
                    liveness.keep(pc, &set);
                }
            }
        }
        Some(liveness)
    }

    fn keep(&mut self, pc: usize, set: &RowSet) {
        self.slots[pc] = (self.sets.len() / self.words) as u32;
        self.sets.extend_from_slice(set);
    }

    /// Returns the live rows at an instruction; `None` if they are not known.
    pub(in crate::exec) fn at(&self, pc: u32) -> Option<&RowSet> {
        let first = *self.slots.get(pc as usize)? as usize * self.words;
        self.sets.get(first..first + self.words)
    }

    /// True if a register is live at an instruction, or if this is not known.
    pub(in crate::exec) fn needs(&self, pc: u32, register: Register) -> bool {
        self.at(pc).is_none_or(|set| contains(set, register))
    }

    /// Returns the rows that lanes read from each other, at any position.
    pub(in crate::exec) fn exchanged(&self) -> &RowSet {
        &self.exchanged
    }
}

/// Returns the rows that lanes read from each other; `None` if instructions are not analyzed.
fn exchanged(kernel: &Kernel, words: usize) -> Option<Vec<u64>> {
    let mut exchanged = vec![0; words];
    for instruction in &kernel.code {
        let shared = effects::exchanges(&instruction.op);
        let known = visit_reads(instruction, &mut |register| {
            if shared {
                insert(&mut exchanged, kernel, register);
            }
        });
        if !known || !visit_writes(instruction, &mut |_, _| {}) {
            return None;
        }
    }
    Some(exchanged)
}

#[inline(always)]
pub(in crate::exec) fn contains(set: &RowSet, register: Register) -> bool {
    let row = register.0 as usize;
    set.get(row / 64).is_none_or(|word| word >> (row % 64) & 1 != 0)
}

/// True if lanes may wait at this instruction, or directly after it, while others of their warp
/// run. At the ends of blocks they always may.
pub(super) fn may_wait(op: &Op) -> bool {
    !matches!(effects::course(op), Course::Next | Course::Jump(_))
}

/// Computes the live rows before an instruction from the live rows after it.
fn before(kernel: &Kernel, pc: usize, set: &mut RowSet) {
    let instruction = &kernel.code[pc];
    if instruction.guard == Condition::ALWAYS {
        visit_writes(instruction, &mut |register, width| {
            for row in rows_of(register, width) {
                set[row / 64] &= !(1 << (row % 64));
            }
        });
    }
    visit_reads(instruction, &mut |register| insert(set, kernel, register));
}

fn insert(set: &mut RowSet, kernel: &Kernel, register: Register) {
    let first = register.0 as usize;
    let wide = kernel.row_kinds.get(first) == Some(&RowKind::Lower);
    for row in first..first + if wide { 2 } else { 1 } {
        set[row / 64] |= 1 << (row % 64);
    }
}
