//! Operations in single and double precision.

use super::mode::{Extremum, FloatMode, Found, Kept};
use crate::semantics::half::Both;
use crate::semantics::{approximate, float, pure};

macro_rules! f32_rounding {
    ($op:ident, $ftz:literal, $sat:literal, $rounding:expr) => {
        match $rounding {
            float::NEAREST => pure::<float::$op<{ float::NEAREST }, $ftz, $sat>>(),
            float::ZERO => pure::<float::$op<{ float::ZERO }, $ftz, $sat>>(),
            float::DOWN => pure::<float::$op<{ float::DOWN }, $ftz, $sat>>(),
            _ => pure::<float::$op<{ float::UP }, $ftz, $sat>>(),
        }
    };
}

/// A single-precision operation in any mode.
macro_rules! f32_op {
    ($op:ident, $mode:expr) => {{
        let rounding = $mode.rounding.unwrap_or(float::NEAREST);
        match ($mode.ftz, $mode.sat) {
            (false, false) => f32_rounding!($op, false, false, rounding),
            (true, false) => f32_rounding!($op, true, false, rounding),
            (false, true) => f32_rounding!($op, false, true, rounding),
            (true, true) => f32_rounding!($op, true, true, rounding),
        }
    }};
}

/// A single-precision operation on both halves of a 64-bit register.
macro_rules! f32_pair {
    (@rounding $op:ident, $ftz:literal, $rounding:expr) => {
        match $rounding {
            float::NEAREST => pure::<Both<float::$op<{ float::NEAREST }, $ftz, false>>>(),
            float::ZERO => pure::<Both<float::$op<{ float::ZERO }, $ftz, false>>>(),
            float::DOWN => pure::<Both<float::$op<{ float::DOWN }, $ftz, false>>>(),
            _ => pure::<Both<float::$op<{ float::UP }, $ftz, false>>>(),
        }
    };
    ($op:ident, $mode:expr) => {{
        let rounding = $mode.rounding.unwrap_or(float::NEAREST);
        match $mode.ftz {
            false => f32_pair!(@rounding $op, false, rounding),
            true => f32_pair!(@rounding $op, true, rounding),
        }
    }};
}

/// A double-precision operation with any rounding.
macro_rules! f64_op {
    ($op:ident, $mode:expr) => {
        match $mode.rounding.unwrap_or(float::NEAREST) {
            _ if $mode.ftz || $mode.sat => None,
            float::NEAREST => Some(pure::<float::$op<{ float::NEAREST }>>()),
            float::ZERO => Some(pure::<float::$op<{ float::ZERO }>>()),
            float::DOWN => Some(pure::<float::$op<{ float::DOWN }>>()),
            _ => Some(pure::<float::$op<{ float::UP }>>()),
        }
    };
}

/// An operation with the only modifier `.ftz`.
macro_rules! ftz_op {
    ($module:ident::$op:ident, $ftz:expr) => {
        if $ftz { pure::<$module::$op<true>>() } else { pure::<$module::$op<false>>() }
    };
}

/// `min` or `max` of single precision in any variant.
macro_rules! extremum_op {
    ($op:ident, $ftz:expr, $extremum:expr) => {
        match ($ftz, $extremum.nan, $extremum.xor_sign) {
            (false, false, false) => pure::<float::$op<false, false, false>>(),
            (false, false, true) => pure::<float::$op<false, false, true>>(),
            (false, true, false) => pure::<float::$op<false, true, false>>(),
            (false, true, true) => pure::<float::$op<false, true, true>>(),
            (true, false, false) => pure::<float::$op<true, false, false>>(),
            (true, false, true) => pure::<float::$op<true, false, true>>(),
            (true, true, false) => pure::<float::$op<true, true, false>>(),
            (true, true, true) => pure::<float::$op<true, true, true>>(),
        }
    };
}

/// Returns an operation on two single-precision numbers in one register.
pub(super) fn pair(opcode: &str, mode: FloatMode) -> Found {
    match opcode {
        _ if mode.sat => None,
        "add" => Some(f32_pair!(AddF32, mode)),
        "sub" => Some(f32_pair!(SubF32, mode)),
        "mul" => Some(f32_pair!(MulF32, mode)),
        "fma" if mode.rounding.is_some() => Some(f32_pair!(FmaF32, mode)),
        _ => None,
    }
}

