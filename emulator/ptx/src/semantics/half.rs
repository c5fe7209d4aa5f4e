//! Half precision: IEEE's (`f16`), and the upper half of single precision (`bf16`), also in pairs.
//!
//! Sums and (fused) products are exact, or rounded to odd, in double precision, then rounded once.

use super::float::{DOWN, NEAREST, UP, ZERO, to_odd, two_sum};
use super::format::FloatFormat;
pub(crate) use super::pair::Both;
use super::pair::Packed;
use super::{Comparison, Lane, Pure, Test};
use core::marker::PhantomData;

/// A 16-bit number.
pub trait Half: Lane + Packed {
    /// The only NaN that arithmetic returns, for both formats.
    const NAN: u16 = 0x7fff;
    const ONE: u16;
    const INFINITY: u16;
    /// Number of fraction bits.
    const FRACTION: u32;
    /// Exponent of the smallest normal number.
    const LEAST: i32;
    fn bits(self) -> u16;
    fn from_bits(bits: u16) -> Self;
    fn to_f32(self) -> f32;

    #[inline(always)]
    fn is_nan(self) -> bool {
        self.bits() & 0x7fff > Self::INFINITY
    }

    /// With `FTZ`, replaces subnormal numbers by zeros of the same sign.
    #[inline(always)]
    fn flush<const FTZ: bool>(self) -> Self {
        let magnitude = self.bits() & 0x7fff;
        if FTZ && magnitude < 1 << Self::FRACTION { Self::from_bits(self.bits() & 0x8000) } else { self }
    }

    /// Rounds a double-precision number.
    #[inline(always)]
    fn round<const ROUND: u8>(x: f64) -> Self {
        let sign = (x.to_bits() >> 48) as u16 & 0x8000;
        if x.is_nan() {
            return Self::from_bits(Self::NAN);
        }
        if x.is_infinite() {
            return Self::from_bits(sign | Self::INFINITY);
        }
        let away = match ROUND {
            UP => sign == 0,
            DOWN => sign != 0,
            _ => false,
        };
        let bits = encode::<ROUND>(x.abs(), Self::FRACTION, Self::LEAST, away);
        let largest = u32::from(Self::INFINITY) - 1;
        let to_largest = ROUND != NEAREST && !away;
        let bits = if bits > largest { if to_largest { largest } else { largest + 1 } } else { bits };
        Self::from_bits(sign | bits as u16)
    }

    /// Same as [`Half::round`], compiled separately instead of into each rare operation.
    #[inline(never)]
    fn round_apart<const ROUND: u8>(x: f64) -> Self {
        Self::round::<ROUND>(x)
    }

    /// Finishes a result of arithmetic.
    #[inline(always)]
    fn finish<const FTZ: bool, const SAT: bool, const RELU: bool>(self) -> Self {
        let flushed = self.flush::<FTZ>();
        let bits = flushed.bits();
        let negative = bits >> 15 != 0;
        if SAT {
            // NaN and -0 saturate to zero.
            let clamped = if negative || flushed.is_nan() { 0 } else { bits.min(Self::ONE) };
            return Self::from_bits(clamped);
        }
        if flushed.is_nan() {
            return Self::from_bits(Self::NAN);
        }
        if RELU && negative { Self::from_bits(0) } else { flushed }
    }
}

/// Returns exponent and fraction of a finite number, rounded to a format with `fraction` fraction
/// bits and `least` as the exponent of its smallest normal number, without an upper limit. Directed
/// roundings go `away` from zero or towards it.
#[inline(always)]
pub(super) fn encode<const ROUND: u8>(magnitude: f64, fraction: u32, least: i32, away: bool) -> u32 {
    let exponent = ((magnitude.to_bits() >> 52) as i32 - 1023).max(least);
    let scaled = magnitude * exp2i(fraction as i32 - exponent);
    let count = match ROUND {
        NEAREST => scaled.round_ties_even(),
        _ if away => scaled.ceil(),
        _ => scaled.floor(),
    } as u32;
    // `count` units: the fraction, and a bit for normal numbers, which may carry into the exponent.
    (((exponent - least) as u32) << fraction) + count
}

/// Returns a power of two within the range of normal numbers.
#[inline(always)]
fn exp2i(power: i32) -> f64 {
    f64::from_bits(((power + 1023) as u64) << 52)
}

/// IEEE half precision.
#[derive(Clone, Copy)]
pub struct F16(pub(super) u16);

