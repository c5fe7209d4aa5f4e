//! Place of an access's bytes, if it is allowed.

use super::watch::{Memory, watch_local, watch_race, watch_shared};
use super::{Place, Request};
use crate::exec::block::cached::Cached;
use crate::exec::block::{Block, Site, Stop};
use crate::program::memory::RANK_SHIFT;
use crate::ptx::Space;
use crate::report;
use crate::report::FaultKind;
use crate::semantics::lanes_of;

/// Addresses below this are null pointers with an offset.
const NULL_PAGE: u64 = 4096;
/// Largest span of the device's range: an address further below its windows, or above them, is no device address.
const DEVICE_RANGE: u64 = 1 << 40;

/// The place of one lane's access. A fault names all lanes of `active`, from this one on, that do the same.
pub(super) fn place_of(
    block: &mut Block<'_, '_>,
    site: Site,
    active: u32,
    request: impl Fn(&Block<'_, '_>, usize) -> Request,
) -> Result<Place, Stop> {
    let wanted = request(block, site.lane);
    let mut fault = match place(block, site, wanted) {
        Ok(place) => return Ok(place),
        Err(fault) => fault,
    };
    for other in lanes_of(active).filter(|other| *other > site.lane) {
        let wanted = request(block, other);
        if place(block, Site { lane: other, ..site }, wanted).is_err_and(|other| other.kind == fault.kind) {
            fault.lanes |= 1 << other;
        }
    }
    Err(fault)
}

pub(in crate::exec) fn place(block: &mut Block<'_, '_>, site: Site, request: Request) -> Result<Place, Stop> {
    let Request { space, mut address, bytes, .. } = request;
    if address % u64::from(bytes) != 0 {
        return Err(access_fault(block, FaultKind::Misaligned, site, request));
    }
    let windows = block.launch.map.windows();
    let mut space = space;
    if space.is_none() {
        let all = [
            (windows.shared, Space::SharedCluster),
            (windows.local, Space::Local),
            (windows.param, Space::Param),
        ];
        for (start, window) in all {
            if address.wrapping_sub(start) < windows.bytes {
                (space, address) = (Some(window), address - start);
            }
        }
    }
    let inside = Request { space, address, ..request };
    match space {
        Some(Space::Shared | Space::SharedCluster) => shared_place(block, site, inside),
        Some(Space::Local) => local_place(block, site, inside),
        Some(Space::Param) => {
            let params = block.launch.args.params;
            match address.checked_add(bytes.into()) {
                Some(end) if end <= params.len() as u64 && !request.write => Ok(Place {
                    host: params.as_ptr().cast_mut().wrapping_add(address as usize),
                    global: false,
                }),
                _ => Err(access_fault(block, FaultKind::OutOfBounds, site, request)),
            }
        }
        _ => global_place(block, site, request),
    }
}

/// The first byte of an access within memory that starts at this address and has this size; shared and local addresses have 32 bits.
fn start_within(request: &Request, first: u32, size: u32) -> Option<usize> {
    let start = (request.address as u32).wrapping_sub(first);
    (u64::from(start) + u64::from(request.bytes) <= u64::from(size)).then_some(start as usize)
}

fn shared_place(block: &mut Block<'_, '_>, site: Site, request: Request) -> Result<Place, Stop> {
    let Some(offset) = start_within(&request, block.shared_base, block.launch.shared_bytes) else {
        return peer_place(block, site, request);
    };
    let host = block.shared.as_mut_ptr().cast::<u8>().wrapping_add(offset);
    if block.launch.watches() {
        let place = (block.rank, offset, request.bytes as usize);
        let watched = watch_shared(block, site, place, request.touch(host));
        watched.map_err(|fault| with_access(block, fault, request))?;
    }
    Ok(Place { host, global: false })
}

/// The place of an access to the shared memory of another block of the cluster.
fn peer_place(block: &mut Block<'_, '_>, site: Site, request: Request) -> Result<Place, Stop> {
    let bytes = block.launch.shared_bytes;
    let rank = request.address as u32 >> RANK_SHIFT;
    let wrong = if rank == block.rank || block.cluster.is_none() && request.space == Some(Space::Shared) {
        Some(FaultKind::OutOfBounds)
    } else if request.space == Some(Space::Shared) {
        Some(FaultKind::OtherBlock)
    } else {
        None
    };
    if let Some(kind) = wrong {
        return Err(access_fault(block, kind, site, request));
    }
    let members = block.cluster.as_ref();
    let present = members.and_then(|cluster| cluster.member(rank)).filter(|peer| !peer.ended.get());
    let Some(peer) = present else {
        return Err(access_fault(block, FaultKind::BlockNotPresent, site, request));
    };
    let Some(offset) = start_within(&request, rank << RANK_SHIFT, bytes) else {
        return Err(access_fault(block, FaultKind::OutOfBounds, site, request));
    };
    let host = peer.shared.get().wrapping_add(offset);
    if block.launch.watches() {
        let place = (rank, offset, request.bytes as usize);
        let watched = watch_shared(block, site, place, request.touch(host));
        watched.map_err(|fault| with_access(block, fault, request))?;
    }
    Ok(Place { host, global: false })
}

