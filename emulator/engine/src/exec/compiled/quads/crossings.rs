//! The instructions that all lanes of a warp perform at once, if they run together.

use crate::program::instruction::{Collective, Condition, Constant, Instruction, Op};
use crate::program::{Kernel, RowKind, effects};
use crate::semantics::Register;
use crate::semantics::lower::Lower;
use crate::semantics::shuffle::ShuffleMode;
use std::collections::HashMap;

/// The instructions of a kernel that all lanes of a warp perform at once, if they run together.
pub(in crate::exec::compiled) struct Crossings {
    shuffles: HashMap<u32, Segments>,
    others: Vec<u32>,
}

/// The operands of a shuffle, as far as they are known.
#[derive(Clone, Copy)]
pub(super) struct Segments {
    pub(super) operand: Option<u32>,
    pub(super) clamp: u32,
    /// True if all lanes name the same members.
    pub(super) named: bool,
}

impl Segments {
    /// True if all lanes read from the lane that they name: they are one segment, and name the same
    /// members.
    pub(super) fn reads_named(self, mode: ShuffleMode) -> bool {
        mode == ShuffleMode::Index && self.clamp & 0x1f1f == 0x1f && self.named
    }
}

impl Crossings {
    /// Finds the shuffles, votes and barriers whose members are all lanes of a warp.
    pub(in crate::exec::compiled) fn of(kernel: &Kernel) -> Crossings {
        let numbers = numbers(kernel);
        let known = |register: Register| numbers.get(&register.0).map(|bits| *bits as u32);
        let single = |register: Register| kernel.row_kinds[register.0 as usize] == RowKind::Single;
        let mut found = Crossings { shuffles: HashMap::new(), others: Vec::new() };
        for (pc, instruction) in (0..).zip(&kernel.code) {
            if instruction.guard != Condition::ALWAYS {
                continue;
            }
            let Op::Collective { operation, members } = &instruction.op else {
                if let Op::ActiveMask { .. } = instruction.op {
                    found.others.push(pc);
                }
                continue;
            };
            let (named, whole) = (known(*members).is_some(), known(*members) == Some(u32::MAX));
            match operation {
                Collective::Shuffle { out, value, lane, clamp, .. } => {
                    let singles = [out, value, lane].into_iter().all(|register| single(*register));
                    // All lanes of the warp are there, whichever of them a lane names.
                    if let (Some(clamp), true) = (known(*clamp), singles && single(*members)) {
                        found.shuffles.insert(pc, Segments { operand: known(*lane), clamp, named });
                    }
                }
                Collective::VoteAll { .. }
                | Collective::VoteAny { .. }
                | Collective::VoteUniform { .. }
                | Collective::VoteBallot { .. }
                | Collective::WarpBarrier
                    if whole =>
                {
                    found.others.push(pc);
                }
                _ => {}
            }
        }
        found
    }

    pub(in crate::exec::compiled) fn contains(&self, pc: u32) -> bool {
        self.shuffles.contains_key(&pc) || self.others.binary_search(&pc).is_ok()
    }

    /// Returns the known operands of a shuffle.
    pub(super) fn segments(&self, pc: u32) -> Option<Segments> {
        self.shuffles.get(&pc).copied()
    }

    /// Returns the register that has to be the same in all lanes if they get the same result;
    /// `Err` with true if they always do, and with false if they do not.
    pub(super) fn chosen_by(&self, pc: u32, next: &Instruction) -> Result<Register, bool> {
        match (&next.op, self.segments(pc)) {
            (Op::Collective { operation: Collective::Shuffle { mode, lane, .. }, .. }, Some(known)) => {
                if known.reads_named(*mode) {
                    Ok(*lane)
                } else {
                    Err(false)
                }
            }
            _ => Err(true),
        }
    }
}

/// Returns the registers that always have the same number: constants, and copies of them in
/// registers that nothing else writes.
fn numbers(kernel: &Kernel) -> HashMap<u32, u64> {
    let mut writers: HashMap<u32, u32> = HashMap::new();
    for instruction in &kernel.code {
        effects::writes(instruction, &mut |register, _| *writers.entry(register.0).or_default() += 1);
    }
    let constants = kernel.constants.iter().filter_map(|(register, _, constant)| match constant {
        Constant::Bits(bits) => Some((register.0, *bits)),
        _ => None,
    });
    let mut found: HashMap<u32, u64> = constants.collect();
    for instruction in &kernel.code {
        let Op::Pure { info, out, sources } = &instruction.op else { continue };
        let copies = info.lower == Lower::Move && instruction.guard == Condition::ALWAYS;
        if let (true, Some(bits)) = (copies && writers.get(&out.0) == Some(&1), found.get(&sources[0].0)) {
            found.insert(out.0, *bits);
        }
    }
    found
}
