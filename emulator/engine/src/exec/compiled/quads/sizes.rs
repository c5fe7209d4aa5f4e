//! The numbers of lanes that run together.

/// Number of lanes of a quad.
pub(in crate::exec::compiled) const QUAD: usize = 4;
/// Maximum number of quads that run together.
pub(in crate::exec::compiled) const MOST_QUADS: usize = 2;
/// Maximum number of lanes that run together.
pub(in crate::exec::compiled) const MOST_LANES: usize = MOST_QUADS * QUAD;
