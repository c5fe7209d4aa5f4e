//! Collective operations of a warp: shuffles, votes, matches, reductions, warp barriers.
//!
//! Such an instruction names its members. A divergent path without some of them waits until they
//! reach the same instruction or exit.

use super::Flow;
use super::barrier::split_off;
use crate::exec::access::apply;
use crate::exec::block::rows::Rows;
use crate::exec::block::warp::Wait;
use crate::exec::block::{Block, Issue, Stop};
use crate::program::instruction::{Collective, Op};
use crate::program::types::Type;
use crate::report::FaultKind;
use crate::semantics::equal::equal_lanes;
use crate::semantics::shuffle::{ShuffleMode, shuffle_lanes, shuffle_source};
use crate::semantics::{LANES, Predicate, Register, Width, lanes_of};

pub(super) fn collective(
    block: &mut Block<'_, '_>,
    issue: Issue,
    operation: &Collective,
    members: Register,
) -> Result<Flow, Stop> {
    let state = &mut block.warps[issue.warp];
    if issue.active & state.live == state.live || missing(&state.rows, state.live, issue.active, members) == 0
    {
        perform_by_members(block, issue, operation, members, issue.active)?;
        return Ok(Flow::Next);
    }
    split_off(block, issue);
    block.warps[issue.warp].paths[issue.path].wait = Wait::Collective;
    Ok(Flow::Yield)
}

/// Called when nothing else in the warp can run: releases lanes whose members have all arrived.
/// Returns false if there are none.
pub(super) fn resolve_collectives(block: &mut Block<'_, '_>, warp: usize) -> Result<bool, Stop> {
    block.warps[warp].merge();
    let waiting: Vec<usize> = (0..block.warps[warp].paths.len())
        .filter(|index| block.warps[warp].paths[*index].wait == Wait::Collective)
        .collect();
    let at_barrier = waiting.iter().fold(0, |bits, index| {
        let path = &block.warps[warp].paths[*index];
        let is_barrier = matches!(
            block.instruction(path.pc).op,
            Op::Collective { operation: Collective::WarpBarrier, .. }
        );
        if is_barrier { bits | path.mask } else { bits }
    });
    let mut any = false;
    for index in waiting {
        let (pc, mask) = {
            let path = &block.warps[warp].paths[index];
            (path.pc, path.mask)
        };
        let Op::Collective { operation, members } = &block.instruction(pc).op else { continue };
        let state = &mut block.warps[warp];
        // Lanes may wait for a warp barrier at different positions.
        let arrived = if *operation == Collective::WarpBarrier { at_barrier } else { mask };
        if missing(&state.rows, state.live, arrived, *members) != 0 {
            continue;
        }
        let issue = Issue { warp, path: index, pc, mask, active: mask };
        perform_by_members(block, issue, operation, *members, arrived)?;
        let path = &mut block.warps[warp].paths[index];
        path.wait = Wait::Ready;
        path.pc += 1;
        any = true;
    }
    Ok(any)
}

/// Performs the operation for each set of lanes with the same members. `arrived` are all lanes that
/// wait for the others.
fn perform_by_members(
    block: &mut Block<'_, '_>,
    issue: Issue,
    operation: &Collective,
    members: Register,
    arrived: u32,
) -> Result<(), Stop> {
    let mut left = issue.active;
    if !block.launch.options.check_barriers && block.checks.clocks.is_none() {
        perform_by_names(&mut block.warps[issue.warp].rows, operation, members, left);
        return Ok(());
    }
    while left != 0 {
        let (named, same) = same_names(&block.warps[issue.warp].rows, members, left);
        if block.launch.options.check_barriers {
            check_members(block, issue, operation, members, (named, same))?;
        }
        perform(&mut block.warps[issue.warp].rows, operation, same);
        if let Some(clocks) = &mut block.checks.clocks {
            clocks.meet(&[(issue.warp, same | named & arrived)], None);
        }
        left &= !same;
    }
    Ok(())
}

/// With the check on, finds lanes that name members without being one, that name different members
/// than those do, or that read from a lane that takes no part.
#[cold]
fn check_members(
    block: &Block<'_, '_>,
    issue: Issue,
    operation: &Collective,
    members: Register,
    (named, same): (u32, u32),
) -> Result<(), Stop> {
    let outsiders = same & !named;
    let others = issue.active & named & !same;
    if outsiders != 0 {
        return block.found(FaultKind::WrongMembers, issue.lanes(outsiders), |mut fault| {
            fault.related.push(block.related(issue.lanes(outsiders), format!("names {named:#010x}")));
            fault
        });
    }
    if others != 0 {
        return block.found(FaultKind::WrongMembers, issue.lanes(same), |mut fault| {
            let of_other = block.warps[issue.warp].rows.get(members, others.trailing_zeros() as usize);
            fault.related.push(block.related(issue.lanes(same), format!("names {named:#010x}")));
            fault.related.push(block.related(issue.lanes(others), format!("names {of_other:#010x}")));
            fault
        });
    }
    if let Collective::Shuffle { mode, lane, clamp, .. } = *operation {
        let rows = &block.warps[issue.warp].rows;
        let astray = |own: &usize| {
            let (source, valid) =
                shuffle_source(mode, *own as u32, rows.get(lane, *own), rows.get(clamp, *own));
            valid && same >> source & 1 == 0
        };
        let astray = lanes_of(same).filter(astray).fold(0, |bits, lane| bits | 1 << lane);
        if astray != 0 {
            return block.found(FaultKind::InactiveLane, issue.lanes(astray), |fault| fault);
        }
    }
    Ok(())
}

