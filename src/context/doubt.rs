//! Uncertainty about a thread's stack of contexts after a failed push or pop.

use cuprum_sys::CUcontext;

/// A context that may be on the stack without being counted in the record, since a push or pop of
/// it failed.
#[derive(Clone, Copy)]
pub(super) struct Doubt {
    /// The lowest height above which the stack is known: one more than the height directly above
    /// which the context may be; 0 without doubt; `MANY` if several contexts are at unknown
    /// heights.
    pub(super) from: u32,
    pub(super) context: CUcontext,
    /// True if the context directly below is certainly different.
    pub(super) is_apart: bool,
}

/// An unknown height; no height is above it.
pub(super) const MANY: u32 = u32::MAX;

impl Doubt {
    pub(super) const NONE: Self = Self { from: 0, context: CUcontext::null(), is_apart: false };

    pub(super) fn one(context: CUcontext, above: u32) -> Self {
        Self { from: above.saturating_add(1), context, is_apart: false }
    }

    /// The same doubt with `below` directly below, which is null if unknown.
    pub(super) fn on(self, below: CUcontext) -> Self {
        Self { is_apart: !below.is_null() && !self.context.is_null() && below != self.context, ..self }
    }

    pub(super) fn is_some(self) -> bool {
        self.from != 0
    }

    pub(super) fn and(self, other: Self) -> Self {
        match (self.is_some(), other.is_some()) {
            (true, true) => Self { from: MANY, ..other },
            (true, false) => self,
            _ => other,
        }
    }

    /// True if the context directly above this height is known.
    #[inline]
    pub(super) fn spares(self, height: u32) -> bool {
        self.from <= height
    }
}
