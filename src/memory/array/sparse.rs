//! Arrays that receive their memory later, by tiles or as a whole, and arrays with several planes.

use cuprum_sys::{
    CUDA_ARRAY_MEMORY_REQUIREMENTS, CUDA_ARRAY_SPARSE_PROPERTIES, CUarray, CUarrayMapInfo,
    CUarrayMapInfo_memHandle, CUarrayMapInfo_resource, CUarrayMapInfo_subresource,
    CUarrayMapInfo_subresource_miptail, CUarrayMapInfo_subresource_sparseLevel, CUarraySparseSubresourceType,
    CUmemHandleType, CUmemOperationType, CUresourcetype, FnId,
};

use super::view::describe;
use super::{ArrayDescriptor, ArrayFlags, ArrayView, MipmappedArray, Storage, Texel};
use crate::context::{ContextRef, Current, context_call};
use crate::error::Error;
use crate::memory::{MemoryError, PhysicalMemory};
use crate::raw::keep::Near;

/// A part of an array for memory. Ignored for an array whose memory is mapped as a whole.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::memory::{Array, ArrayFlags, ArrayShape, TilePart};
///
/// let plane = Array::<f32>::new(&cx, ArrayShape::TwoD { width: 4, height: 4 }, ArrayFlags::empty())?;
/// let first = TilePart::Tiles { level: 0, layer: 0, offset: [0; 3], extent: [4, 4, 1] };
/// let unmap = plane.view().tiles(first, None); // for `Stream::map_tiles`
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names of the fields say it")]
pub enum TilePart {
    /// Whole tiles of one level and layer. Offset and extent are in elements.
    Tiles { level: u32, layer: u32, offset: [u32; 3], extent: [u32; 3] },
    /// Whole tiles of the packed tail, in bytes.
    Tail { layer: u32, offset: u64, bytes: u64 },
}

/// Maps memory to a part of an array, or unmaps it, by
/// [`Stream::map_tiles`](crate::Stream::map_tiles).
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::Stream;
/// use cuprum::memory::{Array, ArrayFlags, ArrayShape, MemoryLocation, PhysicalFlags, PhysicalMemory, TilePart};
///
/// let (shape, stream) = (ArrayShape::TwoD { width: 4096, height: 4096 }, Stream::new(&cx)?);
/// match Array::<f32>::new(&cx, shape, ArrayFlags::SPARSE) {
///     Ok(array) => {
///         let view = array.view();
///         let (tile, needed) = (view.sparse_properties(&cx)?.tileExtent, view.memory_requirements(&cx)?);
///         let at = MemoryLocation::Device(driver.device(0)?);
///         let memory = PhysicalMemory::new(driver, at, needed.size, PhysicalFlags::TILE_POOL)?;
///         let extent = [tile.width, tile.height, tile.depth];
///         let first = TilePart::Tiles { level: 0, layer: 0, offset: [0; 3], extent };
///         // SAFETY: the array is not in use yet, and the memory outlives its use.
///         unsafe { stream.map_tiles(&cx, &[view.tiles(first, Some((&memory, 0)))]) }?;
///         stream.synchronize(&cx)?;
///     }
///     Err(error) => println!("no sparse arrays here: {error}"),
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct TileMap<'a> {
    array: Storage,
    context: Near<'a, ContextRef>,
    part: TilePart,
    memory: Option<(&'a PhysicalMemory, u64)>,
}

