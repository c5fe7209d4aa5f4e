//! Copies between addresses, and to and from variables of a program.

use core::ffi::c_void;

use cuprum_sys::{CUDA_MEMCPY2D, CUdeviceptr, CUmemorytype, CUstream};

use crate::error::{Result, check, cudaError};
use crate::exported::{calls, put};
use crate::registry;
use crate::state::device::{self, Here};

/// Direction of a copy, `cudaMemcpyKind`.
pub(crate) type Kind = u32;

pub(crate) const HOST_TO_HOST: Kind = 0;
pub(crate) const HOST_TO_DEVICE: Kind = 1;
pub(crate) const DEVICE_TO_HOST: Kind = 2;
pub(crate) const DEVICE_TO_DEVICE: Kind = 3;
pub(crate) const DEFAULT: Kind = 4;

calls! {
    fn cudaMemcpy[ptds](target: *mut c_void, source: *const c_void, count: usize, kind: Kind) |here| {
        copy(&here, target, source, count, kind)
    }

    fn cudaMemcpyAsync[ptsz](target: *mut c_void, source: *const c_void, count: usize, kind: Kind, stream: CUstream) |here| {
        copy_async(&here, target, source, count, kind, stream)
    }

    fn cudaMemcpy2D[ptds](
        target: *mut c_void,
        targetPitch: usize,
        source: *const c_void,
        sourcePitch: usize,
        width: usize,
        height: usize,
        kind: Kind,
    ) |here| {
        let rows = rows((target, targetPitch), (source, sourcePitch), width, height, kind)?;
        // SAFETY: our struct with the caller's addresses. Accepts more pitches than the plain one.
        check(unsafe { (here.fns.cuMemcpy2DUnaligned_v2)(&rows) })
    }

    fn cudaMemcpy2DAsync[ptsz](
        target: *mut c_void,
        targetPitch: usize,
        source: *const c_void,
        sourcePitch: usize,
        width: usize,
        height: usize,
        kind: Kind,
        stream: CUstream,
    ) |here| {
        let rows = rows((target, targetPitch), (source, sourcePitch), width, height, kind)?;
        // SAFETY: a struct of ours with the caller's addresses.
        check(unsafe { (here.fns.cuMemcpy2DAsync_v2)(&rows, stream) })
    }

    fn cudaMemcpyPeer[](target: *mut c_void, targetDevice: i32, source: *const c_void, sourceDevice: i32, count: usize) |here| {
        let (to, from) = peers(&here, targetDevice, sourceDevice)?;
        let (target, source) = (target as CUdeviceptr, source as CUdeviceptr);
        // SAFETY: contexts that are never released, and the caller's addresses.
        check(unsafe { (here.fns.cuMemcpyPeer)(target, to, source, from, count) })
    }

    fn cudaMemcpyPeerAsync[](
        target: *mut c_void,
        targetDevice: i32,
        source: *const c_void,
        sourceDevice: i32,
        count: usize,
        stream: CUstream,
    ) |here| {
        let (to, from) = peers(&here, targetDevice, sourceDevice)?;
        let (target, source) = (target as CUdeviceptr, source as CUdeviceptr);
        // SAFETY: contexts that are never released, and the caller's addresses.
        check(unsafe { (here.fns.cuMemcpyPeerAsync)(target, to, source, from, count, stream) })
    }

    fn cudaGetSymbolAddress[](address: *mut *mut c_void, symbol: *const c_void) |here| {
        let (found, _) = registry::variable(here.fns, symbol)?;
        // SAFETY: the caller's output.
        unsafe { put(address, found as *mut c_void) }
    }

    fn cudaGetSymbolSize[](size: *mut usize, symbol: *const c_void) |here| {
        let (_, found) = registry::variable(here.fns, symbol)?;
        // SAFETY: the caller's output.
        unsafe { put(size, found) }
    }

    fn cudaMemcpyToSymbol[ptds](symbol: *const c_void, source: *const c_void, count: usize, offset: usize, kind: Kind) |here| {
        let target = part(&here, symbol, count, offset, kind, HOST_TO_DEVICE)?;
        copy(&here, target, source, count, kind)
    }

    fn cudaMemcpyFromSymbol[ptds](target: *mut c_void, symbol: *const c_void, count: usize, offset: usize, kind: Kind) |here| {
        let source = part(&here, symbol, count, offset, kind, DEVICE_TO_HOST)?;
        copy(&here, target, source, count, kind)
    }

    fn cudaMemcpyToSymbolAsync[ptsz](
        symbol: *const c_void,
        source: *const c_void,
        count: usize,
        offset: usize,
        kind: Kind,
        stream: CUstream,
    ) |here| {
        let target = part(&here, symbol, count, offset, kind, HOST_TO_DEVICE)?;
        copy_async(&here, target, source, count, kind, stream)
    }

    fn cudaMemcpyFromSymbolAsync[ptsz](
        target: *mut c_void,
        symbol: *const c_void,
        count: usize,
        offset: usize,
        kind: Kind,
        stream: CUstream,
    ) |here| {
        let source = part(&here, symbol, count, offset, kind, DEVICE_TO_HOST)?;
        copy_async(&here, target, source, count, kind, stream)
    }
}

