//! The registers that an instruction reads and writes.

use crate::program::instruction::Instruction;
use crate::program::{Kernel, effects};
use crate::semantics::{Register, Width};

/// Calls `visit` with each register that is written. Returns false if not analyzed.
pub(in crate::exec) fn visit_writes(
    instruction: &Instruction,
    visit: &mut dyn FnMut(Register, Width),
) -> bool {
    effects::writes(instruction, visit);
    effects::is_simple(&instruction.op)
}

/// Calls `visit` with each register that is read. Returns false if not analyzed.
pub(in crate::exec) fn visit_reads(instruction: &Instruction, visit: &mut dyn FnMut(Register)) -> bool {
    effects::reads(instruction, visit);
    effects::is_simple(&instruction.op)
}

/// Number of instructions that read and write each vector register.
pub(in crate::exec) struct Uses {
    pub(in crate::exec) reads: Vec<u32>,
    pub(in crate::exec) writes: Vec<u32>,
}

impl Uses {
    /// Counts the uses. Returns `None` if the kernel contains instructions that are not analyzed.
    pub(in crate::exec) fn count(kernel: &Kernel) -> Option<Uses> {
        let rows = kernel.rows as usize + 1;
        let mut uses = Uses { reads: vec![0; rows], writes: vec![0; rows] };
        let mut known = kernel.functions.is_empty();
        for instruction in &kernel.code {
            known &= visit_writes(instruction, &mut |register, width| {
                for row in rows_of(register, width) {
                    uses.writes[row] += 1;
                }
            });
            known &= visit_reads(instruction, &mut |register| uses.reads[register.0 as usize] += 1);
        }
        known.then_some(uses)
    }

    pub(in crate::exec) fn written_once(&self, register: Register, width: Width) -> bool {
        rows_of(register, width).all(|row| self.writes[row] == 1)
    }
}

pub(in crate::exec) fn rows_of(register: Register, width: Width) -> std::ops::Range<usize> {
    let first = register.0 as usize;
    first..first + if width == Width::Double { 2 } else { 1 }
}
