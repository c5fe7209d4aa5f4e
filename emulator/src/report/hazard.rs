//! Kinds of races.

use core::fmt;

/// Kind of a race between two accesses.
///
/// Example: that of [`Fault`](super::Fault).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Hazard {
    /// A load of a value that another thread stored.
    ReadAfterWrite,
    /// A store over a value that another thread loaded.
    WriteAfterRead,
    /// A store over a value that another thread stored.
    WriteAfterWrite,
    /// A plain load of memory that another thread changes by an atomic instruction, in either order. Reported on
    /// demand only.
    ReadBesideAtomic,
}

impl fmt::Display for Hazard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ReadAfterWrite => "read after write",
            Self::WriteAfterRead => "write after read",
            Self::WriteAfterWrite => "write after write",
            Self::ReadBesideAtomic => "plain read beside an atomic instruction",
        })
    }
}
