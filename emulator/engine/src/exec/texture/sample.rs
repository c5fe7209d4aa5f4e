//! A sample: coordinates, levels, texels, filter.

use super::address::Position;
use super::filter::{Reading, Tap};
use super::format::Channel;
use super::level::Levels;
use super::object::{AddressMode, Level, Object, Sampler};
use super::{MOST_BYTES, address, cube, filter, level, srgb};
use crate::program::texture::Geometry;
use crate::semantics::float::ZERO;
use crate::semantics::half::{F16, Half};

#[derive(Clone, Copy, Debug)]
pub(in crate::exec) enum Coordinates {
    Whole([i32; 3]),
    Number([f32; 3]),
}

#[derive(Clone, Copy, Debug)]
pub(in crate::exec) enum Lod {
    Implicit,
    Base,
    Whole(i32),
    Number(f32),
    Gradients([[f32; 3]; 2]),
}

#[derive(Clone, Copy, Debug)]
pub(in crate::exec) struct Request {
    pub(in crate::exec) geometry: Geometry,
    pub(in crate::exec) layer: u32,
    pub(in crate::exec) coordinates: Coordinates,
    pub(in crate::exec) lod: Lod,
    pub(in crate::exec) offsets: [i32; 3],
    /// The component to gather from four texels, if any.
    pub(in crate::exec) gathered: Option<u8>,
}

/// The four channels of a texel, as 32-bit integers or single-precision numbers.
type Texel = [u32; 4];

struct Spot<'o> {
    level: &'o Level,
    axes: usize,
    positions: [Position; 3],
    slice: Option<u32>,
}

impl Request {
    /// Takes the sample; `fetch` reads the bytes of a texel.
    pub(in crate::exec) fn run<E>(
        &self,
        object: &Object,
        mut fetch: impl FnMut(u64) -> Result<[u8; MOST_BYTES], E>,
    ) -> Result<Texel, E> {
        let Some(sampler) = &object.sampler else { return Ok([0; 4]) };
        let format = object.format.channel;
        let mut texel = |spot: &Spot<'_>, corner: [i64; 3]| -> Result<Texel, E> {
            match spot.texel(object, sampler, corner) {
                Some(address) => Ok(decode(object, sampler, &fetch(address)?)),
                None => Ok(border(object, sampler)),
            }
        };
        let alone = |texel: Texel| {
            core::array::from_fn(|channel| {
                filter::alone(format, reading(object, sampler, channel), texel[channel])
            })
        };
        let Levels { first, between } = self.levels(object, sampler);
        let spot = |index: usize| object.levels.get(index).map(|level| self.spot(sampler, level));
        let Some(near) = spot(first) else { return Ok([0; 4]) };
        if let Some(component) = self.gathered {
            let mut gathered = [0; 4];
            for (to, corner) in gathered.iter_mut().zip([[0, 1, 0], [1, 1, 0], [1, 0, 0], [0, 0, 0]]) {
                let channels: Texel = alone(texel(&near, corner)?);
                *to = channels[usize::from(component)];
            }
            return Ok(gathered);
        }
        if let Coordinates::Whole(_) = self.coordinates {
            // No address mode: outside is zero. In one dimension only for linear memory.
            let of_array = self.geometry == Geometry::Line && !object.linear_memory;
            return if of_array || !near.is_inside(self.layer) {
                Ok([0; 4])
            } else {
                texel(&near, [0; 3]).map(alone)
            };
        }
        let far = spot(first + 1).filter(|_| between > 0);
        if !sampler.linear && far.is_none() {
            return texel(&near, [0; 3]).map(alone);
        }
        let parts = |spot: &Spot<'_>| spot.positions.map(|position| position.part);
        let far_parts = far.as_ref().map_or([0; 3], parts);
        let weights = filter::weights([parts(&near), far_parts], if far.is_some() { between } else { 0 });
        let mut taps = Vec::with_capacity(16);
        for (spot, weights) in [Some(near), far].iter().flatten().zip(weights) {
            for (corner, weight) in (0..).zip(weights).filter(|(_, weight)| *weight != 0) {
                taps.push((weight, texel(spot, [corner & 1, corner >> 1 & 1, corner >> 2])?));
            }
        }
        Ok(core::array::from_fn(|channel| {
            let taps: Vec<Tap> = taps.iter().map(|(weight, texel)| (*weight, texel[channel])).collect();
            filter::mix(format, reading(object, sampler, channel), &taps)
        }))
    }

    fn levels(&self, object: &Object, sampler: &Sampler) -> Levels {
        let count = object.levels.len();
        match self.lod {
            // Compute kernels have no neighboring pixels.
            Lod::Base | Lod::Implicit => Levels::BASE,
            Lod::Whole(lod) => level::choose(lod as f32, sampler, count),
            Lod::Number(lod) => level::choose(lod, sampler, count),
            Lod::Gradients(steps) => {
                let size = object.first().map_or([1; 3], |level| level.size).map(|side| side as f32);
                let in_texels = |step: [f32; 3]| {
                    let step = match self.coordinates {
                        Coordinates::Number(direction) if self.geometry.is_cube() => {
                            cube::moved(direction, step)
                        }
                        _ => step,
                    };
                    core::array::from_fn(|axis| step[axis] * size[axis])
                };
                let lod = level::of_gradients(steps.map(in_texels), sampler.anisotropy);
                level::choose(lod, sampler, count)
            }
        }
    }

    fn spot<'o>(&self, sampler: &Sampler, level: &'o Level) -> Spot<'o> {
        let [_, _, slices] = level.size;
        let layer = |layers: u32| self.layer.min(layers.saturating_sub(1));
        let (coordinates, axes, slice) = match self.coordinates {
            Coordinates::Number(direction) if self.geometry.is_cube() => {
                let (face, [u, v]) = cube::face(direction);
                let first = if self.geometry.has_layers() { 6 * layer(slices / 6) } else { 0 };
                (Coordinates::Number([u, v, 0.0]), 2, Some(first + face))
            }
            // One-dimensional textures are sampled as one row of two-dimensional ones, at its edge,
            // so a border affects the result.
            Coordinates::Number([x, ..]) if self.geometry == Geometry::Line => {
                (Coordinates::Number([x, 0.0, 0.0]), 2, None)
            }
            same => (same, self.geometry.axes(), self.geometry.has_layers().then(|| layer(slices))),
        };
        let linear = sampler.linear || self.gathered.is_some();
        let mut positions = [Position::texel(0); 3];
        for (axis, position) in positions.iter_mut().enumerate().take(axes) {
            let found = match coordinates {
                Coordinates::Whole(texels) => Position::texel(texels[axis].into()),
                Coordinates::Number(numbers) => {
                    let (size, mode) = (level.size[axis], sampler.modes[axis]);
                    address::position(numbers[axis], size, mode, sampler.normalized, linear)
                }
            };
            *position = found.moved(self.offsets[axis]);
        }
        Spot { level, axes, positions, slice }
    }
}

