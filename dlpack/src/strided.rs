//! Tensors with strides, copied to contiguous memory.

use std::ffi::c_void;

use cuprum::sys::{CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUdeviceptr, CUmemorytype, FnId, call};
use cuprum::{Buffer, Current};

use crate::abi::{CPU, CUDA, CUDA_HOST};
use crate::element::Element;
use crate::import::{ImportMismatch, check_context, check_place};
use crate::tensor::Tensor;

/// Slices of rows of bytes, as for copies of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Block {
    width: usize,
    height: usize,
    depth: usize,
    pitch: usize,
    rows: usize,
}

impl Block {
    /// Elements of a shape, with a size in bytes and strides in elements. Returns `None` if one
    /// copy of a block cannot read them. There is at least one element.
    fn new(shape: &[i64], strides: &[i64], element_bytes: usize) -> Option<Self> {
        // Lengths and strides from the inner dimensions to the outer ones, joined where possible.
        let mut dimensions: Vec<(usize, usize)> = Vec::with_capacity(shape.len() + 1);
        dimensions.push((element_bytes, 1));
        for (&length, &stride) in shape.iter().zip(strides).rev().filter(|(length, _)| **length != 1) {
            let length = usize::try_from(length).ok()?;
            let stride = usize::try_from(stride).ok()?.checked_mul(element_bytes)?;
            match dimensions.last_mut() {
                Some((inner, distance)) if inner.checked_mul(*distance)? == stride => {
                    *inner = inner.checked_mul(length)?
                }
                _ => dimensions.push((length, stride)),
            }
        }
        let [width, height, depth] = match dimensions[..] {
            [width] => [width, (1, width.0), (1, width.0)],
            [width, height] => [width, height, (1, height.1)],
            [width, height, depth] => [width, height, depth],
            _ => return None,
        };
        // Rows that do not overlap, and slices that begin at a multiple of the pitch.
        if height.1 < width.0 || depth.1 % height.1 != 0 {
            return None;
        }
        let rows = if depth.0 == 1 { height.0 } else { depth.1 / height.1 };
        let (pitch, width, height, depth) = (height.1, width.0, height.0, depth.0);
        (rows >= height).then_some(Self { width, height, depth, pitch, rows })
    }
}

impl Tensor {
    /// Copies the elements to contiguous memory on the device of `cx`, with the last dimension
    /// fastest. The tensor may be on the host, on that device, or managed. The host waits, also for
    /// other work of the context.
    ///
    /// One driver copy reads the elements if they are part of the rows and slices of a larger
    /// array: after adjacent dimensions are joined, there are, besides the stride of neighbors, up
    /// to two strides, all positive, and the larger is a multiple of the smaller. This includes
    /// every second column, and parts of arrays with up to three dimensions, but not transposed,
    /// reversed or repeated arrays. Contiguous elements need no copy: use
    /// [`into_buffer`](Tensor::into_buffer).
    ///
    /// Work of other code on the tensor must be complete, or ordered before work here.
    ///
    /// # Errors
    /// [`ImportMismatch::Strides`], with shape and strides, if one copy cannot read the elements;
    /// [`ImportMismatch`] if the tensor is not of `T`, in another location, of another context or
    /// not aligned; `CUDA_ERROR_OUT_OF_MEMORY`; `CUDA_ERROR_INVALID_VALUE` for strides beyond the
    /// device's limit.
    ///
    /// Driver: `cuMemAlloc_v2` and `cuMemcpy2DUnaligned_v2` or `cuMemcpy3D_v2`, CUDA 3.2+,
    /// `cuCtxSynchronize`, CUDA 2.0+, and for device memory `cuPointerGetAttributes`, CUDA 7.0+.
    #[doc(alias("cuMemAlloc_v2", "cuMemcpy2DUnaligned_v2", "cuMemcpy3D_v2"))]
    pub fn copy_to_buffer<'ctx, T: Element>(
        &self,
        cx: &Current<'_, 'ctx>,
    ) -> Result<Buffer<'ctx, T>, ImportMismatch> {
        let of_host = matches!(self.device().device_type, CPU | CUDA_HOST);
        if !of_host {
            self.check_on_device(cx.context())?;
        }
        let (found, wanted) = (self.data_type(), T::TYPE);
        if found != wanted {
            return Err(ImportMismatch::DataType { found, wanted });
        }
        check_place::<T>(self.address(), self.len())?;
        if self.device().device_type == CUDA && !self.is_empty() {
            check_context(cx.context(), self.address())?;
        }
        let buffer = Buffer::alloc(cx, self.len())?;
        if buffer.is_empty() {
            return Ok(buffer);
        }
        let context = cx.require(buffer.context(), FnId::cuMemcpy3D_v2)?;
        let (solid, fns) = (self.block::<T>(buffer.as_raw())?, context.device().driver().library().fns());
        let plane = plane_of(&solid);
        context.check(match solid.Depth {
            // SAFETY: the tensor's constructor requires that its memory covers the shape and
            // strides, which equal the checked block, and lives as long as the tensor; the buffer
            // has room for all elements, and its context is current.
            1 => unsafe { call!(fns, cuMemcpy2DUnaligned_v2(&raw const plane)) },
            // SAFETY: as above.
            _ => unsafe { call!(fns, cuMemcpy3D_v2(&raw const solid)) },
        })?;
        // The producer may reuse the memory as soon as the tensor is dropped.
        cx.synchronize()?;
        Ok(buffer)
    }

    /// The copy of the elements to contiguous memory.
    fn block<T: Element>(&self, target: CUdeviceptr) -> Result<CUDA_MEMCPY3D, ImportMismatch> {
        let shape = self.shape();
        let strides = self.strides().map_or_else(|| row_major(shape), <[i64]>::to_vec);
        let Some(block) = Block::new(shape, &strides, size_of::<T>()) else {
            return Err(ImportMismatch::Strides { shape: shape.to_vec(), strides });
        };
        let mut copy = CUDA_MEMCPY3D {
            srcPitch: block.pitch,
            srcHeight: block.rows,
            dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
            dstDevice: target,
            dstPitch: block.width,
            dstHeight: block.height,
            WidthInBytes: block.width,
            Height: block.height,
            Depth: block.depth,
            ..CUDA_MEMCPY3D::zeroed()
        };
        match self.device().device_type {
            CPU | CUDA_HOST => {
                copy.srcMemoryType = CUmemorytype::CU_MEMORYTYPE_HOST;
                copy.srcHost = self.pointer().cast_const().cast::<c_void>();
            }
            _ => {
                copy.srcMemoryType = CUmemorytype::CU_MEMORYTYPE_DEVICE;
                copy.srcDevice = self.address();
            }
        }
        Ok(copy)
    }
}

