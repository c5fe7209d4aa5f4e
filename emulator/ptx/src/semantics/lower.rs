//! The meaning of operations for a code generator.
//!
//! An operation names its meaning in its declaration (`@lower`). The types of the operands are in
//! [`super::PureInfo`]. A code generator calls the function of an operation without a meaning.

/// Meaning of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lower {
    /// None: the function is called.
    Call,
    Move,
    Add,
    Sub,
    MulLow,
    MulHigh,
    MulWide,
    MadLow,
    MadHigh,
    MadWide,
    Div,
    Rem,
    Abs,
    Neg,
    Min,
    Max,
    ShiftRight,
    ShiftLeft,
    /// Shifts right by an amount modulo the width.
    ShiftDown,
    And,
    Or,
    Xor,
    Not,
    LeadingZeros,
    /// The position of the highest bit of a word, or its distance from the top; all ones without a
    /// bit.
    Find {
        from_top: bool,
    },
    Ones,
    Reverse,
    Logic3,
    /// Shifts two words; the amount wraps or is clamped.
    Funnel {
        left: bool,
        wrap: bool,
    },
    Extract {
        signed: bool,
    },
    Insert,
    Permute,
    Low,
    High,
    Pack,
    Pack16,
    /// Drops or extends bits.
    Wrap,
    IntToFloat,
    FloatToInt(Whole),
    FloatToWhole(Whole),
    FloatToFloat,
    BrainToSingle,
    FloatAdd {
        flush: bool,
    },
    FloatSub {
        flush: bool,
    },
    FloatMul {
        flush: bool,
    },
    FloatFma {
        flush: bool,
    },
    FloatDiv,
    FloatSqrt,
    /// The reciprocal.
    FloatRcp,
    /// The reciprocal square root.
    FloatRsqrt,
    /// The quotient, which is zero for divisors beyond 2^126.
    FloatDivFast,
    FloatMin,
    FloatMax,
    FloatAbs,
    FloatNeg,
}

/// Rounding to an integer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Whole {
    Nearest,
    Truncated,
    Floor,
    Ceiling,
}

impl Whole {
    /// Returns the rounding with this number in `cvt`.
    pub(crate) const fn of(round: u8) -> Whole {
        match round {
            0 => Whole::Nearest,
            1 => Whole::Truncated,
            2 => Whole::Floor,
            _ => Whole::Ceiling,
        }
    }
}

impl Lower {
    /// Returns this meaning if the condition holds.
    pub(crate) const fn only_if(self, condition: bool) -> Lower {
        if condition { self } else { Lower::Call }
    }
}

/// Meaning of the function of a comparison, before its result is inverted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LowerTest {
    /// None: the function is called.
    Call,
    Equal,
    Less,
    FloatEqual,
    /// Less or greater, so false for NaN.
    FloatUnequal,
    FloatLess,
    FloatAtMost,
    /// Neither is NaN.
    FloatOrdered,
}

impl LowerTest {
    /// Returns this meaning if the condition holds.
    pub(crate) const fn only_if(self, condition: bool) -> LowerTest {
        if condition { self } else { LowerTest::Call }
    }
}
