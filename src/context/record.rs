//! The record of the calling thread's stack of contexts.

use std::cell::Cell;

use cuprum_sys::{CUcontext, Library};

use super::doubt::{Doubt, MANY};

/// State of a thread: plain values, so that nothing has to be dropped when the thread ends.
#[derive(Clone, Copy)]
pub(super) struct Record {
    /// Number of tokens pushed and not yet popped.
    pub(super) height: u32,
    /// The lowest height that may be used: tokens below it belong to code outside of
    /// [`enter`](super::ContextRef::enter).
    pub(super) floor: u32,
    /// The context that this crate left current; null if unknown.
    pub(super) top: CUcontext,
    pub(super) doubt: Doubt,
    /// A library of the driver whose stack this is; none without tokens.
    pub(super) library: Option<Library>,
}

impl Record {
    pub(super) const EMPTY: Self =
        Self { height: 0, floor: 0, top: CUcontext::null(), doubt: Doubt::NONE, library: None };
}

/// The record by field, and whether the thread's stack is taken.
pub(super) struct Thread {
    /// True if the thread's [`ContextStack`](super::ContextStack) is taken.
    pub(super) taken: Cell<bool>,
    /// True if the thread is attached to a context, so that the record of the top is reliable.
    pub(super) attached: Cell<bool>,
    pub(super) height: Cell<u32>,
    pub(super) top: Cell<CUcontext>,
    pub(super) floor: Cell<u32>,
    pub(super) doubt: Cell<Doubt>,
    pub(super) library: Cell<Option<Library>>,
    /// Inside an [`enter`](super::ContextRef::enter) of one driver, the doubt about the stacks of
    /// other drivers, whose tokens may be outside.
    pub(super) elsewhere: Cell<Doubt>,
}

thread_local! {
    pub(super) static THREAD: Thread = const {
        Thread {
            taken: Cell::new(false),
            attached: Cell::new(false),
            height: Cell::new(0),
            top: Cell::new(CUcontext::null()),
            floor: Cell::new(0),
            doubt: Cell::new(Doubt::NONE),
            library: Cell::new(None),
            elsewhere: Cell::new(Doubt::NONE),
        }
    };
}

impl Thread {
    #[inline]
    pub(super) fn is_of(&self, library: Library) -> bool {
        self.library.get().is_some_and(|tracked| tracked.is_same_driver(library))
    }

    pub(super) fn record(&self) -> Record {
        Record {
            height: self.height.get(),
            floor: self.floor.get(),
            top: self.top.get(),
            doubt: self.doubt.get(),
            library: self.library.get(),
        }
    }

    pub(super) fn set_record(&self, record: Record) {
        self.height.set(record.height);
        self.floor.set(record.floor);
        self.top.set(record.top);
        self.doubt.set(record.doubt);
        self.library.set(record.library);
    }

    /// Sets a lower height. Without tokens there is no doubt: contexts left on the stack stay
    /// there, like contexts left by other code.
    pub(super) fn descend_to(&self, height: u32) {
        self.height.set(height);
        if height == 0 {
            self.doubt.set(Doubt::NONE);
        }
    }

    pub(super) fn lose_track(&self) {
        self.top.set(CUcontext::null());
    }

    pub(super) fn doubt(&self, context: CUcontext) {
        self.add_doubt(Doubt::one(context, self.height.get()).on(self.top.get()));
    }

    pub(super) fn add_doubt(&self, doubt: Doubt) {
        self.lose_track();
        // Contexts below the first token belong to other code. They are unknown, and not changed.
        if self.height.get() != 0 {
            self.doubt.set(self.doubt.get().and(doubt));
        }
    }

    /// Moves a doubt from directly above a popped token to directly below it. The top is then
    /// unknown.
    pub(super) fn lower_doubt(&self, below: CUcontext) {
        self.lose_track();
        let Doubt { from, context, .. } = self.doubt.get();
        if from != MANY && self.height.get() != 0 {
            self.doubt.set(Doubt::one(context, self.height.get()).on(below));
        }
    }

    pub(super) fn doubt_elsewhere(&self, doubt: Doubt) {
        self.elsewhere.set(self.elsewhere.get().and(doubt));
    }
}
