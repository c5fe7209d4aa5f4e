//! Registers that are computed for the first lane of a warp only ([`super::affine`]).
//!
//! The first lanes of the warps of a group make one more register file, in which each lane stands for a warp. What a
//! launch makes of the shapes, and of the accesses whose addresses have one, is found out once for each launch.
//!
//! A warp whose lanes disagree about such a register, or an address that is not regular after all, ends this for that
//! warp: its scalars become rows, and it goes on with the code that knows rows only.

use super::super::block::{Block, set_block_rows, thread_index};
use super::super::launch::Launch;
use super::super::rows::Rows;
use super::super::semantics::{LANES, Width};
use super::affine::{Affine, Comparison, Relation, evaluate};
use super::gang::{Files, Gang, MOST_WARPS};
use super::liveness::contains;
use super::memory::HALF;
use super::translate::Steps;
use crate::program::instruction::Special;
use crate::program::{Kernel, Register};

/// Coefficients beyond this could overflow on their way to an address.
const MOST: i64 = 1 << 50;

/// How the lanes of a warp differ from its first lane, in a register of some shape.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(in crate::exec) struct Growth {
    pub(super) wide: [i64; LANES],
    narrow: [u32; LANES],
    pub(super) least: i64,
    pub(super) most: i64,
}

impl Growth {
    fn of(coefficients: [i64; 3], lanes: &[[i64; 3]; LANES]) -> Self {
        let wide = lanes.map(|lane| (0..3).map(|axis| lane[axis] * coefficients[axis]).sum());
        Growth {
            wide,
            narrow: wide.map(|growth| growth as u32),
            least: wide.iter().copied().min().unwrap_or(0),
            most: wide.iter().copied().max().unwrap_or(0),
        }
    }

    /// How accesses of this many bytes whose addresses grow so lie.
    fn pattern(&self, bytes: i64) -> Pattern {
        let half = |lanes: &[i64]| {
            let growth = |lane: usize| lanes[lane] - lanes[0];
            if (0..HALF).all(|lane| growth(lane) == 0) {
                Some(Half::Same)
            } else {
                (0..HALF).all(|lane| growth(lane) == lane as i64 * bytes).then_some(Half::Next)
            }
        };
        if self.wide.iter().any(|growth| growth % bytes != 0) {
            return Pattern::Misaligned;
        }
        match (half(&self.wide[..HALF]), half(&self.wide[HALF..])) {
            (Some(Half::Same), Some(Half::Same)) if self.wide[HALF] == 0 => Pattern::Same,
            (Some(Half::Next), Some(Half::Next)) if self.wide[HALF] == HALF as i64 * bytes => Pattern::Next,
            (Some(low), Some(high)) => Pattern::Halves([low, high]),
            _ => Pattern::Scattered,
        }
    }
}

/// How the lanes of half a warp access memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Half {
    /// All the same element.
    Same,
    /// One element after the other.
    Next,
}

/// How the lanes of a warp access memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::exec) enum Pattern {
    Same,
    Next,
    Halves([Half; 2]),
    /// At places of their own.
    Scattered,
    /// Not at multiples of the size of an element.
    Misaligned,
}

impl Pattern {
    /// Of each half of a warp; meaningless for lanes at places of their own.
    #[inline(always)]
    pub(super) fn halves(self) -> [Half; 2] {
        match self {
            Pattern::Halves(halves) => halves,
            Pattern::Same => [Half::Same; 2],
            Pattern::Next | Pattern::Scattered | Pattern::Misaligned => [Half::Next; 2],
        }
    }
}

/// What a block needs to run scalars. Kept from launch to launch.
#[derive(Debug, Default)]
pub(in crate::exec) struct Scalars {
    /// For every eight warps, the values of their first lanes.
    pub(super) groups: Vec<Rows>,
    /// Of each shape.
    pub(super) growths: Vec<Growth>,
    /// Of each access.
    pub(super) patterns: Vec<Pattern>,
    /// Whether the launch is regular enough.
    pub(in crate::exec) usable: bool,
    numbers: Vec<i64>,
}

