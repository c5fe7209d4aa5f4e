//! Regions, and their snapshot for a launch.

use core::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use cuprum_sys::FnId;

use crate::ordered::Ordered;
use crate::served;

use super::backing::Backing;
use super::nearest::lock_at_once;
use super::regions::Regions;
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

    /// Returns the address of its first byte on the host, for the client. The driver itself uses the
    /// bytes at `host`.
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
    fn of(addr: u64, base: u64, len: u64) -> Self {
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
    /// For example `8 bytes past the end of allocation #12 (4000 bytes of device memory, from cuMemAlloc)`.
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

/// Address ranges with a special meaning, at the end of the device's range. A generic address in
/// one of them is an offset into the memory of the accessing block or thread.
///
/// ```
/// use cuprum_engine::memory::Memory;
///
/// let memory = Memory::new(1, 1 << 20, false);
/// let windows = memory.windows();
/// assert_ne!(windows.shared, windows.local);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Windows {
    /// Generic address of shared memory offset 0.
    pub shared: u64,
    /// Generic address of local memory offset 0.
    pub local: u64,
    /// Address of code offset 0, for function pointers.
    pub code: u64,
    /// Generic address of the first byte of a kernel's parameters.
    pub param: u64,
    /// Length of each window in bytes.
    pub bytes: u64,
}

/// The regions at one time. Keeps their memory alive.
///
/// ```
/// use cuprum_engine::memory::{Memory, Request};
///
/// let memory = Memory::new(1, 1 << 20, false);
/// let region = memory.alloc(&Request::device(100, 1, 0)).map_err(|error| format!("{error:?}"))?;
/// let map = memory.snapshot();
/// memory.free(region.base).map_err(|error| format!("{error:?}"))?;
/// assert!(map.find(region.base).is_some()); // a running kernel still has it
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Map {
    pub(super) regions: Regions,
    pub(super) freed: Arc<FreedLog>,
    windows: Windows,
}

impl Map {
    pub(super) fn new(regions: Regions, freed: Arc<FreedLog>, windows: Windows) -> Self {
        Self { regions, freed, windows }
    }

    /// The region that contains `addr`.
    #[inline]
    pub fn find(&self, addr: u64) -> Option<&Region> {
        let region = self.regions.last_up_to(addr)?;
        region.contains(addr, 1).then_some(region)
    }

    /// The freed allocation that contained `addr`.
    pub fn find_freed(&self, addr: u64) -> Option<Neighbor> {
        self.freed.find(addr)
    }

    /// Returns the generic addresses of shared and local memory and of code.
    pub fn windows(&self) -> Windows {
        self.windows
    }
}

/// Freed allocations, by address, until the range is reused or there are too many.
///
/// ```
/// assert!(cuprum_engine::memory::FreedLog::default().find(4096).is_none()); // nothing was freed
/// ```
#[derive(Debug, Default)]
pub struct FreedLog {
    entries: Mutex<Ordered<Neighbor>>,
}

impl FreedLog {
    /// Maximum number of entries. Beyond it, the lowest addresses are removed, which are the oldest
    /// until the address range has been used up once.
    const KEPT: usize = 1 << 16;

    /// The freed allocation that contained `addr`.
    pub fn find(&self, addr: u64) -> Option<Neighbor> {
        Self::find_in(&self.entries.lock().unwrap_or_else(PoisonError::into_inner), addr)
    }

    /// Like `find`, but returns `None` instead of waiting for another thread.
    #[allow(
        dead_code,
        reason = "for the handler of `driver::memory::host_access`, which not every system has"
    )]
    pub(super) fn find_at_once(&self, addr: u64) -> Option<Neighbor> {
        Self::find_in(&*lock_at_once(&self.entries)?, addr)
    }

    fn find_in(entries: &Ordered<Neighbor>, addr: u64) -> Option<Neighbor> {
        let (_, entry) = entries.last_up_to(addr)?;
        match Position::of(addr, entry.base, entry.len) {
            position @ Position::Inside(_) => Some(Neighbor { position, ..entry.clone() }),
            _ => None,
        }
    }

    pub(super) fn remember(&self, region: &Region) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.insert(region.base, region.neighbor(region.base, true));
        if entries.len() > Self::KEPT {
            if let Some(lowest) = entries.first_key() {
                entries.remove(lowest);
            }
        }
    }

    pub(super) fn forget(&self, base: u64, end: u64) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        for start in entries.keys_in(base..end) {
            entries.remove(start);
        }
    }
}
