//! The meaning of operations for a code generator.
//!
//! An operation names its meaning in its declaration (`@lower`). The types of the operands are in
//! [`super::PureInfo`]. A code generator calls the function of an operation without a meaning.

use super::rounding::{DOWN, NEAREST, ZERO};

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
    /// A number plus the products of the parts of two words, which are signed or not: of four bytes
    /// of both, or of the halves of the first with the lower or upper bytes of the second.
    Dot {
        signed: [bool; 2],
        halves: Option<Half>,
    },
    Low,
    High,
    Pack,
    Pack16,
    /// Drops or extends bits.
    Wrap,
    IntToFloat,
    /// The flag says if a subnormal number counts as zero.
    FloatToInt(Whole, bool),
    FloatToWhole(Whole, Limits),
    FloatToFloat(Limits),
    BrainToSingle,
    Float(Float, Limits),
    /// A sum, of a product or of two numbers, in single precision. The flag says if subnormal
    /// numbers count as zeros.
    Directed(Direction, bool),
    /// The flag says if subnormal numbers count as zeros.
    Elementary(Elementary, bool),
}

/// The lower or the upper bytes of a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Half {
    Lower,
    Upper,
}

/// Arithmetic of one floating-point type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Float {
    Add,
    Sub,
    Mul,
    /// The fused product and sum.
    Fma,
    Div,
    /// The quotient, which is zero for divisors beyond 2^126.
    DivFast,
    Sqrt,
    /// The reciprocal.
    Rcp,
    /// The reciprocal square root.
    Rsqrt,
    Min,
    Max,
    Abs,
    Neg,
    /// The second operand with the sign of the first.
    CopySign,
}

impl Float {
    /// Returns the meaning of the operation, which flushes or not (`.ftz`).
    pub(crate) const fn flushing(self, flush: bool) -> Lower {
        Lower::Float(self, Limits { flush, saturate: false })
    }

    /// Returns the meaning of the operation in double precision.
    pub(crate) const fn lower(self) -> Lower {
        self.flushing(false)
    }
}

/// Rounding of a sum other than to the nearest number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    Down,
    TowardsZero,
}

/// A function by a formula of [`super::elementary`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Elementary {
    Exp2,
    Log2,
    Sine,
    Cosine,
    Tanh,
}

/// Numbers that an operation in single precision replaces by others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Subnormal operands and results become zeros (`.ftz`).
    pub flush: bool,
    /// A result below zero or NaN becomes zero, one above one becomes one (`.sat`).
    pub saturate: bool,
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
    /// Returns the meaning of arithmetic with this rounding.
    pub(crate) const fn rounded(operation: Float, round: u8, limits: Limits) -> Lower {
        match (operation, round) {
            (_, NEAREST) => Lower::Float(operation, limits),
            (Float::Add | Float::Fma, ZERO) if !limits.saturate => {
                Lower::Directed(Direction::TowardsZero, limits.flush)
            }
            (Float::Add | Float::Fma, DOWN) if !limits.saturate => {
                Lower::Directed(Direction::Down, limits.flush)
            }
            _ => Lower::Call,
        }
    }

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
    /// Of floating-point numbers, where subnormal ones may count as zeros.
    Float {
        relation: FloatRelation,
        flush: bool,
    },
}

/// Relation of floating-point numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FloatRelation {
    Equal,
    /// Less or greater, so false for NaN.
    Unequal,
    Less,
    AtMost,
    /// Neither is NaN.
    Ordered,
}