/// Returns division with less than full precision over the full range.
pub(super) fn full(opcode: &str, mode: FloatMode) -> Found {
    match opcode {
        "div" if mode.rounding.is_none() && !mode.sat => Some(ftz_op!(approximate::DivFull, mode.ftz)),
        _ => None,
    }
}

pub(super) fn f32(
    opcode: &str,
    part: Option<Kept>,
    approximate: bool,
    extremum: Extremum,
    mode: FloatMode,
) -> Found {
    if part.is_some() {
        return None;
    }
    let exact = !approximate;
    let rounded = mode.rounding.is_some();
    Some(match opcode {
        "add" if exact => f32_op!(AddF32, mode),
        "sub" if exact => f32_op!(SubF32, mode),
        "mul" if exact => f32_op!(MulF32, mode),
        "fma" | "mad" if exact && rounded => f32_op!(FmaF32, mode),
        _ if mode.sat => return None,
        "div" if exact && rounded => f32_op!(DivF32, mode),
        "rcp" if exact && rounded => f32_op!(RcpF32, mode),
        "sqrt" if exact && rounded => f32_op!(SqrtF32, mode),
        _ if rounded => return None,
        "div" if approximate => ftz_op!(approximate::Div, mode.ftz),
        "rcp" if approximate => ftz_op!(approximate::Rcp, mode.ftz),
        "sqrt" if approximate => ftz_op!(approximate::Sqrt, mode.ftz),
        "rsqrt" if approximate => ftz_op!(approximate::Rsqrt, mode.ftz),
        "ex2" if approximate => ftz_op!(approximate::Exp2, mode.ftz),
        "lg2" if approximate => ftz_op!(approximate::Log2, mode.ftz),
        "sin" if approximate => ftz_op!(approximate::Sin, mode.ftz),
        "cos" if approximate => ftz_op!(approximate::Cos, mode.ftz),
        "tanh" if approximate && !mode.ftz => pure::<approximate::Tanh>(),
        "abs" if exact => ftz_op!(float::AbsF32, mode.ftz),
        "neg" if exact => ftz_op!(float::NegF32, mode.ftz),
        "copysign" if exact && !mode.ftz => pure::<float::CopySignF32>(),
        "min" if exact => extremum_op!(MinF32, mode.ftz, extremum),
        "max" if exact => extremum_op!(MaxF32, mode.ftz, extremum),
        _ => return None,
    })
}

pub(super) fn f64(opcode: &str, part: Option<Kept>, approximate: bool, mode: FloatMode) -> Found {
    if part.is_some() {
        return None;
    }
    let rounded = mode.rounding.is_some();
    if approximate {
        return match opcode {
            "rcp" if !rounded && mode.ftz && !mode.sat => Some(pure::<approximate::RcpF64>()),
            "rsqrt" if !rounded && !mode.sat && mode.ftz => Some(pure::<approximate::RsqrtFlushedF64>()),
            "rsqrt" if !rounded && !mode.sat => Some(pure::<approximate::RsqrtF64>()),
            _ => None,
        };
    }
    match opcode {
        "add" => f64_op!(AddF64, mode),
        "sub" => f64_op!(SubF64, mode),
        "mul" => f64_op!(MulF64, mode),
        "fma" | "mad" if rounded => f64_op!(FmaF64, mode),
        "div" if rounded => f64_op!(DivF64, mode),
        "rcp" if rounded => f64_op!(RcpF64, mode),
        "sqrt" if rounded => f64_op!(SqrtF64, mode),
        _ if !mode.plain() => None,
        "abs" => Some(pure::<float::AbsF64>()),
        "neg" => Some(pure::<float::NegF64>()),
        "min" => Some(pure::<float::MinF64>()),
        "max" => Some(pure::<float::MaxF64>()),
        "copysign" => Some(pure::<float::CopySignF64>()),
        _ => None,
    }
}
