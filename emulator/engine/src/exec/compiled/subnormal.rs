//! Registers without subnormal numbers, where operations would replace these by zeros (`.ftz`).

use super::dataflow::{Transfer, has, solve, union};
use crate::program::Kernel;
use crate::program::blocks::Blocks;
use crate::program::effects;
use crate::program::instruction::{Condition, Constant, Instruction, Op};
use crate::semantics::lower::{Elementary, Float, Lower, LowerTest};
use crate::semantics::{PureInfo, Register};
use std::collections::{HashMap, HashSet};

/// Returns the live registers that are known not to be subnormal, at each position with live
/// registers. None, if the kernel replaces no subnormal numbers or is too large.
pub(super) fn find(
    kernel: &Kernel,
    blocks: &Blocks,
    live: &HashMap<u32, Vec<u32>>,
) -> HashMap<u32, Vec<u32>> {
    let mut normal = HashMap::new();
    if !kernel.code.iter().any(flushes) {
        return normal;
    }
    let words = ((kernel.rows + kernel.predicates) as usize).div_ceil(64);
    let is_normal = |bits: u64| !f32::from_bits(bits as u32).is_subnormal();
    let constants = kernel.constants.iter().filter_map(|(register, _, constant)| match constant {
        Constant::Bits(bits) if is_normal(*bits) => Some(register.0),
        _ => None,
    });
    let flow = Flow {
        kernel,
        constants: constants.collect(),
        entries: kernel.functions.iter().map(|function| function.entry).collect(),
    };
    let transfer = |block: usize| {
        let mut transfer = Transfer::of(vec![0; words]);
        blocks.range(block).for_each(|pc| flow.run(pc, &mut transfer));
        transfer
    };
    let predecessors = blocks.predecessors();
    let mut order: Vec<usize> = (0..blocks.count()).collect();
    order.sort_unstable_by_key(|block| blocks.rank(*block));
    let successors = |block: usize| blocks.successors(block);
    let Some(at_end) = solve(&order, words, transfer, |block| &predecessors[block], successors) else {
        return normal;
    };
    for (block, predecessors) in predecessors.iter().enumerate() {
        let added = union(predecessors, &at_end, words);
        let mut transfer = Transfer::of(added);
        for pc in blocks.range(block) {
            flow.enter(pc, &mut transfer);
            if let Some(live) = live.get(&(pc as u32)) {
                let is_normal = |bit: &u32| *bit < kernel.rows && !has(&transfer.added, *bit);
                normal.insert(pc as u32, live.iter().copied().filter(is_normal).collect());
            }
            flow.leave(pc, &mut transfer);
        }
    }
    normal
}

/// True if an instruction replaces subnormal operands.
fn flushes(instruction: &Instruction) -> bool {
    match &instruction.op {
        Op::Pure { info, .. } => matches!(info.lower, Lower::Float(_, limits) if limits.flush),
        Op::Test { info, .. } => matches!(info.lower, LowerTest::Float { flush: true, .. }),
        _ => false,
    }
}

struct Flow<'a> {
    kernel: &'a Kernel,
    /// Registers that are constants, and not subnormal.
    constants: HashSet<u32>,
    /// Entries of functions.
    entries: HashSet<u32>,
}

/// The set contains the registers that may be subnormal. Registers are zero in the beginning.
impl Flow<'_> {
    fn run(&self, pc: usize, transfer: &mut Transfer) {
        self.enter(pc, transfer);
        self.leave(pc, transfer);
    }

    fn enter(&self, pc: usize, transfer: &mut Transfer) {
        if self.entries.contains(&(pc as u32)) {
            all(transfer);
        }
    }

    fn leave(&self, pc: usize, transfer: &mut Transfer) {
        let instruction = &self.kernel.code[pc];
        if matches!(instruction.op, Op::Call(_)) {
            return all(transfer);
        }
        let is_normal = match &instruction.op {
            Op::Pure { info, sources, .. } if info.lower == Lower::Move => {
                self.is_normal(sources[0], transfer)
            }
            Op::Pure { info, .. } => is_normal(info),
            Op::Select { a, b, .. } => [a, b].iter().all(|source| self.is_normal(**source, transfer)),
            _ => false,
        };
        effects::writes(instruction, &mut |register, _| match (is_normal, instruction.guard) {
            (false, _) => transfer.add(register.0),
            (true, Condition::ALWAYS) => transfer.remove(register.0),
            (true, _) => {}
        });
    }

    /// True if a register is known not to be subnormal since it was written in the same block.
    fn is_normal(&self, register: Register, transfer: &Transfer) -> bool {
        self.constants.contains(&register.0) || has(&transfer.removed, register.0)
    }
}

fn all(transfer: &mut Transfer) {
    transfer.added.fill(u64::MAX);
    transfer.removed.fill(0);
}

/// True if the result of an operation, as a number in single precision, is never subnormal.
fn is_normal(info: &PureInfo) -> bool {
    info.sizes[0] == 4
        && match info.lower {
            Lower::Float(operation, limits) => {
                limits.flush || matches!(operation, Float::Sqrt | Float::Rsqrt)
            }
            Lower::FloatToFloat(limits) => limits.flush,
            Lower::Elementary(function, flush) => {
                flush || matches!(function, Elementary::Log2 | Elementary::Cosine)
            }
            Lower::FloatToWhole(..) | Lower::IntToFloat => true,
            _ => false,
        }
}
