//! The check for races, for whole warps.

use super::initialized::Bytes;
use crate::exec::check::clocks::Clocks;
use crate::exec::check::shadow::{Accesses, GlobalShadow, Group};
use crate::exec::check::traces::{Compare, Trace};
use crate::exec::code::HALF;
use crate::exec::code::growth::Half;
use crate::program::memory::Order;
use crate::semantics::lanes_of;

/// Memory whose accesses are compared.
pub(super) enum Memory<'r> {
    Shared(&'r mut Accesses),
    Global(&'r GlobalShadow),
    /// The plain mode compares the accesses.
    Other,
}

/// The check for an access of warps to shared or global memory.
pub(super) struct Races<'r> {
    pub(super) clocks: &'r Clocks,
    pub(super) memory: Memory<'r>,
    /// Added to the offsets of the bytes: the address of the region, or 0 in shared memory.
    pub(super) base: u64,
    pub(super) how: Compare,
}

impl Races<'_> {
    /// Records the access of a warp if it certainly races with no other. Otherwise returns false;
    /// the plain mode then repeats it, and decides.
    #[inline(never)]
    pub(super) fn admits(&mut self, bytes: &Bytes<'_>, (warp, pc): (usize, u32), write: bool) -> bool {
        let mut guard = None;
        let accesses = match &mut self.memory {
            Memory::Shared(accesses) => &mut **accesses,
            Memory::Global(global) => &mut **guard.insert(global.lock()),
            Memory::Other => return false,
        };
        let Some(past) = self.clocks.common_past(warp, bytes.active) else { return false };
        let now = Trace {
            block: self.clocks.block(),
            warp: warp as u32,
            lanes: 0,
            moment: self.clocks.moment(warp),
            pc,
            bytes: 0,
            write,
            order: Order::Weak,
            atomic: false,
        };
        let start = self.base.wrapping_add(bytes.start);
        let clean = groups(start, bytes, &mut |group| {
            // Writes of different lanes to the same bytes race unless they write the same value.
            let alone = !write || group.apart || group.lanes.is_power_of_two();
            alone && accesses.touch_group(group, now, past, self.how)
        });
        if clean && write && !accesses.publications.is_empty() {
            // A weak write replaces knowledge published there.
            for lane in lanes_of(bytes.active) {
                accesses.publications.remove(&start.wrapping_add_signed(bytes.spread.offsets[lane]));
            }
        }
        clean
    }
}

/// Calls `visit` for lanes that access the same bytes or neighbors, until it returns false. `start`
/// is added to their offsets.
fn groups(start: u64, bytes: &Bytes<'_>, visit: &mut dyn FnMut(Group) -> bool) -> bool {
    let Bytes { spread, active, count, .. } = *bytes;
    let address = |lane: usize| start.wrapping_add_signed(spread.offsets[lane]);
    let group = |lane, lanes, apart| Group { address: address(lane), lanes, bytes: count, apart };
    let neighbors = address(HALF) == address(0).wrapping_add(count * HALF as u64);
    match spread.halves {
        [Half::Same, Half::Same] if active == u32::MAX && address(0) == address(HALF) => {
            return visit(group(0, active, false));
        }
        [Half::Next, Half::Next] if active == u32::MAX && neighbors => return visit(group(0, active, true)),
        _ => {}
    }
    spread.halves.into_iter().enumerate().all(|(half, kind)| {
        let (first, lanes) = (half * HALF, active & 0xffff << (half * HALF));
        match kind {
            Half::Same if lanes != 0 => visit(group(first, lanes, false)),
            Half::Next if lanes.count_ones() == HALF as u32 => visit(group(first, lanes, true)),
            _ => lanes_of(lanes).all(|lane| visit(group(lane, 1 << lane, false))),
        }
    })
}
