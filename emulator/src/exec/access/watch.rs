//! Accesses as the checks see them.

use crate::exec::block::{Block, Issue, Lanes, Site, Stop, thread_index};
use crate::exec::check::traces::{Compare, Shadow, Touch, Trace};
use crate::program::memory::Scope;
use crate::report::{FaultKind, Hazard, Related};
use crate::semantics::LANES;

/// Step of a thread at a barrier in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::exec) enum Pass {
    Arrives,
    /// Finds that all have arrived.
    Leaves,
}

/// Memory of an access, as far as races are concerned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::exec) enum Memory {
    /// Of the block of this rank in the cluster.
    Shared(u32),
    Global,
}

/// What is remembered of the shared memory of the block of this rank in the cluster.
fn with_shadow<T>(block: &mut Block<'_, '_>, rank: u32, then: impl FnOnce(&mut Shadow) -> T) -> T {
    match block.cluster.as_ref().and_then(|cluster| cluster.member(rank)) {
        Some(member) => then(&mut member.shadow.borrow_mut()),
        None => then(&mut block.shadow),
    }
}

/// Checks an access to the shared memory of a block of the cluster against what came before it.
pub(in crate::exec) fn watch_shared(
    block: &mut Block<'_, '_>,
    site: Site,
    (rank, start, bytes): (u32, usize, usize),
    touch: Touch,
) -> Result<(), Stop> {
    if block.launch.options.check_init {
        let missed = with_shadow(block, rank, |shadow| {
            let missed = touch.reads() && !shadow.written.all(start, bytes);
            if touch.write {
                shadow.written.mark(start, bytes);
            }
            missed
        });
        if missed {
            return Err(block.fault(FaultKind::UninitializedRead, site));
        }
    }
    watch_race(block, site, (Memory::Shared(rank), start as u64, bytes as u64), touch)
}

/// Checks a read of local memory, or marks the bytes of a write.
pub(in crate::exec) fn watch_local(
    block: &mut Block<'_, '_>,
    site: Site,
    start: usize,
    bytes: usize,
    touch: Touch,
) -> Result<(), Stop> {
    if !block.launch.options.check_init {
        return Ok(());
    }
    let written = &mut block.warps[site.warp].local_written[site.lane];
    if touch.write {
        written.mark(start, bytes);
    } else if !written.all(start, bytes) {
        return Err(block.fault(FaultKind::UninitializedRead, site));
    }
    Ok(())
}

/// Checks an access to shared or global memory against those of other threads.
pub(in crate::exec) fn watch_race(
    block: &mut Block<'_, '_>,
    site: Site,
    (memory, address, bytes): (Memory, u64, u64),
    touch: Touch,
) -> Result<(), Stop> {
    let (Some(clocks), Some(global)) = (&mut block.clocks, &block.launch.global_shadow) else {
        return Ok(());
    };
    let (mut guard, mut of_member) = (None, None);
    let member = |rank| block.cluster.as_ref().and_then(|cluster| cluster.member(rank));
    let accesses = match memory {
        Memory::Shared(rank) => match member(rank) {
            Some(member) => &mut of_member.insert(member.shadow.borrow_mut()).accesses,
            None => &mut block.shadow.accesses,
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
        Some(earlier) => Err(race(block, now, earlier)),
        None => Ok(()),
    }
}

/// A thread passes a barrier that lies here in the shared memory of a block of the cluster.
pub(in crate::exec) fn pass_memory_barrier(
    block: &mut Block<'_, '_>,
    site: Site,
    host: *const u8,
    pass: Pass,
) {
    let Some(clocks) = &mut block.clocks else { return };
    let bytes = block.launch.shared_bytes as usize;
    let mut of_member = None;
    let (offset, scope, publications) = match &block.cluster {
        Some(cluster) => {
            let Some((owner, offset)) = cluster.owner(host, bytes) else { return };
            (offset, Scope::Device, &mut of_member.insert(owner.shadow.borrow_mut()).barriers)
        }
        None => {
            let offset = host.addr().wrapping_sub(block.shared.as_ptr().addr());
            (offset as u64, Scope::Block, &mut block.shadow.barriers)
        }
    };
    match pass {
        Pass::Arrives => clocks.tell(site.warp, site.lane, offset, scope, publications),
        Pass::Leaves => clocks.learn(site.warp, site.lane, offset, publications),
    }
}

#[cold]
fn race(block: &Block<'_, '_>, now: Trace, earlier: Trace) -> Stop {
    let hazard = match (earlier.write, now.write) {
        _ if now.is_read_beside_atomic(&earlier) => Hazard::ReadBesideAtomic,
        (true, false) => Hazard::ReadAfterWrite,
        (false, _) => Hazard::WriteAfterRead,
        (true, true) => Hazard::WriteAfterWrite,
    };
    let mut fault =
        block.fault(FaultKind::Race(hazard), Lanes { warp: now.warp as usize, pc: now.pc, mask: now.lanes });
    let origin = block.origin(earlier.pc);
    let thread = earlier.warp * LANES as u32 + earlier.lanes.trailing_zeros();
    fault.related.push(Related {
        note: if earlier.write { "earlier store" } else { "earlier load" }.to_owned(),
        block: block.launch.coordinates(earlier.block),
        thread: thread_index(thread, block.launch.args.block),
        ptx_line: origin.line,
        source: block.source(origin),
    });
    fault
}

/// Records a fence of these lanes.
pub(in crate::exec) fn fence(block: &mut Block<'_, '_>, issue: Issue, scope: Scope) {
    std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
    if let Some(clocks) = &mut block.clocks {
        clocks.fence(issue.warp, issue.active, scope);
    }
}
