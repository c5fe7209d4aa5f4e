//! Sizes of the clusters of a launch, and the launches that an H100 refuses because of them.

use cuprum_sys::*;

use crate::driver::answer::{Answer, ensure};
use crate::driver::call::not_supported;
use crate::driver::state::settings;

use super::function::Function;

/// Maximum blocks of a cluster: on any device, and for kernels that allow non-portable sizes.
const MOST_PORTABLE: u32 = 8;
const MOST: u32 = 16;

pub(crate) type Sides = [u32; 3];

/// Returns the size in a launch attribute; `None` for zeros, which leave it to the kernel.
pub(crate) fn asked(value: CUlaunchAttributeValue_clusterDim) -> Option<Sides> {
    Some([value.x, value.y, value.z]).filter(|sides| *sides != [0; 3])
}

/// Returns the maximum number of blocks per cluster of this function.
pub(super) fn most(function: &Function) -> u32 {
    if function.attributes.allows_not_portable() { MOST } else { MOST_PORTABLE }
}

/// Returns the clusters of a launch on this grid, if it has any, with at most `most` blocks each.
pub(super) fn clusters(
    function: &Function,
    grid: [u32; 3],
    asked: Option<Sides>,
    most: u32,
) -> Answer<Option<Sides>> {
    let ensure_size = |right| ensure(right, CUresult::CUDA_ERROR_INVALID_CLUSTER_SIZE);
    let bounds = function.kernel.cluster();
    let required = function.attributes.required_cluster(&function.kernel);
    let Some(sides) = asked.or(required) else {
        ensure_size(!bounds.explicit)?;
        return Ok(None);
    };
    ensure_size(required.is_none_or(|required| required == sides))?;
    ensure_size(!sides.contains(&0))?;
    let blocks = sides.iter().try_fold(1u32, |blocks, side| blocks.checked_mul(*side)).unwrap_or(u32::MAX);
    ensure_size(blocks <= bounds.most.unwrap_or(u32::MAX).min(most))?;
    ensure_size(grid.iter().zip(sides).all(|(grid, side)| grid % side == 0))?;
    if blocks > 1 && settings().compute_capability < (9, 0) {
        return Err(not_supported(
            "devices before compute capability 9.0 have no clusters of several blocks",
        ));
    }
    Ok(Some(sides))
}
