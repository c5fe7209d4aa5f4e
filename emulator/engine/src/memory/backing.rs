//! The bytes of regions: of the heap, at the device address itself, or in a file.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::sync::Arc;

use super::shared::{Arena, Mapping, Piece, Purpose, SharedFile, Slot};
use super::space::Space;

/// The bytes of a region, freed with the last clone.
#[derive(Debug, Clone)]
pub(super) struct Backing {
    pub(super) host: *mut u8,
    owner: Option<Arc<Owner>>,
}

// SAFETY: a pointer and the shared owner of its memory; this type does not access the memory.
unsafe impl Send for Backing {}
// SAFETY: as above.
unsafe impl Sync for Backing {}

#[derive(Debug)]
enum Owner {
    Heap {
        start: *mut u8,
        layout: Layout,
    },
    Committed {
        space: Arc<Space>,
        base: u64,
        bytes: u64,
    },
    /// Bytes of a file, which the host uses at the device address and the driver elsewhere.
    Guarded {
        _mapping: Mapping,
        space: Arc<Space>,
        base: u64,
        bytes: u64,
    },
    Arena(Piece),
    /// Bytes of a file, and the slot by which its process knows that they are open.
    Mapped {
        _mapping: Mapping,
        slot: Option<Slot>,
    },
}

// SAFETY: it only owns memory, which any thread may free once.
unsafe impl Send for Owner {}
// SAFETY: as above.
unsafe impl Sync for Owner {}

/// Alignment of device memory on the host: a cache line, so that a warp's row of 128 bytes touches
/// two lines and not three.
const HOST_ALIGN: usize = 64;

impl Backing {
    /// Returns its piece of the file that other processes can open, if it is in that file.
    pub(super) fn piece(&self) -> Option<&Piece> {
        match self.owner.as_deref() {
            Some(Owner::Arena(piece)) => Some(piece),
            _ => None,
        }
    }

    /// Returns the address at which the host uses its bytes, if that access can be limited.
    pub(super) fn guarded_at(&self) -> Option<u64> {
        match self.owner.as_deref() {
            Some(Owner::Guarded { base, .. }) => Some(*base),
            _ => None,
        }
    }

    /// Allocates zeroed bytes. The allocator gets large blocks from the system lazily.
    pub(super) fn heap(bytes: u64) -> Option<Self> {
        // With an alignment above its own, the allocator would write the whole block, so this
        // aligns manually.
        let size = usize::try_from(bytes).ok()?.checked_add(HOST_ALIGN)?;
        let layout = Layout::from_size_align(size, 16).ok()?;
        // SAFETY: the size is at least HOST_ALIGN, not zero.
        let start = unsafe { alloc_zeroed(layout) };
        if start.is_null() {
            return None;
        }
        let host = start.wrapping_add(start.align_offset(HOST_ALIGN));
        Some(Self { host, owner: Some(Arc::new(Owner::Heap { start, layout })) })
    }

    /// Returns bytes at the device address itself; from the heap if the space is not host memory.
    pub(super) fn committed(space: &Arc<Space>, base: u64, bytes: u64) -> Option<Self> {
        if !space.commit(base, bytes) {
            return Self::heap(bytes);
        }
        let host = core::ptr::with_exposed_provenance_mut(usize::try_from(base).ok()?);
        let space = Arc::clone(space);
        Some(Self { host, owner: Some(Arc::new(Owner::Committed { space, base, bytes })) })
    }

    /// Returns bytes that the host uses at the device address, and the driver at another one.
    pub(super) fn guarded(space: &Arc<Space>, base: u64, bytes: u64) -> Option<Self> {
        // Both mappings stay without the file's descriptor, of which a process has few.
        let file = SharedFile::create(Purpose::Physical, bytes, 0)?;
        let mapping = file.map(0, bytes)?;
        if !space.show(base, &file, true) {
            return None;
        }
        let (host, space) = (mapping.pointer(), Arc::clone(space));
        let owner = Owner::Guarded { _mapping: mapping, space, base, bytes };
        Some(Self { host, owner: Some(Arc::new(owner)) })
    }

    /// Allocates zeroed bytes in a file that other processes can open.
    pub(super) fn in_arena(arena: &Arc<Arena>, bytes: u64) -> Option<Self> {
        let piece = arena.take(bytes)?;
        Some(Self { host: piece.pointer(), owner: Some(Arc::new(Owner::Arena(piece))) })
    }

    pub(super) fn mapped(mapping: Mapping, slot: Option<Slot>) -> Self {
        let host = mapping.pointer();
        Self { host, owner: Some(Arc::new(Owner::Mapped { _mapping: mapping, slot })) }
    }

    /// Uses bytes that the client owns.
    pub(super) fn foreign(host: *mut u8) -> Self {
        Self { host, owner: None }
    }

    pub(super) fn part(&self, offset: u64) -> Self {
        let mut part = self.clone();
        part.host = self.host.wrapping_add(offset as usize);
        part
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        match self {
            // SAFETY: allocated in `Backing::heap` with this layout; no owner is left.
            Self::Heap { start, layout } => unsafe { dealloc(*start, *layout) },
            Self::Committed { space, base, bytes } | Self::Guarded { space, base, bytes, .. } => {
                space.decommit(*base, *bytes);
            }
            Self::Arena(_) | Self::Mapped { slot: None, .. } => {}
            Self::Mapped { slot: Some(slot), .. } => slot.close_memory(),
        }
    }
}
