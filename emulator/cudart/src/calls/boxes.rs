//! Copies and fills of boxes, and copies of rows to and from arrays.

use core::ffi::c_void;

use cuprum_sys::{CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUarray, CUdeviceptr, CUmemorytype, CUstream};

use crate::calls::array::element_bytes;
use crate::calls::copy::{
    DEFAULT, DEVICE_TO_DEVICE, DEVICE_TO_HOST, HOST_TO_DEVICE, HOST_TO_HOST, Kind, sides,
};
use crate::error::{Result, check, cudaError};
use crate::exported::calls;
use crate::state::device::Here;
use crate::structs::{cudaExtent, cudaMemcpy3DParms, cudaPitchedPtr, cudaPos};

calls! {
    fn cudaMemcpy3D[ptds](parameters: *const cudaMemcpy3DParms) |here| {
        // SAFETY: the caller's struct, or null.
        let copy = unsafe { to_driver(&here, parameters) }?;
        // SAFETY: a struct of ours with the caller's addresses.
        check(unsafe { (here.fns.cuMemcpy3D_v2)(&copy) })
    }

    fn cudaMemcpy3DAsync[ptsz](parameters: *const cudaMemcpy3DParms, stream: CUstream) |here| {
        // SAFETY: the caller's struct, or null.
        let copy = unsafe { to_driver(&here, parameters) }?;
        // SAFETY: a struct of ours with the caller's addresses.
        check(unsafe { (here.fns.cuMemcpy3DAsync_v2)(&copy, stream) })
    }

    fn cudaMemcpy2DToArray[ptds](
        array: CUarray,
        x: usize,
        y: usize,
        source: *const c_void,
        pitch: usize,
        width: usize,
        height: usize,
        kind: Kind,
    ) |here| {
        let copy = to_array((array, x, y), (source, pitch), width, height, kind)?;
        // SAFETY: a struct of ours with the caller's addresses.
        check(unsafe { (here.fns.cuMemcpy2DUnaligned_v2)(&copy) })
    }

    fn cudaMemcpy2DToArrayAsync[ptsz](
        array: CUarray,
        x: usize,
        y: usize,
        source: *const c_void,
        pitch: usize,
        width: usize,
        height: usize,
        kind: Kind,
        stream: CUstream,
    ) |here| {
        let copy = to_array((array, x, y), (source, pitch), width, height, kind)?;
        // SAFETY: a struct of ours with the caller's addresses.
        check(unsafe { (here.fns.cuMemcpy2DAsync_v2)(&copy, stream) })
    }

    fn cudaMemcpy2DFromArray[ptds](
        target: *mut c_void,
        pitch: usize,
        array: CUarray,
        x: usize,
        y: usize,
        width: usize,
        height: usize,
        kind: Kind,
    ) |here| {
        let copy = from_array((target, pitch), (array, x, y), width, height, kind)?;
        // SAFETY: a struct of ours with the caller's addresses.
        check(unsafe { (here.fns.cuMemcpy2DUnaligned_v2)(&copy) })
    }

    fn cudaMemcpy2DFromArrayAsync[ptsz](
        target: *mut c_void,
        pitch: usize,
        array: CUarray,
        x: usize,
        y: usize,
        width: usize,
        height: usize,
        kind: Kind,
        stream: CUstream,
    ) |here| {
        let copy = from_array((target, pitch), (array, x, y), width, height, kind)?;
        // SAFETY: a struct of ours with the caller's addresses.
        check(unsafe { (here.fns.cuMemcpy2DAsync_v2)(&copy, stream) })
    }

    fn cudaMemcpy2DArrayToArray[ptds](
        target: CUarray,
        targetX: usize,
        targetY: usize,
        source: CUarray,
        sourceX: usize,
        sourceY: usize,
        width: usize,
        height: usize,
        kind: Kind,
    ) |here| {
        sides(kind)?;
        let copy = CUDA_MEMCPY2D {
            srcMemoryType: CUmemorytype::CU_MEMORYTYPE_ARRAY,
            srcArray: source,
            srcXInBytes: sourceX,
            srcY: sourceY,
            dstMemoryType: CUmemorytype::CU_MEMORYTYPE_ARRAY,
            dstArray: target,
            dstXInBytes: targetX,
            dstY: targetY,
            WidthInBytes: width,
            Height: height,
            ..CUDA_MEMCPY2D::zeroed()
        };
        // SAFETY: a struct of ours with the caller's handles.
        check(unsafe { (here.fns.cuMemcpy2D_v2)(&copy) })
    }

    fn cudaMemset3D[ptds](memory: cudaPitchedPtr, value: i32, extent: cudaExtent) |here| {
        slices(memory, extent, |address, rows| {
            // SAFETY: the caller's memory; the driver checks the addresses.
            check(unsafe { (here.fns.cuMemsetD2D8_v2)(address, memory.pitch, value as u8, extent.width, rows) })
        })
    }

    fn cudaMemset3DAsync[ptsz](memory: cudaPitchedPtr, value: i32, extent: cudaExtent, stream: CUstream) |here| {
        slices(memory, extent, |address, rows| {
            let fill = here.fns.cuMemsetD2D8Async;
            // SAFETY: the caller's memory; the driver checks the addresses.
            check(unsafe { fill(address, memory.pitch, value as u8, extent.width, rows, stream) })
        })
    }
}

