//! Steps that load and store.

use super::Run;
use super::atomic::Lanes;
use super::gang::Files;
use super::initialized::Bytes;
use super::watch::{Target, Watch};
use crate::exec::access::{find_region, find_window};
use crate::exec::block::cached::Cached;
use crate::exec::block::{Block, Stop};
use crate::exec::code::MOST_WARPS;
use crate::exec::code::access::{Access, Window};
use crate::exec::code::growth::{Growth, Half, Operand};
use crate::exec::code::step::{AccessSpace, AccessStep, Guard, ScalarAccess, Step};
use crate::exec::code::transfer::{Spread, Warp};
use crate::exec::plain;
use crate::exec::touched::Manner;
use crate::program::instruction::Op;
use crate::semantics::{Width, lanes_of};

impl Run<'_, '_, '_> {
    /// Loads or stores at addresses from a vector register.
    #[inline(always)]
    pub(super) fn access(&mut self, step: &Step, access: &AccessStep, writes: bool) -> Result<(), Stop> {
        for warp in 0..self.files.count {
            let active = self.files.active(warp, step.guard);
            if active != 0 && !self.access_fast((access, step.pc), warp, active, writes) {
                self.access_after_miss(step, access, (warp, active), writes)?;
            }
        }
        Ok(())
    }

    /// Runs a warp's access that missed the region found last: on the region or window of its first
    /// lane, or else in the plain mode.
    #[cold]
    fn access_after_miss(
        &mut self,
        step: &Step,
        access: &AccessStep,
        (warp, active): (usize, u32),
        writes: bool,
    ) -> Result<(), Stop> {
        // SAFETY: the register file contains all rows of the kernel.
        let first = unsafe { access.access.place(self.files.rows[warp], active.trailing_zeros() as usize) };
        if self.access_in_window((access, step.pc), (warp, active), first, writes)
            || self.find_region(step, access, first, writes)
                && self.access_fast((access, step.pc), warp, active, writes)
        {
            return Ok(());
        }
        self.step_alone(step, access.prepare, warp)
    }

    /// Runs a warp's access by addresses without a space on the window that contains this one. Returns
    /// false if none does, or it is impossible.
    fn access_in_window(
        &mut self,
        (access, pc): (&AccessStep, u32),
        (warp, active): (usize, u32),
        address: u64,
        writes: bool,
    ) -> bool {
        self.window_around((warp, pc), address, writes)
            .is_some_and(|found| self.access_in((access, pc), found, (warp, active), writes))
    }

    /// Returns the memory that contains an address without a space of an instruction of a warp; `None` if
    /// its addresses have one, or the memory is global or may not be accessed so.
    pub(super) fn window_around(
        &mut self,
        (warp, pc): (usize, u32),
        address: u64,
        writes: bool,
    ) -> Option<(AccessSpace, Window)> {
        let named = match &self.block.instruction(pc).op {
            Op::Load(access) | Op::Store(access) => access.space,
            Op::Atomic(atomic) => atomic.space,
            _ => return None,
        };
        if named.is_some() {
            return None;
        }
        let member = self.gang.members()[warp].warp;
        let (space, found) = find_window(self.block, member, None, address)?;
        let space = AccessSpace::named(Some(space)).filter(|_| found.writable || !writes)?;
        Some((space, Window { base: found.base, len: found.len, host: found.host }))
    }

    /// Makes the region at an address the one that an access found last. Returns false if it is not
    /// in global memory.
    fn find_region(&mut self, step: &Step, access: &AccessStep, address: u64, writes: bool) -> bool {
        let manner = match (access.strong, writes) {
            (false, false) => Manner::Read,
            (false, true) => Manner::Write,
            (true, false) => Manner::StrongRead,
            (true, true) => Manner::StrongWrite,
        };
        access.space == AccessSpace::Global
            && find_region(self.block, (access.cache as usize, step.pc), address, manner)
    }

    /// Loads or stores at regular addresses.
    #[inline(always)]
    pub(super) fn scalar_access(
        &mut self,
        step: &Step,
        access: &ScalarAccess,
        writes: bool,
    ) -> Result<(), Stop> {
        let all = u32::MAX >> (32 - self.files.count);
        match self.regular_access(step, access, all, writes) {
            0 => Ok(()),
            failed => self.scalar_access_after_miss(step, access, failed, writes),
        }
    }

    /// Runs the accesses of warps that missed the region found last: on the region of the first
    /// running lane, or else at addresses from a vector register.
    #[cold]
    fn scalar_access_after_miss(
        &mut self,
        step: &Step,
        access: &ScalarAccess,
        mut failed: u32,
        writes: bool,
    ) -> Result<(), Stop> {
        while failed != 0 {
            let warp = failed.trailing_zeros() as usize;
            let active = self.files.active(warp, step.guard);
            if active == 0 {
                failed &= failed - 1;
                continue;
            }
            let (operand, register) = (access.address, self.files.first_lane(warp, access.address));
            let lane = active.trailing_zeros() as usize;
            let first = of_lane((operand, self.growth(operand)), register, lane);
            let first = first.wrapping_add(access.by_row.access.offset);
            if self.find_region(step, &access.by_row, first, writes) {
                let left = self.regular_access(step, access, failed, writes);
                if left != failed {
                    failed = left;
                    continue;
                }
            }
            failed &= failed - 1;
            self.expand(self.gang.members()[warp].warp, access.address);
            if !self.access_fast((&access.by_row, step.pc), warp, active, writes)
                && !self.access_in_window((&access.by_row, step.pc), (warp, active), first, writes)
            {
                self.step_alone(step, [None; 2], warp)?;
            }
        }
        Ok(())
    }

    /// Delegates one warp's access to the plain mode, after the instructions that must run first.
    #[cold]
    pub(super) fn step_alone(
        &mut self,
        step: &Step,
        prepare: [Option<u32>; 2],
        warp: usize,
    ) -> Result<(), Stop> {
        self.settle(step.pc);
        let member = self.gang.members()[warp];
        // The guard of a step may be the condition of a branch before it.
        let active = self.files.active(warp, step.guard);
        for pc in prepare.into_iter().flatten().chain([step.pc]) {
            plain::step(self.block, member.warp, member.path, pc, active)?;
        }
        Ok(())
    }

    /// Runs an access of some warps at a regular address. Returns a mask of the warps for which it
    /// is impossible.
    #[inline(always)]
    fn regular_access(&mut self, code: &Step, step: &ScalarAccess, wanted: u32, writes: bool) -> u32 {
        let access = &step.by_row.access;
        let Some(window) = self.window((step.by_row.space, step.by_row.cache), 0, writes) else {
            return wanted;
        };
        let free =
            !writes && (0..access.elements as usize).all(|at| self.is_free(code.guard, access.registers[at]));
        let (files, members) = (&self.files, self.gang.members());
        let Block { launch, cluster, checks, vector, caches, warps: states, .. } = &mut *self.block;
        let cached = &caches[step.by_row.cache as usize];
        let state = &mut states[members[0].warp];
        let target = Target::of(&step.by_row, writes);
        let mut watch = Watch::of((launch, cluster.is_some()), checks, state, cached, target);
        let growth = &vector.scalars.growths[step.address.shape as usize];
        let bytes = u64::from(access.bytes * access.elements);
        let Some(halves) = vector.scalars.patterns[step.pattern as usize] else { return wanted };
        let spread = Spread { offsets: &growth.wide, halves };
        // The lowest address must be at most `room` bytes from the start of the window.
        let room = window.len.checked_sub((growth.most - growth.least) as u64 + bytes);
        let first_of =
            |warp| first_address(access, (step.address, growth), files.first_lane(warp, step.address));
        let offset_of = |first: u64| first.wrapping_add_signed(growth.least).wrapping_sub(window.base);
        let mut warps = [Warp { file: std::ptr::null_mut(), at: std::ptr::null_mut(), mask: 0 }; MOST_WARPS];
        let start = window.host.wrapping_sub(window.base as usize);
        let place = if step.address.width == Width::Double { place_all::<true> } else { place_all::<false> };
        let firsts = place((files, wanted), (step, growth), (code.guard, free), start, &mut warps);
        let Firsts { low, high, joined, mut count } = firsts;
        if count == 0 {
            return 0;
        }
        let aligned = |first: u64| first & (bytes - 1) == 0;
        let fits_from = |first: u64| room.and_then(|room| room.checked_sub(offset_of(first)));
        let mut refused = 0;
        // One comparison for all warps, unless a check has to see their accesses.
        let all_fit = aligned(joined) && fits_from(low).is_some_and(|more| high - low <= more);
        if watch.is_some() || !all_fit {
            count = 0;
            for (warp, member) in members.iter().enumerate() {
                let (first, active) = (first_of(warp), files.active(warp, code.guard));
                if active == 0 || wanted >> warp & 1 == 0 {
                    continue;
                }
                let whole = aligned(first) && fits_from(first).is_some();
                let start = if whole {
                    Some(first.wrapping_sub(window.base))
                } else {
                    let register = files.first_lane(warp, step.address);
                    start_of_lanes((access, bytes), (step.address, growth, register), &window, active)
                };
                let place = (member.warp, code.pc);
                let admits = |start: &u64| {
                    let bytes = Bytes { start: *start, spread, active, count: bytes };
                    watch.as_mut().is_none_or(|watch| watch.admits(&bytes, place))
                };
                if let Some(start) = start.filter(admits) {
                    let at = window.host.wrapping_add(start as usize);
                    let mask = if free && whole { u32::MAX } else { active };
                    warps[count] = Warp { file: files.rows[warp], at, mask };
                    count += 1;
                } else {
                    refused |= 1 << warp;
                }
            }
        }
        if !writes && step.by_row.space == AccessSpace::Global {
            let end = first_of(members.len() - 1).wrapping_add_signed(growth.most).wrapping_add(bytes);
            look_ahead(&mut caches[step.by_row.cache as usize], first_of(0), end);
        }
        // SAFETY: each register file contains all rows of the kernel. The bytes of the lanes in the masks
        // are in the window, which is live, and writable if they are written.
        unsafe { (step.by_row.run)(access, &warps[..count], &spread) };
        refused
    }

    /// Returns the memory that an access found last, if it is allowed: in local memory, the first
    /// lane's of a member of the group; elsewhere the same for all members.
    #[inline(always)]
    pub(super) fn window(
        &mut self,
        (space, cache): (AccessSpace, u32),
        member: usize,
        writes: bool,
    ) -> Option<Window> {
        match space {
            AccessSpace::Shared => Some(Window {
                base: self.block.shared_base().into(),
                len: self.block.launch.shared_bytes.into(),
                host: self.block.shared(),
            }),
            AccessSpace::Global => {
                let Cached { base, len, host, writable, .. } = self.block.caches[cache as usize];
                (writable || !writes).then_some(Window { base, len, host })
            }
            AccessSpace::Local => {
                let warp = &mut self.block.warps[self.gang.members()[member].warp];
                let host = warp.local.as_mut_ptr();
                Some(Window { base: 0, len: warp.local_stride.into(), host })
            }
            AccessSpace::Param => {
                let params = self.block.launch.args.params;
                let host = params.as_ptr().cast_mut();
                (!writes).then_some(Window { base: 0, len: params.len() as u64, host })
            }
        }
    }

    /// Runs an access of a warp on the last region. Returns false if the plain mode has to run it.
    #[inline(always)]
    fn access_fast(
        &mut self,
        (step, pc): (&AccessStep, u32),
        warp: usize,
        active: u32,
        writes: bool,
    ) -> bool {
        let window = self.window((step.space, step.cache), warp, writes);
        window.is_some_and(|window| self.access_in((step, pc), (step.space, window), (warp, active), writes))
    }

    /// Runs an access of a warp on memory that it may access so. Returns false if it leaves it, or if a
    /// check does not admit it.
    #[inline(always)]
    fn access_in(
        &mut self,
        (step, pc): (&AccessStep, u32),
        (space, window): (AccessSpace, Window),
        (warp, active): (usize, u32),
        writes: bool,
    ) -> bool {
        let access = &step.access;
        let target = Target { space, ..Target::of(step, writes) };
        let found = self.locate((access, pc), &window, (target, step.cache), (warp, active));
        let Some(halves) = found else { return false };
        let offsets = &self.block.vector.offsets;
        if step.atomic {
            let lanes = Lanes { file: self.files.rows[warp], host: window.host, offsets, active };
            if writes {
                // SAFETY: as below; the offsets are aligned to the size of the access.
                unsafe { lanes.store(access) };
            } else {
                // SAFETY: as above.
                unsafe { lanes.load(access) };
            }
            return true;
        }
        let spread = Spread { offsets, halves };
        let warp = Warp { file: self.files.rows[warp], at: window.host, mask: active };
        // SAFETY: the register file contains all rows of the kernel. The bytes of the active lanes
        // are in the window, which is live, and writable if they are written.
        unsafe { (step.run)(access, &[warp], &spread) };
        true
    }

    /// Sets the block's offsets to the offsets of a warp's active lanes in a window. Returns `None` if a
    /// lane is outside of it or misaligned, or if a check does not admit the access: the plain mode has to
    /// run it.
    #[inline(always)]
    pub(super) fn locate(
        &mut self,
        (access, pc): (&Access, u32),
        window: &Window,
        (target, cache): (Target, u32),
        (warp, active): (usize, u32),
    ) -> Option<[Half; 2]> {
        let is_local = target.space == AccessSpace::Local;
        let locate = if is_local { self.steps.locate_local } else { self.steps.locate };
        let Block { launch, checks, vector, caches, .. } = &mut *self.block;
        // SAFETY: the register file contains all rows of the kernel.
        let halves = unsafe { locate(self.files.rows[warp], access, window, active, &mut vector.offsets) }?;
        let admitted = !Watch::may_be_needed(launch, checks, &caches[cache as usize], target.space)
            || self.admits((access, pc), (target, cache), (warp, active, halves));
        admitted.then_some(halves)
    }

    /// True if the checks admit an access of a warp at the block's offsets.
    #[inline(never)]
    fn admits(
        &mut self,
        (access, pc): (&Access, u32),
        (target, cache): (Target, u32),
        (warp, active, halves): (usize, u32, [Half; 2]),
    ) -> bool {
        let index = self.gang.members()[warp].warp;
        let Block { launch, cluster, checks, vector, caches, warps, .. } = &mut *self.block;
        let (state, cached) = (&mut warps[index], &caches[cache as usize]);
        let watch = Watch::of((launch, cluster.is_some()), checks, state, cached, target);
        let spread = Spread { offsets: &vector.offsets, halves };
        let count = u64::from(access.bytes * access.elements);
        let bytes = Bytes { start: 0, spread, active, count };
        watch.is_none_or(|mut watch| watch.admits(&bytes, (index, pc)))
    }
}

