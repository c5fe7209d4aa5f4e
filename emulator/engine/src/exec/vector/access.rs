//! Steps that load and store.

use super::Run;
use super::atomic::Lanes;
use super::initialized::Bytes;
use super::watch::{Target, Watch};
use crate::exec::access::{find_region, find_window};
use crate::exec::block::cached::Cached;
use crate::exec::block::{Block, Stop};
use crate::exec::code::access::{Access, Window};
use crate::exec::code::few;
use crate::exec::code::growth::Half;
use crate::exec::code::step::{AccessSpace, AccessStep, Step};
use crate::exec::code::transfer::{Spread, Warp};
use crate::exec::plain;
use crate::exec::touched::Manner;
use crate::program::instruction::Op;

impl Run<'_, '_, '_> {
    /// Loads or stores at addresses from a vector register. Apart from its caller, which needs more
    /// registers than a processor has.
    #[inline(never)]
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

    /// Runs a warp's access by addresses without a space on the window that contains this one.
    /// Returns false if none does, or it is impossible.
    pub(super) fn access_in_window(
        &mut self,
        (access, pc): (&AccessStep, u32),
        (warp, active): (usize, u32),
        address: u64,
        writes: bool,
    ) -> bool {
        self.window_around((warp, pc), address, writes)
            .is_some_and(|found| self.access_in((access, pc), found, (warp, active), writes))
    }

    /// Returns the memory that contains an address without a space of an instruction of a warp;
    /// `None` if its addresses have one, or the memory is global or may not be accessed so.
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
    pub(super) fn find_region(
        &mut self,
        step: &Step,
        access: &AccessStep,
        address: u64,
        writes: bool,
    ) -> bool {
        let manner = match (access.strong, writes) {
            (false, false) => Manner::Read,
            (false, true) => Manner::Write,
            (true, false) => Manner::StrongRead,
            (true, true) => Manner::StrongWrite,
        };
        access.space == AccessSpace::Global
            && find_region(self.block, (access.cache as usize, step.pc), address, manner)
    }

    /// Delegates one warp's access to the plain mode, after the instructions that must run first.
    #[cold]
    pub(super) fn step_alone(
        &mut self,
        step: &Step,
        prepare: [Option<u32>; 2],
        warp: usize,
    ) -> Result<(), Stop> {
        // The guard of a step may be the condition of a branch before it.
        self.step_lanes(step, prepare, (warp, self.files.active(warp, step.guard)))
    }

    /// Delegates some lanes of a warp to the plain mode.
    #[cold]
    pub(super) fn step_lanes(
        &mut self,
        step: &Step,
        prepare: [Option<u32>; 2],
        (warp, active): (usize, u32),
    ) -> Result<(), Stop> {
        self.settle(step.pc);
        let member = self.gang.members()[warp];
        for pc in prepare.into_iter().flatten().chain([step.pc]) {
            plain::step(self.block, member.warp, member.path, pc, active)?;
        }
        Ok(())
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
    pub(super) fn access_fast(
        &mut self,
        (step, pc): (&AccessStep, u32),
        warp: usize,
        active: u32,
        writes: bool,
    ) -> bool {
        let window = self.window((step.space, step.cache), warp, writes);
        window.is_some_and(|window| self.access_in((step, pc), (step.space, window), (warp, active), writes))
    }

    /// Runs an access of a warp on memory that it may access so. Returns false if it leaves it, or
    /// if a check does not admit it.
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
        let few = active.count_ones() as usize <= few::MOST && space != AccessSpace::Local;
        if few && !step.atomic && !self.is_watched((target, step.cache)) {
            // SAFETY: the register file contains all rows of the kernel. The window is live, and
            // writable if it is written.
            return unsafe { few::run(access, &window, (self.files.rows[warp], active), writes) };
        }
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

    /// Sets the block's offsets to the offsets of a warp's active lanes in a window. Returns `None`
    /// if a lane is outside of it or misaligned, or if a check does not admit the access: the plain
    /// mode has to run it.
    #[inline(always)]
    fn locate(
        &mut self,
        (access, pc): (&Access, u32),
        window: &Window,
        (target, cache): (Target, u32),
        (warp, active): (usize, u32),
    ) -> Option<[Half; 2]> {
        let halves = self.offsets(access, window, target, (warp, active))?;
        let admitted = !self.is_watched((target, cache))
            || self.watched((access, target, cache), (warp, active, halves), true, |watch, bytes, member| {
                watch.admits(bytes, (member, pc))
            });
        admitted.then_some(halves)
    }

    /// Sets the block's offsets to the offsets of a warp's active lanes in a window. Returns `None`
    /// if a lane is outside of it or misaligned.
    #[inline(always)]
    pub(super) fn offsets(
        &mut self,
        access: &Access,
        window: &Window,
        target: Target,
        (warp, active): (usize, u32),
    ) -> Option<[Half; 2]> {
        let is_local = target.space == AccessSpace::Local;
        let locate = if is_local { self.steps.locate_local } else { self.steps.locate };
        let offsets = &mut self.block.vector.offsets;
        // SAFETY: the register file contains all rows of the kernel.
        unsafe { locate(self.files.rows[warp], access, window, active, offsets) }
    }

    /// False if no check is interested in an access to the region found last.
    #[inline(always)]
    pub(super) fn is_watched(&self, (target, cache): (Target, u32)) -> bool {
        let Block { launch, checks, caches, .. } = &*self.block;
        Watch::may_be_needed(launch, checks, &caches[cache as usize], target.space)
    }

    /// Decides by the checks about an access of a warp, whose number `decide` gets, at the block's
    /// offsets. Returns `all` if no check is interested.
    #[inline(never)]
    pub(super) fn watched<R>(
        &mut self,
        (access, target, cache): (&Access, Target, u32),
        (warp, active, halves): (usize, u32, [Half; 2]),
        all: R,
        decide: impl FnOnce(&mut Watch<'_>, &Bytes<'_>, usize) -> R,
    ) -> R {
        let index = self.gang.members()[warp].warp;
        let Block { launch, cluster, checks, vector, caches, warps, .. } = &mut *self.block;
        let (state, cached) = (&mut warps[index], &caches[cache as usize]);
        let watch = Watch::of((launch, cluster.is_some()), checks, state, cached, target);
        let spread = Spread { offsets: &vector.offsets, halves };
        let count = u64::from(access.bytes * access.elements);
        let bytes = Bytes { start: 0, spread, active, count };
        watch.map_or(all, |mut watch| decide(&mut watch, &bytes, index))
    }
}
