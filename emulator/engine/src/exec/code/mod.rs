//! Translates kernels for the vector mode, once each.

pub(in crate::exec) mod access;
mod accesses;
pub(in crate::exec) mod affine;
mod arms;
pub(in crate::exec) mod blend;
pub(in crate::exec) mod growth;
mod indexed;
pub(in crate::exec) mod liveness;
pub(in crate::exec) mod step;
pub(in crate::exec) mod transfer;
mod translate;
mod uses;

pub(in crate::exec) use step::Steps;

use crate::program::Kernel;
use crate::semantics::LANES;

/// Maximum number of warps that run together: a step's cost is negligible, registers fit the cache.
pub(in crate::exec) const MOST_WARPS: usize = 8;

/// Half a warp, the unit in which memory accesses are examined.
pub(in crate::exec) const HALF: usize = LANES / 2;

/// Returns a kernel's steps, created at its first launch; `None` if only for the plain mode.
pub(in crate::exec) fn steps(kernel: &Kernel) -> Option<&Steps> {
    kernel.runner.get_or_make(|| translate::translate(kernel)).and_then(Option::as_ref)
}
