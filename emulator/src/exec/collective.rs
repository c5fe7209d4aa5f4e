//! What lanes of a warp do together: shuffles, votes, matches, reductions, warp barriers.
//!
//! Such an instruction names its members. A fragment that lacks some of them waits until they stand at the same
//! instruction, or have exited.

use super::block::{Block, Stop};
use super::memory::apply;
use super::plain::Flow;
use super::rows::Rows;
use super::semantics::{LANES, lanes_of};
use super::warp::Wait;
use crate::program::Register;
use crate::program::instruction::{Collective, Op, ShuffleMode};
use crate::program::types::Type;
use crate::report::FaultKind;

impl Block<'_, '_> {
    pub(super) fn collective(
        &mut self,
        warp: usize,
        index: usize,
        pc: u32,
        active: u32,
        operation: &Collective,
        members: Register,
    ) -> Result<Flow, Stop> {
        let state = &mut self.warps[warp];
        if active & state.live == state.live || missing(&state.rows, state.live, active, members) == 0 {
            self.perform_by_members(warp, pc, operation, members, active, active)?;
            return Ok(Flow::Next);
        }
        self.split_off(warp, index, pc, active);
        self.warps[warp].fragments[index].wait = Wait::Collective;
        Ok(Flow::Yield)
    }

    /// When nothing else in the warp can run: lets those go on whose members have all arrived. `false` if none.
    pub(super) fn resolve_collectives(&mut self, warp: usize) -> Result<bool, Stop> {
        self.warps[warp].merge();
        let waiting: Vec<usize> = (0..self.warps[warp].fragments.len())
            .filter(|index| self.warps[warp].fragments[*index].wait == Wait::Collective)
            .collect();
        let at_barrier = waiting.iter().fold(0, |bits, index| {
            let fragment = &self.warps[warp].fragments[*index];
            let is_barrier = matches!(
                self.instruction(fragment.pc).op,
                Op::Collective { operation: Collective::WarpBarrier, .. }
            );
            if is_barrier { bits | fragment.mask } else { bits }
        });
        let mut any = false;
        for index in waiting {
            let (pc, mask) = {
                let fragment = &self.warps[warp].fragments[index];
                (fragment.pc, fragment.mask)
            };
            let Op::Collective { operation, members } = &self.instruction(pc).op else { continue };
            let state = &mut self.warps[warp];
            // A warp barrier may stand at different places for different lanes.
            let arrived = if *operation == Collective::WarpBarrier { at_barrier } else { mask };
            if missing(&state.rows, state.live, arrived, *members) != 0 {
                continue;
            }
            self.perform_by_members(warp, pc, operation, *members, mask, arrived)?;
            let fragment = &mut self.warps[warp].fragments[index];
            fragment.wait = Wait::Ready;
            fragment.pc += 1;
            any = true;
        }
        Ok(any)
    }

    /// Lanes may name different members; those that name the same work together. `arrived` are all lanes that wait to
    /// be told that the others are there.
    fn perform_by_members(
        &mut self,
        warp: usize,
        pc: u32,
        operation: &Collective,
        members: Register,
        active: u32,
        arrived: u32,
    ) -> Result<(), Stop> {
        let mut left = active;
        while left != 0 {
            let rows = &mut self.warps[warp].rows;
            let named = rows.get(members, left.trailing_zeros() as usize);
            let same = lanes_of(left).filter(|lane| rows.get(members, *lane) == named);
            let same = same.fold(0, |bits, lane| bits | 1 << lane);
            if self.launch.options.check_barriers {
                self.check_members(warp, pc, operation, members, (named, same, active))?;
            }
            perform(&mut self.warps[warp].rows, operation, same);
            if let Some(clocks) = &mut self.clocks {
                clocks.meet(&[(warp, same | named & arrived)], None);
            }
            left &= !same;
        }
        Ok(())
    }

    /// With the check on: lanes that name members without being one, or that name others than those do, or that read
    /// from a lane which takes no part.
    #[cold]
    fn check_members(
        &self,
        warp: usize,
        pc: u32,
        operation: &Collective,
        members: Register,
        (named, same, active): (u32, u32, u32),
    ) -> Result<(), Stop> {
        let outsiders = same & !named;
        let others = active & named & !same;
        if outsiders != 0 {
            let mut fault = self.fault(FaultKind::WrongMembers, warp, pc, outsiders);
            fault.related.push(self.related(warp, pc, outsiders, format!("names {named:#010x}")));
            return Err(fault);
        }
        if others != 0 {
            let mut fault = self.fault(FaultKind::WrongMembers, warp, pc, same);
            let members_of_other = self.warps[warp].rows.get(members, others.trailing_zeros() as usize);
            fault.related.push(self.related(warp, pc, same, format!("names {named:#010x}")));
            fault.related.push(self.related(warp, pc, others, format!("names {members_of_other:#010x}")));
            return Err(fault);
        }
        if let Collective::Shuffle { mode, lane, clamp, .. } = *operation {
            let rows = &self.warps[warp].rows;
            let astray = |own: &usize| {
                let (source, valid) =
                    shuffle_source(mode, *own as u32, rows.get(lane, *own), rows.get(clamp, *own));
                valid && same >> source & 1 == 0
            };
            let astray = lanes_of(same).filter(astray).fold(0, |bits, lane| bits | 1 << lane);
            if astray != 0 {
                return Err(self.fault(FaultKind::InactiveLane, warp, pc, astray));
            }
        }
        Ok(())
    }
}

