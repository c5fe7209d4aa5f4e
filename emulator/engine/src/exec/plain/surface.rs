//! Surfaces: loads, stores, reductions of elements. x is in bytes, others in elements.

use super::object::{Found, find_object, word};
use crate::exec::access::{Place, Request, apply, place, update};
use crate::exec::block::rows::Rows;
use crate::exec::block::{Block, Site, Stop};
use crate::exec::texture::{Level, MOST_BYTES, Object};
use crate::program::memory::{Order, Scope};
use crate::program::texture::{Geometry, Outside, SurfaceAccess, SurfaceAction};
use crate::ptx::Space;
use crate::report::{Access, FaultKind};

/// Reductions are atomic on the device.
const RELAXED: Order = Order::Strong { scope: Scope::Device, releases: false };

pub(super) fn access_surface(
    block: &mut Block<'_, '_>,
    site: Site,
    access: &SurfaceAccess,
    found: &mut Found,
) -> Result<(), Stop> {
    let object = find_object(block, site, access.place.object, (true, false), found)?;
    let texel = object.format.bytes();
    let (bytes, elements) = match &access.action {
        SurfaceAction::Load(registers) | SurfaceAction::Store(registers) => {
            (access.bytes * registers.len() as u32, false)
        }
        SurfaceAction::StoreConverted(_) => (texel, true),
        SurfaceAction::Reduce { by_element, .. } => (access.bytes, *by_element),
    };
    let unit = if elements { texel } else { 1 };
    let Some(address) = surface_address(block, site, access, &object, bytes, unit)? else {
        if let SurfaceAction::Load(registers) = &access.action {
            let rows = &mut block.warps[site.warp].rows;
            registers.iter().for_each(|register| rows.set_wide(*register, access.width, site.lane, 0));
        }
        return Ok(());
    };
    let request = match access.action {
        SurfaceAction::Load(_) => Request::read(Some(Space::Global), address, bytes, access.cache),
        SurfaceAction::Store(_) | SurfaceAction::StoreConverted(_) => {
            Request::write(Some(Space::Global), address, bytes, access.cache)
        }
        SurfaceAction::Reduce { .. } => {
            Request::update(Some(Space::Global), address, bytes, access.cache).ordered(RELAXED)
        }
    };
    let Place { host, .. } = place(block, site, request)?;
    move_texels(&mut block.warps[site.warp].rows, site.lane, access, &object, host, bytes as usize);
    Ok(())
}

/// Moves `bytes` at `host`, which `place` checked, between registers and memory.
fn move_texels(
    rows: &mut Rows,
    lane: usize,
    access: &SurfaceAccess,
    object: &Object,
    host: *mut u8,
    bytes: usize,
) {
    let mut content = [0u8; MOST_BYTES];
    let size = access.bytes as usize;
    match &access.action {
        SurfaceAction::Load(registers) => {
            // SAFETY: `place` checked the bytes of the access, of which there are at most 16.
            unsafe { std::ptr::copy_nonoverlapping(host, content.as_mut_ptr(), bytes) };
            for (register, element) in registers.iter().zip(content.chunks(size)) {
                let mut value = [0; 8];
                value[..size].copy_from_slice(element);
                rows.set_wide(*register, access.width, lane, u64::from_le_bytes(value));
            }
            return;
        }
        SurfaceAction::Store(registers) => {
            for (register, element) in registers.iter().zip(content.chunks_mut(size)) {
                let value = rows.get_wide(*register, access.width, lane).to_le_bytes();
                element.copy_from_slice(&value[..size]);
            }
        }
        SurfaceAction::StoreConverted(registers) => {
            let channel = object.format.channel;
            let size = channel.bytes() as usize;
            let channels = content.chunks_mut(size).take(object.format.channels as usize);
            for (register, element) in registers.iter().zip(channels) {
                element.copy_from_slice(&channel.encode(rows.get(*register, lane))[..size]);
            }
        }
        SurfaceAction::Reduce { operation, ty, value, .. } => {
            let operand = rows.get_wide(*value, access.width, lane);
            let change = |old: u64| apply(*operation, *ty, true, old, operand, 0);
            // SAFETY: `place` checked that the bytes are aligned and in live memory.
            unsafe { update(host, access.bytes, change) };
            return;
        }
    }
    // SAFETY: `place` checked the bytes of the access for writing; `content` has at least as many.
    unsafe { std::ptr::copy_nonoverlapping(content.as_ptr(), host, bytes) };
}

/// Returns the address of an access; `None` if it is outside and has no effect.
fn surface_address(
    block: &Block<'_, '_>,
    site: Site,
    access: &SurfaceAccess,
    object: &Object,
    bytes: u32,
    unit: u32,
) -> Result<Option<u64>, Stop> {
    let Some(level) = object.first() else { return Ok(None) };
    let Level { address, size: [width, height, slices], pitch, slice } = *level;
    let row_bytes = i64::from(width) * i64::from(object.format.bytes());
    let number = |register| i64::from(word(block, site, register) as i32);
    let layer = i64::from(word(block, site, access.place.layer));
    let [x, y, z] = access.place.coordinates.map(number);
    let x = x * i64::from(unit);
    if x % i64::from(bytes) != 0 {
        let mut fault = block.fault(FaultKind::Misaligned, site);
        let is_write = !matches!(access.action, SurfaceAction::Load(_));
        fault.access =
            Some(Access { space: "surface", address: x as u64, size: bytes, is_write, allocation: None });
        return Err(fault);
    }
    // Dimensions of the shape that the instruction lacks are zero.
    let (y, z) = match access.place.geometry {
        Geometry::LineLayers | Geometry::PlaneLayers => (y, layer),
        _ => (y, z),
    };
    let last = [row_bytes - i64::from(bytes), i64::from(height) - 1, i64::from(slices) - 1];
    let wanted = [x, y, z];
    let inside = wanted.iter().zip(last).all(|(at, last)| (0..=last).contains(at));
    let [x, y, z] = match access.outside {
        _ if inside => wanted,
        Outside::Clamp if last[0] < 0 => return Ok(None),
        Outside::Clamp => core::array::from_fn(|axis| wanted[axis].clamp(0, last[axis])),
        Outside::Zero => return Ok(None),
        Outside::Trap => {
            let text = format!(
                "access of {bytes} bytes at byte {x}, row {y}, slice {z} of a surface of {row_bytes} bytes, \
                 {height} rows, {slices} slices"
            );
            return Err(block.fault(FaultKind::Object(text), site));
        }
    };
    Ok(Some(address + x as u64 + y as u64 * pitch + z as u64 * slice))
}
