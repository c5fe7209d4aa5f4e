//! Steps that compute within registers. The rarer ones are not inlined, because the others would
//! share the processor's registers with them.

use super::Run;
use super::gang::Member;
use crate::exec::access::watch;
use crate::exec::block::warp::Warp;
use crate::exec::code::MOST_WARPS;
use crate::exec::code::blend::Blend;
use crate::exec::code::step::{CollectiveStep, CombinedTest, Guard, RowsTest, ShuffleStep};
use crate::exec::plain;
use crate::program::instruction::Logic;
use crate::program::memory::Scope;
use crate::semantics::rows::PureRows;
use crate::semantics::{Predicate, PureInfo, Register};

impl Run<'_, '_, '_> {
    #[inline(always)]
    pub(super) fn pure(&self, guard: Guard, run: PureRows, (out, double): (u32, bool), sources: &[u32; 4]) {
        if self.is_free(guard, out) {
            // SAFETY: the decoder assigned each register as many rows as the operation's widths
            // require, and each register file contains all rows of the kernel.
            unsafe { run(self.files.rows(), out, sources) };
            return;
        }
        self.merge_after(guard, (out, double), |files, out| {
            // SAFETY: as above; the scratch rows are part of the files.
            unsafe { run(files, out, sources) };
        });
    }

    #[inline(never)]
    pub(super) fn pure_lanes(&self, guard: Guard, info: &PureInfo, out: Register, sources: [Register; 4]) {
        for warp in 0..self.files.count {
            let active = self.files.active(warp, guard);
            // SAFETY: as in `pure`.
            unsafe { info.run(self.files.rows[warp], out, sources, active) };
        }
    }

    #[inline(always)]
    pub(super) fn test(&self, guard: Guard, test: &RowsTest, out: u32) {
        let files = &self.files;
        let mut bits = [0; MOST_WARPS];
        // SAFETY: as in `pure`; there is a word for each warp.
        unsafe { (test.run)(files.rows(), &test.sources, bits.as_mut_ptr()) };
        for (warp, bits) in bits.into_iter().enumerate().take(files.count) {
            files.set_predicate(warp, out, files.active(warp, guard), bits ^ test.flip);
        }
    }

    #[inline(never)]
    pub(super) fn test_and(&self, guard: Guard, test: &CombinedTest) {
        let files = &self.files;
        for warp in 0..files.count {
            // SAFETY: as in `pure`.
            let bits = unsafe { test.test.run_one(files.rows[warp]) };
            let (mut yes, mut no) = (bits, !bits);
            if let Some((logic, condition)) = test.combine {
                let other = files.holds(warp, condition);
                (yes, no) = (logic.apply(yes, other), logic.apply(no, other));
            }
            let active = files.active(warp, guard);
            files.set_predicate(warp, test.out.0, active, yes);
            if let Some(Predicate(inverse)) = test.inverse {
                files.set_predicate(warp, inverse, active, no);
            }
        }
    }

    #[inline(never)]
    pub(super) fn logic(&self, guard: Guard, logic: Logic, out: u32, [a, b]: [Guard; 2]) {
        let files = &self.files;
        for warp in 0..files.count {
            let bits = logic.apply(files.holds(warp, a), files.holds(warp, b));
            files.set_predicate(warp, out, files.active(warp, guard), bits);
        }
    }

    #[inline(always)]
    pub(super) fn select(
        &self,
        guard: Guard,
        (out, double): (u32, bool),
        [a, b]: [u32; 2],
        condition: Guard,
    ) {
        let blend = self.steps.blends[usize::from(double)];
        let mut chosen = [0; MOST_WARPS];
        for (warp, chosen) in chosen.iter_mut().enumerate().take(self.files.count) {
            *chosen = self.files.holds(warp, condition);
        }
        if self.is_free(guard, out) {
            // SAFETY: as in `pure`.
            unsafe { blend(self.files.rows(), &Blend { to: out, yes: a, no: b }, &chosen) };
            return;
        }
        let (mut yes, mut no) = (chosen, chosen);
        for warp in 0..self.files.count {
            let active = self.files.active(warp, guard);
            (yes[warp], no[warp]) = (chosen[warp] & active, !chosen[warp] & active);
        }
        // Each changes its own lanes, so the second finds its source even if it is the destination.
        for (source, lanes) in [(a, yes), (b, no)] {
            // SAFETY: as in `pure`.
            unsafe { blend(self.files.rows(), &Blend { to: out, yes: source, no: out }, &lanes) };
        }
    }

    /// True if a shuffle includes all lanes of all warps, so that none has to be waited for.
    #[inline(always)]
    pub(super) fn shuffles_at_once(&self, guard: Guard) -> bool {
        self.files.full && guard == Guard::ALWAYS && !self.block.launch.options.check_barriers
    }

    /// True if all members of an instruction are there, so that none is awaited, and no check is
    /// interested in them.
    #[inline(always)]
    pub(super) fn has_members(&self, guard: Guard, step: &CollectiveStep) -> bool {
        // The plain mode orders the members of parts of warps for the check of races.
        let ordered = self.block.checks.clocks.is_some();
        let there = |member: &Member| {
            let Warp { rows, live, .. } = &self.block.warps[member.warp];
            *live == member.mask
                || !ordered && plain::missing_members(rows, *live, member.mask, step.members) == 0
        };
        guard == Guard::ALWAYS
            && !(ordered && step.varies)
            && !self.block.launch.options.check_barriers
            && (self.files.full || self.gang.members().iter().all(there))
    }

    pub(super) fn collective(&mut self, step: &CollectiveStep) {
        for member in self.gang.members() {
            let rows = &mut self.block.warps[member.warp].rows;
            if step.varies {
                plain::perform_by_names(rows, &step.operation, step.members, member.mask);
            } else {
                plain::perform_collective(rows, &step.operation, member.mask);
            }
        }
        self.meet();
    }

    /// Orders the accesses of all warps, if a lane runs this.
    pub(super) fn fence(&self, guard: Guard, scope: Scope) {
        if (0..self.files.count).any(|warp| self.files.active(warp, guard) != 0) {
            watch::order(self.block.launch, scope);
        }
    }

    /// Sets a register to the lanes of each warp that run this.
    pub(super) fn active_mask(&mut self, guard: Guard, out: Register) {
        for (at, member) in self.gang.members().iter().enumerate() {
            let active = self.files.active(at, guard);
            plain::fill_lanes(&mut self.block.warps[member.warp].rows, out, active, active);
        }
    }

    /// Records, for the check of races, that the lanes of each warp have waited for each other.
    #[inline(always)]
    fn meet(&mut self) {
        let Some(clocks) = &mut self.block.checks.clocks else { return };
        self.gang.members().iter().for_each(|member| clocks.meet(&[(member.warp, member.mask)], None));
    }

    #[inline(always)]
    pub(super) fn shuffle(&mut self, step: &ShuffleStep) {
        let files = &self.files;
        let mut found = [0; MOST_WARPS];
        // SAFETY: as in `pure`; the translation chose the function for this processor.
        unsafe { (step.run)(files.rows(), &step.shuffle, &mut found) };
        if let Some(inside) = step.inside {
            for (warp, bits) in found.into_iter().enumerate().take(files.count) {
                files.set_predicate(warp, inside.0, u32::MAX, bits);
            }
        }
        self.meet();
    }

    /// Runs an operation that writes a single or double row, only for the lanes of a guard.
    #[inline(always)]
    fn merge_after(&self, guard: Guard, (out, double): (u32, bool), run: impl Fn(&[*mut u32], u32)) {
        let mut files = [std::ptr::null_mut(); MOST_WARPS];
        let mut masks = [0; MOST_WARPS];
        let (mut count, mut all) = (0, u32::MAX);
        for warp in 0..self.files.count {
            let active = self.files.active(warp, guard);
            if active != 0 {
                (files[count], masks[count]) = (self.files.rows[warp], active);
                count += 1;
                all &= active;
            }
        }
        let (files, masks) = (&files[..count], &masks[..count]);
        if all == u32::MAX {
            return run(files, out);
        }
        let scratch = self.block.vector.scratch;
        run(files, scratch);
        let rows = Blend { to: out, yes: scratch, no: out };
        // SAFETY: the result and the scratch rows have the width of the operation's result.
        unsafe { self.steps.blends[usize::from(double)](files, &rows, masks) };
    }
}
