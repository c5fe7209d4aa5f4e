//! Runs all groups of warps of a block from barrier to barrier.
//!
//! A barrier of the whole block changes no registers. If all groups reach it whole, the next phase
//! begins without the states between: warps that wait, and the search for the warps to release.

use super::gang::{Files, Gang};
use super::group;
use super::run::Run;
use crate::exec::block::{Block, Stop};
use crate::exec::code::step::{Action, Code};
use crate::exec::code::{MOST_WARPS, Steps};
use std::mem::{swap, take};
use std::ops::Range;

/// Eight warps of a block, or the fewer at its end, at a barrier that all of them have reached.
struct Group<'s> {
    first: usize,
    count: usize,
    gang: Gang,
    files: Files,
    code: &'s Code,
    /// The step of the barrier; `None` if they have to be gathered.
    at: Option<usize>,
    used: u32,
    left: u32,
}

/// Runs the warps of a block, together if they are at the same instruction, until each waits, ends,
/// or uses up its share of `turn` instructions. Returns true if any is still running.
pub(in crate::exec) fn run_groups(block: &mut Block<'_, '_>, steps: &Steps, turn: u32) -> Result<bool, Stop> {
    let warps = block.warps.len();
    if warps <= MOST_WARPS {
        block.launch.writer.admit_if_any();
        return group::run_group(block, steps, 0, warps, turn);
    }
    let group = |first: usize| Group {
        first,
        count: MOST_WARPS.min(warps - first),
        gang: Gang::default(),
        files: Files::NONE,
        code: &steps.rows,
        at: None,
        used: 0,
        left: turn,
    };
    let mut groups: Vec<Group<'_>> = (0..warps).step_by(MOST_WARPS).map(group).collect();
    let mut run = Run::new(block, steps);
    run.ends_at_barriers = !run.block.inspects_barriers();
    while run_phase(&mut run, &mut groups)? {
        groups.iter().for_each(|group| group.release(run.block));
    }
    // Some did not reach the barrier, so the others wait there.
    for group in &mut groups {
        if let Some(at) = group.go_on(&mut run) {
            let step = &run.code.steps[at];
            if let Action::Barrier(row) = step.action {
                run.wait(step, row);
            }
        }
    }
    Ok(block.warps.iter().any(|warp| warp.live != 0))
}

/// Runs each group up to the next barrier. Returns true if all that have not ended reach the same
/// one, at which no thread has arrived before.
fn run_phase<'s>(run: &mut Run<'s, '_, '_>, groups: &mut [Group<'s>]) -> Result<bool, Stop> {
    let (mut place, mut together) = (None, true);
    for group in groups {
        run.block.launch.writer.admit_if_any();
        let here = group.run(run)?;
        let ended = || run.block.warps[group.warps()].iter().all(|warp| warp.live == 0);
        together &= match here {
            Some(here) => *place.get_or_insert(here) == here,
            None => ended(),
        };
    }
    Ok(together && place.is_some() && !run.block.has_arrivals())
}

impl<'s> Group<'s> {
    /// Runs up to the next barrier. Returns its position and number, unless some warps do not reach
    /// it.
    fn run(&mut self, run: &mut Run<'s, '_, '_>) -> Result<Option<(u32, u32)>, Stop> {
        run.reached = None;
        if let Some(at) = self.go_on(run) {
            run.run(at + 1)?;
            self.left = run.left;
        }
        if run.reached.is_none() {
            self.left = group::run_warps(run, (self.first, self.count), self.left)?;
        }
        let Some((at, number)) = run.reached else { return Ok(run.block.common_barrier(self.warps())) };
        (self.at, self.code, self.left) = (Some(at), run.code, run.left);
        self.used = take(&mut run.used);
        swap(&mut self.gang, &mut run.gang);
        swap(&mut self.files, &mut run.files);
        Ok(Some((self.code.steps[at].pc, number)))
    }

    /// Lets its warps go on if they wait.
    fn release(&self, block: &mut Block<'_, '_>) {
        if self.at.is_none() {
            block.pass_barrier(self.warps());
        }
    }

    fn warps(&self) -> Range<usize> {
        self.first..self.first + self.count
    }

    /// Prepares the run of a group that is at a barrier, whose step it returns.
    fn go_on(&mut self, run: &mut Run<'s, '_, '_>) -> Option<usize> {
        let at = self.at.take()?;
        swap(&mut self.gang, &mut run.gang);
        swap(&mut self.files, &mut run.files);
        (run.company, run.code, run.used, run.left) = (None, self.code, self.used, self.left);
        if !run.files.full {
            // The rows that others need are known for the last group only.
            run.files.look(&run.gang, run.block, run.steps);
        }
        Some(at)
    }
}
