//! The two formats, and their rounding.
//!
//! Sums, products and fused products are computed in single precision, exactly or rounded to odd,
//! and rounded to nearest once. Neither step has branches, so LLVM vectorizes both.

use crate::semantics::format::FloatFormat;
use crate::semantics::lane::Lane;
use crate::semantics::packed::{Packed, packed};
use crate::semantics::rounding::{DOWN, NEAREST, UP};

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
    /// Rounds a number of single precision to nearest, ties to even.
    fn nearest(x: f32) -> Self;
    /// A number of single precision that rounds to nearest like `a + b`.
    fn sum(a: Self, b: Self) -> f32;
    /// A number of single precision that rounds to nearest like `a * b`.
    fn product(a: Self, b: Self) -> f32;
    /// A number of single precision that rounds to nearest like `a * b + c`.
    fn fused(a: Self, b: Self, c: Self) -> f32;

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
        if ROUND == NEAREST {
            return Self::nearest(single_to_odd(x));
        }
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
        let bits = bits.min(if away { largest + 1 } else { largest });
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

/// A number of single precision that rounds like `x` to any shorter format. A NaN stays a NaN.
#[inline(always)]
fn single_to_odd(x: f64) -> f32 {
    let near = x as f32;
    let back = f64::from(near);
    let toward_zero = near.to_bits().wrapping_sub(u32::from(back.abs() > x.abs()));
    if back == x { near } else { f32::from_bits(toward_zero | 1) }
}

/// A number that rounds like the exact sum of two numbers to any shorter format.
macro_rules! sum_to_odd {
    ($name:ident, $float:ident) => {
        #[inline(always)]
        fn $name(a: $float, b: $float) -> $float {
            let sum = a + b;
            let b_part = sum - a;
            let error = (a - (sum - b_part)) + (b - b_part);
            let bits = sum.to_bits();
            let away_from_zero = (error > 0.0) == (sum > 0.0);
            let neighbor = if away_from_zero { bits.wrapping_add(1) } else { bits.wrapping_sub(1) };
            let stays = (error == 0.0) | (bits & 1 == 1) | !sum.is_finite();
            $float::from_bits(if stays { bits } else { neighbor })
        }
    };
}

sum_to_odd!(sum_to_odd_32, f32);
sum_to_odd!(sum_to_odd_64, f64);

/// Returns exponent and fraction of a finite number, rounded to a format with `fraction` fraction
/// bits and `least` as the exponent of its smallest normal number, without an upper limit. Directed
/// roundings go `away` from zero or towards it.
#[inline(always)]
pub(in crate::semantics) fn encode<const ROUND: u8>(
    magnitude: f64,
    fraction: u32,
    least: i32,
    away: bool,
) -> u32 {
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
pub struct F16(pub(in crate::semantics) u16);

/// The upper half of a single precision number.
#[derive(Clone, Copy)]
pub struct Bf16(pub(in crate::semantics) u16);

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
    #[inline(always)]
    fn nearest(x: f32) -> Self {
        let sign = (x.to_bits() >> 16) as u16 & 0x8000;
        let magnitude = x.to_bits() & 0x7fff_ffff;
        // Normal numbers: the exponents differ by 112. The carry of the rounding may reach
        // infinity.
        let even = magnitude >> 13 & 1;
        let normal = (magnitude.wrapping_sub(112 << 23).wrapping_add(0xfff + even) >> 13).min(0x7c00);
        // Subnormal numbers: the last bit of numbers from 0.5 is the unit, so that an addition
        // rounds.
        let subnormal = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0x3f00_0000);
        let bits = if magnitude < 113 << 23 { subnormal } else { normal };
        F16(if x.is_nan() { Self::NAN } else { sign | bits as u16 })
    }
    // A sum rounded to 24 bits and then to 11 equals one rounded once. Products of two numbers of
    // 11 bits are exact.
    #[inline(always)]
    fn sum(a: Self, b: Self) -> f32 {
        a.to_f32() + b.to_f32()
    }
    #[inline(always)]
    fn product(a: Self, b: Self) -> f32 {
        a.to_f32() * b.to_f32()
    }
    #[inline(always)]
    fn fused(a: Self, b: Self, c: Self) -> f32 {
        sum_to_odd_32(a.to_f32() * b.to_f32(), c.to_f32())
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
    #[inline(always)]
    fn nearest(x: f32) -> Self {
        let rounded = x.to_bits().wrapping_add(0x7fff + (x.to_bits() >> 16 & 1)) >> 16;
        Bf16(if x.is_nan() { Self::NAN } else { rounded as u16 })
    }
    // Products may be too small for single precision.
    #[inline(always)]
    fn sum(a: Self, b: Self) -> f32 {
        a.to_f32() + b.to_f32()
    }
    #[inline(always)]
    fn product(a: Self, b: Self) -> f32 {
        single_to_odd(f64::from(a.to_f32()) * f64::from(b.to_f32()))
    }
    #[inline(always)]
    fn fused(a: Self, b: Self, c: Self) -> f32 {
        let product = f64::from(a.to_f32()) * f64::from(b.to_f32());
        single_to_odd(sum_to_odd_64(product, c.to_f32().into()))
    }
}

