//! Compute capabilities.

use std::fmt;

#[cfg(doc)]
use super::Device;

/// A compute capability, such as 9.0.
///
/// ```
/// use cuprum::device::ComputeCapability;
///
/// let hopper = ComputeCapability { major: 9, minor: 0 };
/// assert!(hopper > ComputeCapability { major: 8, minor: 6 });
/// assert_eq!(hopper.to_string(), "9.0");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_structs, reason = "major and minor")]
pub struct ComputeCapability {
    /// The major version.
    pub major: u32,
    /// The minor version.
    pub minor: u32,
}

impl fmt::Display for ComputeCapability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}
