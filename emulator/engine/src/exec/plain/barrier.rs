//! Instructions that wait for other threads of the block, or of the cluster.

use super::Flow;
use crate::exec::block::warp::{DivergentPath, Wait};
use crate::exec::block::{Block, Issue, Stop};
use crate::program::instruction::BarrierKind;
use crate::report::FaultKind;
use crate::semantics::Register;

pub(super) fn barrier(
    block: &mut Block<'_, '_>,
    issue: Issue,
    kind: &BarrierKind,
    id: Register,
    count: Option<Register>,
) -> Result<Flow, Stop> {
    let lane = issue.active.trailing_zeros() as usize;
    let number = block.warps[issue.warp].rows.get(id, lane);
    if number >= 16 {
        let text = format!("barrier {number}, where only 0 to 15 exist");
        return Err(block.fault(FaultKind::Other(text), issue));
    }
    if let Some(count) = count {
        let threads = block.warps[issue.warp].rows.get(count, lane);
        if threads == 0 || threads % 32 != 0 || threads > 1024 {
            let text = format!("a barrier of {threads} threads, which is no multiple of 32 up to 1024");
            return Err(block.fault(FaultKind::Other(text), issue));
        }
    }
    if *kind == BarrierKind::Arrive {
        block.arrive(number, issue.warp, issue.active);
        return Ok(Flow::Next);
    }
    split_off(block, issue);
    let path = &mut block.warps[issue.warp].paths[issue.path];
    path.wait = Wait::Barrier(number);
    Ok(Flow::Yield)
}

/// Keeps the lanes of `active` in the divergent path; others continue after the instruction.
pub(super) fn split_off(block: &mut Block<'_, '_>, issue: Issue) {
    let paths = &mut block.warps[issue.warp].paths;
    let rest = paths[issue.path].mask & !issue.active;
    if rest != 0 {
        let frame = paths[issue.path].frame.clone();
        paths.push(DivergentPath { pc: issue.pc + 1, mask: rest, frame, wait: Wait::Ready, tired: false });
        paths[issue.path].mask = issue.active;
    }
    paths[issue.path].pc = issue.pc;
}

/// Makes a thread arrive at the barrier of its cluster, or wait for the other threads.
pub(super) fn cluster_barrier(block: &mut Block<'_, '_>, issue: Issue, wait: bool, releases: bool) -> Flow {
    if !wait {
        block.announce(issue.warp, issue.active, releases);
        return Flow::Next;
    }
    if block.warps[issue.warp].announced & issue.active == 0 {
        block.hear(issue.warp, issue.active);
        return Flow::Next;
    }
    split_off(block, issue);
    block.warps[issue.warp].paths[issue.path].wait = Wait::Cluster;
    Flow::Yield
}
