//! Kinds of races.

use core::fmt;

/// Kind of a race between two accesses.
///
/// # Example
/// ```
/// use cuprum_emulator::report::{Fault, FaultKind, Hazard};
///
/// /// True for a race in which one of both threads only reads.
/// fn is_read(fault: &Fault) -> bool {
///     matches!(fault.kind, FaultKind::Race(Hazard::ReadAfterWrite | Hazard::WriteAfterRead))
/// }
///
/// assert!(is_read(&Fault::new(FaultKind::Race(Hazard::ReadAfterWrite), "sum")));
/// ```
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