/// The addresses of an access in the first lanes of some warps.
struct Firsts {
    low: u64,
    high: u64,
    /// All bits that some address has.
    joined: u64,
    /// Number of warps.
    count: usize,
}

/// Sets up the access of the wanted warps of a group with lanes that take part, without a look at its
/// bounds. Memory begins at `start`. Apart from its caller, which needs more registers than a processor
/// has.
#[inline(never)]
fn place_all<const DOUBLE: bool>(
    (files, wanted): (&Files, u32),
    (step, growth): (&ScalarAccess, &Growth),
    (guard, free): (Guard, bool),
    start: *mut u8,
    warps: &mut [Warp; MOST_WARPS],
) -> Firsts {
    let width = if DOUBLE { Width::Double } else { Width::Single };
    let operand = Operand { width, ..step.address };
    let mut firsts = Firsts { low: u64::MAX, high: 0, joined: 0, count: 0 };
    for (index, file) in files.rows().iter().enumerate() {
        let active = files.active(index, guard);
        if active == 0 || wanted >> index & 1 == 0 {
            continue;
        }
        let first = first_address(&step.by_row.access, (operand, growth), files.first_lane(index, operand));
        firsts.low = firsts.low.min(first);
        firsts.high = firsts.high.max(first);
        firsts.joined |= first;
        let mask = if free { u32::MAX } else { active };
        warps[firsts.count] = Warp { file: *file, at: start.wrapping_add(first as usize), mask };
        firsts.count += 1;
    }
    firsts
}

