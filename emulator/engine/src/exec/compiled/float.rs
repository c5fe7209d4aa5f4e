//! Floating-point operations as machine code.
//!
//! Results that need care (a NaN in double precision, a subnormal number that is flushed) are rare.
//! The function of the operation computes them again.

use super::backend::{Blk, F32, F64, FloatCC, I32, I64, IntCC, Type, Val};
use super::called::{exact, extended};
use super::integer::word;
use super::writer::Writer;
use crate::semantics::lower::{Lower, Whole};
use crate::semantics::{PureInfo, Register, TestInfo};

fn float(size: u32) -> Type {
    if size == 8 { F64 } else { F32 }
}

pub(super) fn compare(w: &mut Writer<'_, '_>, info: &TestInfo, [a, b]: [Register; 2], cc: FloatCC) -> Val {
    let ty = float(info.size);
    let (a, b) = (w.get_raw(a, ty), w.get_raw(b, ty));
    w.e.fcmp(cc, a, b)
}

/// Writes an operation on floating-point numbers. Returns `None` if it has no machine code. NaNs of
/// single precision may not be canonical, where `makes_canonical` says so.
pub(super) fn pure(w: &mut Writer<'_, '_>, info: &'static PureInfo, sources: [Register; 4]) -> Option<Val> {
    if let Some(value) = conversion(w, info, sources) {
        return Some(value);
    }
    let ty = float(info.sizes[0]);
    let read = |w: &mut Writer<'_, '_>, index: usize| w.get_raw(sources[index], ty);
    let flushes = match info.lower {
        Lower::FloatAdd { flush } | Lower::FloatSub { flush } => flush,
        Lower::FloatMul { flush } | Lower::FloatFma { flush } => flush,
        _ => false,
    };
    let operand = |w: &mut Writer<'_, '_>, index: usize| {
        let value = read(w, index);
        if flushes && !w.flushed.contains(&value) { flushed(w, value) } else { value }
    };
    let value = match info.lower {
        Lower::FloatAdd { .. } => {
            let (a, b) = (operand(w, 0), operand(w, 1));
            w.e.fadd(a, b)
        }
        Lower::FloatSub { .. } => {
            let (a, b) = (operand(w, 0), operand(w, 1));
            w.e.fsub(a, b)
        }
        Lower::FloatMul { .. } => {
            let (a, b) = (operand(w, 0), operand(w, 1));
            w.e.fmul(a, b)
        }
        Lower::FloatFma { .. } => {
            let (a, b, c) = (operand(w, 0), operand(w, 1), operand(w, 2));
            w.e.fma(a, b, c)
        }
        Lower::FloatDiv => {
            let (a, b) = (read(w, 0), read(w, 1));
            w.e.fdiv(a, b)
        }
        Lower::FloatSqrt => {
            let a = read(w, 0);
            w.e.sqrt(a)
        }
        Lower::FloatRcp | Lower::FloatRsqrt => {
            let a = read(w, 0);
            let a = if info.lower == Lower::FloatRsqrt { w.e.sqrt(a) } else { a };
            let one = if ty == F64 { w.e.f64const(1.0) } else { w.e.f32const(1.0) };
            w.e.fdiv(one, a)
        }
        Lower::FloatDivFast => return Some(fast_division(w, info, sources)),
        Lower::FloatMin | Lower::FloatMax => return Some(extremum(w, info, sources, ty)),
        Lower::FloatAbs | Lower::FloatNeg => return Some(sign(w, info, sources, ty)),
        _ => return None,
    };
    if flushes {
        return Some(or_exact_small(w, info, sources, value));
    }
    if ty == F64 {
        return Some(or_exact_nan(w, info, sources, value));
    }
    Some(value)
}

