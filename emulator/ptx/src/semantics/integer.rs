//! Integer arithmetic and comparison.

use super::elementary::nearest;
use super::lower::{Lower, LowerTest};
use super::{Comparison, Lane, Test, operations};
use core::marker::PhantomData;

pub(crate) trait Int: Lane + Ord {
    type Unsigned: Int;
    const ZERO: Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn mul_high(self, other: Self) -> Self;
    /// All ones for a zero divisor, as on hardware; the smallest number divided by -1 wraps.
    fn div(self, other: Self) -> Self;
    /// Returns all ones for a zero divisor, as on hardware.
    fn rem(self, other: Self) -> Self;
    fn abs(self) -> Self;
    /// Shifts; amounts from the width on give zero, or the sign.
    fn shift_right(self, amount: u32) -> Self;
    fn saturating_add(self, other: Self) -> Self;
    fn saturating_sub(self, other: Self) -> Self;
}

macro_rules! int {
    ($($ty:ty, $unsigned:ty, $double:ty, |$x:ident| $abs:expr, |$a:ident, $b:ident| $quotient:expr;)*) => {$(
        impl Int for $ty {
            type Unsigned = $unsigned;
            const ZERO: Self = 0;
            #[inline(always)]
            fn add(self, other: Self) -> Self { self.wrapping_add(other) }
            #[inline(always)]
            fn sub(self, other: Self) -> Self { self.wrapping_sub(other) }
            #[inline(always)]
            fn mul(self, other: Self) -> Self { self.wrapping_mul(other) }
            #[inline(always)]
            fn mul_high(self, other: Self) -> Self {
                ((<$double>::from(self) * <$double>::from(other)) >> <$ty>::BITS) as $ty
            }
            #[inline(always)]
            fn div(self, other: Self) -> Self {
                let ($a, $b) = (self, other);
                if other == 0 { !0 } else { $quotient }
            }
            #[inline(always)]
            fn rem(self, other: Self) -> Self {
                let ($a, $b) = (self, other);
                if other == 0 { !0 } else { self.wrapping_sub(other.wrapping_mul($quotient)) }
            }
            #[inline(always)]
            fn abs(self) -> Self { let $x = self; $abs }
            #[inline(always)]
            fn shift_right(self, amount: u32) -> Self {
                // Two shifts keep each amount below the width; the sign fills the rest.
                let half = amount.min(<$ty>::BITS) / 2;
                (self >> half) >> (amount.min(<$ty>::BITS) - half)
            }
            #[inline(always)]
            fn saturating_add(self, other: Self) -> Self { self.saturating_add(other) }
            #[inline(always)]
            fn saturating_sub(self, other: Self) -> Self { self.saturating_sub(other) }
        }
    )*};
}

int! {
    u16, u16, u32, |x| x, |a, b| a / b;
    i16, u16, i32, |x| x.wrapping_abs(), |a, b| a.wrapping_div(b);
    u32, u32, u64, |x| x, |a, b| quotient(a, b);
    i32, u32, i64, |x| x.wrapping_abs(), |a, b| {
        let magnitude = quotient(a.unsigned_abs(), b.unsigned_abs()) as i32;
        if a ^ b < 0 { magnitude.wrapping_neg() } else { magnitude }
    };
    u64, u64, u128, |x| x, |a, b| a / b;
    i64, u64, i128, |x| x.wrapping_abs(), |a, b| a.wrapping_div(b);
}

/// Returns the quotient, rounded down; any number for a zero divisor. It divides doubles, because
/// vector extensions divide no integers.
///
/// The dividend, less half a divisor and plus a quarter, is exact. The quotient is then below the
/// wanted integer plus a half, and above it less a half, by at least a quarter of 1 / `b`, which is
/// more than its rounding error, so the nearest integer is the wanted one.
#[inline(always)]
fn quotient(a: u32, b: u32) -> u32 {
    let (a, b) = (f64::from(a), f64::from(b));
    nearest((a - 0.5 * b + 0.25) / b).1 as u32
}

/// The types of `mul.wide`.
pub(crate) trait Widening: Int {
    type Wide: Int;
    fn mul_wide(self, other: Self) -> Self::Wide;
}

macro_rules! widening {
    ($($ty:ty, $wide:ty;)*) => {$(
        impl Widening for $ty {
            type Wide = $wide;
            #[inline(always)]
            fn mul_wide(self, other: Self) -> $wide { <$wide>::from(self).wrapping_mul(<$wide>::from(other)) }
        }
    )*};
}

