//! Mipmapped arrays: one image at several sizes.

use std::fmt;
use std::marker::PhantomData;

use cuprum_sys::{CUDA_ARRAY3D_DEFERRED_MAPPING, CUDA_ARRAY3D_DESCRIPTOR, CUmipmappedArray};

use super::{ArrayFlags, ArrayShape, MipmappedView, Storage, Stored, Texel, check};
use crate::context::{ContextRef, Current, context_call};
use crate::error::Error;
use crate::memory::MemoryError;
use crate::raw::held::Held;
use crate::raw::keep::Near;
use crate::raw::owner::close;
use crate::raw::shared::Shared;

/// An array of elements of `T`, with smaller levels that halve the sides each time, freed on drop.
///
/// A [`Texture`](crate::texture::Texture) of it reads the level that matches the distance between
/// the requested texels, or interpolates between two levels.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::memory::{ArrayFlags, ArrayShape, MipmappedArray};
///
/// let shape = ArrayShape::TwoD { width: 8, height: 4 };
/// let picture = MipmappedArray::<f32>::new(&cx, shape, ArrayFlags::empty(), 3)?;
/// let smallest = picture.view().level(&cx, 2)?;
/// assert_eq!(smallest.shape(), ArrayShape::TwoD { width: 2, height: 1 });
/// cx.copy(&mut smallest.all(), &[0.5, 1.5])?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct MipmappedArray<'ctx, T: Texel> {
    stored: Stored<'ctx>,
    _texels: PhantomData<T>,
}

impl<'ctx, T: Texel> MipmappedArray<'ctx, T> {
    /// Creates a mipmapped array. `shape` is the shape of the largest level. The number of levels
    /// is clamped to at least one, and at most the number of levels down to a single element.
    ///
    /// # Errors
    /// Same as [`Array::new`](super::Array::new).
    ///
    /// Driver: `cuMipmappedArrayCreate`, CUDA 5.0+.
    #[doc(alias = "cuMipmappedArrayCreate")]
    #[inline]
    pub fn new(
        cx: &Current<'_, 'ctx>,
        shape: ArrayShape,
        flags: ArrayFlags,
        levels: u32,
    ) -> Result<Self, MemoryError> {
        Self::create(cx, shape, flags, levels, 0)
    }

    /// Creates a mipmapped array without memory, as [`Array::without_memory`] does.
    ///
    /// # Errors
    /// Same as [`Array::without_memory`].
    ///
    /// # Safety
    /// Same as [`Array::without_memory`], for all levels.
    ///
    /// [`Array::without_memory`]: super::Array::without_memory
    ///
    /// Driver: `cuMipmappedArrayCreate`, CUDA 5.0+.
    #[doc(alias = "cuMipmappedArrayCreate")]
    #[inline]
    pub unsafe fn without_memory(
        cx: &Current<'_, 'ctx>,
        shape: ArrayShape,
        flags: ArrayFlags,
        levels: u32,
    ) -> Result<Self, MemoryError> {
        Self::create(cx, shape, flags, levels, CUDA_ARRAY3D_DEFERRED_MAPPING)
    }

    fn create(
        cx: &Current<'_, 'ctx>,
        shape: ArrayShape,
        flags: ArrayFlags,
        levels: u32,
        more: u32,
    ) -> Result<Self, MemoryError> {
        let context = cx.get()?;
        Self::made(shape, flags, levels, context, |mut described, levels| {
            let mut raw = CUmipmappedArray::null();
            described.Flags |= more;
            let (out, described) = (&raw mut raw, &raw const described);
            // SAFETY: the descriptor and `raw` outlive the call, and `cx` proves a current context.
            unsafe { context_call!(&context, cuMipmappedArrayCreate(out, described, levels)) }?;
            Ok(raw)
        })
    }

    /// Creates one with `make`, from a description and a number of levels.
    pub(crate) fn made(
        shape: ArrayShape,
        flags: ArrayFlags,
        levels: u32,
        context: Near<'ctx, ContextRef>,
        make: impl FnOnce(CUDA_ARRAY3D_DESCRIPTOR, u32) -> Result<CUmipmappedArray, Error>,
    ) -> Result<Self, MemoryError> {
        check(shape)?;
        let levels = levels.clamp(1, shape.most_levels().max(1));
        let raw = make(shape.described::<T>(flags), levels)?;
        let memory = Held::new(Storage::Mipmapped(raw), context);
        Ok(Self { stored: Stored::new(memory, shape, flags, levels), _texels: PhantomData })
    }

    /// Borrows the array, to query it, and to borrow its levels.
    #[inline]
    pub fn view(&self) -> MipmappedView<'_, T> {
        let Stored { shape, flags, .. } = self.stored;
        let raw = match self.stored.raw() {
            Storage::Mipmapped(raw) => raw,
            Storage::Array(_) => CUmipmappedArray::null(),
        };
        // SAFETY: the handle is live while this is borrowed, and has this shape and these flags.
        unsafe { MipmappedView::new(raw, shape, flags, self.stored.near()) }
    }

    /// Number of levels.
    pub const fn levels(&self) -> u32 {
        self.stored.levels
    }

    /// Makes the array shared: it is freed with the last of its handles, textures and surfaces.
    #[inline]
    pub fn share(self) -> Shared<Self> {
        Shared::new(self)
    }

    close!("Frees the array", "cuMipmappedArrayDestroy", "5.0", |this| this.stored.memory.close());

    pub(crate) const fn stored(&self) -> &Stored<'ctx> {
        &self.stored
    }
}

impl<T: Texel> fmt::Debug for MipmappedArray<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let view = self.view();
        write!(f, "MipmappedArray({:?}, {:?}, {} levels)", view.as_raw(), view.shape(), self.levels())
    }
}

impl<'a, T: Texel> From<&'a MipmappedArray<'_, T>> for MipmappedView<'a, T> {
    fn from(array: &'a MipmappedArray<'_, T>) -> Self {
        array.view()
    }
}
