//! Runs all warps of a block from barrier to barrier, while nothing but barriers holds them up.
//!
//! A barrier of the whole block changes no registers. If all warps reach it whole, the next phase
//! begins without the states between: a warp that waits, and the search for the warps to release.

use super::code::Code;
use super::run::{self, Turn};
use super::runner::Runner;
use crate::exec::block::warp::Wait;
use crate::exec::block::{Block, Stop};

/// Runs the warps of a block while they stay whole and together, up to the end of the turn. Returns
/// true if it ended, and false if each warp should have a turn of its own now.
pub(in crate::exec) fn run_phases(block: &mut Block<'_, '_>, code: &Code, turn: u32) -> Result<bool, Stop> {
    let watched = block.launch.options.seed.is_some() || block.inspects_barriers();
    if watched
        || !code.has_barriers()
        || !matches!(block.common_place(0..block.warps.len()), Some((Wait::Ready, _)))
    {
        return Ok(false);
    }
    let mut left = turn;
    let mut runner = Runner::new(block, code, Turn { left, order: None }.loan());
    while left != 0 {
        let Some(barrier) = run_phase(block, &mut runner, &mut left)? else { return Ok(false) };
        if block.has_arrivals() {
            return Ok(false);
        }
        let mut count = 0;
        for path in block.warps.iter_mut().flat_map(|warp| &mut warp.paths) {
            path.pc = barrier + 1;
            count += 1;
        }
        block.count_instructions(count);
    }
    Ok(true)
}

/// Runs each warp up to the next barrier of the whole block. Returns its position, unless some
/// threads did not reach it. `left` becomes the least that is left of the turn of a warp.
fn run_phase(
    block: &mut Block<'_, '_>,
    runner: &mut Runner<'_>,
    left: &mut u32,
) -> Result<Option<u32>, Stop> {
    let (before, mut place, mut together) = (*left, None, true);
    for warp in 0..block.warps.len() {
        let mask = block.warps[warp].live;
        if mask == 0 {
            continue;
        }
        block.launch.writer.admit_if_any();
        let mut turn = Turn { left: before, order: None };
        let barrier = match run_to_stop(block, runner, (warp, mask), &mut turn.left)? {
            Some(barrier) => Some(barrier),
            None if block.warps[warp].paths.len() > 1 => None,
            None => run::run_path(block, runner, (warp, 0), (false, true), &mut turn)?,
        };
        let whole = block.warps[warp].paths.first().is_some_and(|path| path.mask == mask);
        together &= whole && barrier.is_some() && *place.get_or_insert(barrier) == barrier;
        *left = turn.left.min(*left);
    }
    Ok(place.flatten().filter(|_| together))
}

/// Runs all lanes of a warp to their next stops. Returns the position of the barrier if all reach
/// it.
fn run_to_stop(
    block: &mut Block<'_, '_>,
    runner: &mut Runner<'_>,
    (warp, mask): (usize, u32),
    left: &mut u32,
) -> Result<Option<u32>, Stop> {
    let code = runner.code;
    let Some(entry) = code.entry(block.warps[warp].paths[0].pc) else { return Ok(None) };
    runner.aim(block, warp, 0);
    runner.run(mask, entry, run::fuel(code, *left));
    let stops = runner.end(block, mask, true, left)?;
    run::settle(block, runner, (warp, 0), stops, false);
    let pc = block.warps[warp].paths[0].pc;
    Ok((stops == 1 && code.waits_for_all(pc)).then_some(pc))
}
