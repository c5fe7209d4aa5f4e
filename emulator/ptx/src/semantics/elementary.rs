//! Exponential, logarithm, sine, cosine and hyperbolic tangent in double precision, for results in
//! single precision.
//!
//! They have no branches and call nothing, so compilers turn loops over lanes into vectors. The
//! relative error is below 1e-12, so a result rounded to single precision is nearly always the
//! nearest number to the exact value, and otherwise the second nearest.

use super::double::{Double, Numbers};
use core::f64::consts::{LN_2, LOG2_E, TAU};

/// Turns of an angle of one, as hardware multiplies angles for sines and cosines.
pub const TURNS: f32 = f32::from_bits(0x3e22_f983);

/// Added to a small number, rounds it to an integer, to nearest and ties to even, which the sum has
/// in its low bits.
const TO_INTEGER: f64 = 6_755_399_441_055_744.0;

/// Returns the nearest integer, and its low bits. Numbers beyond 2^51 are returned as they are if
/// they are integers of single precision.
#[inline(always)]
pub(super) fn nearest(x: f64) -> (f64, u64) {
    nearest_of(&mut Numbers, x)
}

/// Same as [`nearest`], as a formula.
#[inline(always)]
fn nearest_of<D: Double>(d: &mut D, x: D::Number) -> (D::Number, D::Bits) {
    let constant = d.number(TO_INTEGER);
    let sum = d.add(x, constant);
    (d.sub(sum, constant), d.bits(sum))
}

/// Evaluates a polynomial by its coefficients, the highest first.
#[inline(always)]
fn polynomial<D: Double, const N: usize>(d: &mut D, x: D::Number, coefficients: [f64; N]) -> D::Number {
    let mut value = d.number(coefficients[0]);
    let mut index = 1;
    // Iterators would be compiled again for each operation.
    while index < N {
        let (product, coefficient) = (d.mul(value, x), d.number(coefficients[index]));
        value = d.add(product, coefficient);
        index += 1;
    }
    value
}

/// Coefficients of the exponential function: 1 / 11! to 1 / 0!.
const EXPONENTIAL: [f64; 12] = [
    1.0 / 39_916_800.0,
    1.0 / 3_628_800.0,
    1.0 / 362_880.0,
    1.0 / 40_320.0,
    1.0 / 5_040.0,
    1.0 / 720.0,
    1.0 / 120.0,
    1.0 / 24.0,
    1.0 / 6.0,
    1.0 / 2.0,
    1.0,
    1.0,
];

/// Coefficients in the square of `x` of the sine of `x`, divided by `x`.
const SINE: [f64; 8] = [
    -1.0 / 1_307_674_368_000.0,
    1.0 / 6_227_020_800.0,
    -1.0 / 39_916_800.0,
    1.0 / 362_880.0,
    -1.0 / 5_040.0,
    1.0 / 120.0,
    -1.0 / 6.0,
    1.0,
];

/// Coefficients in the square of `x` of the cosine of `x`.
const COSINE: [f64; 8] = [
    -1.0 / 87_178_291_200.0,
    1.0 / 479_001_600.0,
    -1.0 / 3_628_800.0,
    1.0 / 40_320.0,
    -1.0 / 720.0,
    1.0 / 24.0,
    -1.0 / 2.0,
    1.0,
];

/// Coefficients in the square of `s` of the area tangent of `s`, divided by `s`.
const AREA_TANGENT: [f64; 9] =
    [1.0 / 17.0, 1.0 / 15.0, 1.0 / 13.0, 1.0 / 11.0, 1.0 / 9.0, 1.0 / 7.0, 1.0 / 5.0, 1.0 / 3.0, 1.0];

/// Returns 2 to the power of `x`, as far as single precision can tell: a power of more than 200 is
/// taken for 200.
#[inline(always)]
pub fn exp2<D: Double>(d: &mut D, x: D::Number) -> D::Number {
    let (most, least) = (d.number(200.0), d.number(-200.0));
    // A NaN passes both.
    let above = d.less(most, x);
    let x = d.select(above, most, x);
    let below = d.less(x, least);
    let x = d.select(below, least, x);
    let (whole, bits) = nearest_of(d, x);
    let bits = d.plus(bits, 1023);
    let bits = d.shift_left(bits, 52);
    let scale = d.of_bits(bits);
    let (part, factor) = (d.sub(x, whole), d.number(LN_2));
    let part = d.mul(part, factor);
    let power = polynomial(d, part, EXPONENTIAL);
    d.mul(power, scale)
}

