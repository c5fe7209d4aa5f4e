//! Marks of memory that work may still use although its wait failed.
//!
//! Host memory has its own mark, and must not be read, written or freed once it is marked. A
//! context has one mark for all its memory, which work of other contexts may use: then none of it
//! is freed any more. A scope chains the marks of its loans, through the marks themselves, so that
//! lending page-locked memory allocates nothing. If the wait of the scope fails, it sets them all;
//! otherwise there is nothing to undo.

use std::cell::{Cell, RefCell};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

/// The mark of lost memory, and a link in the chain of the last scope that borrowed it.
#[derive(Debug)]
pub(crate) struct Mark {
    lost: AtomicBool,
    /// Read only by that scope. The next loan overwrites it.
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

/// The marks of a scope's loans: of page-locked memory, and of other contexts.
pub(crate) struct Marks {
    chain: Cell<*mut Mark>,
    /// Marks that other scopes may have at the same time, so that they cannot be in a chain. Rare.
    shared: RefCell<Vec<NonNull<Mark>>>,
}

impl Default for Marks {
    /// `AtomicPtr` has no null default in Rust 1.85.
    fn default() -> Self {
        Self { chain: Cell::new(ptr::null_mut()), shared: RefCell::default() }
    }
}

impl Marks {
    /// Adds memory lent to the scope of this chain.
    ///
    /// # Safety
    /// The mark does not move, is alive and in no other chain while this chain is used, and was not
    /// added before.
    #[inline]
    pub(crate) unsafe fn add(&self, mark: &Mark) {
        mark.next.store(self.chain.get(), Ordering::Relaxed);
        self.chain.set(ptr::from_ref(mark).cast_mut());
    }

    /// Adds memory lent to this and other scopes.
    ///
    /// # Safety
    /// The mark does not move and is alive while this is used.
    pub(crate) unsafe fn add_shared(&self, mark: &Mark) {
        self.shared.borrow_mut().push(NonNull::from(mark));
    }

    #[cold]
    pub(crate) fn lose(&self) {
        let mut at = self.chain.get();
        while !at.is_null() {
            // SAFETY: the caller of `add` keeps the mark alive.
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
