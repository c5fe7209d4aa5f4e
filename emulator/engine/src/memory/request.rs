//! Requests for memory, and the errors of allocating and freeing.

use super::RegionKind;
use super::neighbor::Neighbor;
use std::sync::Arc;

/// The alignment and granularity of device allocations, in bytes.
pub const GRANULARITY: u64 = 512;

/// Request for memory.
///
/// ```
/// use cuprum_engine::memory::{Memory, Request};
///
/// let memory = Memory::new(1, 1 << 20, false);
/// let aligned = Request { align: 4096, ..Request::device(100, 1, 0) };
/// let region = memory.alloc(&aligned).map_err(|error| format!("{error:?}"))?;
/// assert_eq!(region.base % 4096, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Request {
    /// Size in bytes, not zero.
    pub bytes: u64,
    /// Alignment of the address, a power of two; at least [`GRANULARITY`] is used.
    pub align: u64,
    /// Kind of the memory.
    pub kind: RegionKind,
    /// True if kernels may write to it.
    pub writable: bool,
    /// The context to which it belongs, for ownership and reports.
    pub context: u64,
    /// The device whose memory it uses.
    pub device: u32,
    /// A name for reports, such as the name of a module's global.
    pub label: Option<Arc<str>>,
    /// Flags of the client, for its queries.
    pub flags: u32,
}

impl Request {
    /// Ordinary device memory.
    pub fn device(bytes: u64, context: u64, device: u32) -> Self {
        Self {
            bytes,
            align: GRANULARITY,
            kind: RegionKind::Device,
            writable: true,
            context,
            device,
            label: None,
            flags: 0,
        }
    }
}

/// Reason why an allocation failed.
///
/// ```
/// use cuprum_engine::memory::{AllocError, Memory, Request};
///
/// let memory = Memory::new(1, 1 << 20, false);
/// assert_eq!(memory.alloc(&Request::device(1 << 30, 1, 0)).err(), Some(AllocError::OutOfMemory));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AllocError {
    /// The device's memory, the host's memory or the address range is exhausted.
    OutOfMemory,
    /// The range is already known (registered twice, mapped twice) or empty.
    Overlap,
}

/// Reason why an address could not be freed.
///
/// ```
/// use cuprum_engine::memory::{FreeError, Memory};
///
/// let memory = Memory::new(1, 1 << 20, false);
/// assert_eq!(memory.free(4096).err(), Some(FreeError::NotAnAllocation));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FreeError {
    /// No allocation ever began at this address.
    NotAnAllocation,
    /// It has already been freed.
    AlreadyFreed(Neighbor),
}
