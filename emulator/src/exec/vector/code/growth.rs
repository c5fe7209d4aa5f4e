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

    /// Pattern of accesses of this many bytes whose addresses grow like this.
    pub(in crate::exec) fn pattern(&self, bytes: i64) -> Pattern {
        let half = |lanes: &[i64]| {
            let growth = |lane: usize| lanes[lane] - lanes[0];
            if (0..HALF).all(|lane| growth(lane) == 0) {
                Some(Half::Same)
            } else {
                (0..HALF).all(|lane| growth(lane) == lane as i64 * bytes).then_some(Half::Next)
            }
        };
        if self.wide.iter().any(|growth| growth % bytes != 0) {
            return Pattern::Misaligned;
        }
        match (half(&self.wide[..HALF]), half(&self.wide[HALF..])) {
            (Some(Half::Same), Some(Half::Same)) if self.wide[HALF] == 0 => Pattern::Same,
            (Some(Half::Next), Some(Half::Next)) if self.wide[HALF] == HALF as i64 * bytes => Pattern::Next,
            (Some(low), Some(high)) => Pattern::Halves([low, high]),
            _ => Pattern::Scattered,
        }
    }
}

/// Accesses of half a warp to memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::exec) enum Half {
    /// All the same element.
    Same,
    /// One element after the other.
    Next,
}

/// Accesses of a warp to memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::exec) enum Pattern {
    Same,
    Next,
    Halves([Half; 2]),
    /// At places of their own.
    Scattered,
    /// Not at multiples of the size of an element.
    Misaligned,
}

impl Pattern {
    /// Of each half of a warp; meaningless for lanes at places of their own.
    #[inline(always)]
    pub(in crate::exec) fn halves(self) -> [Half; 2] {
        match self {
            Pattern::Halves(halves) => halves,
            Pattern::Same => [Half::Same; 2],
            Pattern::Next | Pattern::Scattered | Pattern::Misaligned => [Half::Next; 2],
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
