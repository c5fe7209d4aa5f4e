//! Registers that a kernel may read before anybody has written them.
//!
//! On hardware they hold whatever was there. Here they are zero in each block, so that what a kernel computes depends
//! neither on the block that ran before nor on how it is run.

use super::vector::Blocks;
use crate::program::instruction::{Collective, Condition, Op, Register};
use crate::program::{Kernel, RowKind, effects};

/// Words of all sets together beyond which all registers are taken to be such: 4 MiB.
const MOST_WORDS: usize = 1 << 19;

/// The rows of such registers, each by its first one.
#[derive(Debug)]
pub(crate) struct Unwritten(Vec<Register>);

impl Unwritten {
    /// What lives where the kernel begins, or one of its functions.
    pub(crate) fn find(kernel: &Kernel) -> Unwritten {
        let blocks = Blocks::of(kernel);
        let words = (kernel.rows as usize).div_ceil(64);
        let registers = || (0..kernel.rows).filter(|row| kernel.row_kinds[*row as usize] != RowKind::Upper);
        if blocks.count() * words > MOST_WORDS {
            return Unwritten(without_constants(kernel, registers()));
        }
        let mut alive = vec![0u64; blocks.count() * words];
        let mut set = vec![0u64; words];
        let mut changed = true;
        while changed {
            changed = false;
            for block in (0..blocks.count()).rev() {
                set.fill(0);
                for next in blocks.successors(block) {
                    let next = &alive[next * words..(next + 1) * words];
                    set.iter_mut().zip(next).for_each(|(to, from)| *to |= from);
                }
                blocks.range(block).rev().for_each(|pc| before(kernel, pc, &mut set));
                let known = &mut alive[block * words..(block + 1) * words];
                changed |= *known != set[..];
                known.copy_from_slice(&set);
            }
        }
        let mut entries = alive[..words].to_vec();
        // What a shuffle reads from a lane that has written nothing.
        for instruction in &kernel.code {
            if let Op::Collective { operation: Collective::Shuffle { value, .. }, .. } = &instruction.op {
                entries[value.0 as usize / 64] |= 1 << (value.0 % 64);
            }
        }
        for function in &kernel.functions {
            let block = blocks.at(function.entry);
            let mut own = alive[block * words..(block + 1) * words].to_vec();
            function.params.iter().for_each(|param| remove(&mut own, *param));
            entries.iter_mut().zip(own).for_each(|(to, from)| *to |= from);
        }
        let alive = registers().filter(|row| entries[*row as usize / 64] >> (row % 64) & 1 != 0);
        Unwritten(without_constants(kernel, alive))
    }

    pub(crate) fn registers(&self) -> &[Register] {
        &self.0
    }
}

fn without_constants(kernel: &Kernel, rows: impl Iterator<Item = u32>) -> Vec<Register> {
    // They are in the order of their rows.
    let is_constant =
        |row: &u32| kernel.constants.binary_search_by_key(row, |(constant, ..)| constant.0).is_ok();
    rows.filter(|row| !is_constant(row)).map(Register).collect()
}

fn remove(set: &mut [u64], register: Register) {
    set[register.0 as usize / 64] &= !(1 << (register.0 % 64));
}

/// From what lives after an instruction to what lives before it.
fn before(kernel: &Kernel, pc: usize, set: &mut [u64]) {
    let instruction = &kernel.code[pc];
    if instruction.guard == Condition::ALWAYS {
        effects::writes(instruction, &mut |register, _| remove(set, register));
    }
    let mut insert = |register: Register| set[register.0 as usize / 64] |= 1 << (register.0 % 64);
    effects::reads(instruction, &mut insert);
    if matches!(instruction.op, Op::Return) {
        let of_function = kernel.functions.iter().filter(|function| function.entry as usize <= pc);
        let function = of_function.max_by_key(|function| function.entry);
        function.iter().flat_map(|function| &function.returns).for_each(|register| insert(*register));
    }
}
