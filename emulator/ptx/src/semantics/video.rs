//! Video instructions: arithmetic on bytes and halves of a register, on one or on all at once.
//!
//! They are rare, so they are data that one function interprets lane by lane. Current processors
//! implement few of them. The driver's compiler composes the others, and its code differs from the
//! documentation for results out of range. These functions match the recorded results of that code:
//! see `Limit` and `Piece::replace`.

/// A part of a register, sign- or zero-extended when it is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Piece {
    /// 8, 16 or 32.
    pub(crate) bits: u32,
    /// Position of its lowest bit.
    pub(crate) start: u32,
}

impl Piece {
    pub(crate) const WORD: Piece = Piece { bits: 32, start: 0 };

    fn mask(self) -> u32 {
        u32::MAX >> (32 - self.bits)
    }

    fn read(self, register: u32, signed: bool) -> i64 {
        extend(register >> self.start & self.mask(), self.bits, signed)
    }

    /// Returns `register` with this part replaced by the low bits of a value.
    fn replace(self, register: u32, value: u32) -> u32 {
        let mask = self.mask() << self.start;
        register & !mask | value << self.start & mask
    }

    /// Like `replace`, for scalar instructions: the value's upper half goes to the upper half.
    fn merge(self, register: u32, value: u32) -> u32 {
        let upper_half = Piece { bits: 16, start: 16 };
        self.replace(register, if self == upper_half { value >> 16 } else { value })
    }
}

fn extend(value: u32, bits: u32, signed: bool) -> i64 {
    let unused = 32 - bits;
    if signed { i64::from((value << unused) as i32 >> unused) } else { value.into() }
}

fn saturated(value: i64, bits: u32, signed: bool) -> i64 {
    let (least, most) =
        if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
    value.clamp(least, most)
}

/// A source operand: its part, and its extension.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Source {
    pub(crate) part: Piece,
    pub(crate) signed: bool,
    pub(crate) negated: bool,
}

/// A function of two extended parts.
pub type Operation = fn(i64, i64) -> i64;

/// Combination of the result with the third operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Finish {
    Alone,
    Add,
    Min,
    Max,
    /// The result replaces this part of the third operand.
    Insert(Piece),
}

/// Range to which `.sat` limits the result of a scalar instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    None,
    /// Sums and similar results: to the range of a signed word, or only from below for an unsigned
    /// one. A result that replaces a part is limited from above, as an unsigned number.
    Result,
    /// Shifts: to the range of a word, from the low 34 bits.
    Shifted,
}

impl Limit {
    fn apply(self, result: i64, signed: bool, finish: Finish) -> i64 {
        match (self, finish) {
            (Limit::None, _) => result,
            (Limit::Result, Finish::Insert(part)) if part != Piece::WORD => {
                let most = part.mask() >> u32::from(signed);
                (result as u32).min(most).into()
            }
            (Limit::Result, _) if signed => saturated(result, 32, true),
            (Limit::Result, _) => result.max(0),
            (Limit::Shifted, _) => saturated(result << 30 >> 30, 32, signed),
        }
    }
}

/// `vadd`, `vset` and similar instructions.
#[derive(Clone, Copy, Debug)]
pub struct Scalar {
    pub(crate) operation: Operation,
    pub(crate) a: Source,
    pub(crate) b: Source,
    /// True if the result is signed.
    pub(crate) signed: bool,
    pub(crate) limit: Limit,
    pub(crate) finish: Finish,
}

impl Scalar {
    fn apply(&self, a: u32, b: u32, c: u32) -> u32 {
        let result = (self.operation)(self.a.part.read(a, self.a.signed), self.b.part.read(b, self.b.signed));
        let result = self.limit.apply(result, self.signed, self.finish);
        let third = extend(c, 32, self.signed);
        match self.finish {
            Finish::Alone => result as u32,
            Finish::Add => result.wrapping_add(third) as u32,
            Finish::Min if self.signed => result.min(third) as u32,
            Finish::Max if self.signed => result.max(third) as u32,
            // A negative result counts as larger than any word.
            Finish::Min => (result as u64).min(third as u64) as u32,
            Finish::Max => (result as u64).max(third as u64) as u32,
            Finish::Insert(part) => part.merge(c, result as u32),
        }
    }
}

