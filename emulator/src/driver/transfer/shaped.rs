//! Copies in two and three dimensions.

use core::ffi::c_void;

use cuprum_sys::*;

use crate::driver::answer::{Answer, INVALID_VALUE, ensure};
use crate::driver::call::{In, calls};
use crate::driver::device::MAX_PITCH;
use crate::driver::memory::{Bytes, unified};
use crate::driver::stream::StreamRef;
use crate::driver::texture::Array;

use super::copy::{Copy, Extent, Side};
use super::linear::{Wait, fenced, issue, issue_between};

/// One side of the C structures for two and three dimensions.
pub(super) struct Corner {
    pub(super) kind: CUmemorytype,
    pub(super) host: *mut c_void,
    pub(super) device: u64,
    pub(super) array: CUarray,
    pub(super) level: usize,
    pub(super) pitch: usize,
    pub(super) height: usize,
    pub(super) x: usize,
    pub(super) y: usize,
    pub(super) z: usize,
}

impl Corner {
    fn side(&self, extent: Extent) -> Answer<Side> {
        let (x, y, z) = (self.x as u64, self.y as u64, self.z as u64);
        if self.kind == CUmemorytype::CU_MEMORYTYPE_ARRAY {
            // Levels are separate arrays here.
            ensure(self.level == 0, INVALID_VALUE)?;
            let array = Array::find(self.array)?;
            return array_side(&array, (x, y, z), extent);
        }
        // A pitch of zero means contiguous rows. It matters only if there are several.
        let pitch = match self.pitch as u64 {
            0 => x + extent.width,
            pitch => pitch,
        };
        let rows = match self.height as u64 {
            0 => y + extent.height,
            rows => rows,
        };
        ensure(pitch >= x + extent.width && pitch <= MAX_PITCH, INVALID_VALUE)?;
        ensure(extent.depth == 1 || rows >= y + extent.height, INVALID_VALUE)?;
        let slice = pitch.checked_mul(rows).ok_or(INVALID_VALUE)?;
        let offset = x + y * pitch + z.checked_mul(slice).ok_or(INVALID_VALUE)?;
        let span = extent.span(pitch, slice).ok_or(INVALID_VALUE)?;
        let start = |base: u64| base.checked_add(offset).ok_or(INVALID_VALUE);
        let bytes = match self.kind {
            CUmemorytype::CU_MEMORYTYPE_HOST => {
                ensure(!self.host.is_null(), INVALID_VALUE)?;
                Bytes::host(self.host.cast::<u8>().wrapping_add(offset as usize), span)?
            }
            CUmemorytype::CU_MEMORYTYPE_DEVICE => Bytes::on_device(start(self.device)?, span)?,
            CUmemorytype::CU_MEMORYTYPE_UNIFIED => unified(start(self.device)?, span)?,
            _ => return Err(INVALID_VALUE),
        };
        Ok(Side { bytes, pitch, slice })
    }
}

fn array_side(array: &Array, (x, y, z): (u64, u64, u64), extent: Extent) -> Answer<Side> {
    let (pitch, rows, slices) = (array.pitch(), array.rows(), array.copied_slices());
    let inside =
        x + extent.width <= array.row_bytes() && y + extent.height <= rows && z + extent.depth <= slices;
    ensure(inside, INVALID_VALUE)?;
    let slice = pitch * rows;
    let span = extent.span(pitch, slice).ok_or(INVALID_VALUE)?;
    let bytes = Bytes::device(array.base() + x + y * pitch + z * slice, span)?;
    Ok(Side { bytes, pitch, slice })
}

fn corners_2d(copy: &CUDA_MEMCPY2D) -> (Corner, Corner, Extent) {
    let from = Corner {
        kind: copy.srcMemoryType,
        host: copy.srcHost.cast_mut(),
        device: copy.srcDevice,
        array: copy.srcArray,
        level: 0,
        pitch: copy.srcPitch,
        height: 0,
        x: copy.srcXInBytes,
        y: copy.srcY,
        z: 0,
    };
    let to = Corner {
        kind: copy.dstMemoryType,
        host: copy.dstHost,
        device: copy.dstDevice,
        array: copy.dstArray,
        level: 0,
        pitch: copy.dstPitch,
        height: 0,
        x: copy.dstXInBytes,
        y: copy.dstY,
        z: 0,
    };
    let extent = Extent { width: copy.WidthInBytes as u64, height: copy.Height as u64, depth: 1 };
    (from, to, extent)
}

