//! Textures and surfaces.
//!
//! | module | what |
//! |---|---|
//! | `object` | what a handle stands for: memory with a shape, and how it is sampled |
//! | `format` | bytes to values and back |
//! | `address`, `cube` | coordinates to texels |
//! | `level` | mip levels |
//! | `filter` | texels to a sample |
//! | `sample` | all of these together |
//! | `surface` | access without filtering |
//!
//! Here are the instructions: each runs lane by lane, in both modes of execution.

mod address;
mod cube;
mod filter;
mod format;
mod level;
mod object;
mod sample;
mod srgb;
mod surface;

pub use format::{Channel, Format};
pub use object::{AddressMode, Handle, Level, Object, Sampler, Shape};

use super::block::{Block, Stop};
use super::memory::{Place, Request};
use super::semantics::half::{F16, Half};
use super::semantics::{Width, float::NEAREST, lanes_of};
use crate::program::Register;
use crate::program::texture::{self as program, ObjectKind, ObjectOp, Query, Sampled};
use crate::ptx::Space;
use crate::report::FaultKind;
use sample::{Coordinates, Lod, Request as Sampling};
use std::sync::Arc;

/// The most bytes that a texel has.
const MOST_BYTES: usize = 16;

/// Which instruction of which lane it is.
#[derive(Clone, Copy)]
struct Site {
    warp: usize,
    pc: u32,
    lane: usize,
}

/// The object that a warp used last: mostly all lanes name the same.
type Found = Option<(u64, Arc<Object>)>;

impl Block<'_, '_> {
    pub(super) fn object(&mut self, warp: usize, pc: u32, op: &ObjectOp, active: u32) -> Result<(), Stop> {
        let mut found = None;
        for lane in lanes_of(active) {
            let site = Site { warp, pc, lane };
            match op {
                ObjectOp::Sample(sample) => self.sample(site, sample, &mut found)?,
                ObjectOp::Access(access) => self.access_surface(site, access, &mut found)?,
                ObjectOp::Query { surface, query, object, level, out } => {
                    let object = self.find_object(site, *object, *surface, &mut found)?;
                    let level = level.map_or(0, |level| self.warps[warp].rows.get(level, lane));
                    let answer = ask(&object, *query, level);
                    self.warps[warp].rows.set(*out, lane, answer);
                }
                ObjectOp::IsKind { kind, object, out } => {
                    let handle = self.warps[warp].rows.get_wide(*object, Width::Double, lane);
                    let is = |surface| matches!(self.launch.hooks.object(handle, surface), Handle::Live(_));
                    let holds = match kind {
                        ObjectKind::Texture => is(false),
                        ObjectKind::Surface => is(true),
                        ObjectKind::Sampler => false,
                    };
                    let bit = 1 << lane;
                    self.warps[warp].rows.set_predicate(*out, bit, if holds { bit } else { 0 });
                }
            }
        }
        Ok(())
    }

    /// The object that a handle names.
    fn find_object(
        &self,
        site: Site,
        register: Register,
        surface: bool,
        found: &mut Found,
    ) -> Result<Arc<Object>, Stop> {
        let handle = self.warps[site.warp].rows.get_wide(register, Width::Double, site.lane);
        if let Some((_, object)) = found.as_ref().filter(|(known, _)| *known == handle) {
            return Ok(Arc::clone(object));
        }
        let kind = if surface { "surface" } else { "texture" };
        let text = match self.launch.hooks.object(handle, surface) {
            Handle::Live(object) => {
                *found = Some((handle, Arc::clone(&object)));
                return Ok(object);
            }
            Handle::Destroyed => format!("use of the {kind} object {handle:#x}, which was destroyed"),
            Handle::Unknown if matches!(self.launch.hooks.object(handle, !surface), Handle::Live(_)) => {
                let other = if surface { "texture" } else { "surface" };
                format!("use of the {other} object {handle:#x} as a {kind} object")
            }
            Handle::Unknown => format!("use of {handle:#x}, which is no {kind} object"),
        };
        Err(self.fault(FaultKind::Object(text), site.warp, site.pc, 1 << site.lane))
    }

    /// The bytes of a texel.
    fn texel(&mut self, site: Site, address: u64, bytes: u32, cache: u32) -> Result<[u8; MOST_BYTES], Stop> {
        let request = Request::read(Some(Space::Global), address, bytes, cache);
        let Place { host, .. } = self.place(site.warp, site.pc, site.lane, request)?;
        let mut texel = [0; MOST_BYTES];
        // SAFETY: `place` checked that the bytes lie in live memory; no texel has more than 16.
        unsafe { std::ptr::copy_nonoverlapping(host, texel.as_mut_ptr(), bytes as usize) };
        Ok(texel)
    }

