//! Arrays of one level.

use std::marker::PhantomData;

use cuprum_sys::{CUDA_ARRAY3D_DEFERRED_MAPPING, CUarray};

#[cfg(doc)]
use super::ArrayPart;
use super::shape::{ArrayFlags, ArrayShape};
use super::stored::{Storage, Stored, check};
use super::texel::Texel;
use super::view::ArrayView;
use crate::context::{Current, context_call};
use crate::memory::MemoryError;
use crate::memory::place::place;
use crate::memory::side::{InArray, Side};
use crate::raw::debug::debug;
use crate::raw::held::Held;
use crate::raw::owner::close;
use crate::raw::shared::Shared;

/// An array of elements of `T` in one context, freed on drop.
///
/// A [`Texture`](crate::texture::Texture) or [`Surface`](crate::texture::Surface) borrows it.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::memory::{Array, ArrayFlags, ArrayShape};
///
/// let shape = ArrayShape::TwoD { width: 3, height: 2 };
/// let picture = Array::<[u8; 4]>::from_slice(&cx, shape, ArrayFlags::empty(), &[[10, 20, 30, 255]; 6])?;
/// assert_eq!(picture.to_vec(&cx)?.len(), 6);
///
/// // One element of the second row.
/// let mut one = picture.view().part(1..2, 1..2, ..).ok_or("outside")?;
/// cx.copy(&mut one, &[[0; 4]])?;
/// assert_eq!(picture.to_vec(&cx)?[4], [0; 4]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Keeping it in a struct
///
/// A struct cannot hold an array and a texture that borrows it: [share](Array::share) the array.
pub struct Array<'ctx, T: Texel> {
    stored: Stored<'ctx>,
    _texels: PhantomData<T>,
}

impl<'ctx, T: Texel> Array<'ctx, T> {
    /// Creates an array without initializing its elements.
    ///
    /// # Errors
    /// [`MemoryError::EmptyArray`] if a dimension is zero; `CUDA_ERROR_INVALID_VALUE` if one
    /// exceeds the limit of the device, see the attributes `CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE*`;
    /// `CUDA_ERROR_OUT_OF_MEMORY`.
    ///
    /// Driver: `cuArray3DCreate_v2`, CUDA 3.2+.
    #[doc(alias = "cuArray3DCreate_v2")]
    #[inline]
    pub fn new(cx: &Current<'_, 'ctx>, shape: ArrayShape, flags: ArrayFlags) -> Result<Self, MemoryError> {
        Self::create(cx, shape, flags, 0)
    }

    /// Creates an array without memory. [`Stream::map_tiles`](crate::Stream::map_tiles) later maps
    /// as much memory to it as [`memory_requirements`](ArrayView::memory_requirements) returns.
    ///
    /// # Errors
    /// Same as [`new`](Array::new); `CUDA_ERROR_NOT_SUPPORTED` unless the device has the attribute
    /// `CU_DEVICE_ATTRIBUTE_DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED`.
    ///
    /// # Safety
    /// 1. The array is not used before memory is mapped to it and the mapping was waited for: until
    ///    then, copies fault (measured on an H100).
    ///
    /// Driver: `cuArray3DCreate_v2`, CUDA 3.2+.
    #[doc(alias = "cuArray3DCreate_v2")]
    #[inline]
    pub unsafe fn without_memory(
        cx: &Current<'_, 'ctx>,
        shape: ArrayShape,
        flags: ArrayFlags,
    ) -> Result<Self, MemoryError> {
        Self::create(cx, shape, flags, CUDA_ARRAY3D_DEFERRED_MAPPING)
    }

    fn create(
        cx: &Current<'_, 'ctx>,
        shape: ArrayShape,
        flags: ArrayFlags,
        more: u32,
    ) -> Result<Self, MemoryError> {
        check(shape)?;
        let context = cx.get()?;
        let (mut raw, mut described) = (CUarray::null(), shape.described::<T>(flags));
        described.Flags |= more;
        // SAFETY: the descriptor and `raw` outlive the call, and `cx` proves a current context.
        unsafe { context_call!(&context, cuArray3DCreate_v2(&raw mut raw, &raw const described)) }?;
        let memory = Held::new(Storage::Array(raw), context);
        Ok(Self { stored: Stored::new(memory, shape, flags, 1), _texels: PhantomData })
    }

    /// Creates an array and copies `host` to it: row by row, slice by slice.
    ///
    /// # Errors
    /// Same as [`new`](Array::new) and [`Current::copy`].
    ///
    /// Driver: `cuArray3DCreate_v2` and `cuMemcpy2D_v2`, or `cuMemcpy3D_v2` for slices, layers and
    /// faces, CUDA 3.2+.
    #[doc(alias = "cuArray3DCreate_v2")]
    #[inline]
    pub fn from_slice(
        cx: &Current<'_, 'ctx>,
        shape: ArrayShape,
        flags: ArrayFlags,
        host: &[T],
    ) -> Result<Self, MemoryError> {
        let mut array = Self::new(cx, shape, flags)?;
        cx.copy(&mut array, host)?;
        Ok(array)
    }

    /// Borrows the array, to query it, to copy parts of it and to make textures and surfaces.
    #[inline]
    pub fn view(&self) -> ArrayView<'_, T> {
        let Storage::Array(raw) = self.stored.raw() else { return ArrayView::none(self.stored.near()) };
        // SAFETY: the handle is live while this is borrowed, and has this shape and these flags.
        unsafe { ArrayView::new(raw, self.stored.shape, self.stored.flags, self.stored.near()) }
    }

    pub(super) fn side(&self) -> Side<'_> {
        let (raw, shape, context) = (self.view().as_raw(), self.stored.shape, self.stored.memory.context());
        Side::array::<T>(raw, [0; 3], shape.extent(), shape.is_solid(), context)
    }

    /// Copies the array to a new vector: row by row, slice by slice. Blocks until done.
    ///
    /// # Errors
    /// Same as [`ArrayPart::to_vec`].
    ///
    /// Driver: `cuMemcpy2D_v2`, or `cuMemcpy3D_v2` for slices, layers and faces, CUDA 3.2+.
    #[doc(alias = "cuMemcpy2D_v2")]
    #[inline]
    pub fn to_vec(&self, cx: &Current<'_, '_>) -> Result<Vec<T>, MemoryError> {
        self.view().all().to_vec(cx)
    }

    /// Makes the array shared: it is freed when the last of its handles, textures and surfaces is
    /// dropped.
    #[inline]
    pub fn share(self) -> Shared<Self> {
        Shared::new(self)
    }

    close!("Frees the array", "cuArrayDestroy", "2.0", |this| this.stored.memory.close());
}

debug!([T: Texel] Array<'_, T>: |this| "{:?}, {:?}", this.view().as_raw(), this.stored.shape);

place!([T: Texel] Array<'_, T>: InArray, of T, read |this| this.side(), write |this| this.side());

place!([T: Texel] Shared<Array<'_, T>>: InArray, of T, read |this| this.side(), write |this| this.side());

impl<'a, 'ctx, T: Texel> From<&'a Array<'ctx, T>> for ArrayView<'a, T> {
    fn from(array: &'a Array<'ctx, T>) -> Self {
        array.view()
    }
}