/// Reads the fields that the two structures for three dimensions share.
macro_rules! corners_3d {
    ($copy:expr) => {{
        let copy = $copy;
        let from = Corner {
            kind: copy.srcMemoryType,
            host: copy.srcHost.cast_mut(),
            device: copy.srcDevice,
            array: copy.srcArray,
            level: copy.srcLOD as usize,
            pitch: copy.srcPitch,
            height: copy.srcHeight,
            x: copy.srcXInBytes,
            y: copy.srcY,
            z: copy.srcZ,
        };
        let to = Corner {
            kind: copy.dstMemoryType,
            host: copy.dstHost,
            device: copy.dstDevice,
            array: copy.dstArray,
            level: copy.dstLOD as usize,
            pitch: copy.dstPitch,
            height: copy.dstHeight,
            x: copy.dstXInBytes,
            y: copy.dstY,
            z: copy.dstZ,
        };
        let extent =
            Extent { width: copy.WidthInBytes as u64, height: copy.Height as u64, depth: copy.Depth as u64 };
        (from, to, extent)
    }};
}

/// Returns the copy that a 3D structure describes; `None` if it is empty.
pub(crate) fn from_3d(copy: &CUDA_MEMCPY3D) -> Answer<Option<Copy>> {
    plan(corners_3d!(copy))
}

fn plan((from, to, extent): (Corner, Corner, Extent)) -> Answer<Option<Copy>> {
    if extent.width == 0 || extent.height == 0 || extent.depth == 0 {
        return Ok(None);
    }
    Ok(Some(Copy { from: from.side(extent)?, to: to.side(extent)?, extent, fenced: [0; 2] }))
}

pub(super) fn shaped(stream: &StreamRef, wait: Wait, corners: (Corner, Corner, Extent)) -> Answer {
    match plan(corners)? {
        Some(copy) => issue(stream, copy, wait),
        None => Ok(()),
    }
}

calls! {
    fn [cuMemcpy2D_v2, cuMemcpy2DUnaligned_v2](call, pCopy: In<CUDA_MEMCPY2D>) {
        shaped(&call.default_stream()?, Wait::Yes, corners_2d(&pCopy.get()?))
    }

    fn cuMemcpy2DAsync_v2(call, pCopy: In<CUDA_MEMCPY2D>, hStream: CUstream) {
        shaped(&call.stream(hStream)?, Wait::No, corners_2d(&pCopy.get()?))
    }

    fn cuMemcpy3D_v2(call, pCopy: In<CUDA_MEMCPY3D>) {
        shaped(&call.default_stream()?, Wait::Yes, corners_3d!(pCopy.get()?))
    }

    fn cuMemcpy3DAsync_v2(call, pCopy: In<CUDA_MEMCPY3D>, hStream: CUstream) {
        shaped(&call.stream(hStream)?, Wait::No, corners_3d!(pCopy.get()?))
    }

    fn cuMemcpy3DPeer(call, pCopy: In<CUDA_MEMCPY3D_PEER>) {
        let (stream, peers) = (call.default_stream()?, pCopy.get()?);
        let fenced = fenced(call, [peers.dstContext, peers.srcContext])?;
        match plan(corners_3d!(peers))? {
            Some(copy) => issue_between(&stream, Copy { fenced, ..copy }),
            None => Ok(()),
        }
    }

    fn cuMemcpy3DPeerAsync(call, pCopy: In<CUDA_MEMCPY3D_PEER>, hStream: CUstream) {
        shaped(&call.stream_outside_captures(hStream)?, Wait::No, corners_3d!(pCopy.get()?))
    }
}
