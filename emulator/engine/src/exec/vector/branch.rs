//! Branches: the next step of a group of warps, and the order of its parts.

use super::gang::{Gang, Keeps, Member};
use super::{Go, Run};
use crate::exec::block::warp::{DivergentPath, FUEL, Wait};
use crate::exec::block::{Block, Stop};
use crate::exec::code::MOST_WARPS;
use crate::exec::code::step::{Action, Guard, Step};
use std::mem;

/// Limits of a group while other divergent paths of its warps must run first.
#[derive(Clone, Copy)]
pub(super) struct Company {
    /// The lowest reverse post-order number of another path.
    pub(super) limit: u32,
    /// Branches left until other paths take their turn: the fewest of its warps.
    pub(super) fuel: u32,
}

/// The place of a group after a branch over an arm.
enum Place {
    /// All lanes are at its first step.
    First,
    /// All are at its end.
    End,
    /// Some are in it and others at its end, so the group is settled and rests.
    Apart,
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
        Ok(match self.skips(step, ways)? {
            Place::First => Go::On,
            Place::End => self.go(ways[1]),
            Place::Apart => Go::Rest,
        })
    }

    /// The same without a look at other paths.
    #[inline(always)]
    fn skips(&mut self, step: &Step, ways: [usize; 2]) -> Result<Place, Stop> {
        let mut staying = [0; MOST_WARPS];
        let (mut any, mut all) = (0, true);
        for (warp, staying) in staying.iter_mut().enumerate().take(self.files.count) {
            *staying = self.files.masks[warp] & !self.files.holds(warp, step.guard);
            any |= *staying;
            all &= *staying == self.files.masks[warp];
        }
        if all {
            return Ok(Place::First);
        }
        if any == 0 {
            return Ok(Place::End);
        }
        self.settle(step.pc);
        self.run_arm(ways, &staying)
    }

    /// Goes to the first of two steps, from which guarded steps lead to the second, or directly to
    /// the second if no lane stays for them. Other paths of the warps, even if they come first, do
    /// not take their turn in between: lanes that skip the steps would wait where their registers
    /// are not known to be needed.
    #[inline(always)]
    pub(super) fn arm(&mut self, guard: Guard, ways: [usize; 2], weight: u32) -> Go {
        if self.enters_arm(guard, weight) { Go::To(ways[0]) } else { self.go(ways[1]) }
    }

    /// Counts the instructions of an arm, and notes the warps that run it. Returns false if none
    /// does.
    #[inline(always)]
    fn enters_arm(&mut self, guard: Guard, weight: u32) -> bool {
        let stays = |warp: usize| self.files.masks[warp] & !self.files.holds(warp, guard) != 0;
        let members = (0..self.files.count).fold(0, |set, warp| set | u32::from(stays(warp)) << warp);
        self.files.arm = (guard.opposite(), members);
        let working = members.count_ones() as usize;
        if working == self.files.count {
            self.used += weight;
        } else if working != 0 {
            self.block.count_instructions(u64::from(weight) * working as u64);
            self.left = self.left.saturating_sub(weight);
        }
        working != 0
    }

    /// Runs the steps between two steps for some lanes of a settled group. They end at the second.
    #[inline(never)]
    fn run_arm(&mut self, [first, end]: [usize; 2], masks: &[u32; MOST_WARPS]) -> Result<Place, Stop> {
        // Warps without lanes here do not run it.
        let gang = self.gang.with_lanes(masks);
        let mut files = self.files.with_lanes(masks);
        if !files.full {
            files.keeps = self.keeps_until(end);
        }
        let whole = (mem::replace(&mut self.gang, gang), mem::replace(&mut self.files, files));
        let code = self.code;
        let (mut at, mut together) = (first, true);
        while at < end && together {
            let step = &code.steps[at];
            self.used += step.weight;
            let go = match step.action {
                Action::Skip(target) => match self.skips(step, [at + 1, target as usize])? {
                    Place::First => Go::On,
                    Place::End => Go::To(target as usize),
                    Place::Apart => Go::Rest,
                },
                Action::Arm { weight, .. } if self.enters_arm(step.guard, weight) => Go::On,
                Action::Arm { target, .. } => Go::To(target as usize),
                _ => self.perform(step, at)?,
            };
            match go {
                Go::On => at += 1,
                Go::To(target) => at = target,
                Go::Rest => together = false,
            }
        }
        self.count();
        (self.gang, self.files) = whole;
        if together {
            return Ok(Place::End);
        }
        self.leave_arm(masks, code.steps[end].entry);
        Ok(Place::Apart)
    }

    /// Returns the rows that other lanes need while some run the steps of an arm, up to its end.
    fn keeps_until(&mut self, end: usize) -> Keeps {
        let Some(liveness) = &self.steps.liveness else { return Keeps::Everything };
        let (full, kept) = (self.files.full, &mut self.block.vector.kept);
        let Some(needed) = liveness.at(self.code.steps[end].entry) else { return Keeps::Everything };
        if full {
            kept.clear();
            kept.extend_from_slice(liveness.exchanged());
        } else if self.files.keeps == Keeps::Everything {
            return Keeps::Everything;
        }
        // They stay in the set after the arm, where it may be larger than necessary.
        kept.iter_mut().zip(needed).for_each(|(kept, needed)| *kept |= needed);
        Keeps::Some
    }

    /// Makes the lanes that have skipped an arm paths of their own, at its end. Others, which these
    /// masks name, stay where they are.
    fn leave_arm(&mut self, masks: &[u32; MOST_WARPS], end: u32) {
        for (member, mask) in self.gang.members().iter().zip(masks) {
            let (paths, leaves) = (&mut self.block.warps[member.warp].paths, member.mask & !mask);
            if *mask == 0 {
                paths[member.path].pc = end;
            } else if leaves != 0 {
                let frame = paths[member.path].frame.clone();
                // They may have left an arm in this one already.
                paths[member.path].mask &= mask;
                paths.push(DivergentPath { pc: end, mask: leaves, frame, wait: Wait::Ready, tired: false });
            }
        }
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
