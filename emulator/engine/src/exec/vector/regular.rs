//! Steps that load and store at regular addresses, for a group of warps at once.

use super::Run;
use super::gang::{Files, Member};
use super::initialized::Bytes;
use super::watch::{Target, Watch};
use crate::exec::block::cached::Cached;
use crate::exec::block::scalars::Scalars;
use crate::exec::block::{Block, Stop};
use crate::exec::code::MOST_WARPS;
use crate::exec::code::access::{Access, Window};
use crate::exec::code::growth::{Growth, Operand};
use crate::exec::code::step::{AccessSpace, AccessStep, Guard, ScalarAccess, Step};
use crate::exec::code::transfer::{Spread, Warp};
use crate::semantics::{Width, lanes_of};

impl Run<'_, '_, '_> {
    /// Loads or stores at regular addresses.
    #[inline(always)]
    pub(super) fn scalar_access(
        &mut self,
        step: &Step,
        access: &ScalarAccess,
        writes: bool,
    ) -> Result<(), Stop> {
        if self.files.is_dense && step.guard == Guard::ALWAYS && self.dense_access(access, writes) {
            return Ok(());
        }
        match self.regular_access(step, access, self.files.visited(step.within), writes) {
            0 => Ok(()),
            failed => self.scalar_access_after_miss(step, access, failed, writes),
        }
    }

    /// Runs an access of neighboring warps with all of their lanes. Returns false without an effect
    /// if it leaves the memory found last, is misaligned, or has to be seen by a check. Apart from
    /// its caller, which needs more registers than a processor has.
    #[inline(never)]
    fn dense_access(&mut self, step: &ScalarAccess, writes: bool) -> bool {
        let AccessStep { access, space, cache, run, .. } = &*step.by_row;
        let Some(window) = self.window((*space, *cache), 0, writes) else { return false };
        let Block { launch, checks, vector, caches, .. } = &mut *self.block;
        let cached = &mut caches[*cache as usize];
        let Some(regular) = Regular::of(&vector.scalars, step, window) else { return false };
        if Watch::may_be_needed(launch, checks, cached, *space) {
            return false;
        }
        let mut warps = [Warp::NONE; MOST_WARPS];
        let place = if step.address.width == Width::Double { place_dense::<u64> } else { place_dense::<u32> };
        let firsts = place(&self.files, &regular, &mut warps);
        if !regular.all_fit(&firsts) {
            return false;
        }
        if !writes && *space == AccessSpace::Global {
            let end = firsts.high.wrapping_add_signed(regular.growth.most).wrapping_add(regular.bytes);
            look_ahead(cached, firsts.low, end);
        }
        // SAFETY: each register file contains all rows of the kernel. The bytes of all lanes are in
        // the window, which is live, and writable if they are written.
        unsafe { run(access, &warps[..firsts.count], &regular.spread) };
        true
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

    /// Runs an access of some warps at a regular address. Returns a mask of the warps for which it
    /// is impossible. Apart from its caller, which needs more registers than a processor has.
    #[inline(never)]
    fn regular_access(&mut self, code: &Step, step: &ScalarAccess, wanted: u32, writes: bool) -> u32 {
        let access = &step.by_row.access;
        let window = self.window((step.by_row.space, step.by_row.cache), 0, writes);
        let Some(window) = window else { return wanted };
        let free =
            !writes && (0..access.elements as usize).all(|at| self.is_free(code.guard, access.registers[at]));
        let (files, members) = (&self.files, self.gang.members());
        let Block { launch, cluster, checks, vector, caches, warps: states, .. } = &mut *self.block;
        let Some(regular) = Regular::of(&vector.scalars, step, window) else { return wanted };
        let Regular { growth, spread, bytes, .. } = regular;
        let cached = &caches[step.by_row.cache as usize];
        let state = &mut states[members[0].warp];
        let target = Target::of(&step.by_row, writes);
        let watch = Watch::of((launch, cluster.is_some()), checks, state, cached, target);
        let mut warps = [Warp::NONE; MOST_WARPS];
        let (mut placed, mut refused) = if step.address.width == Width::Double {
            regular.place_each::<true>(files, (code.guard, free), wanted, &mut warps)
        } else {
            regular.place_each::<false>(files, (code.guard, free), wanted, &mut warps)
        };
        if let Some(mut watch) = watch {
            let admitted = regular.admit_each((files, members), code, placed, &mut watch, &mut warps);
            (placed, refused) = (admitted, refused | placed & !admitted);
        }
        let count = placed.count_ones() as usize;
        if count == 0 {
            return refused;
        }
        if !writes && step.by_row.space == AccessSpace::Global {
            let [first, last] = [0, members.len() - 1].map(|warp| regular.first(files, warp));
            let end = last.wrapping_add_signed(growth.most).wrapping_add(bytes);
            look_ahead(&mut caches[step.by_row.cache as usize], first, end);
        }
        // SAFETY: each register file contains all rows of the kernel. The bytes of the lanes in the
        // masks are in the window, which is live, and writable if they are written.
        unsafe { (step.by_row.run)(access, &warps[..count], &spread) };
        refused
    }
}

