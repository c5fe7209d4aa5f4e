//! Filters texels with the weights and roundings of hardware.
//!
//! The position of a sample between two texels, and between two mip levels, is rounded to 1/256.
//! The weights of all texels are multiples of 1/256 too, and add up to one: the weight is split
//! between levels, then along z, x and y. Sums have as many bits as the format needs and are
//! rounded once. Recorded on an H200; the results are bit-identical except for signed bytes, which
//! may differ by 1/32767, and for sRGB, by 1/256.

use super::format::Channel;

/// Unit of weights: 1 divided by this.
pub(super) const ONE: i32 = 256;

/// Contribution of one texel: weight and value.
pub(super) type Tap = (i32, u32);

/// Returns the upper side's share of a weight, to the nearest 256th.
fn part(weight: i32, upper: i32) -> i32 {
    (weight * upper + ONE / 2) >> 8
}

/// Splits the weights of a left and a right side: lower left, lower right, upper left, upper right.
fn split([left, right]: [i32; 2], upper: i32) -> [i32; 4] {
    // On the left, halves are rounded to the lower side.
    let upper_left = (left * upper + ONE / 2 - 1) >> 8;
    let upper_right = part(right, upper);
    [left - upper_left, right - upper_right, upper_left, upper_right]
}

/// Returns the weights of the texels around a position in two levels; x varies fastest. `parts` is
/// the distance from the texel with the lower index along each axis of each level; `between` the
/// distance from the first level.
pub(super) fn weights(parts: [[i32; 3]; 2], between: i32) -> [[i32; 8]; 2] {
    let shares = [ONE - between, between];
    core::array::from_fn(|level| {
        let [x, y, z] = parts[level];
        let slices = split(shares, z);
        let mut all = [0; 8];
        for (to, slice) in all.chunks_exact_mut(4).zip([slices[level], slices[2 + level]]) {
            let right = part(slice, x);
            to.copy_from_slice(&split([slice - right, right], y));
        }
        all
    })
}

fn mix_whole(taps: &[Tap], signed: bool) -> u32 {
    let value = |bits: u32| if signed { i64::from(bits as i32) } else { i64::from(bits) };
    let sum: i64 = taps.iter().map(|(weight, bits)| i64::from(*weight) * value(*bits)).sum();
    ((sum + i64::from(ONE / 2)) >> 8) as u32
}

/// Filters integers that represent numbers from 0, or -1, to 1.
fn mix_integers(taps: &[Tap], scale: i32) -> f32 {
    let sum: i64 = taps.iter().map(|(weight, value)| i64::from(*weight) * i64::from(*value as i32)).sum();
    let full = if matches!(scale, 0xff | 0xffff) { 0xffff } else { 0x7fff };
    let unit = i64::from(scale) * i64::from(ONE);
    let rounded = (2 * sum * full + unit).div_euclid(2 * unit);
    (rounded as f32 / full as f32).max(-1.0)
}

struct Precision {
    /// Bits below the highest bit of the largest number; lower bits are dropped.
    depth: i32,
    /// Bits of the result after its highest bit.
    fraction: i32,
    /// The exponent of the smallest normal number.
    least: i32,
}

const HALF: Precision = Precision { depth: 14, fraction: 10, least: -14 };
const SINGLE: Precision = Precision { depth: 27, fraction: 23, least: -126 };
/// Bytes converted from sRGB.
const SRGB: Precision = Precision { depth: 7, ..HALF };
const NAN: f32 = f32::from_bits(0x7fff_ffff);

/// Filters numbers. Subnormal numbers of single precision count as zero.
fn mix_numbers(taps: &[Tap], precision: &Precision) -> f32 {
    let exponent = |value: u32| (value >> 23 & 0xff) as i32;
    let used = || taps.iter().filter(|(weight, value)| *weight != 0 && exponent(*value) != 0);
    let Some(largest) = used().map(|(_, value)| exponent(*value)).max() else {
        let negative = taps.iter().all(|(weight, value)| *weight == 0 || value >> 31 != 0);
        return if negative { -0.0 } else { 0.0 };
    };
    if largest == 0xff {
        let sum: f32 = used().map(|(weight, value)| *weight as f32 * f32::from_bits(*value)).sum();
        return if sum.is_nan() { NAN } else { sum };
    }
    let mut sum = 0i64;
    for (weight, value) in used() {
        let whole = i64::from(value & 0x7f_ffff | 0x80_0000);
        let shift = 23 - precision.depth + largest - exponent(*value);
        let aligned = if shift > 0 { whole >> shift.min(63) } else { whole << -shift };
        sum += i64::from(if value >> 31 == 0 { *weight } else { -weight }) * aligned;
    }
    round(sum, largest - 127 - precision.depth - 8, precision)
}

/// Rounds `sum` times two to the power of `unit`, with halves away from zero.
fn round(sum: i64, unit: i32, precision: &Precision) -> f32 {
    let magnitude = sum.unsigned_abs();
    if magnitude == 0 {
        return 0.0;
    }
    let last = (magnitude.ilog2() as i32 + unit).max(precision.least) - precision.fraction;
    let drop = last - unit;
    let kept =
        if drop > 0 { (magnitude + (1 << (drop - 1).min(62))) >> drop.min(63) } else { magnitude << -drop };
    let value = kept as f64 * 2f64.powi(last);
    let value = if value < f64::from(f32::MIN_POSITIVE) { 0.0 } else { value };
    (if sum < 0 { -value } else { value }) as f32
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reading {
    Whole,
    /// Numbers, or integers that represent numbers if the format has such.
    Number,
    Srgb,
}

pub(super) fn mix(channel: Channel, reading: Reading, taps: &[Tap]) -> u32 {
    let number = match (reading, channel.scale()) {
        (Reading::Whole, _) => return mix_whole(taps, channel.is_signed()),
        (Reading::Srgb, _) => mix_numbers(taps, &SRGB),
        (Reading::Number, Some(scale)) => mix_integers(taps, scale),
        (Reading::Number, None) if channel == Channel::Half => mix_numbers(taps, &HALF),
        (Reading::Number, None) => mix_numbers(taps, &SINGLE),
    };
    number.to_bits()
}

pub(super) fn alone(channel: Channel, reading: Reading, value: u32) -> u32 {
    match (reading, channel.scale()) {
        (Reading::Number, Some(scale)) => (value as i32 as f32 / scale as f32).max(-1.0).to_bits(),
        _ => value,
    }
}
