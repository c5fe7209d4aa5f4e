//! Gangs: fragments of several warps that stand at the same instruction and run it together.

use super::super::block::{Block, Stop};
use super::super::plain::FUEL;
use super::super::semantics::{LANES, Width};
use super::super::warp::{Fragment, Wait};
use super::liveness::{RowSet, contains};
use super::scalar::Operand;
use super::translate::{Code, Guard, Steps};
use crate::program::Register;

/// The most warps in a gang: enough to make the cost of a step negligible, few enough for their registers to stay in
/// the cache.
pub(in crate::exec) const MOST_WARPS: usize = 8;

/// One fragment of a gang.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Member {
    pub(super) warp: usize,
    pub(super) fragment: usize,
    pub(super) mask: u32,
}

/// Fragments that run together, each of another warp.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Gang {
    members: [Member; MOST_WARPS],
    count: usize,
}

impl Gang {
    pub(super) fn members(&self) -> &[Member] {
        &self.members[..self.count]
    }

    pub(super) fn push(&mut self, member: Member) {
        self.members[self.count] = member;
        self.count += 1;
    }
}

/// What a step sees of a gang: registers, predicates and lanes of its warps.
pub(super) struct Files {
    pub(super) rows: [*mut u32; MOST_WARPS],
    predicates: [*mut u32; MOST_WARPS],
    pub(super) masks: [u32; MOST_WARPS],
    pub(super) count: usize,
    /// All lanes of all warps.
    pub(super) full: bool,
    /// Whether lanes elsewhere may need anything: [`Block::kept`] says what.
    pub(super) keeps: Keeps,
    /// The register file of the first lanes, and which of its lanes are these warps.
    pub(super) firsts: *mut u32,
    pub(super) first_lanes: u32,
    /// The lane of each warp there.
    lanes: [usize; MOST_WARPS],
    /// No other warps of the group are running.
    pub(super) whole_group: bool,
}

/// What must be left alone in lanes that a gang does not run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Keeps {
    /// What [`Block::kept`] says.
    Some,
    Everything,
}

impl Files {
    pub(super) fn rows(&self) -> &[*mut u32] {
        &self.rows[..self.count]
    }

    /// The lanes of a warp that are to run and where a guard holds.
    #[inline(always)]
    pub(super) fn active(&self, warp: usize, guard: Guard) -> u32 {
        self.masks[warp] & self.holds(warp, guard)
    }

    /// The lanes of a warp where a guard holds.
    #[inline(always)]
    pub(super) fn holds(&self, warp: usize, guard: Guard) -> u32 {
        // SAFETY: the pointer is to all predicates of the kernel.
        unsafe { guard.lanes(self.predicates[warp]) }
    }

    /// The value of a register in the first lane of a warp, zero-extended.
    #[inline(always)]
    pub(super) fn first_lane(&self, warp: usize, operand: Operand) -> u64 {
        let row = self.firsts.wrapping_add(operand.row as usize);
        let lane = self.lanes[warp];
        match operand.width {
            // SAFETY: the file of the first lanes has the rows of any register file of the kernel.
            Width::Double => unsafe { *row.cast::<u64>().wrapping_add(lane) },
            // SAFETY: as above.
            _ => unsafe { *row.wrapping_add(lane) }.into(),
        }
    }

    #[inline(always)]
    pub(super) fn set_predicate(&self, warp: usize, predicate: u32, mask: u32, bits: u32) {
        let cell = self.predicates[warp].wrapping_add(predicate as usize);
        // SAFETY: the predicates hold all that the kernel names.
        let old = unsafe { *cell };
        // SAFETY: as above.
        unsafe { *cell = (old & !mask) | (bits & mask) };
    }
}

/// Where a gang goes on if other fragments of its warps are to be run first.
#[derive(Clone, Copy)]
pub(super) struct Company {
    /// The lowest rank that another fragment stands at.
    pub(super) limit: u32,
    /// Branches left until others get a turn.
    pub(super) fuel: u32,
}

