//! Finds the bytes of an access if it is allowed.

use super::watch::{Memory, watch_local, watch_race, watch_shared, with_access};
use super::{Place, Request};
use crate::exec::block::cached::Cached;
use crate::exec::block::{Block, Site, Stop};
use crate::exec::touched::{Manner, Marks};
use crate::memory::{Region, RegionKind};
use crate::program::memory::RANK_SHIFT;
use crate::ptx::Space;
use crate::report::FaultKind;
use crate::semantics::lanes_of;
use std::ptr;

/// Addresses below this are null pointers plus an offset.
const NULL_PAGE: u64 = 4096;

/// Finds the bytes of one lane's access. A fault names all lanes of `active`, from this one on,
/// with the same access.
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

/// Returns the first byte of an access in memory with this first address and size. Shared and local
/// addresses have 32 bits.
fn start_within(request: &Request, first: u32, size: u32) -> Option<usize> {
    let start = (request.address as u32).wrapping_sub(first);
    (u64::from(start) + u64::from(request.bytes) <= u64::from(size)).then_some(start as usize)
}

fn shared_place(block: &mut Block<'_, '_>, site: Site, request: Request) -> Result<Place, Stop> {
    let Some(offset) = start_within(&request, block.shared_base(), block.launch.shared_bytes) else {
        return peer_place(block, site, request);
    };
    let host = block.shared().wrapping_add(offset);
    if block.launch.watches() {
        watch_shared(block, site, (block.rank(), offset, host), request)?;
    }
    Ok(Place { host, global: false })
}

