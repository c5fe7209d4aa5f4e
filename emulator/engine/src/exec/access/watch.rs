//! Accesses for the checks.

use super::Request;
use crate::exec::block::launch::Launch;
use crate::exec::block::{Block, Issue, Lanes, Site, Stop, thread_index};
use crate::exec::check::shadow::Shadow;
use crate::exec::check::traces::{Compare, Trace};
use crate::program::memory::Scope;
use crate::ptx::Space;
use crate::report::{self, FaultKind, Hazard, Related};
use crate::semantics::LANES;

/// Step of a thread at a barrier in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::exec) enum Pass {
    Arrives,
    /// Observes that all have arrived.
    Leaves,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::exec) enum Memory {
    /// Shared memory of the block with this rank in the cluster.
    Shared(u32),
    Global,
}

/// Gives access to the shadow of the shared memory of the block with this rank in the cluster.
fn with_shadow<T>(block: &mut Block<'_, '_>, rank: u32, then: impl FnOnce(&mut Shadow) -> T) -> T {
    match block.cluster.as_ref().and_then(|cluster| cluster.member(rank)) {
        Some(member) => then(&mut member.shadow.borrow_mut()),
        None => then(&mut block.checks.shadow),
    }
}

/// Checks an access to the shared memory of a block of the cluster against earlier ones.
pub(in crate::exec) fn watch_shared(
    block: &mut Block<'_, '_>,
    site: Site,
    (rank, start, host): (u32, usize, *mut u8),
    request: Request,
) -> Result<(), Stop> {
    let (bytes, touch) = (request.bytes as usize, request.touch(host));
    if block.launch.options.check_init {
        let missed = with_shadow(block, rank, |shadow| {
            let missed = touch.reads() && !shadow.written.all(start, bytes);
            if touch.write {
                shadow.written.mark(start, bytes);
            }
            missed
        });
        if missed {
            let kind = FaultKind::UninitializedRead;
            block.found(kind, site, |fault| with_access(block, fault, request))?;
        }
    }
    watch_race(block, site, (Memory::Shared(rank), start as u64, host), request)
}

/// Checks a read of local memory, or marks the bytes of a write, given the position of its bytes in
/// the local memory of the warp.
pub(in crate::exec) fn watch_local(
    block: &mut Block<'_, '_>,
    site: Site,
    start: usize,
    request: Request,
) -> Result<(), Stop> {
    let Some(written) = &mut block.warps[site.warp].local_written else { return Ok(()) };
    let bytes = request.bytes as usize;
    if request.write {
        written.mark(start, bytes);
    } else if !written.all(start, bytes) {
        let kind = FaultKind::UninitializedRead;
        block.found(kind, site, |fault| with_access(block, fault, request))?;
    }
    Ok(())
}

/// Checks an access to shared or global memory against accesses of other threads.
pub(in crate::exec) fn watch_race(
    block: &mut Block<'_, '_>,
    site: Site,
    (memory, address, host): (Memory, u64, *mut u8),
    request: Request,
) -> Result<(), Stop> {
    let (bytes, touch) = (u64::from(request.bytes), request.touch(host));
    let (Some(clocks), Some(global)) = (&mut block.checks.clocks, &block.launch.global_shadow) else {
        return Ok(());
    };
    let (mut guard, mut of_member) = (None, None);
    let member = |rank| block.cluster.as_ref().and_then(|cluster| cluster.member(rank));
    let accesses = match memory {
        Memory::Shared(rank) => match member(rank) {
            Some(member) => &mut of_member.insert(member.shadow.borrow_mut()).accesses,
            None => &mut block.checks.shadow.accesses,
        },
        Memory::Global => &mut **guard.insert(global.lock()),
    };
    if touch.reads() && touch.order.is_strong() {
        clocks.learn(site.warp, site.lane, address, &accesses.publications);
    }
    let now = Trace {
        block: clocks.block(),
        warp: site.warp as u32,
        lanes: 1 << site.lane,
        moment: clocks.moment(site.warp),
        pc: site.pc,
        bytes: 0,
        write: touch.write,
        order: touch.order,
        atomic: touch.atomic,
    };
    let how = Compare { same: touch.same, atomic_reads: block.launch.options.check_atomic_reads };
    let found = accesses.touch(address, bytes, now, clocks.past(site.warp, site.lane), how);
    if touch.write {
        clocks.publish(site.warp, site.lane, address, touch.order, touch.update, &mut accesses.publications);
    }
    drop((guard, of_member));
    match found {
        Some(earlier) => race(block, now, earlier, request),
        None => Ok(()),
    }
}

