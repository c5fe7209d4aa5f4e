//! Copies of bytes to and from arrays, which continue in the next row at the end of one. CUDA 10.1
//! deprecated them.

use core::ffi::c_void;

use cuprum_sys::{CUDA_MEMCPY2D, CUarray, CUdeviceptr, CUmemorytype, CUstream};

use crate::calls::array;
use crate::calls::copy::{DEFAULT, DEVICE_TO_DEVICE, DEVICE_TO_HOST, HOST_TO_DEVICE, HOST_TO_HOST, Kind};
use crate::error::{Result, check, cudaError};
use crate::exported::calls;
use crate::state::device::Here;

calls! {
    fn cudaMemcpyToArray[ptds](array: CUarray, x: usize, y: usize, source: *const c_void, count: usize, kind: Kind) |here| {
        let from = other_end(kind, [DEVICE_TO_HOST, HOST_TO_HOST], HOST_TO_DEVICE)?;
        copy(&here, End::array(&here, array, x, y, count)?, End::Memory(from, source.cast_mut()), count, None)
    }

    fn cudaMemcpyToArrayAsync[ptsz](
        array: CUarray,
        x: usize,
        y: usize,
        source: *const c_void,
        count: usize,
        kind: Kind,
        stream: CUstream,
    ) |here| {
        let from = other_end(kind, [DEVICE_TO_HOST, HOST_TO_HOST], HOST_TO_DEVICE)?;
        copy(&here, End::array(&here, array, x, y, count)?, End::Memory(from, source.cast_mut()), count, Some(stream))
    }

    fn cudaMemcpyFromArray[ptds](target: *mut c_void, array: CUarray, x: usize, y: usize, count: usize, kind: Kind) |here| {
        let to = other_end(kind, [HOST_TO_DEVICE, HOST_TO_HOST], DEVICE_TO_HOST)?;
        copy(&here, End::Memory(to, target), End::array(&here, array, x, y, count)?, count, None)
    }

    fn cudaMemcpyFromArrayAsync[ptsz](
        target: *mut c_void,
        array: CUarray,
        x: usize,
        y: usize,
        count: usize,
        kind: Kind,
        stream: CUstream,
    ) |here| {
        let to = other_end(kind, [HOST_TO_DEVICE, HOST_TO_HOST], DEVICE_TO_HOST)?;
        copy(&here, End::Memory(to, target), End::array(&here, array, x, y, count)?, count, Some(stream))
    }

    fn cudaMemcpyArrayToArray[ptds](
        target: CUarray,
        targetX: usize,
        targetY: usize,
        source: CUarray,
        sourceX: usize,
        sourceY: usize,
        count: usize,
        kind: Kind,
    ) |here| {
        if !matches!(kind, DEVICE_TO_DEVICE | DEFAULT) {
            return Err(cudaError::cudaErrorInvalidMemcpyDirection);
        }
        let target = End::array(&here, target, targetX, targetY, count)?;
        copy(&here, target, End::array(&here, source, sourceX, sourceY, count)?, count, None)
    }
}

/// Returns the memory type of the end that is no array. An unknown direction is the default one, as
/// recorded on an H200.
fn other_end(kind: Kind, wrong: [Kind; 2], with_host: Kind) -> Result<CUmemorytype> {
    match kind {
        _ if wrong.contains(&kind) => Err(cudaError::cudaErrorInvalidMemcpyDirection),
        DEVICE_TO_DEVICE => Ok(CUmemorytype::CU_MEMORYTYPE_DEVICE),
        _ if kind == with_host => Ok(CUmemorytype::CU_MEMORYTYPE_HOST),
        _ => Ok(CUmemorytype::CU_MEMORYTYPE_UNIFIED),
    }
}

/// One end of a copy, at its next byte.
#[derive(Clone, Copy)]
enum End {
    Memory(CUmemorytype, *mut c_void),
    /// An array, its bytes per row, and the place.
    Array(CUarray, usize, usize, usize),
}

impl End {
    /// Returns the place `x` bytes after the begin of row `y`. Fails if fewer than `count` bytes
    /// follow.
    fn array(here: &Here, array: CUarray, x: usize, y: usize, count: usize) -> Result<Self> {
        let (row, rows) = array::rows(here.fns, array)?;
        let place = y.checked_mul(row).and_then(|begin| begin.checked_add(x));
        let place = place.ok_or(cudaError::cudaErrorInvalidValue)?;
        if x > row || place.checked_add(count).is_none_or(|end| end > row * rows) {
            return Err(cudaError::cudaErrorInvalidValue);
        }
        Ok(Self::Array(array, row, place % row, place / row))
    }

    /// Returns the number of bytes to the end of the row.
    fn in_row(self) -> usize {
        match self {
            Self::Memory(..) => usize::MAX,
            Self::Array(_, row, x, _) => row - x,
        }
    }

    /// Returns the place after `bytes`, which are in the row.
    fn after(self, bytes: usize) -> Self {
        match self {
            Self::Memory(kind, address) => Self::Memory(kind, address.wrapping_byte_add(bytes)),
            Self::Array(array, row, x, y) if x + bytes == row => Self::Array(array, row, 0, y + 1),
            Self::Array(array, row, x, y) => Self::Array(array, row, x + bytes, y),
        }
    }
}

/// Copies row by row, without a stream synchronously.
fn copy(here: &Here, mut target: End, mut source: End, count: usize, stream: Option<CUstream>) -> Result {
    let mut left = count;
    while left > 0 {
        let bytes = left.min(target.in_row()).min(source.in_row());
        let row = in_one_row(target, source, bytes);
        check(match stream {
            // SAFETY: a struct of ours with the caller's addresses and handles.
            None => unsafe { (here.fns.cuMemcpy2DUnaligned_v2)(&row) },
            // SAFETY: likewise.
            Some(stream) => unsafe { (here.fns.cuMemcpy2DAsync_v2)(&row, stream) },
        })?;
        (target, source) = (target.after(bytes), source.after(bytes));
        left -= bytes;
    }
    Ok(())
}

fn in_one_row(target: End, source: End, bytes: usize) -> CUDA_MEMCPY2D {
    let mut copy = CUDA_MEMCPY2D { WidthInBytes: bytes, Height: 1, ..CUDA_MEMCPY2D::zeroed() };
    match source {
        End::Memory(kind, address) => {
            (copy.srcMemoryType, copy.srcHost, copy.srcDevice) = (kind, address, address as CUdeviceptr);
        }
        End::Array(array, _, x, y) => {
            copy.srcMemoryType = CUmemorytype::CU_MEMORYTYPE_ARRAY;
            (copy.srcArray, copy.srcXInBytes, copy.srcY) = (array, x, y);
        }
    }
    match target {
        End::Memory(kind, address) => {
            (copy.dstMemoryType, copy.dstHost, copy.dstDevice) = (kind, address, address as CUdeviceptr);
        }
        End::Array(array, _, x, y) => {
            copy.dstMemoryType = CUmemorytype::CU_MEMORYTYPE_ARRAY;
            (copy.dstArray, copy.dstXInBytes, copy.dstY) = (array, x, y);
        }
    }
    copy
}
