//! Borrowed mipmapped arrays.

use std::marker::PhantomData;

use cuprum_sys::{CUarray, CUmipmappedArray, FnId};

use super::{ArrayFlags, ArrayShape, ArrayView, Texel};
use crate::context::{ContextRef, Current, context_call};
use crate::error::Error;
use crate::memory::MemoryError;
use crate::raw::debug::debug;
use crate::raw::keep::Near;
use crate::raw::owner::{as_raw, context};

/// A borrowed [`MipmappedArray`](super::MipmappedArray), or an image of [OpenGL](crate::graphics).
/// `Copy`.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::memory::{ArrayFlags, ArrayShape, MipmappedArray};
/// use cuprum::texture::{Sampler, Texture};
///
/// let shape = ArrayShape::TwoD { width: 8, height: 4 };
/// let picture = MipmappedArray::<f32>::new(&cx, shape, ArrayFlags::empty(), 3)?;
/// let view = picture.view();
/// assert_eq!(view.level(&cx, 1)?.shape(), ArrayShape::TwoD { width: 4, height: 2 });
/// let texture = Texture::new(&cx, view, &Sampler { normalized_coordinates: true, ..Sampler::default() })?;
/// # drop(texture);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct MipmappedView<'a, T: Texel> {
    raw: CUmipmappedArray,
    shape: ArrayShape,
    flags: ArrayFlags,
    context: Near<'a, ContextRef>,
    _texels: PhantomData<&'a [T]>,
}

// SAFETY: the driver allows any thread to use an array; the rest is plain data.
unsafe impl<T: Texel> Send for MipmappedView<'_, T> {}
// SAFETY: as above; nothing in it changes.
unsafe impl<T: Texel> Sync for MipmappedView<'_, T> {}

impl<'a, T: Texel> MipmappedView<'a, T> {
    /// # Safety
    /// The handle is live for `'a` in this context, of an array of `T` with this shape and these
    /// flags.
    pub(super) const unsafe fn new(
        raw: CUmipmappedArray,
        shape: ArrayShape,
        flags: ArrayFlags,
        context: Near<'a, ContextRef>,
    ) -> Self {
        Self { raw, shape, flags, context, _texels: PhantomData }
    }

    /// Reads the shape and format from the array's largest level. `uses` are added to its flags.
    ///
    /// # Safety
    /// The handle is live for `'a` in this context, which is current; the array has memory.
    pub(crate) unsafe fn told(
        context: Near<'a, ContextRef>,
        raw: CUmipmappedArray,
        uses: ArrayFlags,
    ) -> Result<Self, MemoryError> {
        // SAFETY: guaranteed by the caller.
        let level = unsafe { level_of(&context, raw, 0) }?;
        // SAFETY: a level lives as long as its array.
        let largest = unsafe { ArrayView::<T>::told(context, level, uses) }?;
        // SAFETY: guaranteed by the caller; the driver has just reported shape and format.
        Ok(unsafe { Self::new(raw, largest.shape(), largest.flags(), context) })
    }

    /// Returns a level, counted from 0, the largest.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` if the level does not exist; [`Error::WRONG_CONTEXT`].
    ///
    /// Driver: `cuMipmappedArrayGetLevel`, CUDA 5.0+.
    #[doc(alias = "cuMipmappedArrayGetLevel")]
    #[inline]
    pub fn level(self, cx: &Current<'_, '_>, level: u32) -> Result<ArrayView<'a, T>, Error> {
        let context = cx.of(&self.context, FnId::cuMipmappedArrayGetLevel)?;
        // SAFETY: the array is live, and its context current.
        let raw = unsafe { level_of(context, self.raw, level) }?;
        // SAFETY: the level lives as long as its array, and has the shape of a level.
        Ok(unsafe { ArrayView::new(raw, self.shape.level(level), self.flags, self.context) })
    }

    as_raw!(CUmipmappedArray, |this| this.raw);
    context!(|this| &this.context);

    /// Dimensions of the largest level, in elements.
    pub const fn shape(&self) -> ArrayShape {
        self.shape
    }

    /// Flags with which it was made.
    pub const fn flags(&self) -> ArrayFlags {
        self.flags
    }

    pub(crate) const fn near(&self) -> Near<'a, ContextRef> {
        self.context
    }
}

/// # Safety
/// The mipmapped array is live, and `context` is current.
unsafe fn level_of(context: &ContextRef, array: CUmipmappedArray, level: u32) -> Result<CUarray, Error> {
    let mut raw = CUarray::null();
    // SAFETY: guaranteed by the caller; `raw` outlives the call.
    unsafe { context_call!(context, cuMipmappedArrayGetLevel(&raw mut raw, array, level)) }?;
    Ok(raw)
}

debug!([T: Texel] MipmappedView<'_, T>: |this| "{:?}, {:?}", this.raw, this.shape);
