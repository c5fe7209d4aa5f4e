//! Branches: the next step of a group of warps, and the order of its parts.

use super::gang::{Gang, Keeps, Member};
use super::{Go, Run};
use crate::exec::block::warp::{DivergentPath, FUEL, Wait};
use crate::exec::block::{Block, Stop};
use crate::exec::code::MOST_WARPS;
use crate::exec::code::step::{Guard, Step};

/// Limits of a group while other divergent paths of its warps must run first.
#[derive(Clone, Copy)]
pub(super) struct Company {
    /// The lowest reverse post-order number of another path.
    pub(super) limit: u32,
    /// Branches left until other paths take their turn: the fewest of its warps.
    pub(super) fuel: u32,
}

impl Run<'_, '_, '_> {
    /// Sends lanes for which the guard holds to the second of two steps, others to the first.
    #[inline(always)]
    pub(super) fn branch(&mut self, step: &Step, ways: [usize; 2]) -> Go {
        let mut taken = [0; MOST_WARPS];
        let mut any = 0;
        let mut all = true;
        for (warp, taken) in taken.iter_mut().enumerate().take(self.files.count) {
            *taken = self.files.active(warp, step.guard);
            any |= *taken;
            all &= *taken == self.files.masks[warp];
        }
        if any == 0 {
            return Go::On;
        }
        let at = if all { ways[1] } else { self.separate(step, &taken, ways) };
        self.go(at)
    }

    /// Continues with another step, unless other paths take their turn.
    #[inline(always)]
    fn go(&mut self, at: usize) -> Go {
        let next = &self.code.steps[at];
        if let Some(company) = &mut self.company {
            company.fuel -= 1;
            if company.fuel == 0 {
                self.settle(next.entry);
                for member in self.gang.members() {
                    self.block.warps[member.warp].tire(member.path);
                }
                self.left = self.left.saturating_sub(FUEL);
                return Go::Rest;
            }
            if next.rank >= company.limit {
                self.settle(next.entry);
                return Go::Rest;
            }
        }
        if self.used >= self.left {
            self.settle(next.entry);
            return Go::Rest;
        }
        Go::To(at)
    }

    /// Sends lanes for which the guard holds to the second of two steps. The other lanes run the
    /// few steps before it meanwhile, and the group stays together.
    #[inline(always)]
    pub(super) fn skip(&mut self, step: &Step, ways: [usize; 2]) -> Result<Go, Stop> {
        let mut staying = [0; MOST_WARPS];
        let (mut any, mut all) = (0, true);
        for (warp, staying) in staying.iter_mut().enumerate().take(self.files.count) {
            *staying = self.files.masks[warp] & !self.files.holds(warp, step.guard);
            any |= *staying;
            all &= *staying == self.files.masks[warp];
        }
        if all {
            return Ok(Go::On);
        }
        if any != 0 {
            self.settle(step.pc);
            self.run_arm(ways, staying)?;
        }
        Ok(self.go(ways[1]))
    }

    /// Goes to the first of two steps, from which guarded steps lead to the second, or directly to
    /// the second if no lane stays for them. Other paths of the warps, even if they come first, do
    /// not take their turn in between: lanes that skip the steps would wait where their registers
    /// are not known to be needed.
    #[inline(always)]
    pub(super) fn arm(&mut self, guard: Guard, ways: [usize; 2], weight: u32) -> Go {
        let stays = |warp: usize| self.files.masks[warp] & !self.files.holds(warp, guard) != 0;
        let members = (0..self.files.count).fold(0, |set, warp| set | u32::from(stays(warp)) << warp);
        self.files.arm = (guard.opposite(), members);
        let working = members.count_ones() as usize;
        if working == 0 {
            return self.go(ways[1]);
        }
        if working == self.files.count {
            self.used += weight;
        } else {
            self.block.count_instructions(u64::from(weight) * working as u64);
            self.left = self.left.saturating_sub(weight);
        }
        Go::To(ways[0])
    }

    /// Runs the steps between two steps for some lanes of a settled group. They end at the second.
    #[inline(never)]
    fn run_arm(&mut self, [first, end]: [usize; 2], masks: [u32; MOST_WARPS]) -> Result<(), Stop> {
        let working = masks.iter().filter(|mask| **mask != 0).count() as u64;
        let gang = self.gang;
        self.gang = gang.with_masks(&masks);
        let files = &mut self.files;
        let whole = (files.masks, files.full, files.is_dense, files.keeps);
        (files.masks, files.full, files.is_dense, files.keeps) = (masks, false, false, Keeps::Everything);
        let code = self.code;
        for (at, step) in code.steps.iter().enumerate().take(end).skip(first) {
            // Warps without lanes here do not run it.
            self.block.count_instructions(u64::from(step.weight) * working);
            self.left = self.left.saturating_sub(step.weight);
            self.perform(step, at)?;
        }
        self.gang = gang;
        let files = &mut self.files;
        (files.masks, files.full, files.is_dense, files.keeps) = whole;
        Ok(())
    }

    /// Splits the group, and examines its remaining part again.
    #[inline(never)]
    fn separate(&mut self, step: &Step, taken: &[u32; MOST_WARPS], ways: [usize; 2]) -> usize {
        self.settle(step.pc);
        let at = self.part(taken, ways);
        self.files.look(&self.gang, self.block, self.steps);
        self.company = company(self.block, &self.gang);
        at
    }

    /// Splits lanes at a branch. The group keeps the first and continues with the returned step.
    fn part(&mut self, taken: &[u32; MOST_WARPS], [straight, target]: [usize; 2]) -> usize {
        let jumps = self.code.steps[target].rank < self.code.steps[straight].rank;
        let (here, there) = if jumps { (target, straight) } else { (straight, target) };
        let there = self.code.steps[there].entry;
        let mut kept = Gang::default();
        for (member, taken) in self.gang.members().iter().zip(taken) {
            let stays = member.mask & if jumps { *taken } else { !*taken };
            let leaves = member.mask & !stays;
            let paths = &mut self.block.warps[member.warp].paths;
            if stays == 0 {
                paths[member.path].pc = there;
                continue;
            }
            if leaves != 0 {
                let frame = paths[member.path].frame.clone();
                paths[member.path].mask = stays;
                paths.push(DivergentPath { pc: there, mask: leaves, frame, wait: Wait::Ready, tired: false });
            }
            kept.push(Member { mask: stays, ..*member });
        }
        self.gang = kept;
        here
    }
}

/// Returns the limits of a group from the other divergent paths of its warps. Warps without others
/// have all branches left again.
pub(in crate::exec) fn company(block: &mut Block<'_, '_>, gang: &Gang) -> Option<Company> {
    let ranks = &block.launch.args.kernel.ranks;
    let (mut limit, mut fuel) = (u32::MAX, FUEL);
    let mut alone = true;
    for member in gang.members() {
        let warp = &mut block.warps[member.warp];
        let paths = &warp.paths;
        if paths.len() == 1 {
            warp.fuel = FUEL;
            continue;
        }
        alone = false;
        fuel = fuel.min(warp.fuel);
        // Within calls, these numbers alone do not determine the order.
        if paths.iter().any(|path| path.frame.is_some()) {
            limit = 0;
        }
        for (index, other) in paths.iter().enumerate() {
            if index != member.path && other.wait == Wait::Ready {
                limit = limit.min(ranks[other.pc as usize]);
            }
        }
    }
    (!alone).then_some(Company { limit, fuel })
}
