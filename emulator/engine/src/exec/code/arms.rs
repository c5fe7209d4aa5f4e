//! Arms: the few steps that a branch skips.
//!
//! Lanes that skip an arm wait for the others, so the group stays together. If possible, each step
//! of the arm is guarded by the opposite of the branch's condition, and the branch itself only
//! counts. Results that no lane needs after the arm are computed without a guard.

use super::liveness::{Liveness, contains};
use super::step::{Action, Guard, Step};
use crate::program::blocks::Blocks;
use crate::semantics::{LANES, Register};

/// Maximum number of steps of an arm.
const MOST_STEPS: usize = 12;

/// Finds branches over a few steps of one block, entered only from there, that each continue with
/// the next step.
pub(super) fn find(steps: &mut [Step], blocks: &Blocks, liveness: Option<&Liveness>) {
    let entries = entries(blocks);
    for at in 0..steps.len() {
        let Action::Branch(target) = steps[at].action else { continue };
        let guard = steps[at].guard;
        let Some(arm) = at_branch(steps, at, blocks, &entries) else { continue };
        if !arm.iter().all(|step| goes_on(&step.action)) {
            continue;
        }
        let guardable = |step: &Step| step.guard == Guard::ALWAYS && !changes(&step.action, guard);
        let end = steps.get(target as usize).map_or(u32::MAX, |step| step.entry);
        let needed = liveness.and_then(|liveness| liveness.at(end));
        match needed {
            Some(needed) if arm.iter().all(guardable) => {
                let weight = arm.iter().map(|step| step.weight).sum();
                steps[at].action = Action::Arm { target, weight };
                for step in &mut steps[at + 1..target as usize] {
                    step.weight = 0;
                    step.within = guard.opposite();
                    if !is_temporary(&step.action, needed) {
                        step.guard = guard.opposite();
                    }
                }
            }
            _ => steps[at].action = Action::Skip(target),
        }
    }
}

/// Returns the few steps that a branch with a condition skips: one block, into which no other way
/// leads.
pub(super) fn at_branch<'s>(
    steps: &'s [Step],
    at: usize,
    blocks: &Blocks,
    entries: &[u32],
) -> Option<&'s [Step]> {
    let Action::Branch(target) = steps[at].action else { return None };
    let arm = steps.get(at + 1..target as usize)?;
    let short = (1..=MOST_STEPS).contains(&arm.len()) && steps[at].guard != Guard::ALWAYS;
    let one_block = short && arm.iter().all(|step| step.rank == arm[0].rank);
    (one_block && entries[blocks.at(arm[0].pc)] == 1).then_some(arm)
}

/// Returns the number of ways into each block.
pub(super) fn entries(blocks: &Blocks) -> Vec<u32> {
    let mut entries = vec![0; blocks.count()];
    for block in 0..blocks.count() {
        blocks.successors(block).iter().for_each(|next| entries[*next] += 1);
    }
    entries
}

/// True if an action always continues with the next step, for any lanes.
pub(super) fn goes_on(action: &Action) -> bool {
    match action {
        Action::Pure { .. } | Action::PureLanes { .. } | Action::Test { .. } | Action::TestAnd(_) => true,
        Action::Logic { .. } | Action::Select { .. } | Action::ScalarTest(_) => true,
        Action::Load(_) | Action::Store(_) | Action::Atomic(_) => true,
        Action::ScalarLoad(_) | Action::ScalarStore(_) => true,
        Action::Scalar(_)
        | Action::ScalarSelect(_)
        | Action::UniformLoad(_)
        | Action::Shuffle(_)
        | Action::Plain { .. } => false,
        Action::Collective(_) | Action::ActiveMask(_) | Action::Fence(_) => false,
        Action::Branch(_) | Action::Skip(_) | Action::Arm { .. } | Action::Barrier(_) | Action::Exit => false,
    }
}

/// True if an action that continues with the next step changes the predicate of a guard.
pub(super) fn changes(action: &Action, guard: Guard) -> bool {
    match action {
        Action::Test { out, .. } | Action::Logic { out, .. } => *out == guard.predicate(),
        Action::ScalarTest(test) => test.out == guard.predicate(),
        Action::TestAnd(test) => {
            test.out.0 == guard.predicate() || test.inverse.is_some_and(|out| out.0 == guard.predicate())
        }
        _ => false,
    }
}

/// True if an action only computes a register that is not among the needed ones.
fn is_temporary(action: &Action, needed: &[u64]) -> bool {
    match action {
        Action::Pure { out, .. } | Action::Select { out, .. } => {
            !contains(needed, Register(out / LANES as u32))
        }
        _ => false,
    }
}