/// Records that a thread passes a barrier in the shared memory of a block of the cluster.
pub(in crate::exec) fn pass_memory_barrier(
    block: &mut Block<'_, '_>,
    site: Site,
    host: *const u8,
    pass: Pass,
) {
    let (bytes, own) = (block.launch.shared_bytes as usize, block.shared().addr());
    let Some(clocks) = &mut block.checks.clocks else { return };
    let mut of_member = None;
    let (offset, scope, publications) = match &block.cluster {
        Some(cluster) => {
            let Some((owner, offset)) = cluster.owner(host, bytes) else { return };
            (offset, Scope::Device, &mut of_member.insert(owner.shadow.borrow_mut()).barriers)
        }
        None => {
            let offset = host.addr().wrapping_sub(own);
            (offset as u64, Scope::Block, &mut block.checks.shadow.barriers)
        }
    };
    match pass {
        Pass::Arrives => clocks.tell(site.warp, site.lane, offset, scope, publications),
        Pass::Leaves => clocks.learn(site.warp, site.lane, offset, publications),
    }
}

#[cold]
fn race(block: &Block<'_, '_>, now: Trace, earlier: Trace, request: Request) -> Result<(), Stop> {
    let hazard = match (earlier.write, now.write) {
        _ if now.is_read_beside_atomic(&earlier) => Hazard::ReadBesideAtomic,
        (true, false) => Hazard::ReadAfterWrite,
        (false, _) => Hazard::WriteAfterRead,
        (true, true) => Hazard::WriteAfterWrite,
    };
    let at = Lanes { warp: now.warp as usize, pc: now.pc, mask: now.lanes };
    block.found(FaultKind::Race(hazard), at, |mut fault| {
        let origin = block.origin(earlier.pc);
        let thread = earlier.warp * LANES as u32 + earlier.lanes.trailing_zeros();
        fault.related.push(Related {
            note: if earlier.write { "earlier store" } else { "earlier load" }.to_owned(),
            block: block.launch.coordinates(earlier.block),
            thread: thread_index(thread, block.launch.args.block),
            ptx_line: origin.line,
            source: block.source(origin),
        });
        with_access(block, fault, request)
    })
}

pub(in crate::exec) fn fence(block: &mut Block<'_, '_>, issue: Issue, scope: Scope) {
    order(block.launch, scope);
    if let Some(clocks) = &mut block.checks.clocks {
        clocks.fence(issue.warp, issue.active, scope);
    }
}

/// Orders the accesses of this worker, and records it.
pub(in crate::exec) fn order(launch: &Launch<'_>, scope: Scope) {
    std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
    if let Some(touched) = launch.touched.filter(|_| scope == Scope::Device) {
        touched.fence();
    }
}

pub(super) fn with_access(block: &Block<'_, '_>, mut fault: Stop, request: Request) -> Stop {
    let (space, global) = match request.space {
        Some(Space::Shared | Space::SharedCluster) => ("shared", false),
        Some(Space::Local) => ("local", false),
        Some(Space::Param) => ("param", false),
        Some(Space::Const) => ("const", true),
        _ => ("global", true),
    };
    let map = block.launch.map;
    let allocation = match fault.kind {
        _ if !global => None,
        FaultKind::NullPointer => None,
        FaultKind::HostPointer => map.nearest_within_page(request.address),
        FaultKind::TruncatedAddress(whole) => map.nearest(whole),
        _ => map.nearest(request.address),
    };
    fault.access = Some(report::Access {
        space,
        address: request.address,
        size: request.bytes,
        is_write: request.write,
        allocation,
    });
    fault
}
