//! Groups of warps (`Gang`): divergent paths of several warps that run one instruction together.

use crate::exec::block::Block;
use crate::exec::block::rows::Rows;
use crate::exec::code::growth::Operand;
use crate::exec::code::liveness::RowSet;
use crate::exec::code::step::{Code, Guard};
use crate::exec::code::{MOST_WARPS, Steps};
use crate::semantics::Width;

/// One divergent path of a group.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Member {
    pub(super) warp: usize,
    pub(super) path: usize,
    pub(super) mask: u32,
}

/// Divergent paths that run together, each of a different warp.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Gang {
    members: [Member; MOST_WARPS],
    count: usize,
}

impl Gang {
    #[inline]
    pub(super) fn members(&self) -> &[Member] {
        &self.members[..self.count]
    }

    /// Returns the paths that have some of these lanes, with these.
    pub(super) fn with_lanes(&self, masks: &[u32; MOST_WARPS]) -> Self {
        let mut gang = Gang::default();
        for (member, mask) in self.members().iter().zip(masks).filter(|(_, mask)| **mask != 0) {
            gang.push(Member { mask: *mask, ..*member });
        }
        gang
    }

    pub(super) fn clear(&mut self) {
        self.count = 0;
    }

    pub(super) fn push(&mut self, member: Member) {
        self.members[self.count] = member;
        self.count += 1;
    }

    #[inline]
    pub(super) fn code<'s>(&self, block: &Block<'_, '_>, steps: &'s Steps) -> &'s Code {
        match &steps.scalars {
            Some(scalars) if !self.runs_rows(block) => scalars,
            _ => &steps.rows,
        }
    }

    fn runs_rows(&self, block: &Block<'_, '_>) -> bool {
        self.members().first().is_none_or(|member| block.warps[member.warp].rows_only)
    }

    fn group(&self) -> usize {
        self.members()[0].warp / MOST_WARPS
    }

    /// Returns the register file of the first lanes of the eight warps to which the group belongs.
    fn first_lanes(&self, block: &mut Block<'_, '_>) -> *mut u32 {
        block.vector.scalars.groups.get_mut(self.group()).map_or(std::ptr::null_mut(), Rows::base)
    }

    /// Returns the warps of the group as lanes in the file of first lanes, and true if the other
    /// warps of these eight have ended.
    fn first_lane_mask(&self, block: &Block<'_, '_>) -> (u32, bool) {
        let first = self.group() * MOST_WARPS;
        let mask = self.members().iter().fold(0, |mask, member| mask | 1 << (member.warp % MOST_WARPS));
        let group = &block.warps[first..];
        let group = &group[..group.len().min(MOST_WARPS)];
        let mut others = group.iter().enumerate().filter(|(lane, _)| mask >> lane & 1 == 0);
        (mask, self.count == group.len() || others.all(|(_, warp)| warp.live == 0))
    }

    /// Collects the rows that lanes outside of a group need. Returns `None` if they are not known.
    fn find_kept(&self, block: &mut Block<'_, '_>, steps: &Steps) -> Option<()> {
        let liveness = steps.liveness.as_ref()?;
        block.vector.kept.clear();
        block.vector.kept.extend_from_slice(liveness.exchanged());
        for member in self.members() {
            for (index, other) in block.warps[member.warp].paths.iter().enumerate() {
                if index == member.path {
                    continue;
                }
                if other.frame.is_some() {
                    return None;
                }
                let needed: &RowSet = liveness.at(other.pc)?;
                block.vector.kept.iter_mut().zip(needed).for_each(|(kept, needed)| *kept |= needed);
            }
        }
        Some(())
    }
}

/// A group in the form that steps use: registers, predicates and lanes of its warps.
pub(super) struct Files {
    pub(super) rows: [*mut u32; MOST_WARPS],
    predicates: [*mut u32; MOST_WARPS],
    pub(super) masks: [u32; MOST_WARPS],
    pub(super) count: usize,
    pub(super) full: bool,
    /// True if they are full and neighbors, with scalars.
    pub(super) is_dense: bool,
    /// Rows that lanes on other paths may need.
    pub(super) keeps: Keeps,
    /// The register file of the first lanes, and the lanes in it that represent these warps.
    pub(super) firsts: *mut u32,
    pub(super) first_lanes: u32,
    /// The lane in it that represents each warp.
    lanes: [usize; MOST_WARPS],
    /// True if no other warps of these eight are running.
    pub(super) whole_group: bool,
    /// The condition of the arm entered last, and the members with lanes in it.
    pub(super) arm: (Guard, u32),
}

/// Rows that must not change in lanes outside of a group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Keeps {
    /// The rows in [`Block::kept`].
    Some,
    Everything,
}

