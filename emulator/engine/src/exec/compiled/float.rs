//! Floating-point operations as machine code.
//!
//! Results that need care (a NaN in double precision, a subnormal number that is flushed) are rare.
//! The function of the operation computes them again.

use super::backend::{Blk, F32, F64, FloatCC, I32, IntCC, Type, Val};
use super::called::exact;
use super::integer::word;
use super::writer::Writer;
use crate::semantics::lower::{Float, Lower};
use crate::semantics::{PureInfo, Register, TestInfo};

/// A sum beyond 2^-100 does not depend on subnormal operands: the other one is so much larger that
/// it is the sum.
const LEAST_SUM: f32 = f32::from_bits((127 - 100) << 23);

pub(super) fn float(size: u32) -> Type {
    if size == 8 { F64 } else { F32 }
}

pub(super) fn compare(
    w: &mut Writer<'_, '_>,
    info: &TestInfo,
    sources: [Register; 2],
    cc: FloatCC,
    flush: bool,
) -> Val {
    let ty = float(info.size);
    let [a, b] = sources.map(|source| operand(w, source, ty, flush));
    w.e.fcmp(cc, a, b)
}

/// Returns a register, whose subnormal number is replaced by zero if asked for.
pub(super) fn operand(w: &mut Writer<'_, '_>, register: Register, ty: Type, flush: bool) -> Val {
    let value = w.get_raw(register, ty);
    if flush && ty == F32 && !is_normal(w, register) { flushed(w, value) } else { value }
}

/// True if a number in single precision is known not to be subnormal.
fn is_normal(w: &mut Writer<'_, '_>, register: Register) -> bool {
    match w.known(register) {
        Some(bits) => !f32::from_bits(bits as u32).is_subnormal(),
        None => {
            let value = w.get_raw(register, F32);
            w.flushed.contains(&value)
        }
    }
}

/// Writes an operation on floating-point numbers. Returns `None` if it has no machine code. NaNs of
/// single precision may not be canonical, where `makes_canonical` says so.
pub(super) fn pure(w: &mut Writer<'_, '_>, info: &'static PureInfo, sources: [Register; 4]) -> Option<Val> {
    let Lower::Float(operation, limits) = info.lower else { return None };
    let value = arithmetic(w, info, sources, (operation, limits.flush));
    let value = if limits.saturate { saturated(w, value) } else { value };
    if limits.flush {
        w.flushed.insert(value);
    }
    Some(value)
}

fn arithmetic(
    w: &mut Writer<'_, '_>,
    info: &'static PureInfo,
    sources: [Register; 4],
    (operation, flush): (Float, bool),
) -> Val {
    let ty = float(info.sizes[0]);
    let (is_sum, is_exact) = match operation {
        Float::Add | Float::Sub => (true, false),
        Float::Min | Float::Max | Float::Abs | Float::Neg => (false, true),
        _ => (false, false),
    };
    // Instead of the operands of exact operations, their results are flushed.
    let early = flush && !is_sum && !is_exact;
    let read = |w: &mut Writer<'_, '_>, index: usize| operand(w, sources[index], ty, early);
    let read_two = |w: &mut Writer<'_, '_>| [read(w, 0), read(w, 1)];
    let is_used = |(_, size): &(&Register, &u32)| **size != 0;
    let mut used = sources.iter().zip(&info.sizes[1..]).filter(is_used);
    let are_normal = flush && used.all(|(source, _)| is_normal(w, *source));
    let value = match operation {
        Float::Add | Float::Sub | Float::Mul | Float::Div => {
            let operands = read_two(w);
            of_two(w, operation, operands)
        }
        Float::Fma => {
            let ([a, b], c) = (read_two(w), read(w, 2));
            w.e.fma(a, b, c)
        }
        Float::DivFast => {
            let operands = read_two(w);
            return fast_division(w, info, sources, (operands, flush));
        }
        Float::Min | Float::Max => {
            let operands = read_two(w);
            let value = extremum(w, info, sources, (operation == Float::Min, operands));
            return if flush && !are_normal { flushed(w, value) } else { value };
        }
        Float::Sqrt | Float::Rcp | Float::Rsqrt | Float::Abs | Float::Neg => {
            let a = read(w, 0);
            of_one(w, operation, a)
        }
        Float::CopySign => {
            let [sign, size] = [0, 1].map(|index| w.get(sources[index], ty));
            return w.e.fcopysign(size, sign);
        }
    };
    if is_exact && ty == F32 {
        let value = if flush && !are_normal { flushed(w, value) } else { value };
        return w.canonical(value);
    }
    match operation {
        _ if ty == F64 => or_exact_nan(w, info, sources, value),
        Float::Sqrt | Float::Rsqrt => value,
        _ if flush => {
            let least = if is_sum && !are_normal { LEAST_SUM } else { f32::MIN_POSITIVE };
            or_exact_small(w, info, sources, (value, least))
        }
        _ => value,
    }
}

