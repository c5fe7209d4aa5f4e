//! Loads and stores of each lane.

use super::place::place_of;
use super::raw::sign_extend;
use super::request::{MOST_BYTES, Stored};
use super::{Request, read, write};
use crate::exec::block::{Block, Issue, Stop};
use crate::program::memory::{Access, Address};
use crate::semantics::lanes_of;

pub(in crate::exec) fn lane_address(
    block: &Block<'_, '_>,
    warp: usize,
    address: &Address,
    lane: usize,
) -> u64 {
    let base = block.warps[warp].rows.get_wide(address.base, address.width, lane);
    base.wrapping_add_signed(address.offset)
}

pub(in crate::exec) fn load(block: &mut Block<'_, '_>, issue: Issue, access: &Access) -> Result<(), Stop> {
    let count = access.registers.len() as u32;
    for lane in lanes_of(issue.active) {
        let request = |block: &Block<'_, '_>, lane| {
            let address = lane_address(block, issue.warp, &access.address, lane);
            Request::read(access.space, address, access.bytes * count, access.cache).ordered(access.order)
        };
        let place = place_of(block, issue.at(lane), issue.active, request)?;
        for (element, register) in access.registers.iter().enumerate() {
            let at = place.host.wrapping_add(element * access.bytes as usize);
            // SAFETY: `place` checked that all bytes of the access are aligned and in live memory.
            let raw = unsafe { read(at, access.bytes, access.order.is_strong() && place.global) };
            let value = if access.signed { sign_extend(raw, access.bytes) } else { raw };
            block.warps[issue.warp].rows.set_wide(*register, access.width, lane, value);
        }
    }
    Ok(())
}

pub(in crate::exec) fn store(block: &mut Block<'_, '_>, issue: Issue, access: &Access) -> Result<(), Stop> {
    let count = access.registers.len() as u32;
    for lane in lanes_of(issue.active) {
        let request = |block: &Block<'_, '_>, lane| {
            let address = lane_address(block, issue.warp, &access.address, lane);
            Request::write(access.space, address, access.bytes * count, access.cache)
                .ordered(access.order)
                .storing(
                    block.launch.options.check_races.then(|| stored_bytes(block, issue.warp, access, lane)),
                )
        };
        let place = place_of(block, issue.at(lane), issue.active, request)?;
        for (element, register) in access.registers.iter().enumerate() {
            let value = block.warps[issue.warp].rows.get_wide(*register, access.width, lane);
            let at = place.host.wrapping_add(element * access.bytes as usize);
            // SAFETY: as in `load`; writing was checked too.
            unsafe { write(at, access.bytes, value, access.order.is_strong() && place.global) };
        }
    }
    Ok(())
}

fn stored_bytes(block: &Block<'_, '_>, warp: usize, access: &Access, lane: usize) -> Stored {
    let mut stored = [0; MOST_BYTES];
    let elements = stored.chunks_exact_mut(access.bytes as usize);
    for (element, register) in elements.zip(&access.registers) {
        let value = block.warps[warp].rows.get_wide(*register, access.width, lane).to_le_bytes();
        element.copy_from_slice(&value[..access.bytes as usize]);
    }
    Stored(stored)
}
