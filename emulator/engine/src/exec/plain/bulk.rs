//! Bulk copies. They end immediately or, with a seed, some time later; hardware may do either.

use super::asynchronous::complete;
use super::tensor::copy_tensor;
use crate::exec::access::{Place, Request, apply, lane_address, place, read, update};
use crate::exec::block::copies::LateCopy;
use crate::exec::block::{Block, Issue, Site, Stop};
use crate::program::bulk::{BulkCopy, BulkGroup, Extent};
use crate::program::instruction::Op;
use crate::program::memory::{AtomicOperation, Order, RANK_SHIFT, Scope};
use crate::program::types::Type;
use crate::ptx::Space;
use crate::report::FaultKind;
use crate::semantics::lanes_of;

/// Unit of copies in bytes. Hardware requires whole units too.
pub(super) const PIECE: u32 = 16;

pub(super) fn bulk_copy(block: &mut Block<'_, '_>, issue: Issue, copy: &BulkCopy) -> Result<(), Stop> {
    for lane in lanes_of(issue.active) {
        let late = operands(block, issue.at(lane), copy);
        if block.launch.options.seed.is_some() {
            block.copies.push(late);
        } else {
            run(block, copy, &late)?;
        }
    }
    Ok(())
}

fn operands(block: &Block<'_, '_>, site: Site, copy: &BulkCopy) -> LateCopy {
    let Site { warp, lane, .. } = site;
    let rows = &block.warps[warp].rows;
    let mut late = LateCopy {
        site,
        to: lane_address(block, warp, &copy.to, lane),
        from: lane_address(block, warp, &copy.from, lane),
        bytes: 0,
        coordinates: Default::default(),
        offsets: Default::default(),
        blocks: copy.multicast.map(|blocks| rows.get(blocks, lane)),
        told: copy.told.map(|barrier| lane_address(block, warp, &barrier, lane)),
    };
    match &copy.extent {
        Extent::Bytes(bytes) => late.bytes = rows.get(*bytes, lane),
        Extent::Tensor { coordinates, offsets, .. } => {
            let values = late.coordinates.iter_mut().zip(coordinates);
            values.for_each(|(value, row)| *value = rows.get(*row, lane) as i32);
            let values = late.offsets.iter_mut().zip(offsets);
            values.for_each(|(value, row)| *value = rows.get(*row, lane) & 0xffff);
        }
    }
    late
}

/// Performs a copy and signals the barriers that wait for it.
fn run(block: &mut Block<'_, '_>, copy: &BulkCopy, late: &LateCopy) -> Result<(), Stop> {
    let site = late.site;
    if late.bytes % PIECE != 0 {
        let text = format!("a bulk copy of {} bytes, which is no multiple of {PIECE}", late.bytes);
        return Err(block.fault(FaultKind::Other(text), site));
    }
    let mut bytes = late.bytes;
    for to in targets(late.to, late.blocks) {
        match copy.extent {
            Extent::Bytes(_) => copy_pieces(block, site, copy, [to, late.from], bytes)?,
            Extent::Tensor { columns, cache, .. } => {
                bytes = copy_tensor(block, copy, &LateCopy { to, ..*late }, (columns, cache))?;
            }
        }
    }
    let Some(told) = late.told else { return Ok(()) };
    for barrier in targets(told, late.blocks) {
        complete(block, site, (copy.spaces[0], barrier, copy.caches[2]), bytes)?;
    }
    Ok(())
}

/// Returns the address, or its counterparts in the cluster's blocks that `blocks` selects.
pub(super) fn targets(address: u64, blocks: Option<u32>) -> Vec<u64> {
    let Some(blocks) = blocks else { return vec![address] };
    let place = address & ((1 << RANK_SHIFT) - 1);
    lanes_of(blocks & 0xffff).map(|rank| place | (rank as u64) << RANK_SHIFT).collect()
}

/// Copies or combines whole units.
fn copy_pieces(
    block: &mut Block<'_, '_>,
    site: Site,
    copy: &BulkCopy,
    [to, from]: [u64; 2],
    bytes: u32,
) -> Result<(), Stop> {
    let [to_space, from_space] = copy.spaces.map(Some);
    let [to_cache, from_cache, _] = copy.caches;
    for offset in (0..bytes).step_by(PIECE as usize).map(u64::from) {
        let request = Request::read(from_space, from.wrapping_add(offset), PIECE, from_cache);
        let source = place(block, site, request)?.host;
        let at = to.wrapping_add(offset);
        let Some((operation, ty)) = copy.operation else {
            let request = Request::write(to_space, at, PIECE, to_cache);
            let target = place(block, site, request)?.host;
            // SAFETY: `place` checked a unit on either side; they may be the same.
            unsafe { std::ptr::copy(source, target, PIECE as usize) };
            continue;
        };
        for element in (0..PIECE).step_by(ty.bytes() as usize) {
            let source = source.wrapping_add(element as usize);
            // SAFETY: the element is in the unit of the source that `place` checked.
            let value = unsafe { read(source, ty.bytes(), false) };
            let target = (to_space, at + u64::from(element), to_cache);
            combine(block, site, target, (operation, ty), value)?;
        }
    }
    Ok(())
}

/// Combines an element of memory with a value.
pub(super) fn combine(
    block: &mut Block<'_, '_>,
    site: Site,
    (space, address, cache): (Option<Space>, u64, u32),
    (operation, ty): (AtomicOperation, Type),
    value: u64,
) -> Result<(), Stop> {
    let order = Order::Strong { scope: Scope::Device, releases: false };
    let request = Request::update(space, address, ty.bytes(), cache).ordered(order);
    let Place { host, .. } = place(block, site, request)?;
    // Unlike the adder of global memory, this one keeps subnormal numbers.
    let change = |old: u64| apply(operation, ty, false, old, value, 0);
    // SAFETY: `place` checked the element and its alignment.
    unsafe { update(host, ty.bytes(), change) };
    Ok(())
}

/// Combines copies of each lane into a group, or waits for groups.
pub(super) fn bulk_group(block: &mut Block<'_, '_>, issue: Issue, group: BulkGroup) -> Result<(), Stop> {
    if block.launch.options.seed.is_none() {
        return Ok(());
    }
    for site in lanes_of(issue.active).map(|lane| issue.at(lane)) {
        match group {
            BulkGroup::Commit => block.copies.commit(site),
            BulkGroup::Wait { most } => {
                while let Some(late) = block.copies.take_due(site, most) {
                    end(block, &late)?;
                }
            }
        }
    }
    Ok(())
}

fn end(block: &mut Block<'_, '_>, late: &LateCopy) -> Result<(), Stop> {
    match &block.instruction(late.site.pc).op {
        Op::BulkCopy(copy) => run(block, copy, late),
        _ => Ok(()),
    }
}

/// Ends the copy with this index among the copies in progress.
pub(in crate::exec) fn end_copy(block: &mut Block<'_, '_>, at: usize) -> Result<(), Stop> {
    let late = block.copies.take(at);
    end(block, &late)
}