widening! { u16, u32; i16, i32; u32, u64; i32, i64; }

operations! {
    @rows(size_of::<T>() >= 2)
    @lower(Lower::Add)
    AddBits[T: Int](a: T, b: T) -> T { a.add(b) }
    @rare(true)
    AddSaturating[T: Int](a: T, b: T) -> T { a.saturating_add(b) }
    @rows(size_of::<T>() >= 2)
    @lower(Lower::Sub)
    SubBits[T: Int](a: T, b: T) -> T { a.sub(b) }
    @rare(true)
    SubSaturating[T: Int](a: T, b: T) -> T { a.saturating_sub(b) }
    @rows(size_of::<T>() >= 2)
    @lower(Lower::MulLow)
    MulLowBits[T: Int](a: T, b: T) -> T { a.mul(b) }
    @rows(size_of::<T>() == 4)
    @rare(size_of::<T>() < 4)
    @lower(Lower::MulHigh)
    MulHigh[T: Int](a: T, b: T) -> T { a.mul_high(b) }
    @rows(size_of::<T>() >= 2)
    @lower(Lower::MulWide)
    MulWide[T: Widening](a: T, b: T) -> T::Wide { a.mul_wide(b) }
    @rows(size_of::<T>() >= 2)
    @lower(Lower::MadLow)
    MadLowBits[T: Int](a: T, b: T, c: T) -> T { a.mul(b).add(c) }
    @rows(size_of::<T>() == 4)
    @rare(size_of::<T>() < 4)
    @lower(Lower::MadHigh)
    MadHigh[T: Int](a: T, b: T, c: T) -> T { a.mul_high(b).add(c) }
    @rare(true)
    MadHighSaturating[T: Int](a: T, b: T, c: T) -> T { a.mul_high(b).saturating_add(c) }
    @rows(size_of::<T>() >= 2)
    @lower(Lower::MadWide)
    MadWide[T: Widening](a: T, b: T, c: T::Wide) -> T::Wide { a.mul_wide(b).add(c) }
    @rows(size_of::<T>() == 4)
    @rare(size_of::<T>() < 4)
    @lower(Lower::Div)
    Div[T: Int](a: T, b: T) -> T { a.div(b) }
    @rows(size_of::<T>() == 4)
    @rare(size_of::<T>() < 4)
    @lower(Lower::Rem)
    Rem[T: Int](a: T, b: T) -> T { a.rem(b) }
    @rows(size_of::<T>() >= 4)
    @rare(size_of::<T>() < 4)
    @lower(Lower::Abs)
    Abs[T: Int](a: T) -> T { a.abs() }
    @rows(size_of::<T>() >= 4)
    @rare(size_of::<T>() < 4)
    @lower(Lower::Neg)
    NegBits[T: Int](a: T) -> T { T::ZERO.sub(a) }
    @rows(size_of::<T>() >= 2)
    @lower(Lower::Min)
    Min[T: Int](a: T, b: T) -> T { a.min(b) }
    @rows(size_of::<T>() >= 2)
    @lower(Lower::Max)
    Max[T: Int](a: T, b: T) -> T { a.max(b) }
    @rare(true)
    MinRelu[T: Int](a: T, b: T) -> T { a.min(b).max(T::ZERO) }
    @rare(true)
    MaxRelu[T: Int](a: T, b: T) -> T { a.max(b).max(T::ZERO) }
    @rows(size_of::<T>() >= 2)
    @lower(Lower::ShiftRight)
    ShiftRight[T: Int](a: T, b: u32) -> T { a.shift_right(b) }
    /// Sum of absolute differences.
    @rare(true)
    Sad[T: Int](a: T, b: T, c: T) -> T { c.add(if a < b { b.sub(a) } else { a.sub(b) }) }
    @rare(true)
    Mul24LowU(a: u32, b: u32) -> u32 { (a & 0xff_ffff).wrapping_mul(b & 0xff_ffff) }
    @rare(true)
    Mul24LowS(a: i32, b: i32) -> i32 { ((a << 8) >> 8).wrapping_mul((b << 8) >> 8) }
    @rare(true)
    Mul24HighU(a: u32, b: u32) -> u32 { ((u64::from(a & 0xff_ffff) * u64::from(b & 0xff_ffff)) >> 16) as u32 }
    @rare(true)
    Mul24HighS(a: i32, b: i32) -> i32 {
        ((i64::from((a << 8) >> 8) * i64::from((b << 8) >> 8)) >> 16) as i32
    }
}