/// The first slice of a copy, for the function that takes any pitch.
fn plane_of(solid: &CUDA_MEMCPY3D) -> CUDA_MEMCPY2D {
    CUDA_MEMCPY2D {
        srcMemoryType: solid.srcMemoryType,
        srcHost: solid.srcHost,
        srcDevice: solid.srcDevice,
        srcPitch: solid.srcPitch,
        dstMemoryType: solid.dstMemoryType,
        dstDevice: solid.dstDevice,
        dstPitch: solid.dstPitch,
        WidthInBytes: solid.WidthInBytes,
        Height: solid.Height,
        ..CUDA_MEMCPY2D::zeroed()
    }
}

fn row_major(shape: &[i64]) -> Vec<i64> {
    let mut distance = 1i64;
    let mut strides = Vec::with_capacity(shape.len());
    for &length in shape.iter().rev() {
        strides.push(distance);
        distance = distance.saturating_mul(length);
    }
    strides.reverse();
    strides
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(shape: &[i64], strides: &[i64]) -> Option<[usize; 5]> {
        let block = Block::new(shape, strides, 4)?;
        Some([block.width, block.height, block.depth, block.pitch, block.rows])
    }

    #[test]
    fn rows_and_slices_of_a_larger_array_are_blocks() {
        assert_eq!(block(&[], &[]), Some([4, 1, 1, 4, 1]), "one element");
        assert_eq!(block(&[2, 3, 4], &row_major(&[2, 3, 4])), Some([96, 1, 1, 96, 1]));
        assert_eq!(block(&[2, 3], &[10, 1]), Some([12, 2, 1, 40, 2]), "some columns");
        assert_eq!(block(&[5], &[2]), Some([4, 5, 1, 8, 5]), "every second");
        assert_eq!(block(&[3, 5], &[20, 2]), Some([4, 5, 3, 8, 10]), "every second of some rows");
        assert_eq!(block(&[2, 3, 4], &[100, 10, 1]), Some([16, 3, 2, 40, 10]), "a part of a solid");
        assert_eq!(
            block(&[2, 3, 4, 5], &[1000, 100, 5, 1]),
            Some([80, 3, 2, 400, 10]),
            "inner ones are joined"
        );
        assert_eq!(block(&[7, 1, 3], &[10, -77, 1]), Some([12, 7, 1, 40, 7]), "one has no neighbor");
    }

    #[test]
    fn what_is_turned_reversed_repeated_or_overlaps_is_none() {
        for (shape, strides) in [
            (&[2, 3][..], &[1, 2][..]),
            (&[3], &[-1]),
            (&[2, 3], &[0, 1]),
            (&[2, 3], &[2, 1]),
            (&[2, 3, 4], &[95, 10, 1]),
            (&[2, 3, 4], &[20, 10, 1]),
            (&[2, 3, 4, 5], &[10_000, 1000, 100, 2]),
            (&[2, 2], &[i64::MAX, 1]),
            (&[2, 2, 2], &[8, 0, 1]),
        ] {
            assert_eq!(block(shape, strides), None, "{shape:?} {strides:?}");
        }
    }
}