/// Computes exactly if the condition holds.
fn or_exact(
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

fn or_exact_nan(w: &mut Writer<'_, '_>, info: &'static PureInfo, sources: [Register; 4], value: Val) -> Val {
    let is_nan = w.e.fcmp(FloatCC::Unordered, value, value);
    or_exact(w, info, sources, value, is_nan)
}

/// Computes exactly if a result may have to be flushed, or is NaN. Zero stays.
fn or_exact_small(
    w: &mut Writer<'_, '_>,
    info: &'static PureInfo,
    sources: [Register; 4],
    value: Val,
) -> Val {
    let least = w.e.f32const(f32::MIN_POSITIVE);
    let size = w.e.fabs(value);
    let small = w.e.fcmp(FloatCC::UnorderedOrLessThanOrEqual, size, least);
    let zero = w.e.f32const(0.0);
    let nonzero = w.e.fcmp(FloatCC::NotEqual, value, zero);
    let condition = w.e.band(small, nonzero);
    let value = or_exact(w, info, sources, value, condition);
    w.flushed.insert(value);
    value
}

/// Replaces a subnormal number by zero.
fn flushed(w: &mut Writer<'_, '_>, value: Val) -> Val {
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
    let signed = w.e.fcopysign(zero, value);
    w.e.select(small, signed, value)
}

fn fast_division(w: &mut Writer<'_, '_>, info: &'static PureInfo, sources: [Register; 4]) -> Val {
    let (a, b) = (w.get_raw(sources[0], F32), w.get_raw(sources[1], F32));
    let value = w.e.fdiv(a, b);
    let most = w.e.f32const(f32::from_bits(0x7e80_0000));
    let size = w.e.fabs(b);
    let large = w.e.fcmp(FloatCC::GreaterThan, size, most);
    let is_nan = w.e.fcmp(FloatCC::Unordered, value, value);
    let condition = w.e.bor(large, is_nan);
    or_exact(w, info, sources, value, condition)
}

fn extremum(w: &mut Writer<'_, '_>, info: &'static PureInfo, sources: [Register; 4], ty: Type) -> Val {
    let (a, b) = (w.get_raw(sources[0], ty), w.get_raw(sources[1], ty));
    let less = info.lower == Lower::FloatMin;
    let first = w.e.fcmp(if less { FloatCC::LessThan } else { FloatCC::GreaterThan }, a, b);
    let value = w.e.select(first, a, b);
    if w.e.is_vector(value) {
        return extremum_of_vectors(w, info, sources, [a, b, value]);
    }
    let (same, after, unordered) = (w.e.block(), w.e.block(), w.e.block());
    let result = w.e.param(after, ty);
    w.e.cold(same);
    let special = w.e.fcmp(FloatCC::UnorderedOrEqual, a, b);
    w.e.branch(special, (same, &[]), (after, &[value]));
    w.e.go_on(same);
    // Equal numbers differ at most by the sign of zero.
    let bits = word(info.sizes[0]);
    let (x, y) = (w.convert(a, bits), w.convert(b, bits));
    let value = if less { w.e.bor(x, y) } else { w.e.band(x, y) };
    let value = w.convert(value, ty);
    let equal = w.e.fcmp(FloatCC::Equal, a, b);
    w.e.branch(equal, (after, &[value]), (unordered, &[]));
    end_exactly(w, info, sources, [unordered, after], ty);
    result
}

/// Ends a minimum or maximum in vectors, from the operands and the result for unequal numbers.
fn extremum_of_vectors(
    w: &mut Writer<'_, '_>,
    info: &'static PureInfo,
    sources: [Register; 4],
    [a, b, value]: [Val; 3],
) -> Val {
    let bits = word(info.sizes[0]);
    let (x, y) = (w.convert(a, bits), w.convert(b, bits));
    // Equal numbers differ at most by the sign of zero.
    let same = if info.lower == Lower::FloatMin { w.e.bor(x, y) } else { w.e.band(x, y) };
    let same = w.convert(same, float(info.sizes[0]));
    let equal = w.e.fcmp(FloatCC::Equal, a, b);
    let value = w.e.select(equal, same, value);
    let unordered = w.e.fcmp(FloatCC::Unordered, a, b);
    or_exact(w, info, sources, value, unordered)
}

fn sign(w: &mut Writer<'_, '_>, info: &'static PureInfo, sources: [Register; 4], ty: Type) -> Val {
    let a = w.get_raw(sources[0], ty);
    let value = if info.lower == Lower::FloatAbs { w.e.fabs(a) } else { w.e.fneg(a) };
    if ty == F64 { or_exact_nan(w, info, sources, value) } else { w.canonical(value) }
}

fn conversion(w: &mut Writer<'_, '_>, info: &'static PureInfo, sources: [Register; 4]) -> Option<Val> {
    let [out, size, ..] = info.sizes;
    Some(match info.lower {
        Lower::IntToFloat => {
            let a = w.get(sources[0], word(size));
            let a = extended(w, a, size, info.signed[1]);
            match (info.signed[1], size) {
                (false, 8) => w.e.fcvt_from_uint(float(out), a),
                (false, _) if w.e.is_vector(a) => w.e.fcvt_from_uint(float(out), a),
                (false, _) => {
                    let a = w.e.uextend(I64, a);
                    w.e.fcvt_from_sint(float(out), a)
                }
                (true, _) => w.e.fcvt_from_sint(float(out), a),
            }
        }
        Lower::FloatToInt(whole) => {
            let a = w.get_raw(sources[0], float(size));
            let rounded = rounded(w, whole, a);
            let ty = if out == 8 { I64 } else { I32 };
            let signed = info.signed[0];
            let value =
                if signed { w.e.fcvt_to_sint_sat(ty, rounded) } else { w.e.fcvt_to_uint_sat(ty, rounded) };
            match (size, out) {
                (4, 4) => value,
                _ => {
                    let nan = w.e.int(ty, 1 << (out * 8 - 1));
                    let is_nan = w.e.fcmp(FloatCC::Unordered, a, a);
                    w.e.select(is_nan, nan, value)
                }
            }
        }
        Lower::FloatToWhole(whole) => {
            let a = w.get_raw(sources[0], float(size));
            let value = rounded(w, whole, a);
            if size == 4 { w.canonical(value) } else { or_exact_nan(w, info, sources, value) }
        }
        Lower::FloatToFloat if out == 8 => {
            let a = w.get(sources[0], F32);
            w.e.fpromote(F64, a)
        }
        Lower::FloatToFloat => {
            let a = w.get(sources[0], F64);
            w.e.fdemote(F32, a)
        }
        _ => return None,
    })
}

fn rounded(w: &mut Writer<'_, '_>, whole: Whole, value: Val) -> Val {
    match whole {
        Whole::Nearest => w.e.nearest(value),
        Whole::Truncated => w.e.trunc(value),
        Whole::Floor => w.e.floor(value),
        Whole::Ceiling => w.e.ceil(value),
    }
}
