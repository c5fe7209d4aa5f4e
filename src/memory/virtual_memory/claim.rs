//! Reserved addresses, and the parts of them that are mapped.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cuprum_sys::{CUdeviceptr, FnId, Library};

use crate::context::captures;
use crate::error::Error;
use crate::memory::MemoryError;
use crate::raw::call::{driver_call, forked};
use crate::raw::held::handle;
use crate::raw::owned::Owned;

#[derive(Clone, Copy, Debug)]
pub(super) struct Addresses {
    pub(super) first: CUdeviceptr,
    pub(super) bytes: usize,
}

// SAFETY: the driver allows any thread to use and to free addresses.
handle!(unsafe Addresses: "Reservation", |raw| cuMemAddressFree(raw.first, raw.bytes));

/// State shared by the handles of a reservation and its mappings.
#[derive(Debug)]
pub(super) struct Space {
    pub(super) addresses: Owned<Addresses>,
    /// Offset and length of the parts that are or may be mapped, without overlaps.
    pub(super) taken: Mutex<Vec<(usize, usize)>>,
}

impl Space {
    pub(super) const fn first(&self) -> CUdeviceptr {
        self.addresses.raw().first
    }

    pub(super) const fn library(&self) -> Library {
        self.addresses.library()
    }

    fn taken(&self) -> MutexGuard<'_, Vec<(usize, usize)>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A part of a reservation that is or may be mapped. Nothing else is mapped there.
///
/// Drop releases the part. If it cannot be unmapped, it is forgotten, and the reservation leaks.
#[derive(Debug)]
pub(super) struct Claim {
    space: Arc<Space>,
    pub(super) offset: usize,
    pub(super) bytes: usize,
}

impl Claim {
    pub(super) fn new(space: &Arc<Space>, offset: usize, bytes: usize) -> Result<Self, MemoryError> {
        let reserved = space.addresses.raw().bytes;
        if offset.checked_add(bytes).is_none_or(|end| end > reserved) {
            return Err(MemoryError::Unreserved { offset, bytes, reserved });
        }
        // In a forked child, a thread that no longer exists may hold the lock.
        if space.library().forked() {
            return Err(forked(FnId::cuMemMap).into());
        }
        let mut taken = space.taken();
        if taken.iter().any(|&(start, len)| start < offset + bytes && offset < start + len) {
            return Err(MemoryError::Mapped { offset, bytes });
        }
        taken.push((offset, bytes));
        drop(taken);
        Ok(Self { space: Arc::clone(space), offset, bytes })
    }

    pub(super) fn space(&self) -> &Arc<Space> {
        &self.space
    }

    pub(super) fn address(&self) -> CUdeviceptr {
        self.space.first() + self.offset as CUdeviceptr
    }

    /// Unmaps the range. Leaks the addresses if unmapping may have failed.
    ///
    /// # Safety
    /// No code uses the memory at these addresses any more.
    pub(super) unsafe fn unmap(self) -> Result<(), Error> {
        let (library, address, bytes) = (self.space.library(), self.address(), self.bytes);
        let unmapped = captures::free_beside(library, || {
            // SAFETY: the range was mapped as a whole, and the caller guarantees that it is unused.
            unsafe { driver_call!(library, cuMemUnmap(address, bytes)) }
        });
        if unmapped.is_err() {
            std::mem::forget(self);
        }
        unmapped
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if self.space.library().forked() {
            return;
        }
        let mut taken = self.space.taken();
        // With zero bytes, another part may have the same offset.
        if let Some(at) = taken.iter().position(|&part| part == (self.offset, self.bytes)) {
            taken.swap_remove(at);
        }
    }
}
