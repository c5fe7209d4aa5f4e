//! The effect of an instruction on the path that ran it.

/// Effect of an instruction on the divergent path that ran it.
pub(in crate::exec) enum Flow {
    Next,
    Jump(u32),
    /// The path has ended or waits; there may be new ones.
    Yield,
    /// The path continues, but its warp gives up the rest of its turn.
    Pause,
}