/// Returns the binary logarithm of a number of single precision.
#[inline(always)]
pub fn log2<D: Double>(d: &mut D, x: D::Number) -> D::Number {
    /// The upper half of the square root of a half.
    const LEAST: u64 = 0x3fe6_a09e;
    /// Added to exponents, so that they are positive.
    const BIAS: u64 = 2048;
    let bits = d.bits(x);
    let upper = d.shift_right(bits, 32);
    let upper = d.plus(upper, (BIAS << 20) - LEAST);
    let exponent = d.shift_right(upper, 20);
    let exponent = d.plus(exponent, BIAS.wrapping_neg());
    let moved = d.shift_left(exponent, 52);
    let mantissa = d.minus(bits, moved);
    let mantissa = d.of_bits(mantissa);
    // The exponent in the low bits of a large number, less this number.
    let exponent = d.plus(exponent, TO_INTEGER.to_bits());
    let exponent = d.of_bits(exponent);
    let constant = d.number(TO_INTEGER);
    let exponent = d.sub(exponent, constant);
    let one = d.number(1.0);
    let (difference, sum) = (d.sub(mantissa, one), d.add(mantissa, one));
    let s = d.div(difference, sum);
    let square = d.mul(s, s);
    let (tangent, factor) = (polynomial(d, square, AREA_TANGENT), d.number(2.0 * LOG2_E));
    let part = d.mul(s, tangent);
    let part = d.mul(part, factor);
    let log = d.add(exponent, part);
    let (zero, infinity, nan) = (d.number(0.0), d.number(f64::INFINITY), d.number(f64::NAN));
    let lowest = d.number(f64::NEG_INFINITY);
    let (is_positive, is_zero, is_finite) = (d.less(zero, x), d.equal(x, zero), d.less(x, infinity));
    let log = d.select(is_positive, log, nan);
    let log = d.select(is_zero, lowest, log);
    // Infinity or NaN.
    d.select(is_finite, log, x)
}

/// Returns the sine of an angle in turns, and with `quarters` the sine of so many quarters more.
/// The angle is a number of single precision.
#[inline(always)]
pub fn sine<D: Double>(d: &mut D, turns: D::Number, quarters: u64) -> D::Number {
    let (whole, _) = nearest_of(d, turns);
    let part = d.sub(turns, whole);
    let four = d.number(4.0);
    let parts = d.mul(four, part);
    let (nearest, bits) = nearest_of(d, parts);
    let (quarter, turn) = (d.number(0.25), d.number(TAU));
    let nearest = d.mul(quarter, nearest);
    let angle = d.sub(part, nearest);
    let angle = d.mul(angle, turn);
    let square = d.mul(angle, angle);
    let (sine, cosine) = (polynomial(d, square, SINE), polynomial(d, square, COSINE));
    let sine = d.mul(angle, sine);
    let bits = d.plus(bits, quarters);
    let odd = d.and(bits, 1);
    let is_even = d.is_zero(odd);
    let magnitude = d.select(is_even, sine, cosine);
    let sign = d.shift_right(bits, 1);
    let sign = d.shift_left(sign, 63);
    let magnitude = d.bits(magnitude);
    let bits = d.xor(magnitude, sign);
    d.of_bits(bits)
}

