//! What is not known of a thread's stack of contexts after a push or pop that failed.

use cuprum_sys::CUcontext;

/// A context that may or may not be on the stack beyond what the record counts, as a push or pop of it failed.
#[derive(Clone, Copy)]
pub(super) struct Doubt {
    /// The least height above which all is known: one more than the height right above which it may lie, 0 without
    /// doubt, and `MANY` where several lie who knows where.
    pub(super) from: u32,
    /// Which one; null where that is not known.
    pub(super) context: CUcontext,
    /// Whether the context right below is another one for sure.
    pub(super) is_apart: bool,
}

/// No height is above so many doubts.
pub(super) const MANY: u32 = u32::MAX;

impl Doubt {
    pub(super) const NONE: Self = Self { from: 0, context: CUcontext::null(), is_apart: false };

    pub(super) fn one(context: CUcontext, above: u32) -> Self {
        Self { from: above.saturating_add(1), context, is_apart: false }
    }

    /// The same with `below` right below, which is null where that is not known.
    pub(super) fn on(self, below: CUcontext) -> Self {
        Self { is_apart: !below.is_null() && !self.context.is_null() && below != self.context, ..self }
    }

    pub(super) fn is_some(self) -> bool {
        self.from != 0
    }

    /// Both doubts.
    pub(super) fn and(self, other: Self) -> Self {
        match (self.is_some(), other.is_some()) {
            (true, true) => Self { from: MANY, ..other },
            (true, false) => self,
            _ => other,
        }
    }

    /// Whether what lies right above this height is known.
    #[inline]
    pub(super) fn spares(self, height: u32) -> bool {
        self.from <= height
    }
}
