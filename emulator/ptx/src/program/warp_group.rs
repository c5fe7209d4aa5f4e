//! `wgmma`: matrix products of a warp group, four warps in a row.
//!
//! Each warp has 16 rows of `a` and of the result. So the products of the warps of a group have nothing to do with each
//! other, but that hardware makes them together.

use super::instruction::Condition;
use super::matrix::Element;
use crate::semantics::Register;

/// Warps of a group.
pub const WARPS: usize = 4;
/// Rows of `a` and of the result that a warp has.
pub const ROWS: u32 = 16;
/// Bytes of a row of `a` as it is stored, in each type of element; columns of `b` have as many, or twice as many if `a`
/// is sparse.
pub(crate) const DEPTH: u32 = 32;
/// Bytes of a row of a core matrix, the smallest part that has an address.
pub const CORE_ROW: u32 = 16;

/// Where a factor lies in shared memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SharedFactor {
    pub descriptor: Register,
    /// True if neighbors in memory have the same place in the common dimension.
    pub transposed: bool,
}

/// The left factor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LeftFactor {
    Shared(SharedFactor),
    Registers(Vec<Register>),
}

/// Where the stored elements of a sparse left factor belong: two among each four of a row, or one of each two of 32
/// bits. The others are zeros.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sparse {
    /// Four bits for each of those groups: two places of two bits.
    pub places: Register,
    /// Which lanes of each four have those that count: the first two or the last two.
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
    /// Condition under which the old values of `d` count.
    pub accumulates: Condition,
    /// True if one of the factors is negated.
    pub negated: bool,
    pub saturate: bool,
    pub cache: u32,
}

impl GroupProduct {
    /// Elements of a row of `a` as it is stored.
    #[inline]
    pub fn stored(&self) -> u32 {
        DEPTH * 8 / self.types[0].bits()
    }

    /// Elements of the common dimension.
    #[inline]
    pub fn depth(&self) -> u32 {
        if self.sparse.is_some() { 2 * self.stored() } else { self.stored() }
    }

    /// The lane of a warp that knows where a stored element of a sparse row belongs, and the place of its four bits in
    /// its register.
    #[inline]
    pub fn known_by(&self, row: u32, element: u32, selector: u32) -> [u32; 2] {
        let (first, upper) = (row % 8 * 4, row / 8);
        match self.types[0].bits() {
            8 => [first + upper + element / 2 / 8 * 2, element / 2 % 8 * 4],
            // Each lane has four groups of a row and of that eight rows below.
            16 => [first + 2 * selector + element / 2 / 4, 16 * upper + element / 2 % 4 * 4],
            _ => [first + 2 * selector + element / 4, 16 * upper + element % 4 * 4],
        }
    }

    /// Where in a sparse row a stored element belongs, given the four bits that say so. Those of an element of 32 bits are
    /// the places of its halves: what is no place of an element has a number beyond the row.
    #[inline]
    pub fn place(&self, element: u32, bits: u32) -> u32 {
        match (self.types[0].bits(), bits & 15) {
            (32, 0b0100) => 2 * element,
            (32, 0b1110) => 2 * element + 1,
            (32, halves) => self.depth() + 16 * element + halves,
            _ => element / 2 * 4 + (bits >> (element % 2 * 2) & 3),
        }
    }

    /// The row and column, among those of the warp, of a value of `d` that a lane holds.
    #[inline]
    pub fn position(lane: u32, element: u32) -> [u32; 2] {
        [lane / 4 + 8 * (element / 2 % 2), lane % 4 * 2 + element % 2 + 8 * (element / 4)]
    }

    /// The registers whose values a product needs.
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
    /// Makes a group of the products since the last one.
    Commit,
    /// Waits until no more than so many of the last groups are under way.
    Wait {
        most: u32,
    },
}
