//! Borrowed arrays and parts of them.

use std::marker::PhantomData;
use std::ops::RangeBounds;

use cuprum_sys::{CUDA_ARRAY3D_DESCRIPTOR, CUarray, FnId};

use super::{ArrayDescriptor, ArrayFlags, ArrayShape, Texel};
use crate::context::{ContextRef, Current, context_call};
use crate::error::Error;
use crate::memory::place::place;
use crate::memory::side::{self, InArray, Side};
use crate::memory::{Extent, MemoryError};
use crate::raw::debug::debug;
use crate::raw::keep::Near;
use crate::raw::owner::{as_raw, context};

/// A borrowed array, or a level of a mipmapped one. `Copy`.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::memory::{Array, ArrayFlags, ArrayShape};
///
/// let shape = ArrayShape::TwoD { width: 4, height: 2 };
/// let array = Array::<u32>::from_slice(&cx, shape, ArrayFlags::empty(), &[1, 2, 3, 4, 5, 6, 7, 8])?;
/// let view = array.view();
/// assert_eq!(view.descriptor(&cx)?.channels, 1);
///
/// let right = view.part(2.., .., ..).ok_or("outside")?;
/// assert_eq!(right.to_vec(&cx)?, [3, 4, 7, 8]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct ArrayView<'a, T: Texel> {
    raw: CUarray,
    shape: ArrayShape,
    flags: ArrayFlags,
    context: Near<'a, ContextRef>,
    _texels: PhantomData<&'a [T]>,
}

/// Borrowed elements of an array, to copy from and to. `Copy`.
///
/// No borrow is exclusive, because kernels can write the array through surfaces: see the [module of
/// memory](crate::memory#arrays).
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::memory::{Array, ArrayFlags, ArrayShape};
///
/// let line = Array::from_slice(&cx, ArrayShape::OneD { width: 4 }, ArrayFlags::empty(), &[1u32, 2, 3, 4])?;
/// let mut end = line.view().part(2.., .., ..).ok_or("outside")?;
/// cx.copy(&mut end, &[7, 8])?;
/// assert_eq!(line.to_vec(&cx)?, [1, 2, 7, 8]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct ArrayPart<'a, T: Texel> {
    array: ArrayView<'a, T>,
    at: [usize; 3],
    extent: Extent,
}

// SAFETY: the driver allows any thread to use an array; the rest is plain data.
unsafe impl<T: Texel> Send for ArrayView<'_, T> {}
// SAFETY: as above; nothing in it changes.
unsafe impl<T: Texel> Sync for ArrayView<'_, T> {}

impl<'a, T: Texel> ArrayView<'a, T> {
    /// # Safety
    /// The handle is live for `'a` in this context, of an array of `T` with this shape and these
    /// flags.
    pub(super) const unsafe fn new(
        raw: CUarray,
        shape: ArrayShape,
        flags: ArrayFlags,
        context: Near<'a, ContextRef>,
    ) -> Self {
        Self { raw, shape, flags, context, _texels: PhantomData }
    }

    pub(super) const fn none(context: Near<'a, ContextRef>) -> Self {
        let shape = ArrayShape::OneD { width: 0 };
        Self { raw: CUarray::null(), shape, flags: ArrayFlags::empty(), context, _texels: PhantomData }
    }

    /// Borrows an array of other code, in the current context, without freeing it.
    ///
    /// # Errors
    /// [`MemoryError::Texel`] if its elements are not `T`; other errors of the driver.
    ///
    /// # Safety
    /// 1. `raw` is a live array of the context of `cx`, and lives as long as the result is used.
    /// 2. It has memory: it is neither sparse nor bound to memory later.
    ///
    /// Driver: `cuArray3DGetDescriptor_v2`, CUDA 3.2+.
    #[doc(alias = "cuArray3DGetDescriptor_v2")]
    #[inline]
    pub unsafe fn from_raw(cx: &'a Current<'_, '_>, raw: CUarray) -> Result<Self, MemoryError> {
        // SAFETY: duties 1 and 2, and `cx` proves that the context is current.
        unsafe { Self::told(cx.get()?, raw, ArrayFlags::empty()) }
    }

    /// Reads the shape and format from the driver. `uses` are added to the flags.
    ///
    /// # Safety
    /// The handle is live for `'a` in this context, which is current; the array has memory.
    pub(crate) unsafe fn told(
        context: Near<'a, ContextRef>,
        raw: CUarray,
        uses: ArrayFlags,
    ) -> Result<Self, MemoryError> {
        // SAFETY: guaranteed by the caller.
        let ArrayDescriptor { shape, format, channels, flags } = unsafe { describe(&context, raw) }?;
        if (format, channels) != (T::FORMAT, T::CHANNELS) {
            return Err(MemoryError::Texel { format, channels });
        }
        // SAFETY: guaranteed by the caller; the driver has just reported shape and format.
        Ok(unsafe { Self::new(raw, shape, (flags | uses) & ArrayFlags::all(), context) })
    }

