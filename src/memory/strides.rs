//! Layouts of blocks of rows and slices in memory.

use std::ops::RangeBounds;

use super::{Extent, MemoryError, bytes_of};

impl Extent {
    pub(crate) fn same(destination: Self, source: Self) -> Result<(), MemoryError> {
        if destination == source {
            Ok(())
        } else {
            Err(MemoryError::Extent { destination_extent: destination, source_extent: source })
        }
    }
}

/// Memory layout of a block: rows at equal distances, and slices of rows.
///
/// The constructors check that the offsets of all elements fit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Strides {
    pub(crate) extent: Extent,
    pub(crate) pitch: usize,
    pub(crate) rows: usize,
}

impl Strides {
    /// Layout of a block in `len` elements: rows begin `pitch` elements apart, slices `rows` rows.
    pub(crate) fn within<T>(
        len: usize,
        extent: Extent,
        pitch: usize,
        rows: usize,
    ) -> Result<Self, MemoryError> {
        let fits = || {
            let Extent { width, height, depth } = extent;
            if extent.is_empty() {
                return Some(());
            }
            (pitch >= width && rows >= height).then_some(())?;
            let last_row = rows.checked_mul(depth - 1)?.checked_add(height - 1)?;
            let end = pitch.checked_mul(last_row)?.checked_add(width)?;
            (end <= len).then_some(())
        };
        fits().ok_or(MemoryError::Outside { extent, pitch, rows, len })?;
        // An empty block may have any strides; all are kept as zero.
        let pitch = if extent.is_empty() { 0 } else { bytes_of::<T>(pitch)? };
        Ok(Self { extent, pitch, rows })
    }

    pub(crate) fn dense<T>(extent: Extent) -> Result<Self, MemoryError> {
        let no_room = MemoryError::TooLarge { len: usize::MAX, element_bytes: size_of::<T>() };
        let len = extent.len().ok_or(no_room)?;
        bytes_of::<T>(len)?;
        Self::within::<T>(len, extent, extent.width, extent.height)
    }

    /// Bytes from the first element to the one at `at`, which is in the block or directly after it.
    pub(crate) const fn offset<T>(&self, [x, y, z]: [usize; 3]) -> usize {
        if self.extent.is_empty() { 0 } else { (z * self.rows + y) * self.pitch + x * size_of::<T>() }
    }

    /// Returns the byte offset and the layout of a part of a block.
    pub(crate) fn part<T>(
        &self,
        x: &impl RangeBounds<usize>,
        y: &impl RangeBounds<usize>,
        z: &impl RangeBounds<usize>,
    ) -> Option<(usize, Self)> {
        let (at, extent) = self.extent.part(x, y, z)?;
        // Nothing may follow the last element.
        let offset = if extent.is_empty() { 0 } else { self.offset::<T>(at) };
        Some((offset, Self { extent, ..*self }))
    }
}
