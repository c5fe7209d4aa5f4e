//! Pools shared by several processes. They are files.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};

use super::backing::Backing;
use super::region::Region;
use super::shared::{Arena, Purpose, SharedFile};
use super::{AllocError, GRANULARITY, Memory, RegionKind, Request};

/// Identifies an exported pointer, in its first word.
const POINTER: u64 = u64::from_le_bytes(*b"cuprumpp");

/// The memory of a pool that was created for sharing.
///
/// ```
/// use cuprum_engine::memory::PoolFile;
///
/// if let Some(pool) = PoolFile::create(0) {
///     assert!(!pool.is_imported() && pool.device() == 0);
/// }
/// ```
#[derive(Debug)]
pub struct PoolFile {
    file: Arc<SharedFile>,
    /// The allocator, only in the process that created the pool.
    arena: Option<Arc<Arena>>,
    /// True after a descriptor was requested. A pool must be exported before its memory, as on an
    /// H100 with driver 580.
    exported: AtomicBool,
}

impl PoolFile {
    /// Creates one. Returns `None` if the system cannot share memory.
    pub fn create(device: u32) -> Option<Self> {
        let arena = Arena::create(Purpose::Pool, device)?;
        Some(Self { file: Arc::clone(&arena.file), arena: Some(arena), exported: AtomicBool::new(false) })
    }

    /// Imports a pool by a descriptor, which the caller keeps. Returns `None` for any other.
    pub fn import(descriptor: i32) -> Option<Self> {
        let file = SharedFile::adopt(descriptor, Purpose::Pool)?;
        Some(Self { file, arena: None, exported: AtomicBool::new(false) })
    }

    /// Returns a descriptor, which the client passes to another process and closes.
    pub fn export(&self) -> Option<i32> {
        self.exported.store(true, Ordering::Relaxed);
        self.file.give()
    }

    /// True if it was imported by a descriptor.
    pub fn is_imported(&self) -> bool {
        self.arena.is_none()
    }

    /// Returns the device for which it was created.
    pub fn device(&self) -> u32 {
        self.file.device()
    }

    /// Exports an allocation of this pool, so that another process can find it.
    pub fn export_pointer(&self, region: &Region) -> Option<[u8; 64]> {
        if !self.exported.load(Ordering::Relaxed) {
            return None;
        }
        let piece = region.piece().filter(|piece| Arc::ptr_eq(&piece.arena.file, &self.file))?;
        let words = [POINTER, self.file.identity()?, piece.offset, region.len];
        let mut packed = [0; 64];
        for (place, word) in packed.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        Some(packed)
    }
}

impl Memory {
    /// Allocates from a shared pool.
    ///
    /// # Errors
    ///
    /// [`AllocError::OutOfMemory`].
    pub fn alloc_shared(&self, pool: &PoolFile, request: &Request) -> Result<Region, AllocError> {
        let arena = pool.arena.as_ref().ok_or(AllocError::OutOfMemory)?;
        let span = request.bytes.checked_next_multiple_of(GRANULARITY).ok_or(AllocError::OutOfMemory)?;
        self.charge(&mut self.lock(), request.device, span)?;
        let region = Backing::in_arena(arena, request.bytes).and_then(|backing| self.enter(request, backing));
        region.ok_or_else(|| {
            self.refund(&mut self.lock(), request.device, span);
            AllocError::OutOfMemory
        })
    }

    /// Imports an allocation that another process has exported. Returns the same address if it was
    /// imported before. Returns `None` if it does not belong to that pool.
    pub fn import_pointer(&self, pool: &PoolFile, pointer: &[u8; 64], context: u64) -> Option<Region> {
        let word = |index: usize| {
            let bytes = pointer.get(8 * index..8 * index + 8)?;
            Some(u64::from_le_bytes(bytes.try_into().ok()?))
        };
        let (identity, offset, bytes) = (word(1)?, word(2)?, word(3)?);
        if word(0)? != POINTER || Some(identity) != pool.file.identity() {
            return None;
        }
        let mut pointers = self.pointers.lock().unwrap_or_else(PoisonError::into_inner);
        let again = pointers.get(&(identity, offset)).and_then(|base| self.find(*base));
        if let Some(region) = again.filter(|region| region.kind == RegionKind::Opened) {
            return Some(region);
        }
        let mapping = pool.file.map(offset, bytes)?;
        let request = Request { kind: RegionKind::Opened, ..Request::device(bytes, context, pool.device()) };
        let region = self.enter(&request, Backing::mapped(mapping, None))?;
        pointers.retain(|_, base| self.find(*base).is_some());
        pointers.insert((identity, offset), region.base);
        Some(region)
    }
}
