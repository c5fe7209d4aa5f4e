//! Registers that a kernel may read before they are written.
//!
//! On hardware they contain arbitrary values. Here they are zero in each block, so that the results
//! of a kernel depend neither on the previous block nor on the mode of execution.

use super::blocks::Blocks;
use super::instruction::{Condition, Op};
use super::{Kernel, RowKind, effects};
use crate::semantics::{Predicate, Register};

/// Maximum total size of all sets in words (4 MiB). Beyond it, all registers count as unwritten.
const MOST_WORDS: usize = 1 << 19;

pub use super::kernel::Unwritten;

impl Kernel {
    /// Returns the registers that may be read before they are written.
    #[doc(hidden)]
    #[inline]
    pub fn unwritten(&self) -> &Unwritten {
        self.unwritten.get_or_init(|| Unwritten::find(self))
    }
}

impl Unwritten {
    /// Finds the registers that are live at the start of the kernel, or of one of its functions.
    /// Sets have one bit per row, then one per predicate.
    pub fn find(kernel: &Kernel) -> Unwritten {
        let blocks = Blocks::of(kernel);
        let words = ((kernel.rows + kernel.predicates) as usize).div_ceil(64);
        if blocks.count() * words > MOST_WORDS {
            return Self::of(kernel, &|_| true);
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
        for function in &kernel.functions {
            let block = blocks.at(function.entry);
            let mut own = alive[block * words..(block + 1) * words].to_vec();
            function.params.iter().for_each(|param| remove(&mut own, param.0));
            entries.iter_mut().zip(own).for_each(|(to, from)| *to |= from);
        }
        Self::of(kernel, &|bit| entries[bit as usize / 64] >> (bit % 64) & 1 != 0)
    }

    /// Returns the registers and predicates whose bit is set, except constants.
    fn of(kernel: &Kernel, is_set: &dyn Fn(u32) -> bool) -> Unwritten {
        // Constants are sorted by their rows.
        let is_constant =
            |row: &u32| kernel.constants.binary_search_by_key(row, |(constant, ..)| constant.0).is_ok();
        let registers = (0..kernel.rows).filter(|row| {
            kernel.row_kinds[*row as usize] != RowKind::Upper && is_set(*row) && !is_constant(row)
        });
        let predicates = (1..kernel.predicates).filter(|predicate| is_set(kernel.rows + predicate));
        Unwritten {
            registers: registers.map(Register).collect(),
            predicates: predicates.map(Predicate).collect(),
        }
    }
}

fn remove(set: &mut [u64], bit: u32) {
    set[bit as usize / 64] &= !(1 << (bit % 64));
}

/// Computes the live registers before an instruction from those after it.
fn before(kernel: &Kernel, pc: usize, set: &mut [u64]) {
    let instruction = &kernel.code[pc];
    if instruction.guard == Condition::ALWAYS {
        effects::writes(instruction, &mut |register, _| remove(set, register.0));
        effects::predicates(instruction, &mut |predicate| remove(set, kernel.rows + predicate.0));
    }
    let mut insert = |bit: u32| set[bit as usize / 64] |= 1 << (bit % 64);
    effects::reads(instruction, &mut |register| insert(register.0));
    effects::conditions(instruction, &mut |predicate| insert(kernel.rows + predicate.0));
    if matches!(instruction.op, Op::Return) {
        let of_function = kernel.functions.iter().filter(|function| function.entry as usize <= pc);
        let function = of_function.max_by_key(|function| function.entry);
        function.iter().flat_map(|function| &function.returns).for_each(|register| insert(register.0));
    }
}
