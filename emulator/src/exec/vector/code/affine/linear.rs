//! Operations and comparisons that keep values regular.

use super::expr::{Expr, Exprs, Growth, Id, ZERO};
use crate::semantics::{PureInfo, TestInfo, bits, convert, integer, pure, test};

/// Operations whose results are regular if their operands are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::exec) enum Linear {
    Copy,
    Add,
    Sub,
    Neg,
    MulLow,
    MadLow,
    ShiftLeft,
    /// Extends to 64 bits.
    Widen {
        signed: bool,
    },
    MulWide {
        signed: bool,
    },
    MadWide {
        signed: bool,
    },
    Truncate,
}

pub(in crate::exec) fn linear(info: &PureInfo) -> Option<Linear> {
    let is = |other: &PureInfo| info.is(other);
    macro_rules! table {
        ($($($operation:ty),+ => $linear:expr;)*) => {$(
            if $(is(pure::<$operation>()))||+ {
                return Some($linear);
            }
        )*};
    }
    use integer::{Add, MadLow, MadWide, MulLow, MulWide, Neg, Sub};
    table! {
        Add<u32>, Add<u64> => Linear::Add;
        bits::Move32, bits::Move64 => Linear::Copy;
        MulWide<i32> => Linear::MulWide { signed: true };
        MulWide<u32> => Linear::MulWide { signed: false };
        MadLow<u32>, MadLow<u64> => Linear::MadLow;
        MulLow<u32>, MulLow<u64> => Linear::MulLow;
        Sub<u32>, Sub<u64> => Linear::Sub;
        Neg<u32>, Neg<u64> => Linear::Neg;
        bits::ShiftLeft<u32>, bits::ShiftLeft<u64> => Linear::ShiftLeft;
        convert::Wrap<u64, i32> => Linear::Widen { signed: true };
        convert::Wrap<u64, u32> => Linear::Widen { signed: false };
        convert::Wrap<u32, u64>, convert::Wrap<u32, i64> => Linear::Truncate;
        MadWide<i32> => Linear::MadWide { signed: true };
        MadWide<u32> => Linear::MadWide { signed: false };
    }
    None
}

/// Comparison of two values of regular lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::exec) struct Comparison {
    pub(in crate::exec) relation: Relation,
    pub(in crate::exec) signed: bool,
    pub(in crate::exec) wide: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::exec) enum Relation {
    Equal,
    Unequal,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

/// The comparison of integers that a test is.
pub(in crate::exec) fn comparison(info: &TestInfo) -> Option<Comparison> {
    macro_rules! table {
        ($($relation:ident: $name:ident;)*) => {$(
            table!(@each $relation, $name, u32, false, false);
            table!(@each $relation, $name, i32, true, false);
            table!(@each $relation, $name, u64, false, true);
            table!(@each $relation, $name, i64, true, true);
        )*};
        (@each $relation:ident, $name:ident, $ty:ty, $signed:expr, $wide:expr) => {
            if info.is(test::<integer::$name<$ty>>()) {
                return Some(Comparison { relation: Relation::$relation, signed: $signed, wide: $wide });
            }
        };
    }
    table! {
        AtLeast: Ge;
        Less: Lt;
        Greater: Gt;
        AtMost: Le;
        Unequal: Ne;
        Equal: Eq;
    }
    None
}

/// Growth of an operation's result; `None` if it depends on more than the launch.
pub(in crate::exec) fn linear_shape(
    exprs: &mut Exprs,
    linear: Linear,
    [a, b, c, _]: [Growth; 4],
    values: [Option<Id>; 4],
) -> Option<Growth> {
    let product = |exprs: &mut Exprs, factor: fn(&mut Exprs, Id) -> Id| match values {
        [_, Some(value), ..] => {
            let value = factor(exprs, value);
            Some(exprs.each(a, |id| Expr::Mul(id, value)))
        }
        [Some(value), ..] => {
            let value = factor(exprs, value);
            Some(exprs.each(b, |id| Expr::Mul(id, value)))
        }
        _ => None,
    };
    let as_is: fn(&mut Exprs, Id) -> Id = |_, id| id;
    let low: fn(&mut Exprs, Id) -> Id = |exprs, id| exprs.make(Expr::Low(id));
    let low_unsigned: fn(&mut Exprs, Id) -> Id = |exprs, id| exprs.make(Expr::LowUnsigned(id));
    match linear {
        Linear::Copy | Linear::Widen { .. } | Linear::Truncate => Some(a),
        Linear::Add => Some(exprs.pair(a, b, Expr::Add)),
        Linear::Sub => Some(exprs.pair(a, b, Expr::Sub)),
        Linear::Neg => Some(exprs.each(a, |id| Expr::Sub(ZERO, id))),
        Linear::MulLow => product(exprs, as_is),
        Linear::MulWide { signed } => product(exprs, if signed { low } else { low_unsigned }),
        Linear::MadLow => {
            let product = product(exprs, as_is)?;
            Some(exprs.pair(product, c, Expr::Add))
        }
        Linear::MadWide { signed } => {
            let product = product(exprs, if signed { low } else { low_unsigned })?;
            Some(exprs.pair(product, c, Expr::Add))
        }
        Linear::ShiftLeft => {
            let amount = exprs.number(values[1]?)?;
            let factor = exprs.make(Expr::Number(if (0..63).contains(&amount) { 1 << amount } else { 0 }));
            Some(exprs.each(a, |id| Expr::Mul(id, factor)))
        }
    }
}

/// The result of an operation on known values.
pub(in crate::exec) fn linear_value(
    exprs: &mut Exprs,
    linear: Linear,
    values: [Option<Id>; 4],
) -> Option<Id> {
    let [a, b, c, _] = values;
    match linear {
        Linear::Copy | Linear::Truncate => a,
        Linear::Add => Some(exprs.make(Expr::Add(a?, b?))),
        Linear::Sub => Some(exprs.make(Expr::Sub(a?, b?))),
        Linear::Neg => Some(exprs.make(Expr::Sub(ZERO, a?))),
        Linear::MulLow => Some(exprs.make(Expr::Mul(a?, b?))),
        Linear::MadLow => {
            let product = exprs.make(Expr::Mul(a?, b?));
            Some(exprs.make(Expr::Add(product, c?)))
        }
        Linear::ShiftLeft | Linear::Widen { .. } | Linear::MulWide { .. } | Linear::MadWide { .. } => None,
    }
}
