//! Which registers hold something, where a check needs to know.
//!
//! A register that nobody wrote may be copied and computed with: the result counts as not written either, since
//! compilers move such values around that nobody uses in the end. What is reported is their use: as an address, as what
//! is stored, in a condition that decides what runs, by what all lanes of a warp do together.

use super::block::{Block, Stop};
use super::semantics::{bits, pure};
use crate::program::instruction::{Callee, Condition, Instruction, Op, Predicate, Register};
use crate::program::{Kernel, effects};
use crate::report::FaultKind;

/// For each row and each predicate the lanes where it was written.
#[derive(Debug, Default)]
pub(super) struct WrittenRegisters {
    rows: Vec<u32>,
    predicates: Vec<u32>,
}

impl WrittenRegisters {
    /// At the start of a block, only constants hold something.
    #[cold]
    pub(super) fn start(&mut self, kernel: &Kernel) {
        self.rows.clear();
        self.rows.resize(kernel.rows as usize, 0);
        self.predicates.clear();
        self.predicates.resize(kernel.predicates as usize, 0);
        self.predicates[Predicate::TRUE.0 as usize] = u32::MAX;
        kernel.constants.iter().for_each(|(register, ..)| self.rows[register.0 as usize] = u32::MAX);
    }

    fn row(&self, register: Register) -> u32 {
        self.rows[register.0 as usize]
    }

    fn predicate(&self, condition: Condition) -> u32 {
        self.predicates[condition.predicate.0 as usize]
    }

    /// The lanes where all that an instruction reads was written, its guard aside.
    fn sources(&self, instruction: &Instruction) -> u32 {
        let mut written = u32::MAX;
        effects::reads(instruction, &mut |register| written &= self.row(register));
        let mut first = true;
        effects::conditions(instruction, &mut |predicate| {
            // The guard comes first.
            if !std::mem::take(&mut first) {
                written &= self.predicates[predicate.0 as usize];
            }
        });
        written
    }

    /// In the lanes of `active`, results hold something where `written` says so.
    fn results(&mut self, instruction: &Instruction, active: u32, written: u32) {
        let set = |old: &mut u32| *old = *old & !active | written & active;
        effects::writes(instruction, &mut |register, _| set(&mut self.rows[register.0 as usize]));
        effects::predicates(instruction, &mut |predicate| set(&mut self.predicates[predicate.0 as usize]));
    }
}

impl Block<'_, '_> {
    /// Before an instruction runs in the lanes of `mask`: whether all that it depends on was written.
    #[cold]
    #[inline(never)]
    pub(super) fn watch_registers(&mut self, warp: usize, pc: u32, mask: u32) -> Result<(), Stop> {
        let kernel = self.launch.args.kernel;
        let instruction = self.instruction(pc);
        let holds = self.warps[warp].rows.holds(instruction.guard);
        let known = &mut self.warps[warp].registers;
        let unknown = mask & !known.predicate(instruction.guard);
        if unknown != 0 {
            return Err(self.fault(FaultKind::UninitialisedRegister, warp, pc, unknown));
        }
        let active = mask & holds;
        let written = match &instruction.op {
            // Bytes of a parameter, into a word of which the others may stay unwritten.
            Op::Pure { info, out, sources: [value, old, ..] }
                if old == out && info.plain as usize == pure::<bits::Insert32>().plain as usize =>
            {
                known.row(*value)
            }
            // What is not chosen does not count.
            Op::Select { a, b, condition, .. } => {
                let chosen = self.warps[warp].rows.holds(*condition);
                let known = &self.warps[warp].registers;
                known.predicate(*condition) & (known.row(*a) & chosen | known.row(*b) & !chosen)
            }
            Op::Pure { .. } | Op::Test { .. } | Op::Logic { .. } | Op::Carry(_) | Op::Video { .. } => {
                known.sources(instruction)
            }
            Op::Call(call) => {
                if let Callee::Direct(function) = call.callee {
                    let params = &kernel.functions[function as usize].params;
                    for (param, argument) in params.iter().zip(&call.arguments) {
                        known.rows[param.0 as usize] |= known.row(*argument) & active;
                    }
                } else if let Callee::Indirect(_) = call.callee {
                    let params = kernel.functions.iter().flat_map(|function| &function.params);
                    params.for_each(|param| known.rows[param.0 as usize] |= active);
                }
                u32::MAX
            }
            _ => {
                let unknown = active & !known.sources(instruction);
                if unknown != 0 {
                    return Err(self.fault(FaultKind::UninitialisedRegister, warp, pc, unknown));
                }
                u32::MAX
            }
        };
        self.warps[warp].registers.results(instruction, active, written);
        Ok(())
    }
}
