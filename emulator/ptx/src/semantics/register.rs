//! Registers, predicates and lanes.

/// Number of lanes of a warp.
pub const LANES: usize = 32;

/// Index of a register's first row in the register file of a warp.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub struct Register(pub u32);

/// Index of a predicate, which is one word with one bit per lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub struct Predicate(pub u32);

impl Predicate {
    /// The predicate that is true in every lane.
    pub const TRUE: Predicate = Predicate(0);
}

/// Number of rows of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Width {
    /// No operand.
    None,
    /// One row.
    Single,
    /// Two rows.
    Double,
}

/// Iterates over the lanes of `mask`, ascending.
#[inline]
pub fn lanes_of(mut mask: u32) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let lane = mask.trailing_zeros();
        (mask != 0).then(|| {
            mask &= mask - 1;
            lane as usize
        })
    })
}

/// Returns the first row of a register.
#[inline(always)]
pub(super) fn row(rows: *const u32, register: Register) -> *const u32 {
    rows.wrapping_add(register.0 as usize * LANES)
}
