//! The steps of a warp.

use super::collective::resolve_collectives;
use super::flow::Flow;
use super::{
    asynchronous, barrier, bulk, call, collective, compute, control, exit, matrix, nans, object, stack,
    tensor, warp_group, watch_registers,
};
use crate::exec::access::{self, watch};
use crate::exec::block::warp::{FAILED_ATTEMPT, FUEL, Wait};
use crate::exec::block::{Block, Issue, Stop};
use crate::program::instruction::{Condition, Op};
use crate::program::memory::Access;
use crate::report::FaultKind;
use crate::semantics::Width;

/// Runs a warp until it waits, ends, or uses up its turn.
pub(in crate::exec) fn run_warp(block: &mut Block<'_, '_>, index: usize, mut left: u32) -> Result<(), Stop> {
    while let Some(path) = next_path(block, index)? {
        run_path(block, index, path, &mut left)?;
        if left == 0 {
            break;
        }
    }
    Ok(())
}

/// Returns the divergent path of a warp to run next, after it released lanes that wait for others
/// of the warp; `None` if all wait or have ended.
#[inline]
pub(in crate::exec) fn next_path(block: &mut Block<'_, '_>, warp: usize) -> Result<Option<usize>, Stop> {
    let kernel = block.launch.args.kernel;
    loop {
        let state = &mut block.warps[warp];
        match &mut state.paths[..] {
            [] => return Ok(None),
            [only] if only.wait == Wait::Ready => {
                only.tired = false;
                state.fuel = FUEL;
                return Ok(Some(0));
            }
            // Only other warps can release it.
            [only] if only.wait != Wait::Collective => return Ok(None),
            _ => {}
        }
        state.merge();
        if let Some(path) = state.next(kernel) {
            return Ok(Some(path));
        }
        if !resolve_collectives(block, warp)? {
            return Ok(None);
        }
    }
}

/// Runs a divergent path until it diverges, waits, ends, or uses up its share.
fn run_path(block: &mut Block<'_, '_>, warp: usize, index: usize, left: &mut u32) -> Result<(), Stop> {
    let kernel = block.launch.args.kernel;
    let alone = block.warps[warp].paths.len() == 1;
    // Works on a copy; the entry in the list is updated when it matters.
    let (mut pc, mask) = {
        let path = &block.warps[warp].paths[index];
        (path.pc, path.mask)
    };
    // As in the other modes, a turn ends at a branch, unless the order of the warps is random.
    let paced = block.launch.options.seed.is_some();
    let mut rank = kernel.ranks[pc as usize];
    loop {
        if *left == 0 && paced {
            block.warps[warp].paths[index].pc = pc;
            return Ok(());
        }
        *left = left.saturating_sub(1);
        block.count_instructions(1);
        block.warps[warp].paths[index].pc = pc;
        match step(block, warp, index, pc, mask)? {
            Flow::Next => pc += 1,
            Flow::Retry => {
                *left = left.saturating_sub(FAILED_ATTEMPT);
                pc += 1;
            }
            Flow::Jump(target) => {
                pc = target;
                if !alone && block.warps[warp].tires(index) {
                    block.warps[warp].paths[index].pc = pc;
                    *left = left.saturating_sub(FUEL);
                    return Ok(());
                }
                if *left == 0 {
                    block.warps[warp].paths[index].pc = pc;
                    return Ok(());
                }
            }
            Flow::Yield => return Ok(()),
            Flow::Pause => {
                *left = 0;
                return Ok(());
            }
        }
        if alone {
            continue;
        }
        // Other paths may be at the position that this one reaches, or before it.
        let next = kernel.ranks[pc as usize];
        if next != rank {
            block.warps[warp].paths[index].pc = pc;
            return Ok(());
        }
        rank = next;
    }
}

/// Runs one instruction for a divergent path.
pub(in crate::exec) fn step(
    block: &mut Block<'_, '_>,
    warp: usize,
    path: usize,
    pc: u32,
    mask: u32,
) -> Result<Flow, Stop> {
    let instruction = block.instruction(pc);
    let mut issue = Issue { warp, path, pc, mask, active: mask };
    if block.launch.suspects.as_ref().is_some_and(|suspects| suspects.contains(pc)) {
        watch_registers(block, issue)?;
    }
    if !block.warps[warp].products.is_empty() {
        warp_group::end_before(block, issue)?;
    }
    if instruction.guard != Condition::ALWAYS {
        issue.active &= block.warps[warp].rows.holds(instruction.guard);
    }
    if let Op::Branch { target } = instruction.op {
        return Ok(control::branch(block, issue, target));
    }
    if issue.active == 0 {
        return Ok(Flow::Next);
    }
    if block.launch.options.check_nans {
        return nans::watch(block, issue, instruction);
    }
    perform(block, issue, &instruction.op)
}

