//! Host memory as rows and slices, for copies.

use std::marker::PhantomData;
use std::ops::RangeBounds;

use super::extent::Extent;
use super::place::place;
use super::side::{HostRows, Side};
use super::strides::Strides;
use super::{DeviceData, MemoryError};
use crate::raw::debug::debug;

/// Borrows elements of a host slice, as rows and slices, to copy from. `Copy`.
///
/// ```
/// use cuprum::memory::HostBlock;
///
/// // Three columns of the middle rows of an image of 8 by 4.
/// let picture = [0u8; 32];
/// let block = HostBlock::new(&picture, (8, 4))?.part(2..5, 1..3, ..).ok_or("outside")?;
/// assert_eq!((block.extent().width, block.extent().height), (3, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct HostBlock<'a, T: DeviceData> {
    start: *const T,
    strides: Strides,
    _elements: PhantomData<&'a [T]>,
}

/// Borrows elements of a host slice, as rows and slices, to copy to.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::Buffer;
/// use cuprum::memory::{HostBlockMut, Pitched};
///
/// // Two columns of the device, copied to the middle of an image of 4 by 2.
/// let columns = Buffer::from_slice(&cx, &[1u8, 2, 3, 4])?;
/// let mut picture = [0u8; 8];
/// let mut middle = HostBlockMut::new(&mut picture, (4, 2))?.part(1..3, .., ..).ok_or("outside")?;
/// cx.copy(&mut middle, &Pitched::over(columns.as_slice(), (2, 2))?)?;
/// assert_eq!(picture, [0, 1, 2, 0, 0, 3, 4, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct HostBlockMut<'a, T: DeviceData> {
    start: *mut T,
    strides: Strides,
    _elements: PhantomData<&'a mut [T]>,
}

// SAFETY: a shared borrow of plain data.
unsafe impl<T: DeviceData> Send for HostBlock<'_, T> {}
// SAFETY: as above.
unsafe impl<T: DeviceData> Sync for HostBlock<'_, T> {}
// SAFETY: an exclusive borrow of plain data.
unsafe impl<T: DeviceData> Send for HostBlockMut<'_, T> {}
// SAFETY: as above; a shared reference gives no access.
unsafe impl<T: DeviceData> Sync for HostBlockMut<'_, T> {}

/// Common methods of both kinds of blocks.
macro_rules! common {
    ($block:ident) => {
        impl<T: DeviceData> $block<'_, T> {
            /// Number of elements per dimension.
            pub const fn extent(&self) -> Extent {
                self.strides.extent
            }

            /// Returns a part of the block, or `None` if a range is out of bounds.
            pub fn part(
                self,
                x: impl RangeBounds<usize>,
                y: impl RangeBounds<usize>,
                z: impl RangeBounds<usize>,
            ) -> Option<Self> {
                let (offset, strides) = self.strides.part::<T>(&x, &y, &z)?;
                // Rows begin at whole elements. The part is in the slice, whose borrow continues.
                let start = self.start.wrapping_byte_add(offset);
                Some(Self { start, strides, _elements: PhantomData })
            }
        }

        debug!([T: DeviceData] $block<'_, T>: |this| "{:p}, {}", this.start, this.strides.extent);
    };
}

common!(HostBlock);
common!(HostBlockMut);

impl<'a, T: DeviceData> HostBlock<'a, T> {
    /// Borrows the first elements of `host`, as rows and slices without gaps.
    ///
    /// # Errors
    /// [`MemoryError::Outside`] if `host` does not have enough elements.
    pub fn new(host: &'a [T], extent: impl Into<Extent>) -> Result<Self, MemoryError> {
        let extent = extent.into();
        Self::strided(host, extent, extent.width, extent.height)
    }

    /// Borrows elements of `host`. Rows begin `pitch` elements apart, slices `rows` rows apart.
    ///
    /// # Errors
    /// [`MemoryError::Outside`] if the last element is out of bounds, or rows or slices overlap.
    pub fn strided(
        host: &'a [T],
        extent: impl Into<Extent>,
        pitch: usize,
        rows: usize,
    ) -> Result<Self, MemoryError> {
        let strides = Strides::within::<T>(host.len(), extent.into(), pitch, rows)?;
        Ok(Self { start: host.as_ptr(), strides, _elements: PhantomData })
    }

    pub(crate) fn side(&self) -> Side<'_> {
        Side::host(self.start, self.strides)
    }
}

impl<'a, T: DeviceData> HostBlockMut<'a, T> {
    /// Borrows the first elements of `host`, as rows and slices without gaps.
    ///
    /// # Errors
    /// [`MemoryError::Outside`] if `host` does not have enough elements.
    pub fn new(host: &'a mut [T], extent: impl Into<Extent>) -> Result<Self, MemoryError> {
        let extent = extent.into();
        Self::strided(host, extent, extent.width, extent.height)
    }

    /// Borrows elements of `host`. Rows begin `pitch` elements apart, slices `rows` rows apart.
    ///
    /// # Errors
    /// Same as [`HostBlock::strided`].
    pub fn strided(
        host: &'a mut [T],
        extent: impl Into<Extent>,
        pitch: usize,
        rows: usize,
    ) -> Result<Self, MemoryError> {
        let strides = Strides::within::<T>(host.len(), extent.into(), pitch, rows)?;
        Ok(Self { start: host.as_mut_ptr(), strides, _elements: PhantomData })
    }

    pub(crate) fn side(&self) -> Side<'_> {
        Side::host(self.start, self.strides)
    }
}

place!([T: DeviceData] HostBlock<'_, T>: HostRows, of T, read |this| this.side());
place!([T: DeviceData] HostBlockMut<'_, T>: HostRows, of T, write |this| this.side());