impl Block<'_, '_> {
    /// Runs some warps, together where they stand together, until each waits, has ended, or had its share of `quantum`
    /// instructions. Whether any is still running.
    pub(in crate::exec) fn run_group(
        &mut self,
        steps: &Steps,
        first: usize,
        count: usize,
        quantum: u32,
    ) -> Result<bool, Stop> {
        let mut left = [quantum; MOST_WARPS];
        while let Some(gang) = self.gather(first, count, &left)? {
            let share = |member: &Member| left[member.warp - first];
            let before = gang.members().iter().map(share).min().unwrap_or(0);
            let mut after = before;
            self.run_steps(steps, gang, &mut after)?;
            for member in gang.members() {
                left[member.warp - first] -= before - after;
            }
            if !self.is_running(first, count) {
                break;
            }
        }
        Ok(self.is_running(first, count))
    }

    fn is_running(&self, first: usize, count: usize) -> bool {
        self.warps[first..first + count].iter().any(|warp| warp.live != 0)
    }

    /// The code that a gang runs.
    pub(super) fn code<'s>(&self, steps: &'s Steps, gang: &Gang) -> &'s Code {
        match &steps.scalars {
            Some(scalars) if !self.runs_rows(gang) => scalars,
            _ => &steps.rows,
        }
    }

    /// Whether all registers of a gang's warps are rows.
    fn runs_rows(&self, gang: &Gang) -> bool {
        gang.members().first().is_none_or(|member| self.warps[member.warp].rows_only)
    }

    /// The fragments that are to run next: of each warp the one whose turn it is, of those the ones that stand where
    /// the earliest stands. `None` if all warps wait, have ended, or had their share.
    fn gather(&mut self, first: usize, count: usize, left: &[u32; MOST_WARPS]) -> Result<Option<Gang>, Stop> {
        let kernel = self.launch.args.kernel;
        let mut gang = Gang::default();
        let mut place = (u32::MAX, u32::MAX, false);
        for index in first..first + count {
            if left[index - first] == 0 {
                continue;
            }
            let Some(fragment) = self.next_fragment(index)? else { continue };
            let Fragment { pc, mask, ref frame, .. } = self.warps[index].fragments[fragment];
            let member = Member { warp: index, fragment, mask };
            if frame.is_some() {
                // Calls are followed warp by warp.
                let mut alone = Gang::default();
                alone.push(member);
                return Ok(Some(alone));
            }
            let here = (kernel.ranks[pc as usize], pc, self.warps[index].rows_only);
            if here < place {
                place = here;
                gang.count = 0;
            }
            if here == place {
                gang.push(member);
            }
        }
        Ok((gang.count != 0).then_some(gang))
    }

    /// The fragment of a warp whose turn it is.
    fn next_fragment(&mut self, warp: usize) -> Result<Option<usize>, Stop> {
        let kernel = self.launch.args.kernel;
        loop {
            let state = &mut self.warps[warp];
            match &state.fragments[..] {
                [] => return Ok(None),
                [only] if only.wait == Wait::Ready => return Ok(Some(0)),
                _ => {}
            }
            state.merge();
            if let Some(fragment) = state.next(kernel) {
                return Ok(Some(fragment));
            }
            if !self.resolve_collectives(warp)? {
                return Ok(None);
            }
        }
    }

    /// The lanes of `taken` go one way, the others another. The gang keeps those that come first, and goes on with the
    /// step returned.
    pub(super) fn part(
        &mut self,
        code: &Code,
        gang: &mut Gang,
        taken: &[u32; MOST_WARPS],
        [straight, target]: [usize; 2],
    ) -> usize {
        let jumps = code.steps[target].rank < code.steps[straight].rank;
        let (here, there) = if jumps { (target, straight) } else { (straight, target) };
        let there = code.steps[there].entry;
        let mut kept = Gang::default();
        for (member, taken) in gang.members().iter().zip(taken) {
            let stays = member.mask & if jumps { *taken } else { !*taken };
            let leaves = member.mask & !stays;
            let fragments = &mut self.warps[member.warp].fragments;
            if stays == 0 {
                fragments[member.fragment].pc = there;
                continue;
            }
            if leaves != 0 {
                let frame = fragments[member.fragment].frame.clone();
                fragments[member.fragment].mask = stays;
                fragments.push(Fragment { pc: there, mask: leaves, frame, wait: Wait::Ready, tired: false });
            }
            kept.push(Member { mask: stays, ..*member });
        }
        *gang = kept;
        here
    }

    /// Brings up to date what the rest of the block sees of a gang that stands at `pc`.
    pub(super) fn settle(&mut self, gang: &Gang, pc: u32, used: &mut u32, left: &mut u32) {
        self.instructions += u64::from(*used) * gang.count as u64;
        *left = left.saturating_sub(*used);
        *used = 0;
        for member in gang.members() {
            self.warps[member.warp].fragments[member.fragment].pc = pc;
        }
    }

    /// What steps see of a gang.
    pub(super) fn files(&mut self, steps: &Steps, gang: &Gang) -> Files {
        let mut files = Files {
            rows: [std::ptr::null_mut(); MOST_WARPS],
            predicates: [std::ptr::null_mut(); MOST_WARPS],
            masks: [0; MOST_WARPS],
            count: gang.count,
            full: true,
            keeps: Keeps::Everything,
            firsts: std::ptr::null_mut(),
            first_lanes: 0,
            lanes: [0; MOST_WARPS],
            whole_group: false,
        };
        if !self.runs_rows(gang) {
            files.firsts = self.first_lanes(gang);
            (files.first_lanes, files.whole_group) = self.first_lane_mask(gang);
        }
        for (warp, member) in gang.members().iter().enumerate() {
            let rows = &mut self.warps[member.warp].rows;
            files.rows[warp] = rows.base();
            files.predicates[warp] = rows.predicates();
            files.masks[warp] = member.mask;
            files.lanes[warp] = member.warp % MOST_WARPS;
            files.full &= member.mask == u32::MAX;
        }
        if !files.full && self.find_kept(steps, gang).is_some() {
            files.keeps = Keeps::Some;
        }
        files
    }

    /// Puts together what lanes outside a gang need. `None` if that is not known.
    fn find_kept(&mut self, steps: &Steps, gang: &Gang) -> Option<()> {
        let liveness = steps.liveness.as_ref()?;
        self.kept.clear();
        self.kept.extend_from_slice(liveness.exchanged());
        for member in gang.members() {
            for (index, other) in self.warps[member.warp].fragments.iter().enumerate() {
                if index == member.fragment {
                    continue;
                }
                if other.frame.is_some() {
                    return None;
                }
                let needed: &RowSet = liveness.at(other.pc)?;
                self.kept.iter_mut().zip(needed).for_each(|(kept, needed)| *kept |= needed);
            }
        }
        Some(())
    }

    /// Whether the whole row that starts at this offset in cells may be written: all lanes are to change, or nobody
    /// needs what the others hold.
    #[inline(always)]
    pub(super) fn is_free(&self, files: &Files, guard: Guard, out: u32) -> bool {
        if guard != Guard::ALWAYS || files.full {
            return guard == Guard::ALWAYS;
        }
        files.keeps == Keeps::Some && !contains(&self.kept, Register(out / LANES as u32))
    }

    /// The other fragments that a gang has to look out for.
    pub(super) fn company(&self, gang: &Gang) -> Option<Company> {
        let ranks = &self.launch.args.kernel.ranks;
        let mut limit = u32::MAX;
        let mut alone = true;
        for member in gang.members() {
            let fragments = &self.warps[member.warp].fragments;
            if fragments.len() == 1 {
                continue;
            }
            alone = false;
            // Inside calls ranks are not all there is to the order.
            if fragments.iter().any(|fragment| fragment.frame.is_some()) {
                limit = 0;
            }
            for (index, other) in fragments.iter().enumerate() {
                if index != member.fragment && other.wait == Wait::Ready {
                    limit = limit.min(ranks[other.pc as usize]);
                }
            }
        }
        (!alone).then_some(Company { limit, fuel: FUEL })
    }

    /// Whether a gang is all that still runs in the block, and no thread has arrived at a barrier yet.
    pub(super) fn is_everybody(&self, gang: &Gang, barrier: u32) -> bool {
        let whole = |member: &Member| self.warps[member.warp].live == member.mask;
        let running = self.warps.iter().filter(|warp| warp.live != 0).count();
        let complete = gang.count == running && gang.members().iter().all(whole);
        complete && self.nobody_arrived(barrier) && !(self.launch.options.check_barriers && self.has_exits())
    }
}
