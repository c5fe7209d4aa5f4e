//! The value of a texture by NVIDIA's description: addressing, and filtering with weights of eight
//! bits.

use cuprum::texture::{AddressMode, FilterMode, Sampler};

/// The texel that is read for `index` along a side of `len` texels; `None` for the border.
fn texel(mode: AddressMode, normalized: bool, index: i64, len: i64) -> Option<i64> {
    match mode {
        AddressMode::CU_TR_ADDRESS_MODE_BORDER => (0..len).contains(&index).then_some(index),
        AddressMode::CU_TR_ADDRESS_MODE_WRAP if normalized => Some(index.rem_euclid(len)),
        AddressMode::CU_TR_ADDRESS_MODE_MIRROR if normalized => {
            let index = index.rem_euclid(2 * len);
            Some(if index < len { index } else { 2 * len - 1 - index })
        }
        // The others mean clamping where coordinates are not normalized.
        _ => Some(index.clamp(0, len - 1)),
    }
}

/// The texels that are mixed along a side, with their weights.
fn taps(sampler: &Sampler, axis: usize, at: f32, len: usize) -> Vec<(Option<i64>, f32)> {
    let at = if sampler.normalized_coordinates { f64::from(at) * len as f64 } else { f64::from(at) };
    let mode = sampler.address_modes[axis];
    let texel = |index: f64| texel(mode, sampler.normalized_coordinates, index as i64, len as i64);
    if sampler.filter == FilterMode::CU_TR_FILTER_MODE_POINT {
        return vec![(texel(at.floor()), 1.0)];
    }
    let from = at - 0.5;
    let weight = ((from - from.floor()) * 256.0).round() / 256.0;
    vec![(texel(from.floor()), 1.0 - weight as f32), (texel(from.floor() + 1.0), weight as f32)]
}

/// A texture of floats of one channel: at most three sides, the first the width.
pub fn value(sampler: &Sampler, sides: &[usize], texels: &[f32], at: &[f32]) -> f32 {
    let each: Vec<_> =
        sides.iter().zip(at).enumerate().map(|(axis, (&len, &at))| taps(sampler, axis, at, len)).collect();
    let mut mixed = vec![(Some(0), 1.0)];
    // From the slowest side on, so that indices add up.
    for (axis, taps) in each.iter().enumerate().rev() {
        mixed = mixed
            .iter()
            .flat_map(|&(base, outer): &(Option<i64>, f32)| {
                taps.iter().map(move |&(index, weight)| {
                    let at = base.zip(index).map(|(base, index)| base * sides[axis] as i64 + index);
                    (at, outer * weight)
                })
            })
            .collect();
    }
    mixed
        .iter()
        .map(|&(index, weight)| {
            weight * index.map_or(sampler.border_color[0], |index| texels[index as usize])
        })
        .sum()
}
