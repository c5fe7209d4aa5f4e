//! Operations and comparisons that a runner recognizes.
//!
//! An operation is recognized by the address of its function. This works only in this crate:
//! another crate that calls `pure` would compile a copy of the function with another address. For
//! the same reason, the functions here are never inlined.

use super::{PureInfo, TestInfo, bits, convert, integer, pure, test};

/// Operations whose results are regular if their operands are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Linear {
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

/// Returns the operation if it is one of these.
#[inline(never)]
pub fn linear(info: &PureInfo) -> Option<Linear> {
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
pub struct Comparison {
    pub relation: Relation,
    pub signed: bool,
    pub wide: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Relation {
    Equal,
    Unequal,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

/// Returns the comparison of integers that a test performs.
#[inline(never)]
pub fn comparison(info: &TestInfo) -> Option<Comparison> {
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

/// True if the operation inserts bits into a word and keeps its other bits.
#[inline(never)]
pub fn inserts(info: &PureInfo) -> bool {
    info.is(pure::<bits::Insert32>())
}