impl Scalars {
    /// Brings up to date what depends on the constants of a launch, given as they changed.
    pub(in crate::exec) fn prepare(&mut self, launch: &Launch<'_>, changed: bool) {
        self.usable = false;
        let Some(affine) = launch.steps.and_then(|steps| steps.affine.as_ref()) else { return };
        let Some(lanes) = lanes(launch.args.block) else { return };
        let fresh = self.groups.is_empty();
        if fresh {
            let groups = (launch.threads as usize).div_ceil(LANES * MOST_WARPS);
            self.groups = (0..groups).map(|group| first_lanes(launch, group)).collect();
        }
        if !changed && !fresh {
            self.usable = !self.growths.is_empty();
            return;
        }
        for (register, width, value) in &launch.uniform {
            self.groups.iter_mut().for_each(|file| file.fill(*register, *width, *value));
        }
        let file = &self.groups[0];
        let row = |register, width| match width {
            Width::Double => file.get_wide(register, width, 0) as i64,
            _ => i64::from(file.get(register, 0) as i32),
        };
        evaluate(&affine.exprs, row, &mut self.numbers);
        let coefficients = |shape: &[u32; 3]| shape.map(|id| self.numbers[id as usize]);
        self.growths.clear();
        self.patterns.clear();
        if affine.shapes.iter().flat_map(coefficients).any(|number| !(-MOST..=MOST).contains(&number)) {
            return;
        }
        self.growths.extend(affine.shapes.iter().map(|shape| Growth::of(coefficients(shape), &lanes)));
        let accesses = launch.steps.map_or(&[][..], |steps| &steps.accesses);
        let pattern = |(shape, bytes): &(u32, u32)| self.growths[*shape as usize].pattern(i64::from(*bytes));
        self.patterns.extend(accesses.iter().map(pattern));
        self.usable = true;
    }

    /// Sets the registers that hold the coordinates of the block.
    pub(in crate::exec) fn start(&mut self, launch: &Launch<'_>, index: [u32; 3]) {
        for (register, width, special) in &launch.varying {
            if let Special::BlockId(axis) = special {
                let value = u64::from(index[*axis as usize]);
                self.groups.iter_mut().for_each(|file| file.fill(*register, *width, value));
            }
        }
    }
}

/// Coordinates of the lanes of a warp, relative to the first lane, if they are the same in all warps.
fn lanes([x, y, z]: [u32; 3]) -> Option<[[i64; 3]; LANES]> {
    let warp = LANES as u32;
    let plane = x * y;
    let regular = y == 1 && z == 1
        || x % warp == 0
        || warp % x == 0 && (z == 1 || plane % warp == 0 || warp % plane == 0);
    let lanes = core::array::from_fn(|lane| {
        let lane = lane as u32;
        if x % warp == 0 || y == 1 && z == 1 {
            [lane, 0, 0]
        } else if z == 1 || plane % warp == 0 {
            [lane % x, lane / x, 0]
        } else {
            thread_index(lane, [x, y, z])
        }
    });
    regular.then(|| lanes.map(|lane| lane.map(i64::from)))
}

/// A register file of the first lanes of a group of warps, with what stays the same throughout.
fn first_lanes(launch: &Launch<'_>, group: usize) -> Rows {
    let kernel: &Kernel = launch.args.kernel;
    let mut file = Rows::new(kernel.rows, kernel.predicates);
    for (register, width, special) in &launch.varying {
        if let Special::ThreadId(axis) = special {
            for lane in 0..MOST_WARPS {
                let first = ((group * MOST_WARPS + lane) * LANES) as u32;
                let value = thread_index(first, launch.args.block)[*axis as usize];
                file.set_wide(*register, *width, lane, value.into());
            }
        }
    }
    file
}

/// The least and the greatest value of a register in a warp.
#[derive(Clone, Copy)]
struct Span<T>(T, T);

impl Span<i64> {
    /// Of 32-bit values. `None` if the numbers wrap around between them.
    #[inline(always)]
    fn of_narrow(first: u64, growth: &Growth, signed: bool) -> Option<Self> {
        let (first, least, most) = if signed {
            (i64::from(first as i32), i64::from(i32::MIN), i64::from(i32::MAX))
        } else {
            (i64::from(first as u32), 0, i64::from(u32::MAX))
        };
        let span = Span(first + growth.least, first + growth.most);
        (span.0 >= least && span.1 <= most).then_some(span)
    }
}

impl Span<i128> {
    /// Of 64-bit values. `None` if the numbers wrap around between them.
    fn of_wide(first: u64, growth: &Growth, signed: bool) -> Option<Self> {
        let (first, least, most) = if signed {
            (i128::from(first as i64), i128::from(i64::MIN), i128::from(i64::MAX))
        } else {
            (i128::from(first), 0, i128::from(u64::MAX))
        };
        let span = Span(first + i128::from(growth.least), first + i128::from(growth.most));
        (span.0 >= least && span.1 <= most).then_some(span)
    }
}

