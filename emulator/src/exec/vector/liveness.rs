//! Which registers are still needed where.
//!
//! Lanes that are elsewhere need what lives at the places where they stand. A result may be written over all lanes of
//! its row if nobody needs the old one.

use super::registers::{visit_reads, visit_writes};
use crate::program::instruction::{Condition, Op, Register};
use crate::program::{Kernel, RowKind, flow};

/// Words of all sets together beyond which registers are not looked into: 4 MiB.
const MOST_WORDS: usize = 1 << 19;

/// A set of rows, a bit each.
pub(super) type RowSet = [u64];

/// The rows that are needed at each place where lanes may stand while others run.
#[derive(Debug)]
pub(super) struct Liveness {
    /// Words of a set.
    words: usize,
    /// Which set belongs to an instruction; `u32::MAX` where lanes never stand.
    slots: Vec<u32>,
    sets: Vec<u64>,
    /// Rows that lanes read from each other.
    exchanged: Vec<u64>,
}

impl Liveness {
    /// `None` in kernels with instructions that are not looked into, and in huge ones.
    pub(super) fn find(kernel: &Kernel) -> Option<Liveness> {
        let words = (kernel.rows as usize + 1).div_ceil(64);
        let starts: Vec<usize> = (0..kernel.code.len())
            .filter(|pc| *pc == 0 || kernel.ranks[*pc] != kernel.ranks[pc - 1])
            .collect();
        let stops = kernel.code.iter().filter(|instruction| may_wait(&instruction.op)).count();
        if !kernel.functions.is_empty() || (starts.len() * 2 + stops * 2) * words > MOST_WORDS {
            return None;
        }
        let mut exchanged = vec![0; words];
        for instruction in &kernel.code {
            let shared = matches!(instruction.op, Op::Collective { .. } | Op::Matrix(_));
            let known = visit_reads(instruction, &mut |register| {
                if shared {
                    insert(&mut exchanged, kernel, register);
                }
            });
            if !known || !visit_writes(instruction, &mut |_, _| {}) {
                return None;
            }
        }
        let block_of = |pc: u32| starts.partition_point(|start| *start <= pc as usize) - 1;
        let ends = |block: usize| starts.get(block + 1).copied().unwrap_or(kernel.code.len());
        let mut live_in = vec![0u64; starts.len() * words];
        let mut set = vec![0u64; words];
        let at_end = |block: usize, live_in: &[u64], set: &mut RowSet| {
            set.fill(0);
            for next in flow::successors(&kernel.code, ends(block) - 1) {
                let next = block_of(next) * words;
                set.iter_mut().zip(&live_in[next..next + words]).for_each(|(to, from)| *to |= from);
            }
        };
        let mut by_rank: Vec<usize> = (0..starts.len()).collect();
        by_rank.sort_unstable_by_key(|block| std::cmp::Reverse(kernel.ranks[starts[*block]]));
        let mut changed = true;
        while changed {
            changed = false;
            for block in &by_rank {
                at_end(*block, &live_in, &mut set);
                (starts[*block]..ends(*block)).rev().for_each(|pc| before(kernel, pc, &mut set));
                let known = &mut live_in[block * words..(block + 1) * words];
                changed |= *known != set[..];
                known.copy_from_slice(&set);
            }
        }
        let mut liveness =
            Liveness { words, slots: vec![u32::MAX; kernel.code.len()], sets: Vec::new(), exchanged };
        for (block, start) in starts.iter().enumerate() {
            at_end(block, &live_in, &mut set);
            for pc in (*start..ends(block)).rev() {
                if may_wait(&kernel.code[pc].op) && pc + 1 < ends(block) {
                    liveness.keep(pc + 1, &set);
                }
                before(kernel, pc, &mut set);
                if pc == *start || may_wait(&kernel.code[pc].op) {
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

    /// What is needed at an instruction; `None` if that is not known.
    pub(super) fn at(&self, pc: u32) -> Option<&RowSet> {
        let first = *self.slots.get(pc as usize)? as usize * self.words;
        self.sets.get(first..first + self.words)
    }

    /// Rows that lanes read from each other, wherever those stand.
    pub(super) fn exchanged(&self) -> &RowSet {
        &self.exchanged
    }
}

/// Whether lanes may stand at this instruction, or right behind it, while others of their warp run. Blocks aside,
/// where they may always.
pub(super) fn may_wait(op: &Op) -> bool {
    !matches!(
        op,
        Op::Pure { .. }
            | Op::Test { .. }
            | Op::Logic { .. }
            | Op::Select { .. }
            | Op::Carry(_)
            | Op::Load(_)
            | Op::Store(_)
            | Op::Atomic(_)
            | Op::LocalAddress { .. }
            | Op::ActiveMask { .. }
            | Op::Clock { .. }
            | Op::Fence(_)
            | Op::Branch { .. }
    )
}

/// From what is needed after an instruction to what is needed before it.
fn before(kernel: &Kernel, pc: usize, set: &mut RowSet) {
    let instruction = &kernel.code[pc];
    if instruction.guard == Condition::ALWAYS {
        visit_writes(instruction, &mut |register, width| {
            for row in super::registers::rows_of(register, width) {
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
