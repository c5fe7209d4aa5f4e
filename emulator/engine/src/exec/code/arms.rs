//! Arms: the few steps that a branch skips.
//!
//! Lanes that skip an arm wait for the others, so the group stays together. If lanes often differ,
//! each step of the arm is guarded by the opposite of the branch's condition, if possible, and the
//! branch itself only counts. Results that no lane needs after the arm are computed without a
//! guard. Otherwise the lanes that do not skip it form a group of their own meanwhile. Such an arm
//! may contain others, and operations on first lanes whose results no lane needs after it.

use super::growth::Operand;
use super::liveness::{Liveness, RowSet, contains};
use super::step::{Action, Guard, Step};
use crate::program::blocks::Blocks;
use crate::semantics::{LANES, Register};
use std::collections::HashSet;

/// Maximum number of steps of an arm.
const MOST_STEPS: usize = 64;
/// Maximum number of steps of an arm that have guards: all lanes of a warp wait for them.
pub(super) const MOST_GUARDED: usize = 12;
/// The same if lanes mostly agree, because they take the steps without guards in less time.
const MOST_AGREED: usize = 6;

/// Finds branches over a few steps, entered only from there, that lead to the next step after them.
pub(super) fn find(steps: &mut [Step], blocks: &Blocks, liveness: Option<&Liveness>) {
    let before = blocks.predecessors();
    let tested = tested(steps);
    // The last first, because an arm may be in another that begins before it.
    for at in (0..steps.len()).rev() {
        let Action::Branch(target) = steps[at].action else { continue };
        let guard = steps[at].guard;
        let Some(arm) = at_branch(steps, at, blocks, &before) else { continue };
        let end = steps.get(target as usize).map_or(u32::MAX, |step| step.entry);
        let needed = liveness.and_then(|liveness| liveness.at(end));
        if !arm.iter().all(|step| stays_in_arm(&step.action, needed)) {
            continue;
        }
        let guardable = |step: &Step| {
            step.guard == Guard::ALWAYS && goes_on(&step.action) && !changes(&step.action, guard)
        };
        let most = if tested.contains(&guard.predicate()) { MOST_GUARDED } else { MOST_AGREED };
        match needed {
            Some(needed) if arm.len() <= most && arm.iter().all(guardable) => {
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

/// Returns the predicates that are set lane by lane. Lanes mostly agree about others, which compare
/// regular registers, and then all skip an arm or none does.
pub(super) fn tested(steps: &[Step]) -> HashSet<u32> {
    steps.iter().flat_map(Step::tested_on_rows).collect()
}

/// Returns the few steps that a branch with a condition skips, into which no other way leads, and
/// whose own branches have conditions and lead forward in them or to their end.
pub(super) fn at_branch<'s>(
    steps: &'s [Step],
    at: usize,
    blocks: &Blocks,
    before: &[Vec<usize>],
) -> Option<&'s [Step]> {
    let Action::Branch(target) = steps[at].action else { return None };
    let arm = steps.get(at + 1..target as usize)?;
    if !(1..=MOST_STEPS).contains(&arm.len()) || steps[at].guard == Guard::ALWAYS {
        return None;
    }
    let (branch, first) = (blocks.at(steps[at].pc), blocks.at(arm[0].entry));
    let last = blocks.at(arm[arm.len() - 1].pc);
    let is_inside = |block: usize| {
        let enters = |from: usize| (first..block).contains(&from) || block == first && from == branch;
        before[block].iter().all(|from| enters(*from))
    };
    let stays = |(index, step): (usize, &Step)| match step.action {
        Action::Branch(to) | Action::Skip(to) | Action::Arm { target: to, .. } => {
            step.guard != Guard::ALWAYS && at + 1 + index < to as usize && to <= target
        }
        _ => true,
    };
    ((first..=last).all(is_inside) && arm.iter().enumerate().all(stays)).then_some(arm)
}

/// True if an action in an arm continues with a step in the arm or at its end, where some registers
/// are needed.
fn stays_in_arm(action: &Action, needed: Option<&RowSet>) -> bool {
    let is_needed = |out: &Operand| needed.is_none_or(|needed| contains(needed, out.register()));
    match action {
        Action::Skip(_) | Action::Arm { .. } | Action::Plain { parts: false } => true,
        Action::Scalar(scalar) => !is_needed(&scalar.out),
        Action::ScalarSelect(select) => !is_needed(&select.out),
        Action::UniformLoad(load) => !load.scalars.iter().any(is_needed),
        action => goes_on(action),
    }
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
