//! Instructions on textures and surfaces. They run lane by lane in all modes.

use super::surface::access_surface;
use crate::exec::access::{Place, Request, place};
use crate::exec::block::{Block, Issue, Site, Stop};
use crate::exec::texture::sample::{Coordinates, Lod, Request as Sampling};
use crate::exec::texture::{Handle, MOST_BYTES, Object, ask};
use crate::program::texture::{self as program, ObjectKind, ObjectOp, Query, Sampled};
use crate::ptx::Space;
use crate::report::FaultKind;
use crate::semantics::float::NEAREST;
use crate::semantics::half::{F16, Half};
use crate::semantics::{Register, Width, lanes_of};
use std::sync::Arc;

/// The object that a warp used last. Mostly all lanes use the same.
pub(super) type Found = Option<(u64, Arc<Object>)>;

pub(super) fn object(block: &mut Block<'_, '_>, issue: Issue, op: &ObjectOp) -> Result<(), Stop> {
    let mut found = None;
    for lane in lanes_of(issue.active) {
        let site = issue.at(lane);
        match op {
            ObjectOp::Sample(op) => sample(block, site, op, &mut found)?,
            ObjectOp::Access(access) => access_surface(block, site, access, &mut found)?,
            ObjectOp::Query { surface, query, object, level, out } => {
                // Hardware also returns the size of an object of the other kind.
                let either = matches!(query, Query::Width | Query::Height | Query::Depth);
                let object = find_object(block, site, *object, (*surface, either), &mut found)?;
                let level = level.map_or(0, |level| block.warps[issue.warp].rows.get(level, lane));
                let answer = ask(&object, *query, level);
                block.warps[issue.warp].rows.set(*out, lane, answer);
            }
            ObjectOp::IsKind { kind, object, out } => {
                let handle = block.warps[issue.warp].rows.get_wide(*object, Width::Double, lane);
                let is = |surface| matches!(block.launch.hooks.object(handle, surface), Handle::Live(_));
                let holds = match kind {
                    ObjectKind::Texture => is(false),
                    ObjectKind::Surface => is(true),
                    ObjectKind::Sampler => false,
                };
                let bit = 1 << lane;
                block.warps[issue.warp].rows.set_predicate(*out, bit, if holds { bit } else { 0 });
            }
        }
    }
    Ok(())
}

/// Returns the live object of a handle: a surface or a texture, or either.
pub(super) fn find_object(
    block: &Block<'_, '_>,
    site: Site,
    register: Register,
    (surface, either): (bool, bool),
    found: &mut Found,
) -> Result<Arc<Object>, Stop> {
    let handle = block.warps[site.warp].rows.get_wide(register, Width::Double, site.lane);
    if let Some((_, object)) = found.as_ref().filter(|(known, _)| *known == handle) {
        return Ok(Arc::clone(object));
    }
    let kind = if surface { "surface" } else { "texture" };
    let text = match block.launch.hooks.object(handle, surface) {
        Handle::Live(object) => {
            *found = Some((handle, Arc::clone(&object)));
            return Ok(object);
        }
        Handle::Destroyed => format!("use of the {kind} object {handle:#x}, which was destroyed"),
        Handle::Unknown => match block.launch.hooks.object(handle, !surface) {
            Handle::Live(object) if either => {
                *found = Some((handle, Arc::clone(&object)));
                return Ok(object);
            }
            Handle::Live(_) => {
                let other = if surface { "texture" } else { "surface" };
                format!("use of the {other} object {handle:#x} as a {kind} object")
            }
            _ => format!("use of {handle:#x}, which is no {kind} object"),
        },
    };
    Err(block.fault(FaultKind::Object(text), site))
}

fn texel(
    block: &mut Block<'_, '_>,
    site: Site,
    address: u64,
    bytes: u32,
    cache: u32,
) -> Result<[u8; MOST_BYTES], Stop> {
    let request = Request::read(Some(Space::Global), address, bytes, cache);
    let Place { host, .. } = place(block, site, request)?;
    let mut texel = [0; MOST_BYTES];
    // SAFETY: `place` checked that the bytes are in live memory; no texel has more than 16.
    unsafe { std::ptr::copy_nonoverlapping(host, texel.as_mut_ptr(), bytes as usize) };
    Ok(texel)
}

pub(super) fn word(block: &Block<'_, '_>, site: Site, register: Option<Register>) -> u32 {
    register.map_or(0, |register| block.warps[site.warp].rows.get(register, site.lane))
}

fn sample(
    block: &mut Block<'_, '_>,
    site: Site,
    sample: &program::Sample,
    found: &mut Found,
) -> Result<(), Stop> {
    let object = find_object(block, site, sample.place.object, (false, false), found)?;
    let vector = |from: program::Vector| from.map(|register| word(block, site, register));
    let numbers = |from: program::Vector| vector(from).map(f32::from_bits);
    let coordinates = vector(sample.place.coordinates);
    let request = Sampling {
        geometry: sample.place.geometry,
        layer: word(block, site, sample.place.layer),
        coordinates: match sample.whole {
            true => Coordinates::Whole(coordinates.map(|word| word as i32)),
            false => Coordinates::Number(coordinates.map(f32::from_bits)),
        },
        lod: match sample.level {
            program::LevelOperand::Implicit => Lod::Implicit,
            program::LevelOperand::Base => Lod::Base,
            program::LevelOperand::Number(level) if sample.whole => {
                Lod::Whole(word(block, site, Some(level)) as i32)
            }
            program::LevelOperand::Number(level) => {
                Lod::Number(f32::from_bits(word(block, site, Some(level))))
            }
            program::LevelOperand::Gradients(x, y) => Lod::Gradients([numbers(x), numbers(y)]),
        },
        // Four bits of each are significant.
        offsets: vector(sample.offsets).map(|word| (word << 28) as i32 >> 28),
        gathered: sample.gathered,
    };
    let bytes = object.format.bytes();
    let values = request.run(&object, |address| texel(block, site, address, bytes, sample.cache))?;
    let words = match sample.result {
        Sampled::Words => values,
        Sampled::Halves => values.map(to_half),
        Sampled::HalfPairs => {
            let [r, g, b, a] = values.map(to_half);
            [r | g << 16, b | a << 16, 0, 0]
        }
    };
    let rows = &mut block.warps[site.warp].rows;
    for (register, word) in sample.out.iter().zip(words) {
        rows.set(*register, site.lane, word);
    }
    if let Some(resident) = sample.resident {
        rows.set_predicate(resident, 1 << site.lane, 1 << site.lane);
    }
    Ok(())
}

/// Converts single precision to half precision.
fn to_half(bits: u32) -> u32 {
    F16::round::<NEAREST>(f32::from_bits(bits).into()).bits().into()
}