fn of_two(w: &mut Writer<'_, '_>, operation: Float, [a, b]: [Val; 2]) -> Val {
    match operation {
        Float::Add => w.e.fadd(a, b),
        Float::Sub => w.e.fsub(a, b),
        Float::Mul => w.e.fmul(a, b),
        _ => w.e.fdiv(a, b),
    }
}

fn of_one(w: &mut Writer<'_, '_>, operation: Float, a: Val) -> Val {
    match operation {
        Float::Sqrt => w.e.sqrt(a),
        Float::Rcp => reciprocal(w, a),
        Float::Rsqrt => {
            let root = w.e.sqrt(a);
            reciprocal(w, root)
        }
        Float::Abs => w.e.fabs(a),
        _ => w.e.fneg(a),
    }
}

fn reciprocal(w: &mut Writer<'_, '_>, a: Val) -> Val {
    let one = match w.e.ty(a) {
        ty if ty.lane_type() == F64 => w.e.f64const(1.0),
        _ => w.e.f32const(1.0),
    };
    w.e.fdiv(one, a)
}

/// Moves a number in single precision between zero and one. NaN and -0 become zero.
pub(super) fn saturated(w: &mut Writer<'_, '_>, value: Val) -> Val {
    let (zero, one) = (w.e.f32const(0.0), w.e.f32const(1.0));
    let above = w.e.fcmp(FloatCC::GreaterThan, value, zero);
    let value = w.e.select(above, value, zero);
    let below = w.e.fcmp(FloatCC::LessThan, value, one);
    w.e.select(below, value, one)
}

/// Computes exactly if the condition holds.
pub(super) fn or_exact(
    w: &mut Writer<'_, '_>,
    info: &'static PureInfo,
    sources: [Register; 4],
    value: Val,
    condition: Val,
) -> Val {
    let ty = w.e.ty(value);
    let condition = w.e.any(condition);
    let (rare, after) = (w.e.block(), w.e.block());
    let result = w.e.param(after, ty);
    w.e.branch(condition, (rare, &[]), (after, &[value]));
    end_exactly(w, info, sources, [rare, after], ty);
    result
}

/// Writes the rare block, which computes exactly and goes on to `after`, and goes on there.
fn end_exactly(
    w: &mut Writer<'_, '_>,
    info: &'static PureInfo,
    sources: [Register; 4],
    [rare, after]: [Blk; 2],
    ty: Type,
) {
    w.e.cold(rare);
    w.e.go_on(rare);
    // The result of a guarded operation may be the same in all lanes.
    let focus = if ty.is_vector() { w.focus() } else { w.focus().of_numbers() };
    let value = w.with_focus(focus, |w| exact(w, info, sources));
    let value = w.convert(value, ty);
    w.e.jump(after, &[value]);
    w.e.go_on(after);
}

pub(super) fn or_exact_nan(
    w: &mut Writer<'_, '_>,
    info: &'static PureInfo,
    sources: [Register; 4],
    value: Val,
) -> Val {
    let is_nan = w.e.fcmp(FloatCC::Unordered, value, value);
    or_exact(w, info, sources, value, is_nan)
}

/// Computes exactly if a result is NaN, or not above `least`, where it may have to be flushed. Zero
/// stays.
pub(super) fn or_exact_small(
    w: &mut Writer<'_, '_>,
    info: &'static PureInfo,
    sources: [Register; 4],
    (value, least): (Val, f32),
) -> Val {
    let ty = w.e.ty(value);
    let small = is_small(w, value, least);
    let any_small = w.e.any(small);
    let (unlikely, rare, after) = (w.e.block(), w.e.block(), w.e.block());
    let result = w.e.param(after, ty);
    w.e.branch(any_small, (unlikely, &[]), (after, &[value]));
    w.e.cold(unlikely);
    w.e.go_on(unlikely);
    let zero = w.e.f32const(0.0);
    let nonzero = w.e.fcmp(FloatCC::NotEqual, value, zero);
    let changes = if w.e.is_vector(value) { w.e.band(small, nonzero) } else { nonzero };
    let changes = w.e.any(changes);
    w.e.branch(changes, (rare, &[]), (after, &[value]));
    end_exactly(w, info, sources, [rare, after], ty);
    result
}

