//! Records the registers that were written.

use super::suspects::Suspects;
use crate::program::instruction::{Condition, Instruction};
use crate::program::{Kernel, effects};
use crate::semantics::{Predicate, Register};

#[derive(Debug, Default)]
pub(in crate::exec) struct WrittenRegisters {
    pub(in crate::exec) rows: Vec<u32>,
    predicates: Vec<u32>,
}

impl WrittenRegisters {
    /// Resets to the start of a block, when only constants and registers beyond suspicion count as
    /// written.
    #[cold]
    pub(in crate::exec) fn start(&mut self, kernel: &Kernel, suspects: &Suspects) {
        let state = |suspect: &bool| if *suspect { 0 } else { u32::MAX };
        self.rows.clear();
        self.rows.extend(suspects.rows().iter().map(state));
        self.predicates.clear();
        self.predicates.extend(suspects.predicates().iter().map(state));
        self.predicates[Predicate::TRUE.0 as usize] = u32::MAX;
        kernel.constants.iter().for_each(|(register, ..)| self.rows[register.0 as usize] = u32::MAX);
    }

    pub(in crate::exec) fn row(&self, register: Register) -> u32 {
        self.rows[register.0 as usize]
    }

    pub(in crate::exec) fn predicate(&self, condition: Condition) -> u32 {
        self.predicates[condition.predicate.0 as usize]
    }

    /// Returns the lanes in which all sources of an instruction, except its guard, were written.
    pub(in crate::exec) fn sources(&self, instruction: &Instruction) -> u32 {
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

    /// Sets the results of an instruction, in the lanes of `active`, to the states in `written`.
    pub(in crate::exec) fn results(&mut self, instruction: &Instruction, active: u32, written: u32) {
        let set = |old: &mut u32| *old = *old & !active | written & active;
        effects::writes(instruction, &mut |register, _| set(&mut self.rows[register.0 as usize]));
        effects::predicates(instruction, &mut |predicate| set(&mut self.predicates[predicate.0 as usize]));
    }
}
