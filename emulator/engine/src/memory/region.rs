//! Allocations.

use std::sync::Arc;

use cuprum_sys::FnId;

use crate::served;

use super::backing::Backing;
use super::neighbor::{Neighbor, Position};
use super::shadow::ValidBits;
use super::shared::Piece;
use super::{RegionKind, Request};

/// One allocation: a range of device addresses and its bytes.
///
/// ```
/// use cuprum_engine::memory::{Memory, Request};
///
/// let memory = Memory::new(1, 1 << 20, false);
/// let region = memory.alloc(&Request::device(100, 1, 0)).map_err(|error| format!("{error:?}"))?;
/// assert!(region.contains(region.base, 100) && !region.contains(region.base, 101));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Region {
    /// First device address.
    pub base: u64,
    /// Length in bytes.
    pub len: u64,
    /// Host address of the first byte. Valid for `len` bytes while this value, or a clone, exists.
    pub host: *mut u8,
    /// Number of the allocation, counted from 1 in the order of allocation.
    pub id: u64,
    /// Kind of the region.
    pub kind: RegionKind,
    /// True if kernels may write to it.
    pub writable: bool,
    /// True if kernels can access it.
    pub reachable: bool,
    /// The context to which it belongs.
    pub context: u64,
    /// The device to which it belongs.
    pub device: u32,
    /// The written bytes, if they are tracked.
    pub init: Option<Arc<ValidBits>>,
    /// The name of the variable, for a module's global.
    pub label: Option<Arc<str>>,
    /// Flags with which the client allocated it.
    pub flags: u32,
    /// The driver call that allocated it.
    pub call: Option<FnId>,
    /// The call site in the client.
    pub site: Option<served::Site>,
    backing: Backing,
}

// SAFETY: `host` points to memory that `backing` keeps alive, or, for registered memory, the caller
// of `Memory::register`. Threads share device memory by nature; all accesses use raw pointers and
// atomics, never references.
unsafe impl Send for Region {}
// SAFETY: as above.
unsafe impl Sync for Region {}

impl Region {
    pub(super) fn new(
        id: u64,
        base: u64,
        request: &Request,
        backing: Backing,
        init: Option<Arc<ValidBits>>,
    ) -> Self {
        Self {
            base,
            len: request.bytes,
            host: backing.host,
            id,
            kind: request.kind,
            writable: request.writable,
            reachable: true,
            context: request.context,
            device: request.device,
            init,
            label: request.label.clone(),
            flags: request.flags,
            call: served::call(),
            site: served::made().site,
            backing,
        }
    }

    /// Returns the address of its first byte on the host, for the client. The driver itself uses
    /// the bytes at `host`.
    pub fn on_host(&self) -> *mut u8 {
        let guarded = self.backing.guarded_at().and_then(|base| usize::try_from(base).ok());
        guarded.map_or(self.host, core::ptr::with_exposed_provenance_mut)
    }

    /// True if the host's access to its pages can be limited.
    pub(super) fn is_guarded(&self) -> bool {
        self.backing.guarded_at().is_some()
    }

    /// True if all of `addr..addr + len` is inside.
    #[inline]
    pub fn contains(&self, addr: u64, len: u64) -> bool {
        let offset = addr.wrapping_sub(self.base);
        offset < self.len && len <= self.len - offset
    }

    /// Returns its piece of the file that other processes can open, if it is in that file.
    pub(super) fn piece(&self) -> Option<&Piece> {
        self.backing.piece()
    }

    /// Describes the allocation for a report, with the position of an address.
    #[doc(hidden)]
    pub fn neighbor(&self, addr: u64, freed: bool) -> Neighbor {
        Neighbor {
            id: self.id,
            base: self.base,
            len: self.len,
            kind: self.kind,
            label: self.label.clone(),
            call: self.call,
            position: Position::of(addr, self.base, self.len),
            freed,
            freed_by: if freed { served::call() } else { None },
        }
    }
}
