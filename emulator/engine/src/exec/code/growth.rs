//! Differences between the lanes of a warp and its first lane, where they are regular.

use super::HALF;
use crate::semantics::{LANES, Width};

/// Differences between the lanes of a warp and its first lane, in a register of some shape.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(in crate::exec) struct Growth {
    pub(in crate::exec) wide: [i64; LANES],
    pub(in crate::exec) narrow: [u32; LANES],
    pub(in crate::exec) least: i64,
    pub(in crate::exec) most: i64,
}

impl Growth {
    pub(in crate::exec) fn of(coefficients: [i64; 3], lanes: &[[i64; 3]; LANES]) -> Self {
        let wide = lanes.map(|lane| (0..3).map(|axis| lane[axis] * coefficients[axis]).sum());
        Growth {
            wide,
            narrow: wide.map(|growth| growth as u32),
            least: wide.iter().copied().min().unwrap_or(0),
            most: wide.iter().copied().max().unwrap_or(0),
        }
    }

    /// Accesses of this many bytes whose addresses grow like this; `None` if some are not aligned to that.
    pub(in crate::exec) fn halves(&self, bytes: i64) -> Option<[Half; 2]> {
        let aligned = self.wide.iter().all(|growth| growth % bytes == 0);
        aligned.then(|| [Half::of(&self.wide, 0, bytes), Half::of(&self.wide, 1, bytes)])
    }
}

/// Accesses of half a warp to memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::exec) enum Half {
    /// All the same element.
    Same,
    /// One element after the other.
    Next,
    /// At places of their own.
    Each,
}

impl Half {
    /// Accesses of this many bytes by the lanes of a half of a warp, whose places are these.
    #[inline(always)]
    pub(in crate::exec) fn of(places: &[i64; LANES], half: usize, bytes: i64) -> Half {
        let first = places[half * HALF];
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

/// A register whose lanes are regular: where its row starts, in cells, its shape and its width.
#[derive(Clone, Copy, Debug)]
pub(in crate::exec) struct Operand {
    pub(in crate::exec) row: u32,
    pub(in crate::exec) shape: u32,
    pub(in crate::exec) width: Width,
}

/// Condition under which a value of 32 bits does not wrap around from lane to lane, so that it can be extended.
#[derive(Clone, Copy, Debug)]
pub(in crate::exec) struct NoWrap {
    pub(in crate::exec) source: Operand,
    pub(in crate::exec) signed: bool,
}
