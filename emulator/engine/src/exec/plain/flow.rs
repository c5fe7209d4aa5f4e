//! The effect of an instruction on the path that ran it.

/// Effect of an instruction on the divergent path that ran it.
pub(in crate::exec) enum Flow {
    Next,
    /// As `Next`, after an attempt that other warps have to make possible.
    Retry,
    Jump(u32),
    /// The path has ended or waits; there may be new ones.
    Yield,
    /// The path continues, but its warp gives up the rest of its turn.
    Pause,
}

impl Flow {
    /// Returns the flow after an atomic operation, which is false if it changed nothing.
    pub(super) fn after_exchange(changes: bool) -> Self {
        if changes { Self::Next } else { Self::Retry }
    }
}
