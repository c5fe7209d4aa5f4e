//! Shifts and masks that take the number of a warp, or of a lane in it, from the number of a
//! thread.
//!
//! The number of a thread grows by one from lane to lane and is a multiple of 32 in the first lane
//! of a warp, if blocks have whole warps. So its lower five bits are the number of the lane, and
//! its upper bits are the same in all lanes. The same holds for its multiples by a power of two.
//! The analysis presumes it, and that lanes agree about a sign; each step checks it when it runs.

use super::expr::{Expr, Exprs, Growth, UNIFORM};
use crate::program::instruction::{Constant, Special};
use crate::semantics::PureInfo;
use crate::semantics::known::Linear;
use crate::semantics::lower::Lower;

/// Number of bits of the number of a lane.
const BITS: i64 = 5;
/// Maximum number of bits of interest.
const MOST: i64 = 16;

/// The lower bits of a register in the first lane of a warp, as far as they are presumed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Low {
    /// Number of bits that are zero.
    zeros: i64,
    /// True if all bits are, so that the register is the number of the lane, or a multiple.
    pub(super) is_lane: bool,
}

impl Low {
    pub(super) const UNKNOWN: Low = Low { zeros: 0, is_lane: false };
    const ZERO: Low = Low { zeros: MOST, is_lane: false };

    fn of_zeros(zeros: i64) -> Low {
        Low { zeros: zeros.clamp(0, MOST), is_lane: false }
    }

    fn of_number(number: i64) -> Low {
        Low::of_zeros(number.trailing_zeros().into())
    }

    pub(super) fn join(self, other: Low) -> Low {
        Low { zeros: self.zeros.min(other.zeros), is_lane: self.is_lane && other.is_lane }
    }

    pub(super) fn of_constant(constant: Constant) -> Low {
        match constant {
            Constant::Bits(bits) => Low::of_number(bits as i64),
            Constant::Special(Special::ThreadId(_) | Special::BlockDim(0) | Special::WarpSize) => {
                Low::of_zeros(BITS)
            }
            _ => Low::UNKNOWN,
        }
    }

    /// Returns these bits of the result of an operation. `amount` is its second operand, if it is a
    /// known number.
    pub(super) fn of_linear(linear: Linear, [a, b, c, _]: [Low; 4], amount: Option<i64>) -> Low {
        let product = Low::of_zeros(a.zeros + b.zeros);
        match linear {
            Linear::Copy | Linear::Widen { .. } | Linear::Truncate => a,
            Linear::Add | Linear::Sub => Low::of_zeros(a.zeros.min(b.zeros)),
            Linear::Neg => Low::of_zeros(a.zeros),
            Linear::MulLow | Linear::MulWide { .. } => product,
            Linear::MadLow | Linear::MadWide { .. } => Low::of_zeros(product.zeros.min(c.zeros)),
            Linear::ShiftLeft => Low::of_zeros(a.zeros.saturating_add(amount.unwrap_or(0))),
        }
    }
}

/// True if all bits of the result of an operation are the sign of its first operand. `amount` is
/// the second one.
pub(in crate::exec) fn is_sign(info: &PureInfo, amount: i64) -> bool {
    info.lower == Lower::ShiftRight && info.signed[0] && amount == i64::from(info.sizes[0]) * 8 - 1
}

/// A register as far as this file knows it.
#[derive(Clone, Copy)]
pub(super) struct Source {
    pub(super) shape: Growth,
    pub(super) low: Low,
    /// The value, if it is a known number.
    pub(super) number: Option<i64>,
}

impl Source {
    /// Returns the lowest of the five bits that differ between lanes, if the others are the same in
    /// all lanes.
    fn first_bit(&self, exprs: &Exprs) -> Option<i64> {
        let growth = exprs.number(self.shape[0]).filter(|growth| *growth > 0)?;
        let bit = i64::from(growth.trailing_zeros());
        (1 << bit == growth && self.low.zeros >= bit + BITS).then_some(bit)
    }

    fn is_uniform(&self) -> bool {
        self.shape == UNIFORM
    }
}

/// Returns the growth of the result of a shift or of a combination of bits, and its lower bits, if
/// it takes the number of a warp or lane from an operand or leaves it as it is.
pub(super) fn part(exprs: &mut Exprs, info: &PureInfo, [a, b]: [Source; 2]) -> Option<(Growth, Low)> {
    match info.lower {
        // Indices of lanes mostly have the same sign.
        Lower::ShiftRight if is_sign(info, b.number?) => Some((UNIFORM, Low::ZERO)),
        Lower::ShiftRight => shifted(exprs, a, b.number?),
        Lower::And => match (a.number, b.number) {
            (_, Some(mask)) => masked(exprs, a, mask),
            (Some(mask), _) => masked(exprs, b, mask),
            _ => None,
        },
        Lower::Or => {
            let (lanes, other) = if a.is_uniform() { (b, a) } else { (a, b) };
            let low = Low::of_zeros(lanes.low.zeros.min(other.low.zeros));
            let disjoint =
                lanes.is_uniform() || lanes.first_bit(exprs).is_some_and(|bit| other.low.zeros >= bit + BITS);
            (disjoint && other.is_uniform()).then_some((lanes.shape, low))
        }
        _ => None,
    }
}

fn shifted(exprs: &mut Exprs, source: Source, amount: i64) -> Option<(Growth, Low)> {
    // The lower bits of a negative number's sign, which are mostly zero.
    let low = if amount >= 32 - BITS { Low::ZERO } else { Low::of_zeros(source.low.zeros - amount) };
    if source.is_uniform() {
        return Some((UNIFORM, low));
    }
    let bit = source.first_bit(exprs)?;
    let is_row = source.shape[1..] == UNIFORM[1..];
    match amount {
        _ if amount >= bit + BITS => Some((UNIFORM, low)),
        0.. if amount <= bit && is_row => {
            let growth = exprs.make(Expr::Number(1 << (bit - amount)));
            Some(([growth, UNIFORM[1], UNIFORM[2]], low))
        }
        _ => None,
    }
}

fn masked(exprs: &Exprs, source: Source, mask: i64) -> Option<(Growth, Low)> {
    let low = Low::of_zeros(source.low.zeros.max(mask.trailing_zeros().into()));
    if source.is_uniform() {
        return Some((UNIFORM, low));
    }
    let bit = source.first_bit(exprs)?;
    let lanes = ((1 << BITS) - 1) << bit;
    match mask & lanes {
        0 => Some((UNIFORM, low)),
        kept if kept == lanes => {
            let is_lane = mask >= 0 && mask >> (bit + BITS) == 0;
            Some((source.shape, Low { is_lane, ..Low::of_zeros(source.low.zeros) }))
        }
        _ => None,
    }
}
