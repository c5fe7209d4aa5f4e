//! Arrays: memory with a format of its elements, whose layout the device chooses.

use cuprum_sys::{
    CUDA_ARRAY_MEMORY_REQUIREMENTS, CUDA_ARRAY_SPARSE_PROPERTIES, CUDA_ARRAY3D_DESCRIPTOR, CUarray,
    CUarray_format, CUmipmappedArray, Fns,
};

use crate::error::{Result, check, cudaError};
use crate::exported::{calls, put};
use crate::structs::{cudaChannelFormatDesc, cudaExtent};

/// Kinds of channels, `cudaChannelFormatKind`.
const SIGNED: u32 = 0;
const UNSIGNED: u32 = 1;
const FLOAT: u32 = 2;

calls! {
    fn cudaMallocArray[](
        array: *mut CUarray,
        format: *const cudaChannelFormatDesc,
        width: usize,
        height: usize,
        flags: u32,
    ) |here| {
        let extent = cudaExtent { width, height, depth: 0 };
        // SAFETY: the caller's struct, or null.
        let description = unsafe { description(format, extent, flags) }?;
        // SAFETY: the caller's output, and a struct of ours.
        check(unsafe { (here.fns.cuArray3DCreate_v2)(array, &description) })
    }

    fn cudaMalloc3DArray[](array: *mut CUarray, format: *const cudaChannelFormatDesc, extent: cudaExtent, flags: u32) |here| {
        // SAFETY: the caller's struct, or null.
        let description = unsafe { description(format, extent, flags) }?;
        // SAFETY: the caller's output, and a struct of ours.
        check(unsafe { (here.fns.cuArray3DCreate_v2)(array, &description) })
    }

    fn cudaMallocMipmappedArray[](
        array: *mut CUmipmappedArray,
        format: *const cudaChannelFormatDesc,
        extent: cudaExtent,
        levels: u32,
        flags: u32,
    ) |here| {
        // SAFETY: the caller's struct, or null.
        let description = unsafe { description(format, extent, flags) }?;
        // SAFETY: the caller's output, and a struct of ours.
        check(unsafe { (here.fns.cuMipmappedArrayCreate)(array, &description, levels) })
    }

    fn cudaFreeArray[](array: CUarray) |here| {
        if array.is_null() {
            return Ok(());
        }
        // SAFETY: the driver checks the handle.
        check(unsafe { (here.fns.cuArrayDestroy)(array) })
    }

    fn cudaFreeMipmappedArray[](array: CUmipmappedArray) |here| {
        if array.is_null() {
            return Ok(());
        }
        // SAFETY: the driver checks the handle.
        check(unsafe { (here.fns.cuMipmappedArrayDestroy)(array) })
    }

    fn cudaGetMipmappedArrayLevel[](level: *mut CUarray, array: CUmipmappedArray, number: u32)
        => cuMipmappedArrayGetLevel(level, array, number);

    fn cudaArrayGetPlane[](plane: *mut CUarray, array: CUarray, number: u32) => cuArrayGetPlane(plane, array, number);

    fn cudaArrayGetInfo[](
        format: *mut cudaChannelFormatDesc,
        extent: *mut cudaExtent,
        flags: *mut u32,
        array: CUarray,
    ) |here| {
        let found = description_of(here.fns, array)?;
        if !format.is_null() {
            // SAFETY: the caller's output.
            unsafe { format.write(channels_of(found.Format, found.NumChannels)?) };
        }
        if !extent.is_null() {
            // SAFETY: the caller's output.
            unsafe { extent.write(cudaExtent { width: found.Width, height: found.Height, depth: found.Depth }) };
        }
        if !flags.is_null() {
            // SAFETY: the caller's output.
            unsafe { flags.write(found.Flags) };
        }
        Ok(())
    }

    fn cudaGetChannelDesc[](format: *mut cudaChannelFormatDesc, array: CUarray) |here| {
        let found = description_of(here.fns, array)?;
        // SAFETY: the caller's output.
        unsafe { put(format, channels_of(found.Format, found.NumChannels)?) }
    }

    fn cudaArrayGetMemoryRequirements[](needs: *mut CUDA_ARRAY_MEMORY_REQUIREMENTS, array: CUarray, device: i32)
        => cuArrayGetMemoryRequirements(needs, array, device);

    fn cudaMipmappedArrayGetMemoryRequirements[](
        needs: *mut CUDA_ARRAY_MEMORY_REQUIREMENTS,
        array: CUmipmappedArray,
        device: i32,
    ) => cuMipmappedArrayGetMemoryRequirements(needs, array, device);

    fn cudaArrayGetSparseProperties[](properties: *mut CUDA_ARRAY_SPARSE_PROPERTIES, array: CUarray)
        => cuArrayGetSparseProperties(properties, array);

    fn cudaMipmappedArrayGetSparseProperties[](properties: *mut CUDA_ARRAY_SPARSE_PROPERTIES, array: CUmipmappedArray)
        => cuMipmappedArrayGetSparseProperties(properties, array);

    fn cudaDeviceGetTexture1DLinearMaxWidth[](width: *mut usize, format: *const cudaChannelFormatDesc, device: i32) |here| {
        // SAFETY: the caller's struct, or null.
        let channels = unsafe { format.as_ref() }.ok_or(cudaError::cudaErrorInvalidValue)?;
        let (format, number) = format_of(channels)?;
        // SAFETY: the caller's output.
        check(unsafe { (here.fns.cuDeviceGetTexture1DLinearMaxWidth)(width, format, number, device) })
    }
}