impl<T: PartialOrd> Span<T> {
    /// What a comparison gives in all lanes, if it is the same.
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

/// A register whose lanes are regular: where its row starts, in cells, its shape and its width.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operand {
    pub(super) row: u32,
    pub(super) shape: u32,
    pub(super) width: Width,
}

/// That a value of 32 bits does not wrap around from lane to lane, so that it can be extended.
#[derive(Clone, Copy, Debug)]
pub(super) struct NoWrap {
    pub(super) source: Operand,
    pub(super) signed: bool,
}

impl Block<'_, '_> {
    fn group(gang: &Gang) -> usize {
        gang.members()[0].warp / MOST_WARPS
    }

    /// The register file of the first lanes of the group that a gang belongs to.
    pub(super) fn first_lanes(&mut self, gang: &Gang) -> *mut u32 {
        self.scalars.groups.get_mut(Self::group(gang)).map_or(std::ptr::null_mut(), Rows::base)
    }

    /// The warps of a gang as lanes of the file of their first lanes, and whether the others of the group have ended.
    pub(super) fn first_lane_mask(&self, gang: &Gang) -> (u32, bool) {
        let first = Self::group(gang) * MOST_WARPS;
        let mask = gang.members().iter().fold(0, |mask, member| mask | 1 << (member.warp - first));
        let mut group = self.warps[first..].iter().take(MOST_WARPS).enumerate();
        (mask, group.all(|(lane, warp)| warp.live == 0 || mask >> lane & 1 != 0))
    }

    pub(super) fn growth(&self, operand: Operand) -> &Growth {
        &self.scalars.growths[operand.shape as usize]
    }

    /// Gives a register its row in a warp.
    pub(super) fn expand(&mut self, warp: usize, operand: Operand) {
        let register = Register(operand.row / LANES as u32);
        let Some(file) = self.scalars.groups.get(warp / MOST_WARPS) else { return };
        let first = file.get_wide(register, operand.width, warp % MOST_WARPS);
        let growth = &self.scalars.growths[operand.shape as usize];
        self.warps[warp].rows.fill_growing(register, operand.width, first, &growth.narrow, &growth.wide);
    }

    /// Whether a value can be extended to 64 bits in all warps of a gang by extending it in the first lane.
    #[inline(always)]
    pub(super) fn never_wraps(&self, files: &Files, what: &NoWrap) -> bool {
        let growth = self.growth(what.source);
        let (least, most) =
            if what.signed { (i64::from(i32::MIN), i64::from(i32::MAX)) } else { (0, i64::from(u32::MAX)) };
        // Values of the first lane for which no lane leaves the range: `room` of them, from `lowest` on.
        let lowest = least - growth.least.min(0);
        let room = most - growth.most.max(0) - lowest;
        room >= 0
            && (0..files.count).all(|warp| {
                let first = files.first_lane(warp, what.source) as u32;
                i64::from(first.wrapping_sub(lowest as u32)) <= room
            })
    }

    /// What a comparison gives in all lanes of a warp, if that can be told without rows.
    #[inline(always)]
    pub(super) fn compare_spans(
        &self,
        files: &Files,
        warp: usize,
        comparison: Comparison,
        [a, b]: [Operand; 2],
    ) -> Option<bool> {
        let (first_a, first_b) = (files.first_lane(warp, a), files.first_lane(warp, b));
        let (growth_a, growth_b) = (self.growth(a), self.growth(b));
        if comparison.wide {
            let a = Span::of_wide(first_a, growth_a, comparison.signed)?;
            return a.compare(comparison.relation, Span::of_wide(first_b, growth_b, comparison.signed)?);
        }
        let a = Span::of_narrow(first_a, growth_a, comparison.signed)?;
        a.compare(comparison.relation, Span::of_narrow(first_b, growth_b, comparison.signed)?)
    }

    /// Turns the scalars of a gang's warps into rows for good.
    pub(super) fn leave_scalars(&mut self, steps: &Steps, gang: &Gang) {
        let Some(affine) = &steps.affine else { return };
        for member in gang.members() {
            self.expand_all(affine, member.warp);
            set_block_rows(self.launch, self.worker, &mut self.warps[member.warp], self.index);
            self.warps[member.warp].rows_only = true;
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

/// Whether a constant row must be there although the code with scalars runs.
pub(in crate::exec) fn reads_row(steps: &Steps, register: Register) -> bool {
    steps.affine.as_ref().is_none_or(|affine| contains(&affine.rows, register))
}