impl Files {
    pub(super) const NONE: Files = Files {
        rows: [std::ptr::null_mut(); MOST_WARPS],
        predicates: [std::ptr::null_mut(); MOST_WARPS],
        masks: [0; MOST_WARPS],
        count: 0,
        full: true,
        is_dense: false,
        keeps: Keeps::Everything,
        firsts: std::ptr::null_mut(),
        first_lanes: 0,
        lanes: [0; MOST_WARPS],
        whole_group: false,
        arm: (Guard::ALWAYS, 0),
    };

    /// Reads a group in place, because narrow writes followed by wide moves stall the processor.
    pub(super) fn look(&mut self, gang: &Gang, block: &mut Block<'_, '_>, steps: &Steps) {
        self.count = gang.count;
        self.full = true;
        self.firsts = std::ptr::null_mut();
        self.whole_group = false;
        self.arm = (Guard::ALWAYS, 0);
        if !gang.runs_rows(block) {
            self.firsts = gang.first_lanes(block);
            (self.first_lanes, self.whole_group) = gang.first_lane_mask(block);
        }
        for (warp, member) in gang.members().iter().enumerate() {
            let rows = &mut block.warps[member.warp].rows;
            self.rows[warp] = rows.base();
            self.predicates[warp] = rows.predicates();
            self.masks[warp] = member.mask;
            self.lanes[warp] = member.warp % MOST_WARPS;
            self.full &= member.mask == u32::MAX;
        }
        self.find_neighbors();
        let known = !self.full && gang.find_kept(block, steps).is_some();
        self.keeps = if known { Keeps::Some } else { Keeps::Everything };
    }

    /// Returns the warps that have some of these lanes, with these. The others keep all registers.
    pub(super) fn with_lanes(&self, masks: &[u32; MOST_WARPS]) -> Self {
        let mut files = Files { firsts: self.firsts, ..Files::NONE };
        for (warp, mask) in masks.iter().enumerate().take(self.count).filter(|(_, mask)| **mask != 0) {
            let at = files.count;
            (files.rows[at], files.predicates[at]) = (self.rows[warp], self.predicates[warp]);
            (files.masks[at], files.lanes[at]) = (*mask, self.lanes[warp]);
            files.first_lanes |= 1 << self.lanes[warp];
            files.full &= *mask == u32::MAX;
            files.count += 1;
        }
        files.find_neighbors();
        files
    }

    /// Notes if its warps are full and neighbors.
    fn find_neighbors(&mut self) {
        let neighbors = self.lanes[..self.count].windows(2).all(|pair| pair[0] + 1 == pair[1]);
        self.is_dense = self.full && neighbors && !self.firsts.is_null();
    }

    #[inline(always)]
    pub(super) fn rows(&self) -> &[*mut u32] {
        &self.rows[..self.count]
    }

    /// Returns the members of the group that may have lanes at a step in an arm or elsewhere.
    #[inline(always)]
    pub(super) fn visited(&self, within: Guard) -> u32 {
        match self.arm {
            (arm, members) if within != Guard::ALWAYS && within == arm => members,
            _ => u32::MAX >> (32 - self.count),
        }
    }

    #[inline(always)]
    pub(super) fn active(&self, warp: usize, guard: Guard) -> u32 {
        self.masks[warp] & self.holds(warp, guard)
    }

    #[inline(always)]
    pub(super) fn holds(&self, warp: usize, guard: Guard) -> u32 {
        // SAFETY: the pointer refers to all predicates of the kernel.
        unsafe { guard.lanes(self.predicates[warp]) }
    }

    /// Returns the value of a register in the first lane of a warp, zero-extended.
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

    /// Returns the place of a register in the first lane of the first warp. For cells of type `T`.
    #[inline(always)]
    pub(super) fn first_lanes_from<T>(&self, operand: Operand) -> *const T {
        self.firsts.wrapping_add(operand.row as usize).cast::<T>().wrapping_add(self.lanes[0])
    }

    #[inline(always)]
    pub(super) fn set_predicate(&self, warp: usize, predicate: u32, mask: u32, bits: u32) {
        let cell = self.predicates[warp].wrapping_add(predicate as usize);
        // SAFETY: the predicates include all that the kernel names.
        let old = unsafe { *cell };
        // SAFETY: as above.
        unsafe { *cell = (old & !mask) | (bits & mask) };
    }

    /// Sets a predicate in all lanes of a warp.
    #[inline(always)]
    pub(super) fn replace_predicate(&self, warp: usize, predicate: u32, bits: u32) {
        // SAFETY: the predicates include all that the kernel names.
        unsafe { *self.predicates[warp].wrapping_add(predicate as usize) = bits };
    }
}