/// Calls a fill of rows for each slice of a box, or once if the slices are contiguous.
fn slices(
    memory: cudaPitchedPtr,
    extent: cudaExtent,
    mut fill: impl FnMut(CUdeviceptr, usize) -> Result,
) -> Result {
    let begin = memory.ptr as CUdeviceptr;
    let times = |a: usize, b: usize| a.checked_mul(b).ok_or(cudaError::cudaErrorInvalidValue);
    if extent.height == memory.ysize {
        return fill(begin, times(extent.height, extent.depth)?);
    }
    let slice = times(memory.pitch, memory.ysize)?;
    times(slice, extent.depth)?;
    (0..extent.depth)
        .try_for_each(|index| fill(begin.wrapping_add((index * slice) as CUdeviceptr), extent.height))
}

fn to_array(
    (array, x, y): (CUarray, usize, usize),
    (source, pitch): (*const c_void, usize),
    width: usize,
    height: usize,
    kind: Kind,
) -> Result<CUDA_MEMCPY2D> {
    let (from, _) = sides(kind)?;
    if matches!(kind, HOST_TO_HOST | DEVICE_TO_HOST) {
        return Err(cudaError::cudaErrorInvalidMemcpyDirection);
    }
    if width > pitch {
        return Err(cudaError::cudaErrorInvalidPitchValue);
    }
    Ok(CUDA_MEMCPY2D {
        srcMemoryType: from,
        srcHost: source,
        srcDevice: source as CUdeviceptr,
        srcPitch: pitch,
        dstMemoryType: CUmemorytype::CU_MEMORYTYPE_ARRAY,
        dstArray: array,
        dstXInBytes: x,
        dstY: y,
        WidthInBytes: width,
        Height: height,
        ..CUDA_MEMCPY2D::zeroed()
    })
}

fn from_array(
    (target, pitch): (*mut c_void, usize),
    (array, x, y): (CUarray, usize, usize),
    width: usize,
    height: usize,
    kind: Kind,
) -> Result<CUDA_MEMCPY2D> {
    let (_, to) = sides(kind)?;
    if matches!(kind, HOST_TO_HOST | HOST_TO_DEVICE) {
        return Err(cudaError::cudaErrorInvalidMemcpyDirection);
    }
    if width > pitch {
        return Err(cudaError::cudaErrorInvalidPitchValue);
    }
    Ok(CUDA_MEMCPY2D {
        srcMemoryType: CUmemorytype::CU_MEMORYTYPE_ARRAY,
        srcArray: array,
        srcXInBytes: x,
        srcY: y,
        dstMemoryType: to,
        dstHost: target,
        dstDevice: target as CUdeviceptr,
        dstPitch: pitch,
        WidthInBytes: width,
        Height: height,
        ..CUDA_MEMCPY2D::zeroed()
    })
}

/// Returns a copy between addresses as a box of one row.
pub(crate) fn row(
    target: *mut c_void,
    source: *const c_void,
    count: usize,
    kind: Kind,
) -> Result<CUDA_MEMCPY3D> {
    let (srcMemoryType, dstMemoryType) = sides(kind)?;
    Ok(CUDA_MEMCPY3D {
        srcMemoryType,
        srcHost: source,
        srcDevice: source as CUdeviceptr,
        dstMemoryType,
        dstHost: target,
        dstDevice: target as CUdeviceptr,
        WidthInBytes: count,
        Height: 1,
        Depth: 1,
        ..CUDA_MEMCPY3D::zeroed()
    })
}

