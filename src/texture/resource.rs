//! Resources of textures and surfaces, and the formats in which they are read.

use cuprum_sys::{
    CUDA_RESOURCE_DESC, CUDA_RESOURCE_DESC_res, CUDA_RESOURCE_DESC_res_array, CUDA_RESOURCE_DESC_res_linear,
    CUDA_RESOURCE_DESC_res_mipmap, CUDA_RESOURCE_DESC_res_pitch2D, CUDA_RESOURCE_VIEW_DESC, CUarray,
    CUmipmappedArray, CUresourceViewFormat, CUresourcetype,
};

use super::TextureError;
use crate::context::ContextRef;
use crate::memory::{
    Array, ArrayFlags, ArrayShape, ArrayView, Buffer, Extent, MipmappedArray, MipmappedView, Pitched,
    PitchedBuffer, Slice, Texel, bytes_of,
};
use crate::raw::debug::debug;
use crate::raw::keep::Near;
use crate::raw::shared::{Share, Shared};

/// Resource of a [`Texture`](super::Texture), which borrows it for `'a` or has a share of it.
///
/// An [`Array`], one that is [shared](Shared), a level of a [`MipmappedArray`] as an [`ArrayView`],
/// all its levels, linear memory (at a multiple of `CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT`), and
/// rows of it (`Pitched`, whose distance is a multiple of
/// `CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT`).
pub trait TextureSource<'a> {
    /// Returns the resource for the driver.
    fn found(self) -> Result<Found<'a>, TextureError>;
}

/// Resource of a [`Surface`](super::Surface): an array with [`ArrayFlags::SURFACE`], borrowed for
/// `'a` or shared.
pub trait SurfaceSource<'a>: TextureSource<'a> {}

/// The memory of a texture or surface. `pub` only because a sealed trait returns it.
pub struct Found<'a> {
    pub(super) described: CUDA_RESOURCE_DESC,
    pub(super) context: Near<'a, ContextRef>,
    /// A share of the memory; `None` if it is borrowed.
    pub(super) share: Option<Share<'a>>,
    /// Shape of an array.
    pub(super) shape: Option<ArrayShape>,
    pub(super) flags: ArrayFlags,
}

debug!(Found<'_>: |this| "{:?}", this.described.resType);

impl<'a> Found<'a> {
    fn new(kind: CUresourcetype, res: CUDA_RESOURCE_DESC_res, context: Near<'a, ContextRef>) -> Self {
        let described = CUDA_RESOURCE_DESC { resType: kind, res, ..CUDA_RESOURCE_DESC::zeroed() };
        Self { described, context, share: None, shape: None, flags: ArrayFlags::empty() }
    }

    fn array(raw: CUarray, shape: ArrayShape, flags: ArrayFlags, context: Near<'a, ContextRef>) -> Self {
        let res = CUDA_RESOURCE_DESC_res { array: CUDA_RESOURCE_DESC_res_array { hArray: raw } };
        let found = Self::new(CUresourcetype::CU_RESOURCE_TYPE_ARRAY, res, context);
        Self { shape: Some(shape), flags, ..found }
    }

    fn mipmapped(
        raw: CUmipmappedArray,
        shape: ArrayShape,
        flags: ArrayFlags,
        context: Near<'a, ContextRef>,
    ) -> Self {
        let res = CUDA_RESOURCE_DESC_res { mipmap: CUDA_RESOURCE_DESC_res_mipmap { hMipmappedArray: raw } };
        let found = Self::new(CUresourcetype::CU_RESOURCE_TYPE_MIPMAPPED_ARRAY, res, context);
        Self { shape: Some(shape), flags, ..found }
    }

    /// Returns the same memory with a share of it instead of a borrow.
    ///
    /// # Safety
    /// `share` keeps the memory.
    unsafe fn shared<'b>(self, share: Share<'b>) -> Found<'b> {
        // SAFETY: the share, which is kept together with this, keeps the memory, and the memory
        // keeps its context.
        let context = unsafe { self.context.outlived() };
        let Self { described, shape, flags, .. } = self;
        Found { described, context, share: Some(share), shape, flags }
    }
}

macro_rules! sources {
    ($($source:ty, $found:expr;)*) => { $(
        impl<'a, T: Texel> TextureSource<'a> for $source {
            fn found(self) -> Result<Found<'a>, TextureError> {
                let found: fn(Self) -> Result<Found<'a>, TextureError> = $found;
                found(self)
            }
        }
    )* };
}

