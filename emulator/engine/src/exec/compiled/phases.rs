//! Runs all warps of a block from barrier to barrier and to their ends, while nothing else holds
//! them up.
//!
//! A barrier of the whole block changes no registers. If all warps reach it whole, the next phase
//! begins without the states between: a warp that waits, and the search for the warps to release.
//! All warps share one runner, and a whole warp that reaches its end is not looked at again. Once a
//! warp has run from one place to another, the next ones run one after the other as long as they
//! come to the same place.

use super::code::Code;
use super::run::{self, Turn};
use super::runner::Runner;
use crate::exec::block::warp::{DivergentPath, Wait};
use crate::exec::block::{Block, Stop};
use crate::program::instruction::{Condition, Instruction, Op};

/// Runs the warps of a block while they stay whole and together, up to the end of the turn. Returns
/// the rest of the turn, in which each warp runs alone; zero if none is running.
pub(in crate::exec) fn run_phases(block: &mut Block<'_, '_>, code: &Code, turn: u32) -> Result<u32, Stop> {
    let watched = block.launch.options.seed.is_some() || block.inspects_barriers();
    if watched || !matches!(block.common_place(0..block.warps.len()), Some((Wait::Ready, _))) {
        return Ok(turn);
    }
    let mut left = turn;
    let mut runner = Runner::new(block, code, Turn { left, order: None }.loan());
    while left != 0 {
        let Some(barrier) = run_phase(block, &mut runner, &mut left)? else {
            let running = block.warps.iter().any(|warp| warp.live != 0);
            return Ok(if running { left } else { 0 });
        };
        if block.has_arrivals() {
            return Ok(left);
        }
        let mut count = 0;
        for path in block.warps.iter_mut().flat_map(|warp| &mut warp.paths) {
            path.pc = barrier + 1;
            count += 1;
        }
        block.count_instructions(count);
    }
    Ok(0)
}

/// Runs each warp up to the next barrier of the whole block. Returns its position, unless some
/// threads did not reach it. `left` becomes the least that is left of the turn of a warp.
fn run_phase(
    block: &mut Block<'_, '_>,
    runner: &mut Runner<'_>,
    left: &mut u32,
) -> Result<Option<u32>, Stop> {
    let (before, mut place, mut together, mut usual) = (*left, None, true, None);
    let mut warp = 0;
    while warp < block.warps.len() {
        let mask = block.warps[warp].live;
        if mask == 0 {
            warp += 1;
            continue;
        }
        block.launch.writer.admit_if_any();
        let mut turn = Turn { left: before, order: None };
        let reached = match &usual {
            Some(way) => run_as_others(block, runner, (&mut warp, mask), way, &mut turn.left)?,
            None => run_to_stop(block, runner, (warp, mask), (&mut usual, &mut turn.left))?,
        };
        let barrier = match reached {
            Reached::Barrier(barrier) => Some(barrier),
            Reached::End => None,
            Reached::Other if block.warps[warp].paths.len() > 1 => None,
            Reached::Other => run::run_path(block, runner, (warp, 0), (false, true), &mut turn)?,
        };
        let whole = block.warps[warp].paths.first().is_some_and(|path| path.mask == mask);
        together &= whole && barrier.is_some() && *place.get_or_insert(barrier) == barrier;
        *left = turn.left.min(*left);
        warp += 1;
    }
    Ok(place.flatten().filter(|_| together))
}

/// The place that all lanes of a warp have reached.
#[derive(Clone, Copy)]
enum Reached {
    /// A barrier of the whole block, at this position.
    Barrier(u32),
    /// The end: the warp has ended.
    End,
    Other,
}

/// The way of the warps of a phase, as the first has run it.
struct Way {
    entry: u32,
    fuel: u32,
    /// The number and the position of the stop.
    stop: u32,
    pc: u32,
    reached: Reached,
}

/// Runs all lanes of a warp to their next stops. Notes the way if others may take it too.
fn run_to_stop(
    block: &mut Block<'_, '_>,
    runner: &mut Runner<'_>,
    (warp, mask): (usize, u32),
    (usual, left): (&mut Option<Way>, &mut u32),
) -> Result<Reached, Stop> {
    let code = runner.code;
    let Some(entry) = code.entry(block.warps[warp].paths[0].pc) else { return Ok(Reached::Other) };
    let fuel = run::fuel(code, *left);
    runner.aim(block, warp, 0);
    runner.run(mask, entry, fuel);
    let stops = runner.end(block, mask, true, left)?;
    let stop = runner.stops(stops).first().copied().unwrap_or_default();
    run::settle(block, runner, (warp, 0), stops, false);
    let DivergentPath { pc, mask: reached, .. } = block.warps[warp].paths[0];
    // Others may have stopped in calls.
    let together = stops == 1 && reached == mask;
    let reached = match pc {
        pc if together && code.waits_for_all(pc) => Reached::Barrier(pc),
        pc if together && ends(block, pc) => Reached::End,
        _ => return Ok(Reached::Other),
    };
    let way = Way { entry, fuel, stop, pc, reached };
    let reached = arrive(block, warp, &way);
    *usual = Some(way);
    Ok(reached)
}

/// Runs a warp, and others after it, on the way that another has taken. `warp` becomes the last
/// that has run: the first that did not stay on the way, if there is one.
fn run_as_others(
    block: &mut Block<'_, '_>,
    runner: &mut Runner<'_>,
    (warp, mask): (&mut usize, u32),
    way: &Way,
    left: &mut u32,
) -> Result<Reached, Stop> {
    let first = *warp;
    runner.run_alike(block, first, (mask, way.entry, way.fuel), way.stop);
    let stops = runner.end(block, mask, true, left)?;
    *warp = runner.warp();
    (first..*warp).for_each(|stayed| _ = arrive(block, stayed, way));
    let whole = runner.stops(stops) == [way.stop] && block.machine.in_calls.is_empty();
    if !whole || block.machine.stops[way.stop as usize] != mask {
        run::settle(block, runner, (*warp, 0), stops, false);
        return Ok(Reached::Other);
    }
    block.machine.stops[way.stop as usize] = 0;
    Ok(arrive(block, *warp, way))
}

/// Moves a whole warp to the stop of a way, or ends it.
fn arrive(block: &mut Block<'_, '_>, warp: usize, way: &Way) -> Reached {
    let state = &mut block.warps[warp];
    if let Reached::End = way.reached {
        state.end();
        block.count_instructions(1);
    } else {
        (state.paths[0].pc, state.paths[0].tired) = (way.pc, false);
    }
    way.reached
}

/// True if warps that are whole only have to end at a position.
fn ends(block: &Block<'_, '_>, pc: u32) -> bool {
    let Instruction { op, guard, .. } = block.instruction(pc);
    let launch = block.launch;
    matches!(op, Op::Exit)
        && *guard == Condition::ALWAYS
        && block.warps.iter().all(|warp| warp.products.is_empty())
        && launch.suspects.is_none()
        && !launch.options.check_nans
}
