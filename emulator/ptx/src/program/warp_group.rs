//! `wgmma`: matrix products of a warp group, which is four consecutive warps.
//!
//! Each warp has 16 rows of `a` and of the result. The products of the warps are therefore
//! independent, except that hardware computes them together.

use super::condition::Condition;
use super::matrix::Element;
use super::sparse::Sparse;
use crate::semantics::Register;

/// Warps of a group.
pub const WARPS: usize = 4;
/// Number of rows of `a` and of the result per warp.
pub const ROWS: u32 = 16;
/// Bytes per stored row of `a`, by type. Columns of `b` have as many, or twice if `a` is sparse.
pub(crate) const DEPTH: u32 = 32;
/// Bytes per row of a core matrix, the smallest part with an address.
pub const CORE_ROW: u32 = 16;

/// Location of a factor in shared memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SharedFactor {
    pub descriptor: Register,
    /// True if elements that are adjacent in memory have the same position in the common dimension.
    pub transposed: bool,
}

/// The left factor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LeftFactor {
    Shared(SharedFactor),
    Registers(Vec<Register>),
}

/// `wgmma.mma_async`: `d = a * b + d`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GroupProduct {
    /// Columns of `b`.
    pub columns: u32,
    /// Types of the elements of `a`, `b` and `d`.
    pub types: [Element; 3],
    pub a: LeftFactor,
    pub sparse: Option<Sparse>,
    pub b: SharedFactor,
    pub d: Vec<Register>,
    /// Condition under which the product is added to the old values of `d`.
    pub accumulates: Condition,
    /// True if one of the factors is negated.
    pub negated: bool,
    pub saturate: bool,
    pub cache: u32,
}

impl GroupProduct {
    /// Returns the number of stored elements per row of `a`.
    #[inline]
    pub fn stored(&self) -> u32 {
        DEPTH * 8 / self.types[0].bits()
    }

    /// Returns the number of elements of the common dimension.
    #[inline]
    pub fn depth(&self) -> u32 {
        if self.sparse.is_some() { 2 * self.stored() } else { self.stored() }
    }

    /// Returns the row and column, within the warp's rows, of a lane's value of `d`.
    #[inline]
    pub fn position(lane: u32, element: u32) -> [u32; 2] {
        [lane / 4 + 8 * (element / 2 % 2), lane % 4 * 2 + element % 2 + 8 * (element / 4)]
    }

    /// Returns the registers that a product reads.
    #[inline]
    pub fn sources(&self) -> impl Iterator<Item = Register> {
        let (descriptor, held) = match &self.a {
            LeftFactor::Shared(factor) => (Some(factor.descriptor), [].as_slice()),
            LeftFactor::Registers(registers) => (None, registers.as_slice()),
        };
        let places = self.sparse.map(|sparse| sparse.places);
        descriptor.into_iter().chain(held.iter().copied()).chain(places).chain([self.b.descriptor])
    }
}

/// Operations of a warp group.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum GroupOp {
    Product(GroupProduct),
    /// Combines the products since the last group into a group.
    Commit,
    /// Waits until at most `most` of the last groups are in progress.
    Wait {
        most: u32,
    },
}
