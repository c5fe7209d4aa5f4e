//! Runs divergent paths of warps as machine code, from stop to stop.

use super::code::Code;
use super::context::Context;
use super::frames;
use super::order::Order;
use super::quads;
use crate::exec::block::warp::{DivergentPath, FAILED_ATTEMPT, Wait};
use crate::exec::block::{Block, Stop};
use crate::exec::check::shadow::Written;
use crate::exec::plain::{self, Flow};
use crate::program::MOST_LOCAL;
use crate::semantics::LANES;

/// Instructions that a lane may spend in loops before others run.
const FUEL: u32 = 8192;
/// The same for kernels with calls, because a lane that stops in a function needs frames.
const FUEL_WITH_CALLS: u32 = 1 << 16;
/// The same in a short turn of a kernel without calls: the lanes may wait for others in a loop.
const LEAST_FUEL: u32 = 512;
/// Instructions lent to a lane for each call until it returns: a lane that stops in many calls
/// takes about ten times as many for their frames.
const LOAN: u32 = 512;
/// Assumed number of instructions of a lane between two stops, outside of loops.
const STRAIGHT: u64 = 16;
/// Stops in divergent paths of a warp after which the path that runs lets the others run. A loop
/// with a stop uses no fuel, because each run from there has its own. Less than the shortest turn.
const SHARE: u32 = 256;

/// The remaining instructions of a turn, and the order of lanes if a seed determines it.
struct Turn {
    left: u32,
    order: Option<Order>,
}

impl Turn {
    /// Returns the instructions lent for each call. With a seed, lanes stop wherever they may.
    fn loan(&self) -> u32 {
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
    let mut share = SHARE;
    while let Some(path) = plain::next_path(block, index)? {
        share = if share == 0 { SHARE } else { share - 1 };
        run_path(block, code, (index, path), share == 0, &mut turn)?;
        if turn.left == 0 {
            break;
        }
    }
    Ok(())
}

/// Runs a divergent path until it diverges, waits, ends, or others of its warp may have to run.
/// With `tired` they run before it goes on.
fn run_path(
    block: &mut Block<'_, '_>,
    code: &Code,
    (warp, path): (usize, usize),
    tired: bool,
    turn: &mut Turn,
) -> Result<(), Stop> {
    let alone = block.warps[warp].paths.len() == 1;
    loop {
        let DivergentPath { pc, mask, .. } = block.warps[warp].paths[path];
        if let Some(entry) = code.entry(pc) {
            if !run_lanes(block, code, (warp, path), (entry, tired), turn)? {
                return Ok(());
            }
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
                Flow::Yield => return Ok(()),
                Flow::Pause => {
                    turn.left = 0;
                    return Ok(());
                }
            };
            let path = &mut block.warps[warp].paths[path];
            path.pc = next;
            path.tired |= tired || turn.left == 0;
        }
        if !alone || turn.left == 0 {
            return Ok(());
        }
    }
}

/// Runs the lanes of a divergent path to their stops. Returns true if they stay together and
/// rested.
fn run_lanes(
    block: &mut Block<'_, '_>,
    code: &Code,
    (warp, path): (usize, usize),
    (entry, tired): (u32, bool),
    turn: &mut Turn,
) -> Result<bool, Stop> {
    let mut list = [0u32; LANES];
    let mask = block.warps[warp].paths[path].mask;
    let quads = quads::fit(block.launch.args.block);
    let mut context = context(block, code, (warp, path), (&mut list, turn.loan()));
    let mut run = |lanes: u32, fuel: u32| {
        context.fuel = fuel;
        // SAFETY: the pointers belong to the block, which has the rows, predicates, stops and
        // caches of the kernel. The machine code checks each other access. Each lane runs once, so
        // it is listed at most once.
        unsafe { code.run(&raw mut context, lanes, entry, quads) };
    };
    match &mut turn.order {
        Some(order) => order.lanes(mask).for_each(|lane| run(lane, order.fuel())),
        None if !code.sites.is_empty() => run(mask, FUEL_WITH_CALLS),
        None => run(mask, FUEL.min(turn.left.max(LEAST_FUEL))),
    }
    let used = count(block, code, &context, mask);
    turn.left = turn.left.saturating_sub(u32::try_from(used).unwrap_or(u32::MAX));
    if let Some((_, fault)) = context.fault {
        return Err(fault);
    }
    let stops = &list[..(context.listed as usize).min(LANES)];
    let tired = tired || turn.left == 0;
    if let ([stop], true) = (stops, block.machine.in_calls.is_empty()) {
        return Ok(stop_together(block, code, (warp, path), *stop, tired));
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
    Ok(parts == 1 && rested)
}

/// Counts the instructions and partings of a run of lanes. Returns the instructions of the warp.
fn count(block: &mut Block<'_, '_>, code: &Code, context: &Context, lanes: u32) -> u64 {
    let lanes = u64::from(lanes.count_ones().max(1));
    if code.has_quads() {
        block.machine.partings.count += context.parted;
        block.machine.partings.instructions += context.spent + lanes * STRAIGHT;
    }
    let used = 1 + context.spent / lanes;
    block.count_instructions(used);
    used
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

/// The state of a warp as machine code sees it.
fn context(
    block: &mut Block<'_, '_>,
    code: &Code,
    (warp, path): (usize, usize),
    (list, loan): (&mut [u32; LANES], u32),
) -> Context {
    let records = block.machine.records.as_mut_ptr_range();
    let code_base = block.launch.map.windows().code;
    let (shared, shared_base, shared_bytes) =
        (block.shared(), block.shared_base(), block.launch.shared_bytes);
    // The plain mode tests accesses to the memory of a cluster.
    let checked = block.launch.options.check_init;
    let shared_limit = if checked && block.cluster.is_some() { 0 } else { shared_bytes };
    let local_stride = block.warps[warp].local_stride;
    let limits = block.machine.limits(shared_limit, local_stride);
    let state = &mut block.warps[warp];
    let frame = state.paths[path].frame.as_ref();
    let (first_base, first_depth) = frame.map_or((0, 0), |frame| (frame.local_base, frame.depth));
    Context {
        rows: state.rows.base(),
        predicates: state.rows.predicates(),
        caches: block.machine.caches.as_mut_ptr(),
        bounds: block.machine.bounds.as_ptr(),
        stops: block.machine.stops.as_mut_ptr(),
        list: list.as_mut_ptr(),
        listed: 0,
        shared,
        local: state.local.as_mut_ptr(),
        local_stride: local_stride.into(),
        shared_written: block.checks.shadow.written.base(),
        local_written: state.local_written.as_mut().map_or(std::ptr::null_mut(), Written::base),
        local_base: first_base,
        first_base,
        stack: state.stack.as_mut_ptr(),
        most_stack: local_stride.min(MOST_LOCAL),
        depth: first_depth,
        first_depth,
        records: records.start,
        top: records.start,
        records_end: records.end.wrapping_byte_sub(code.slack),
        code: code_base,
        fuel: 0,
        loan,
        shared_base,
        spent: 0,
        lane: 0,
        failed: 0,
        alone: block.launch.writer.is_alone().into(),
        until: u32::MAX,
        joined: 0,
        parted: 0,
        own: std::ptr::null_mut(),
        arguments: [0; 5],
        result: 0,
        limits,
        block: std::ptr::from_mut(block).cast(),
        warp,
        fault: None,
    }
}
