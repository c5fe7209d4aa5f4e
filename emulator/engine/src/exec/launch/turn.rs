//! Turns of the warps of a block, and the choice of their mode.

use super::shuffle::Permutation;
use crate::exec::block::launch::Launch;
use crate::exec::block::{Block, Stop};
#[cfg(feature = "compile")]
use crate::exec::compiled;
use crate::exec::plain;
use crate::exec::vector;

#[cfg(feature = "compile")]
use compiled::Code as MachineCode;
#[cfg(not(feature = "compile"))]
type MachineCode = std::convert::Infallible;

/// Maximum instructions of a warp's turn.
pub(super) const LONG_TURN: u32 = 10_000;
/// Maximum instructions of a turn if the worker has to check the time soon.
pub(super) const SHORT_TURN: u32 = 500;
/// Maximum instructions of a turn of a block that may wait for others of its worker: it often does
/// in a loop.
const SHARED_TURN: u32 = 100;

/// Returns the maximum for one of several blocks of a worker, from the one for a block alone.
pub(super) fn shared(blocks: usize, alone: u32) -> u32 {
    if blocks > 1 { SHARED_TURN } else { alone }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Round {
    Ended,
    Ran,
    /// No thread can continue.
    Idle,
}

/// Returns a block for the launch, ready for its mode.
pub(super) fn block<'l, 'a>(launch: &'l Launch<'a>, worker: usize) -> Block<'l, 'a> {
    #[allow(unused_mut, reason = "only machine code prepares it further")]
    let mut block = Block::new(launch, worker);
    #[cfg(feature = "compile")]
    compiled::prepare(&mut block);
    block
}

/// Gives each warp a turn of up to `turn` instructions.
pub(super) fn round(block: &mut Block<'_, '_>, turn: u32) -> Result<Round, Stop> {
    let before = block.instructions();
    let mut running = false;
    block.begin_round();
    let grouped = block.launch.steps.filter(|_| !block.launch.options.runs_single_warps());
    if let Some(steps) = grouped {
        running = vector::run_groups(block, steps, turn)?;
    } else {
        #[cfg(feature = "compile")]
        let code = compiled::of_launch(block);
        #[cfg(feature = "compile")]
        let turn = match code {
            Some(code) => compiled::run_phases(block, code, turn)?,
            None => turn,
        };
        if turn == 0 {
            running = block.warps.iter().any(|warp| warp.live != 0);
            return finish(block, running, before);
        }
        #[cfg(not(feature = "compile"))]
        let code = None;
        let [x, y, z] = block.index().map(u64::from);
        let salt = block.rounds() ^ x << 16 ^ y << 32 ^ z << 48;
        let order = Permutation::new(block.launch.options.seed, salt, block.warps.len() as u64);
        for place in 0..block.warps.len() {
            block.launch.writer.admit_if_any();
            let index = order.at(place as u64) as usize;
            single_turn(block, code, index, (order, place as u64), turn)?;
            running |= block.warps[index].live != 0;
        }
    }
    finish(block, running, before)
}

/// Gives one warp, which has this place in the order, a turn in the mode of the launch.
fn single_turn(
    block: &mut Block<'_, '_>,
    code: Option<&MachineCode>,
    index: usize,
    (order, place): (Permutation, u64),
    turn: u32,
) -> Result<(), Stop> {
    let turn = order.turn(place).unwrap_or(turn);
    #[cfg(feature = "compile")]
    if let Some(code) = code {
        return compiled::run_warp(block, code, index, (turn, order.random(place)));
    }
    #[cfg(not(feature = "compile"))]
    if let Some(never) = code {
        match *never {}
    }
    match block.launch.steps {
        Some(steps) => vector::run_group(block, steps, index, 1, turn).map(drop),
        None => plain::run_warp(block, index, turn),
    }
}

/// Ends a round, before which the block had executed this many instructions.
fn finish(block: &mut Block<'_, '_>, running: bool, before: u64) -> Result<Round, Stop> {
    let copied = end_copies(block, !running || block.instructions() == before)?;
    if !running {
        return Ok(Round::Ended);
    }
    let released = block.release_together() || block.release_cluster() | block.release_barriers()?;
    Ok(if released || copied || block.instructions() != before { Round::Ran } else { Round::Idle })
}

/// With a seed, ends some or all of the copies in progress. Returns false if there are none.
fn end_copies(block: &mut Block<'_, '_>, all: bool) -> Result<bool, Stop> {
    let count = block.copies.len();
    if count == 0 {
        return Ok(false);
    }
    let [x, y, z] = block.index().map(u64::from);
    let salt = !(block.rounds() ^ x << 16 ^ y << 32 ^ z << 48);
    let order =
        |left: usize| Permutation::new(block.launch.options.seed, salt ^ left as u64, left as u64 + 2);
    let some = order(count).at(0) as usize;
    let kept = if all { 0 } else { some.min(count) };
    for left in (kept + 1..=count).rev() {
        let at = Permutation::new(block.launch.options.seed, salt ^ left as u64, left as u64).at(0);
        plain::end_copy(block, at as usize)?;
    }
    Ok(kept < count)
}