/// Returns the live members, named by the first lane that arrived, that have not arrived.
pub(in crate::exec) fn missing(rows: &Rows, live: u32, arrived: u32, members: Register) -> u32 {
    let lane = arrived.trailing_zeros() as usize % LANES;
    rows.get(members, lane) & live & !arrived
}

/// Performs the operation for each set of these lanes that names the same members.
pub(in crate::exec) fn perform_by_names(
    rows: &mut Rows,
    operation: &Collective,
    members: Register,
    active: u32,
) {
    if let Collective::Shuffle { mode, out, inside, value, lane, clamp } = *operation {
        let groups = match active {
            u32::MAX => *rows.row(members),
            _ => equals(rows.row(members), active),
        };
        return shuffle(rows, mode, (out, inside), [value, lane, clamp], (active, &groups));
    }
    let mut left = active;
    while left != 0 {
        let same = same_names(rows, members, left).1;
        perform(rows, operation, same);
        left &= !same;
    }
}

/// Returns the members that the first lane of a mask names, and the lanes that name the same.
fn same_names(rows: &Rows, members: Register, mask: u32) -> (u32, u32) {
    let names = rows.row(members);
    let named = names[mask.trailing_zeros() as usize % LANES];
    (named, lanes_with(names, named) & mask)
}

/// Returns the lanes whose value is this one.
#[inline(always)]
fn lanes_with(values: &[u32; LANES], wanted: u32) -> u32 {
    /// Moves the lowest bit of each of eight bytes to the highest byte of the product.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let equal: [u8; LANES] = core::array::from_fn(|lane| u8::from(values[lane] == wanted));
    (0..LANES / 8).fold(0, |bits, part| {
        let bytes = u64::from_le_bytes(core::array::from_fn(|byte| equal[8 * part + byte]));
        bits | ((bytes.wrapping_mul(GATHER) >> 56) as u32) << (8 * part)
    })
}

/// Returns, for each of these lanes, the lanes among them with the same value.
fn equals(values: &[u32; LANES], active: u32) -> [u32; LANES] {
    let first = values[active.trailing_zeros() as usize % LANES];
    if lanes_with(values, first) & active == active {
        return [active; LANES];
    }
    equal_lanes(values).map(|equal| equal & active)
}

/// Sets a register in these lanes.
pub(in crate::exec) fn fill_lanes(rows: &mut Rows, out: Register, lanes: u32, value: u32) {
    match lanes {
        u32::MAX => rows.fill(out, Width::Single, value.into()),
        _ => lanes_of(lanes).for_each(|lane| rows.set(out, lane, value)),
    }
}

/// Performs the operation for these lanes, which all name the same members.
pub(in crate::exec) fn perform(rows: &mut Rows, operation: &Collective, active: u32) {
    match *operation {
        Collective::WarpBarrier => {}
        Collective::Shuffle { mode, out, inside, value, lane, clamp } => {
            shuffle(rows, mode, (out, inside), [value, lane, clamp], (active, &[active; LANES]));
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
            fill_lanes(rows, out, active, rows.holds(condition) & active);
        }
        Collective::MatchAny { out, value, width } => {
            let wide = |lane| rows.get_wide(value, width, lane);
            let mut equal = equals(&core::array::from_fn(|lane| wide(lane) as u32), active);
            if width == Width::Double {
                let upper = equals(&core::array::from_fn(|lane| (wide(lane) >> 32) as u32), active);
                equal.iter_mut().zip(upper).for_each(|(equal, upper)| *equal &= upper);
            }
            lanes_of(active).for_each(|lane| rows.set(out, lane, equal[lane]));
        }
        Collective::MatchAll { out, agreed, value, width } => {
            let first = rows.get_wide(value, width, active.trailing_zeros() as usize % LANES);
            let all = lanes_of(active).all(|lane| rows.get_wide(value, width, lane) == first);
            fill_lanes(rows, out, active, if all { active } else { 0 });
            if let Some(agreed) = agreed {
                rows.set_predicate(agreed, active, if all { u32::MAX } else { 0 });
            }
        }
        Collective::Reduce { operation, signed, out, value } => {
            let ty = if signed { Type::S32 } else { Type::U32 };
            let all = lanes_of(active).map(|lane| u64::from(rows.get(value, lane)));
            let result = all.reduce(|a, b| apply(operation, ty, false, a, b, 0)).unwrap_or(0);
            fill_lanes(rows, out, active, result as u32);
        }
        Collective::Elect { out, elected } => {
            let leader = active.trailing_zeros();
            lanes_of(active).for_each(|lane| rows.set(out, lane, leader));
            rows.set_predicate(elected, active, 1u32.checked_shl(leader).unwrap_or(0));
        }
    }
}

/// Shuffles among the lanes of each group, given for each of these lanes.
fn shuffle(
    rows: &mut Rows,
    mode: ShuffleMode,
    (out, inside): (Register, Option<Predicate>),
    [value, lane, clamp]: [Register; 3],
    (active, groups): (u32, &[u32; LANES]),
) {
    // Hardware returns zero for a lane that takes no part.
    let groups = core::array::from_fn(|lane| if active >> lane & 1 != 0 { groups[lane] } else { 0 });
    let operands = [rows.row(value), rows.row(lane), rows.row(clamp), &groups];
    let (result, found) = shuffle_lanes(mode, operands);
    match active {
        u32::MAX => *rows.row_mut(out) = result,
        _ => lanes_of(active).for_each(|lane| rows.set(out, lane, result[lane])),
    }
    if let Some(inside) = inside {
        rows.set_predicate(inside, active, found);
    }
}
