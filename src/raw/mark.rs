//! Marks of memory that work may still use although its wait has failed.
//!
//! Memory of the host carries a mark of its own, and must neither be read, written nor freed once it is marked. A context
//! carries one for all its memory, which work of other contexts may use: then nothing of it is freed any more. A scope chains
//! the marks of what it was lent, through the marks themselves, so that lending page-locked memory allocates nothing, and
//! sets them all if it cannot be waited for. If it can, there is nothing to undo.

use std::cell::{Cell, RefCell};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

/// The mark of lost memory, and a link in the chain of the scope that it was lent to last.
#[derive(Debug)]
pub(crate) struct Mark {
    lost: AtomicBool,
    /// Read only by that scope. Whatever it says afterwards, it is overwritten by the next loan.
    next: AtomicPtr<Mark>,
}

impl Mark {
    pub(crate) const fn new() -> Self {
        Self { lost: AtomicBool::new(false), next: AtomicPtr::new(ptr::null_mut()) }
    }

    #[cold]
    pub(crate) fn lose(&self) {
        self.lost.store(true, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }
}

/// The marks of what a scope was lent: of page-locked memory, and of other contexts.
pub(crate) struct Marks {
    chain: Cell<*mut Mark>,
    /// Of what other scopes may have at the same time, so that it cannot be in a chain. Rare.
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

    /// Adds what is lent to this and other scopes.
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
            mark.lose();
            at = mark.next.load(Ordering::Relaxed);
        }
        for mark in self.shared.borrow().iter() {
            // SAFETY: as above.
            unsafe { mark.as_ref() }.lose();
        }
    }
}
