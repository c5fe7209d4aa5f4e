//! Regular differences between the lanes of a warp and its first lane.

use crate::semantics::{LANES, Register, Width};

/// Half a warp, the unit in which memory accesses are examined.
pub(in crate::exec) const HALF: usize = LANES / 2;

/// Differences between the lanes of a warp and its first lane, for registers of a shape.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(in crate::exec) struct Growth {
    pub(in crate::exec) wide: [i64; LANES],
    pub(in crate::exec) narrow: [u32; LANES],
    pub(in crate::exec) least: i64,
    pub(in crate::exec) most: i64,
    /// True if no lane is below one before it.
    pub(in crate::exec) is_ascending: bool,
    /// The position of the lowest bit of the number of the lane, if each lane differs by a multiple
    /// of it that is a power of two.
    pub(in crate::exec) bit: Option<u32>,
}

impl Growth {
    pub(in crate::exec) fn of(coefficients: [i64; 3], lanes: &[[i64; 3]; LANES]) -> Self {
        let wide = lanes.map(|lane| (0..3).map(|axis| lane[axis] * coefficients[axis]).sum());
        Growth {
            wide,
            narrow: wide.map(|growth| growth as u32),
            least: wide.iter().copied().min().unwrap_or(0),
            most: wide.iter().copied().max().unwrap_or(0),
            is_ascending: wide.is_sorted(),
            bit: wide[1]
                .checked_ilog2()
                .filter(|bit| (0..).zip(&wide).all(|(lane, growth)| *growth == lane << bit)),
        }
    }

    /// Returns the least and the greatest difference.
    #[inline(always)]
    pub(in crate::exec) fn ends(&self) -> (i64, i64) {
        (self.least, self.most)
    }

    /// Returns the layout of accesses of this size at this growth; `None` if some are misaligned.
    pub(in crate::exec) fn halves(&self, bytes: i64) -> Option<[Half; 2]> {
        let aligned = self.wide.iter().all(|growth| growth % bytes == 0);
        aligned.then(|| [Half::of(&self.wide, 0, bytes), Half::of(&self.wide, 1, bytes)])
    }
}

/// Layout of the accesses of half a warp.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::exec) enum Half {
    Same,
    /// The lanes access consecutive elements.
    Next,
    Each,
}

impl Half {
    /// Returns the layout of accesses of this size by the lanes of half a warp at these offsets.
    #[inline(always)]
    pub(in crate::exec) fn of(places: &[i64; LANES], half: usize, bytes: i64) -> Half {
        let first = places[half * HALF];
        // Scattered places mostly differ from the first two on.
        let second = places[half * HALF + 1].wrapping_sub(first);
        if second != 0 && second != bytes {
            return Half::Each;
        }
        let (mut change, mut deviation) = (0, 0);
        for lane in 0..HALF {
            let distance = places[half * HALF + lane].wrapping_sub(first);
            change |= distance;
            deviation |= distance ^ (lane as i64).wrapping_mul(bytes);
        }
        match (change, deviation) {
            (0, _) => Half::Same,
            (_, 0) => Half::Next,
            _ => Half::Each,
        }
    }
}

/// A register whose lanes are regular: the first cell of its row, its shape and its width.
#[derive(Clone, Copy, Debug)]
pub(in crate::exec) struct Operand {
    pub(in crate::exec) row: u32,
    pub(in crate::exec) shape: u32,
    pub(in crate::exec) width: Width,
}

impl Operand {
    #[inline(always)]
    pub(in crate::exec) fn register(self) -> Register {
        Register(self.row / LANES as u32)
    }
}

/// Condition under which the lanes of a result are regular.
#[derive(Clone, Copy, Debug)]
pub(in crate::exec) enum Condition {
    /// The 32-bit value that is extended does not wrap between lanes.
    NoWrap { source: Operand, signed: bool },
    /// The lanes differ in five bits, which are the number of the lane. These and lower bits are
    /// zero in the first lane, and these in the other register.
    Thread { source: Operand, other: Option<Operand> },
    /// All lanes have the same sign.
    Sign(Operand),
}
