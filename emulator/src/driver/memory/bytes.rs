//! Bytes that operations read or write, in any memory.

use core::ffi::c_void;
use core::ptr;
use std::sync::Arc;

use crate::exec::touched::Manner;
use crate::memory::{Region, RegionKind, Writer};

use crate::driver::answer::{Answer, INVALID_VALUE, ensure};
use crate::driver::state::{Part, memory};

use super::mistake::note_range;
use super::pool::pool_of;
use super::returned::returns;

/// Bytes that a copy reads or writes: a range of device or host addresses.
#[derive(Debug, Clone)]
pub(crate) enum Bytes {
    /// Memory of the client. Valid while the operation is pending, by the contract of the call.
    Host(*mut u8),
    /// Bytes that were copied when the operation was issued.
    Staged(Arc<[u8]>),
    /// Device memory, beginning at an offset in the first of consecutive regions.
    Device {
        regions: Arc<[Region]>,
        start: u64,
        /// The number of [`returns`] when the range was found.
        returns: u64,
    },
}

// SAFETY: one operation at a time uses the pointers, on the thread that runs it. The client
// guarantees its host memory, and the regions keep theirs alive.
unsafe impl Send for Bytes {}
// SAFETY: as above.
unsafe impl Sync for Bytes {}

impl Bytes {
    pub(crate) fn device(address: u64, len: u64) -> Answer<Self> {
        let regions = memory().cover(address, len.max(1));
        let regions = regions.ok_or_else(|| {
            note_range(address, len);
            INVALID_VALUE
        })?;
        let regions: Arc<[Region]> = regions.into();
        Ok(Self::Device { regions, start: address, returns: returns() })
    }

    /// Returns a range that the device fills. Fails for host memory of a pool without access.
    pub(crate) fn reachable(address: u64, len: u64) -> Answer<Self> {
        let bytes = Self::device(address, len)?;
        match &bytes {
            Self::Device { regions, .. } if !regions.iter().all(|region| region.reachable) => {
                Err(INVALID_VALUE)
            }
            _ => Ok(bytes),
        }
    }

    /// Returns a range that a copy names as device memory. Fails for host memory of a pool. Copies
    /// between unified addresses accept such memory, as do kernels and fills of devices with access
    /// to the pool: measured on an H100 with driver 580.
    pub(crate) fn on_device(address: u64, len: u64) -> Answer<Self> {
        let bytes = Self::device(address, len)?;
        let on_host = |region: &Region| is_host_kind(region.kind) && pool_of(region.base).is_some();
        match &bytes {
            Self::Device { regions, .. } if regions.iter().any(on_host) => Err(INVALID_VALUE),
            _ => Ok(bytes),
        }
    }

    /// Returns a range at a host address, which may also be a device address.
    pub(crate) fn host(pointer: *mut u8, len: u64) -> Answer<Self> {
        ensure(!pointer.is_null(), INVALID_VALUE)?;
        let address = pointer.addr() as u64;
        let memory = memory();
        if memory.is_device_address(address) || memory.find(address).is_some() {
            return Self::device(address, len);
        }
        Ok(Self::Host(pointer))
    }

    /// True for host memory that is not page-locked.
    pub(crate) fn is_pageable(&self) -> bool {
        matches!(self, Self::Host(_) | Self::Staged(_))
    }

    /// Counts the thread as a writer of these bytes, if kernels reach them.
    pub(crate) fn writer(&self) -> Option<Writer> {
        (!self.is_pageable()).then(Writer::new)
    }

    pub(crate) fn is_of_device(&self) -> bool {
        matches!(self, Self::Device { regions, .. } if !regions.iter().any(|region| region.kind.host_visible()))
    }

    /// True if part of it was freed. Memory that a stream has freed stays in its pool and can be
    /// copied until a call returns memory of pools to the device.
    pub(crate) fn is_freed(&self) -> bool {
        let is_live = |region: &Region| memory().find(region.base).is_some_and(|live| live.id == region.id);
        match self {
            Self::Device { regions, returns: before, .. } => regions.iter().any(|region| {
                let is_kept = region.kind == RegionKind::Pooled && *before == returns();
                !is_kept && !is_live(region)
            }),
            _ => false,
        }
    }

    pub(crate) fn context(&self) -> Option<u64> {
        match self {
            Self::Device { regions, .. } => regions.first().map(|region| region.context),
            _ => None,
        }
    }

    /// Returns the device of the memory, if only devices can access it.
    pub(crate) fn device_of(&self) -> Option<u32> {
        match self {
            Self::Device { regions, .. } if self.is_of_device() => {
                regions.first().map(|region| region.device)
            }
            _ => None,
        }
    }

    pub(crate) fn is_locked(&self) -> bool {
        let locked = |region: &Region| is_host_kind(region.kind);
        matches!(self, Self::Device { regions, .. } if regions.iter().any(locked))
    }