/// Converts a copy of a box to the driver's: in bytes; the runtime counts in elements for arrays.
///
/// # Safety
/// The pointer is null, or points to parameters.
pub(crate) unsafe fn to_driver(here: &Here, parameters: *const cudaMemcpy3DParms) -> Result<CUDA_MEMCPY3D> {
    // SAFETY: guaranteed by the caller.
    let p = unsafe { parameters.as_ref() }.ok_or(cudaError::cudaErrorInvalidValue)?;
    let one = |array: CUarray, memory: &cudaPitchedPtr| array.is_null() != memory.ptr.is_null();
    if !one(p.srcArray, &p.srcPtr) || !one(p.dstArray, &p.dstPtr) {
        return Err(cudaError::cudaErrorInvalidValue);
    }
    let (mut from, mut to) = sides(p.kind)?;
    let mut element = 1;
    let (mut source_element, mut target_element) = (1, 1);
    if !p.srcArray.is_null() {
        (from, source_element) = (CUmemorytype::CU_MEMORYTYPE_ARRAY, element_bytes(here.fns, p.srcArray)?);
        element = source_element;
    }
    if !p.dstArray.is_null() {
        (to, target_element) = (CUmemorytype::CU_MEMORYTYPE_ARRAY, element_bytes(here.fns, p.dstArray)?);
        if !p.srcArray.is_null() && source_element != target_element {
            return Err(cudaError::cudaErrorInvalidValue);
        }
        element = target_element;
    }
    let bytes =
        |elements: usize, element| elements.checked_mul(element).ok_or(cudaError::cudaErrorInvalidValue);
    let cudaPos { x, y: srcY, z: srcZ } = p.srcPos;
    let srcXInBytes = bytes(x, source_element)?;
    let cudaPos { x, y: dstY, z: dstZ } = p.dstPos;
    Ok(CUDA_MEMCPY3D {
        srcXInBytes,
        srcY,
        srcZ,
        srcMemoryType: from,
        srcHost: p.srcPtr.ptr,
        srcDevice: p.srcPtr.ptr as CUdeviceptr,
        srcArray: p.srcArray,
        srcPitch: p.srcPtr.pitch,
        srcHeight: p.srcPtr.ysize,
        dstXInBytes: bytes(x, target_element)?,
        dstY,
        dstZ,
        dstMemoryType: to,
        dstHost: p.dstPtr.ptr,
        dstDevice: p.dstPtr.ptr as CUdeviceptr,
        dstArray: p.dstArray,
        dstPitch: p.dstPtr.pitch,
        dstHeight: p.dstPtr.ysize,
        WidthInBytes: bytes(p.extent.width, element)?,
        Height: p.extent.height,
        Depth: p.extent.depth,
        ..CUDA_MEMCPY3D::zeroed()
    })
}

/// Converts a copy of a box to the runtime's parameters.
pub(crate) fn to_runtime(here: &Here, copy: &CUDA_MEMCPY3D) -> Result<cudaMemcpy3DParms> {
    let is_array = |kind| kind == CUmemorytype::CU_MEMORYTYPE_ARRAY;
    let is_host = |kind| kind == CUmemorytype::CU_MEMORYTYPE_HOST;
    let element = |kind, array| if is_array(kind) { element_bytes(here.fns, array) } else { Ok(1) };
    let (from, to) = (copy.srcMemoryType, copy.dstMemoryType);
    let (source, target) = (element(from, copy.srcArray)?, element(to, copy.dstArray)?);
    let unified = CUmemorytype::CU_MEMORYTYPE_UNIFIED;
    let kind = match (is_host(from), is_host(to)) {
        _ if from == unified || to == unified => DEFAULT,
        (true, true) => HOST_TO_HOST,
        (true, false) => HOST_TO_DEVICE,
        (false, true) => DEVICE_TO_HOST,
        (false, false) => DEVICE_TO_DEVICE,
    };
    let memory = |kind, host: *mut c_void, device: CUdeviceptr, pitch, height| cudaPitchedPtr {
        ptr: if is_array(kind) {
            core::ptr::null_mut()
        } else if is_host(kind) {
            host
        } else {
            device as *mut c_void
        },
        pitch,
        xsize: pitch,
        ysize: height,
    };
    let array = |kind, array| if is_array(kind) { array } else { CUarray::null() };
    Ok(cudaMemcpy3DParms {
        srcArray: array(from, copy.srcArray),
        srcPos: cudaPos { x: copy.srcXInBytes / source, y: copy.srcY, z: copy.srcZ },
        srcPtr: memory(from, copy.srcHost.cast_mut(), copy.srcDevice, copy.srcPitch, copy.srcHeight),
        dstArray: array(to, copy.dstArray),
        dstPos: cudaPos { x: copy.dstXInBytes / target, y: copy.dstY, z: copy.dstZ },
        dstPtr: memory(to, copy.dstHost, copy.dstDevice, copy.dstPitch, copy.dstHeight),
        extent: cudaExtent {
            width: copy.WidthInBytes / source.max(target),
            height: copy.Height,
            depth: copy.Depth,
        },
        kind,
    })
}
