//! Steps that compute within registers.

use super::Run;
use super::gang::Member;
use crate::exec::code::MOST_WARPS;
use crate::exec::code::step::{CombinedTest, Guard, RowsTest};
use crate::exec::plain;
use crate::program::instruction::{Collective, Logic};
use crate::semantics::rows::PureRows;
use crate::semantics::shuffle::{Shuffle, ShuffleRows};
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
        for warp in 0..self.files.count {
            self.merge_after(warp, self.files.active(warp, guard), (out, double), |file, out| {
                // SAFETY: as above; the scratch rows are part of the file.
                unsafe { run(&[file], out, sources) };
            });
        }
    }

    #[inline(always)]
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

    #[inline(always)]
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

    #[inline(always)]
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
        let free = self.is_free(guard, out);
        for warp in 0..self.files.count {
            let active = if free { u32::MAX } else { self.files.active(warp, guard) };
            let chosen = self.files.holds(warp, condition);
            self.merge_after(warp, active, (out, double), |file, out| {
                let row = |offset: u32| file.wrapping_add(offset as usize);
                // SAFETY: as in `pure`.
                unsafe { self.steps.blends[usize::from(double)](row(out), row(a), row(b), chosen) };
            });
        }
    }

    /// True if a shuffle includes all lanes of all warps, so that none has to be waited for.
    #[inline(always)]
    pub(super) fn shuffles_at_once(&self, guard: Guard) -> bool {
        self.files.full && guard == Guard::ALWAYS && !self.block.launch.options.check_barriers
    }

    /// True if an instruction includes all live lanes of its warps, so that none is awaited.
    #[inline(always)]
    pub(super) fn is_whole(&self, guard: Guard) -> bool {
        let whole = |member: &Member| self.block.warps[member.warp].live == member.mask;
        guard == Guard::ALWAYS
            && !self.block.launch.options.check_barriers
            && (self.files.full || self.gang.members().iter().all(whole))
    }

    pub(super) fn collective(&mut self, operation: &Collective) {
        for member in self.gang.members() {
            plain::perform_collective(&mut self.block.warps[member.warp].rows, operation, member.mask);
        }
        self.meet();
    }

    /// Records, for the check of races, that the lanes of each warp have waited for each other.
    #[inline(always)]
    fn meet(&mut self) {
        let Some(clocks) = &mut self.block.checks.clocks else { return };
        self.gang.members().iter().for_each(|member| clocks.meet(&[(member.warp, member.mask)], None));
    }

    #[inline(always)]
    pub(super) fn shuffle(&mut self, run: ShuffleRows, shuffle: &Shuffle, inside: Option<Predicate>) {
        let files = &self.files;
        for warp in 0..files.count {
            // SAFETY: as in `pure`.
            let bits = unsafe { run(files.rows[warp], shuffle) };
            if let Some(inside) = inside {
                files.set_predicate(warp, inside.0, u32::MAX, bits);
            }
        }
        self.meet();
    }

    /// Runs an operation that writes a single or double row, only for the lanes of a mask.
    #[inline(always)]
    fn merge_after(&self, warp: usize, active: u32, (out, double): (u32, bool), run: impl Fn(*mut u32, u32)) {
        let file = self.files.rows[warp];
        match active {
            0 => {}
            u32::MAX => run(file, out),
            _ => {
                let scratch = self.block.vector.scratch;
                run(file, scratch);
                let row = |offset: u32| file.wrapping_add(offset as usize);
                // SAFETY: the result and the scratch rows have the width of the operation's result.
                unsafe { self.steps.blends[usize::from(double)](row(out), row(scratch), row(out), active) };
            }
        }
    }
}
