//! `cvt`: conversions between numeric types.

use super::float::{NEAREST, canonical, finish, is_nan64, narrow, quiet};
use super::half::{Bf16, F16, Half};
use super::lower::{Limits, Lower, Whole};
use super::subnormal::flush;
use super::{Lane, Pure, operations, soft};
use core::marker::PhantomData;

/// Rounding modes of `cvt` from a float to an integer, or to a float without a fraction. To even.
pub(crate) const TO_EVEN: u8 = 0;
pub(crate) const TRUNCATE: u8 = 1;
pub(crate) const FLOOR: u8 = 2;
pub(crate) const CEILING: u8 = 3;
pub(crate) const TIES_AWAY: u8 = 4;

pub(crate) trait Integer: Lane {
    /// The type with the same truncated results: unsigned, except for 8 and 16 bits, whose results
    /// are extended to the width of their register.
    type Cut: Integer;
    /// Extends the value to 64 bits, by sign or with zeros.
    fn extend(self) -> i64;
    /// Returns the low bits of a value.
    fn truncate(wide: i64) -> Self;
    fn value(self) -> i128;
    /// Returns the nearest number of this type.
    fn clamp(value: i128) -> Self;
    fn to_f32(self) -> f32;
    fn to_f64(self) -> f64;
    /// Saturates, with the hardware's result for NaN.
    fn from_f32(x: f32) -> Self;
    /// Saturates, with the hardware's result for NaN.
    fn from_f64(x: f64) -> Self;
}

/// Converts a number like `as`, with another result for NaN. Loops over rows become vectors this
/// way, and do not with `as`.
macro_rules! saturated {
    ($x:ident, $float:ident, $ty:ident, $nan:expr) => {{
        let (least, beyond) = ($ty::MIN as $float, ($ty::MAX / 2 + 1) as $float * 2.0);
        let inside = if $x >= least && $x < beyond { $x } else { least };
        // SAFETY: the number is in the range of the type.
        let whole = unsafe { inside.to_int_unchecked::<$ty>() };
        match $x {
            x if x.is_nan() => $nan,
            x if x >= beyond => $ty::MAX,
            _ => whole,
        }
    }};
}

macro_rules! integers {
    ($($ty:ident, $cut:ty, nan $nan32:expr, $nan64:expr;)*) => {$(
        impl Integer for $ty {
            type Cut = $cut;
            #[inline(always)]
            fn extend(self) -> i64 { self as i64 }
            #[inline(always)]
            fn truncate(wide: i64) -> Self { wide as $ty }
            #[inline(always)]
            fn value(self) -> i128 { self as i128 }
            #[inline(always)]
            fn clamp(value: i128) -> Self { value.clamp(<$ty>::MIN as i128, <$ty>::MAX as i128) as $ty }
            #[inline(always)]
            fn to_f32(self) -> f32 { self as f32 }
            #[inline(always)]
            fn to_f64(self) -> f64 { self as f64 }
            #[inline(always)]
            fn from_f32(x: f32) -> Self { saturated!(x, f32, $ty, $nan32) }
            #[inline(always)]
            fn from_f64(x: f64) -> Self { saturated!(x, f64, $ty, $nan64) }
        }
    )*};
}

integers! {
    u8, u8, nan 0, 1 << 7;
    i8, i8, nan 0, i8::MIN;
    u16, u16, nan 0, 1 << 15;
    i16, i16, nan 0, i16::MIN;
    u32, u32, nan 0, 1 << 31;
    i32, u32, nan 0, i32::MIN;
    u64, u64, nan 1 << 63, 1 << 63;
    i64, u64, nan i64::MIN, i64::MIN;
}

/// Integer to integer, dropping bits. Results that differ only in type are compiled once.
pub(crate) type Wrap<D, S> = WrapBits<<D as Integer>::Cut, S>;

/// [`Wrap`], to a [`Integer::Cut`].
pub(crate) struct WrapBits<D, S>(PhantomData<(D, S)>);
impl<D: Integer, S: Integer> Pure for WrapBits<D, S> {
    const IN_ROWS: bool = size_of::<D>() >= 2 && size_of::<S>() >= 2;
    const LOWER: Lower = Lower::Wrap;
    type Out = D;
    type A = S;
    type B = ();
    type C = ();
    type D = ();
    #[inline(always)]
    fn eval(a: S, (): (), (): (), (): ()) -> D {
        D::truncate(a.extend())
    }
}