macro_rules! half_lanes {
    ($($ty:ident),*) => {$(
        impl Lane for $ty {
            const WIDTH: crate::semantics::Width = crate::semantics::Width::Single;
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

packed! {
    F16, |bits| F16(bits), |value| value.0;
    Bf16, |bits| Bf16(bits), |value| value.0;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::semantics::float::{to_odd, two_sum};

    /// Rounding to nearest by the steps of the definition.
    fn by_definition<H: Half>(x: f64) -> u16 {
        let sign = (x.to_bits() >> 48) as u16 & 0x8000;
        match x {
            _ if x.is_nan() => H::NAN,
            _ if x.is_infinite() => sign | H::INFINITY,
            _ => {
                sign | encode::<NEAREST>(x.abs(), H::FRACTION, H::LEAST, false).min(H::INFINITY.into()) as u16
            }
        }
    }

    fn agrees<H: Half>(x: f64) {
        for x in [x, -x] {
            assert_eq!(<H as Half>::round::<NEAREST>(x).bits(), by_definition::<H>(x), "{x:e}");
        }
    }

    /// Each number, the middle between it and the next, and their neighbors in both precisions.
    fn each_border_agrees<H: Half>() {
        for bits in 0..H::INFINITY {
            let value = |bits| f64::from(H::from_bits(bits).to_f32());
            let (low, high) = (value(bits), value(bits + 1));
            let high = if high.is_finite() { high } else { 2.0 * low - value(bits - 1) };
            for x in [low, (low + high) / 2.0] {
                for step in [-1, 0, 1] {
                    agrees::<H>(f64::from_bits(x.to_bits().wrapping_add_signed(step)));
                    agrees::<H>(f32::from_bits((x as f32).to_bits().wrapping_add_signed(step as i32)).into());
                }
            }
        }
        for x in [f64::MAX, f64::INFINITY, f64::NAN, f64::MIN_POSITIVE, f64::from_bits(1), f32::MAX.into()] {
            agrees::<H>(x);
        }
    }

    /// Operations on numbers of all magnitudes, some with equal exponents, against double precision
    /// rounded to odd.
    fn operations_agree<H: Half>() {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        for _ in 0..2_000_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let [_, a, b, c] = [0, 16, 32, 48].map(|shift| (state >> shift) as u16);
            let c = if state & 0x800 == 0 { c } else { (c & 0x83ff) | (a & 0x7c00) };
            let [a, b, c] = [a, b, c].map(H::from_bits);
            let [x, y, z] = [a, b, c].map(|half| f64::from(half.to_f32()));
            let (sum, error) = two_sum(x * y, z);
            let fused = if sum.is_finite() { to_odd(sum, error) } else { sum };
            let expected = [x + y, x * y, fused].map(by_definition::<H>);
            let found = [H::sum(a, b), H::product(a, b), H::fused(a, b, c)].map(|x| H::nearest(x).bits());
            assert_eq!(found, expected, "{x:e} {y:e} {z:e}");
        }
    }

    #[test]
    fn operations_round_once() {
        operations_agree::<F16>();
        operations_agree::<Bf16>();
    }

    #[test]
    fn rounding_to_nearest_is_right_at_each_border() {
        each_border_agrees::<F16>();
        each_border_agrees::<Bf16>();
    }
}
