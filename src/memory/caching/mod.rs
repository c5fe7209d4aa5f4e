//! Pools that keep blocks which were freed, to hand them out again without a call of the driver: what those for memory of
//! the device and of the host have in common, and those for the host.

mod bins;
mod pinned;
mod size_class;
mod user;

pub use self::bins::PoolCounters;
pub(crate) use self::bins::{Bins, Counts};
pub(super) use self::pinned::PinnedLease;
pub use self::pinned::PinnedPool;
pub(crate) use self::size_class::SizeClass;
pub(crate) use self::user::{Parts, Stock, User, is_not_freed};

use cuprum_sys::CUresult;

use crate::context::ContextRef;
use crate::error::Error;
use crate::raw::held::activated;

/// True if the driver has no room, so that giving blocks back may help.
pub(crate) fn is_no_room(error: Error) -> bool {
    error.code() == CUresult::CUDA_ERROR_OUT_OF_MEMORY
}

/// Frees blocks in their context, on whichever thread, and gives the first error. In a forked child it does nothing.
///
/// A block whose freeing failed is gone all the same: the driver may have freed it.
pub(crate) fn free_all(
    context: &ContextRef,
    blocks: impl IntoIterator<Item = u64>,
    free: impl Fn(u64) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut blocks = blocks.into_iter().peekable();
    if blocks.peek().is_none() || context.library().forked() {
        return Ok(());
    }
    activated(context, || {
        let mut first = Ok(());
        for block in blocks {
            let freed = free(block);
            first = first.and(freed);
        }
        first
    })
}

/// Like [`free_all`], for a `Drop`: errors are swallowed, and of a driver that is shutting down there are none.
pub(crate) fn free_silently(
    context: &ContextRef,
    blocks: impl IntoIterator<Item = u64>,
    free: impl Fn(u64) -> Result<(), Error>,
) {
    if let Err(error) = free_all(context, blocks, free) {
        context.swallow(error);
    }
}