/// Returns the driver's format and number of channels.
pub(crate) fn format_of(channels: &cudaChannelFormatDesc) -> Result<(CUarray_format, u32)> {
    let bits = [channels.x, channels.y, channels.z, channels.w];
    let number = bits.iter().take_while(|bits| **bits != 0).count();
    let alike = bits.iter().take(number).all(|bits| *bits == channels.x);
    if !alike || !matches!(number, 1 | 2 | 4) || bits.iter().skip(number).any(|bits| *bits != 0) {
        return Err(cudaError::cudaErrorInvalidChannelDescriptor);
    }
    let format = match (channels.f, channels.x) {
        (UNSIGNED, 8) => CUarray_format::CU_AD_FORMAT_UNSIGNED_INT8,
        (UNSIGNED, 16) => CUarray_format::CU_AD_FORMAT_UNSIGNED_INT16,
        (UNSIGNED, 32) => CUarray_format::CU_AD_FORMAT_UNSIGNED_INT32,
        (SIGNED, 8) => CUarray_format::CU_AD_FORMAT_SIGNED_INT8,
        (SIGNED, 16) => CUarray_format::CU_AD_FORMAT_SIGNED_INT16,
        (SIGNED, 32) => CUarray_format::CU_AD_FORMAT_SIGNED_INT32,
        (FLOAT, 16) => CUarray_format::CU_AD_FORMAT_HALF,
        (FLOAT, 32) => CUarray_format::CU_AD_FORMAT_FLOAT,
        _ => return Err(cudaError::cudaErrorInvalidChannelDescriptor),
    };
    Ok((format, number as u32))
}

/// Returns the runtime's description of an element.
pub(crate) fn channels_of(format: CUarray_format, number: u32) -> Result<cudaChannelFormatDesc> {
    let (f, bits) = match format {
        CUarray_format::CU_AD_FORMAT_UNSIGNED_INT8 => (UNSIGNED, 8),
        CUarray_format::CU_AD_FORMAT_UNSIGNED_INT16 => (UNSIGNED, 16),
        CUarray_format::CU_AD_FORMAT_UNSIGNED_INT32 => (UNSIGNED, 32),
        CUarray_format::CU_AD_FORMAT_SIGNED_INT8 => (SIGNED, 8),
        CUarray_format::CU_AD_FORMAT_SIGNED_INT16 => (SIGNED, 16),
        CUarray_format::CU_AD_FORMAT_SIGNED_INT32 => (SIGNED, 32),
        CUarray_format::CU_AD_FORMAT_HALF => (FLOAT, 16),
        CUarray_format::CU_AD_FORMAT_FLOAT => (FLOAT, 32),
        _ => return Err(cudaError::cudaErrorNotSupported),
    };
    let of = |channel| if number > channel { bits } else { 0 };
    Ok(cudaChannelFormatDesc { x: of(0), y: of(1), z: of(2), w: of(3), f })
}

/// Returns the driver's description of an array.
///
/// # Safety
/// The format is null or a live struct.
pub(crate) unsafe fn description(
    format: *const cudaChannelFormatDesc,
    extent: cudaExtent,
    flags: u32,
) -> Result<CUDA_ARRAY3D_DESCRIPTOR> {
    // SAFETY: guaranteed by the caller.
    let channels = unsafe { format.as_ref() }.ok_or(cudaError::cudaErrorInvalidValue)?;
    let (Format, NumChannels) = format_of(channels)?;
    let cudaExtent { width: Width, height: Height, depth: Depth } = extent;
    Ok(CUDA_ARRAY3D_DESCRIPTOR { Width, Height, Depth, Format, NumChannels, Flags: flags })
}

fn description_of(fns: &Fns, array: CUarray) -> Result<CUDA_ARRAY3D_DESCRIPTOR> {
    let mut description = CUDA_ARRAY3D_DESCRIPTOR::zeroed();
    // SAFETY: a valid output; the driver checks the handle.
    check(unsafe { (fns.cuArray3DGetDescriptor_v2)(&mut description, array) })?;
    Ok(description)
}

pub(crate) fn element_bytes(fns: &Fns, array: CUarray) -> Result<usize> {
    bytes_of_element(&description_of(fns, array)?)
}

/// Returns the number of bytes of a row, and the number of rows.
pub(crate) fn rows(fns: &Fns, array: CUarray) -> Result<(usize, usize)> {
    let description = description_of(fns, array)?;
    Ok((description.Width * bytes_of_element(&description)?, description.Height.max(1)))
}

fn bytes_of_element(description: &CUDA_ARRAY3D_DESCRIPTOR) -> Result<usize> {
    let channels = channels_of(description.Format, description.NumChannels)?;
    Ok([channels.x, channels.y, channels.z, channels.w].iter().map(|bits| *bits as usize / 8).sum())
}
