//! Double-precision arithmetic in directed roundings, by integers: an exact result, rounded once.

use super::rounding::{DOWN, NEAREST, UP, ZERO};

/// `(-1)^negative * mantissa * 2^exponent`, or a little more in magnitude if `sticky`.
#[derive(Clone, Copy)]
struct Exact {
    negative: bool,
    mantissa: u128,
    exponent: i32,
    sticky: bool,
}

impl Exact {
    fn of(x: f64) -> Self {
        let bits = x.to_bits();
        let fraction = bits & ((1 << 52) - 1);
        let biased = (bits >> 52 & 0x7ff) as i32;
        let (mantissa, exponent) =
            if biased == 0 { (fraction, -1074) } else { (fraction | 1 << 52, biased - 1075) };
        Exact { negative: x.is_sign_negative(), mantissa: mantissa.into(), exponent, sticky: false }
    }

    /// Returns the same value with its highest bit at position 124.
    fn normalized(mut self) -> Self {
        let shift = self.mantissa.leading_zeros() as i32 - 3;
        self.mantissa <<= shift;
        self.exponent -= shift;
        self
    }

    fn times(self, other: Self) -> Self {
        Exact {
            negative: self.negative != other.negative,
            mantissa: self.mantissa * other.mantissa,
            exponent: self.exponent + other.exponent,
            sticky: false,
        }
    }

    /// Returns the exact sum of two nonzero numbers.
    fn plus(self, other: Self) -> Self {
        let (a, b) = (self.normalized(), other.normalized());
        let (large, small) =
            if (a.exponent, a.mantissa) >= (b.exponent, b.mantissa) { (a, b) } else { (b, a) };
        let distance = (large.exponent - small.exponent) as u32;
        let (shifted, lost) = if distance >= 128 {
            (0, true)
        } else {
            let kept = small.mantissa >> distance;
            (kept, kept << distance != small.mantissa)
        };
        let mantissa = if large.negative == small.negative {
            large.mantissa + shifted
        } else {
            // The bits shifted out make the difference smaller: borrow one and stay sticky.
            large.mantissa - shifted - u128::from(lost)
        };
        Exact { mantissa, sticky: lost, ..large }
    }

    fn round<const ROUND: u8>(self) -> f64 {
        let sign = u64::from(self.negative) << 63;
        let bits = 128 - self.mantissa.leading_zeros() as i32;
        let exponent = (self.exponent + bits - 53).max(-1074);
        let shift = exponent - self.exponent;
        let (mut mantissa, inexact) = match shift {
            ..=0 => (self.mantissa << -shift, self.sticky),
            1..=127 => {
                let kept = self.mantissa >> shift;
                (kept, self.sticky || kept << shift != self.mantissa)
            }
            _ => (0, self.sticky || self.mantissa != 0),
        };
        let away = match ROUND {
            UP => !self.negative,
            DOWN => self.negative,
            _ => false,
        };
        mantissa += u128::from(inexact && away);
        let mut exponent = exponent;
        if mantissa >> 53 != 0 {
            mantissa >>= 1;
            exponent += 1;
        }
        let biased = exponent + 1075;
        if biased >= 2047 {
            return f64::from_bits(sign | if away { f64::INFINITY.to_bits() } else { f64::MAX.to_bits() });
        }
        let mantissa = mantissa as u64;
        let magnitude =
            if mantissa >> 52 == 0 { mantissa } else { (biased as u64) << 52 | (mantissa & ((1 << 52) - 1)) };
        f64::from_bits(sign | magnitude)
    }
}

/// Returns the exact zero that is the sum of numbers with different signs.
fn zero<const ROUND: u8>() -> f64 {
    if ROUND == DOWN { -0.0 } else { 0.0 }
}

pub(super) fn add<const ROUND: u8>(a: f64, b: f64) -> f64 {
    let nearest = a + b;
    if ROUND == NEAREST || !a.is_finite() || !b.is_finite() {
        return nearest;
    }
    if a == -b {
        return if a.is_sign_negative() == b.is_sign_negative() { nearest } else { zero::<ROUND>() };
    }
    if a == 0.0 || b == 0.0 {
        return nearest;
    }
    Exact::of(a).plus(Exact::of(b)).round::<ROUND>()
}

pub(super) fn mul<const ROUND: u8>(a: f64, b: f64) -> f64 {
    let nearest = a * b;
    if ROUND == NEAREST || !a.is_finite() || !b.is_finite() || a == 0.0 || b == 0.0 {
        return nearest;
    }
    Exact::of(a).times(Exact::of(b)).round::<ROUND>()
}

pub(super) fn fma<const ROUND: u8>(a: f64, b: f64, c: f64) -> f64 {
    if ROUND == NEAREST || !a.is_finite() || !b.is_finite() || !c.is_finite() {
        return a.mul_add(b, c);
    }
    if a == 0.0 || b == 0.0 {
        return add::<ROUND>(a * b, c);
    }
    let product = Exact::of(a).times(Exact::of(b));
    if c == 0.0 {
        return product.round::<ROUND>();
    }
    let sum = product.plus(Exact::of(c));
    if sum.mantissa == 0 { zero::<ROUND>() } else { sum.round::<ROUND>() }
}

pub(super) fn div<const ROUND: u8>(a: f64, b: f64) -> f64 {
    let nearest = a / b;
    if ROUND == NEAREST || !a.is_finite() || !b.is_finite() || a == 0.0 || b == 0.0 {
        return nearest;
    }
    let (a, b) = (Exact::of(a).normalized(), Exact::of(b));
    // 125 bits divided by at most 53 leave at least 72 bits of quotient.
    let quotient = a.mantissa / b.mantissa;
    Exact {
        negative: a.negative != b.negative,
        mantissa: quotient,
        exponent: a.exponent - b.exponent,
        sticky: quotient * b.mantissa != a.mantissa,
    }
    .round::<ROUND>()
}

pub(super) fn sqrt<const ROUND: u8>(a: f64) -> f64 {
    let nearest = a.sqrt();
    if ROUND == NEAREST || !nearest.is_finite() || nearest == 0.0 {
        return nearest;
    }
    let mut a = Exact::of(a).normalized();
    if a.exponent % 2 != 0 {
        a.mantissa <<= 1;
        a.exponent -= 1;
    }
    let mut root: u128 = 0;
    for bit in (0..64).rev() {
        let candidate = root | 1 << bit;
        if candidate * candidate <= a.mantissa {
            root = candidate;
        }
    }
    Exact { negative: false, mantissa: root, exponent: a.exponent / 2, sticky: root * root != a.mantissa }
        .round::<ROUND>()
}

/// Returns an integer as the double that rounds like it to any shorter format.
#[inline(never)]
pub(super) fn integer_to_odd(negative: bool, magnitude: u64) -> f64 {
    let value =
        Exact { negative: false, mantissa: magnitude.into(), exponent: 0, sticky: false }.round::<ZERO>();
    let lost = value as u64 != magnitude;
    let odd = f64::from_bits(value.to_bits() | u64::from(lost));
    if negative { -odd } else { odd }
}

/// Returns an integer, rounded to double precision in the given direction.
#[inline(never)]
pub(super) fn integer<const ROUND: u8>(negative: bool, magnitude: u64) -> f64 {
    if magnitude == 0 {
        return 0.0;
    }
    Exact { negative, mantissa: magnitude.into(), exponent: 0, sticky: false }.round::<ROUND>()
}
