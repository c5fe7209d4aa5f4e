//! Mip levels: selects the one to sample, or two and the position between them.

use super::filter::ONE;
use super::object::Sampler;

/// Source of a sample: a level, and the next one if `between`, in 256ths, is not zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Levels {
    pub(super) first: usize,
    pub(super) between: i32,
}

impl Levels {
    pub(super) const BASE: Levels = Levels { first: 0, between: 0 };
}

/// Converts levels of detail to 256ths, clamped far beyond the number of levels.
fn parts(lod: f32) -> f32 {
    const FAR: f32 = 1024.0;
    if lod.is_nan() { 0.0 } else { lod.clamp(-FAR, FAR) * ONE as f32 }
}

/// Selects the levels for a level of detail, for a texture with `count` levels.
pub(super) fn choose(lod: f32, sampler: &Sampler, count: usize) -> Levels {
    let last = count.saturating_sub(1) as i32 * ONE;
    let wanted = parts(lod) as i32 + parts(sampler.bias) as i32;
    let wanted = wanted.min(parts(sampler.most) as i32).max(parts(sampler.least) as i32).clamp(0, last);
    if sampler.mip_linear {
        let wanted =
            if sampler.anisotropy > 1 && sampler.steep { steepened(wanted, sampler) } else { wanted };
        Levels { first: (wanted / ONE) as usize, between: wanted % ONE }
    } else {
        Levels { first: ((wanted + ONE / 2) / ONE) as usize, between: 0 }
    }
}

/// With anisotropy, moves weights toward the nearer level.
fn steepened(parts: i32, sampler: &Sampler) -> i32 {
    let slope = 2.0 - 1.0 / sampler.anisotropy.min(16) as f32;
    let middle = ONE / 2;
    let between = slope * (parts % ONE - middle) as f32 + (middle + 1) as f32;
    parts - parts % ONE + (between.round() as i32).clamp(0, ONE)
}

/// Returns the level of detail for the steps, in texels of the first level, to two neighbors.
///
/// The steps span an ellipse. Its longer axis should be one texel, or its shorter axis if the ratio
/// is at most `anisotropy`. Hardware approximates the axes without roots: within 1/6 of a level, or
/// 1/3 if the axes differ and both count.
pub(super) fn of_gradients([across, down]: [[f32; 3]; 2], anisotropy: u32) -> f32 {
    let dot =
        |a: [f32; 3], b: [f32; 3]| a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(b)).sum::<f64>();
    let (a, b, c) = (dot(across, across), dot(across, down), dot(down, down));
    // The squares of the axes are the eigenvalues of the matrix of the products.
    let (middle, spread) = ((a + c) / 2.0, (((a - c) / 2.0).powi(2) + b * b).sqrt());
    let (long, short) = (middle + spread, (middle - spread).max(0.0));
    let ratio = f64::from(anisotropy.clamp(1, 16));
    (short.max(long / (ratio * ratio)).log2() / 2.0) as f32
}
