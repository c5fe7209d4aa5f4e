//! The directions of rounding.

/// Round to nearest, ties to even.
pub const NEAREST: u8 = 0;
/// Round towards zero.
pub const ZERO: u8 = 1;
/// Round towards minus infinity.
pub(crate) const DOWN: u8 = 2;
/// Round towards plus infinity.
pub(crate) const UP: u8 = 3;