    as_raw!(CUarray, |this| this.raw);
    context!(|this| &this.context);

    /// Dimensions, in elements.
    pub const fn shape(&self) -> ArrayShape {
        self.shape
    }

    /// Flags with which it was made.
    pub const fn flags(&self) -> ArrayFlags {
        self.flags
    }

    /// Returns the driver's description of the array.
    ///
    /// # Errors
    /// [`Error::WRONG_CONTEXT`]; other errors of the driver.
    ///
    /// Driver: `cuArray3DGetDescriptor_v2`, CUDA 3.2+.
    #[doc(alias = "cuArray3DGetDescriptor_v2")]
    #[inline]
    pub fn descriptor(&self, cx: &Current<'_, '_>) -> Result<ArrayDescriptor, Error> {
        let context = cx.of(&self.context, FnId::cuArray3DGetDescriptor_v2)?;
        // SAFETY: the array is borrowed, and its context current.
        unsafe { describe(context, self.raw) }
    }

    /// Borrows all elements.
    pub const fn all(self) -> ArrayPart<'a, T> {
        ArrayPart { array: self, at: [0; 3], extent: self.shape.extent() }
    }

    /// Borrows some elements, or returns `None` if out of bounds. `z` counts layers and faces.
    pub fn part(
        self,
        x: impl RangeBounds<usize>,
        y: impl RangeBounds<usize>,
        z: impl RangeBounds<usize>,
    ) -> Option<ArrayPart<'a, T>> {
        let (at, extent) = self.shape.extent().part(&x, &y, &z)?;
        Some(ArrayPart { array: self, at, extent })
    }

    pub(crate) fn near(&self) -> Near<'a, ContextRef> {
        self.context
    }

    /// The elements from `at` on. The caller has checked the range.
    fn side(&self, at: [usize; 3], extent: Extent) -> Side<'_> {
        Side::array::<T>(self.raw, at, extent, self.shape.is_solid(), &self.context)
    }

    pub(super) fn as_side(&self) -> Side<'_> {
        self.side([0; 3], self.shape.extent())
    }
}

/// # Safety
/// The array is live, and `context` is current.
pub(super) unsafe fn describe(context: &ContextRef, raw: CUarray) -> Result<ArrayDescriptor, Error> {
    let mut described = CUDA_ARRAY3D_DESCRIPTOR::zeroed();
    // SAFETY: guaranteed by the caller; the out-parameter outlives the call.
    unsafe { context_call!(context, cuArray3DGetDescriptor_v2(&raw mut described, raw)) }?;
    Ok(ArrayDescriptor::read(&described))
}

impl<'a, T: Texel> ArrayPart<'a, T> {
    pub(crate) const fn extent(&self) -> Extent {
        self.extent
    }

    pub(crate) fn context(&self) -> &ContextRef {
        self.array.context()
    }

    pub(crate) const fn array(&self) -> ArrayView<'a, T> {
        self.array
    }

    /// Copies these elements to a new vector: row by row, slice by slice. Blocks until done.
    ///
    /// # Errors
    /// Same as [`Current::copy`]; [`MemoryError::TooLarge`] if the host does not have enough
    /// memory.
    ///
    /// Driver: `cuMemcpy2D_v2`, or `cuMemcpy3D_v2` for slices, layers and faces, CUDA 3.2+.
    #[doc(alias = "cuMemcpy2D_v2")]
    #[inline]
    pub fn to_vec(self, cx: &Current<'_, '_>) -> Result<Vec<T>, MemoryError> {
        // SAFETY: the array is borrowed and has these elements of `T`.
        unsafe { side::to_vec(cx, &self.as_side()) }
    }

    pub(crate) fn as_side(&self) -> Side<'_> {
        self.array.side(self.at, self.extent)
    }
}

debug!([T: Texel] ArrayView<'_, T>: |this| "{:?}, {:?}", this.raw, this.shape);

debug!([T: Texel] ArrayPart<'_, T>: |this| "{:?}, {} from {:?}", this.array.raw, this.extent, this.at);

place!([T: Texel] ArrayPart<'_, T>: InArray, of T, read |this| this.as_side(), write |this| this.as_side());
place!([T: Texel] ArrayView<'_, T>: InArray, of T, read |this| this.as_side(), write |this| this.as_side());
