//! Left factors of matrix products that store half of their elements, and the positions of these.

use crate::semantics::Register;

/// Positions of the stored elements of a sparse left factor: two among each four of a row, one of
/// each two of 32 bits, or two pairs among each four of 4 bits. The others are zeros.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sparse {
    /// Four bits for each of these groups.
    pub places: Register,
    /// The lanes of each four that provide them, unless all do: one, or the first or last two.
    pub selector: u32,
    /// Bits of an element.
    pub bits: u32,
    /// Number of stored elements of a row.
    pub stored: u32,
}

impl Sparse {
    /// Returns the number of stored elements of a group.
    fn group(&self) -> u32 {
        match self.bits {
            32 => 1,
            4 => 4,
            _ => 2,
        }
    }

    /// Returns the number of selectors.
    #[inline]
    pub fn selectors(&self) -> u32 {
        // A group of lanes provides the positions of two rows, 32 bits from each lane.
        let lanes = 2 * self.stored / self.group() * 4 / 32;
        4 / lanes
    }

    /// Returns the lane of a warp that has the position of a stored element of a row, and the
    /// offset of its four bits in the register.
    #[inline]
    pub fn known_by(&self, row: u32, element: u32) -> [u32; 2] {
        let (first, upper, group) = (row % 8 * 4, row / 8, element / self.group());
        match (self.bits, self.selectors()) {
            (16 | 32, 4) => [first + self.selector, 16 * upper + 4 * group],
            // Each lane has four groups of a row, and of the row eight rows below.
            (16 | 32, _) => [first + 2 * self.selector + group / 4, 16 * upper + group % 4 * 4],
            (_, 2) => [first + 2 * self.selector + upper, 4 * group],
            _ => [first + upper + group / 8 * 2, group % 8 * 4],
        }
    }

    /// Returns the position of a stored element in a row, given its four bits. For a 32-bit
    /// element, they are the positions of its halves; invalid ones are beyond the row.
    #[inline]
    pub fn place(&self, element: u32, bits: u32) -> u32 {
        match (self.bits, bits & 15) {
            (32, 0b0100) => 2 * element,
            (32, 0b1110) => 2 * element + 1,
            (32, halves) => 2 * self.stored + 16 * element + halves,
            (4, _) => element / 4 * 8 + (bits >> (element / 2 % 2 * 2) & 3) * 2 + element % 2,
            _ => element / 2 * 4 + (bits >> (element % 2 * 2) & 3),
        }
    }
}