impl Spot<'_> {
    fn is_inside(&self, layer: u32) -> bool {
        let axes = self.positions.iter().zip(self.level.size).take(self.axes);
        let [_, _, slices] = self.level.size;
        axes.fold(self.slice.is_none() || layer < slices, |inside, (position, size)| {
            inside && (0..i64::from(size)).contains(&position.index)
        })
    }

    /// Returns the address of a texel next to the position; `None` for the border.
    fn texel(&self, object: &Object, sampler: &Sampler, corner: [i64; 3]) -> Option<u64> {
        let [x, y, z] = core::array::from_fn(|axis| self.positions[axis].index + corner[axis]);
        let [width, height, depth] = self.level.size;
        let inside = |axis: usize, index, size| {
            let outside_is_border = object.linear_memory && object.shape.dimensions == 1 && axis == 0;
            let mode = if outside_is_border { AddressMode::Border } else { sampler.modes[axis] };
            address::inside(index, size, mode, sampler.normalized)
        };
        let place = match self.slice {
            Some(slice) if object.shape.cube && sampler.seamless && sampler.linear => {
                let (face, [x, y]) = cube::across(slice % 6, [x, y], width);
                [x, y, slice - slice % 6 + face]
            }
            slice => {
                let z = if self.axes == 3 { inside(2, z, depth)? } else { slice.unwrap_or(0) };
                [inside(0, x, width)?, if self.axes >= 2 { inside(1, y, height)? } else { 0 }, z]
            }
        };
        let [x, y, z] = place.map(u64::from);
        let row = z * self.level.slice + y * self.level.pitch;
        Some(self.level.address + row + x * u64::from(object.format.bytes()))
    }
}

/// Returns the meaning of a channel. sRGB converts three of four channels, or the first.
fn reading(object: &Object, sampler: &Sampler, channel: usize) -> Reading {
    let colors = if object.format.channels == 4 { 3 } else { 1 };
    if object.is_integer() {
        Reading::Whole
    } else if sampler.srgb && object.format.channel == Channel::Unsigned8 && channel < colors {
        Reading::Srgb
    } else {
        Reading::Number
    }
}

/// Returns the channels of a texel; missing ones are 0.
fn decode(object: &Object, sampler: &Sampler, bytes: &[u8; MOST_BYTES]) -> Texel {
    let channel = object.format.channel;
    let mut texel = [0; 4];
    let values = bytes.chunks(channel.bytes() as usize).take(object.format.channels as usize);
    for (index, (value, bytes)) in texel.iter_mut().zip(values).enumerate() {
        let raw = channel.decode(bytes);
        *value = if reading(object, sampler, index) == Reading::Srgb { srgb::decode(raw) } else { raw };
    }
    texel
}

/// Returns the border color: numbers clamped to the format's range, integers by their lowest bits.
fn border(object: &Object, sampler: &Sampler) -> Texel {
    let channel = object.format.channel;
    let mut texel = [0; 4];
    let colors = texel.iter_mut().zip(sampler.border).take(object.format.channels as usize);
    for (index, (value, color)) in colors.enumerate() {
        let half = F16::round::<ZERO>(color.into()).to_f32();
        *value = match (reading(object, sampler, index), channel.scale()) {
            (Reading::Whole, _) => channel.decode(&color.to_bits().to_le_bytes()),
            (Reading::Srgb, _) => half.clamp(0.0, 1.0).to_bits(),
            (Reading::Number, Some(scale)) => {
                let least = if channel.is_signed() { -1.0 } else { 0.0 };
                (half.clamp(least, 1.0) * scale as f32).round() as i32 as u32
            }
            (Reading::Number, None) if channel == Channel::Half => half.to_bits(),
            (Reading::Number, None) => color.to_bits(),
        };
    }
    texel
}
