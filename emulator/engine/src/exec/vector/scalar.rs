//! Steps on registers stored only for the first lane of a warp ([`crate::exec::code::affine`]).
//!
//! The first lanes of eight warps form a register file in which each lane represents a warp. The
//! values of shapes, and the patterns of regular accesses, are computed once per launch.
//!
//! If the lanes of a warp differ in such a register, or an address turns out to be irregular, the
//! warp's scalars become vector registers, and it continues with the code without scalars.

use super::{Go, Run};
use crate::exec::block::Stop;
use crate::exec::block::special::set_block_rows;
use crate::exec::code::MOST_WARPS;
use crate::exec::code::affine::{Affine, TestKind};
use crate::exec::code::blend::Blend;
use crate::exec::code::growth::{Condition, Growth, Operand};
use crate::exec::code::step::{Guard, ScalarAccess, ScalarSelect, ScalarStep, ScalarTest, Step, UniformLoad};
use crate::memory::Windows;
use crate::semantics::known::{Comparison, Relation};
use crate::semantics::{LANES, Register, Width};
use std::ops::Range;

/// Minimum and maximum of a register in some warps.
#[derive(Clone, Copy)]
struct Span(i64, i64);

impl Span {
    /// Returns the range of some numbers.
    #[inline(always)]
    fn of(numbers: impl Iterator<Item = i64>) -> Self {
        numbers.fold(Span(i64::MAX, i64::MIN), |span, number| Span(span.0.min(number), span.1.max(number)))
    }

    /// True if all are numbers of 32 bits.
    #[inline(always)]
    fn is_within(self, signed: bool) -> bool {
        let (least, most) = if signed { (i32::MIN.into(), i32::MAX.into()) } else { (0, u32::MAX.into()) };
        self.0 >= least && self.1 <= most
    }

    /// Returns the result of a comparison if it is the same in all lanes.
    #[inline(always)]
    fn compare(self, relation: Relation, other: Self) -> Option<bool> {
        let below = self.1 < other.0;
        let not_above = self.1 <= other.0;
        let above = self.0 > other.1;
        let not_below = self.0 >= other.1;
        let tell = |yes: bool, no: bool| if yes { Some(true) } else { no.then_some(false) };
        match relation {
            Relation::Less => tell(below, not_below),
            Relation::AtMost => tell(not_above, above),
            Relation::Greater => tell(above, not_above),
            Relation::AtLeast => tell(not_below, below),
            Relation::Equal => tell(not_above && not_below, below || above),
            Relation::Unequal => tell(below || above, not_above && not_below),
        }
    }
}