/// Integer to integer, clamped to the range of the result.
pub(crate) struct Clamp<D, S>(PhantomData<(D, S)>);
impl<D: Integer, S: Integer> Pure for Clamp<D, S> {
    const RARE: bool = true;
    type Out = D;
    type A = S;
    type B = ();
    type C = ();
    type D = ();
    #[inline(always)]
    fn eval(a: S, (): (), (): (), (): ()) -> D {
        D::clamp(a.value())
    }
}

/// Floating-point types of conversions through double precision, which represents all exactly.
pub(crate) trait Float: Lane {
    /// Bits of the significand: integers of this size are converted exactly.
    const DIGITS: u32;
    fn widen<const FTZ: bool>(self) -> f64;
    /// Rounds once, then flushes and saturates.
    fn round<const ROUND: u8, const FTZ: bool, const SAT: bool>(x: f64) -> Self;
    /// Same as [`Float::round`] to nearest, for rare operations.
    #[inline(always)]
    fn nearest<const FTZ: bool, const SAT: bool>(x: f64) -> Self {
        Self::round::<NEAREST, FTZ, SAT>(x)
    }
    fn from_integer<const ROUND: u8, T: Integer>(value: T) -> Self;
    fn to_integer<const ROUND: u8, const FTZ: bool, T: Integer>(self) -> T;
    fn to_whole<const ROUND: u8>(self) -> Self;
}

macro_rules! to_whole {
    ($x:expr, $round:ident) => {
        match $round {
            TO_EVEN => $x.round_ties_even(),
            TRUNCATE => $x.trunc(),
            FLOOR => $x.floor(),
            _ => $x.ceil(),
        }
    };
}

impl Float for f32 {
    const DIGITS: u32 = f32::MANTISSA_DIGITS;
    #[inline(always)]
    fn widen<const FTZ: bool>(self) -> f64 {
        let x = flush::<FTZ>(self);
        if FTZ { canonical(x).into() } else { x.into() }
    }
    #[inline(always)]
    fn round<const ROUND: u8, const FTZ: bool, const SAT: bool>(x: f64) -> f32 {
        if SAT { finish::<FTZ, true>(narrow::<ROUND>(x)) } else { flush::<FTZ>(narrow::<ROUND>(x)) }
    }
    #[inline(always)]
    fn from_integer<const ROUND: u8, T: Integer>(value: T) -> f32 {
        if ROUND == NEAREST {
            return value.to_f32();
        }
        let value = value.value();
        narrow::<ROUND>(soft::integer_to_odd(value < 0, value.unsigned_abs() as u64))
    }
    #[inline(always)]
    fn to_integer<const ROUND: u8, const FTZ: bool, T: Integer>(self) -> T {
        T::from_f32(flush::<FTZ>(self).to_whole::<ROUND>())
    }
    #[inline(always)]
    fn to_whole<const ROUND: u8>(self) -> f32 {
        canonical(to_whole!(self, ROUND))
    }
}

impl Float for f64 {
    const DIGITS: u32 = f64::MANTISSA_DIGITS;
    #[inline(always)]
    fn widen<const FTZ: bool>(self) -> f64 {
        self
    }
    #[inline(always)]
    fn round<const ROUND: u8, const FTZ: bool, const SAT: bool>(x: f64) -> f64 {
        if SAT {
            let x = if x > 0.0 { x } else { 0.0 };
            return if x < 1.0 { x } else { 1.0 };
        }
        f64::from_bits(if is_nan64(x.to_bits()) { quiet(x.to_bits()) } else { x.to_bits() })
    }
    #[inline(always)]
    fn from_integer<const ROUND: u8, T: Integer>(value: T) -> f64 {
        if ROUND == NEAREST {
            return value.to_f64();
        }
        let value = value.value();
        soft::integer::<ROUND>(value < 0, value.unsigned_abs() as u64)
    }
    #[inline(always)]
    fn to_integer<const ROUND: u8, const FTZ: bool, T: Integer>(self) -> T {
        T::from_f64(self.to_whole::<ROUND>())
    }
    #[inline(always)]
    fn to_whole<const ROUND: u8>(self) -> f64 {
        to_whole!(self, ROUND)
    }
}

