//! Operations on integers, one or two in a register.

use super::mode::{Found, Kept};
use crate::program::types::Type;
use crate::semantics::half::Both;
use crate::semantics::{integer, pure};

macro_rules! by_integer {
    ($ty:expr, $op:ident) => {
        match $ty {
            Type::U16 => Some(pure::<integer::$op<u16>>()),
            Type::S16 => Some(pure::<integer::$op<i16>>()),
            Type::U32 => Some(pure::<integer::$op<u32>>()),
            Type::S32 => Some(pure::<integer::$op<i32>>()),
            Type::U64 => Some(pure::<integer::$op<u64>>()),
            Type::S64 => Some(pure::<integer::$op<i64>>()),
            _ => None,
        }
    };
}

macro_rules! by_narrow_integer {
    ($ty:expr, $op:ident) => {
        match $ty {
            Type::U16 => Some(pure::<integer::$op<u16>>()),
            Type::S16 => Some(pure::<integer::$op<i16>>()),
            Type::U32 => Some(pure::<integer::$op<u32>>()),
            Type::S32 => Some(pure::<integer::$op<i32>>()),
            _ => None,
        }
    };
}

/// Returns an operation on two 16-bit integers in one register.
pub(super) fn pair(opcode: &str, relu: bool, sat: bool, ty: Type) -> Found {
    let signed = ty == Type::S16x2;
    Some(match (opcode, signed, relu, sat) {
        ("add", false, false, false) => pure::<Both<integer::Add<u16>>>(),
        ("add", true, false, false) => pure::<Both<integer::Add<i16>>>(),
        ("add", false, false, true) => pure::<Both<integer::AddSaturating<u16>>>(),
        ("add", true, false, true) => pure::<Both<integer::AddSaturating<i16>>>(),
        ("min", false, false, false) => pure::<Both<integer::Min<u16>>>(),
        ("min", true, false, false) => pure::<Both<integer::Min<i16>>>(),
        ("max", false, false, false) => pure::<Both<integer::Max<u16>>>(),
        ("max", true, false, false) => pure::<Both<integer::Max<i16>>>(),
        ("min", true, true, false) => pure::<Both<integer::MinRelu<i16>>>(),
        ("max", true, true, false) => pure::<Both<integer::MaxRelu<i16>>>(),
        _ => return None,
    })
}

/// Returns the minimum or maximum with zero for negative results.
pub(super) fn relu(opcode: &str) -> Found {
    match opcode {
        "min" => Some(pure::<integer::MinRelu<i32>>()),
        "max" => Some(pure::<integer::MaxRelu<i32>>()),
        _ => None,
    }
}

pub(super) fn integer(opcode: &str, part: Option<Kept>, sat: bool, ty: Type) -> Found {
    match (opcode, part) {
        ("add", None) if sat => (ty == Type::S32).then(pure::<integer::AddSaturating<i32>>),
        ("sub", None) if sat => (ty == Type::S32).then(pure::<integer::SubSaturating<i32>>),
        ("mad", Some(Kept::High)) if sat => (ty == Type::S32).then(pure::<integer::MadHighSaturating<i32>>),
        _ if sat => None,
        ("add", None) => by_integer!(ty, Add),
        ("sub", None) => by_integer!(ty, Sub),
        ("mul", Some(Kept::Low)) => by_integer!(ty, MulLow),
        ("mul", Some(Kept::High)) => by_integer!(ty, MulHigh),
        ("mul", Some(Kept::Wide)) => by_narrow_integer!(ty, MulWide),
        ("mad", Some(Kept::Low)) => by_integer!(ty, MadLow),
        ("mad", Some(Kept::High)) => by_integer!(ty, MadHigh),
        ("mad", Some(Kept::Wide)) => by_narrow_integer!(ty, MadWide),
        ("div", None) => by_integer!(ty, Div),
        ("rem", None) => by_integer!(ty, Rem),
        ("min", None) => by_integer!(ty, Min),
        ("max", None) => by_integer!(ty, Max),
        ("sad", None) => by_integer!(ty, Sad),
        ("abs", None) if ty.is_signed() => by_integer!(ty, Abs),
        ("neg", None) if ty.is_signed() => by_integer!(ty, Neg),
        ("mul24", Some(Kept::Low)) if ty == Type::U32 => Some(pure::<integer::Mul24LowU>()),
        ("mul24", Some(Kept::Low)) if ty == Type::S32 => Some(pure::<integer::Mul24LowS>()),
        ("mul24", Some(Kept::High)) if ty == Type::U32 => Some(pure::<integer::Mul24HighU>()),
        ("mul24", Some(Kept::High)) if ty == Type::S32 => Some(pure::<integer::Mul24HighS>()),
        _ => None,
    }
}