/// `vmad`.
#[derive(Clone, Copy, Debug)]
pub struct MultiplyAdd {
    pub(crate) a: Source,
    pub(crate) b: Source,
    pub(crate) negate_third: bool,
    /// True to add one more.
    pub(crate) plus_one: bool,
    /// Number of bits by which the sum is shifted down.
    pub(crate) shift: u32,
    pub(crate) saturate: bool,
}

impl MultiplyAdd {
    fn apply(&self, a: u32, b: u32, c: u32) -> u32 {
        let opposite = self.a.negated != self.b.negated;
        let signed = self.a.signed || self.b.signed || opposite || self.negate_third;
        // Whole words count as signed, regardless of their type.
        let read = |source: Source, register: u32| {
            source.part.read(register, source.signed || source.part == Piece::WORD)
        };
        let product = read(self.a, a) * read(self.b, b);
        let product = if opposite { -product } else { product };
        let third = extend(c, 32, true);
        let third = if self.negate_third { -third } else { third };
        let sum = product + third + i64::from(self.plus_one);
        let sum = if signed { sum >> self.shift } else { (sum as u64 >> self.shift) as i64 };
        (if self.saturate { saturated(sum, 32, signed) } else { sum }) as u32
    }
}

/// The parts that an operand of a parallel operation takes from the first two registers together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Picks {
    /// Source of each part; halves use the first two.
    pub(crate) from: [u8; 4],
    pub(crate) signed: bool,
}

/// `vadd2`, `vset4` and similar instructions.
#[derive(Clone, Copy, Debug)]
pub struct Parallel {
    pub(crate) operation: Operation,
    /// Bits of each part: 8 or 16.
    pub(crate) bits: u32,
    pub(crate) a: Picks,
    pub(crate) b: Picks,
    pub(crate) signed: bool,
    pub(crate) saturate: bool,
    /// The results to keep, one bit each; the third operand provides the others.
    pub(crate) mask: u8,
    /// True if the sum of the results is added to the third operand instead.
    pub(crate) accumulate: bool,
}

impl Parallel {
    fn apply(&self, a: u32, b: u32, c: u32) -> u32 {
        let both = u64::from(b) << 32 | u64::from(a);
        let pick = |picks: &Picks, index: usize| {
            let register = (both >> (u32::from(picks.from[index]) * self.bits)) as u32;
            Piece { bits: self.bits, start: 0 }.read(register, picks.signed)
        };
        let mut out = c;
        for index in (0..32 / self.bits).filter(|index| self.mask >> index & 1 != 0) {
            let place = index as usize;
            let mut result = (self.operation)(pick(&self.a, place), pick(&self.b, place));
            if self.saturate {
                result = saturated(result, self.bits, self.signed);
            }
            out = match self.accumulate {
                true => out.wrapping_add(result as u32),
                false => Piece { bits: self.bits, start: index * self.bits }.replace(out, result as u32),
            };
        }
        out
    }
}

/// A video instruction.
#[derive(Clone, Copy, Debug)]
pub enum Video {
    Scalar(Scalar),
    MultiplyAdd(MultiplyAdd),
    Parallel(Parallel),
}

impl Video {
    pub fn apply(&self, a: u32, b: u32, c: u32) -> u32 {
        match self {
            Video::Scalar(scalar) => scalar.apply(a, b, c),
            Video::MultiplyAdd(multiply) => multiply.apply(a, b, c),
            Video::Parallel(parallel) => parallel.apply(a, b, c),
        }
    }
}

/// Rounds up if the sum is not negative.
pub(crate) fn average(a: i64, b: i64) -> i64 {
    let sum = a + b;
    (sum + i64::from(sum >= 0)) >> 1
}

pub(crate) fn shift_left<const WRAP: bool>(a: i64, amount: i64) -> i64 {
    a << if WRAP { amount & 31 } else { amount.clamp(0, 32) }
}

pub(crate) fn shift_right<const WRAP: bool>(a: i64, amount: i64) -> i64 {
    a >> if WRAP { amount & 31 } else { amount.clamp(0, 32) }
}
