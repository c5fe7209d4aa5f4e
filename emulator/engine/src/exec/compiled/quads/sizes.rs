//! The numbers of lanes that run together.

/// Number of lanes of a quad.
pub(in crate::exec::compiled) const QUAD: usize = 4;
/// Number of lanes of an octet.
pub(in crate::exec::compiled) const OCTET: usize = 2 * QUAD;
/// Maximum number of quads that run together: all of a warp.
pub(in crate::exec::compiled) const MOST_QUADS: usize = 8;
/// Maximum number of lanes that run together.
pub(in crate::exec::compiled) const MOST_LANES: usize = MOST_QUADS * QUAD;