/// The upper half of a single precision number.
#[derive(Clone, Copy)]
pub struct Bf16(pub(super) u16);

impl Half for F16 {
    const ONE: u16 = 0x3c00;
    const INFINITY: u16 = 0x7c00;
    const FRACTION: u32 = 10;
    const LEAST: i32 = -14;
    #[inline(always)]
    fn bits(self) -> u16 {
        self.0
    }
    #[inline(always)]
    fn from_bits(bits: u16) -> Self {
        F16(bits)
    }
    #[inline(always)]
    fn to_f32(self) -> f32 {
        // As an integer multiple of the least bit, the exponent is off by a constant; infinities
        // and NaN need more.
        let sign = u32::from(self.0 & 0x8000) << 16;
        let rest = u32::from(self.0 & 0x7fff) << 13;
        let finite = f32::from_bits(rest) * f32::from_bits(0x7780_0000);
        let special = f32::from_bits(rest | 0x7f80_0000);
        let magnitude = if self.0 & 0x7c00 == 0x7c00 { special } else { finite };
        f32::from_bits(magnitude.to_bits() | sign)
    }
}

impl Half for Bf16 {
    const ONE: u16 = 0x3f80;
    const INFINITY: u16 = 0x7f80;
    const FRACTION: u32 = 7;
    const LEAST: i32 = -126;
    #[inline(always)]
    fn bits(self) -> u16 {
        self.0
    }
    #[inline(always)]
    fn from_bits(bits: u16) -> Self {
        Bf16(bits)
    }
    #[inline(always)]
    fn to_f32(self) -> f32 {
        f32::from_bits(u32::from(self.0) << 16)
    }
}

macro_rules! half_lanes {
    ($($ty:ident),*) => {$(
        impl Lane for $ty {
            const WIDTH: super::Width = super::Width::Single;
            const FORMAT: Option<FloatFormat> = Some(FloatFormat::$ty);
            #[inline(always)]
            unsafe fn read(row: *const u32, lane: usize) -> Self {
                // SAFETY: guaranteed by the caller.
                $ty(unsafe { u16::read(row, lane) })
            }
            #[inline(always)]
            unsafe fn write(self, row: *mut u32, lane: usize) {
                // SAFETY: guaranteed by the caller.
                unsafe { self.0.write(row, lane) }
            }
            #[inline(always)]
            fn from_lane(bits: u64) -> Self {
                $ty(bits as u16)
            }
            #[inline(always)]
            fn to_lane(self) -> u64 {
                self.0.into()
            }
        }
    )*};
}

half_lanes!(F16, Bf16);

#[inline(always)]
fn add<H: Half>(a: H, b: H) -> H {
    H::round::<NEAREST>(f64::from(a.to_f32()) + f64::from(b.to_f32()))
}

#[inline(always)]
fn fma<H: Half>(a: H, b: H, c: H) -> H {
    let product = f64::from(a.to_f32()) * f64::from(b.to_f32());
    let (sum, error) = two_sum(product, c.to_f32().into());
    H::round::<NEAREST>(if sum.is_finite() { to_odd(sum, error) } else { sum })
}

#[inline(always)]
fn min<H: Half, const NAN: bool>(a: H, b: H) -> H {
    if a.is_nan() || b.is_nan() {
        let other = if a.is_nan() { b } else { a };
        return if NAN || other.is_nan() { H::from_bits(H::NAN) } else { other };
    }
    let (x, y) = (a.to_f32(), b.to_f32());
    if x < y || (x == y && x.is_sign_negative()) { a } else { b }
}

#[inline(always)]
fn negate<H: Half>(a: H) -> H {
    if a.is_nan() { H::from_bits(H::NAN) } else { H::from_bits(a.bits() ^ 0x8000) }
}

#[inline(always)]
fn absolute<H: Half>(a: H) -> H {
    if a.is_nan() { H::from_bits(H::NAN) } else { H::from_bits(a.bits() & 0x7fff) }
}

#[inline(always)]
fn xor_sign<H: Half>(a: H, b: H, magnitude: H) -> H {
    if magnitude.is_nan() {
        magnitude
    } else {
        H::from_bits(magnitude.bits() | ((a.bits() ^ b.bits()) & 0x8000))
    }
}