impl TileMap<'_> {
    pub(crate) fn context(&self) -> &ContextRef {
        &self.context
    }

    pub(crate) fn memory(&self) -> Option<&PhysicalMemory> {
        self.memory.map(|(memory, _)| memory)
    }

    /// The driver's form, for the device of the array's context.
    pub(crate) fn as_raw(&self) -> CUarrayMapInfo {
        let (kind, resource) = match self.array {
            Storage::Array(array) => {
                (CUresourcetype::CU_RESOURCE_TYPE_ARRAY, CUarrayMapInfo_resource { array })
            }
            Storage::Mipmapped(mipmap) => {
                (CUresourcetype::CU_RESOURCE_TYPE_MIPMAPPED_ARRAY, CUarrayMapInfo_resource { mipmap })
            }
        };
        let (part, subresource) = match self.part {
            TilePart::Tiles { level, layer, offset: [x, y, z], extent: [width, height, depth] } => {
                let tiles = CUarrayMapInfo_subresource_sparseLevel {
                    level,
                    layer,
                    offsetX: x,
                    offsetY: y,
                    offsetZ: z,
                    extentWidth: width,
                    extentHeight: height,
                    extentDepth: depth,
                };
                (
                    CUarraySparseSubresourceType::CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_SPARSE_LEVEL,
                    CUarrayMapInfo_subresource { sparseLevel: tiles },
                )
            }
            TilePart::Tail { layer, offset, bytes } => {
                let miptail = CUarrayMapInfo_subresource_miptail { layer, offset, size: bytes };
                (
                    CUarraySparseSubresourceType::CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_MIPTAIL,
                    CUarrayMapInfo_subresource { miptail },
                )
            }
        };
        let (operation, handle, offset) = match self.memory {
            Some((memory, offset)) => {
                (CUmemOperationType::CU_MEM_OPERATION_TYPE_MAP, memory.as_raw(), offset)
            }
            None => (CUmemOperationType::CU_MEM_OPERATION_TYPE_UNMAP, 0, 0),
        };
        let device = u32::try_from(self.context.device().as_raw()).unwrap_or(0);
        CUarrayMapInfo {
            resourceType: kind,
            resource,
            subresourceType: part,
            subresource,
            memOperationType: operation,
            memHandleType: CUmemHandleType::CU_MEM_HANDLE_TYPE_GENERIC,
            memHandle: CUarrayMapInfo_memHandle { memHandle: handle },
            offset,
            deviceBitMask: 1u32.checked_shl(device).unwrap_or(0),
            flags: 0,
            reserved: [0; 2],
        }
    }
}

impl<'a, T: Texel> ArrayView<'a, T> {
    /// Returns the tile layout of the array: elements per tile, the first level that is smaller
    /// than a tile, which shares a packed tail with all smaller levels, and the bytes of the tail
    /// of each layer, or of all layers with the flag `CU_ARRAY_SPARSE_PROPERTIES_SINGLE_MIPTAIL`.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for an array that is not [sparse](ArrayFlags::SPARSE);
    /// [`Error::WRONG_CONTEXT`].
    ///
    /// Driver: `cuArrayGetSparseProperties`, CUDA 11.1+.
    #[doc(alias = "cuArrayGetSparseProperties")]
    #[inline]
    pub fn sparse_properties(&self, cx: &Current<'_, '_>) -> Result<CUDA_ARRAY_SPARSE_PROPERTIES, Error> {
        let context = cx.of(self.context(), FnId::cuArrayGetSparseProperties)?;
        let mut told = CUDA_ARRAY_SPARSE_PROPERTIES::zeroed();
        // SAFETY: the array is live, and the out-parameter outlives the call.
        unsafe { context_call!(context, cuArrayGetSparseProperties(&raw mut told, self.as_raw())) }?;
        Ok(told)
    }

    /// Returns the number of bytes that an array [without memory](super::Array::without_memory)
    /// needs, and the alignment of their offset in physical memory.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for an array that has memory or receives it by tiles;
    /// [`Error::WRONG_CONTEXT`].
    ///
    /// Driver: `cuArrayGetMemoryRequirements`, CUDA 11.6+.
    #[doc(alias = "cuArrayGetMemoryRequirements")]
    #[inline]
    pub fn memory_requirements(&self, cx: &Current<'_, '_>) -> Result<CUDA_ARRAY_MEMORY_REQUIREMENTS, Error> {
        let context = cx.of(self.context(), FnId::cuArrayGetMemoryRequirements)?;
        let (mut told, device) = (CUDA_ARRAY_MEMORY_REQUIREMENTS::zeroed(), context.device().as_raw());
        let (to, raw) = (&raw mut told, self.as_raw());
        // SAFETY: the array is live, and the out-parameter outlives the call.
        unsafe { context_call!(context, cuArrayGetMemoryRequirements(to, raw, device)) }?;
        Ok(told)
    }