/// Copies synchronously, by the driver function for the direction.
fn copy(here: &Here, target: *mut c_void, source: *const c_void, count: usize, kind: Kind) -> Result {
    let (to, from, fns) = (target as CUdeviceptr, source as CUdeviceptr, here.fns);
    check(match kind {
        // SAFETY: the caller's addresses, which the driver checks as far as it can.
        HOST_TO_DEVICE => unsafe { (fns.cuMemcpyHtoD_v2)(to, source, count) },
        // SAFETY: likewise.
        DEVICE_TO_HOST => unsafe { (fns.cuMemcpyDtoH_v2)(target, from, count) },
        // SAFETY: likewise.
        DEVICE_TO_DEVICE => unsafe { (fns.cuMemcpyDtoD_v2)(to, from, count) },
        // SAFETY: likewise.
        HOST_TO_HOST | DEFAULT => unsafe { (fns.cuMemcpy)(to, from, count) },
        _ => return Err(cudaError::cudaErrorInvalidMemcpyDirection),
    })
}

fn copy_async(
    here: &Here,
    target: *mut c_void,
    source: *const c_void,
    count: usize,
    kind: Kind,
    stream: CUstream,
) -> Result {
    let (to, from, fns) = (target as CUdeviceptr, source as CUdeviceptr, here.fns);
    check(match kind {
        // SAFETY: the caller's addresses, which the driver checks as far as it can.
        HOST_TO_DEVICE => unsafe { (fns.cuMemcpyHtoDAsync_v2)(to, source, count, stream) },
        // SAFETY: likewise.
        DEVICE_TO_HOST => unsafe { (fns.cuMemcpyDtoHAsync_v2)(target, from, count, stream) },
        // SAFETY: likewise.
        DEVICE_TO_DEVICE => unsafe { (fns.cuMemcpyDtoDAsync_v2)(to, from, count, stream) },
        // SAFETY: likewise.
        HOST_TO_HOST | DEFAULT => unsafe { (fns.cuMemcpyAsync)(to, from, count, stream) },
        _ => return Err(cudaError::cudaErrorInvalidMemcpyDirection),
    })
}

/// Returns the address of a part of a variable. `only` is the direction of a copy with host memory.
pub(crate) fn part(
    here: &Here,
    symbol: *const c_void,
    count: usize,
    offset: usize,
    kind: Kind,
    only: Kind,
) -> Result<*mut c_void> {
    if kind != only && kind != DEVICE_TO_DEVICE && kind != DEFAULT {
        return Err(cudaError::cudaErrorInvalidMemcpyDirection);
    }
    let (address, size) = registry::variable(here.fns, symbol)?;
    match offset.checked_add(count) {
        Some(end) if end <= size => Ok((address + offset as CUdeviceptr) as *mut c_void),
        _ => Err(cudaError::cudaErrorInvalidValue),
    }
}

/// Returns the primary contexts of both ends of a copy.
pub(crate) fn peers(
    here: &Here,
    target: i32,
    source: i32,
) -> Result<(cuprum_sys::CUcontext, cuprum_sys::CUcontext)> {
    device::check_device(here.fns, target)?;
    device::check_device(here.fns, source)?;
    Ok((device::primary(here.fns, target)?, device::primary(here.fns, source)?))
}

/// Returns the driver's struct for a copy of rows.
fn rows(
    (target, target_pitch): (*mut c_void, usize),
    (source, source_pitch): (*const c_void, usize),
    width: usize,
    height: usize,
    kind: Kind,
) -> Result<CUDA_MEMCPY2D> {
    let (from, to) = sides(kind)?;
    if width > target_pitch || width > source_pitch {
        return Err(cudaError::cudaErrorInvalidPitchValue);
    }
    Ok(CUDA_MEMCPY2D {
        srcMemoryType: from,
        srcHost: source,
        srcDevice: source as CUdeviceptr,
        srcPitch: source_pitch,
        dstMemoryType: to,
        dstHost: target,
        dstDevice: target as CUdeviceptr,
        dstPitch: target_pitch,
        WidthInBytes: width,
        Height: height,
        ..CUDA_MEMCPY2D::zeroed()
    })
}

/// Returns the memory types of both ends of a copy.
pub(crate) fn sides(kind: Kind) -> Result<(CUmemorytype, CUmemorytype)> {
    let host = CUmemorytype::CU_MEMORYTYPE_HOST;
    let device = CUmemorytype::CU_MEMORYTYPE_DEVICE;
    let unified = CUmemorytype::CU_MEMORYTYPE_UNIFIED;
    Ok(match kind {
        HOST_TO_HOST => (host, host),
        HOST_TO_DEVICE => (host, device),
        DEVICE_TO_HOST => (device, host),
        DEVICE_TO_DEVICE => (device, device),
        DEFAULT => (unified, unified),
        _ => return Err(cudaError::cudaErrorInvalidMemcpyDirection),
    })
}
