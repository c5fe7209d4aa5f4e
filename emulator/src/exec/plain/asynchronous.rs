//! Asynchronous copies, done at once, and barriers that live in shared memory.
//!
//! A barrier is one word of 64 bits with a private layout: the number of arrivals of a phase, the number still due,
//! the bytes of transactions still due, and the number of the phase.

use crate::exec::access::watch::{Pass, pass_memory_barrier};
use crate::exec::access::{Place, Request, apply, lane_address, place, read, update};
use crate::exec::block::rows::Rows;
use crate::exec::block::{Block, Issue, Stop};
use crate::program::memory::{AsyncCopy, BulkCopy, MemoryBarrier, MemoryBarrierAction, Order, Scope};
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

/// Copies, or combines, many bytes. Source and destination are split into pieces of 16 bytes; hardware requires
/// whole pieces too.
pub(super) fn bulk_copy(block: &mut Block<'_, '_>, issue: Issue, copy: &BulkCopy) -> Result<(), Stop> {
    const PIECE: u32 = 16;
    let [to_space, from_space] = copy.spaces.map(Some);
    for lane in lanes_of(issue.active) {
        let bytes = block.warps[issue.warp].rows.get(copy.bytes, lane);
        if bytes % PIECE != 0 {
            let text = format!("a bulk copy of {bytes} bytes, which is no multiple of {PIECE}");
            return Err(block.fault(FaultKind::Other(text), issue.at(lane)));
        }
        let (to, from) = (
            lane_address(block, issue.warp, &copy.to, lane),
            lane_address(block, issue.warp, &copy.from, lane),
        );
        for offset in (0..bytes).step_by(PIECE as usize).map(u64::from) {
            let request = Request::read(from_space, from.wrapping_add(offset), PIECE, copy.caches[1]);
            let source = place(block, issue.at(lane), request)?.host;
            let at = to.wrapping_add(offset);
            let Some((operation, ty)) = copy.operation else {
                let request = Request::write(to_space, at, PIECE, copy.caches[0]);
                let target = place(block, issue.at(lane), request)?.host;
                // SAFETY: `place` checked a piece on either side; they may be the same.
                unsafe { std::ptr::copy(source, target, PIECE as usize) };
                continue;
            };
            let order = Order::Strong { scope: Scope::Device, releases: false };
            for element in (0..PIECE).step_by(ty.bytes() as usize) {
                let request = Request::update(to_space, at + u64::from(element), ty.bytes(), copy.caches[0]);
                let place = place(block, issue.at(lane), request.ordered(order))?;
                let source = source.wrapping_add(element as usize);
                // SAFETY: the element lies in the piece of the source that `place` checked.
                let value = unsafe { read(source, ty.bytes(), false) };
                // Unlike the adder of global memory, this one keeps subnormal numbers.
                let change = |old: u64| apply(operation, ty, false, old, value, 0);
                // SAFETY: `place` checked the element of the destination, and that it is aligned.
                unsafe { update(place.host, ty.bytes(), change) };
            }
        }
    }
    Ok(())
}

pub(super) fn memory_barrier(
    block: &mut Block<'_, '_>,
    issue: Issue,
    barrier: &MemoryBarrier,
) -> Result<(), Stop> {
    let space = barrier.shared.then_some(Space::Shared);
    for lane in lanes_of(issue.active) {
        let address = lane_address(block, issue.warp, &barrier.address, lane);
        let request = match barrier.action {
            MemoryBarrierAction::Init { .. } | MemoryBarrierAction::Invalidate => {
                Request::write(space, address, 8, barrier.cache)
            }
            _ => Request::update(space, address, 8, barrier.cache)
                .ordered(Order::Strong { scope: Scope::Block, releases: false }),
        };
        let Place { host, .. } = place(block, issue.at(lane), request)?;
        let word = host.cast::<u64>();
        // SAFETY: `place` checked 8 aligned bytes, in the memory of this block.
        let old = State::unpack(unsafe { word.read() });
        let rows = &mut block.warps[issue.warp].rows;
        let (new, pass) = act(rows, lane, barrier.action, old)
            .map_err(|text| block.fault(FaultKind::Other(text), issue.at(lane)))?;
        // SAFETY: as for the read.
        unsafe { word.write(new.pack()) };
        if let Some(pass) = pass {
            let offset = host.addr() - block.shared.as_ptr().addr();
            pass_memory_barrier(block, issue.at(lane), offset as u64, pass);
        }
    }
    Ok(())
}

/// Action of a lane on a barrier, and whether the lane passes it. `Err` describes a forbidden action.
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
