//! Instructions that may use registers before they are written.

use crate::program::instruction::{Instruction, Op};
use crate::program::{Kernel, effects};

/// Passes over a kernel after which all instructions count.
const MOST_PASSES: usize = 16;

/// Registers that may be uninitialized or computed from such registers, and the instructions that
/// use or change them. Only these need the check.
#[derive(Debug)]
pub(in crate::exec) struct Suspects {
    /// By row, then by predicate.
    registers: Vec<bool>,
    instructions: Vec<bool>,
    rows: usize,
}

impl Suspects {
    /// Returns `None` if the kernel writes all registers before it reads them.
    pub(in crate::exec) fn of(kernel: &Kernel) -> Option<Suspects> {
        let unwritten = kernel.unwritten();
        if unwritten.is_empty() {
            return None;
        }
        let rows = kernel.rows as usize;
        let mut registers = vec![false; rows + kernel.predicates as usize];
        unwritten.registers.iter().for_each(|register| registers[register.0 as usize] = true);
        unwritten.predicates.iter().for_each(|predicate| registers[rows + predicate.0 as usize] = true);
        let grows =
            |_| kernel.code.iter().fold(false, |grew, one| grew | spread(kernel, one, &mut registers));
        if (0..MOST_PASSES).all(grows) {
            registers.fill(true);
        }
        let uses = |instruction: &Instruction| {
            let mut any = matches!(instruction.op, Op::Call(_));
            each_source(instruction, rows, &mut |source| any |= registers[source]);
            each_result(kernel, instruction, &mut |result| any |= registers[result]);
            any
        };
        let instructions = kernel.code.iter().map(uses).collect();
        Some(Suspects { registers, instructions, rows })
    }

    /// True if an instruction needs the check.
    #[inline]
    pub(in crate::exec) fn contains(&self, pc: u32) -> bool {
        self.instructions[pc as usize]
    }

    /// Returns for each row whether it may be uninitialized.
    pub(in crate::exec) fn rows(&self) -> &[bool] {
        &self.registers[..self.rows]
    }

    /// Returns for each predicate whether it may be uninitialized.
    pub(in crate::exec) fn predicates(&self) -> &[bool] {
        &self.registers[self.rows..]
    }
}

/// Adds the results of an instruction that has a suspect source. Returns true if one is new.
fn spread(kernel: &Kernel, instruction: &Instruction, registers: &mut [bool]) -> bool {
    let mut suspect = false;
    each_source(instruction, kernel.rows as usize, &mut |source| suspect |= registers[source]);
    let mut grew = false;
    if suspect {
        each_result(kernel, instruction, &mut |result| {
            grew |= !std::mem::replace(&mut registers[result], true)
        });
    }
    grew
}

fn each_source(instruction: &Instruction, rows: usize, visit: &mut dyn FnMut(usize)) {
    effects::reads(instruction, &mut |register| visit(register.0 as usize));
    effects::conditions(instruction, &mut |predicate| visit(rows + predicate.0 as usize));
}

/// Visits the results of an instruction. The parameters of functions are results of calls.
fn each_result(kernel: &Kernel, instruction: &Instruction, visit: &mut dyn FnMut(usize)) {
    effects::writes(instruction, &mut |register, _| visit(register.0 as usize));
    effects::predicates(instruction, &mut |predicate| visit(kernel.rows as usize + predicate.0 as usize));
    if matches!(instruction.op, Op::Call(_)) {
        let params = kernel.functions.iter().flat_map(|function| &function.params);
        params.for_each(|param| visit(param.0 as usize));
    }
}
