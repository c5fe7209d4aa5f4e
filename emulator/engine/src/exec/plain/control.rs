//! Branches and exits.

use super::Flow;
use crate::exec::block::warp::{DivergentPath, Wait};
use crate::exec::block::{Block, Issue, Stop};
use crate::report::FaultKind;
use crate::semantics::{Register, lanes_of};

/// Moves the active lanes to `target`, and the other lanes to the next instruction.
pub(super) fn branch(block: &mut Block<'_, '_>, issue: Issue, target: u32) -> Flow {
    if issue.active == issue.mask {
        return Flow::Jump(target);
    }
    if issue.active == 0 {
        return Flow::Next;
    }
    let paths = &mut block.warps[issue.warp].paths;
    let frame = paths[issue.path].frame.clone();
    paths[issue.path].mask = issue.mask & !issue.active;
    paths[issue.path].pc = issue.pc + 1;
    paths.push(DivergentPath { pc: target, mask: issue.active, frame, wait: Wait::Ready, tired: false });
    Flow::Yield
}

pub(super) fn branch_indexed(
    block: &mut Block<'_, '_>,
    issue: Issue,
    row: Register,
    targets: &[u32],
) -> Result<Flow, Stop> {
    let mut left = issue.active;
    while left != 0 {
        let lane = left.trailing_zeros() as usize;
        let number = block.warps[issue.warp].rows.get(row, lane);
        let same = lanes_of(left).filter(|lane| block.warps[issue.warp].rows.get(row, *lane) == number);
        let same = same.fold(0, |bits, lane| bits | 1 << lane);
        let Some(target) = targets.get(number as usize) else {
            return Err(block.fault(FaultKind::InvalidCode, issue.lanes(same)));
        };
        if same == issue.mask {
            return Ok(Flow::Jump(*target));
        }
        let paths = &mut block.warps[issue.warp].paths;
        let frame = paths[issue.path].frame.clone();
        paths.push(DivergentPath { pc: *target, mask: same, frame, wait: Wait::Ready, tired: false });
        left &= !same;
    }
    remove_lanes(block, issue, issue.active);
    Ok(Flow::Yield)
}

/// Removes the lanes of `gone`, which are elsewhere now; the others continue after the instruction.
fn remove_lanes(block: &mut Block<'_, '_>, issue: Issue, gone: u32) {
    let paths = &mut block.warps[issue.warp].paths;
    if issue.mask == gone && paths.len() == 1 {
        paths.pop();
    } else if issue.mask == gone {
        paths.swap_remove(issue.path);
    } else {
        paths[issue.path].mask = issue.mask & !gone;
        paths[issue.path].pc = issue.pc + 1;
    }
}

#[inline]
pub(in crate::exec) fn exit(block: &mut Block<'_, '_>, issue: Issue) -> Flow {
    block.warps[issue.warp].live &= !issue.active;
    if block.launch.options.check_barriers {
        block.warps[issue.warp].exits.push((issue.pc, issue.active));
    }
    remove_lanes(block, issue, issue.active);
    Flow::Yield
}

/// Lets other divergent paths of the warp run first.
pub(super) fn give_way(block: &mut Block<'_, '_>, issue: Issue) -> Flow {
    let path = &mut block.warps[issue.warp].paths[issue.path];
    path.tired = true;
    path.pc = issue.pc + 1;
    Flow::Yield
}

/// Also lets other warps run first.
pub(super) fn pause(block: &mut Block<'_, '_>, issue: Issue) -> Flow {
    give_way(block, issue);
    Flow::Pause
}