    /// Returns a plane of an array with several planes, such as the luminance of a video frame,
    /// counted from 0. The array owns it.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for an array with one plane, or if the plane does not exist;
    /// [`MemoryError::Texel`] if its elements are not `U`; [`Error::WRONG_CONTEXT`].
    ///
    /// Driver: `cuArrayGetPlane`, CUDA 11.2+, and `cuArray3DGetDescriptor_v2`, CUDA 3.2+.
    #[doc(alias("cuArrayGetPlane", "cuArray3DGetDescriptor_v2"))]
    pub fn plane<U: Texel>(&self, cx: &Current<'_, '_>, plane: u32) -> Result<ArrayView<'a, U>, MemoryError> {
        let context = cx.of(self.context(), FnId::cuArrayGetPlane)?;
        let (mut raw, whole) = (CUarray::null(), self.as_raw());
        // SAFETY: the array is live, and the out-parameter outlives the call.
        unsafe { context_call!(context, cuArrayGetPlane(&raw mut raw, whole, plane)) }?;
        // SAFETY: the plane lives as long as the array.
        let ArrayDescriptor { shape, format, channels, flags } = unsafe { describe(context, raw) }?;
        if (format, channels) != (U::FORMAT, U::CHANNELS) {
            return Err(MemoryError::Texel { format, channels });
        }
        // SAFETY: the plane lives as long as the array; the driver has reported shape and format.
        Ok(unsafe { ArrayView::new(raw, shape, flags & ArrayFlags::all(), self.near()) })
    }

    /// Describes a mapping of memory, from a byte offset on, to a part of the array, or the removal
    /// of memory. No driver call.
    #[inline]
    pub fn tiles(&self, part: TilePart, memory: Option<(&'a PhysicalMemory, u64)>) -> TileMap<'a> {
        TileMap { array: Storage::Array(self.as_raw()), context: self.near(), part, memory }
    }
}

impl<T: Texel> MipmappedArray<'_, T> {
    /// Returns the tile layout of the array, and which levels are in its tail.
    ///
    /// # Errors
    /// Same as [`ArrayView::sparse_properties`].
    ///
    /// Driver: `cuMipmappedArrayGetSparseProperties`, CUDA 11.1+.
    #[doc(alias = "cuMipmappedArrayGetSparseProperties")]
    #[inline]
    pub fn sparse_properties(&self, cx: &Current<'_, '_>) -> Result<CUDA_ARRAY_SPARSE_PROPERTIES, Error> {
        let context = cx.of(self.view().context(), FnId::cuMipmappedArrayGetSparseProperties)?;
        let mut told = CUDA_ARRAY_SPARSE_PROPERTIES::zeroed();
        let to = &raw mut told;
        // SAFETY: the array is live, and the out-parameter outlives the call.
        unsafe { context_call!(context, cuMipmappedArrayGetSparseProperties(to, self.view().as_raw())) }?;
        Ok(told)
    }

    /// Returns the memory that all levels of the array need.
    ///
    /// # Errors
    /// Same as [`ArrayView::memory_requirements`].
    ///
    /// Driver: `cuMipmappedArrayGetMemoryRequirements`, CUDA 11.6+.
    #[doc(alias = "cuMipmappedArrayGetMemoryRequirements")]
    #[inline]
    pub fn memory_requirements(&self, cx: &Current<'_, '_>) -> Result<CUDA_ARRAY_MEMORY_REQUIREMENTS, Error> {
        let context = cx.of(self.view().context(), FnId::cuMipmappedArrayGetMemoryRequirements)?;
        let (mut told, device) = (CUDA_ARRAY_MEMORY_REQUIREMENTS::zeroed(), context.device().as_raw());
        let (to, raw) = (&raw mut told, self.view().as_raw());
        // SAFETY: the array is live, and the out-parameter outlives the call.
        unsafe { context_call!(context, cuMipmappedArrayGetMemoryRequirements(to, raw, device)) }?;
        Ok(told)
    }

    /// Describes a mapping of memory to a part of the array, see [`ArrayView::tiles`].
    #[inline]
    pub fn tiles<'a>(&'a self, part: TilePart, memory: Option<(&'a PhysicalMemory, u64)>) -> TileMap<'a> {
        let stored = self.stored();
        TileMap { array: stored.raw(), context: stored.near(), part, memory }
    }
}