/// Finds the bytes of an access to the shared memory of another block of the cluster.
fn peer_place(block: &mut Block<'_, '_>, site: Site, request: Request) -> Result<Place, Stop> {
    let bytes = block.launch.shared_bytes;
    let rank = request.address as u32 >> RANK_SHIFT;
    let wrong = if rank == block.rank() || block.cluster.is_none() && request.space == Some(Space::Shared) {
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
        watch_shared(block, site, (rank, offset, host), request)?;
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
    watch_local(block, site, offset, request)?;
    Ok(Place { host, global: false })
}

fn global_place(block: &mut Block<'_, '_>, site: Site, request: Request) -> Result<Place, Stop> {
    let Request { address, bytes, write, cache, .. } = request;
    let mut cached = block.caches[cache];
    let inside = |cached: &Cached| cached.contains(address, bytes);
    if !inside(&cached) {
        let region = block.launch.map.find(address);
        let usable = |region: &&Region| region.reachable && block.launch.hooks.reaches(region);
        match region.filter(usable).map(Cached::of).filter(inside) {
            Some(mut found) => {
                found.marks = marks_of(block, site, region, request);
                cached = found;
                block.caches[cache] = found;
            }
            None => return Err(access_fault(block, missed(block, region, address), site, request)),
        }
    }
    if write && !cached.writable && !is_plain_constant(block, address) {
        return Err(access_fault(block, FaultKind::WriteToReadOnly, site, request));
    }
    let offset = address - cached.base;
    let host = cached.host.wrapping_add(offset as usize);
    if let Some(init) = cached.init(block.launch) {
        let reads = !write || request.update;
        if reads && block.launch.options.check_init && !init.all_set(offset, bytes.into()) {
            let kind = FaultKind::UninitializedRead;
            block.found(kind, site, |fault| with_access(block, fault, request))?;
        }
        if write {
            init.set(offset, bytes.into());
        }
    }
    if let Some(marks) = cached.marks(block.launch) {
        request.manners().for_each(|manner| marks.note(manner, offset, bytes.into()));
    }
    if cached.writable && block.launch.global_shadow.is_some() {
        watch_race(block, site, (Memory::Global, address, host), request)?;
    }
    Ok(Place { host, global: true })
}

/// True if the address is in a variable of constant memory that this kernel treats like any other:
/// its stores reach the caches of constants after it has ended.
#[cold]
fn is_plain_constant(block: &Block<'_, '_>, address: u64) -> bool {
    let launch = block.launch;
    let region = launch.map.find(address);
    !launch.args.kernel.reads_constants && region.is_some_and(|region| region.kind == RegionKind::Global)
}

/// Caches the region at an address as the one that an instruction found last, for accesses in some
/// manner. Returns false if kernels may access none there.
pub(in crate::exec) fn find_region(
    block: &mut Block<'_, '_>,
    (cache, pc): (usize, u32),
    address: u64,
    manner: Manner,
) -> bool {
    let Some(region) = block.launch.map.find(address) else { return false };
    if !region.reachable || !block.launch.hooks.reaches(region) {
        return false;
    }
    let mut found = Cached::of(region);
    if let Some(touched) = block.launch.touched {
        found.marks = touched.of(region, pc, manner);
    }
    block.caches[cache] = found;
    true
}

/// Returns the memory outside of regions that contains an address of this space: parameters, shared
/// memory of this block, or local memory of a warp, of which the part of the first lane.
pub(in crate::exec) fn find_window(
    block: &mut Block<'_, '_>,
    warp: usize,
    space: Option<Space>,
    address: u64,
) -> Option<(Space, Cached)> {
    let windows = block.launch.map.windows();
    let shared_base = block.shared_base().into();
    let (shared, shared_bytes) = (block.shared(), block.launch.shared_bytes.into());
    let params = block.launch.args.params;
    let local = &mut block.warps[warp];
    let all = [
        (Space::Shared, windows.shared, shared_base, shared_bytes, shared),
        (Space::Local, windows.local, 0, local.local_stride.into(), local.local.as_mut_ptr()),
        (Space::Param, windows.param, 0, params.len() as u64, params.as_ptr().cast_mut()),
    ];
    all.into_iter().find_map(|(of, window, first, len, host)| {
        // An address without a space is one in the window of its space.
        let start = if space.is_none() { window } else { 0 };
        let base = start + first;
        let inside = space.is_none_or(|space| space == of) && address.wrapping_sub(base) < len;
        let writable = of != Space::Param;
        inside.then_some((of, Cached { base, len, host, writable, ..Cached::EMPTY }))
    })
}

/// Finds the bytes of an access, first in the memory of an earlier one of the same kind. The memory
/// is kept if accesses there need no check but of their bounds and alignment.
pub(in crate::exec) fn place_near(
    block: &mut Block<'_, '_>,
    site: Site,
    request: Request,
    memory: &mut Option<Cached>,
) -> Result<*mut u8, Stop> {
    let Request { space, address, bytes, cache, .. } = request;
    if let Some(near) = memory.filter(|near| near.contains(address, bytes) && address % u64::from(bytes) == 0)
    {
        return Ok(near.host.wrapping_add((address - near.base) as usize));
    }
    let found = place(block, site, request)?;
    let near = match find_window(block, site.warp, space, address) {
        Some((Space::Shared, near)) => Some(near),
        Some(_) => None,
        None => Some(block.caches[cache]),
    };
    let watched = block.launch.watches();
    *memory = near.filter(|near| !watched && near.init.is_null() && near.marks.is_null());
    Ok(found.host)
}

/// Returns the kind of fault of an access that is outside all regions that it may use.
fn missed(block: &Block<'_, '_>, region: Option<&Region>, address: u64) -> FaultKind {
    if address < NULL_PAGE {
        FaultKind::NullPointer
    } else if block.launch.map.find_freed(address).is_some() {
        FaultKind::UseAfterFree
    } else if region.is_some_and(|region| !block.launch.hooks.reaches(region)) {
        FaultKind::OtherDevice
    } else if let Some(whole) = block.launch.map.widened(address) {
        FaultKind::TruncatedAddress(whole)
    } else if region.map_or_else(|| !is_device_address(block, address), |region| !region.reachable) {
        FaultKind::HostPointer
    } else {
        FaultKind::OutOfBounds
    }
}

/// Returns the record of accessed bytes of a region; null if none is kept.
fn marks_of(block: &Block<'_, '_>, site: Site, region: Option<&Region>, request: Request) -> *const Marks {
    let Some((touched, region)) = block.launch.touched.zip(region) else { return ptr::null() };
    request.manners().fold(ptr::null(), |_, manner| touched.of(region, site.pc, manner))
}

fn is_device_address(block: &Block<'_, '_>, address: u64) -> bool {
    let windows = block.launch.map.windows();
    (windows.range..windows.param + windows.bytes).contains(&address)
}

#[cold]
fn access_fault(block: &Block<'_, '_>, kind: FaultKind, site: Site, request: Request) -> Stop {
    with_access(block, block.fault(kind, site), request)
}
