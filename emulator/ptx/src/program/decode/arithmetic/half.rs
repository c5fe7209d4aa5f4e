//! Half-precision operations, on one or two numbers in a register.

use super::mode::{Extremum, FloatMode, Found};
use crate::program::types::Type;
use crate::semantics::half::{Bf16, Both, F16};
use crate::semantics::{float, half, pure};

/// An operation on one of the four half-precision types, with compile-time switches.
macro_rules! half_op {
    ($ty:expr, $op:ident $(, $switch:literal)*) => {
        match $ty {
            Type::F16 => pure::<half::$op<F16 $(, $switch)*>>(),
            Type::Bf16 => pure::<half::$op<Bf16 $(, $switch)*>>(),
            Type::F16x2 => pure::<Both<half::$op<F16 $(, $switch)*>>>(),
            _ => pure::<Both<half::$op<Bf16 $(, $switch)*>>>(),
        }
    };
}

/// Returns a half-precision operation. Only `f16` has `.ftz` and `.sat`.
pub(super) fn operation(
    opcode: &str,
    approximate: bool,
    extremum: Extremum,
    relu: bool,
    mode: FloatMode,
    ty: Type,
) -> Found {
    let bf16 = matches!(ty, Type::Bf16 | Type::Bf16x2);
    let nearest = mode.rounding.is_none_or(|rounding| rounding == float::NEAREST);
    if !nearest || (bf16 && mode.sat) || (relu && opcode != "fma") {
        return None;
    }
    if approximate {
        return self::approximate(opcode, mode, ty);
    }
    if bf16 && mode.ftz {
        return None;
    }
    macro_rules! arithmetic {
        ($op:ident) => {
            match (mode.ftz, mode.sat) {
                (false, false) => half_op!(ty, $op, false, false),
                (false, true) => half_op!(ty, $op, false, true),
                (true, false) => half_op!(ty, $op, true, false),
                (true, true) => half_op!(ty, $op, true, true),
            }
        };
    }
    macro_rules! extremum {
        ($op:ident) => {
            match (mode.ftz, extremum.nan, extremum.xor_sign) {
                (false, false, false) => half_op!(ty, $op, false, false, false),
                (false, false, true) => half_op!(ty, $op, false, false, true),
                (false, true, false) => half_op!(ty, $op, false, true, false),
                (false, true, true) => half_op!(ty, $op, false, true, true),
                (true, false, false) => half_op!(ty, $op, true, false, false),
                (true, false, true) => half_op!(ty, $op, true, false, true),
                (true, true, false) => half_op!(ty, $op, true, true, false),
                (true, true, true) => half_op!(ty, $op, true, true, true),
            }
        };
    }
    Some(match opcode {
        "add" => arithmetic!(Add),
        "sub" => arithmetic!(Sub),
        "mul" => arithmetic!(Mul),
        "fma" if mode.rounding.is_some() => return fma(mode, relu, ty),
        _ if mode.sat || mode.rounding.is_some() => return None,
        "min" => extremum!(Min),
        "max" => extremum!(Max),
        "abs" if mode.ftz => half_op!(ty, Abs, true),
        "abs" => half_op!(ty, Abs, false),
        "neg" if mode.ftz => half_op!(ty, Neg, true),
        "neg" => half_op!(ty, Neg, false),
        _ => return None,
    })
}

/// Returns a half-precision function that is not exact.
fn approximate(opcode: &str, mode: FloatMode, ty: Type) -> Found {
    let bf16 = matches!(ty, Type::Bf16 | Type::Bf16x2);
    match (opcode, mode.ftz, mode.sat || mode.rounding.is_some()) {
        ("ex2", true, false) if bf16 => Some(half_op!(ty, Exp2, true)),
        ("ex2", false, false) if !bf16 => Some(half_op!(ty, Exp2, false)),
        ("tanh", false, false) => Some(half_op!(ty, Tanh)),
        _ => None,
    }
}

fn fma(mode: FloatMode, relu: bool, ty: Type) -> Found {
    Some(match (mode.ftz, mode.sat, relu) {
        (false, false, false) => half_op!(ty, Fma, false, false, false),
        (false, false, true) => half_op!(ty, Fma, false, false, true),
        (false, true, false) => half_op!(ty, Fma, false, true, false),
        (true, false, false) => half_op!(ty, Fma, true, false, false),
        (true, false, true) => half_op!(ty, Fma, true, false, true),
        (true, true, false) => half_op!(ty, Fma, true, true, false),
        (_, true, true) => return None,
    })
}

/// Returns the multiply-add that treats the mark of out-of-bounds elements specially.
pub(super) fn marked_fma(mode: FloatMode, relu: bool, ty: Type) -> Found {
    let exact = mode.rounding == Some(float::NEAREST) && !mode.ftz && !mode.sat;
    let half = matches!(ty, Type::F16 | Type::Bf16 | Type::F16x2 | Type::Bf16x2);
    match relu {
        _ if !exact || !half => None,
        false => Some(half_op!(ty, FmaMarked, false)),
        true => Some(half_op!(ty, FmaMarked, true)),
    }
}
