//! Copies between contexts.

use cuprum_sys::{CUDA_MEMCPY3D, CUDA_MEMCPY3D_PEER, CUcontext, CUstream, StreamMode};

use super::{is_empty, settle, wait_for_default_stream};
use crate::context::ContextRef;
use crate::error::Error;
use crate::raw::call::context_call;
use crate::raw::held::activated;

/// Waits for what the default stream of another context may still do with memory that is to be copied from there or to
/// there on a stream: such as filling it, or using it as the memory of somebody else, who has freed it in the order of that
/// stream. It is for the time of this call that the other context is current.
pub(crate) fn wait_for_other(context: &ContextRef) -> Result<(), Error> {
    if context.library().stream_mode() == StreamMode::PerThread {
        // Nothing is left in flight there.
        return Ok(());
    }
    activated(context, || wait_for_default_stream(context))
}

/// Copies a block of rows and slices between contexts. The host does not wait.
///
/// # Safety
/// `context` is current. On both sides, what `block` names is live and has room for the block; device memory and arrays
/// are of the contexts given, destination first, which are of one driver. No side is on the host.
pub(crate) unsafe fn block_between(
    context: &ContextRef,
    block: &CUDA_MEMCPY3D,
    contexts: [CUcontext; 2],
) -> Result<(), Error> {
    if is_empty(block) {
        return Ok(());
    }
    let block = peer_of(block, contexts);
    // SAFETY: the caller's word.
    unsafe { context_call!(context, cuMemcpy3DPeer(&raw const block)) }?;
    settle(context)
}

/// Queues a copy of a block of rows and slices between contexts.
///
/// # Safety
/// Those of [`block_between`]; the stream is of `context`, and both sides live until it was waited for.
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
    // SAFETY: the caller's word.
    unsafe { context_call!(context, cuMemcpy3DPeerAsync(&raw const block, stream)) }
}

/// The same copy, with the contexts of both sides.
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