impl Run<'_, '_, '_> {
    /// Runs an operation on first lanes. If lanes are irregular, the group uses vector registers.
    #[inline(always)]
    pub(super) fn scalar(&mut self, step: &Step, scalar: &ScalarStep) -> Go {
        let regular = self.is_free(step.guard, scalar.out.row)
            && scalar.condition.as_ref().is_none_or(|condition| self.meets(condition));
        if !regular {
            return self.go_back(step);
        }
        self.run_scalar(scalar);
        if scalar.expand {
            self.expand_group(scalar.out);
        }
        Go::On
    }

    /// Selects for the first lanes. If the lanes of a warp disagree, the group uses vector
    /// registers.
    pub(super) fn scalar_select(&mut self, step: &Step, select: &ScalarSelect) -> Go {
        let mut rows = [0; MOST_WARPS];
        for (warp, row) in rows.iter_mut().enumerate().take(self.files.count) {
            let (holds, all) = (self.files.active(warp, select.condition), self.files.masks[warp]);
            let [yes, no] = select.sources;
            *row = match holds {
                0 => no,
                _ if holds == all => yes,
                _ => return self.go_back(step),
            };
        }
        if !self.is_free(step.guard, select.out.row) {
            return self.go_back(step);
        }
        for (warp, row) in rows.into_iter().enumerate().take(self.files.count) {
            let value = self.files.first_lane(warp, Operand { row, ..select.out });
            self.set_first(warp, select.out, value);
        }
        if select.expand {
            self.expand_group(select.out);
        }
        Go::On
    }

    fn expand_group(&mut self, operand: Operand) {
        for at in 0..self.gang.members().len() {
            self.expand(self.gang.members()[at].warp, operand);
        }
    }

    /// Continues before a step with vector registers.
    #[cold]
    fn go_back(&mut self, step: &Step) -> Go {
        self.used -= step.weight;
        // Branches count the steps of their arms, and this group has passed its branch.
        let rows = &self.steps.rows;
        let arm = rows.steps[rows.of_pc[step.entry as usize] as usize..].iter();
        let uncounted = arm.take_while(|step| step.within != Guard::ALWAYS && step.weight == 0);
        self.used += uncounted.map(|step| step.pc - step.entry + 1).sum::<u32>();
        self.settle(step.entry);
        self.leave_scalars();
        Go::Rest
    }

    /// Loads at an address that is the same in all lanes of a warp, as to rows, and also stores the
    /// result of the first running lane. If lanes are irregular, the group uses vector registers.
    pub(super) fn uniform_load(&mut self, step: &Step, load: &UniformLoad) -> Result<Go, Stop> {
        let regular = load.scalars.iter().all(|out| self.is_free(step.guard, out.row));
        if !regular || load.is_generic && self.is_local(&load.access) {
            return Ok(self.go_back(step));
        }
        self.scalar_access(step, &load.access, false)?;
        for out in &load.scalars {
            for at in 0..self.files.count {
                let lane = self.files.masks[at].trailing_zeros() as usize;
                let rows = &self.block.warps[self.gang.members()[at].warp].rows;
                self.set_first(at, *out, rows.get_wide(out.register(), out.width, lane));
            }
        }
        Ok(Go::On)
    }

    /// True if an address without a space is one in local memory, where lanes load different bytes.
    fn is_local(&self, access: &ScalarAccess) -> bool {
        let Windows { local, bytes, .. } = self.block.launch.map.windows();
        (0..self.files.count).any(|warp| {
            let first = self.files.first_lane(warp, access.address);
            first.wrapping_add(access.by_row.access.offset).wrapping_sub(local) < bytes
        })
    }

    /// Runs an operation on the first lanes of the group's warps.
    #[inline(always)]
    fn run_scalar(&self, scalar: &ScalarStep) {
        let files = &self.files;
        let file = files.firsts;
        match scalar.run {
            // SAFETY: the file of the first lanes has the rows of any register file of the kernel.
            Ok(run) if files.whole_group => unsafe { run(&[file], scalar.out.row, &scalar.sources) },
            Ok(run) => {
                // SAFETY: as above; the scratch rows are part of the file.
                unsafe { run(&[file], self.block.vector.scratch, &scalar.sources) };
                let rows = Blend { to: scalar.out.row, yes: self.block.vector.scratch, no: scalar.out.row };
                let blend = self.steps.blends[usize::from(scalar.out.width == Width::Double)];
                // SAFETY: the result and the scratch rows have the width of the operation's result.
                unsafe { blend(&[file], &rows, &[files.first_lanes]) };
            }
            Err(info) => {
                let register = |row: u32| Register(row / LANES as u32);
                // SAFETY: as above.
                unsafe {
                    info.run(file, register(scalar.out.row), scalar.sources.map(register), files.first_lanes)
                };
            }
        }
    }

    /// Runs a comparison for each warp of a group as a whole, if possible.
    #[inline(always)]
    pub(super) fn scalar_test(&mut self, guard: Guard, test: &ScalarTest) {
        let mut uniform = 0;
        if test.kind == TestKind::Uniform {
            // SAFETY: the file of the first lanes has the rows of any register file of the kernel.
            uniform = unsafe { test.test.run_one(self.files.firsts) };
        }
        let count = self.files.count;
        let (mut known, mut results) = (0, 0);
        if let TestKind::Range(comparison) = test.kind {
            if let Some(same) = self.compare_spans(0..count, comparison, test.operands) {
                let bits = if same { u32::MAX } else { 0 };
                (0..count).for_each(|warp| self.set_test(guard, test, warp, bits));
                return;
            }
            (known, results) = self.compare_each_span(comparison, test.operands);
        }
        for warp in 0..count {
            let member = self.gang.members()[warp];
            let same = match test.kind {
                TestKind::Uniform => Some(uniform >> (member.warp % MOST_WARPS) & 1 != 0),
                TestKind::Range(_) => (known >> warp & 1 != 0).then_some(results >> warp & 1 != 0),
            };
            let bits = match same {
                Some(true) => u32::MAX,
                Some(false) => 0,
                None => {
                    for operand in test.operands {
                        self.expand(member.warp, operand);
                    }
                    // SAFETY: as in `pure`.
                    unsafe { test.test.run_one(self.files.rows[warp]) }
                }
            };
            self.set_test(guard, test, warp, bits);
        }
    }

    #[inline(always)]
    fn set_test(&self, guard: Guard, test: &ScalarTest, warp: usize, bits: u32) {
        if self.files.is_dense && guard == Guard::ALWAYS {
            return self.files.replace_predicate(warp, test.out, bits);
        }
        self.files.set_predicate(warp, test.out, self.files.active(warp, guard), bits);
    }

    pub(super) fn growth(&self, operand: Operand) -> &Growth {
        &self.block.vector.scalars.growths[operand.shape as usize]
    }

    /// Sets a register in the first lane of a member of the group.
    fn set_first(&mut self, member: usize, operand: Operand, value: u64) {
        let warp = self.gang.members()[member].warp;
        if let Some(file) = self.block.vector.scalars.groups.get_mut(warp / MOST_WARPS) {
            file.set_wide(operand.register(), operand.width, warp % MOST_WARPS, value);
        }
    }

    pub(super) fn expand(&mut self, warp: usize, operand: Operand) {
        let register = operand.register();
        let Some(file) = self.block.vector.scalars.groups.get(warp / MOST_WARPS) else { return };
        let first = file.get_wide(register, operand.width, warp % MOST_WARPS);
        let growth = &self.block.vector.scalars.growths[operand.shape as usize];
        self.block.warps[warp].rows.fill_growing(
            register,
            operand.width,
            first,
            &growth.narrow,
            &growth.wide,
        );
    }

    /// True if all warps of the group meet a condition.
    #[inline(always)]
    fn meets(&self, condition: &Condition) -> bool {
        let mut warps = 0..self.files.count;
        match *condition {
            Condition::NoWrap { source, signed } => self.never_wraps(source, signed),
            Condition::Sign(source) => {
                let ends = self.growth(source).ends();
                warps.all(|warp| has_one_sign(source, self.files.first_lane(warp, source), ends))
            }
            Condition::Thread { source, other } => {
                let Some(bit) = self.growth(source).bit else { return false };
                let lanes = (LANES as u64 - 1) << bit;
                warps.all(|warp| {
                    let first = self.files.first_lane(warp, source);
                    let other = other.map_or(0, |other| self.files.first_lane(warp, other));
                    first.trailing_zeros() >= bit + LANES.ilog2() && lanes & other == 0
                })
            }
        }
    }

    /// True if extending the first lane's value to 64 bits extends it in all lanes of a group.
    #[inline(always)]
    fn never_wraps(&self, source: Operand, signed: bool) -> bool {
        let growth = self.growth(source);
        let (least, most) =
            if signed { (i64::from(i32::MIN), i64::from(i32::MAX)) } else { (0, i64::from(u32::MAX)) };
        // Values of the first lane for which no lane leaves the range: `room`, from `lowest`.
        let lowest = least - growth.least.min(0);
        let room = most - growth.most.max(0) - lowest;
        room >= 0
            && (0..self.files.count).all(|warp| {
                let first = self.files.first_lane(warp, source) as u32;
                i64::from(first.wrapping_sub(lowest as u32)) <= room
            })
    }

    /// Returns the result of a comparison if it is the same in all lanes of some warps, and known
    /// without vector registers.
    #[inline(always)]
    fn compare_spans(
        &self,
        warps: Range<usize>,
        comparison: Comparison,
        [a, b]: [Operand; 2],
    ) -> Option<bool> {
        let Comparison { relation, signed, wide } = comparison;
        if wide {
            let a = self.wide_span(warps.clone(), a, signed)?;
            return a.compare(relation, self.wide_span(warps, b, signed)?);
        }
        let a = self.narrow_span(warps.clone(), a, signed)?;
        a.compare(relation, self.narrow_span(warps, b, signed)?)
    }

    /// Returns the warps of the group with the same result in all lanes, and these results.
    #[inline(always)]
    fn compare_each_span(&self, comparison: Comparison, [a, b]: [Operand; 2]) -> (u32, u32) {
        let Comparison { relation, signed, wide } = comparison;
        let (mut known, mut results) = (0, 0);
        let mut add = |warp: usize, result: Option<bool>| {
            known |= u32::from(result.is_some()) << warp;
            results |= u32::from(result == Some(true)) << warp;
        };
        if wide {
            for warp in 0..self.files.count {
                add(warp, self.compare_spans(warp..warp + 1, comparison, [a, b]));
            }
            return (known, results);
        }
        let [ends_a, ends_b] = [a, b].map(|operand| self.growth(operand).ends());
        for warp in 0..self.files.count {
            let span = |operand, (least, most): (i64, i64)| {
                let first = self.files.first_lane(warp, operand) as u32;
                let first = if signed { i64::from(first as i32) } else { i64::from(first) };
                Span(first + least, first + most)
            };
            let (a, b) = (span(a, ends_a), span(b, ends_b));
            let fit = a.is_within(signed) && b.is_within(signed);
            add(warp, a.compare(relation, b).filter(|_| fit));
        }
        (known, results)
    }

    /// Returns the range of a register in all lanes of some warps; `None` if numbers wrap around.
    #[inline(always)]
    fn narrow_span(&self, warps: Range<usize>, operand: Operand, signed: bool) -> Option<Span> {
        let growth = self.growth(operand);
        let firsts = warps.map(|warp| self.files.first_lane(warp, operand));
        let firsts = if signed {
            Span::of(firsts.map(|first| i64::from(first as i32)))
        } else {
            Span::of(firsts.map(|first| i64::from(first as u32)))
        };
        let span = Span(firsts.0 + growth.least, firsts.1 + growth.most);
        span.is_within(signed).then_some(span)
    }

    /// The same for wide numbers. Unsigned ones are moved down, so that they have the same order.
    fn wide_span(&self, warps: Range<usize>, operand: Operand, signed: bool) -> Option<Span> {
        let (growth, moved) = (self.growth(operand), if signed { 0 } else { i64::MIN });
        let firsts = Span::of(warps.map(|warp| self.files.first_lane(warp, operand) as i64 ^ moved));
        Some(Span(firsts.0.checked_add(growth.least)?, firsts.1.checked_add(growth.most)?))
    }

    /// Converts the scalars of a group's warps to vector registers for good.
    pub(super) fn leave_scalars(&mut self) {
        let Some(affine) = &self.steps.affine else { return };
        for at in 0..self.gang.members().len() {
            let member = self.gang.members()[at];
            self.expand_all(affine, member.warp);
            let (worker, index) = (self.block.worker(), self.block.index());
            set_block_rows(self.block.launch, worker, &mut self.block.warps[member.warp], index);
            self.block.warps[member.warp].rows_only = true;
        }
    }

    fn expand_all(&mut self, affine: &Affine, warp: usize) {
        for (register, scalar) in &affine.scalars {
            let operand =
                Operand { row: register.0 * LANES as u32, shape: scalar.shape, width: scalar.width };
            self.expand(warp, operand);
        }
    }
}

/// True if a register does not wrap between lanes, and has the same sign in all. `ends` are the
/// least and the greatest difference of a lane from the first.
fn has_one_sign(operand: Operand, first: u64, ends: (i64, i64)) -> bool {
    if operand.width == Width::Double {
        let ends = (first as i64).checked_add(ends.0).zip((first as i64).checked_add(ends.1));
        return ends.is_some_and(|(least, most)| (least < 0) == (most < 0));
    }
    let first = i64::from(first as i32);
    let range = if first < 0 { i64::from(i32::MIN)..0 } else { 0..1 << 31 };
    range.contains(&(first + ends.0)) && range.contains(&(first + ends.1))
}
