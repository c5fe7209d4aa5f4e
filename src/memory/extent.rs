//! Numbers of elements per dimension, and parts of them.

use std::fmt;
use std::ops::{Bound, RangeBounds};

/// Elements per row, rows per slice, and slices. Made from numbers: `Extent::from((640, 480))`.
///
/// A single row has height 1 and depth 1. If a number is zero, there are no elements.
///
/// ```
/// use cuprum::memory::Extent;
///
/// let picture = Extent::from((640, 480));
/// assert_eq!((picture.depth, picture.len()), (1, Some(307_200)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_structs, reason = "three dimensions")]
pub struct Extent {
    /// Elements per row.
    pub width: usize,
    /// Rows per slice.
    pub height: usize,
    /// Slices, or layers or faces of an array.
    pub depth: usize,
}

impl Extent {
    /// Returns the number of elements, or `None` if it overflows.
    #[inline]
    pub fn len(self) -> Option<usize> {
        if self.is_empty() {
            return Some(0);
        }
        self.width.checked_mul(self.height)?.checked_mul(self.depth)
    }

    /// True if there are no elements.
    pub const fn is_empty(self) -> bool {
        self.width == 0 || self.height == 0 || self.depth == 0
    }

    /// Resolves three ranges to the first element and the extent.
    pub(crate) fn part(
        self,
        x: &impl RangeBounds<usize>,
        y: &impl RangeBounds<usize>,
        z: &impl RangeBounds<usize>,
    ) -> Option<([usize; 3], Self)> {
        let (x, width) = resolve(x, self.width)?;
        let (y, height) = resolve(y, self.height)?;
        let (z, depth) = resolve(z, self.depth)?;
        Some(([x, y, z], Self { width, height, depth }))
    }
}

impl From<usize> for Extent {
    fn from(width: usize) -> Self {
        Self { width, height: 1, depth: 1 }
    }
}

impl From<(usize, usize)> for Extent {
    fn from((width, height): (usize, usize)) -> Self {
        Self { width, height, depth: 1 }
    }
}

impl From<(usize, usize, usize)> for Extent {
    fn from((width, height, depth): (usize, usize, usize)) -> Self {
        Self { width, height, depth }
    }
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} x {} x {}", self.width, self.height, self.depth)
    }
}

/// Start and length of `range` in a sequence of `len` elements.
pub(crate) fn resolve(range: &impl RangeBounds<usize>, len: usize) -> Option<(usize, usize)> {
    let start = match range.start_bound() {
        Bound::Included(&start) => start,
        Bound::Excluded(&start) => start.checked_add(1)?,
        Bound::Unbounded => 0,
    };
    let end = match range.end_bound() {
        Bound::Included(&end) => end.checked_add(1)?,
        Bound::Excluded(&end) => end,
        Bound::Unbounded => len,
    };
    (end <= len).then_some(())?;
    Some((start, end.checked_sub(start)?))
}
