//! Conversions of floating-point numbers as machine code.

use super::backend::{F32, F64, FloatCC, I32, I64, Val};
use super::called::extended;
use super::float::{float, flushed, operand, or_exact_nan, saturated};
use super::integer::word;
use super::writer::Writer;
use crate::semantics::lower::{Lower, Whole};
use crate::semantics::{PureInfo, Register};

/// Writes a conversion from or to a floating-point number. Returns `None` if it has no machine
/// code.
pub(super) fn pure(w: &mut Writer<'_, '_>, info: &'static PureInfo, sources: [Register; 4]) -> Option<Val> {
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
        Lower::FloatToInt(whole, flush) => to_integer(w, info, sources[0], (whole, flush)),
        Lower::FloatToWhole(whole, limits) => {
            let a = operand(w, sources[0], float(size), limits.flush);
            let value = rounded(w, whole, a);
            match size {
                4 if limits.saturate => saturated(w, value),
                4 => w.canonical(value),
                _ => or_exact_nan(w, info, sources, value),
            }
        }
        Lower::FloatToFloat(limits) if out == 8 => {
            let mut a = w.get(sources[0], F32);
            if limits.flush {
                let flushed = flushed(w, a);
                a = w.canonical(flushed);
            }
            w.e.fpromote(F64, a)
        }
        Lower::FloatToFloat(limits) => {
            let value = if size == 8 {
                let a = w.get(sources[0], F64);
                w.e.fdemote(F32, a)
            } else {
                w.get(sources[0], F32)
            };
            let value = if limits.flush { flushed(w, value) } else { value };
            if limits.saturate { saturated(w, value) } else { value }
        }
        _ => return None,
    })
}

fn to_integer(
    w: &mut Writer<'_, '_>,
    info: &'static PureInfo,
    source: Register,
    (whole, flush): (Whole, bool),
) -> Val {
    let [out, size, ..] = info.sizes;
    // Other roundings take subnormal numbers to zero.
    let matters = matches!(whole, Whole::Floor | Whole::Ceiling);
    let a = operand(w, source, float(size), flush && matters);
    let rounded = rounded(w, whole, a);
    let ty = if out == 8 { I64 } else { I32 };
    let signed = info.signed[0];
    let value = if signed { w.e.fcvt_to_sint_sat(ty, rounded) } else { w.e.fcvt_to_uint_sat(ty, rounded) };
    if (size, out) == (4, 4) {
        return value;
    }
    let nan = w.e.int(ty, 1 << (out * 8 - 1));
    let is_nan = w.e.fcmp(FloatCC::Unordered, a, a);
    w.e.select(is_nan, nan, value)
}

fn rounded(w: &mut Writer<'_, '_>, whole: Whole, value: Val) -> Val {
    match whole {
        Whole::Nearest => w.e.nearest(value),
        Whole::Truncated => w.e.trunc(value),
        Whole::Floor => w.e.floor(value),
        Whole::Ceiling => w.e.ceil(value),
    }
}
