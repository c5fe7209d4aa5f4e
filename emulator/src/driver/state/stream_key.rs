//! The key of a stream, by which operations are ordered.

use std::ops::RangeInclusive;

/// Number of an issued operation, ascending in the order of issue.
pub(crate) type Ticket = u64;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct StreamKey {
    pub(crate) context: usize,
    /// The green context of the stream, 0 for none. Each green context has a legacy default stream.
    pub(crate) green: usize,
    /// Identifies the stream within its context; [`StreamKey::LEGACY`] is the legacy default
    /// stream.
    pub(crate) stream: u64,
    /// True if it synchronizes with the legacy default stream.
    pub(crate) blocking: bool,
}

impl StreamKey {
    pub(crate) const LEGACY: u64 = 0;

    /// False for the legacy default stream outside green contexts, as on an H100 with driver 580.
    pub(super) fn can_be_captured(self) -> bool {
        self.stream != Self::LEGACY || self.green != 0
    }

    /// Returns the legacy default stream of the same context.
    pub(super) fn default_stream(self) -> Self {
        Self { stream: Self::LEGACY, blocking: false, ..self }
    }

    /// Returns all streams of a context, or of one of its green contexts (0: of none).
    pub(super) fn lanes_of(context: usize, green: Option<usize>) -> RangeInclusive<Self> {
        let first = Self { context, green: green.unwrap_or(0), stream: 0, blocking: false };
        let last = Self { green: green.unwrap_or(usize::MAX), stream: u64::MAX, blocking: true, ..first };
        first..=last
    }

    /// True if an operation in `self` waits for an earlier one in `earlier`.
    pub(super) fn follows(self, earlier: Self) -> bool {
        self.context == earlier.context
            && self.green == earlier.green
            && (self.stream == earlier.stream
                || (self.stream == Self::LEGACY && earlier.blocking)
                || (self.blocking && earlier.stream == Self::LEGACY))
    }
}