/// Members that are alive and have not arrived.
fn missing(rows: &Rows, live: u32, arrived: u32, members: Register) -> u32 {
    let lane = arrived.trailing_zeros() as usize % LANES;
    rows.get(members, lane) & live & !arrived
}

fn perform(rows: &mut Rows, operation: &Collective, active: u32) {
    match *operation {
        Collective::WarpBarrier => {}
        Collective::Shuffle { mode, out, inside, value, lane, clamp } => {
            let values: [u32; LANES] = core::array::from_fn(|lane| rows.get(value, lane));
            let mut found = 0;
            for own in lanes_of(active) {
                let (source, valid) =
                    shuffle_source(mode, own as u32, rows.get(lane, own), rows.get(clamp, own));
                found |= u32::from(valid) << own;
                // Hardware gives zero for a lane that does not take part.
                let there = active >> source & 1 != 0;
                rows.set(out, own, if there { values[source as usize] } else { 0 });
            }
            if let Some(inside) = inside {
                rows.set_predicate(inside, active, found);
            }
        }
        Collective::VoteAll { out, condition } => {
            let all = !rows.holds(condition) & active == 0;
            rows.set_predicate(out, active, if all { u32::MAX } else { 0 });
        }
        Collective::VoteAny { out, condition } => {
            let any = rows.holds(condition) & active != 0;
            rows.set_predicate(out, active, if any { u32::MAX } else { 0 });
        }
        Collective::VoteUniform { out, condition } => {
            let bits = rows.holds(condition) & active;
            rows.set_predicate(out, active, if bits == 0 || bits == active { u32::MAX } else { 0 });
        }
        Collective::VoteBallot { out, condition } => {
            let bits = rows.holds(condition) & active;
            lanes_of(active).for_each(|lane| rows.set(out, lane, bits));
        }
        Collective::MatchAny { out, value, width } => {
            let values: [u64; LANES] = core::array::from_fn(|lane| rows.get_wide(value, width, lane));
            for own in lanes_of(active) {
                let same = lanes_of(active).filter(|lane| values[*lane] == values[own]);
                let same = same.fold(0, |bits, lane| bits | 1 << lane);
                rows.set(out, own, same);
            }
        }
        Collective::MatchAll { out, agreed, value, width } => {
            let first = rows.get_wide(value, width, active.trailing_zeros() as usize % LANES);
            let all = lanes_of(active).all(|lane| rows.get_wide(value, width, lane) == first);
            lanes_of(active).for_each(|lane| rows.set(out, lane, if all { active } else { 0 }));
            if let Some(agreed) = agreed {
                rows.set_predicate(agreed, active, if all { u32::MAX } else { 0 });
            }
        }
        Collective::Reduce { operation, signed, out, value } => {
            let ty = if signed { Type::S32 } else { Type::U32 };
            let all = lanes_of(active).map(|lane| u64::from(rows.get(value, lane)));
            let result = all.reduce(|a, b| apply(operation, ty, false, a, b, 0)).unwrap_or(0);
            lanes_of(active).for_each(|lane| rows.set(out, lane, result as u32));
        }
        Collective::Elect { out, elected } => {
            let leader = active.trailing_zeros();
            lanes_of(active).for_each(|lane| rows.set(out, lane, leader));
            rows.set_predicate(elected, active, 1u32.checked_shl(leader).unwrap_or(0));
        }
    }
}

/// Which lane `own` reads from, and whether that lies inside its segment.
#[inline(always)]
pub(super) fn shuffle_source(mode: ShuffleMode, own: u32, operand: u32, clamp: u32) -> (u32, bool) {
    let operand = operand & 31;
    let segment = clamp >> 8 & 31;
    let clamp = clamp & 31;
    let most = (own & segment) | (clamp & !segment);
    let least = own & segment;
    let (source, valid) = match mode {
        ShuffleMode::Up => {
            let source = own.wrapping_sub(operand);
            (source, source as i32 >= most as i32)
        }
        ShuffleMode::Down => (own + operand, own + operand <= most),
        ShuffleMode::Butterfly => (own ^ operand, own ^ operand <= most),
        ShuffleMode::Index => {
            let source = least | (operand & !segment);
            (source, source <= most)
        }
    };
    if valid { (source & 31, true) } else { (own, false) }
}
