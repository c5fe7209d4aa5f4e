//! Operations on first lanes that run before a branch instead of in the arm that it skips.
//!
//! Lanes that skip an arm wait for the others, which do not run an operation on the first lanes of
//! warps alone. If its result is needed in the arm only, it makes no difference that all lanes run
//! it.

use super::arms;
use super::liveness::{Liveness, contains};
use super::step::{Action, Code, Guard, Step};
use super::uses::visit_reads;
use crate::program::Kernel;
use crate::program::blocks::Blocks;
use crate::program::instruction::Instruction;
use crate::semantics::Register;
use std::ops::Range;

/// Moves the operations of arms whose other steps can all have a guard.
pub(super) fn find(code: &mut Code, kernel: &Kernel, (blocks, liveness): (&Blocks, &Liveness)) {
    let before = blocks.predecessors();
    let tested = arms::tested(&code.steps);
    for at in 0..code.steps.len() {
        let guard = code.steps[at].guard;
        let Some(arm) = arms::at_branch(&code.steps, at, blocks, &before) else { continue };
        let end = at + 1 + arm.len();
        let Some(needed) = code.steps.get(end).and_then(|step| liveness.at(step.entry)) else { continue };
        let is_early = |step: &Step| matches!(step.action, Action::Scalar(_));
        let good = |step: &Step| match &step.action {
            Action::Scalar(scalar) => {
                let out = scalar.out.register();
                let before = &kernel.code[arm[0].entry as usize..step.pc as usize];
                step.guard == Guard::ALWAYS && !contains(needed, out) && !reads(before, out)
            }
            action => arms::goes_on(action) && !arms::changes(action, guard),
        };
        let early = arm.iter().filter(|step| is_early(step)).count();
        let guarded = arm.len() <= arms::MOST_GUARDED && tested.contains(&guard.predicate());
        if early == 0 || early == arm.len() || !guarded || !arm.iter().all(good) {
            continue;
        }
        move_early(code, at..end);
    }
}

fn reads(code: &[Instruction], register: Register) -> bool {
    let mut found = false;
    for instruction in code {
        visit_reads(instruction, &mut |read| found |= read == register);
    }
    found
}

/// Moves the operations on first lanes to the beginning of these steps, of which the first is the
/// branch.
fn move_early(code: &mut Code, range: Range<usize>) {
    let first = range.start;
    let steps: Vec<Step> = code.steps.splice(range.clone(), []).collect();
    let is_last = steps.last().is_some_and(|step| step.ends_block);
    let (mut early, mut rest): (Vec<Step>, Vec<Step>) =
        steps.into_iter().partition(|step| matches!(step.action, Action::Scalar(_)));
    let (entry, pc, rank) = (rest[0].entry, rest[0].pc, rest[0].rank);
    let within = rest[0].guard.opposite();
    for step in &mut early {
        // Only the arm counts them.
        rest[1].weight += std::mem::take(&mut step.weight);
        (step.entry, step.rank, step.within, step.ends_block) = (entry, rank, within, false);
    }
    if let Some(last) = rest.last_mut() {
        last.ends_block = is_last;
    }
    for (index, step) in (first + early.len()..).zip(&rest) {
        code.of_pc[step.entry as usize..=step.pc as usize].fill(index as u32);
    }
    code.of_pc[entry as usize..=pc as usize].fill(first as u32);
    early.append(&mut rest);
    code.steps.splice(first..first, early);
}
