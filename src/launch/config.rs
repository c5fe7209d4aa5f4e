//! The geometry of a launch, and its limits.

use std::fmt;

use super::LaunchError;

/// Three dimensions; those not named are 1. Converts from `u32`, `(u32, u32)`,
/// `(u32, u32, u32)` and `[u32; 3]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dim3 {
    /// The dimension that runs fastest.
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
    const fn has_zero(self) -> bool {
        self.x == 0 || self.y == 0 || self.z == 0
    }

    /// Whether each dimension is at least 1 and at most the limit's: of a zero, the difference is huge.
    const fn is_within(self, limit: Self) -> bool {
        self.x.wrapping_sub(1) < limit.x
            && self.y.wrapping_sub(1) < limit.y
            && self.z.wrapping_sub(1) < limit.z
    }
}

/// How many blocks, how many threads in each, and how much shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LaunchConfig {
    /// Blocks of the grid.
    pub grid: Dim3,
    /// Threads of a block.
    pub block: Dim3,
    /// Dynamic shared memory of a block, in bytes.
    pub shared_bytes: u32,
}

impl LaunchConfig {
    /// A grid of `grid` blocks of `block` threads, without dynamic shared memory.
    pub fn new(grid: impl Into<Dim3>, block: impl Into<Dim3>) -> Self {
        Self { grid: grid.into(), block: block.into(), shared_bytes: 0 }
    }

    /// As many blocks of `block` threads in a row as `elements` need, and at least one.
    ///
    /// The last block may reach past the end: the kernel must compare its index with the length.
    pub fn for_elements(elements: usize, block: u32) -> Self {
        let blocks = elements.div_ceil(usize::try_from(block.max(1)).unwrap_or(usize::MAX)).max(1);
        Self::new(u32::try_from(blocks).unwrap_or(u32::MAX), block)
    }

    /// The same geometry with this many bytes of dynamic shared memory for each block.
    #[must_use]
    pub const fn shared_bytes(self, bytes: u32) -> Self {
        Self { shared_bytes: bytes, ..self }
    }
}

/// What a kernel can be launched with on its device.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) grid: Dim3,
    pub(super) block: Dim3,
    pub(super) threads: u32,
    pub(super) shared_bytes: u32,
}

impl Limits {
    #[inline]
    pub(super) fn check(&self, config: LaunchConfig) -> Result<(), LaunchError> {
        let LaunchConfig { grid, block, shared_bytes } = config;
        if grid.is_within(self.grid) && self.allow_block(block) && shared_bytes <= self.shared_bytes {
            Ok(())
        } else {
            Err(self.refuse(config))
        }
    }

    #[inline]
    fn allow_block(&self, block: Dim3) -> bool {
        // The limits of a block's dimensions are small, so that the product cannot overflow.
        block.is_within(self.block)
            && u64::from(block.x) * u64::from(block.y) * u64::from(block.z) <= u64::from(self.threads)
    }

    /// What is wrong with a geometry that does not fit.
    #[cold]
    #[inline(never)]
    fn refuse(&self, config: LaunchConfig) -> LaunchError {
        let LaunchConfig { grid, block, shared_bytes } = config;
        if grid.has_zero() || block.has_zero() {
            LaunchError::Empty { grid, block }
        } else if !grid.is_within(self.grid) {
            LaunchError::Grid { grid, limit: self.grid }
        } else if !self.allow_block(block) {
            LaunchError::Block { block, limit: self.block, threads: self.threads }
        } else {
            LaunchError::SharedMemory { bytes: shared_bytes, limit: self.shared_bytes }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        grid: Dim3 { x: 0x7FFF_FFFF, y: 65535, z: 65535 },
        block: Dim3 { x: 1024, y: 1024, z: 64 },
        threads: 768,
        shared_bytes: 49152,
    };

    #[test]
    fn the_limits_themselves_pass() {
        assert_eq!(
            LIMITS.check(LaunchConfig::new((0x7FFF_FFFF, 65535, 65535), (12, 1, 64)).shared_bytes(49152)),
            Ok(())
        );
    }

    #[test]
    fn one_beyond_a_limit_does_not() {
        let refused = |config| LIMITS.check(config).unwrap_err();
        assert!(matches!(refused(LaunchConfig::new(0, 1)), LaunchError::Empty { .. }));
        assert!(matches!(refused(LaunchConfig::new(1, (1, 0))), LaunchError::Empty { .. }));
        assert!(matches!(refused(LaunchConfig::new(1 << 31, 1)), LaunchError::Grid { .. }));
        assert!(matches!(refused(LaunchConfig::new((1, 65536), 1)), LaunchError::Grid { .. }));
        assert!(matches!(refused(LaunchConfig::new(1, (1, 1, 65))), LaunchError::Block { .. }));
        assert!(matches!(refused(LaunchConfig::new(1, 769)), LaunchError::Block { threads: 768, .. }));
        assert!(matches!(refused(LaunchConfig::new(1, (1024, 1024, 64))), LaunchError::Block { .. }));
        let shared = refused(LaunchConfig::new(1, 1).shared_bytes(49153));
        assert_eq!(shared, LaunchError::SharedMemory { bytes: 49153, limit: 49152 });
    }

    #[test]
    fn elements_are_covered() {
        let blocks = |elements, block| LaunchConfig::for_elements(elements, block).grid.x;
        assert_eq!([blocks(0, 256), blocks(1, 256), blocks(256, 256), blocks(257, 256)], [1, 1, 1, 2]);
        assert_eq!(blocks(usize::MAX, 1), u32::MAX);
        assert_eq!(blocks(5, 0), 5);
    }
}
