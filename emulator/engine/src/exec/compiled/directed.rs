//! Sums that are rounded down or towards zero, as machine code. `expf` and `roundf` have them.

use super::backend::{F32, F64, FloatCC, I32, Val};
use super::float::{is_small, operand, or_exact};
use super::writer::Writer;
use crate::semantics::lower::{Direction, Lower};
use crate::semantics::{PureInfo, Register, Width};

/// Writes a sum in another rounding. Returns `None` for other operations.
///
/// The sum in double precision is nearly always exact, and the nearest number to it in single
/// precision is the result, or next to it.
pub(super) fn pure(w: &mut Writer<'_, '_>, info: &'static PureInfo, sources: [Register; 4]) -> Option<Val> {
    let Lower::Directed(direction, flush) = info.lower else { return None };
    let has_product = info.sources[2] != Width::None;
    let operands: Vec<Val> = sources[..2 + usize::from(has_product)]
        .iter()
        .map(|source| operand(w, *source, F32, flush))
        .collect();
    let halves = if operands.iter().any(|value| w.e.is_vector(*value)) { 2 } else { 1 };
    let (mut sums, mut inexact) = (Vec::new(), Vec::new());
    for half in 0..halves {
        let wide: Vec<Val> = operands.iter().map(|value| promoted(w, *value, half)).collect();
        let [first, added] = match wide[..] {
            [a, b, c] => [w.e.fmul(a, b), c],
            _ => [wide[0], wide[1]],
        };
        let sum = w.e.fadd(first, added);
        sums.push(sum);
        inexact.push(is_inexact(w, sum, [first, added]));
    }
    let nearest = match sums[..] {
        [low, high] => w.e.demoted([low, high]),
        _ => w.e.fdemote(F32, sums[0]),
    };
    let beyond: Vec<Val> = (0..halves)
        .map(|half| {
            let (mut back, mut sum) = (promoted(w, nearest, half), sums[half]);
            if direction == Direction::TowardsZero {
                (back, sum) = (w.e.fabs(back), w.e.fabs(sum));
            }
            w.e.fcmp(FloatCC::GreaterThan, back, sum)
        })
        .collect();
    let (beyond, inexact) = (joined(w, &beyond), joined(w, &inexact));
    let next = next(w, nearest, direction);
    let value = w.e.select(beyond, next, nearest);
    let small = is_small(w, nearest, f32::MIN_POSITIVE);
    let rare = w.e.bor(inexact, small);
    Some(or_exact(w, info, sources, value, rare))
}

fn promoted(w: &mut Writer<'_, '_>, value: Val, half: usize) -> Val {
    if w.e.is_vector(value) { w.e.promoted(value)[half] } else { w.e.fpromote(F64, value) }
}

/// Joins the conditions of the halves.
fn joined(w: &mut Writer<'_, '_>, halves: &[Val]) -> Val {
    match *halves {
        [low, high] => w.e.join_words([low, high]),
        _ => halves[0],
    }
}

/// True if a sum is not exact, or no number.
fn is_inexact(w: &mut Writer<'_, '_>, sum: Val, [a, b]: [Val; 2]) -> Val {
    let b_part = w.e.fsub(sum, a);
    let a_part = w.e.fsub(sum, b_part);
    let (a_rest, b_rest) = (w.e.fsub(a, a_part), w.e.fsub(b, b_part));
    let error = w.e.fadd(a_rest, b_rest);
    let zero = w.e.f64const(0.0);
    w.e.fcmp(FloatCC::NotEqual, error, zero)
}

/// Returns the next number below a number that is not zero, or towards zero.
fn next(w: &mut Writer<'_, '_>, value: Val, direction: Direction) -> Val {
    let bits = w.convert(value, I32);
    let one = w.e.int(I32, 1);
    let less = w.e.isub(bits, one);
    if direction == Direction::TowardsZero {
        return w.convert(less, F32);
    }
    let last = w.e.int(I32, 31);
    // -1 for negative numbers, whose bits grow downwards.
    let sign = w.e.sshr(bits, last);
    let twice = w.e.iadd(sign, sign);
    let next = w.e.isub(less, twice);
    w.convert(next, F32)
}