    fn word(&self, site: Site, register: Option<Register>) -> u32 {
        register.map_or(0, |register| self.warps[site.warp].rows.get(register, site.lane))
    }

    fn sample(&mut self, site: Site, sample: &program::Sample, found: &mut Found) -> Result<(), Stop> {
        let object = self.find_object(site, sample.place.object, false, found)?;
        let vector = |from: program::Vector| from.map(|register| self.word(site, register));
        let numbers = |from: program::Vector| vector(from).map(f32::from_bits);
        let coordinates = vector(sample.place.coordinates);
        let request = Sampling {
            geometry: sample.place.geometry,
            layer: self.word(site, sample.place.layer),
            coordinates: match sample.whole {
                true => Coordinates::Whole(coordinates.map(|word| word as i32)),
                false => Coordinates::Number(coordinates.map(f32::from_bits)),
            },
            lod: match sample.level {
                program::Level::Implicit => Lod::Implicit,
                program::Level::Base => Lod::Base,
                program::Level::Number(level) if sample.whole => {
                    Lod::Whole(self.word(site, Some(level)) as i32)
                }
                program::Level::Number(level) => Lod::Number(f32::from_bits(self.word(site, Some(level)))),
                program::Level::Gradients(x, y) => Lod::Gradients([numbers(x), numbers(y)]),
            },
            // Four bits of each count.
            offsets: vector(sample.offsets).map(|word| (word << 28) as i32 >> 28),
            gathered: sample.gathered,
        };
        let bytes = object.format.bytes();
        let values = request.run(&object, |address| self.texel(site, address, bytes, sample.cache))?;
        let words = match sample.result {
            Sampled::Words => values,
            Sampled::Halves => values.map(to_half),
            Sampled::HalfPairs => {
                let [r, g, b, a] = values.map(to_half);
                [r | g << 16, b | a << 16, 0, 0]
            }
        };
        let rows = &mut self.warps[site.warp].rows;
        for (register, word) in sample.out.iter().zip(words) {
            rows.set(*register, site.lane, word);
        }
        if let Some(resident) = sample.resident {
            rows.set_predicate(resident, 1 << site.lane, 1 << site.lane);
        }
        Ok(())
    }
}

/// A number of single precision as one of half precision.
fn to_half(bits: u32) -> u32 {
    F16::round::<NEAREST>(f32::from_bits(bits).into()).bits().into()
}

/// What an object is, in the numbers of OpenCL, which PTX documents for its queries.
fn ask(object: &Object, query: Query, level: u32) -> u32 {
    let [width, height, slices] =
        object.levels.get(level as usize).or(object.first()).map_or([0; 3], |level| level.size);
    let Shape { dimensions, layered, cube } = object.shape;
    let normalizes =
        object.format.normalized || object.sampler.as_ref().is_some_and(|sampler| !sampler.integer);
    match query {
        Query::Width => width,
        Query::Height if dimensions >= 2 => height,
        Query::Depth if dimensions == 3 => slices,
        Query::ArraySize if layered && cube => slices / 6,
        Query::ArraySize if layered => slices,
        Query::DataType => match (object.format.channel, normalizes) {
            (Channel::Signed8, true) => 0x10d0,
            (Channel::Signed16, true) => 0x10d1,
            (Channel::Unsigned8, true) => 0x10d2,
            (Channel::Unsigned16, true) => 0x10d3,
            (Channel::Signed8, _) => 0x10d7,
            (Channel::Signed16, _) => 0x10d8,
            (Channel::Signed32, _) => 0x10d9,
            (Channel::Unsigned8, _) => 0x10da,
            (Channel::Unsigned16, _) => 0x10db,
            (Channel::Unsigned32, _) => 0x10dc,
            (Channel::Half, _) => 0x10dd,
            (Channel::Float, _) => 0x10de,
        },
        Query::ChannelOrder => match object.format.channels {
            1 => 0x10b0,
            2 => 0x10b2,
            _ => 0x10b5,
        },
        Query::NormalizedCoordinates => {
            u32::from(object.sampler.as_ref().is_some_and(|sampler| sampler.normalized))
        }
        Query::MipLevels => object.levels.len() as u32,
        Query::Samples => 1,
        Query::Height | Query::Depth | Query::ArraySize | Query::MemoryLayout => 0,
    }
}
