//! The check for races, for whole warps.

use super::initialized::Bytes;
use crate::exec::check::clocks::Clocks;
use crate::exec::check::shadow::{Accesses, GlobalShadow, Group};
use crate::exec::check::traces::{Compare, Touch, Trace};
use crate::exec::code::HALF;
use crate::exec::code::growth::Half;
use crate::program::memory::Order;
use crate::semantics::lanes_of;
use std::sync::MutexGuard;

/// Memory whose accesses are compared.
pub(super) enum Memory<'r> {
    Shared(&'r mut Accesses),
    Global(&'r GlobalShadow),
    /// The plain mode compares the accesses.
    Other,
}

impl<'r> Memory<'r> {
    /// Returns the record of accesses, which the guard may keep locked.
    fn accesses<'a>(
        &'a mut self,
        guard: &'a mut Option<MutexGuard<'r, Accesses>>,
    ) -> Option<&'a mut Accesses> {
        match self {
            Memory::Shared(accesses) => Some(accesses),
            Memory::Global(global) => Some(guard.insert(global.lock())),
            Memory::Other => None,
        }
    }
}

/// The check for an access of warps to shared or global memory.
pub(super) struct Races<'r> {
    pub(super) clocks: &'r mut Clocks,
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
        let Some(accesses) = self.memory.accesses(&mut guard) else { return false };
        let Some(past) = self.clocks.common_past(warp, bytes.active) else { return false };
        let touch = Touch { write, order: Order::Weak, update: false, atomic: false, same: false };
        let now = trace(self.clocks, (warp, pc), touch);
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

    /// Records the strong accesses of a warp's lanes in order, like the plain mode, until one may
    /// race with another. Returns the lanes before it.
    #[inline(never)]
    pub(super) fn admitted(&mut self, bytes: &Bytes<'_>, at: (usize, u32), touch: Touch) -> u32 {
        let Races { clocks, memory, base, how } = self;
        let mut guard = None;
        let Some(accesses) = memory.accesses(&mut guard) else { return 0 };
        let start = base.wrapping_add(bytes.start);
        let address = |lane: usize| start.wrapping_add_signed(bytes.spread.offsets[lane]);
        let releases = matches!(touch.order, Order::Strong { releases: true, .. });
        let silent = accesses.publications.is_empty()
            && !releases
            && clocks.are_alike_without_fence(at.0, bytes.active);
        if silent {
            return admitted_in_silence((clocks, accesses), (bytes, address), at, touch, *how);
        }
        let mut admitted = 0;
        for lane in lanes_of(bytes.active) {
            let place = address(lane);
            if touch.reads() {
                clocks.learn(at.0, lane, place, &accesses.publications);
            }
            let now = Trace { lanes: 1 << lane, ..trace(clocks, at, touch) };
            if !accesses.touch_lane(place, bytes.count, &now, clocks.past(at.0, lane), *how) {
                break;
            }
            if touch.write {
                let Accesses { publications, .. } = accesses;
                clocks.publish(at.0, lane, place, touch.order, touch.update, publications);
            }
            admitted |= 1 << lane;
        }
        admitted
    }
}

/// Records strong accesses as [`Races::admitted`], of lanes that share a past and neither learn nor
/// publish anything.
fn admitted_in_silence(
    (clocks, accesses): (&Clocks, &mut Accesses),
    (bytes, address): (&Bytes<'_>, impl Fn(usize) -> u64),
    (warp, pc): (usize, u32),
    touch: Touch,
    how: Compare,
) -> u32 {
    let past = clocks.past(warp, bytes.active.trailing_zeros() as usize);
    let now = trace(clocks, (warp, pc), touch);
    let mut left = bytes.active;
    while left != 0 {
        let lane = left.trailing_zeros() as usize;
        let (place, mut lanes) = (address(lane), 1u32 << lane);
        if touch.write && touch.order.is_strong() {
            // Strong writes of a warp to the same bytes do not race with each other, and the record
            // keeps the last of them.
            let rest = left & !lanes;
            let same = lanes_of(rest).take_while(|other| address(*other) == place);
            lanes = same.fold(lanes, |lanes, other| lanes | 1 << other);
        }
        if !accesses.touch_lanes(place, bytes.count, (&now, lanes), past, how) {
            break;
        }
        left &= !lanes;
    }
    bytes.active & !left
}

/// Returns the access of a warp now, of no lane.
fn trace(clocks: &Clocks, (warp, pc): (usize, u32), touch: Touch) -> Trace {
    let Touch { write, order, atomic, .. } = touch;
    let (block, moment) = (clocks.block(), clocks.moment(warp));
    Trace { block, warp: warp as u32, lanes: 0, moment, pc, bytes: 0, write, order, atomic }
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