macro_rules! half_operations {
    ($($(#[$m:meta])* @rare($rare:expr) $name:ident<$h:ident; $($n:ident),*>($($arg:ident),+ ; $($unused:ident: $unit:ident),*) $body:block)*) => {$(
        $(#[$m])*
        pub(crate) struct $name<$h, $(const $n: bool),*>(PhantomData<$h>);
        impl<$h: Half, $(const $n: bool),*> Pure for $name<$h, $($n),*> {
            type Out = $h;
            const RARE: bool = $rare;
            half_operations!(@types $h; $($arg),+);
            #[inline(always)]
            fn eval($($arg: $h,)+ $($unused: Self::$unit),*) -> $h $body
        }
    )*};
    (@types $h:ident; $a:ident) => { type A = $h; type B = (); type C = (); type D = (); };
    (@types $h:ident; $a:ident, $b:ident) => { type A = $h; type B = $h; type C = (); type D = (); };
    (@types $h:ident; $a:ident, $b:ident, $c:ident) => { type A = $h; type B = $h; type C = $h; type D = (); };
}

half_operations! {
    @rare(FTZ || SAT)
    Add<H; FTZ, SAT>(a, b; _c: C, _d: D) {
        add(a.flush::<FTZ>(), b.flush::<FTZ>()).finish::<FTZ, SAT, false>()
    }
    @rare(FTZ || SAT)
    Sub<H; FTZ, SAT>(a, b; _c: C, _d: D) {
        add(a.flush::<FTZ>(), negate(b.flush::<FTZ>())).finish::<FTZ, SAT, false>()
    }
    @rare(FTZ || SAT)
    Mul<H; FTZ, SAT>(a, b; _c: C, _d: D) {
        let (a, b) = (a.flush::<FTZ>(), b.flush::<FTZ>());
        H::round::<NEAREST>(f64::from(a.to_f32()) * f64::from(b.to_f32())).finish::<FTZ, SAT, false>()
    }
    @rare(FTZ || SAT || RELU)
    Fma<H; FTZ, SAT, RELU>(a, b, c; _d: D) {
        fma(a.flush::<FTZ>(), b.flush::<FTZ>(), c.flush::<FTZ>()).finish::<FTZ, SAT, RELU>()
    }
    /// `.oob`: zero if a factor is the mark with which tensor copies fill out-of-bounds elements.
    @rare(true)
    FmaMarked<H; RELU>(a, b, c; _d: D) {
        const MARK: u16 = 0x7ff7;
        if a.bits() & 0x7fff == MARK || b.bits() & 0x7fff == MARK {
            return H::from_bits(0);
        }
        fma(a, b, c).finish::<false, false, RELU>()
    }
    @rare(FTZ || NAN || XOR_SIGN)
    Min<H; FTZ, NAN, XOR_SIGN>(a, b; _c: C, _d: D) {
        let (a, b) = (a.flush::<FTZ>(), b.flush::<FTZ>());
        if XOR_SIGN { xor_sign(a, b, min::<H, NAN>(absolute(a), absolute(b))) } else { min::<H, NAN>(a, b) }
    }
    @rare(FTZ || NAN || XOR_SIGN)
    Max<H; FTZ, NAN, XOR_SIGN>(a, b; _c: C, _d: D) {
        let (a, b) = (a.flush::<FTZ>(), b.flush::<FTZ>());
        let max = |a, b| negate(min::<H, NAN>(negate(a), negate(b)));
        if XOR_SIGN { xor_sign(a, b, max(absolute(a), absolute(b))) } else { max(a, b) }
    }
    @rare(FTZ)
    Abs<H; FTZ>(a; _b: B, _c: C, _d: D) { absolute(a.flush::<FTZ>()) }
    @rare(FTZ)
    Neg<H; FTZ>(a; _b: B, _c: C, _d: D) { negate(a.flush::<FTZ>()) }
    @rare(true)
    Exp2<H; FTZ>(a; _b: B, _c: C, _d: D) {
        H::round::<NEAREST>(f64::from(a.flush::<FTZ>().to_f32()).exp2()).finish::<FTZ, false, false>()
    }
    @rare(true)
    Tanh<H;>(a; _b: B, _c: C, _d: D) { H::round::<NEAREST>(f64::from(a.to_f32()).tanh()) }
}

/// Rounds a single-precision number. With `RELU`, negative numbers become zero; with `FINITE`,
/// numbers beyond the range become the largest number.
#[inline(always)]
fn from_f32<H: Half, const ROUND: u8, const RELU: bool, const FINITE: bool>(x: f32) -> H {
    let usual = ROUND == NEAREST && !RELU && !FINITE;
    let rounded =
        if usual { <H as Half>::round::<ROUND>(x.into()) } else { H::round_apart::<ROUND>(x.into()) };
    let rounded = rounded.finish::<false, false, RELU>();
    match rounded.bits() & 0x7fff == H::INFINITY && FINITE {
        true => H::from_bits(rounded.bits() - 1),
        false => rounded,
    }
}

/// Two single-precision numbers to a pair; the first becomes the upper half.
pub(crate) struct PairFromF32<H, const ROUND: u8, const RELU: bool, const FINITE: bool>(PhantomData<H>);

impl<H: Half, const ROUND: u8, const RELU: bool, const FINITE: bool> Pure
    for PairFromF32<H, ROUND, RELU, FINITE>
{
    const RARE: bool = ROUND != NEAREST || RELU || FINITE;
    type Out = H::Whole;
    type A = f32;
    type B = f32;
    type C = ();
    type D = ();
    const FORMATS: [Option<FloatFormat>; 5] = [H::FORMAT, f32::FORMAT, f32::FORMAT, None, None];
    #[inline(always)]
    fn eval(a: f32, b: f32, (): (), (): ()) -> H::Whole {
        H::join(from_f32::<H, ROUND, RELU, FINITE>(b), from_f32::<H, ROUND, RELU, FINITE>(a))
    }
}

/// One single-precision number, with the range limited below or above.
pub(crate) struct LimitedFromF32<H, const ROUND: u8, const RELU: bool, const FINITE: bool>(PhantomData<H>);

impl<H: Half, const ROUND: u8, const RELU: bool, const FINITE: bool> Pure
    for LimitedFromF32<H, ROUND, RELU, FINITE>
{
    const RARE: bool = true;
    type Out = H;
    type A = f32;
    type B = ();
    type C = ();
    type D = ();
    #[inline(always)]
    fn eval(a: f32, (): (), (): (), (): ()) -> H {
        from_f32::<H, ROUND, RELU, FINITE>(a)
    }
}

/// Comparisons, in single precision.
pub(crate) struct Compare<H, O, const FTZ: bool>(PhantomData<(H, O)>);

impl<H: Half, O: Comparison<Core: Test<A = f32, B = f32>>, const FTZ: bool> Comparison
    for Compare<H, O, FTZ>
{
    type Core = CompareCore<H, O::Core, FTZ>;
    const OPPOSITE: bool = O::OPPOSITE;
    const EXCHANGED: bool = O::EXCHANGED;
}

/// The comparisons that are compiled.
pub(crate) struct CompareCore<H, O, const FTZ: bool>(PhantomData<(H, O)>);

impl<H: Half, O: Test<A = f32, B = f32>, const FTZ: bool> Test for CompareCore<H, O, FTZ> {
    type A = H;
    type B = H;
    const RARE: bool = true;
    #[inline(always)]
    fn eval(a: H, b: H) -> bool {
        O::eval(a.flush::<FTZ>().to_f32(), b.flush::<FTZ>().to_f32())
    }
}

impl<H: Half> super::convert::Float for H {
    const DIGITS: u32 = H::FRACTION + 1;
    #[inline(always)]
    fn widen<const FTZ: bool>(self) -> f64 {
        self.to_f32().into()
    }
    #[inline(always)]
    fn round<const ROUND: u8, const FTZ: bool, const SAT: bool>(x: f64) -> Self {
        let rounded =
            if ROUND == NEAREST { <Self as Half>::round::<ROUND>(x) } else { Self::round_apart::<ROUND>(x) };
        rounded.finish::<false, SAT, false>()
    }
    #[inline(always)]
    fn nearest<const FTZ: bool, const SAT: bool>(x: f64) -> Self {
        Self::round_apart::<NEAREST>(x).finish::<false, SAT, false>()
    }
    #[inline(always)]
    fn from_integer<const ROUND: u8, T: super::convert::Integer>(value: T) -> Self {
        let value = value.value();
        let x = super::soft::integer_to_odd(value < 0, value.unsigned_abs() as u64);
        Self::round_apart::<ROUND>(x)
    }
    #[inline(always)]
    fn to_integer<const ROUND: u8, const FTZ: bool, T: super::convert::Integer>(self) -> T {
        self.to_f32().to_integer::<ROUND, false, T>()
    }
    #[inline(always)]
    fn to_whole<const ROUND: u8>(self) -> Self {
        let whole = super::convert::Float::to_whole::<ROUND>(self.to_f32());
        Self::round_apart::<ZERO>(whole.into())
    }
}