/// An access of warps whose lanes have regular addresses, to memory that contains some of them.
#[derive(Clone, Copy)]
struct Regular<'a> {
    access: &'a Access,
    /// Bytes of each lane.
    bytes: u64,
    operand: Operand,
    /// A multiple of `bytes` in each lane.
    growth: &'a Growth,
    window: Window,
    spread: Spread<'a>,
}

impl<'a> Regular<'a> {
    /// Returns an access to this memory, which is empty before one has found a region; `None` if it
    /// does not fit there, or if lanes are misaligned.
    #[inline(always)]
    fn of(scalars: &'a Scalars, step: &'a ScalarAccess, window: Window) -> Option<Self> {
        let access = &step.by_row.access;
        let bytes = u64::from(access.bytes * access.elements);
        let growth = &scalars.growths[step.address.shape as usize];
        let halves = scalars.patterns[step.pattern as usize].filter(|_| window.len >= bytes)?;
        let spread = Spread { offsets: &growth.wide, halves };
        Some(Regular { access, bytes, operand: step.address, growth, window, spread })
    }
}

impl Regular<'_> {
    /// Returns the address in the first lane of a warp.
    #[inline(always)]
    fn first(&self, files: &Files, warp: usize) -> u64 {
        first_address(self.access, (self.operand, self.growth), files.first_lane(warp, self.operand))
    }

    #[inline(always)]
    fn is_aligned(&self, address: u64) -> bool {
        address & (self.bytes - 1) == 0
    }

    /// Returns how far an access may move up until a lane leaves the memory, if these are the least
    /// and the greatest distance of its lanes from an address; `None` if one is outside of it here.
    #[inline(always)]
    fn room(&self, address: u64, (least, most): (i64, i64)) -> Option<u64> {
        let room = self.window.len.checked_sub((most - least) as u64 + self.bytes)?;
        room.checked_sub(address.wrapping_add_signed(least).wrapping_sub(self.window.base))
    }

    /// True if all lanes of the warps are in the memory and aligned.
    #[inline(always)]
    fn all_fit(&self, firsts: &Firsts) -> bool {
        let Firsts { low, high, joined, .. } = *firsts;
        self.is_aligned(joined) && self.room(low, self.growth.ends()).is_some_and(|room| high - low <= room)
    }

    /// Sets up the accesses of warps that fit, one after the other. Returns a mask of them, and of
    /// the others that have lanes.
    #[inline(always)]
    fn place_each<const DOUBLE: bool>(
        &self,
        files: &Files,
        (guard, free): (Guard, bool),
        wanted: u32,
        warps: &mut [Warp; MOST_WARPS],
    ) -> (u32, u32) {
        let width = if DOUBLE { Width::Double } else { Width::Single };
        let operand = Operand { width, ..self.operand };
        let (mut placed, mut refused, mut slots) = (0, 0, warps.iter_mut());
        for warp in lanes_of(wanted) {
            let active = files.active(warp, guard);
            if active == 0 {
                continue;
            }
            let register = files.first_lane(warp, operand);
            let first = first_address(self.access, (operand, self.growth), register);
            let (start, mask) = if self.is_aligned(first) && self.room(first, self.growth.ends()).is_some() {
                (first.wrapping_sub(self.window.base), if free { u32::MAX } else { active })
            } else if let Some(start) = self.start_of_lanes(register, active) {
                (start, active)
            } else {
                refused |= 1 << warp;
                continue;
            };
            let at = self.window.host.wrapping_add(start as usize);
            if let Some(slot) = slots.next() {
                *slot = Warp { file: files.rows[warp], at, mask };
                placed |= 1 << warp;
            }
        }
        (placed, refused)
    }

    /// Keeps the accesses of placed warps that the checks admit. Returns a mask of them.
    #[inline(never)]
    fn admit_each(
        &self,
        (files, members): (&Files, &[Member]),
        code: &Step,
        placed: u32,
        watch: &mut Watch<'_>,
        warps: &mut [Warp; MOST_WARPS],
    ) -> u32 {
        let mut admitted: u32 = 0;
        for (slot, warp) in lanes_of(placed).enumerate() {
            let start = warps[slot].at.addr().wrapping_sub(self.window.host.addr()) as u64;
            let active = files.active(warp, code.guard);
            let bytes = Bytes { start, spread: self.spread, active, count: self.bytes };
            if watch.admits(&bytes, (members[warp].warp, code.pc)) {
                warps[admitted.count_ones() as usize] = warps[slot];
                admitted |= 1 << warp;
            }
        }
        admitted
    }

    /// Returns the start of an access of some lanes: the bytes of each lane are at the start plus
    /// its growth. Returns `None` if one of these lanes is outside of the memory or misaligned.
    #[inline(never)]
    fn start_of_lanes(self, register: u64, lanes: u32) -> Option<u64> {
        let Regular { operand, growth, window, .. } = &self;
        let lane = lanes.trailing_zeros() as usize;
        let own = growth.wide[lane];
        let register = of_lane((*operand, growth), register, lane);
        let address = register.wrapping_add(self.access.offset);
        if address.wrapping_sub(window.base) >= window.len || !self.is_aligned(address) || lanes == u32::MAX {
            return None;
        }
        let (least, most) = if growth.is_ascending {
            (0, growth.wide[lanes.ilog2() as usize] - own)
        } else {
            lanes_of(lanes).fold((0, 0), |(least, most): (i64, i64), lane| {
                let distance = growth.wide[lane] - own;
                (least.min(distance), most.max(distance))
            })
        };
        let fits =
            !wraps(register, operand.width, (least, most)) && self.room(address, (least, most)).is_some();
        fits.then(|| address.wrapping_sub(window.base).wrapping_add_signed(-own))
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

/// Sets up an access of neighboring warps with all of their lanes, without a look at its bounds.
#[inline(always)]
fn place_dense<T: Copy + Ord + Into<u64>>(
    files: &Files,
    regular: &Regular<'_>,
    warps: &mut [Warp; MOST_WARPS],
) -> Firsts {
    let Regular { access, operand, growth, window, .. } = regular;
    let start = window.host.wrapping_sub(window.base as usize);
    let mut firsts = Firsts { low: u64::MAX, high: 0, joined: 0, count: files.count };
    let registers = files.first_lanes_from::<T>(*operand);
    for (index, (warp, file)) in warps.iter_mut().zip(files.rows()).enumerate() {
        // SAFETY: the first lanes of neighboring warps are neighbors in the file of first lanes.
        let register: u64 = unsafe { *registers.wrapping_add(index) }.into();
        let first = register.wrapping_add(access.offset);
        firsts.low = firsts.low.min(first);
        firsts.high = firsts.high.max(first);
        firsts.joined |= first;
        *warp = Warp { file: *file, at: start.wrapping_add(first as usize), mask: u32::MAX };
    }
    let ends = [firsts.low, firsts.high].map(|first| first.wrapping_sub(access.offset));
    if ends.into_iter().any(|register| wraps(register, operand.width, growth.ends())) {
        firsts.high = u64::MAX;
    }
    firsts
}

/// Returns the address of an access in the first lane, whose register has this value. If an address
/// of 32 bits wraps around in another lane, returns one that no region contains.
#[inline(always)]
fn first_address(access: &Access, (operand, growth): (Operand, &Growth), register: u64) -> u64 {
    let wraps = wraps(register, operand.width, growth.ends());
    if wraps { u64::MAX } else { register.wrapping_add(access.offset) }
}

/// True if a register of 32 bits wraps around in lanes at these distances.
#[inline(always)]
fn wraps(register: u64, width: Width, (least, most): (i64, i64)) -> bool {
    width != Width::Double && (register as i64 + least < 0 || register as i64 + most > i64::from(u32::MAX))
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
