//! Instructions that compute within the registers of each lane.

use crate::exec::block::rows::Rows;
use crate::exec::block::{Block, Issue};
use crate::program::effects::CARRY;
use crate::program::instruction::{Carry, Clock, Condition, Logic};
use crate::semantics::video::Video;
use crate::semantics::{LANES, Predicate, PureInfo, Register, TestInfo, Width, lanes_of};
use std::time::{SystemTime, UNIX_EPOCH};

pub(super) fn pure(
    block: &mut Block<'_, '_>,
    issue: Issue,
    info: &PureInfo,
    out: Register,
    sources: [Register; 4],
) {
    let rows = block.warps[issue.warp].rows.base();
    // SAFETY: the decoder assigned each register as many rows as the operation's widths require,
    // and the register file contains all rows of the kernel.
    unsafe { info.run(rows, out, sources, issue.active) };
}

pub(super) fn test(
    block: &mut Block<'_, '_>,
    issue: Issue,
    info: &TestInfo,
    (out, inverse): (Predicate, Option<Predicate>),
    sources: [Register; 2],
    combine: Option<(Logic, Condition)>,
) {
    let rows = &mut block.warps[issue.warp].rows;
    // SAFETY: as in `pure`.
    let bits = unsafe { info.run(rows.base(), sources, issue.active) };
    let (mut yes, mut no) = (bits, !bits);
    if let Some((logic, condition)) = combine {
        let other = rows.holds(condition);
        (yes, no) = (logic.apply(yes, other), logic.apply(no, other));
    }
    rows.set_predicate(out, issue.active, yes);
    if let Some(inverse) = inverse {
        rows.set_predicate(inverse, issue.active, no);
    }
}

pub(super) fn logic(
    block: &mut Block<'_, '_>,
    issue: Issue,
    logic: Logic,
    out: Predicate,
    [a, b]: [Condition; 2],
) {
    let rows = &mut block.warps[issue.warp].rows;
    let bits = logic.apply(rows.holds(a), rows.holds(b));
    rows.set_predicate(out, issue.active, bits);
}

pub(super) fn select(
    block: &mut Block<'_, '_>,
    issue: Issue,
    (out, width): (Register, Width),
    [a, b]: [Register; 2],
    condition: Condition,
) {
    let rows = &mut block.warps[issue.warp].rows;
    let chosen = rows.holds(condition);
    for lane in lanes_of(issue.active) {
        let from = if chosen >> lane & 1 != 0 { a } else { b };
        let value = rows.get_wide(from, width, lane);
        rows.set_wide(out, width, lane, value);
    }
}

pub(super) fn video(
    block: &mut Block<'_, '_>,
    issue: Issue,
    video: &Video,
    out: Register,
    sources: [Register; 3],
) {
    let rows = &mut block.warps[issue.warp].rows;
    for lane in lanes_of(issue.active) {
        let [a, b, c] = sources.map(|source| rows.get(source, lane));
        rows.set(out, lane, video.apply(a, b, c));
    }
}

/// Adds integers with the carry flag.
pub(super) fn carry(block: &mut Block<'_, '_>, issue: Issue, carry: &Carry) {
    const FLAG: Condition = Condition { predicate: CARRY, negated: false };
    let rows = &mut block.warps[issue.warp].rows;
    // Subtraction adds the complement and one, so a clear flag means a borrow.
    let flags = match (carry.reads, carry.subtract) {
        (true, _) => rows.holds(FLAG),
        (false, subtract) => all_if(subtract),
    };
    let out_flags = match carry.width {
        Width::Double => add_wide(rows, issue.active, carry, flags),
        _ => add_rows(rows, issue.active, carry, flags),
    };
    if carry.writes {
        rows.set_predicate(FLAG.predicate, issue.active, out_flags);
    }
}

/// The bit of each lane.
const BITS: [u32; LANES] = {
    let mut bits = [0; LANES];
    let mut lane = 0;
    while lane < LANES {
        bits[lane] = 1 << lane;
        lane += 1;
    }
    bits
};

/// Adds rows and a flag for each lane, without branches, so that it becomes vector instructions.
/// Returns the carries.
fn add_rows(rows: &mut Rows, active: u32, carry: &Carry, flags: u32) -> u32 {
    let [a, b] = carry.sources.map(|source| *rows.row(source));
    let out = rows.row_mut(carry.out);
    let complement = all_if(carry.subtract);
    let mut carries = 0;
    for (lane, bit) in BITS.into_iter().enumerate() {
        let addend = b[lane] ^ complement;
        let half = a[lane].wrapping_add(addend);
        let sum = half.wrapping_add(all_if(flags & bit != 0) & 1);
        carries |= all_if((half < addend) | (sum < half)) & bit;
        let written = all_if(active & bit != 0);
        out[lane] = sum & written | out[lane] & !written;
    }
    carries
}

/// Returns a word with all bits set if a condition holds, and otherwise with none.
fn all_if(condition: bool) -> u32 {
    0u32.wrapping_sub(condition.into())
}

fn add_wide(rows: &mut Rows, active: u32, carry: &Carry, flags: u32) -> u32 {
    let complement = 0u64.wrapping_sub(carry.subtract.into());
    let mut carries = 0;
    for lane in lanes_of(active) {
        let [a, b] = carry.sources.map(|source| rows.get_wide(source, carry.width, lane));
        let (half, first) = a.overflowing_add(b ^ complement);
        let (sum, second) = half.overflowing_add((flags >> lane & 1).into());
        rows.set_wide(carry.out, carry.width, lane, sum);
        carries |= u32::from(first | second) << lane;
    }
    carries
}

/// Computes the address of a local variable: the frame of the function plus an offset.
pub(super) fn local_address(
    block: &mut Block<'_, '_>,
    issue: Issue,
    (out, width): (Register, Width),
    offset: u32,
) {
    let warp = &block.warps[issue.warp];
    let base = warp.paths[issue.path].frame.as_ref().map_or(0, |frame| frame.local_base);
    fill(block, issue, (out, width), u64::from(base + offset));
}

pub(super) fn clock(block: &mut Block<'_, '_>, issue: Issue, clock: Clock, result: (Register, Width)) {
    let value = match clock {
        Clock::Cycles => block.instructions(),
        Clock::CyclesHigh => block.instructions() >> 32,
        Clock::Nanoseconds => nanoseconds(),
        Clock::NanosecondsHigh => nanoseconds() >> 32,
    };
    fill(block, issue, result, value);
}

/// Writes the same value to all active lanes.
pub(super) fn fill(block: &mut Block<'_, '_>, issue: Issue, (out, width): (Register, Width), value: u64) {
    let rows = &mut block.warps[issue.warp].rows;
    lanes_of(issue.active).for_each(|lane| rows.set_wide(out, width, lane, value));
}

fn nanoseconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_nanos() as u64)
}
