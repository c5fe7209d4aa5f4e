//! Versions of NCCL.

use std::fmt;

/// Version of an NCCL, ordered by age.
///
/// ```
/// use cuprum_nccl::NcclVersion;
///
/// let version = NcclVersion::new(2, 27, 3);
/// assert_eq!((version.as_raw(), version.to_string().as_str()), (22703, "2.27.3"));
/// assert!(version > NcclVersion::new(2, 18, 0));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NcclVersion(u32);

impl NcclVersion {
    /// The oldest NCCL that this crate works with.
    pub const OLDEST: Self = Self::new(2, 18, 0);

    /// A version by its parts.
    #[must_use]
    pub const fn new(major: u32, minor: u32, patch: u32) -> Self {
        Self(major * 10_000 + minor * 100 + patch)
    }

    /// A version as `ncclGetVersion` writes it.
    #[must_use]
    pub const fn from_raw(code: u32) -> Self {
        Self(code)
    }

    /// The number that `ncclGetVersion` writes: 22703 is 2.27.3.
    #[must_use]
    pub const fn as_raw(self) -> u32 {
        self.0
    }
}

impl fmt::Display for NcclVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0 / 10_000, self.0 / 100 % 100, self.0 % 100)
    }
}

impl fmt::Debug for NcclVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
