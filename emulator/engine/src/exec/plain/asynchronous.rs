//! Asynchronous copies, performed immediately, and barriers in shared memory.
//!
//! A barrier is a 64-bit word with a private layout: the number of arrivals per phase, the number
//! of pending arrivals, the pending bytes of transactions, and the number of the phase.

use super::Flow;
use super::control::pause;
use crate::exec::access::watch::{Pass, pass_memory_barrier};
use crate::exec::access::{Place, Request, lane_address, place};
use crate::exec::block::rows::Rows;
use crate::exec::block::{Block, Issue, Site, Stop};
use crate::program::instruction::Condition;
use crate::program::memory::{AsyncCopy, MemoryBarrier, MemoryBarrierAction, Order, Scope};
use crate::ptx::Space;
use crate::report::FaultKind;
use crate::semantics::barrier::{COUNT, State};
use crate::semantics::{Width, lanes_of};

pub(super) fn async_copy(block: &mut Block<'_, '_>, issue: Issue, copy: &AsyncCopy) -> Result<(), Stop> {
    let ignored = block.warps[issue.warp].rows.holds(copy.ignored);
    for lane in lanes_of(issue.active) {
        let wanted = copy.source_bytes.map_or(copy.bytes, |row| block.warps[issue.warp].rows.get(row, lane));
        let wanted = if ignored >> lane & 1 != 0 { 0 } else { wanted.min(copy.bytes) };
        let mut bytes = [0u8; 16];
        if wanted > 0 {
            let from = lane_address(block, issue.warp, &copy.from, lane);
            let request = Request::read(Some(Space::Global), from, copy.bytes, copy.caches[1]);
            let Place { host, .. } = place(block, issue.at(lane), request)?;
            // SAFETY: `place` checked the bytes of the source; no copy has more than 16.
            unsafe { std::ptr::copy_nonoverlapping(host, bytes.as_mut_ptr(), wanted as usize) };
        }
        let to = lane_address(block, issue.warp, &copy.to, lane);
        let request = Request::write(Some(Space::Shared), to, copy.bytes, copy.caches[0]);
        let Place { host, .. } = place(block, issue.at(lane), request)?;
        // SAFETY: `place` checked the bytes of the destination.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), host, copy.bytes as usize) };
    }
    Ok(())
}

/// A test that fails in all lanes lets other warps run, because programs make it in loops.
pub(super) fn memory_barrier(
    block: &mut Block<'_, '_>,
    issue: Issue,
    barrier: &MemoryBarrier,
) -> Result<Flow, Stop> {
    for lane in lanes_of(issue.active) {
        let address = lane_address(block, issue.warp, &barrier.address, lane);
        use_memory_barrier(block, issue.at(lane), barrier, address)?;
    }
    if let MemoryBarrierAction::Test { out, .. } = barrier.action {
        let out = Condition { predicate: out, negated: false };
        if block.warps[issue.warp].rows.holds(out) & issue.active == 0 {
            return Ok(pause(block, issue));
        }
    }
    Ok(Flow::Next)
}

fn use_memory_barrier(
    block: &mut Block<'_, '_>,
    site: Site,
    barrier: &MemoryBarrier,
    address: u64,
) -> Result<(), Stop> {
    let space = barrier.space;
    let scope = if block.cluster.is_some() { Scope::Device } else { Scope::Block };
    let request = match barrier.action {
        MemoryBarrierAction::Init { .. } | MemoryBarrierAction::Invalidate => {
            Request::write(space, address, 8, barrier.cache)
        }
        _ => Request::update(space, address, 8, barrier.cache)
            .ordered(Order::Strong { scope, releases: false }),
    };
    let Place { host, .. } = place(block, site, request)?;
    let word = host.cast::<u64>();
    // SAFETY: `place` checked 8 aligned bytes. If they are shared memory, one host thread runs all
    // blocks that access them.
    let old = State::unpack(unsafe { word.read() });
    let rows = &mut block.warps[site.warp].rows;
    let (new, pass) = act(rows, site.lane, barrier.action, old)
        .map_err(|text| block.fault(FaultKind::Other(text), site))?;
    // SAFETY: as for the read.
    unsafe { word.write(new.pack()) };
    if let Some(pass) = pass {
        pass_memory_barrier(block, site, host, pass);
    }
    Ok(())
}

/// Signals a barrier that bytes have arrived.
pub(super) fn complete(
    block: &mut Block<'_, '_>,
    site: Site,
    (space, address, cache): (Space, u64, u32),
    bytes: u32,
) -> Result<(), Stop> {
    let scope = if block.cluster.is_some() { Scope::Device } else { Scope::Block };
    let request = Request::update(Some(space), address, 8, cache);
    let Place { host, .. } = place(block, site, request.ordered(Order::Strong { scope, releases: false }))?;
    let word = host.cast::<u64>();
    // SAFETY: `place` checked 8 aligned bytes of shared memory, used by one thread.
    let mut state = State::unpack(unsafe { word.read() });
    state.transactions -= i64::from(bytes);
    // SAFETY: as for the read.
    unsafe { word.write(state.settled().pack()) };
    pass_memory_barrier(block, site, host, Pass::Arrives);
    Ok(())
}

/// Applies a lane's action to a barrier. Returns the new state, and whether the lane passes. `Err`
/// describes a forbidden action.
fn act(
    rows: &mut Rows,
    lane: usize,
    action: MemoryBarrierAction,
    old: State,
) -> Result<(State, Option<Pass>), String> {
    let mut new = old;
    let mut pass = None;
    match action {
        MemoryBarrierAction::Init { count } => {
            let count = u64::from(rows.get(count, lane));
            if count == 0 || count > COUNT {
                return Err(format!(
                    "a barrier in memory for {count} arrivals, where 1 to {COUNT} are possible"
                ));
            }
            new = State { expected: count, pending: count, transactions: 0, phase: 0 };
        }
        MemoryBarrierAction::Invalidate => {}
        MemoryBarrierAction::Arrive { out, count, transactions, drop } => {
            let count = count.map_or(1, |row| u64::from(rows.get(row, lane)));
            let bytes = transactions.map_or(0, |row| i64::from(rows.get(row, lane)));
            if count > old.pending {
                return Err("more arrivals at a barrier in memory than it expects".to_owned());
            }
            new.expected -= if drop { count } else { 0 };
            new.pending -= count;
            new.transactions += bytes;
            new = new.settled();
            pass = Some(Pass::Arrives);
            if let Some(out) = out {
                rows.set_wide(out, Width::Double, lane, old.pack());
            }
        }
        MemoryBarrierAction::Transactions { bytes, complete } => {
            let bytes = i64::from(rows.get(bytes, lane));
            new.transactions += if complete { -bytes } else { bytes };
            if complete {
                new = new.settled();
                pass = Some(Pass::Arrives);
            }
        }
        MemoryBarrierAction::Test { out, phase, parity } => {
            let over = if parity {
                old.phase & 1 != u64::from(rows.get(phase, lane)) & 1
            } else {
                old.phase != State::unpack(rows.get_wide(phase, Width::Double, lane)).phase
            };
            rows.set_predicate(out, 1 << lane, if over { u32::MAX } else { 0 });
            pass = over.then_some(Pass::Leaves);
        }
    }
    Ok((new, pass))
}
