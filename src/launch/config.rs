//! The geometry of a launch.

use std::fmt;

/// Three dimensions, by default 1. Converts from `u32`, tuples of two and three, and `[u32; 3]`.
///
/// ```
/// use cuprum::launch::Dim3;
///
/// assert_eq!(Dim3::from((16, 4)), Dim3 { x: 16, y: 4, z: 1 });
/// assert_eq!(Dim3::from([2, 3, 4]).to_string(), "2x3x4");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_structs, reason = "three dimensions")]
pub struct Dim3 {
    /// The dimension that varies fastest.
    pub x: u32,
    /// The second dimension.
    pub y: u32,
    /// The third dimension.
    pub z: u32,
}

impl From<u32> for Dim3 {
    fn from(x: u32) -> Self {
        Self { x, y: 1, z: 1 }
    }
}

impl From<(u32, u32)> for Dim3 {
    fn from((x, y): (u32, u32)) -> Self {
        Self { x, y, z: 1 }
    }
}

impl From<(u32, u32, u32)> for Dim3 {
    fn from((x, y, z): (u32, u32, u32)) -> Self {
        Self { x, y, z }
    }
}

impl From<[u32; 3]> for Dim3 {
    fn from([x, y, z]: [u32; 3]) -> Self {
        Self { x, y, z }
    }
}

impl fmt::Display for Dim3 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}x{}", self.x, self.y, self.z)
    }
}

impl Dim3 {
    pub(super) const fn has_zero(self) -> bool {
        self.x == 0 || self.y == 0 || self.z == 0
    }

    /// True if each dimension is between 1 and the limit's: zero minus one wraps around.
    pub(super) const fn is_within(self, limit: Self) -> bool {
        self.x.wrapping_sub(1) < limit.x
            && self.y.wrapping_sub(1) < limit.y
            && self.z.wrapping_sub(1) < limit.z
    }
}

/// Number of blocks, threads per block, and shared memory per block.
///
/// ```
/// use cuprum::launch::Dim3;
/// use cuprum::LaunchConfig;
///
/// // An image of 1920 x 1080, in tiles of 16 x 16 threads.
/// let config = LaunchConfig { shared_bytes: 1024, ..LaunchConfig::new((120, 68), (16, 16)) };
/// assert_eq!(config.grid, Dim3 { x: 120, y: 68, z: 1 });
///
/// // One thread per element; the last block is not full.
/// assert_eq!(LaunchConfig::for_elements(1000, 256), LaunchConfig::new(4, 256));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_structs, reason = "the geometry of any launch")]
pub struct LaunchConfig {
    /// Number of blocks of the grid.
    pub grid: Dim3,
    /// Number of threads per block.
    pub block: Dim3,
    /// Dynamic shared memory per block, in bytes.
    pub shared_bytes: u32,
}

impl LaunchConfig {
    /// A grid of `grid` blocks of `block` threads, without dynamic shared memory.
    pub fn new(grid: impl Into<Dim3>, block: impl Into<Dim3>) -> Self {
        Self { grid: grid.into(), block: block.into(), shared_bytes: 0 }
    }

    /// Enough blocks of `block` threads in one dimension for `elements` elements, at least one.
    ///
    /// The last block may extend past the end: the kernel must compare its index with the length.
    #[inline]
    pub fn for_elements(elements: usize, block: u32) -> Self {
        let blocks = elements.div_ceil(usize::try_from(block.max(1)).unwrap_or(usize::MAX)).max(1);
        Self::new(u32::try_from(blocks).unwrap_or(u32::MAX), block)
    }
}
