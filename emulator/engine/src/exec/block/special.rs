//! The values of special registers in the threads of a block.

use super::launch::Launch;
use super::warp::Warp;
use crate::program::instruction::Special;
use crate::program::memory::RANK_SHIFT;
use crate::semantics::{LANES, Register};

/// Fills the special registers that `wanted` selects, in some warps of a block.
pub(super) fn set_varying(
    launch: &Launch<'_>,
    worker: usize,
    warps: &mut [Warp],
    wanted: impl Fn(&Special, Register) -> bool,
    index: [u32; 3],
) {
    for (register, width, special) in launch.varying.iter().filter(|(at, _, special)| wanted(special, *at)) {
        if let Some(value) = block_value(launch, *special, index) {
            warps.iter_mut().for_each(|warp| warp.rows.fill(*register, *width, value));
            continue;
        }
        for warp in &mut *warps {
            let first = warp.index * LANES as u32;
            let value = |lane: u32| match *special {
                Special::ThreadId(axis) => thread_index(first + lane, launch.args.block)[axis as usize],
                Special::LaneId => lane,
                Special::WarpId => warp.index,
                Special::MultiprocessorId => worker as u32,
                Special::LaneMask(order, or_equal) => lane_mask(lane, order, or_equal),
                _ => 0,
            };
            for lane in 0..LANES {
                warp.rows.set_wide(*register, *width, lane, value(lane as u32).into());
            }
        }
    }
}

/// Fills the special registers of a warp that differ between blocks.
pub(in crate::exec) fn set_block_rows(launch: &Launch<'_>, worker: usize, warp: &mut Warp, index: [u32; 3]) {
    let wanted = |special: &Special, _| depends_on_block(special);
    set_varying(launch, worker, std::slice::from_mut(warp), wanted, index);
}

pub(super) fn depends_on_block(special: &Special) -> bool {
    matches!(
        special,
        Special::BlockId(_)
            | Special::ClusterId(_)
            | Special::BlockIdInCluster(_)
            | Special::BlockRank
            | Special::OwnSharedWindow
    )
}

/// Returns a value that depends only on the block with these coordinates.
pub(super) fn block_value(launch: &Launch<'_>, special: Special, index: [u32; 3]) -> Option<u64> {
    let side = |axis: u8| (index[axis as usize], launch.cluster[axis as usize]);
    Some(match special {
        Special::BlockId(axis) => side(axis).0.into(),
        Special::ClusterId(axis) => (side(axis).0 / side(axis).1).into(),
        Special::BlockIdInCluster(axis) => (side(axis).0 % side(axis).1).into(),
        Special::BlockRank => launch.rank(index).into(),
        Special::OwnSharedWindow => {
            launch.map.windows().shared + (u64::from(launch.rank(index)) << RANK_SHIFT)
        }
        _ => return None,
    })
}

pub(in crate::exec) fn thread_index(thread: u32, block: [u32; 3]) -> [u32; 3] {
    let [x, y, _] = block;
    [thread % x, thread / x % y, thread / x / y]
}

fn lane_mask(lane: u32, order: core::cmp::Ordering, or_equal: bool) -> u32 {
    let own = 1 << lane;
    let below = own - 1;
    let strict = match order {
        core::cmp::Ordering::Less => below,
        core::cmp::Ordering::Equal => own,
        core::cmp::Ordering::Greater => !(below | own),
    };
    if or_equal { strict | own } else { strict }
}
