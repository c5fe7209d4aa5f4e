//! Steps of atomic operations.

use super::Run;
use super::watch::Target;
use crate::exec::access::change;
use crate::exec::block::Stop;
use crate::exec::code::step::{AccessSpace, AtomicStep, Step};
use crate::program::memory::AtomicOperation;
use crate::semantics::{LANES, lanes_of};

impl Run<'_, '_, '_> {
    /// Runs an atomic operation for each lane, in order.
    #[inline(always)]
    pub(super) fn atomic(&mut self, step: &Step, atomic: &AtomicStep) -> Result<(), Stop> {
        for warp in 0..self.files.count {
            let active = self.files.active(warp, step.guard);
            if active != 0 && !self.atomic_fast((atomic, step.pc), warp, active) {
                self.step_alone(step, [None; 2], warp)?;
            }
        }
        Ok(())
    }

    /// Runs it on the region that the instruction found last; false if the plain mode must run it.
    #[inline(never)]
    fn atomic_fast(&mut self, (step, pc): (&AtomicStep, u32), warp: usize, active: u32) -> bool {
        // Only the plain mode records the accesses of atomic operations.
        let global = step.space == AccessSpace::Global;
        if global && self.block.caches[step.cache as usize].marks(self.block.launch).is_some() {
            return false;
        }
        let memory = (step.space, step.cache);
        let found = self.locate(&step.access, memory, (warp, active), true);
        let Some((window, halves)) = found else { return false };
        // Only the plain mode compares atomic operations with others.
        let reads = step.operation != AtomicOperation::Exchange;
        let target = Target { space: step.space, strong: true, reads, writes: true };
        if !self.admits((&step.access, pc), (target, step.cache), (warp, active, halves)) {
            return false;
        }
        let lanes = Lanes {
            file: self.files.rows[warp],
            host: window.host,
            offsets: &self.block.vector.offsets,
            active,
        };
        if step.access.wide {
            // SAFETY: the register file contains all rows of the kernel. The bytes of active lanes
            // are in the window, which is writable memory of this block or a live region.
            unsafe { lanes.run::<u64>(step) };
        } else {
            // SAFETY: as above.
            unsafe { lanes.run::<u32>(step) };
        }
        true
    }
}

/// The participating lanes of a warp, and their offsets in memory.
struct Lanes<'a> {
    file: *mut u32,
    host: *mut u8,
    offsets: &'a [i64; LANES],
    active: u32,
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
    /// Runs the operation. Compiled for each kind, so each lane only tests the type of numbers.
    ///
    /// # Safety
    /// The file contains the rows of the step, whose cells are `C`. The bytes at the offsets are
    /// writable, aligned, and of the same size.
    unsafe fn run<C: Cell>(&self, step: &AtomicStep) {
        macro_rules! each {
            ($($operation:ident)*) => {
                match step.operation {
                    $(AtomicOperation::$operation => {
                        // SAFETY: guaranteed by the caller.
                        unsafe { self.run_as::<C>(step, AtomicOperation::$operation) };
                    })*
                }
            };
        }
        each! { Add Exchange CompareExchange Min Max And Or Xor Increment Decrement }
    }

    /// # Safety
    /// As for [`Lanes::run`].
    #[inline(always)]
    unsafe fn run_as<C: Cell>(&self, step: &AtomicStep, operation: AtomicOperation) {
        let cell =
            |row: u32, lane: usize| self.file.wrapping_add(row as usize).cast::<C>().wrapping_add(lane);
        let global = step.space == AccessSpace::Global;
        for lane in lanes_of(self.active) {
            // SAFETY: a lane of a row of the step.
            let operands = step.operands.map(|row| unsafe { cell(row, lane).read() }.into());
            let at = self.host.wrapping_offset(self.offsets[lane] as isize);
            // SAFETY: guaranteed by the caller. Only this worker accesses the shared memory.
            let old = unsafe { change(at, size_of::<C>() as u32, (operation, step.ty), global, operands) };
            if let Some(out) = step.out {
                // SAFETY: a lane of a row of the step.
                unsafe { cell(out, lane).write(C::of(old)) };
            }
        }
    }
}
