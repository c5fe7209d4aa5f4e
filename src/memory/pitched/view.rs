//! Borrowed rows of device memory.

use std::marker::PhantomData;
use std::ops::RangeBounds;

use cuprum_sys::CUdeviceptr;

use crate::context::{ContextRef, Current};
use crate::memory::copy::Rows;
use crate::memory::extent::Extent;
use crate::memory::place::place;
use crate::memory::side::{self, DeviceRows, Side};
use crate::memory::strides::Strides;
use crate::memory::{DeviceData, MemoryError, Slice, SliceMut};
use crate::raw::debug::debug;
use crate::raw::keep::Near;
use crate::raw::owner::context;

/// Borrows rows and slices of device memory to read. `Copy`.
///
/// They belong to a [`PitchedBuffer`](super::PitchedBuffer) or to linear memory:
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::{Buffer, memory::Pitched};
///
/// // A matrix of 4 by 3, row by row, and its second column.
/// let matrix = Buffer::from_slice(&cx, &[11, 12, 13, 14, 21, 22, 23, 24, 31, 32, 33, 34])?;
/// let column = Pitched::over(matrix.as_slice(), (4, 3))?.part(1..2, .., ..).ok_or("outside")?;
/// assert_eq!(column.to_vec(&cx)?, [12, 22, 32]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A kernel that takes [`In`](crate::In) gets the address of the first element.
#[derive(Clone, Copy)]
pub struct Pitched<'a, T: DeviceData> {
    address: CUdeviceptr,
    strides: Strides,
    aligned: bool,
    context: Near<'a, ContextRef>,
    _elements: PhantomData<&'a [T]>,
}

/// Borrows rows and slices of device memory exclusively, to write.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::memory::{HostBlock, PitchedBuffer};
///
/// let mut picture = PitchedBuffer::from_slice(&cx, &[0u8; 12], (4, 3))?;
/// let mut middle = picture.as_pitched_mut().part(1..3, 1..2, ..).ok_or("outside")?;
/// cx.copy(&mut middle, &HostBlock::new(&[7, 8], (2, 1))?)?;
/// assert_eq!(picture.to_vec(&cx)?, [0, 0, 0, 0, 0, 7, 8, 0, 0, 0, 0, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PitchedMut<'a, T: DeviceData> {
    address: CUdeviceptr,
    strides: Strides,
    aligned: bool,
    context: Near<'a, ContextRef>,
    _elements: PhantomData<&'a mut [T]>,
}

/// Common methods of both kinds of borrows.
macro_rules! common {
    ($pitched:ident of $slice:ident) => {
        impl<'a, T: DeviceData> $pitched<'a, T> {
            pub(crate) const fn new(
                address: CUdeviceptr,
                strides: Strides,
                aligned: bool,
                context: Near<'a, ContextRef>,
            ) -> Self {
                Self { address, strides, aligned, context, _elements: PhantomData }
            }

            /// Borrows the first elements of linear memory as rows and slices without gaps.
            ///
            /// # Errors
            /// [`MemoryError::Outside`] if there are fewer elements.
            pub fn over(memory: $slice<'a, T>, extent: impl Into<Extent>) -> Result<Self, MemoryError> {
                let extent = extent.into();
                Self::strided(memory, extent, extent.width, extent.height)
            }

            /// Borrows linear memory. Rows begin `pitch` elements apart, slices `rows` rows apart.
            ///
            /// # Errors
            /// [`MemoryError::Outside`] if the last element is out of bounds, or rows or slices
            /// overlap.
            pub fn strided(
                memory: $slice<'a, T>,
                extent: impl Into<Extent>,
                pitch: usize,
                rows: usize,
            ) -> Result<Self, MemoryError> {
                let strides = Strides::within::<T>(memory.len(), extent.into(), pitch, rows)?;
                Ok(Self::new(memory.as_raw(), strides, false, memory.near()))
            }

            /// Number of elements per dimension.
            pub const fn extent(&self) -> Extent {
                self.strides.extent
            }

            /// Bytes from one row to the next.
            pub const fn pitch_bytes(&self) -> usize {
                self.strides.pitch
            }

            /// Address of the first element in device memory.
            pub const fn as_raw(&self) -> CUdeviceptr {
                self.address
            }

            context!(|this| &this.context);

            pub(crate) const fn near(&self) -> Near<'a, ContextRef> {
                self.context
            }

            /// Returns a part of the block, or `None` if a range is out of bounds.
            pub fn part(
                self,
                x: impl RangeBounds<usize>,
                y: impl RangeBounds<usize>,
                z: impl RangeBounds<usize>,
            ) -> Option<Self> {
                let (offset, strides) = self.strides.part::<T>(&x, &y, &z)?;
                let address = self.address + offset as CUdeviceptr;
                Some(Self::new(address, strides, self.aligned, self.context))
            }

            /// Returns row `y` of slice `z` as linear memory, or `None` if it does not exist.
            #[inline]
            pub fn into_row(self, y: usize, z: usize) -> Option<$slice<'a, T>> {
                let row = self.part(.., y..y.checked_add(1)?, z..z.checked_add(1)?)?;
                Some($slice::new(row.address, row.strides.extent.width, row.context))
            }

            pub(crate) const fn strides(&self) -> Strides {
                self.strides
            }

            pub(crate) const fn is_aligned(&self) -> bool {
                self.aligned
            }

            pub(crate) fn as_side(&self) -> Side<'_> {
                Side::device::<T>(self.address, self.aligned, self.strides, &self.context)
            }
        }

        debug!([T: DeviceData] $pitched<'_, T>: |this| "{:#x}, {}", this.address, this.strides.extent);
    };
}