// These do not depend on the sign, so they are compiled once.
pub(crate) type Add<T> = AddBits<<T as Int>::Unsigned>;
pub(crate) type Sub<T> = SubBits<<T as Int>::Unsigned>;
pub(crate) type MulLow<T> = MulLowBits<<T as Int>::Unsigned>;
pub(crate) type MadLow<T> = MadLowBits<<T as Int>::Unsigned>;
pub(crate) type Neg<T> = NegBits<<T as Int>::Unsigned>;

pub(crate) struct SelectBySign<T>(PhantomData<T>);
impl<T: Lane> super::Pure for SelectBySign<T> {
    const RARE: bool = true;
    type Out = T;
    type A = T;
    type B = T;
    type C = i32;
    type D = ();
    #[inline(always)]
    fn eval(a: T, b: T, c: i32, (): ()) -> T {
        if c >= 0 { a } else { b }
    }
}

/// Selects by the sign of a float; -0 does not count as negative.
pub(crate) struct SelectByFloat<T, const FTZ: bool>(PhantomData<T>);
impl<T: Lane, const FTZ: bool> super::Pure for SelectByFloat<T, FTZ> {
    const RARE: bool = true;
    type Out = T;
    type A = T;
    type B = T;
    type C = f32;
    type D = ();
    #[inline(always)]
    fn eval(a: T, b: T, c: f32, (): ()) -> T {
        if super::subnormal::flush::<FTZ>(c) >= 0.0 { a } else { b }
    }
}

macro_rules! integer_tests {
    ($($name:ident $operator:tt $lower:ident;)*) => {$(
        pub(crate) struct $name<T>(PhantomData<T>);
        impl<T: Int> Test for $name<T> {
            type A = T;
            type B = T;
            // Programs that process bytes compare them as 16-bit numbers.
            const IN_ROWS: bool = true;
            const LOWER: LowerTest = LowerTest::$lower;
            #[inline(always)]
            fn eval(a: T, b: T) -> bool { a $operator b }
        }
    )*};
}

integer_tests! { Eq == Equal; Lt < Less; }

/// Comparisons that are the opposite of another, or exchange its operands.
macro_rules! other_integer_tests {
    ($($name:ident = $core:ident: $($how:ident)+;)*) => {$(
        pub(crate) struct $name<T>(PhantomData<T>);
        impl<T: Int> Comparison for $name<T> {
            type Core = $core<T>;
            $(const $how: bool = true;)+
        }
    )*};
}

other_integer_tests! {
    Ne = Eq: OPPOSITE;
    Le = Lt: OPPOSITE EXCHANGED;
    Gt = Lt: EXCHANGED;
    Ge = Lt: OPPOSITE;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_are_rounded_towards_zero() {
        let mut numbers: Vec<u32> =
            (0..40u32).flat_map(|n| [n, n.wrapping_neg(), (1 << 31) + n, (1 << 31) - n]).collect();
        numbers.extend((0..32).flat_map(|bit| [1u32 << bit, (1u32 << bit) - 1, (1u32 << bit) + 1, 3 << bit]));
        let mut random = 1u32;
        numbers.extend((0..1500).map(|_| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            random >> (random & 31)
        }));
        for &a in &numbers {
            for &b in numbers.iter().filter(|b| **b != 0) {
                assert_eq!((Int::div(a, b), Int::rem(a, b)), (a / b, a % b), "{a} / {b}");
                let (c, d) = (a as i32, b as i32);
                let wanted = (c.wrapping_div(d), c.wrapping_rem(d));
                assert_eq!((Int::div(c, d), Int::rem(c, d)), wanted, "{c} / {d}");
            }
            // A multiple, and its neighbors.
            for &b in numbers.iter().filter(|b| **b != 0) {
                for x in [a - a % b, (a - a % b).wrapping_sub(1)] {
                    assert_eq!(Int::div(x, b), x / b, "{x} / {b}");
                }
            }
            assert_eq!((Int::div(a, 0), Int::rem(a as i32, 0)), (!0, !0));
        }
    }
}
