//! Frees of held blocks.

use cuprum_sys::CUresult;

use crate::context::ContextRef;
use crate::error::Error;
use crate::raw::held::activated;

/// True if the driver has no memory left, so that freeing held blocks may help.
pub(crate) fn is_no_room(error: Error) -> bool {
    error.code() == CUresult::CUDA_ERROR_OUT_OF_MEMORY
}

/// Frees blocks in their context. Returns the first error. Does nothing in a forked child.
///
/// A block no longer exists after an error either, because the driver may have freed it.
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

/// Same as [`free_all`], for a `Drop`: swallows errors, and ignores those that mean a shutdown.
pub(crate) fn free_silently(
    context: &ContextRef,
    blocks: impl IntoIterator<Item = u64>,
    free: impl Fn(u64) -> Result<(), Error>,
) {
    if let Err(error) = free_all(context, blocks, free) {
        context.swallow(error);
    }
}