/// Returns the address of an access in the first lane, whose register has this value. If an address
/// of 32 bits wraps around in another lane, returns one that no region contains.
#[inline(always)]
fn first_address(access: &Access, (operand, growth): (Operand, &Growth), first: u64) -> u64 {
    let wraps = operand.width != Width::Double
        && (first as i64 + growth.least < 0 || first as i64 + growth.most > i64::from(u32::MAX));
    if wraps { u64::MAX } else { first.wrapping_add(access.offset) }
}

/// Returns the start of an access of some lanes in a window: the bytes of each lane are at the start plus
/// its growth. Returns `None` if one of these lanes is outside of it or misaligned. The growth of all
/// lanes is aligned.
#[inline(never)]
fn start_of_lanes(
    (access, bytes): (&Access, u64),
    (operand, growth, register): (Operand, &Growth, u64),
    window: &Window,
    lanes: u32,
) -> Option<u64> {
    let lane = lanes.trailing_zeros() as usize;
    let own = growth.wide[lane];
    let (least, most) = lanes_of(lanes).fold((0, 0), |(least, most): (i64, i64), lane| {
        let distance = growth.wide[lane] - own;
        (least.min(distance), most.max(distance))
    });
    let register = of_lane((operand, growth), register, lane);
    let narrow = operand.width != Width::Double;
    if narrow && (register as i64 + least < 0 || register as i64 + most > i64::from(u32::MAX)) {
        return None;
    }
    let address = register.wrapping_add(access.offset);
    let lowest = address.wrapping_add_signed(least).wrapping_sub(window.base);
    let room = window.len.checked_sub((most - least) as u64 + bytes)?;
    let fits = lowest <= room && address & (bytes - 1) == 0;
    fits.then(|| address.wrapping_sub(window.base).wrapping_add_signed(-own))
}