sources! {
    &'a Array<'_, T>, |array| array.view().found();
    &Shared<Array<'a, T>>, |array| {
        let found = array.view().found()?;
        // SAFETY: a share of the array.
        Ok(unsafe { found.shared(array.erased()) })
    };
    ArrayView<'a, T>,
        |array| Ok(Found::array(array.as_raw(), array.shape(), array.flags(), array.near()));
    &'a MipmappedArray<'_, T>, |array| array.view().found();
    MipmappedView<'a, T>,
        |array| Ok(Found::mipmapped(array.as_raw(), array.shape(), array.flags(), array.near()));
    &Shared<MipmappedArray<'a, T>>, |array| {
        let found = array.view().found()?;
        // SAFETY: a share of the array.
        Ok(unsafe { found.shared(array.erased()) })
    };
    &'a Buffer<'_, T>, |buffer| buffer.as_slice().found();
    Slice<'a, T>, |slice| {
        let linear = CUDA_RESOURCE_DESC_res_linear {
            devPtr: slice.as_raw(),
            format: T::FORMAT,
            numChannels: T::CHANNELS,
            sizeInBytes: bytes_of::<T>(slice.len()).unwrap_or(0),
        };
        let res = CUDA_RESOURCE_DESC_res { linear };
        Ok(Found::new(CUresourcetype::CU_RESOURCE_TYPE_LINEAR, res, slice.near()))
    };
    &'a PitchedBuffer<'_, T>, |buffer| buffer.as_pitched().found();
    Pitched<'a, T>, |rows| {
        let extent @ Extent { width, height, depth } = rows.extent();
        if depth != 1 {
            return Err(TextureError::Slices { extent });
        }
        let memory = CUDA_RESOURCE_DESC_res_pitch2D {
            devPtr: rows.as_raw(),
            format: T::FORMAT,
            numChannels: T::CHANNELS,
            width,
            height,
            pitchInBytes: rows.pitch_bytes(),
        };
        let res = CUDA_RESOURCE_DESC_res { pitch2D: memory };
        Ok(Found::new(CUresourcetype::CU_RESOURCE_TYPE_PITCH2D, res, rows.near()))
    };
}

impl<'a, T: Texel> SurfaceSource<'a> for &'a Array<'_, T> {}
impl<'a, T: Texel> SurfaceSource<'a> for &Shared<Array<'a, T>> {}
impl<'a, T: Texel> SurfaceSource<'a> for ArrayView<'a, T> {}

/// A view of an array as other elements of the same size, or of some of its layers or levels.
///
/// ```
/// use cuprum::texture::ResourceView;
///
/// // Reads the colors of the second and third layers as single numbers.
/// let view = ResourceView { layers: (1, 2), ..ResourceView::of::<u32>() };
/// # let _ = view;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "written as a change of another, which goes on compiling with a new field"
)]
pub struct ResourceView {
    /// Format in which elements are read.
    pub format: CUresourceViewFormat,
    /// First and last level of a mipmapped array; `(0, 0)` for other arrays.
    pub levels: (u32, u32),
    /// First and last layer of a layered array; `(0, 0)` for other arrays.
    pub layers: (u32, u32),
}

impl ResourceView {
    /// Returns a view of the largest level and the first layer of an array, read as `T`, which has
    /// the size of its elements.
    pub const fn of<T: Texel>() -> Self {
        Self { format: T::VIEW, levels: (0, 0), layers: (0, 0) }
    }

    /// Describes the view for an array of this shape. The driver ignores it for other memory.
    pub(super) fn described(&self, shape: Option<ArrayShape>) -> CUDA_RESOURCE_VIEW_DESC {
        let extent = shape.map_or(Extent::from(0), ArrayShape::extent);
        let lines = matches!(shape, None | Some(ArrayShape::OneD { .. } | ArrayShape::OneDLayered { .. }));
        let flat = matches!(shape, None | Some(ArrayShape::OneD { .. } | ArrayShape::TwoD { .. }));
        CUDA_RESOURCE_VIEW_DESC {
            format: self.format,
            width: extent.width,
            height: if lines { 0 } else { extent.height },
            depth: if flat { 0 } else { extent.depth },
            firstMipmapLevel: self.levels.0,
            lastMipmapLevel: self.levels.1,
            firstLayer: self.layers.0,
            lastLayer: self.layers.1,
            reserved: [0; 16],
        }
    }
}
