//! The check for uses of uninitialized registers.
//!
//! An uninitialized register may be copied and used in arithmetic, and the result counts as
//! uninitialized too: compilers move such values around without using them in the end. Only these
//! uses are reported: as an address, as the value of a store, in a condition that controls
//! execution, and by collective operations of a warp.

use crate::exec::block::{Block, Issue, Stop};
use crate::program::instruction::{Callee, Op};
use crate::report::FaultKind;
use crate::semantics::known;

/// Checks, before the guard is evaluated, that all source registers were written.
#[cold]
#[inline(never)]
pub(in crate::exec) fn watch(block: &mut Block<'_, '_>, issue: Issue) -> Result<(), Stop> {
    let kernel = block.launch.args.kernel;
    let instruction = block.instruction(issue.pc);
    let holds = block.warps[issue.warp].rows.holds(instruction.guard);
    let unknown = issue.mask & !block.warps[issue.warp].registers.predicate(instruction.guard);
    if unknown != 0 {
        block.found(FaultKind::UninitializedRegister, issue.lanes(unknown), |fault| fault)?;
    }
    let known = &mut block.warps[issue.warp].registers;
    let active = issue.mask & holds;
    let written = match &instruction.op {
        // Inserts bytes of a parameter into a word whose other bytes may stay uninitialized.
        Op::Pure { info, out, sources: [value, old, ..] } if old == out && known::inserts(info) => {
            known.row(*value)
        }
        // The operand that is not selected does not count.
        Op::Select { a, b, condition, .. } => {
            let chosen = block.warps[issue.warp].rows.holds(*condition);
            let known = &block.warps[issue.warp].registers;
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
                block.found(FaultKind::UninitializedRegister, issue.lanes(unknown), |fault| fault)?;
            }
            u32::MAX
        }
    };
    block.warps[issue.warp].registers.results(instruction, active, written);
    Ok(())
}
