//! Shifts and masks that take the number of a warp, or of a lane in it, from the number of a
//! thread.
//!
//! The number of a thread grows by one from lane to lane and is a multiple of 32 in the first lane
//! of a warp, if blocks have whole warps. So its lower five bits are the number of the lane, and
//! its upper bits are the same in all lanes. The analysis presumes it, and that lanes agree about a
//! sign; each step checks it when it runs.

use super::expr::{Growth, ONE, UNIFORM};
use crate::program::instruction::{Constant, Special};
use crate::semantics::PureInfo;
use crate::semantics::known::Linear;
use crate::semantics::lower::Lower;

/// Number of bits of the number of a lane, and these bits.
const BITS: i64 = 5;
const LANE: i64 = (1 << BITS) - 1;

/// The lower five bits of a register in the first lane of a warp, as far as they are presumed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Low {
    Unknown,
    Zero,
    /// Zero, and the register is the number of the lane.
    Lane,
}

impl Low {
    pub(super) fn join(self, other: Low) -> Low {
        match (self, other) {
            (Low::Lane, Low::Lane) => Low::Lane,
            (Low::Unknown, _) | (_, Low::Unknown) => Low::Unknown,
            _ => Low::Zero,
        }
    }

    fn zero_if(condition: bool) -> Low {
        if condition { Low::Zero } else { Low::Unknown }
    }

    fn is_zero(self) -> bool {
        self != Low::Unknown
    }

    pub(super) fn of_constant(constant: Constant) -> Low {
        match constant {
            Constant::Bits(bits) => Low::zero_if(bits as i64 & LANE == 0),
            Constant::Special(Special::ThreadId(_) | Special::BlockDim(0) | Special::WarpSize) => Low::Zero,
            _ => Low::Unknown,
        }
    }

    /// Returns these bits of the result of an operation. `amount` is its second operand, if it is a
    /// known number.
    pub(super) fn of_linear(linear: Linear, [a, b, c, _]: [Low; 4], amount: Option<i64>) -> Low {
        let product = a.is_zero() || b.is_zero();
        match linear {
            Linear::Copy | Linear::Widen { .. } | Linear::Truncate => a,
            Linear::Add | Linear::Sub => Low::zero_if(a.is_zero() && b.is_zero()),
            Linear::Neg => Low::zero_if(a.is_zero()),
            Linear::MulLow | Linear::MulWide { .. } => Low::zero_if(product),
            Linear::MadLow | Linear::MadWide { .. } => Low::zero_if(product && c.is_zero()),
            Linear::ShiftLeft => Low::zero_if(a.is_zero() || amount.is_some_and(|amount| amount >= BITS)),
        }
    }
}

/// True if all bits of the result of an operation are the sign of its first operand. `amount` is
/// the second one.
pub(in crate::exec) fn is_sign(info: &PureInfo, amount: i64) -> bool {
    info.lower == Lower::ShiftRight && info.signed[0] && amount == i64::from(info.sizes[0]) * 8 - 1
}

/// Returns the growth of the result of a shift or mask, and its lower bits, if it takes the number
/// of a warp or lane from its operand. `numbers` are the operands that are known numbers.
pub(super) fn part(
    info: &PureInfo,
    shapes: [Growth; 4],
    lows: [Low; 4],
    numbers: [Option<i64>; 2],
) -> Option<(Growth, Low)> {
    let is_thread = |at: usize| lows[at].is_zero() && (shapes[at][0] == ONE || shapes[at] == UNIFORM);
    match (info.lower, numbers) {
        // Indices of lanes mostly have the same sign.
        (_, [_, Some(amount)]) if is_sign(info, amount) => Some((UNIFORM, Low::Zero)),
        // The sign of a number, and its lower bits if it is negative, are mostly zero.
        (Lower::ShiftRight, [_, Some(amount)]) if is_thread(0) && amount >= BITS => {
            Some((UNIFORM, Low::zero_if(amount >= 32 - BITS)))
        }
        (Lower::And, [_, Some(mask)]) if is_thread(0) => masked(shapes[0], mask),
        (Lower::And, [Some(mask), _]) if is_thread(1) => masked(shapes[1], mask),
        _ => None,
    }
}

fn masked(shape: Growth, mask: i64) -> Option<(Growth, Low)> {
    match mask & LANE {
        0 => Some((UNIFORM, Low::Zero)),
        LANE if mask == LANE && shape != UNIFORM => Some((shape, Low::Lane)),
        LANE => Some((shape, Low::Zero)),
        _ => None,
    }
}
