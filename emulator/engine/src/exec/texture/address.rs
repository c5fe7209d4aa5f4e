//! Converts coordinates to texels.

use super::filter::ONE;
use super::object::AddressMode;

/// Returns the number of steps into which normalized coordinates are rounded, for this size.
fn steps(size: u32) -> f64 {
    f64::from(1u32 << (size.max(1).ilog2() + 8).clamp(21, 31))
}

/// Position of a sample along one axis: the texel with the lower index, and the distance from it in
/// 256ths. May be outside of the texture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Position {
    pub(super) index: i64,
    pub(super) part: i32,
}

impl Position {
    pub(super) fn texel(index: i64) -> Self {
        Position { index, part: 0 }
    }

    pub(super) fn moved(self, texels: i32) -> Self {
        Position { index: self.index + i64::from(texels), ..self }
    }
}

fn in_texels(coordinate: f32, size: u32, mode: AddressMode, normalized: bool) -> f64 {
    let coordinate = if coordinate.is_nan() { 0.0 } else { f64::from(coordinate) };
    if !normalized {
        return coordinate;
    }
    let steps = steps(size);
    let stepped = (coordinate * steps).floor() / steps;
    let inside = match mode {
        // Infinities, and numbers so large that they have no fraction, become zero.
        AddressMode::Wrap => stepped - stepped.floor(),
        AddressMode::Mirror => stepped - 2.0 * (stepped / 2.0).floor(),
        AddressMode::Clamp | AddressMode::Border => stepped,
    };
    if inside.is_nan() { 0.0 } else { inside * f64::from(size) }
}

/// Returns the position for a coordinate: between two texels, or at one.
pub(super) fn position(
    coordinate: f32,
    size: u32,
    mode: AddressMode,
    normalized: bool,
    linear: bool,
) -> Position {
    let texels = in_texels(coordinate, size, mode, normalized);
    // Everything beyond this is outside; sums stay in range.
    const FAR: f64 = (1u64 << 40) as f64;
    if !linear {
        return Position::texel(texels.clamp(-FAR, FAR).floor() as i64);
    }
    // The value of a texel applies to its center.
    let parts = (texels.clamp(-FAR, FAR) * f64::from(ONE) - f64::from(ONE / 2) + 0.5).floor() as i64;
    let one = i64::from(ONE);
    Position { index: parts.div_euclid(one), part: parts.rem_euclid(one) as i32 }
}

/// Returns the texel of the texture for an index; `None` for the border.
pub(super) fn inside(index: i64, size: u32, mode: AddressMode, normalized: bool) -> Option<u32> {
    let size = i64::from(size);
    let clamped = index.clamp(0, size - 1);
    let inside = match mode {
        AddressMode::Wrap if normalized => index.rem_euclid(size),
        AddressMode::Mirror if normalized => {
            let turn = index.rem_euclid(2 * size);
            turn.min(2 * size - 1 - turn)
        }
        AddressMode::Border if index != clamped => return None,
        _ => clamped,
    };
    Some(inside as u32)
}