/// Returns the value of a register in a lane of a warp, from its value in the first lane.
fn of_lane((operand, growth): (Operand, &Growth), first: u64, lane: usize) -> u64 {
    match operand.width {
        Width::Double => first.wrapping_add_signed(growth.wide[lane]),
        _ => (first as u32).wrapping_add(growth.narrow[lane]).into(),
    }
}

/// Maximum bytes to prefetch: the size of one access of a group of warps to neighboring addresses.
const MOST_AHEAD: u64 = 2048;
const LINE: usize = 64;

/// Prefetches for the next run of a load, if it advances by the same distance again. The distance
/// is often too long for the processor to predict, and the whole group would wait.
#[inline(always)]
fn look_ahead(cached: &mut Cached, first: u64, end: u64) {
    let stride = first.wrapping_sub(cached.last);
    let steady = stride == cached.stride;
    (cached.last, cached.stride) = (first, stride);
    let bytes = end.wrapping_sub(first);
    if steady && stride != 0 && bytes <= MOST_AHEAD {
        let next = first.wrapping_add(stride).wrapping_sub(cached.base) as usize;
        for line in (0..bytes as usize).step_by(LINE) {
            prefetch(cached.host.wrapping_add(next).wrapping_add(line));
        }
    }
}

/// Prefetches memory into the cache. Any address is allowed.
#[inline(always)]
fn prefetch(at: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint, which has no effect at unreadable addresses.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}
