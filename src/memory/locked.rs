//! Page-locked memory, and its protection from the host while the device may still write it.
//!
//! After a fault every wait answers at once, while copies to page-locked memory go on, and no call tells when they are
//! over (see the [module of streams](crate::stream)). So a wait that fails proves nothing: the memory that the work was
//! lent must neither be read, written nor freed any more. Its owners carry a [`Mark`] for that. A scope chains the
//! marks of the memory that it was lent, through the marks themselves, so that lending allocates nothing, and sets them
//! all if it cannot be waited for. If it can, there is nothing to undo.

use std::cell::{Cell, RefCell};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use super::DeviceData;

/// The mark of lost memory, and a link in the chain of the scope that it was lent to last.
#[derive(Debug, Default)]
pub(crate) struct Mark {
    lost: AtomicBool,
    /// Read only by that scope. Whatever it says afterwards, it is overwritten by the next loan.
    next: AtomicPtr<Mark>,
}

impl Mark {
    #[inline]
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }
}

/// The page-locked memory that a scope was lent.
pub(crate) struct Marks {
    chain: Cell<*mut Mark>,
    /// Memory that other scopes may have at the same time, so that it cannot be in a chain. Rare.
    shared: RefCell<Vec<NonNull<Mark>>>,
}

impl Default for Marks {
    /// A null pointer has no default in Rust 1.85.
    fn default() -> Self {
        Self { chain: Cell::new(ptr::null_mut()), shared: RefCell::default() }
    }
}

impl Marks {
    /// Adds memory that is lent to the scope of this chain.
    ///
    /// # Safety
    /// The mark stays where it is, alive and in no other chain as long as this one is used, and was not added before.
    #[inline]
    pub(crate) unsafe fn add(&self, mark: &Mark) {
        mark.next.store(self.chain.get(), Ordering::Relaxed);
        self.chain.set(ptr::from_ref(mark).cast_mut());
    }

    /// Adds memory that is lent to this and other scopes.
    ///
    /// # Safety
    /// The mark stays where it is and alive as long as this is used.
    pub(crate) unsafe fn add_shared(&self, mark: &Mark) {
        self.shared.borrow_mut().push(NonNull::from(mark));
    }

    /// Marks all memory in the chain as lost.
    #[cold]
    pub(crate) fn lose(&self) {
        let mut at = self.chain.get();
        while !at.is_null() {
            // SAFETY: whoever added the mark keeps it alive.
            let mark = unsafe { &*at };
            mark.lost.store(true, Ordering::Relaxed);
            at = mark.next.load(Ordering::Relaxed);
        }
        for mark in self.shared.borrow().iter() {
            // SAFETY: as above.
            unsafe { mark.as_ref() }.lost.store(true, Ordering::Relaxed);
        }
    }
}

/// Elements in page-locked memory of the host.
///
/// It is `pub` only because a sealed trait returns it.
#[derive(Debug)]
pub struct Locked<T> {
    start: NonNull<T>,
    len: usize,
    /// True if it is page-locked for the other contexts of the driver too.
    portable: bool,
    mark: Mark,
}

// SAFETY: it stands for the elements, which can be sent; the mark is made of atomics.
unsafe impl<T: Send> Send for Locked<T> {}
// SAFETY: it gives out shared references to the elements by a shared one.
unsafe impl<T: Sync> Sync for Locked<T> {}

impl<T: DeviceData> Locked<T> {
    /// # Safety
    /// `len` initialized elements lie at `start`, which is aligned, and nobody else uses them as long as this is there.
    pub(crate) unsafe fn new(start: NonNull<T>, len: usize, portable: bool) -> Self {
        Self { start, len, portable, mark: Mark::default() }
    }

    #[inline]
    pub(crate) const fn start(&self) -> NonNull<T> {
        self.start
    }

    /// The number of elements, lost or not.
    #[inline]
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    pub(crate) const fn is_portable(&self) -> bool {
        self.portable
    }

    pub(crate) const fn mark(&self) -> &Mark {
        &self.mark
    }

    #[inline]
    pub(crate) fn is_lost(&self) -> bool {
        self.mark.is_lost()
    }

    /// The number of elements that the host may reach.
    #[inline]
    fn reachable(&self) -> usize {
        if self.is_lost() { 0 } else { self.len }
    }

    #[inline]
    pub(crate) fn as_slice(&self) -> &[T] {
        // SAFETY: initialized elements of that number, unless they are lost, and borrowed as this is. The device writes
        // them only while they are borrowed mutably for a scope, or after they were lost.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.reachable()) }
    }

    #[inline]
    pub(crate) fn as_mut_slice(&mut self) -> &mut [T] {
        // SAFETY: as in `as_slice`, of memory that is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.reachable()) }
    }
}

/// An owner of page-locked memory: a [`PinnedBuffer`](super::PinnedBuffer) or [`Registered`](super::Registered) memory.
///
/// It can be [lent to a scope](crate::Scope::lend_host), whose stream copies from and to it beside the host.
///
/// Example: that of [`PinnedBuffer`](super::PinnedBuffer), `lend_host`.
pub trait PageLocked: sealed::PageLocked {}

impl<M: sealed::PageLocked + ?Sized> PageLocked for M {}

pub(crate) mod sealed {
    use super::{DeviceData, Locked};
    use crate::context::ContextRef;

    #[diagnostic::on_unimplemented(
        message = "`{Self}` cannot be lent as page-locked memory",
        label = "lend a whole `PinnedBuffer` or `Registered`: after a fault, only its owner can be kept from the host"
    )]
    pub trait PageLocked {
        /// Type of its elements.
        type Element: DeviceData;
        fn locked(&self) -> &Locked<Self::Element>;
        fn home(&self) -> &ContextRef;
    }
}