    /// Returns the address of the first byte, as the client passed it.
    pub(crate) fn address(&self) -> u64 {
        match self {
            Self::Host(pointer) => pointer.addr() as u64,
            Self::Staged(bytes) => bytes.as_ptr().addr() as u64,
            Self::Device { start, .. } => *start,
        }
    }

    /// Returns a pointer to the byte at `offset`, and the number of contiguous bytes there.
    pub(crate) fn at(&self, offset: u64) -> Option<(*mut u8, u64)> {
        match self {
            Self::Host(pointer) => Some((pointer.wrapping_add(usize::try_from(offset).ok()?), u64::MAX)),
            Self::Staged(bytes) => {
                let rest = bytes.get(usize::try_from(offset).ok()?..)?;
                Some((rest.as_ptr().cast_mut(), rest.len() as u64))
            }
            Self::Device { regions, start, .. } => {
                let address = start.checked_add(offset)?;
                let region = region_of(regions, address)?;
                let inside = address - region.base;
                let pointer = region.host.wrapping_add(usize::try_from(inside).ok()?);
                Some((pointer, region.len - inside))
            }
        }
    }

    pub(super) fn mark_written(&self, offset: u64, len: u64) {
        if let Self::Device { regions, start, .. } = self {
            let address = start + offset;
            if let Some(region) = region_of(regions, address) {
                if let Some(init) = &region.init {
                    init.set(address - region.base, len);
                }
            }
        }
    }

    /// Calls `visit` with each piece of the range: pointer and length.
    pub(crate) fn pieces(&self, mut offset: u64, len: u64, mut visit: impl FnMut(*mut u8, usize)) -> Answer {
        let end = offset + len;
        while offset < end {
            let (pointer, available) = self.at(offset).ok_or(INVALID_VALUE)?;
            let count = available.min(end - offset);
            visit(pointer, count as usize);
            self.mark_written(offset, count);
            offset += count;
        }
        Ok(())
    }
}

/// The rows of bytes of a range that an operation accesses.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rows {
    pub(crate) width: u64,
    pub(crate) height: u64,
    pub(crate) depth: u64,
    pub(crate) pitch: u64,
    pub(crate) slice: u64,
}

impl Rows {
    /// Iterates over the offset of each row from the start of the range.
    fn offsets(self) -> impl Iterator<Item = u64> {
        (0..self.depth).flat_map(move |z| (0..self.height).map(move |y| z * self.slice + y * self.pitch))
    }
}

impl Bytes {
    /// Returns the rows, read or written, for the check of the order between streams. Bytes that
    /// were copied when the operation was issued do not count.
    pub(crate) fn parts(&self, writes: bool, rows: Rows) -> Vec<Part> {
        let manner = if writes { Manner::Write } else { Manner::Read };
        match self {
            Self::Staged(_) => Vec::new(),
            Self::Host(pointer) => {
                let start = pointer.addr() as u64;
                vec![Part::rows(None, manner, rows.offsets().map(|offset| (start + offset, rows.width)))]
            }
            Self::Device { regions, start, .. } => {
                let of_region = |region: &Region| {
                    let (base, end) = (region.base, region.base + region.len);
                    let inside = rows.offsets().filter_map(|offset| {
                        let from = (start + offset).max(base);
                        let to = (start + offset + rows.width).min(end);
                        (from < to).then(|| (from - base, to - from))
                    });
                    Part::rows(Some(region.neighbor(base, false)), manner, inside)
                };
                regions.iter().map(of_region).collect()
            }
        }
    }
}

fn region_of(regions: &[Region], address: u64) -> Option<&Region> {
    regions.iter().find(|region| region.contains(address, 1))
}

/// Returns a range at an address of the host or a device.
pub(crate) fn unified(address: u64, len: u64) -> Answer<Bytes> {
    let pointer = usize::try_from(address).map_err(|_| INVALID_VALUE)?;
    Bytes::host(ptr::with_exposed_provenance_mut(pointer), len)
}

/// True if queries of clients report a region as host memory.
pub(super) fn is_host_kind(kind: RegionKind) -> bool {
    matches!(kind, RegionKind::Pinned | RegionKind::Registered | RegionKind::MappedHost)
}

/// Returns the host address of a region; null if the host may not use it.
pub(super) fn host_address(region: &Region, address: u64) -> *mut c_void {
    if !region.kind.host_visible() {
        return ptr::null_mut();
    }
    // Its bytes are at another address too, at which the driver uses them.
    if region.kind == RegionKind::MappedHost {
        return ptr::with_exposed_provenance_mut(usize::try_from(address).unwrap_or(0));
    }
    let offset = usize::try_from(address - region.base).unwrap_or(0);
    region.on_host().wrapping_add(offset).cast()
}
