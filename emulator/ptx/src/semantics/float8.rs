//! 8-bit numbers: four exponent bits and three fraction bits without infinities (`e4m3`), or five
//! and two (`e5m2`). They exist only in pairs, for conversions.

use super::float::NEAREST;
use super::half::{F16, Half, encode};
use super::operations;

/// An 8-bit format.
pub trait Float8 {
    const FRACTION: u32;
    /// Exponent of the smallest normal number.
    const LEAST: i32;
    /// The largest finite number.
    const LARGEST: u8;
    const NAN: u8 = 0x7f;
    /// Infinity, if the format has one.
    const INFINITY: Option<u8>;

    /// Rounds to nearest. Numbers out of range become the largest one; with `RELU`, negatives 0.
    #[inline(always)]
    fn encode<const RELU: bool>(x: f64) -> u8 {
        if x.is_nan() {
            return Self::NAN;
        }
        let sign = if x.is_sign_negative() { 0x80 } else { 0 };
        if RELU && sign != 0 {
            return 0;
        }
        // Larger numbers give the same result, and infinity has no exponent.
        let bits = encode::<NEAREST>(x.abs().min(1e6), Self::FRACTION, Self::LEAST, false);
        sign | bits.min(Self::LARGEST.into()) as u8
    }

    #[inline(always)]
    fn decode<const RELU: bool>(bits: u8) -> F16 {
        let magnitude = bits & 0x7f;
        let negative = bits & 0x80 != 0;
        if magnitude > Self::INFINITY.unwrap_or(Self::LARGEST) {
            return F16::from_bits(F16::NAN);
        }
        if RELU && negative {
            return F16::from_bits(0);
        }
        let sign = u16::from(bits & 0x80) << 8;
        if Self::INFINITY == Some(magnitude) {
            return F16::from_bits(sign | F16::INFINITY);
        }
        let exponent = i32::from(magnitude >> Self::FRACTION);
        let fraction = f64::from(magnitude & ((1 << Self::FRACTION) - 1));
        let unit = 2f64.powi(exponent.max(1) - 1 + Self::LEAST - Self::FRACTION as i32);
        let hidden = if exponent > 0 { f64::from(1u32 << Self::FRACTION) } else { 0.0 };
        F16::from_bits(sign | <F16 as Half>::round::<NEAREST>((fraction + hidden) * unit).bits())
    }
}

/// Four exponent bits, three fraction bits.
pub struct E4m3;

/// Five exponent bits, two fraction bits.
pub struct E5m2;

impl Float8 for E4m3 {
    const FRACTION: u32 = 3;
    const LEAST: i32 = -6;
    const LARGEST: u8 = 0x7e;
    const INFINITY: Option<u8> = None;
}

impl Float8 for E5m2 {
    const FRACTION: u32 = 2;
    const LEAST: i32 = -14;
    const LARGEST: u8 = 0x7b;
    const INFINITY: Option<u8> = Some(0x7c);
}

operations! {
    /// Two single-precision numbers to a pair; the first becomes the upper byte.
    @rare(true)
    PairFromF32[const RELU: bool, E5M2: bool](a: f32, b: f32) -> u16 { pair::<RELU, E5M2>(a.into(), b.into()) }
    /// Two half-precision numbers to a pair.
    @rare(true)
    PairFromHalves[const RELU: bool, E5M2: bool](a: u32) -> u16 {
        let [low, high] = [a as u16, (a >> 16) as u16].map(|bits| f64::from(F16::from_bits(bits).to_f32()));
        pair::<RELU, E5M2>(high, low)
    }
    /// A pair to two half-precision numbers.
    @rare(true)
    HalvesFromPair[const RELU: bool, E5M2: bool](a: u16) -> u32 {
        let [low, high] = a.to_le_bytes().map(|bits| {
            let half = if E5M2 { E5m2::decode::<RELU>(bits) } else { E4m3::decode::<RELU>(bits) };
            u32::from(half.bits())
        });
        high << 16 | low
    }
}

#[inline(always)]
fn pair<const RELU: bool, const E5M2: bool>(high: f64, low: f64) -> u16 {
    let encode = |x| if E5M2 { E5m2::encode::<RELU>(x) } else { E4m3::encode::<RELU>(x) };
    u16::from_le_bytes([encode(low), encode(high)])
}
