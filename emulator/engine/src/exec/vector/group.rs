//! Eight warps: gangs are formed of them, and run.

use super::gang::Member;
use super::run::Run;
use crate::exec::block::warp::{DivergentPath, Wait};
use crate::exec::block::{Block, Stop};
use crate::exec::code::{MOST_WARPS, Steps};
use crate::exec::plain::next_path;
use crate::semantics::lanes_of;

/// Runs some warps, together if they are at the same instruction, until each waits, ends, or uses
/// up its share of `quantum` instructions. Returns true if any is still running.
pub(in crate::exec) fn run_group(
    block: &mut Block<'_, '_>,
    steps: &Steps,
    first: usize,
    count: usize,
    quantum: u32,
) -> Result<bool, Stop> {
    run_warps(&mut Run::new(block, steps), (first, count), quantum)?;
    Ok(block.warps[first..first + count].iter().any(|warp| warp.live != 0))
}

/// The same with a `run` that ends at barriers if it should. Returns the least that is left of the
/// share of a warp.
pub(super) fn run_warps(
    run: &mut Run<'_, '_, '_>,
    (first, count): (usize, usize),
    quantum: u32,
) -> Result<u32, Stop> {
    let mut left = [quantum; MOST_WARPS];
    while gather(run, first, count, &left)? {
        // A path that left the group meanwhile also used its share.
        let warps = run.gang.members().iter().fold(0u32, |warps, member| warps | 1 << (member.warp - first));
        let share = run.gang.members().iter().map(|member| left[member.warp - first]).min().unwrap_or(0);
        run.run_gang(share)?;
        for warp in lanes_of(warps) {
            left[warp] -= share - run.left;
        }
        if run.reached.is_some() {
            break;
        }
    }
    Ok(left.into_iter().min().unwrap_or(quantum))
}

/// Forms a group of the paths of all running warps, if each of them has one path that is ready,
/// these are at the same instruction, and none has used up its share. Returns `Some(false)` if no
/// warp is running, and `None` if they are not together.
#[inline(always)]
fn gather_together(
    run: &mut Run<'_, '_, '_>,
    first: usize,
    count: usize,
    left: &[u32; MOST_WARPS],
) -> Option<bool> {
    let mut place = None;
    run.gang.clear();
    for (index, (warp, left)) in run.block.warps[first..first + count].iter().zip(left).enumerate() {
        let [DivergentPath { pc, mask, frame: None, wait: Wait::Ready, .. }] = warp.paths[..] else {
            if warp.paths.is_empty() {
                continue;
            }
            return None;
        };
        if *left == 0 || *place.get_or_insert((pc, warp.rows_only)) != (pc, warp.rows_only) {
            return None;
        }
        run.gang.push(Member { warp: first + index, path: 0, mask });
    }
    Some(place.is_some())
}

/// Forms a group of the divergent paths that run next: from each warp the path whose turn it is, if
/// it is where the first is. Returns false if all warps wait, have ended, or used up their share.
fn gather(
    run: &mut Run<'_, '_, '_>,
    first: usize,
    count: usize,
    left: &[u32; MOST_WARPS],
) -> Result<bool, Stop> {
    if let Some(some) = gather_together(run, first, count, left) {
        return Ok(some);
    }
    let Run { block, gang, .. } = run;
    let kernel = block.launch.args.kernel;
    let mut place = (u32::MAX, u32::MAX, false);
    gang.clear();
    for index in first..first + count {
        if left[index - first] == 0 {
            continue;
        }
        let Some(path) = next_path(block, index)? else { continue };
        let DivergentPath { pc, mask, ref frame, .. } = block.warps[index].paths[path];
        let member = Member { warp: index, path, mask };
        if frame.is_some() {
            // Warps in calls run separately.
            gang.clear();
            gang.push(member);
            return Ok(true);
        }
        let rows_only = block.warps[index].rows_only;
        if (pc, rows_only) == (place.1, place.2) {
            gang.push(member);
            continue;
        }
        let here = (kernel.ranks[pc as usize], pc, rows_only);
        if here < place {
            place = here;
            gang.clear();
            gang.push(member);
        }
    }
    Ok(!gang.members().is_empty())
}