fn local_place(block: &mut Block<'_, '_>, site: Site, request: Request) -> Result<Place, Stop> {
    let warp = &mut block.warps[site.warp];
    let Some(start) = start_within(&request, 0, warp.local_stride) else {
        return Err(access_fault(block, FaultKind::OutOfBounds, site, request));
    };
    let offset = site.lane * warp.local_stride as usize + start;
    let host = warp.local.as_mut_ptr().wrapping_add(offset);
    if block.launch.options.check_init {
        let watched = watch_local(block, site, start, request.bytes as usize, request.touch(host));
        watched.map_err(|fault| with_access(block, fault, request))?;
    }
    Ok(Place { host, global: false })
}

fn global_place(block: &mut Block<'_, '_>, site: Site, request: Request) -> Result<Place, Stop> {
    let Request { address, bytes, write, cache, .. } = request;
    let mut cached = block.caches[cache];
    let inside = |cached: &Cached| {
        let offset = address.wrapping_sub(cached.base);
        offset < cached.len && u64::from(bytes) <= cached.len - offset
    };
    if !inside(&cached) {
        let region = block.launch.map.find(address);
        let is_closed = region.is_some_and(|region| !region.reachable);
        let found = region.filter(|_| !is_closed).map(Cached::of);
        match found.filter(inside) {
            Some(found) => {
                cached = found;
                block.caches[cache] = found;
            }
            None => {
                let kind = if address < NULL_PAGE {
                    FaultKind::NullPointer
                } else if block.launch.map.find_freed(address).is_some() {
                    FaultKind::UseAfterFree
                } else if is_closed || found.is_none() && !is_device_address(block, address) {
                    FaultKind::HostPointer
                } else {
                    FaultKind::OutOfBounds
                };
                return Err(access_fault(block, kind, site, request));
            }
        }
    }
    if write && !cached.writable {
        return Err(access_fault(block, FaultKind::WriteToReadOnly, site, request));
    }
    let offset = address - cached.base;
    let host = cached.host.wrapping_add(offset as usize);
    if cached.tracked {
        if let Some(init) = block.launch.map.find(address).and_then(|region| region.init.as_ref()) {
            let reads = !write || request.update;
            if reads && block.launch.options.check_init && !init.all_set(offset, bytes.into()) {
                return Err(access_fault(block, FaultKind::UninitializedRead, site, request));
            }
            if write {
                init.set(offset, bytes.into());
            }
        }
    }
    if cached.writable && block.launch.global_shadow.is_some() {
        let place = (Memory::Global, address, u64::from(bytes));
        let watched = watch_race(block, site, place, request.touch(host));
        watched.map_err(|fault| with_access(block, fault, request))?;
    }
    Ok(Place { host, global: true })
}

fn is_device_address(block: &Block<'_, '_>, address: u64) -> bool {
    let windows = block.launch.map.windows();
    let end = windows.param + windows.bytes;
    address < end && end - address < DEVICE_RANGE
}

#[cold]
fn access_fault(block: &Block<'_, '_>, kind: FaultKind, site: Site, request: Request) -> Stop {
    with_access(block, block.fault(kind, site), request)
}

/// Adds the access to a fault.
fn with_access(block: &Block<'_, '_>, mut fault: Stop, request: Request) -> Stop {
    let (space, global) = match request.space {
        Some(Space::Shared | Space::SharedCluster) => ("shared", false),
        Some(Space::Local) => ("local", false),
        Some(Space::Param) => ("param", false),
        Some(Space::Const) => ("const", true),
        _ => ("global", true),
    };
    let near = !matches!(fault.kind, FaultKind::NullPointer | FaultKind::HostPointer);
    fault.access = Some(report::Access {
        space,
        address: request.address,
        size: request.bytes,
        is_write: request.write,
        allocation: if global && near { block.launch.map.nearest(request.address) } else { None },
    });
    fault
}
