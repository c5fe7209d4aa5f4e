//! Mipmapped arrays: one picture at several sizes.

use std::fmt;
use std::marker::PhantomData;

use cuprum_sys::{CUDA_ARRAY3D_DEFERRED_MAPPING, CUDA_ARRAY3D_DESCRIPTOR, CUmipmappedArray};

use super::{ArrayFlags, ArrayShape, ArrayView, MipmappedView, Storage, Stored, Texel, check};
use crate::context::{ContextRef, Current};
use crate::error::Error;
use crate::memory::MemoryError;
use crate::raw::call::context_call;
use crate::raw::held::Held;
use crate::raw::keep::Near;
use crate::raw::shared::Shared;

/// An array of elements of `T` and smaller ones, each with half the sides of the one before, freed on drop.
///
/// A [`Texture`](crate::texture::Texture) of it reads the level that fits the distance of the requested texels, or
/// interpolates between two.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::memory::{ArrayFlags, ArrayShape, MipmappedArray};
///
/// let shape = ArrayShape::TwoD { width: 8, height: 4 };
/// let picture = MipmappedArray::<f32>::new(&cx, shape, ArrayFlags::empty(), 3)?;
/// let smallest = picture.level(&cx, 2)?;
/// assert_eq!(smallest.shape(), ArrayShape::TwoD { width: 2, height: 1 });
/// cx.copy(&mut smallest.all(), &[0.5, 1.5])?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct MipmappedArray<'ctx, T: Texel> {
    stored: Stored<'ctx>,
    _texels: PhantomData<T>,
}

impl<'ctx, T: Texel> MipmappedArray<'ctx, T> {
    /// Creates a mipmapped array whose largest level has this shape. The number of levels is clamped: at least one, at
    /// most as many as there are down to a single element.
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

    /// Creates a mipmapped array that has no memory until it is given some, as [`Array::without_memory`] does.
    ///
    /// # Errors
    /// Same as [`Array::without_memory`].
    ///
    /// # Safety
    /// That of [`Array::without_memory`], for all levels.
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

    /// One that `make` makes of a description and a number of levels.
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

    /// One of the levels, counted from 0, the largest.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` if there is no such level; [`Error::is_wrong_context`].
    ///
    /// Driver: `cuMipmappedArrayGetLevel`, CUDA 5.0+.
    #[doc(alias = "cuMipmappedArrayGetLevel")]
    #[inline]
    pub fn level(&self, cx: &Current<'_, '_>, level: u32) -> Result<ArrayView<'_, T>, Error> {
        self.view().level(cx, level)
    }

    /// The array, borrowed.
    #[inline]
    pub fn view(&self) -> MipmappedView<'_, T> {
        let Stored { shape, flags, .. } = self.stored;
        // SAFETY: the handle is live as long as this is borrowed, and shape and flags are those with which it was made.
        unsafe { MipmappedView::new(self.as_raw(), shape, flags, self.stored.near()) }
    }

    /// The driver's handle.
    pub const fn as_raw(&self) -> CUmipmappedArray {
        match self.stored.raw() {
            Storage::Mipmapped(raw) => raw,
            Storage::Array(_) => CUmipmappedArray::null(),
        }
    }

    /// The context in which it was made.
    #[inline]
    pub fn context(&self) -> &ContextRef {
        self.stored.memory.context()
    }

    /// Dimensions of the largest level, in elements.
    pub const fn shape(&self) -> ArrayShape {
        self.stored.shape
    }

    /// Number of levels.
    pub const fn levels(&self) -> u32 {
        self.stored.levels
    }

    /// Flags with which it was made.
    pub const fn flags(&self) -> ArrayFlags {
        self.stored.flags
    }

    /// Makes the array shared: it is freed when the last of its handles, textures and surfaces is dropped.
    ///
    /// ```
    /// # cuprum::example!(driver, context, cx);
    /// use cuprum::memory::{ArrayFlags, ArrayShape, MipmappedArray};
    /// use cuprum::texture::{Sampler, Texture};
    ///
    /// let shape = ArrayShape::TwoD { width: 8, height: 8 };
    /// let levels = MipmappedArray::<f32>::new(&cx, shape, ArrayFlags::empty(), 4)?.share();
    /// let texture = Texture::new(&cx, &levels, &Sampler { normalized_coordinates: true, ..Sampler::new() })?;
    /// drop(levels); // the texture has a share
    /// # drop(texture);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn share(self) -> Shared<Self> {
        Shared::new(self)
    }

    /// Frees the array and reports the error that `Drop` would swallow. It is gone after an error too: the driver may
    /// have freed it all the same, so that it must not be freed again.
    ///
    /// # Errors
    /// [Errors of any call](crate#errors).
    ///
    /// Driver: `cuMipmappedArrayDestroy`, CUDA 5.0+.
    #[doc(alias = "cuMipmappedArrayDestroy")]
    #[inline]
    pub fn close(self) -> Result<(), Error> {
        self.stored.memory.close()
    }

    pub(crate) const fn stored(&self) -> &Stored<'ctx> {
        &self.stored
    }
}

impl<T: Texel> fmt::Debug for MipmappedArray<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MipmappedArray({:?}, {:?}, {} levels)", self.as_raw(), self.shape(), self.levels())
    }
}
