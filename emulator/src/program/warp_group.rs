//! `wgmma`: matrix products of a warp group, four warps in a row.
//!
//! Each warp has 16 rows of `a` and of the result. So the products of the warps of a group have nothing to do with each
//! other, but that hardware makes them together.

use super::instruction::Condition;
use super::matrix::Element;
use crate::semantics::Register;

/// Warps of a group.
pub(crate) const WARPS: usize = 4;
/// Rows of `a` and of the result that a warp has.
pub(crate) const ROWS: u32 = 16;
/// Bytes of a row of `a`, and of a column of `b`, in each type of element.
pub(crate) const DEPTH: u32 = 32;
/// Bytes of a row of a core matrix, the smallest part that has an address.
pub(crate) const CORE_ROW: u32 = 16;

/// Where a factor lies in shared memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SharedFactor {
    pub(crate) descriptor: Register,
    /// True if neighbors in memory have the same place in the common dimension.
    pub(crate) transposed: bool,
}

/// The left factor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum LeftFactor {
    Shared(SharedFactor),
    Registers(Vec<Register>),
}

/// `wgmma.mma_async`: `d = a * b + d`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct GroupProduct {
    /// Columns of `b`.
    pub(crate) columns: u32,
    /// Types of the elements of `a`, `b` and `d`.
    pub(crate) types: [Element; 3],
    pub(crate) a: LeftFactor,
    pub(crate) b: SharedFactor,
    pub(crate) d: Vec<Register>,
    /// Condition under which the old values of `d` count.
    pub(crate) accumulates: Condition,
    /// True if one of the factors is negated.
    pub(crate) negated: bool,
    pub(crate) saturate: bool,
    pub(crate) cache: u32,
}

impl GroupProduct {
    /// Elements of the common dimension.
    pub(crate) fn depth(&self) -> u32 {
        DEPTH * 8 / self.types[0].bits()
    }

    /// The row and column, among those of the warp, of a value of `d` that a lane holds.
    pub(crate) fn position(lane: u32, element: u32) -> [u32; 2] {
        [lane / 4 + 8 * (element / 2 % 2), lane % 4 * 2 + element % 2 + 8 * (element / 4)]
    }

    /// The registers whose values a product needs.
    pub(crate) fn sources(&self) -> impl Iterator<Item = Register> {
        let (descriptor, held) = match &self.a {
            LeftFactor::Shared(factor) => (Some(factor.descriptor), [].as_slice()),
            LeftFactor::Registers(registers) => (None, registers.as_slice()),
        };
        descriptor.into_iter().chain(held.iter().copied()).chain([self.b.descriptor])
    }
}

/// Operations of a warp group.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum GroupOp {
    Product(GroupProduct),
    /// Makes a group of the products since the last one.
    Commit,
    /// Waits until no more than so many of the last groups are under way.
    Wait {
        most: u32,
    },
}