macro_rules! conversions {
    ($($(#[$m:meta])* $(@rows($rows:expr))? @rare($rare:expr) @lower($lower:expr) $name:ident<$d:ident: $dt:ident, $s:ident: $st:ident; $($n:ident: $nt:ty),*> |$a:ident| $body:expr;)*) => {$(
        $(#[$m])*
        pub(crate) struct $name<$d, $s, $(const $n: $nt),*>(PhantomData<($d, $s)>);
        impl<$d: $dt, $s: $st, $(const $n: $nt),*> Pure for $name<$d, $s, $($n),*> {
            $(const IN_ROWS: bool = $rows;)?
            const RARE: bool = $rare;
            const LOWER: Lower = $lower;
            type Out = $d;
            type A = $s;
            type B = ();
            type C = ();
            type D = ();
            #[inline(always)]
            fn eval($a: $s, (): (), (): (), (): ()) -> $d { $body }
        }
    )*};
}

/// Double precision to half precision; a NaN keeps its sign and the upper payload.
pub(crate) struct DoubleToHalf<H, const ROUND: u8>(PhantomData<H>);
impl<H: Half, const ROUND: u8> Pure for DoubleToHalf<H, ROUND> {
    const RARE: bool = true;
    type Out = H;
    type A = f64;
    type B = ();
    type C = ();
    type D = ();
    #[inline(always)]
    fn eval(a: f64, (): (), (): (), (): ()) -> H {
        let bits = a.to_bits();
        if is_nan64(bits) {
            let quiet = 1 << (H::FRACTION - 1);
            let payload = (bits >> (52 - H::FRACTION)) as u16 & (quiet - 1);
            return H::from_bits((bits >> 48) as u16 & 0x8000 | H::INFINITY | quiet | payload);
        }
        H::round::<ROUND>(a)
    }
}

conversions! {
    @rows(ROUND == NEAREST && !FTZ && (!SAT || size_of::<D>() == 4))
    @rare(ROUND != NEAREST || SAT && size_of::<D>() != 4)
    @lower(Lower::FloatToFloat(Limits { flush: FTZ, saturate: SAT }).only_if(ROUND == NEAREST
        && size_of::<D>() >= 4 && size_of::<S>() >= 4 && if size_of::<D>() == 8 { !SAT && size_of::<S>() == 4 }
        else { FTZ || SAT || size_of::<S>() == 8 }))
    FloatToFloat<D: Float, S: Float; ROUND: u8, FTZ: bool, SAT: bool> |a| D::round::<ROUND, FTZ, SAT>(a.widen::<FTZ>());
    /// Rounds to an integer first. Source and result have the same precision if PTX allows it.
    @rows(!SAT && size_of::<D>() == size_of::<S>() && size_of::<D>() >= 4)
    @rare(SAT || size_of::<D>() != size_of::<S>() || size_of::<D>() < 4)
    @lower(Lower::FloatToWhole(Whole::of(ROUND), Limits { flush: FTZ, saturate: SAT })
        .only_if(size_of::<D>() == size_of::<S>() && size_of::<D>() >= 4 && (!SAT || size_of::<D>() == 4)))
    FloatToWhole<D: Float, S: Float; ROUND: u8, FTZ: bool, SAT: bool> |a| {
        D::nearest::<FTZ, SAT>(S::nearest::<false, false>(a.widen::<FTZ>()).to_whole::<ROUND>().widen::<false>())
    };
    @rows(size_of::<D>() >= 4 && size_of::<S>() >= 2 && ROUND == NEAREST && !SAT)
    @rare(ROUND != NEAREST || SAT || size_of::<D>() < 4)
    @lower(Lower::IntToFloat.only_if(ROUND == NEAREST && !SAT && size_of::<D>() >= 4))
    IntToFloat<D: Float, S: Integer; ROUND: u8, SAT: bool> |a| {
        let x = D::from_integer::<ROUND, S>(a);
        if SAT { D::round::<NEAREST, false, true>(x.widen::<false>()) } else { x }
    };
    @rows(size_of::<D>() == 4 && size_of::<S>() >= 4 && (!FTZ || ROUND == TRUNCATE))
    @rare(size_of::<D>() < 4 || size_of::<S>() < 4 || FTZ && ROUND != TRUNCATE)
    @lower(Lower::FloatToInt(Whole::of(ROUND), FTZ).only_if(size_of::<D>() >= 4 && size_of::<S>() >= 4))
    FloatToInt<D: Integer, S: Float; ROUND: u8, FTZ: bool> |a| a.to_integer::<ROUND, FTZ, D>();
}

operations! {
    /// `bf16` to single precision: the upper half of the same bits, also for a NaN.
    @rows(true)
    @lower(Lower::BrainToSingle)
    BrainToSingle(a: Bf16) -> u32 { u32::from(a.bits()) << 16 }
    /// `f16` to single precision. NaNs become the canonical one; other conversions keep payloads.
    @rows(true)
    F16ToF32(a: F16) -> f32 { canonical(a.to_f32()) }
    /// Single precision rounded to the 10 fraction bits of `tf32`: to nearest with ties away from
    /// zero or to even, or towards zero.
    @rare(ROUND != TIES_AWAY || FINITE)
    ToTf32[const ROUND: u8, RELU: bool, FINITE: bool](a: f32) -> u32 {
        let bits = a.to_bits();
        if a.is_nan() && ROUND != TIES_AWAY {
            return 0x7fff_e000;
        }
        if RELU && a.is_sign_negative() {
            return 0;
        }
        let half = match ROUND {
            _ if !a.is_finite() => 0,
            TO_EVEN => 0xfff + (bits >> 13 & 1),
            TRUNCATE => 0,
            _ => 0x1000,
        };
        let rounded = bits.wrapping_add(half) & !0x1fff;
        // Hardware treats a NaN like an infinity here.
        if FINITE && rounded & 0x7f80_0000 == 0x7f80_0000 { rounded - 0x2000 } else { rounded }
    }
    /// Two integers clamped to fewer bits, below the third operand.
    @rare(true)
    Pack[const BITS: u32, SIGNED: bool](a: i32, b: i32, c: u32) -> u32 {
        c << (2 * BITS) | clamped::<BITS, SIGNED>(a) << BITS | clamped::<BITS, SIGNED>(b)
    }
    /// Two integers clamped to 16 bits.
    @rare(true)
    PackHalves[const SIGNED: bool](a: i32, b: i32) -> u32 {
        clamped::<16, SIGNED>(a) << 16 | clamped::<16, SIGNED>(b)
    }
}

#[inline(always)]
fn clamped<const BITS: u32, const SIGNED: bool>(x: i32) -> u32 {
    let mask = (1 << BITS) - 1;
    let (least, most) = if SIGNED { (-(1 << (BITS - 1)), (1 << (BITS - 1)) - 1) } else { (0, mask) };
    x.clamp(least, most) as u32 & mask as u32
}

#[cfg(test)]
mod tests {
    use super::Integer;

    /// Numbers at the ends of all types, next to these, and anywhere.
    fn numbers() -> impl Iterator<Item = f64> {
        let ends = [-9, -8, 7, 8, 15, 16, 31, 32, 63, 64].map(|bits| 2f64.powi(bits)).into_iter();
        let ends = ends.chain([0.0, 0.5, 1.0, f64::INFINITY, f64::NAN, f64::MIN_POSITIVE, 5e-324]);
        let near = |x: f64| [x, x - 1.0, x - 0.5, x + 0.5, x + 1.0, x.next_down(), x.next_up()];
        let near = ends.flat_map(near).flat_map(|x| [x, -x, f64::from(x as f32), -f64::from(x as f32)]);
        let random = |i: u64| f64::from_bits((i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).rotate_left(23));
        near.chain((0..100_000).map(random))
    }

    #[test]
    fn numbers_are_converted_like_as() {
        macro_rules! check {
            ($($ty:ident $nan32:expr, $nan64:expr;)*) => {$(
                for x in numbers() {
                    let expected = if x.is_nan() { $nan64 } else { x as $ty };
                    assert_eq!(<$ty as Integer>::from_f64(x), expected, "{x:?}");
                    let x = x as f32;
                    let expected = if x.is_nan() { $nan32 } else { x as $ty };
                    assert_eq!(<$ty as Integer>::from_f32(x), expected, "{x:?}");
                }
            )*};
        }
        check! {
            u8 0, 1 << 7; i8 0, i8::MIN; u16 0, 1 << 15; i16 0, i16::MIN; u32 0, 1 << 31; i32 0, i32::MIN;
            u64 1 << 63, 1 << 63; i64 i64::MIN, i64::MIN;
        }
    }
}
