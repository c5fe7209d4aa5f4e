//! Calls of functions of the kernel and of the system, and returns.

use super::Flow;
use super::control::exit;
use super::printf::printf;
use crate::exec::access::text_at;
use crate::exec::block::warp::{DivergentPath, Frame, Wait};
use crate::exec::block::{Block, Issue, Stop};
use crate::program::instruction::{Call, Callee, Op, SystemCall};
use crate::program::{FUNCTION_STRIDE, MOST_LOCAL};
use crate::report::FaultKind;
use crate::semantics::{LANES, Width, lanes_of};
use std::sync::Arc;

/// Maximum depth of calls.
pub(in crate::exec) const MOST_CALLS: u32 = 10_000;

pub(in crate::exec) fn call(block: &mut Block<'_, '_>, issue: Issue, call: &Call) -> Result<Flow, Stop> {
    match call.callee {
        Callee::Direct(function) => {
            enter(block, issue, call, function)?;
            Ok(Flow::Yield)
        }
        Callee::System(system) => {
            system_call(block, issue, call, system)?;
            Ok(Flow::Next)
        }
        Callee::Indirect(row) => {
            let mut left = issue.active;
            let mut rest = issue.mask;
            while left != 0 {
                let lane = left.trailing_zeros() as usize;
                let rows = &block.warps[issue.warp].rows;
                let address = rows.get_wide(row, Width::Double, lane);
                let same = lanes_of(left)
                    .filter(|lane| rows.get_wide(row, Width::Double, *lane) == address)
                    .fold(0, |bits, lane| bits | 1 << lane);
                let Some(function) = function_at(block, address) else {
                    return Err(block.fault(FaultKind::InvalidCode, issue.lanes(same)));
                };
                // The current path keeps the lanes that have not called; the last take it over.
                enter(block, Issue { mask: rest, active: same, ..issue }, call, function)?;
                rest &= !same;
                left &= !same;
            }
            Ok(Flow::Yield)
        }
    }
}

fn function_at(block: &Block<'_, '_>, address: u64) -> Option<u32> {
    let offset = address.checked_sub(block.launch.map.windows().code)?;
    if offset % FUNCTION_STRIDE != 0 {
        return None;
    }
    let module_index = u32::try_from(offset / FUNCTION_STRIDE).ok()?;
    block.launch.args.kernel.by_module_index.get(&module_index).copied()
}

/// Moves the lanes of `active` to the start of a function.
fn enter(block: &mut Block<'_, '_>, issue: Issue, call: &Call, function: u32) -> Result<(), Stop> {
    let kernel = block.launch.args.kernel;
    let callee = &kernel.functions[function as usize];
    let parent = block.warps[issue.warp].paths[issue.path].frame.clone();
    let depth = parent.as_ref().map_or(1, |frame| frame.depth + 1);
    let local_base = block.warps[issue.warp].next_frame(issue.active);
    let end = local_base + callee.frame;
    if end > MOST_LOCAL || depth > MOST_CALLS {
        return Err(block.fault(FaultKind::StackOverflow, issue));
    }
    let (functions, again) = Frame::functions(parent.as_ref(), function, kernel.functions.len());
    let warp_state = &mut block.warps[issue.warp];
    warp_state.grow_local(end);
    let callers_stack = warp_state.stack;
    let saved = again.then(|| warp_state.rows.save(&callee.rows, callee.predicates.clone()));
    for lane in lanes_of(issue.active) {
        warp_state.stack[lane] = end;
        // Reads all before writing: a recursive call may pass its parameters on in another order.
        let values: Vec<u32> = call.arguments.iter().map(|row| warp_state.rows.get(*row, lane)).collect();
        for (row, value) in callee.params.iter().zip(values) {
            warp_state.rows.set(*row, lane, value);
        }
        warp_state.nans.copy(&call.arguments, &callee.params, lane);
    }
    let frame =
        Frame { return_pc: issue.pc, function, parent, depth, local_base, callers_stack, saved, functions };
    let frame = Some(Arc::new(frame));
    let paths = &mut warp_state.paths;
    if issue.active == issue.mask {
        paths[issue.path] =
            DivergentPath { pc: callee.entry, mask: issue.mask, frame, wait: Wait::Ready, tired: false };
        return Ok(());
    }
    paths[issue.path].mask = issue.mask & !issue.active;
    paths[issue.path].pc = issue.pc + 1;
    paths.push(DivergentPath {
        pc: callee.entry,
        mask: issue.active,
        frame,
        wait: Wait::Ready,
        tired: false,
    });
    Ok(())
}