common!(Pitched of Slice);
common!(PitchedMut of SliceMut);

impl<'a, T: DeviceData> Pitched<'a, T> {
    /// Copies the rows to a new vector, without gaps. Blocks until the copy is complete.
    ///
    /// # Errors
    /// Same as [`Current::copy`]; [`MemoryError::TooLarge`] if the host does not have enough
    /// memory.
    ///
    /// Driver: `cuMemcpy2D_v2`, or `cuMemcpy3D_v2` for several slices, CUDA 3.2+.
    #[doc(alias = "cuMemcpy2D_v2")]
    #[inline]
    pub fn to_vec(self, cx: &Current<'_, '_>) -> Result<Vec<T>, MemoryError> {
        // SAFETY: the rows are borrowed and have room for their strides.
        unsafe { side::to_vec(cx, &self.as_side()) }
    }
}

impl<'a, T: DeviceData> PitchedMut<'a, T> {
    /// Borrows the rows to read.
    pub const fn as_pitched(&self) -> Pitched<'_, T> {
        Pitched::new(self.address, self.strides, self.aligned, self.context)
    }

    /// Reborrows the rows.
    pub const fn reborrow(&mut self) -> PitchedMut<'_, T> {
        PitchedMut::new(self.address, self.strides, self.aligned, self.context)
    }

    /// Splits each slice before row `y`. Returns `None` if there are fewer rows.
    #[inline]
    pub fn split_at_row(self, y: usize) -> Option<(PitchedMut<'a, T>, PitchedMut<'a, T>)> {
        let same = || Self::new(self.address, self.strides, self.aligned, self.context);
        Some((same().part(.., ..y, ..)?, same().part(.., y.., ..)?))
    }
}

/// The rows of a block, in runs of consecutive rows; none for an empty block.
pub(crate) fn filled_rows(
    address: CUdeviceptr,
    strides: &Strides,
    width: usize,
) -> impl Iterator<Item = Rows> {
    let Strides { extent: Extent { height, depth, .. }, pitch, rows } = *strides;
    let (times, height) = match strides.extent.is_empty() || width == 0 {
        true => (0, 0),
        false if rows == height || depth == 1 => (1, height * depth),
        false => (depth, height),
    };
    (0..times).map(move |slice| {
        let address = address + (slice * rows * pitch) as CUdeviceptr;
        Rows { address, pitch, width, height }
    })
}

place!([T: DeviceData] Pitched<'_, T>: DeviceRows, of T, read |this| this.as_side());
place! {
    [T: DeviceData] PitchedMut<'_, T>: DeviceRows, of T,
    read |this| this.as_side(), write |this| this.as_side()
}
