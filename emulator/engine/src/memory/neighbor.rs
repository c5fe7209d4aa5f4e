//! Allocations in reports.

use core::fmt;
use std::sync::Arc;

use cuprum_sys::FnId;

use super::RegionKind;

/// Position of an address relative to an allocation, in bytes.
///
/// ```
/// use cuprum_engine::memory::{Memory, Position, Request};
///
/// let memory = Memory::new(1, 1 << 20, false);
/// let region = memory.alloc(&Request::device(100, 1, 0)).map_err(|error| format!("{error:?}"))?;
/// assert_eq!(region.neighbor(region.base + 108, false).position, Position::After(8));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Position {
    /// At this offset inside.
    Inside(u64),
    /// This many bytes below the first byte.
    Before(u64),
    /// This many bytes beyond the end; 0 is the first byte after it.
    After(u64),
}

impl Position {
    pub(super) fn of(addr: u64, base: u64, len: u64) -> Self {
        match addr.checked_sub(base) {
            None => Self::Before(base - addr),
            Some(offset) if offset < len => Self::Inside(offset),
            Some(offset) => Self::After(offset - len),
        }
    }

    pub(super) fn distance(self) -> u64 {
        match self {
            Self::Inside(_) => 0,
            Self::Before(bytes) => bytes,
            Self::After(bytes) => bytes + 1,
        }
    }
}

/// An allocation in a report.
///
/// ```
/// use cuprum_engine::memory::{Memory, Request};
///
/// let memory = Memory::new(1, 1 << 20, false);
/// let region = memory.alloc(&Request::device(100, 1, 0)).map_err(|error| format!("{error:?}"))?;
/// let text = region.neighbor(region.base + 108, false).to_string();
/// assert!(text.starts_with("8 bytes past the end of allocation #1"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Neighbor {
    /// Number of the allocation.
    pub id: u64,
    /// First address.
    pub base: u64,
    /// Length in bytes.
    pub len: u64,
    /// Kind of the region.
    pub kind: RegionKind,
    /// The variable's name, for a module's global.
    pub label: Option<Arc<str>>,
    /// The driver call that allocated it.
    pub call: Option<FnId>,
    /// Position of the address in question relative to it.
    pub position: Position,
    /// True if it had been freed.
    pub freed: bool,
    /// The driver call that freed it, if it is known.
    pub freed_by: Option<FnId>,
}

impl fmt::Display for Neighbor {
    /// For example `8 bytes past the end of allocation #12 (4000 bytes of device memory, from
    /// cuMemAlloc)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.position {
            Position::Inside(offset) => write!(f, "{offset} bytes into ")?,
            Position::Before(bytes) => write!(f, "{bytes} bytes before ")?,
            Position::After(0) => f.write_str("right past the end of ")?,
            Position::After(bytes) => write!(f, "{bytes} bytes past the end of ")?,
        }
        write!(f, "allocation #{} ", self.id)?;
        if let Some(label) = &self.label {
            write!(f, "`{label}` ")?;
        }
        write!(f, "({} bytes of {}", self.len, self.kind)?;
        if let Some(call) = self.call {
            write!(f, ", from {}", call.symbol().base)?;
        }
        if self.freed {
            f.write_str(", already freed")?;
        }
        f.write_str(")")
    }
}
