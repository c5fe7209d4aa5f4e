//! Runs divergent paths of warps as machine code, from stop to stop.

use super::code::Code;
use super::frames;
use super::order::Order;
use super::runner::Runner;
use crate::exec::block::warp::{DivergentPath, FAILED_ATTEMPT, Wait};
use crate::exec::block::{Block, Stop};
use crate::exec::plain::{self, Flow};

/// Instructions that a lane may spend in loops before others run.
const FUEL: u32 = 8192;
/// The same for kernels with calls, because a lane that stops in a function needs frames.
const FUEL_WITH_CALLS: u32 = 1 << 16;
/// The same in a short turn of a kernel without calls: the lanes may wait for others in a loop.
const LEAST_FUEL: u32 = 512;
/// Instructions lent to a lane for each call until it returns: a lane that stops in many calls
/// takes about ten times as many for their frames.
const LOAN: u32 = 512;
/// Stops in divergent paths of a warp after which the path that runs lets the others run. A loop
/// with a stop uses no fuel, because each run from there has its own. Less than the shortest turn.
const SHARE: u32 = 256;

/// The remaining instructions of a turn, and the order of lanes if a seed determines it.
pub(super) struct Turn {
    pub(super) left: u32,
    pub(super) order: Option<Order>,
}

impl Turn {
    /// Returns the instructions lent for each call. With a seed, lanes stop wherever they may.
    pub(super) fn loan(&self) -> u32 {
        if self.order.is_some() { 0 } else { LOAN }
    }
}

/// Runs a warp until it waits, ends, or uses up its turn. `random` determines the order of lanes.
pub(in crate::exec) fn run_warp(
    block: &mut Block<'_, '_>,
    code: &Code,
    index: usize,
    (left, random): (u32, Option<u64>),
) -> Result<(), Stop> {
    let mut turn = Turn { left, order: random.map(Order::new) };
    let mut runner = Runner::new(block, code, turn.loan());
    let mut share = SHARE;
    while let Some(path) = plain::next_path(block, index)? {
        share = if share == 0 { SHARE } else { share - 1 };
        run_path(block, &mut runner, (index, path), (share == 0, false), &mut turn)?;
        if turn.left == 0 {
            break;
        }
    }
    Ok(())
}

/// Runs a divergent path until it diverges, waits, ends, or others of its warp may have to run.
/// With `tired` they run before it goes on. With `together` it ends before a barrier of the whole
/// block, whose position it returns.
pub(super) fn run_path(
    block: &mut Block<'_, '_>,
    runner: &mut Runner<'_>,
    (warp, path): (usize, usize),
    (tired, together): (bool, bool),
    turn: &mut Turn,
) -> Result<Option<u32>, Stop> {
    let code = runner.code;
    let alone = block.warps[warp].paths.len() == 1;
    loop {
        let DivergentPath { pc, mask, .. } = block.warps[warp].paths[path];
        if let Some(entry) = code.entry(pc) {
            if !run_lanes(block, runner, (warp, path), (entry, tired), turn)? {
                return Ok(None);
            }
        } else if together && code.waits_for_all(pc) {
            return Ok(Some(pc));
        } else {
            turn.left = turn.left.saturating_sub(1);
            block.count_instructions(1);
            let next = match plain::step(block, warp, path, pc, mask)? {
                Flow::Next => pc + 1,
                Flow::Retry => {
                    // It ends at the next stop, which is where a loop waits.
                    turn.left = turn.left.saturating_sub(FAILED_ATTEMPT).max(1);
                    pc + 1
                }
                Flow::Jump(target) => target,
                Flow::Yield => return Ok(None),
                Flow::Pause => {
                    turn.left = 0;
                    return Ok(None);
                }
            };
            let path = &mut block.warps[warp].paths[path];
            path.pc = next;
            path.tired |= tired || turn.left == 0;
        }
        if !alone || turn.left == 0 {
            return Ok(None);
        }
    }
}

/// Runs the lanes of a divergent path to their stops. Returns true if they stay together and
/// rested.
fn run_lanes(
    block: &mut Block<'_, '_>,
    runner: &mut Runner<'_>,
    (warp, path): (usize, usize),
    (entry, tired): (u32, bool),
    turn: &mut Turn,
) -> Result<bool, Stop> {
    let mask = block.warps[warp].paths[path].mask;
    let alone = block.warps[warp].paths.len() == 1;
    runner.aim(block, warp, path);
    match &mut turn.order {
        Some(order) => order.lanes(mask).for_each(|lane| runner.run(lane, entry, order.fuel())),
        None => runner.run(mask, entry, fuel(runner.code, turn.left)),
    }
    let stops = runner.end(block, mask, alone, &mut turn.left)?;
    Ok(settle(block, runner, (warp, path), stops, tired || turn.left == 0))
}

/// Returns the instructions that each lane may spend in loops, if so many are left of a turn.
pub(super) fn fuel(code: &Code, left: u32) -> u32 {
    if code.sites.is_empty() { FUEL.min(left.max(LEAST_FUEL)) } else { FUEL_WITH_CALLS }
}

/// Moves the lanes of a divergent path to their stops. Returns true if they stay together and
/// rested.
pub(super) fn settle(
    block: &mut Block<'_, '_>,
    runner: &Runner<'_>,
    (warp, path): (usize, usize),
    stops: usize,
    tired: bool,
) -> bool {
    let (code, stops) = (runner.code, runner.stops(stops));
    if let ([stop], true) = (stops, block.machine.in_calls.is_empty()) {
        return stop_together(block, code, (warp, path), *stop, tired);
    }
    let frame = block.warps[warp].paths[path].frame.clone();
    let (mut rested, mut parts) = (true, 0);
    let mut add = |block: &mut Block<'_, '_>, part: DivergentPath| {
        rested &= !part.tired;
        let paths = &mut block.warps[warp].paths;
        if parts == 0 {
            paths[path] = part;
        } else {
            paths.push(part);
        }
        parts += 1;
    };
    for stop in stops {
        let pc = code.stops[*stop as usize];
        let mask = std::mem::take(&mut block.machine.stops[*stop as usize]);
        let tired = tired || code.entry(pc).is_some();
        add(block, DivergentPath { pc, mask, frame: frame.clone(), wait: Wait::Ready, tired });
    }
    if !block.machine.in_calls.is_empty() {
        for mut part in frames::take(block, code, warp, frame.as_ref()) {
            part.tired |= tired;
            add(block, part);
        }
    }
    parts == 1 && rested
}

/// Moves a divergent path to the stop of all its lanes. Returns true if it is rested.
fn stop_together(
    block: &mut Block<'_, '_>,
    code: &Code,
    (warp, path): (usize, usize),
    stop: u32,
    tired: bool,
) -> bool {
    block.machine.stops[stop as usize] = 0;
    let path = &mut block.warps[warp].paths[path];
    path.pc = code.stops[stop as usize];
    // A lane that stops at an entry has used up its share.
    path.tired = tired || code.entry(path.pc).is_some();
    !path.tired
}