/// Returns the hyperbolic tangent.
#[inline(always)]
pub fn tanh<D: Double>(d: &mut D, x: D::Number) -> D::Number {
    const SIGN: u64 = 1 << 63;
    let bits = d.bits(x);
    let (sign, size) = (d.and(bits, SIGN), d.and(bits, !SIGN));
    let size = d.of_bits(size);
    let (factor, one) = (d.number(2.0 * LOG2_E), d.number(1.0));
    let exponent = d.mul(size, factor);
    let power = exp2(d, exponent);
    let (difference, sum) = (d.sub(power, one), d.add(power, one));
    let large = d.div(difference, sum);
    let large = d.bits(large);
    let large = d.and(large, !SIGN);
    let large = d.xor(large, sign);
    let large = d.of_bits(large);
    let third = d.number(1.0 / 3.0);
    let square = d.mul(x, x);
    let cube = d.mul(square, x);
    let cube = d.mul(cube, third);
    let small = d.sub(x, cube);
    // Below this, two terms of the series are more exact than the quotient.
    let least = d.number(1.0 / 4096.0);
    let is_small = d.less(size, least);
    d.select(is_small, small, large)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of single precision of all exponents, and their neighbors where functions change.
    fn numbers() -> impl Iterator<Item = f32> {
        let special = [0.0f32, 1.0, 0.5, 0.25, 2.0, 126.0, 127.0, 128.0, 149.0, 150.0, 1e-4, f32::MAX];
        let near =
            special.into_iter().flat_map(|x| (-3i32..=3).map(move |by| x.to_bits().wrapping_add_signed(by)));
        let all = (0..=u32::MAX).step_by(1021).chain(near.flat_map(|bits| [bits, bits ^ 1 << 31]));
        all.chain([f32::INFINITY.to_bits(), f32::NEG_INFINITY.to_bits()]).map(f32::from_bits)
    }

    /// Requires that a function has the results of an exact one in single precision: the nearest,
    /// or rarely the second nearest.
    fn compare(name: &str, wanted: impl Fn(f32) -> f64, function: impl Fn(f32) -> f64) {
        let (mut count, mut second) = (0, 0);
        for x in numbers().filter(|x| !x.is_nan()) {
            let (exact, result) = (wanted(x), function(x));
            let (rounded, own) = (exact as f32, result as f32);
            count += 1;
            if rounded.is_nan() || own.is_nan() {
                assert_eq!(rounded.is_nan(), own.is_nan(), "{name} of {x:e}: {own:e}, not {rounded:e}");
            } else if rounded.is_finite() && rounded != 0.0 {
                second += u32::from(rounded.to_bits() != own.to_bits());
                let error = (result / exact - 1.0).abs();
                assert!(error < 1e-12, "{name} of {x:e}: {own:e}, not {rounded:e}");
            } else {
                assert_eq!(rounded, own, "{name} of {x:e}");
            }
        }
        assert!(count > 4_000_000 && second < 10, "{name}: {second} of {count} differ");
        assert!(function(f32::NAN).is_nan(), "{name} of NaN");
    }

    #[test]
    fn exponentials_are_exact() {
        compare("exp2", |x| f64::from(x).exp2(), |x| exp2(&mut Numbers, x.into()));
        assert_eq!((0..100).map(|n| exp2(&mut Numbers, f64::from(n))).find(|x| x.to_bits() << 12 != 0), None);
    }

    #[test]
    fn logarithms_are_exact() {
        compare("log2", |x| f64::from(x).log2(), |x| log2(&mut Numbers, x.into()));
    }

    #[test]
    fn sines_and_cosines_are_exact() {
        // An angle in radians is exact only close to a multiple of a quarter.
        let exact = |x: f32, more: f64| {
            let part = f64::from(x) - f64::from(x).round_ties_even();
            let quarters = (4.0 * part).round_ties_even();
            let angle = (part - 0.25 * quarters) * TAU;
            match (quarters + more).rem_euclid(4.0) {
                0.0 => angle.sin(),
                1.0 => angle.cos(),
                2.0 => -angle.sin(),
                _ => -angle.cos(),
            }
        };
        compare("sin", |x| exact(x, 0.0), |x| sine(&mut Numbers, x.into(), 0));
        compare("cos", |x| exact(x, 1.0), |x| sine(&mut Numbers, x.into(), 1));
        assert!(
            sine(&mut Numbers, -0.0, 0).is_sign_negative() && sine(&mut Numbers, 0.0, 0).is_sign_positive()
        );
    }

    #[test]
    fn hyperbolic_tangents_are_exact() {
        compare("tanh", |x| f64::from(x).tanh(), |x| tanh(&mut Numbers, x.into()));
    }
}
