//! Copies between contexts.
//!
//! The driver frees memory when the work of the memory's own context is complete. A copy between
//! two devices is work of one of them, so freeing the other side does not wait for it, and faults
//! both contexts (error 719). On two H200s this happened to the target, even in the context that
//! queued the copy, and to the source of a copy that another context queued
//! (`tests/data/goldens/waits.txt`). So no such copy outlives the borrow of either side: the call
//! waits for it, or the scope that queues it. If no wait proves that it is complete, both contexts
//! are [marked](ContextRef::mark), and none of their memory is freed any more.

use cuprum_sys::{CUDA_MEMCPY3D, CUDA_MEMCPY3D_PEER, CUcontext, CUstream, StreamMode};

use super::{InContext, is_empty, wait_for_default_stream};
use crate::context::{ContextRef, context_call, waited_for};
use crate::error::Error;
use crate::raw::held::activated;

/// Waits for work that the default stream of another context may still do with memory of a copy,
/// such as filling it, or using it for its previous owner, who freed it in stream order. The other
/// context is current only during this call.
pub(crate) fn wait_for_other(context: &ContextRef) -> Result<(), Error> {
    if context.library().stream_mode() == StreamMode::PerThread {
        // No work is in flight there.
        return Ok(());
    }
    activated(context, || wait_for_default_stream(context))
}

/// Copies `bytes` bytes from the context of `from` to the one of `to`, which is current, and waits.
///
/// # Safety
/// Both sides have `bytes` bytes in their contexts, which are of one driver.
pub(crate) unsafe fn between(to: InContext<'_>, from: InContext<'_>, bytes: usize) -> Result<(), Error> {
    if bytes == 0 {
        return Ok(());
    }
    let ((context, to), (other, from)) = (to, from);
    // SAFETY: guaranteed by the caller.
    let copied =
        unsafe { context_call!(context, cuMemcpyPeer(to, context.as_raw(), from, other.as_raw(), bytes)) };
    over(context, other, copied)
}

/// Copies a block from the second context to the first, which is current, and waits.
///
/// # Safety
/// Both sides of `block` are live and have room for it; device memory and arrays are of the given
/// contexts, destination first, which are of one driver. The destination is not on the host.
pub(crate) unsafe fn block_between(block: &CUDA_MEMCPY3D, contexts: [&ContextRef; 2]) -> Result<(), Error> {
    if is_empty(block) {
        return Ok(());
    }
    let block = peer_of(block, contexts.map(ContextRef::as_raw));
    // SAFETY: guaranteed by the caller.
    let copied = unsafe { context_call!(contexts[0], cuMemcpy3DPeer(&raw const block)) };
    over(contexts[0], contexts[1], copied)
}

/// Waits for a copy on the default stream of `context`, which is current. The copy may be queued
/// even if the call failed. Unless it is certainly complete, no memory of either context is freed
/// any more.
fn over(context: &ContextRef, other: &ContextRef, copied: Result<(), Error>) -> Result<(), Error> {
    if copied.is_err_and(|error| error.is_forked() || error.is_unresolved()) {
        return copied;
    }
    // SAFETY: the null stream always exists, and the context is current.
    let (waited, is_over) = unsafe { waited_for(context, CUstream::null()) };
    if !is_over {
        [context, other].into_iter().for_each(|context| context.mark().lose());
    }
    copied.and(waited)
}

/// Queues a copy of a block of rows and slices between contexts.
///
/// # Safety
/// Same as [`block_between`]; `stream` is of `context`, and both sides live until it was waited
/// for.
pub(crate) unsafe fn block_between_on(
    context: &ContextRef,
    stream: CUstream,
    block: &CUDA_MEMCPY3D,
    contexts: [CUcontext; 2],
) -> Result<(), Error> {
    if is_empty(block) {
        return Ok(());
    }
    let block = peer_of(block, contexts);
    // SAFETY: guaranteed by the caller.
    unsafe { context_call!(context, cuMemcpy3DPeerAsync(&raw const block, stream)) }
}

const fn peer_of(block: &CUDA_MEMCPY3D, [to, from]: [CUcontext; 2]) -> CUDA_MEMCPY3D_PEER {
    CUDA_MEMCPY3D_PEER {
        srcXInBytes: block.srcXInBytes,
        srcY: block.srcY,
        srcZ: block.srcZ,
        srcLOD: 0,
        srcMemoryType: block.srcMemoryType,
        srcHost: block.srcHost,
        srcDevice: block.srcDevice,
        srcArray: block.srcArray,
        srcContext: from,
        srcPitch: block.srcPitch,
        srcHeight: block.srcHeight,
        dstXInBytes: block.dstXInBytes,
        dstY: block.dstY,
        dstZ: block.dstZ,
        dstLOD: 0,
        dstMemoryType: block.dstMemoryType,
        dstHost: block.dstHost,
        dstDevice: block.dstDevice,
        dstArray: block.dstArray,
        dstContext: to,
        dstPitch: block.dstPitch,
        dstHeight: block.dstHeight,
        WidthInBytes: block.WidthInBytes,
        Height: block.Height,
        Depth: block.Depth,
    }
}
