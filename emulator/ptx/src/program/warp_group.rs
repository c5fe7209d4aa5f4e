//! `wgmma`: matrix products of a warp group, which is four consecutive warps.
//!
//! Each warp has 16 rows of `a` and of the result. The products of the warps are therefore
//! independent, except that hardware computes them together.

use super::condition::Condition;
use super::matrix::Element;
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

/// Positions of the stored elements of a sparse left factor: two among each four of a row, or one
/// of each two of 32 bits. The others are zeros.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sparse {
    /// Four bits for each of these groups: two positions of two bits.
    pub places: Register,
    /// The lanes of each four that provide them: the first two or the last two.
    pub selector: u32,
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

    /// Returns the lane of a warp that has the position of a stored element of a sparse row, and
    /// the offset of its four bits in the register.
    #[inline]
    pub fn known_by(&self, row: u32, element: u32, selector: u32) -> [u32; 2] {
        let (first, upper) = (row % 8 * 4, row / 8);
        match self.types[0].bits() {
            8 => [first + upper + element / 2 / 8 * 2, element / 2 % 8 * 4],
            // Each lane has four groups of a row, and of the row eight rows below.
            16 => [first + 2 * selector + element / 2 / 4, 16 * upper + element / 2 % 4 * 4],
            _ => [first + 2 * selector + element / 4, 16 * upper + element % 4 * 4],
        }
    }

    /// Returns the position of a stored element in a sparse row, given its four bits. For a 32-bit
    /// element, they are the positions of its halves; invalid ones are beyond the row.
    #[inline]
    pub fn place(&self, element: u32, bits: u32) -> u32 {
        match (self.types[0].bits(), bits & 15) {
            (32, 0b0100) => 2 * element,
            (32, 0b1110) => 2 * element + 1,
            (32, halves) => self.depth() + 16 * element + halves,
            _ => element / 2 * 4 + (bits >> (element % 2 * 2) & 3),
        }
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