/// Returns from a function for the lanes of `active`.
pub(in crate::exec) fn leave(block: &mut Block<'_, '_>, issue: Issue) -> Flow {
    let kernel = block.launch.args.kernel;
    let warp_state = &mut block.warps[issue.warp];
    let Some(frame) = warp_state.paths[issue.path].frame.clone() else {
        return exit(block, issue);
    };
    let callee = &kernel.functions[frame.function as usize];
    for lane in lanes_of(issue.active) {
        warp_state.stack[lane] = frame.callers_stack[lane];
    }
    let rows = &mut warp_state.rows;
    let values: Vec<(usize, Vec<u32>)> = lanes_of(issue.active)
        .map(|lane| (lane, callee.returns.iter().map(|row| rows.get(*row, lane)).collect()))
        .collect();
    if let Some(saved) = &frame.saved {
        rows.restore(saved, issue.active, &kernel.row_kinds);
    }
    if let Op::Call(call) = &kernel.code[frame.return_pc as usize].op {
        for (lane, words) in values {
            for (row, value) in call.results.iter().zip(words) {
                rows.set(*row, lane, value);
            }
            warp_state.nans.copy(&callee.returns, &call.results, lane);
        }
    }
    let after = DivergentPath {
        pc: frame.return_pc + 1,
        mask: issue.active,
        frame: frame.parent.clone(),
        wait: Wait::Ready,
        tired: false,
    };
    let paths = &mut warp_state.paths;
    if issue.active == issue.mask {
        paths[issue.path] = after;
    } else {
        paths[issue.path].mask = issue.mask & !issue.active;
        paths[issue.path].pc = issue.pc + 1;
        paths.push(after);
    }
    Flow::Yield
}

fn system_call(block: &mut Block<'_, '_>, issue: Issue, call: &Call, system: SystemCall) -> Result<(), Stop> {
    for lane in lanes_of(issue.active) {
        let rows = &block.warps[issue.warp].rows;
        let word = |index: usize| call.arguments.get(index).map_or(0, |row| rows.get(*row, lane));
        let wide = |index: usize| u64::from(word(index + 1)) << 32 | u64::from(word(index));
        let result: u64 = match system {
            SystemCall::Printf => {
                let (format, values) = (wide(0), wide(2));
                printf(block, issue.at(lane), format, values)?
            }
            SystemCall::Assert => {
                let (expression, file, line, function) = (wide(0), wide(2), word(4), wide(5));
                let expression = text_at(block, issue.at(lane), expression)?;
                let file = text_at(block, issue.at(lane), file)?;
                let function = text_at(block, issue.at(lane), function)?;
                let mut fault = block.fault(FaultKind::Assert { expression, function }, issue.at(lane));
                fault.source = Some((file, line));
                return Err(fault);
            }
            SystemCall::Malloc => {
                let address = block.launch.hooks.malloc(wide(0));
                if let Some(shadow) = block.launch.global_shadow.as_ref().filter(|_| address != 0) {
                    shadow.forget(address, wide(0));
                }
                address
            }
            SystemCall::SetCondition => {
                let (condition, value) = (wide(0), word(2));
                if !block.launch.hooks.set_condition(condition, value) {
                    let kind = FaultKind::Other(format!("{condition:#x} is no condition of a graph"));
                    return Err(block.fault(kind, issue.at(lane)));
                }
                0
            }
            SystemCall::Runtime => {
                let words: Vec<u32> = (0..call.arguments.len()).map(word).collect();
                block
                    .launch
                    .hooks
                    .runtime(number_of_thread(block, issue.warp, lane), &words)
                    .map_err(|mistake| block.fault(FaultKind::Other(mistake), issue.at(lane)))?
            }
            SystemCall::Free => {
                let address = wide(0);
                if address != 0 && !block.launch.hooks.free(address) {
                    return Err(block.fault(FaultKind::HeapMisuse, issue.at(lane)));
                }
                0
            }
        };
        for (index, row) in call.results.iter().enumerate().take(2) {
            block.warps[issue.warp].rows.set(*row, lane, (result >> (32 * index)) as u32);
        }
    }
    Ok(())
}

/// Returns the number of a thread in its grid.
fn number_of_thread(block: &Block<'_, '_>, warp: usize, lane: usize) -> u64 {
    let threads: u64 = block.launch.args.block.iter().map(|&side| u64::from(side)).product();
    let thread = u64::from(block.warps[warp].index) * LANES as u64 + lane as u64;
    block.launch.number(block.index()) * threads + thread
}
