//! Uncertainty about a thread's stack of contexts after a failed push or pop.

use cuprum_sys::CUcontext;

/// A context that may be on the stack without being counted in the record, since a push or pop of it failed.
#[derive(Clone, Copy)]
pub(super) struct Doubt {
    /// The least height above which all is known: one more than the height right above which the context may lie, 0
    /// without doubt, and `MANY` if several lie at unknown heights.
    pub(super) from: u32,
    /// The context; null if it is not known.
    pub(super) context: CUcontext,
    /// True if the context right below is certainly another one.
    pub(super) is_apart: bool,
}

/// Stands for unknown heights: no height is above it.
pub(super) const MANY: u32 = u32::MAX;

impl Doubt {
    pub(super) const NONE: Self = Self { from: 0, context: CUcontext::null(), is_apart: false };

    pub(super) fn one(context: CUcontext, above: u32) -> Self {
        Self { from: above.saturating_add(1), context, is_apart: false }
    }

    /// The same with `below` right below, which is null if that is not known.
    pub(super) fn on(self, below: CUcontext) -> Self {
        Self { is_apart: !below.is_null() && !self.context.is_null() && below != self.context, ..self }
    }

    pub(super) fn is_some(self) -> bool {
        self.from != 0
    }

    /// Both doubts in one.
    pub(super) fn and(self, other: Self) -> Self {
        match (self.is_some(), other.is_some()) {
            (true, true) => Self { from: MANY, ..other },
            (true, false) => self,
            _ => other,
        }
    }

    /// True if it is known what lies right above this height.
    #[inline]
    pub(super) fn spares(self, height: u32) -> bool {
        self.from <= height
    }
}
