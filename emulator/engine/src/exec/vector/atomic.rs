//! Steps of atomic operations.

use super::Run;
use super::watch::Target;
use crate::exec::access::{Writers, change, read, write};
use crate::exec::block::Stop;
use crate::exec::block::warp::FAILED_ATTEMPT;
use crate::exec::code::access::{Access, Window};
use crate::exec::code::step::{AccessSpace, AtomicStep, Step};
use crate::program::memory::AtomicOperation;
use crate::program::types::Type;
use crate::semantics::{LANES, lanes_of};

impl Run<'_, '_, '_> {
    /// Runs an atomic operation for each lane, in order. If it is an exchange that fails in all
    /// warps, they probably wait for another one, and soon end their turn.
    #[inline(always)]
    pub(super) fn atomic(&mut self, step: &Step, atomic: &AtomicStep) -> Result<(), Stop> {
        let mut tried = 0;
        self.failed = 0;
        for warp in 0..self.files.count {
            let active = self.files.active(warp, step.guard);
            let atomic = (atomic, step.pc);
            if active == 0 {
                continue;
            }
            tried += 1;
            let mut left = self.atomic_fast(atomic, warp, active);
            if left == active {
                left = self.atomic_in_window(atomic, warp, active);
            }
            if left != 0 {
                self.step_lanes(step, [None; 2], (warp, left))?;
            }
        }
        if self.failed != 0 && self.failed == tried {
            self.left = self.left.saturating_sub(FAILED_ATTEMPT);
        }
        Ok(())
    }

    /// Runs it on the region that the instruction found last. Returns the lanes that the plain mode
    /// must run.
    #[inline(never)]
    fn atomic_fast(&mut self, (step, pc): (&AtomicStep, u32), warp: usize, active: u32) -> u32 {
        match self.window((step.space, step.cache), warp, true) {
            Some(window) => self.atomic_in((step, pc), (step.space, window), (warp, active)),
            None => active,
        }
    }

    /// Runs it on the shared or local memory that contains the address of the first lane, which has
    /// no space. Returns the lanes that the plain mode must run.
    #[cold]
    fn atomic_in_window(&mut self, (step, pc): (&AtomicStep, u32), warp: usize, active: u32) -> u32 {
        // SAFETY: the register file contains all rows of the kernel.
        let first = unsafe { step.access.place(self.files.rows[warp], active.trailing_zeros() as usize) };
        match self.window_around((warp, pc), first, true) {
            Some(found) => self.atomic_in((step, pc), found, (warp, active)),
            None => active,
        }
    }

    /// Runs it on memory that it may change. Returns the lanes that the plain mode must run: all,
    /// or the lanes from the first on that a check does not admit.
    #[inline(always)]
    fn atomic_in(
        &mut self,
        (step, pc): (&AtomicStep, u32),
        (space, window): (AccessSpace, Window),
        (warp, active): (usize, u32),
    ) -> u32 {
        let reads = step.operation != AtomicOperation::Exchange;
        let target = Target { space, strong: true, reads, writes: true };
        let access = &step.access;
        let Some(halves) = self.offsets(access, &window, target, (warp, active)) else { return active };
        let mut lanes = active;
        if self.is_watched((target, step.cache)) {
            let place = (access, target, step.cache);
            lanes = self.watched(place, (warp, active, halves), active, |watch, bytes, member| {
                watch.admitted(bytes, (member, pc), step.order)
            });
        }
        let writers = Writers::of(space == AccessSpace::Global, || self.block.launch.writer.is_alone());
        let run = Lanes {
            file: self.files.rows[warp],
            host: window.host,
            offsets: &self.block.vector.offsets,
            active: lanes,
        };
        if step.access.wide {
            // SAFETY: the register file contains all rows of the kernel. The bytes of active lanes
            // are in the window, which is writable memory of this block or a live region.
            let failed = unsafe { run.fails::<u64>(step) };
            self.failed += u32::from(failed);
            // SAFETY: as above.
            unsafe { run.run::<u64>(step, writers) };
        } else {
            // SAFETY: as above.
            let failed = unsafe { run.fails::<u32>(step) };
            self.failed += u32::from(failed);
            // SAFETY: as above.
            unsafe { run.run::<u32>(step, writers) };
        }
        active & !lanes
    }
}

/// The participating lanes of a warp, and their offsets in memory.
pub(super) struct Lanes<'a> {
    pub(super) file: *mut u32,
    pub(super) host: *mut u8,
    pub(super) offsets: &'a [i64; LANES],
    pub(super) active: u32,
}

/// A value of the width of a register's cell.
trait Cell: Copy + Into<u64> {
    fn of(value: u64) -> Self;
}

impl Cell for u32 {
    fn of(value: u64) -> u32 {
        value as u32
    }
}

impl Cell for u64 {
    fn of(value: u64) -> u64 {
        value
    }
}

