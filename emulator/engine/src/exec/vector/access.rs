//! Steps that load and store.

use super::Run;
use crate::exec::block::Stop;
use crate::exec::block::cached::Cached;
use crate::exec::code::access::{Access, Window};
use crate::exec::code::growth::Half;
use crate::exec::code::step::{AccessSpace, AccessStep, Guard, ScalarAccess, Step};
use crate::exec::code::transfer::{Spread, Warp};
use crate::exec::code::{HALF, MOST_WARPS};
use crate::exec::plain;
use crate::exec::touched::{Manner, Noting};
use crate::semantics::{Width, lanes_of};

impl<'l> Run<'_, 'l, '_> {
    /// Loads or stores at addresses from a vector register.
    #[inline(always)]
    pub(super) fn access(&mut self, step: &Step, access: &AccessStep, writes: bool) -> Result<(), Stop> {
        for warp in 0..self.files.count {
            let active = self.files.active(warp, step.guard);
            if active != 0 && !self.access_fast(access, warp, active, writes) {
                self.step_alone(step, access.prepare, warp)?;
            }
        }
        Ok(())
    }

    /// Loads or stores at regular addresses.
    #[inline(always)]
    pub(super) fn scalar_access(
        &mut self,
        step: &Step,
        access: &ScalarAccess,
        writes: bool,
    ) -> Result<(), Stop> {
        let mut failed = self.regular_access(access, step.guard, writes);
        while failed != 0 {
            let warp = failed.trailing_zeros() as usize;
            failed &= failed - 1;
            let active = self.files.active(warp, step.guard);
            self.expand(self.gang.members()[warp].warp, access.address);
            if !self.access_fast(&access.by_row, warp, active, writes) {
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
        for pc in prepare.into_iter().flatten().chain([step.pc]) {
            plain::step(self.block, member.warp, member.path, pc, member.mask)?;
        }
        Ok(())
    }

    /// Runs an access at a regular address. Returns a mask of the warps for which it is impossible.
    #[inline(always)]
    fn regular_access(&mut self, step: &ScalarAccess, guard: Guard, writes: bool) -> u32 {
        let access = &step.by_row.access;
        let Some(window) = self.window((step.by_row.space, step.by_row.cache), 0, writes) else {
            return u32::MAX >> (32 - self.files.count);
        };
        let files = &self.files;
        let growth = &self.block.vector.scalars.growths[step.address.shape as usize];
        let bytes = u64::from(access.bytes * access.elements);
        let halves = self.block.vector.scalars.patterns[step.pattern as usize];
        // The lowest address must be at most `room` bytes from the start of the window.
        let span = (growth.most - growth.least) as u64 + bytes;
        let room = window.len.checked_sub(span).filter(|_| halves.is_some());
        let free =
            !writes && (0..access.elements as usize).all(|at| self.is_free(guard, access.registers[at]));
        let mut noted = self.noted(&step.by_row, writes);
        let mut warps = [Warp { file: std::ptr::null_mut(), at: std::ptr::null_mut(), mask: 0 }; MOST_WARPS];
        let (mut count, mut refused) = (0, 0);
        let mut firsts = (0, 0);
        for warp in 0..files.count {
            let active = files.active(warp, guard);
            let first = files.first_lane(warp, step.address);
            let wraps = step.address.width != Width::Double
                && (first as i64 + growth.least < 0 || first as i64 + growth.most > i64::from(u32::MAX));
            // No region contains this address.
            let first = if wraps { u64::MAX } else { first.wrapping_add(access.offset) };
            firsts = (if warp == 0 { first } else { firsts.0 }, first);
            if active == 0 {
                continue;
            }
            let offset = first.wrapping_add_signed(growth.least).wrapping_sub(window.base);
            if room.is_some_and(|room| offset <= room) && first & (bytes - 1) == 0 {
                let at = window.host.wrapping_add(first.wrapping_sub(window.base) as usize);
                let mask = if free { u32::MAX } else { active };
                warps[count] = Warp { file: files.rows[warp], at, mask };
                count += 1;
                if let (Some(noting), Some(halves)) = (&mut noted, halves) {
                    let spread = Spread { offsets: &growth.wide, halves };
                    note(noting, first.wrapping_sub(window.base), &spread, active, bytes);
                }
            } else {
                refused |= 1 << warp;
            }
        }
        drop(noted);
        if !writes && step.by_row.space == AccessSpace::Global {
            let end = firsts.1.wrapping_add_signed(growth.most).wrapping_add(bytes);
            look_ahead(&mut self.block.caches[step.by_row.cache as usize], firsts.0, end);
        }
        let Some(halves) = halves else { return refused };
        let spread = Spread { offsets: &growth.wide, halves };
        // SAFETY: each register file contains all rows of the kernel. The bytes of all lanes are in
        // the window, which is live, and writable if they are written.
        unsafe { (step.by_row.run)(access, &warps[..count], &spread) };
        refused
    }

    /// Returns the memory that an access found last, if it is allowed: in local memory, the first
    /// lane's of a member of the group; elsewhere the same for all members.
    #[inline(always)]
    fn window(&mut self, (space, cache): (AccessSpace, u32), member: usize, writes: bool) -> Option<Window> {
        match space {
            AccessSpace::Shared => Some(Window {
                base: self.block.shared_base().into(),
                len: self.block.launch.shared_bytes.into(),
                host: self.block.shared(),
            }),
            AccessSpace::Global => {
                let Cached { base, len, host, writable, tracked, .. } = self.block.caches[cache as usize];
                (!tracked && (writable || !writes)).then_some(Window { base, len, host })
            }
            AccessSpace::Local => {
                let warp = &mut self.block.warps[self.gang.members()[member].warp];
                let host = warp.local.as_mut_ptr();
                Some(Window { base: 0, len: warp.local_stride.into(), host })
            }
        }
    }

    /// Returns the record for the bytes of an access, if accesses are recorded.
    #[inline(always)]
    fn noted<'n>(&self, step: &AccessStep, writes: bool) -> Option<Noting<'n>>
    where
        'l: 'n,
    {
        if step.space != AccessSpace::Global {
            return None;
        }
        let marks = self.block.caches[step.cache as usize].marks(self.block.launch)?;
        Some(Noting::new(marks, if writes { Manner::Write } else { Manner::Read }))
    }

    /// Runs an access of a warp on the last region. Returns false if the plain mode has to run it.
    #[inline(always)]
    fn access_fast(&mut self, step: &AccessStep, warp: usize, active: u32, writes: bool) -> bool {
        let access = &step.access;
        let mut noted = self.noted(step, writes);
        let found = self.locate(access, (step.space, step.cache), (warp, active), writes);
        let Some((window, halves)) = found else { return false };
        let spread = Spread { offsets: &self.block.vector.offsets, halves };
        if let Some(noting) = &mut noted {
            note(noting, 0, &spread, active, u64::from(access.bytes * access.elements));
        }
        let warp = Warp { file: self.files.rows[warp], at: window.host, mask: active };
        // SAFETY: the register file contains all rows of the kernel. The bytes of the active lanes
        // are in the window, which is live, and writable if they are written.
        unsafe { (step.run)(access, &[warp], &spread) };
        true
    }

    /// Sets the block's offsets to the offsets of a warp's active lanes in the returned window,
    /// which is memory of this block or a live region, and writable if `writes`. Returns `None` if
    /// a lane is outside of it or misaligned.
    #[inline(always)]
    pub(super) fn locate(
        &mut self,
        access: &Access,
        memory: (AccessSpace, u32),
        (warp, active): (usize, u32),
        writes: bool,
    ) -> Option<(Window, [Half; 2])> {
        let window = self.window(memory, warp, writes)?;
        let locate = if memory.0 == AccessSpace::Local { self.steps.locate_local } else { self.steps.locate };
        // SAFETY: the register file contains all rows of the kernel.
        let halves =
            unsafe { locate(self.files.rows[warp], access, &window, active, &mut self.block.vector.offsets) };
        Some((window, halves?))
    }
}

/// Records the bytes of a warp's active lanes, relative to the offset `start` in the region.
#[inline(never)]
fn note(noting: &mut Noting<'_>, start: u64, spread: &Spread<'_>, active: u32, bytes: u64) {
    for (half, kind) in spread.halves.into_iter().enumerate() {
        let lanes = active >> (half * HALF) & 0xffff;
        let place = |lane: usize| start.wrapping_add_signed(spread.offsets[half * HALF + lane]);
        match kind {
            Half::Same if lanes != 0 => noting.add(place(0), bytes),
            Half::Next if lanes == 0xffff => noting.add(place(0), bytes * HALF as u64),
            _ => lanes_of(lanes).for_each(|lane| noting.add(place(lane), bytes)),
        }
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