/// True if a sum is NaN, or with `flush`, of single precision and so small that it may depend on
/// subnormal numbers.
pub(super) fn needs_care(w: &mut Writer<'_, '_>, sum: Val, flush: bool) -> Val {
    if flush && w.e.ty(sum) == F32 {
        return is_small(w, sum, LEAST_SUM);
    }
    w.e.fcmp(FloatCC::Unordered, sum, sum)
}

/// True if a number is NaN, or not above this one.
pub(super) fn is_small(w: &mut Writer<'_, '_>, value: Val, least: f32) -> Val {
    let least = w.e.f32const(least);
    let size = w.e.fabs(value);
    w.e.fcmp(FloatCC::UnorderedOrLessThanOrEqual, size, least)
}

/// Replaces a subnormal number by zero.
pub(super) fn flushed(w: &mut Writer<'_, '_>, value: Val) -> Val {
    if w.flushed.contains(&value) {
        return value;
    }
    if w.e.is_vector(value) {
        let bits = w.convert(value, I32);
        let exponent = w.e.int(I32, 0x7f80_0000);
        let exponent = w.e.band(bits, exponent);
        let zero = w.e.zero(w.e.ty(bits));
        let small = w.e.icmp(IntCC::Equal, exponent, zero);
        let magnitude = w.e.int(I32, 0x7fff_ffff);
        let dropped = w.e.band(small, magnitude);
        let kept = w.e.bnot(dropped);
        let value = w.e.band(bits, kept);
        return w.convert(value, F32);
    }
    let least = w.e.f32const(f32::MIN_POSITIVE);
    let zero = w.e.f32const(0.0);
    let size = w.e.fabs(value);
    let small = w.e.fcmp(FloatCC::LessThan, size, least);
    let signed = w.e.fmul(value, zero);
    w.e.select(small, signed, value)
}

fn fast_division(
    w: &mut Writer<'_, '_>,
    info: &'static PureInfo,
    sources: [Register; 4],
    ([a, b], flush): ([Val; 2], bool),
) -> Val {
    let value = w.e.fdiv(a, b);
    let most = w.e.f32const(f32::from_bits(0x7e80_0000));
    let size = w.e.fabs(b);
    let large = w.e.fcmp(FloatCC::GreaterThan, size, most);
    let rare = if flush {
        is_small(w, value, f32::MIN_POSITIVE)
    } else {
        w.e.fcmp(FloatCC::Unordered, value, value)
    };
    let condition = w.e.bor(large, rare);
    or_exact(w, info, sources, value, condition)
}

/// Writes the smaller or the larger of two numbers.
fn extremum(
    w: &mut Writer<'_, '_>,
    info: &'static PureInfo,
    sources: [Register; 4],
    (smaller, [a, b]): (bool, [Val; 2]),
) -> Val {
    let ty = float(info.sizes[0]);
    let first = w.e.fcmp(if smaller { FloatCC::LessThan } else { FloatCC::GreaterThan }, a, b);
    let value = w.e.select(first, a, b);
    let same = |w: &mut Writer<'_, '_>| {
        // Equal numbers differ at most by the sign of zero.
        let bits = word(info.sizes[0]);
        let (x, y) = (w.convert(a, bits), w.convert(b, bits));
        let value = if smaller { w.e.bor(x, y) } else { w.e.band(x, y) };
        w.convert(value, ty)
    };
    if w.e.is_vector(value) {
        let same = same(w);
        let equal = w.e.fcmp(FloatCC::Equal, a, b);
        let value = w.e.select(equal, same, value);
        let unordered = w.e.fcmp(FloatCC::Unordered, a, b);
        return or_exact(w, info, sources, value, unordered);
    }
    let (special, after, unordered) = (w.e.block(), w.e.block(), w.e.block());
    let result = w.e.param(after, ty);
    w.e.cold(special);
    let is_special = w.e.fcmp(FloatCC::UnorderedOrEqual, a, b);
    w.e.branch(is_special, (special, &[]), (after, &[value]));
    w.e.go_on(special);
    let value = same(w);
    let equal = w.e.fcmp(FloatCC::Equal, a, b);
    w.e.branch(equal, (after, &[value]), (unordered, &[]));
    end_exactly(w, info, sources, [unordered, after], ty);
    result
}
