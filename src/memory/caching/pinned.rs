//! Blocks of page-locked memory: the held ones of a part of a pool, and those in use.

use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::ptr;

use super::{Bins, Counts, SizeClass, Stock, User, free_silently};
use crate::context::{ContextRef, captures, context_call};
use crate::error::Error;

#[derive(Default)]
pub(in crate::memory) struct Blocks {
    bins: Bins,
    pub(in crate::memory) counts: Counts,
}

/// A block in use, which returns to its pool on drop.
pub(in crate::memory) struct PinnedLease<'p> {
    pool: ManuallyDrop<User<'p, Blocks>>,
    start: *mut c_void,
    class: SizeClass,
    bytes: usize,
}

// SAFETY: any thread may use and free the block; threads share the pool.
unsafe impl Send for PinnedLease<'_> {}
// SAFETY: as above; a shared reference gives only an address.
unsafe impl Sync for PinnedLease<'_> {}

impl Blocks {
    /// Takes a held block into use.
    #[inline]
    pub(in crate::memory) fn take(&mut self, class: SizeClass, bytes: usize) -> Option<u64> {
        let block = self.bins.take(class)?;
        self.counts.reused(bytes);
        Some(block)
    }

    /// Takes a held block for another part.
    pub(in crate::memory) fn give_away(&mut self, class: SizeClass) -> Option<u64> {
        let block = self.bins.take(class)?;
        self.counts.freed(class);
        Some(block)
    }

    /// Holds a block that returns. Returns false if it is to be freed instead.
    #[inline]
    fn put(&mut self, class: SizeClass, block: u64, bytes: usize) -> bool {
        let held = self.counts.given_back(class, bytes);
        if held {
            self.bins.put(class, block);
        }
        held
    }
}

impl Stock for Blocks {
    type Place = SizeClass;

    fn largest(&self) -> Option<SizeClass> {
        self.bins.largest()
    }

    fn counts(&mut self) -> &mut Counts {
        &mut self.counts
    }

    fn take_held(&mut self) -> Option<(SizeClass, u64)> {
        let class = self.bins.largest()?;
        self.counts.freed(class);
        Some((class, self.bins.take(class)?))
    }

    fn put_back(&mut self, class: SizeClass, block: Option<u64>) {
        if let Some(block) = block {
            self.counts.not_freed(class);
            self.bins.put(class, block);
        }
    }

    fn free(context: &ContextRef, block: u64) -> Result<(), Error> {
        let start = ptr::with_exposed_provenance_mut(block as usize);
        captures::free_beside(context.library(), || {
            // SAFETY: the block has no users, on the host or the device.
            unsafe { context_call!(context, cuMemFreeHost(start)) }
        })
    }
}

impl<'p> PinnedLease<'p> {
    /// A block that is already counted as in use.
    #[inline]
    pub(in crate::memory) fn new(
        part: &User<'p, Blocks>,
        block: u64,
        class: SizeClass,
        bytes: usize,
    ) -> Self {
        let start = ptr::with_exposed_provenance_mut(block as usize);
        Self { pool: ManuallyDrop::new(part.clone()), start, class, bytes }
    }

    pub(in crate::memory) const fn start(&self) -> *mut c_void {
        self.start
    }

    pub(in crate::memory) fn context(&self) -> &ContextRef {
        self.pool.context()
    }

    /// Leaks the block, because the device may still write it: the block is not reused, and the
    /// context, which would free it, does not end.
    #[cold]
    pub(in crate::memory) fn lose(self) {
        let mut this = ManuallyDrop::new(self);
        std::mem::forget(this.pool.context().clone());
        // SAFETY: taken once, from a value that is not dropped.
        drop(unsafe { ManuallyDrop::take(&mut this.pool) });
    }
}

impl Drop for PinnedLease<'_> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: taken once, here, where the value has no users any more.
        let pool = unsafe { ManuallyDrop::take(&mut self.pool) };
        if pool.forked() {
            return;
        }
        let (class, block, bytes) = (self.class, self.start.expose_provenance() as u64, self.bytes);
        if let Some(pool) = pool.leave_if(|blocks| blocks.put(class, block, bytes)) {
            let context = pool.context();
            free_silently(context, [block], |block| Blocks::free(context, block));
        }
    }
}
