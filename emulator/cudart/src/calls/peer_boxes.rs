//! Copies of boxes between devices, and several in one call.

use cuprum_sys::{CUDA_MEMCPY3D_BATCH_OP, CUDA_MEMCPY3D_PEER, CUstream};

use crate::calls::boxes;
use crate::calls::copy::{DEFAULT, peers};
use crate::error::{Result, check, cudaError};
use crate::exported::calls;
use crate::state::device::Here;
use crate::structs::{cudaMemcpy3DParms, cudaMemcpy3DPeerParms};

calls! {
    fn cudaMemcpy3DPeer[ptds](parameters: *const cudaMemcpy3DPeerParms) |here| {
        // SAFETY: the caller's struct, or null.
        let copy = unsafe { to_driver(&here, parameters) }?;
        // SAFETY: a struct of ours with the caller's addresses.
        check(unsafe { (here.fns.cuMemcpy3DPeer)(&copy) })
    }

    fn cudaMemcpy3DPeerAsync[ptsz](parameters: *const cudaMemcpy3DPeerParms, stream: CUstream) |here| {
        // SAFETY: the caller's struct, or null.
        let copy = unsafe { to_driver(&here, parameters) }?;
        // SAFETY: a struct of ours with the caller's addresses.
        check(unsafe { (here.fns.cuMemcpy3DPeerAsync)(&copy, stream) })
    }

    fn cuprum_12_cudaMemcpy3DBatchAsync[ptsz](
        number: usize,
        copies: *mut CUDA_MEMCPY3D_BATCH_OP,
        failed: *mut usize,
        flags: u64,
        stream: CUstream,
    ) => cuMemcpy3DBatchAsync(number, copies, failed, flags, stream);

    fn cuprum_13_cudaMemcpy3DBatchAsync[ptsz](
        number: usize,
        copies: *mut CUDA_MEMCPY3D_BATCH_OP,
        flags: u64,
        stream: CUstream,
    ) => cuMemcpy3DBatchAsync_v2(number, copies, flags, stream);

    fn cudaMemcpy3DWithAttributesAsync[ptsz](copy: *mut CUDA_MEMCPY3D_BATCH_OP, flags: u64, stream: CUstream)
        => cuMemcpy3DWithAttributesAsync(copy, flags, stream);
}

/// Converts a copy between devices to the driver's.
///
/// # Safety
/// The pointer is null, or points to parameters.
unsafe fn to_driver(here: &Here, parameters: *const cudaMemcpy3DPeerParms) -> Result<CUDA_MEMCPY3D_PEER> {
    // SAFETY: guaranteed by the caller.
    let p = unsafe { parameters.as_ref() }.ok_or(cudaError::cudaErrorInvalidValue)?;
    let plain = cudaMemcpy3DParms {
        srcArray: p.srcArray,
        srcPos: p.srcPos,
        srcPtr: p.srcPtr,
        dstArray: p.dstArray,
        dstPos: p.dstPos,
        dstPtr: p.dstPtr,
        extent: p.extent,
        kind: DEFAULT,
    };
    // SAFETY: a struct of ours.
    let copy = unsafe { boxes::to_driver(here, &plain) }?;
    let (dstContext, srcContext) = peers(here, p.dstDevice, p.srcDevice)?;
    Ok(CUDA_MEMCPY3D_PEER {
        srcXInBytes: copy.srcXInBytes,
        srcY: copy.srcY,
        srcZ: copy.srcZ,
        srcMemoryType: copy.srcMemoryType,
        srcDevice: copy.srcDevice,
        srcArray: copy.srcArray,
        srcContext,
        srcPitch: copy.srcPitch,
        srcHeight: copy.srcHeight,
        dstXInBytes: copy.dstXInBytes,
        dstY: copy.dstY,
        dstZ: copy.dstZ,
        dstMemoryType: copy.dstMemoryType,
        dstDevice: copy.dstDevice,
        dstArray: copy.dstArray,
        dstContext,
        dstPitch: copy.dstPitch,
        dstHeight: copy.dstHeight,
        WidthInBytes: copy.WidthInBytes,
        Height: copy.Height,
        Depth: copy.Depth,
        ..CUDA_MEMCPY3D_PEER::zeroed()
    })
}
