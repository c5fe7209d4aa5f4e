//! CUDA arrays: memory with a shape and a format, which kernels read through textures.

use std::sync::Arc;

use cuprum_sys::*;

use crate::memory::{Region, RegionKind, Request};

use super::call::{
    Answer, Call, INVALID_HANDLE, INVALID_VALUE, In, OUT_OF_MEMORY, Out, calls, ensure, put_handle,
};
use super::context::Context;
use super::handle::Handle;
use super::state::emulator;

/// An array. Rows and slices follow each other without gaps.
#[derive(Debug)]
pub(super) struct Array {
    pub(super) context: Arc<Context>,
    pub(super) shape: CUDA_ARRAY3D_DESCRIPTOR,
    pub(super) region: Region,
}

/// Bytes of one channel of a format.
pub(super) fn channel_bytes(format: CUarray_format) -> Answer<u64> {
    match format {
        CUarray_format::CU_AD_FORMAT_UNSIGNED_INT8 | CUarray_format::CU_AD_FORMAT_SIGNED_INT8 => Ok(1),
        CUarray_format::CU_AD_FORMAT_UNSIGNED_INT16
        | CUarray_format::CU_AD_FORMAT_SIGNED_INT16
        | CUarray_format::CU_AD_FORMAT_HALF => Ok(2),
        CUarray_format::CU_AD_FORMAT_UNSIGNED_INT32
        | CUarray_format::CU_AD_FORMAT_SIGNED_INT32
        | CUarray_format::CU_AD_FORMAT_FLOAT => Ok(4),
        other if other.name().is_some() => Err(super::call::NOT_SUPPORTED),
        _ => Err(INVALID_VALUE),
    }
}

/// Bytes of one element.
pub(super) fn element_bytes(format: CUarray_format, channels: u32) -> Answer<u64> {
    ensure(matches!(channels, 1 | 2 | 4), INVALID_VALUE)?;
    Ok(channel_bytes(format)? * u64::from(channels))
}

impl Array {
    pub(super) fn find(handle: CUarray) -> Answer<Arc<Self>> {
        emulator().arrays.get(handle.addr()).ok_or(INVALID_HANDLE)
    }

    pub(super) fn base(&self) -> u64 {
        self.region.base
    }

    pub(super) fn row_bytes(&self) -> u64 {
        self.region.len / self.rows() / self.slices()
    }

    pub(super) fn rows(&self) -> u64 {
        (self.shape.Height as u64).max(1)
    }

    pub(super) fn slices(&self) -> u64 {
        (self.shape.Depth as u64).max(1)
    }

    fn create(call: &Call, shape: CUDA_ARRAY3D_DESCRIPTOR) -> Answer<usize> {
        let context = call.context()?;
        let element = element_bytes(shape.Format, shape.NumChannels)?;
        let (rows, slices) = (shape.Height.max(1) as u64, shape.Depth.max(1) as u64);
        let bytes = (shape.Width as u64)
            .checked_mul(element)
            .and_then(|row| row.checked_mul(rows)?.checked_mul(slices))
            .filter(|&bytes| bytes > 0)
            .ok_or(INVALID_VALUE)?;
        let request = Request {
            kind: RegionKind::Array,
            ..Request::device(bytes, context.handle as u64, context.device as u32)
        };
        let region = emulator().memory.alloc(&request).map_err(|_| OUT_OF_MEMORY)?;
        Ok(emulator().arrays.insert(Self { context, shape, region }))
    }
}

calls! {
    fn cuArrayCreate_v2(call, pHandle: Out<CUarray>, pAllocateArray: In<CUDA_ARRAY_DESCRIPTOR>) {
        pHandle.check()?;
        let flat = pAllocateArray.get()?;
        let shape = CUDA_ARRAY3D_DESCRIPTOR {
            Width: flat.Width,
            Height: flat.Height,
            Format: flat.Format,
            NumChannels: flat.NumChannels,
            ..CUDA_ARRAY3D_DESCRIPTOR::zeroed()
        };
        put_handle(pHandle, Array::create(call, shape)?)
    }

    fn cuArray3DCreate_v2(call, pHandle: Out<CUarray>, pAllocateArray: In<CUDA_ARRAY3D_DESCRIPTOR>) {
        pHandle.check()?;
        put_handle(pHandle, Array::create(call, pAllocateArray.get()?)?)
    }

    fn cuArrayGetDescriptor_v2(_call, pArrayDescriptor: Out<CUDA_ARRAY_DESCRIPTOR>, hArray: CUarray) {
        let shape = Array::find(hArray)?.shape;
        ensure(shape.Depth == 0, INVALID_HANDLE)?;
        pArrayDescriptor.set(CUDA_ARRAY_DESCRIPTOR {
            Width: shape.Width,
            Height: shape.Height,
            Format: shape.Format,
            NumChannels: shape.NumChannels,
        })
    }

    fn cuArray3DGetDescriptor_v2(
        _call,
        pArrayDescriptor: Out<CUDA_ARRAY3D_DESCRIPTOR>,
        hArray: CUarray,
    ) {
        pArrayDescriptor.set(Array::find(hArray)?.shape)
    }

    fn cuArrayDestroy(_call, hArray: CUarray) {
        let array = emulator().arrays.remove(hArray.addr()).ok_or(INVALID_HANDLE)?;
        emulator().scheduler.wait_context(array.context.handle);
        let _ = emulator().memory.free(array.base());
        array.context.check()
    }
}
