//! The effect of an instruction on the path that ran it.

/// Number of branches after which a divergent path lets the others of its warp run.
pub(in crate::exec) const FUEL: u32 = 4096;

/// Effect of an instruction on the divergent path that ran it.
pub(in crate::exec) enum Flow {
    Next,
    Jump(u32),
    /// The path has ended or waits; there may be new ones.
    Yield,
    /// The path continues, but its warp gives up the rest of its turn.
    Pause,
}
