//! Device memory: allocating, freeing, filling, queries.

use core::ffi::c_void;

use cuprum_sys::{CUdeviceptr, CUipcMemHandle, CUstream};

use crate::error::{check, cudaError};
use crate::exported::{calls, put};
use crate::structs::{cudaChannelFormatDesc, cudaExtent, cudaPitchedPtr};

/// Element size for the alignment by `cuMemAllocPitch`; the driver accepts 4, 8 and 16.
const ELEMENT: u32 = 4;

calls! {
    fn cudaMalloc[](address: *mut *mut c_void, size: usize) |here| {
        if size == 0 {
            // SAFETY: the caller's output.
            return unsafe { put(address, core::ptr::null_mut()) };
        }
        // SAFETY: the caller's output, which has room for an address.
        check(unsafe { (here.fns.cuMemAlloc_v2)(address.cast(), size) })
    }

    fn cudaFree[](address: *mut c_void) |here| {
        if address.is_null() {
            return Ok(());
        }
        // SAFETY: the driver checks the address.
        check(unsafe { (here.fns.cuMemFree_v2)(address as CUdeviceptr) })
    }

    fn cudaMallocPitch[](address: *mut *mut c_void, pitch: *mut usize, width: usize, height: usize) |here| {
        if width == 0 && height == 0 {
            // SAFETY: the caller's output.
            unsafe { put(pitch, 0) }?;
            // SAFETY: the caller's output.
            return unsafe { put(address, core::ptr::null_mut()) };
        }
        // SAFETY: the caller's outputs, of which the first has room for an address.
        check(unsafe { (here.fns.cuMemAllocPitch_v2)(address.cast(), pitch, width, height, ELEMENT) })
    }

    fn cudaMalloc3D[](pitched: *mut cudaPitchedPtr, extent: cudaExtent) |here| {
        let (mut address, mut pitch): (CUdeviceptr, usize) = (0, 0);
        let rows = extent.height.checked_mul(extent.depth).ok_or(cudaError::cudaErrorMemoryAllocation)?;
        if pitched.is_null() {
            return Err(cudaError::cudaErrorInvalidValue);
        }
        // SAFETY: valid outputs.
        check(unsafe { (here.fns.cuMemAllocPitch_v2)(&mut address, &mut pitch, extent.width, rows, ELEMENT) })?;
        let made = cudaPitchedPtr { ptr: address as *mut c_void, pitch, xsize: extent.width, ysize: extent.height };
        // SAFETY: the caller's output.
        unsafe { put(pitched, made) }
    }

    fn cudaMallocManaged[](address: *mut *mut c_void, size: usize, flags: u32)
        => cuMemAllocManaged(address.cast(), size, flags);

    fn cudaMemGetInfo[](free: *mut usize, total: *mut usize) => cuMemGetInfo_v2(free, total);

    fn cudaMemset[ptds](address: *mut c_void, value: i32, count: usize)
        => cuMemsetD8_v2(address as CUdeviceptr, value as u8, count);

    fn cudaMemsetAsync[ptsz](address: *mut c_void, value: i32, count: usize, stream: CUstream)
        => cuMemsetD8Async(address as CUdeviceptr, value as u8, count, stream);

    fn cudaMemset2D[ptds](address: *mut c_void, pitch: usize, value: i32, width: usize, height: usize)
        => cuMemsetD2D8_v2(address as CUdeviceptr, pitch, value as u8, width, height);

    fn cudaMemset2DAsync[ptsz](
        address: *mut c_void,
        pitch: usize,
        value: i32,
        width: usize,
        height: usize,
        stream: CUstream,
    ) => cuMemsetD2D8Async(address as CUdeviceptr, pitch, value as u8, width, height, stream);

    fn cudaIpcGetMemHandle[](handle: *mut CUipcMemHandle, address: *mut c_void)
        => cuIpcGetMemHandle(handle, address as CUdeviceptr);

    fn cudaIpcOpenMemHandle[](address: *mut *mut c_void, handle: CUipcMemHandle, flags: u32)
        => cuIpcOpenMemHandle_v2(address.cast(), handle, flags);

    fn cudaIpcCloseMemHandle[](address: *mut c_void) => cuIpcCloseMemHandle(address as CUdeviceptr);
}

/// Returns the description of a channel format, for arrays.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaCreateChannelDesc(
    x: i32,
    y: i32,
    z: i32,
    w: i32,
    f: u32,
) -> cudaChannelFormatDesc {
    cudaChannelFormatDesc { x, y, z, w, f }
}

/// The function above, which returns no `cudaError`.
#[cfg_attr(not(test), expect(dead_code, reason = "tests compare it with the headers"))]
pub(crate) const OTHERS: &[crate::exported::Exported] =
    &[crate::exported::line!(cudaCreateChannelDesc[](i32, i32, i32, i32, u32))];
