//! CUDA versions, as the driver counts them.

use core::fmt;

/// A version of the CUDA driver API, such as 12.4.
///
/// The driver writes it as `1000 * major + 10 * minor`; so does this type.
///
/// # Example
/// ```
/// use cuprum_sys::Version;
///
/// let version = Version::from_raw(12040);
/// assert_eq!((version, version.to_string()), (Version::new(12, 4), "12.4".to_owned()));
/// assert!(version >= Version::new(11, 2));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Version(u32);

impl Version {
    /// A version by its two numbers: `Version::new(12, 4)`.
    #[must_use]
    pub const fn new(major: u32, minor: u32) -> Self {
        Self(1000 * major + 10 * minor)
    }

    /// A version in the driver's own form: 12040 is 12.4.
    #[must_use]
    pub const fn from_raw(raw: u32) -> Self {
        Self(raw)
    }

    /// The driver's own form: 12040 for 12.4.
    #[must_use]
    pub const fn as_raw(self) -> u32 {
        self.0
    }

    /// The number before the dot.
    #[must_use]
    pub const fn major(self) -> u32 {
        self.0 / 1000
    }

    /// The number after the dot.
    #[must_use]
    pub const fn minor(self) -> u32 {
        self.0 % 1000 / 10
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major(), self.minor())
    }
}

impl fmt::Debug for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