impl Lanes<'_> {
    /// Loads each element atomically, lane by lane, like the plain mode.
    ///
    /// # Safety
    /// The file contains the rows of the access. The bytes at the offsets are readable and aligned.
    #[inline(never)]
    pub(super) unsafe fn load(&self, access: &Access) {
        let bytes = access.bytes as usize;
        let sign = u64::from(access.sign);
        for lane in lanes_of(self.active) {
            let at = self.host.wrapping_offset(self.offsets[lane] as isize);
            for (element, row) in access.registers[..access.elements as usize].iter().enumerate() {
                // SAFETY: guaranteed by the caller.
                let raw = unsafe { read(at.wrapping_add(element * bytes), access.bytes, true) };
                let value = (raw ^ sign).wrapping_sub(sign);
                let row = self.file.wrapping_add(*row as usize);
                if access.wide {
                    // SAFETY: a lane of a double row of the access.
                    unsafe { row.cast::<u64>().wrapping_add(lane).write(value) };
                } else {
                    // SAFETY: a lane of a row of the access.
                    unsafe { row.wrapping_add(lane).write(value as u32) };
                }
            }
        }
    }

    /// Stores each element atomically, lane by lane, like the plain mode.
    ///
    /// # Safety
    /// As for [`Lanes::load`], and the bytes are writable.
    #[inline(never)]
    pub(super) unsafe fn store(&self, access: &Access) {
        let bytes = access.bytes as usize;
        for lane in lanes_of(self.active) {
            let at = self.host.wrapping_offset(self.offsets[lane] as isize);
            for (element, row) in access.registers[..access.elements as usize].iter().enumerate() {
                let row = self.file.wrapping_add(*row as usize);
                let value = if access.wide {
                    // SAFETY: a lane of a double row of the access.
                    unsafe { row.cast::<u64>().wrapping_add(lane).read() }
                } else {
                    // SAFETY: a lane of a row of the access.
                    unsafe { row.wrapping_add(lane).read() }.into()
                };
                // SAFETY: guaranteed by the caller.
                unsafe { write(at.wrapping_add(element * bytes), access.bytes, value, true) };
            }
        }
    }

    /// True if an exchange of the first lane would leave the value as it is.
    ///
    /// # Safety
    /// As for [`Lanes::run`].
    #[inline]
    unsafe fn fails<C: Cell>(&self, step: &AtomicStep) -> bool {
        let is_exchange =
            matches!(step.operation, AtomicOperation::Exchange | AtomicOperation::CompareExchange);
        if !is_exchange || self.active == 0 {
            return false;
        }
        let lane = self.active.trailing_zeros() as usize;
        let cell = |row: u32| self.file.wrapping_add(row as usize).cast::<C>().wrapping_add(lane);
        // SAFETY: a lane of a row of the step.
        let operands = step.operands.map(|row| unsafe { cell(row).read() }.into());
        let at = self.host.wrapping_offset(self.offsets[lane] as isize);
        // SAFETY: guaranteed by the caller.
        let old = unsafe { read(at, size_of::<C>() as u32, true) };
        !step.operation.changes(old, operands)
    }

    /// Runs the operation. Compiled for each kind, and for numbers with and without a sign, so that
    /// no lane tests them.
    ///
    /// # Safety
    /// The file contains the rows of the step, whose cells are `C`. The bytes at the offsets are
    /// writable, aligned, and of the same size, and only these writers write them meanwhile.
    #[inline(never)]
    unsafe fn run<C: Cell>(&self, step: &AtomicStep, writers: Writers) {
        let (unsigned, signed) =
            if size_of::<C>() == 8 { (Type::U64, Type::S64) } else { (Type::U32, Type::S32) };
        let kind = match step.operation {
            // These have the same result for all types.
            AtomicOperation::Exchange | AtomicOperation::CompareExchange => unsigned,
            _ if step.ty.is_float() => step.ty,
            AtomicOperation::Min | AtomicOperation::Max if step.ty.is_signed() => signed,
            _ => unsigned,
        };
        macro_rules! each {
            ($ty:expr, $($operation:ident)* $(; $rest:pat)?) => {
                match step.operation {
                    $(AtomicOperation::$operation => {
                        // SAFETY: guaranteed by the caller.
                        unsafe { self.run_as::<C>(step, (AtomicOperation::$operation, $ty), writers) };
                    })*
                    $($rest => {})?
                }
            };
        }
        if kind == unsigned {
            each! { unsigned, Add Exchange CompareExchange Min Max And Or Xor Increment Decrement }
        } else if kind == signed {
            each! { signed, Min Max; _ }
        } else {
            each! { kind, Add Min Max; _ }
        }
    }

    /// # Safety
    /// As for [`Lanes::run`].
    #[inline(always)]
    unsafe fn run_as<C: Cell>(
        &self,
        step: &AtomicStep,
        operation: (AtomicOperation, Type),
        writers: Writers,
    ) {
        match writers {
            // SAFETY: guaranteed by the caller.
            Writers::OfBlock => unsafe { self.run_in::<C>(step, operation, Writers::OfBlock) },
            // SAFETY: guaranteed by the caller.
            Writers::OfLaunch => unsafe { self.run_in::<C>(step, operation, Writers::OfLaunch) },
            // SAFETY: guaranteed by the caller.
            Writers::Any => unsafe { self.run_in::<C>(step, operation, Writers::Any) },
        }
    }

    /// # Safety
    /// As for [`Lanes::run`].
    #[inline(always)]
    unsafe fn run_in<C: Cell>(
        &self,
        step: &AtomicStep,
        operation: (AtomicOperation, Type),
        writers: Writers,
    ) {
        let cell =
            |row: u32, lane: usize| self.file.wrapping_add(row as usize).cast::<C>().wrapping_add(lane);
        for lane in lanes_of(self.active) {
            // SAFETY: a lane of a row of the step.
            let operands = step.operands.map(|row| unsafe { cell(row, lane).read() }.into());
            let at = self.host.wrapping_offset(self.offsets[lane] as isize);
            // SAFETY: guaranteed by the caller.
            let old = unsafe { change(at, size_of::<C>() as u32, operation, writers, operands) };
            if let Some(out) = step.out {
                // SAFETY: a lane of a row of the step.
                unsafe { cell(out, lane).write(C::of(old)) };
            }
        }
    }
}
