//! Queries about the clusters of a launch.

use std::sync::Arc;

use cuprum_sys::*;

use crate::driver::answer::{Answer, INVALID_VALUE, ensure};
use crate::driver::call::{In, Out, calls};
use crate::driver::device::multiprocessors;
use crate::driver::state::settings;

use super::cluster::{Sides, clusters, most};
use super::function::Function;
use super::launch::LaunchShape;
use super::occupancy::resident_blocks;

/// Blocks of clusters per multiprocessor of an H100, even for the smallest blocks.
const BLOCKS_PER_MULTIPROCESSOR: u32 = 8;

/// Returns the parts of a launch that is only queried: function, shape, blocks per cluster.
fn imagined(
    function: CUfunction,
    config: In<CUlaunchConfig>,
) -> Answer<(Arc<Function>, LaunchShape, Option<Sides>)> {
    let config = config.get()?;
    let function = Function::find(function)?;
    let mut shape = LaunchShape::of(&config);
    shape.apply(&config)?;
    ensure(!shape.grid.contains(&0) && !shape.block.contains(&0), INVALID_VALUE)?;
    // If non-portable sizes are allowed, an H100 answers for sizes that it does not launch.
    let most = if function.attributes.allows_not_portable() { u32::MAX } else { most(&function) };
    let sides = clusters(&function, shape.grid, shape.cluster, most)?;
    Ok((function, shape, sides))
}

calls! {
    fn cuOccupancyMaxActiveClusters(
        _call,
        numClusters: Out<i32>,
        func: CUfunction,
        config: In<CUlaunchConfig>,
    ) {
        numClusters.check()?;
        let (function, shape, sides) = imagined(func, config)?;
        let Some(sides) = sides else { return numClusters.set(0) };
        let threads = shape.block.iter().try_fold(1u32, |threads, side| threads.checked_mul(*side));
        let threads = threads.ok_or(INVALID_VALUE)?;
        let resident = resident_blocks(&function.kernel, threads, shape.dynamic_shared);
        if resident == 0 {
            return numClusters.set(0);
        }
        // At least one cluster always runs, regardless of the host's number of processors.
        let blocks = resident.min(BLOCKS_PER_MULTIPROCESSOR) * multiprocessors() as u32;
        numClusters.set((blocks / sides.iter().product::<u32>()).max(1) as i32)
    }

    fn cuOccupancyMaxPotentialClusterSize(
        _call,
        clusterSize: Out<i32>,
        func: CUfunction,
        config: In<CUlaunchConfig>,
    ) {
        clusterSize.check()?;
        let (function, ..) = imagined(func, config)?;
        let has_clusters = settings().compute_capability >= (9, 0);
        clusterSize.set(if has_clusters { most(&function) as i32 } else { 1 })
    }
}