/// Loads, perhaps until another warp acts.
fn load(block: &mut Block<'_, '_>, issue: Issue, access: &Access) -> Result<Flow, Stop> {
    access::load(block, issue, access)?;
    let polls = access.order.is_strong() && block.warps[issue.warp].polls(issue.pc);
    Ok(if polls { Flow::Retry } else { Flow::Next })
}

/// Performs an instruction in its active lanes, of which there is at least one.
pub(super) fn perform(block: &mut Block<'_, '_>, issue: Issue, op: &Op) -> Result<Flow, Stop> {
    match op {
        Op::Pure { info, out, sources } => compute::pure(block, issue, info, *out, *sources),
        Op::Test { info, out, inverse, sources, combine } => {
            compute::test(block, issue, info, (*out, *inverse), *sources, *combine);
        }
        Op::Logic { logic, out, a, b } => compute::logic(block, issue, *logic, *out, [*a, *b]),
        Op::Select { width, out, a, b, condition } => {
            compute::select(block, issue, (*out, *width), [*a, *b], *condition);
        }
        Op::Video { video, out, sources } => compute::video(block, issue, video, *out, *sources),
        Op::Carry(carry) => compute::carry(block, issue, carry),
        Op::Load(access) => return load(block, issue, access),
        Op::Store(access) => access::store(block, issue, access)?,
        Op::Atomic(atomic) => return access::atomic(block, issue, atomic).map(Flow::after_exchange),
        Op::AsyncCopy(copy) => asynchronous::async_copy(block, issue, copy)?,
        Op::BulkCopy(copy) => bulk::bulk_copy(block, issue, copy)?,
        Op::Map(op) => tensor::map(block, issue, op)?,
        Op::BulkGroup(group) => bulk::bulk_group(block, issue, *group)?,
        Op::MemoryBarrier(barrier) => return asynchronous::memory_barrier(block, issue, barrier),
        Op::Matrix(op) => matrix::matrix(block, issue, op)?,
        Op::WarpGroup(op) => return warp_group::warp_group(block, issue, op),
        Op::Object(op) => object::object(block, issue, op)?,
        Op::LocalAddress { out, offset, width } => {
            compute::local_address(block, issue, (*out, *width), *offset);
        }
        Op::Alloca { out, size, align, width } => {
            stack::alloca(block, issue, (*out, *width), *size, *align)?;
        }
        Op::StackSave { out, width } => block.warps[issue.warp].stack_save(issue.active, *out, *width),
        Op::StackRestore { pointer, width } => stack::stack_restore(block, issue, *pointer, *width)?,
        Op::Branch { target } => return Ok(control::branch(block, issue, *target)),
        Op::BranchIndexed { index, targets } => {
            return control::branch_indexed(block, issue, *index, targets);
        }
        Op::Call(call) => return call::call(block, issue, call),
        Op::Return => return Ok(call::leave(block, issue)),
        Op::Exit => return Ok(exit(block, issue)),
        Op::Trap => return Err(block.fault(FaultKind::Trap, issue)),
        Op::ClusterBarrier { wait, releases } => {
            return Ok(barrier::cluster_barrier(block, issue, *wait, *releases));
        }
        Op::Barrier { kind, aligned, id, count } => {
            if *aligned {
                block.check_aligned(issue)?;
            }
            return barrier::barrier(block, issue, kind, *id, *count);
        }
        Op::Collective { operation, members } => {
            return collective::collective(block, issue, operation, *members);
        }
        Op::ActiveMask { out } => compute::fill(block, issue, (*out, Width::Single), issue.active.into()),
        Op::Clock { clock, out, width } => compute::clock(block, issue, *clock, (*out, *width)),
        Op::Fence(scope) => watch::fence(block, issue, *scope),
        Op::Yield => return Ok(control::give_way(block, issue)),
    }
    Ok(Flow::Next)
}
