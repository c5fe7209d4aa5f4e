//! Exponential, logarithm, sine, cosine and hyperbolic tangent in double precision, for results in
//! single precision.
//!
//! They have no branches and call nothing, so compilers turn loops over lanes into vectors. The
//! relative error is below 1e-12, so a result rounded to single precision is nearly always the
//! nearest number to the exact value, and otherwise the second nearest.

use core::f64::consts::{LN_2, LOG2_E, TAU};

/// Added to a small number, rounds it to an integer, to nearest and ties to even, which the sum has
/// in its low bits.
const TO_INTEGER: f64 = 6_755_399_441_055_744.0;

/// Returns the nearest integer, and its low bits. Numbers beyond 2^51 are returned as they are if
/// they are integers of single precision.
#[inline(always)]
pub(super) fn nearest(x: f64) -> (f64, u64) {
    let sum = x + TO_INTEGER;
    (sum - TO_INTEGER, sum.to_bits())
}

/// Evaluates a polynomial by its coefficients, the highest first.
#[inline(always)]
fn polynomial<const N: usize>(x: f64, coefficients: [f64; N]) -> f64 {
    let mut value = coefficients[0];
    let mut index = 1;
    // Iterators would be compiled again for each operation.
    while index < N {
        value = value * x + coefficients[index];
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
pub(super) fn exp2(x: f64) -> f64 {
    const MOST: f64 = 200.0;
    // A NaN passes both.
    let x = if x > MOST { MOST } else { x };
    let x = if x < -MOST { -MOST } else { x };
    let (whole, bits) = nearest(x);
    let scale = f64::from_bits(bits.wrapping_add(1023) << 52);
    polynomial((x - whole) * LN_2, EXPONENTIAL) * scale
}

/// Returns the binary logarithm of a number of single precision.
#[inline(always)]
pub(super) fn log2(x: f64) -> f64 {
    /// The upper half of the square root of a half.
    const LEAST: i32 = 0x3fe6_a09e;
    let bits = x.to_bits();
    let exponent = ((bits >> 32) as i32).wrapping_sub(LEAST) >> 20;
    let mantissa = f64::from_bits(bits.wrapping_sub((i64::from(exponent) as u64) << 52));
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let log = f64::from(exponent) + s * polynomial(s * s, AREA_TANGENT) * (2.0 * LOG2_E);
    let log = if x > 0.0 { log } else { f64::NAN };
    let log = if x == 0.0 { f64::NEG_INFINITY } else { log };
    // Infinity or NaN.
    if x < f64::INFINITY { log } else { x }
}

/// Returns the sine of an angle in turns, and with `QUARTERS` the sine of so many quarters more.
/// The angle is a number of single precision.
#[inline(always)]
pub(super) fn sine<const QUARTERS: u64>(turns: f64) -> f64 {
    let part = turns - nearest(turns).0;
    let (quarters, bits) = nearest(4.0 * part);
    let angle = (part - 0.25 * quarters) * TAU;
    let square = angle * angle;
    let (sine, cosine) = (angle * polynomial(square, SINE), polynomial(square, COSINE));
    let quarter = bits.wrapping_add(QUARTERS);
    let magnitude = if quarter & 1 == 0 { sine } else { cosine };
    f64::from_bits(magnitude.to_bits() ^ (quarter >> 1) << 63)
}

/// Returns the hyperbolic tangent.
#[inline(always)]
pub(super) fn tanh(x: f64) -> f64 {
    /// Below this, two terms of the series are more exact than the quotient.
    const SMALL: f64 = 1.0 / 4096.0;
    let power = exp2(x.abs() * (2.0 * LOG2_E));
    let large = ((power - 1.0) / (power + 1.0)).copysign(x);
    let small = x - x * x * x * (1.0 / 3.0);
    if x.abs() < SMALL { small } else { large }
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
        compare("exp2", |x| f64::from(x).exp2(), |x| exp2(x.into()));
        assert_eq!((0..100).map(|n| exp2(f64::from(n))).find(|x| x.to_bits() << 12 != 0), None);
    }

    #[test]
    fn logarithms_are_exact() {
        compare("log2", |x| f64::from(x).log2(), |x| log2(x.into()));
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
        compare("sin", |x| exact(x, 0.0), |x| sine::<0>(x.into()));
        compare("cos", |x| exact(x, 1.0), |x| sine::<1>(x.into()));
        assert!(sine::<0>(-0.0).is_sign_negative() && sine::<0>(0.0).is_sign_positive());
    }

    #[test]
    fn hyperbolic_tangents_are_exact() {
        compare("tanh", |x| f64::from(x).tanh(), |x| tanh(x.into()));
    }
}
