//! The plain mode: instruction by instruction, lane by lane.

use super::block::{Block, Stop};
use super::semantics::{Width, lanes_of};
use super::warp::{Fragment, Wait};
use crate::program::instruction::{BarrierKind, Carry, Clock, Condition, Op};
use crate::report::FaultKind;
use std::time::{SystemTime, UNIX_EPOCH};

/// Branches after which a fragment lets the others of its warp run.
pub(super) const FUEL: u32 = 4096;

/// What an instruction does to the fragment that ran it.
pub(super) enum Flow {
    Next,
    /// All lanes go there.
    Jump(u32),
    /// The fragment is gone or waits; others may be new.
    Yield,
}

impl Block<'_, '_> {
    /// Runs a fragment until it parts, waits, ends, or has had its share.
    pub(super) fn run_fragment(&mut self, warp: usize, index: usize, left: &mut u32) -> Result<(), Stop> {
        let kernel = self.launch.args.kernel;
        let alone = self.warps[warp].fragments.len() == 1;
        let mut fuel = FUEL;
        // Work on a copy; what is in the list is brought up to date when it matters.
        let (mut pc, mask) = {
            let fragment = &self.warps[warp].fragments[index];
            (fragment.pc, fragment.mask)
        };
        let mut rank = kernel.ranks[pc as usize];
        loop {
            if *left == 0 {
                self.warps[warp].fragments[index].pc = pc;
                return Ok(());
            }
            *left -= 1;
            self.instructions += 1;
            self.warps[warp].fragments[index].pc = pc;
            match self.step(warp, index, pc, mask)? {
                Flow::Next => pc += 1,
                Flow::Jump(target) => {
                    pc = target;
                    fuel = fuel.saturating_sub(1);
                }
                Flow::Yield => return Ok(()),
            }
            if alone {
                continue;
            }
            // Others may stand where this one is about to go, or earlier.
            let next = kernel.ranks[pc as usize];
            if next != rank || fuel == 0 {
                let fragment = &mut self.warps[warp].fragments[index];
                fragment.pc = pc;
                fragment.tired = fuel == 0;
                if fuel == 0 {
                    *left = left.saturating_sub(FUEL);
                }
                return Ok(());
            }
            rank = next;
        }
    }

    /// Runs one instruction.
    pub(super) fn step(&mut self, warp: usize, index: usize, pc: u32, mask: u32) -> Result<Flow, Stop> {
        let instruction = self.instruction(pc);
        if self.launch.options.check_init {
            self.watch_registers(warp, pc, mask)?;
        }
        let active = match instruction.guard {
            Condition::ALWAYS => mask,
            guard => mask & self.warps[warp].rows.holds(guard),
        };
        match &instruction.op {
            Op::Branch { target } => return Ok(self.branch(warp, index, pc, mask, active, *target)),
            _ if active == 0 => return Ok(Flow::Next),
            Op::Pure { info, out, sources } => {
                let rows = self.warps[warp].rows.base();
                // SAFETY: the decoder allotted each register as many rows as the operation's widths say, and the
                // register file holds all rows of the kernel.
                unsafe { (info.plain)(rows, *out, *sources, active) };
            }
            Op::Test { info, out, inverse, sources, combine } => {
                let rows = &mut self.warps[warp].rows;
                // SAFETY: as for `Pure`.
                let bits = unsafe { (info.plain)(rows.base(), *sources, active) };
                let (mut yes, mut no) = (bits, !bits);
                if let Some((logic, condition)) = combine {
                    let other = rows.holds(*condition);
                    (yes, no) = (logic.apply(yes, other), logic.apply(no, other));
                }
                rows.set_predicate(*out, active, yes);
                if let Some(inverse) = inverse {
                    rows.set_predicate(*inverse, active, no);
                }
            }
            Op::Logic { logic, out, a, b } => {
                let rows = &mut self.warps[warp].rows;
                let bits = logic.apply(rows.holds(*a), rows.holds(*b));
                rows.set_predicate(*out, active, bits);
            }
            Op::Select { width, out, a, b, condition } => {
                let rows = &mut self.warps[warp].rows;
                let chosen = rows.holds(*condition);
                for lane in lanes_of(active) {
                    let from = if chosen >> lane & 1 != 0 { *a } else { *b };
                    let value = rows.get_wide(from, *width, lane);
                    rows.set_wide(*out, *width, lane, value);
                }
            }
            Op::Video { video, out, sources } => {
                let rows = &mut self.warps[warp].rows;
                for lane in lanes_of(active) {
                    let [a, b, c] = sources.map(|source| rows.get(source, lane));
                    rows.set(*out, lane, video.apply(a, b, c));
                }
            }
            Op::Carry(carry) => self.carry(warp, carry, active),
            Op::Load(access) => self.load(warp, pc, access, active)?,
            Op::Store(access) => self.store(warp, pc, access, active)?,
            Op::Atomic(atomic) => self.atomic(warp, pc, atomic, active)?,
            Op::AsyncCopy(copy) => self.async_copy(warp, pc, copy, active)?,
            Op::Matrix(matrix) => self.matrix(warp, pc, matrix, active)?,
            Op::BulkCopy(copy) => self.bulk_copy(warp, pc, copy, active)?,
            Op::Object(op) => self.object(warp, pc, op, active)?,
            Op::MemoryBarrier(barrier) => self.memory_barrier(warp, pc, barrier, active)?,
            Op::LocalAddress { out, offset, width } => {
                let warp = &mut self.warps[warp];
                let base = warp.fragments[index].frame.as_ref().map_or(0, |frame| frame.local_base);
                for lane in lanes_of(active) {
                    warp.rows.set_wide(*out, *width, lane, u64::from(base + offset));
                }
            }
            Op::Alloca { out, size, align, width } => {
                self.alloca(warp, pc, active, *out, *size, *align, *width)?;
            }
            Op::StackSave { out, width } => self.warps[warp].stack_save(active, *out, *width),
            Op::StackRestore { pointer, width } => {
                self.stack_restore(warp, pc, active, *pointer, *width)?;
            }
            Op::BranchIndexed { index: row, targets } => {
                return self.branch_indexed(warp, index, pc, mask, active, *row, targets);
            }
            Op::Call(call) => return self.call(warp, index, pc, mask, active, call),
            Op::Return => return Ok(self.leave(warp, index, pc, mask, active)),
            Op::Exit => return Ok(self.exit(warp, index, pc, mask, active)),
            Op::Trap => return Err(self.fault(FaultKind::Trap, warp, pc, active)),
            Op::ClusterBarrier { wait } => return self.cluster_barrier(warp, index, pc, active, *wait),
            Op::Barrier { kind, aligned, id, count } => {
                if *aligned {
                    self.check_aligned(warp, index, pc, active)?;
                }
                return self.barrier(warp, index, pc, active, kind, *id, *count);
            }
            Op::Collective { operation, members } => {
                return self.collective(warp, index, pc, active, operation, *members);
            }
            Op::ActiveMask { out } => {
                for lane in lanes_of(active) {
                    self.warps[warp].rows.set(*out, lane, active);
                }
            }
            Op::Clock { clock, out, width } => {
                let value = match clock {
                    Clock::Cycles => self.instructions,
                    Clock::CyclesHigh => self.instructions >> 32,
                    Clock::Nanoseconds => nanoseconds(),
                    Clock::NanosecondsHigh => nanoseconds() >> 32,
                };
                for lane in lanes_of(active) {
                    self.warps[warp].rows.set_wide(*out, *width, lane, value);
                }
            }
            Op::Fence(scope) => {
                std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
                if let Some(clocks) = &mut self.clocks {
                    clocks.fence(warp, active, *scope);
                }
            }
            Op::Yield => {
                let fragment = &mut self.warps[warp].fragments[index];
                fragment.tired = true;
                fragment.pc = pc + 1;
                return Ok(Flow::Yield);
            }
        }
        Ok(Flow::Next)
    }

    fn carry(&mut self, warp: usize, carry: &Carry, active: u32) {
        /// The flag lives in the second predicate.
        const FLAG: Condition = Condition { predicate: crate::program::Predicate(1), negated: false };
        let rows = &mut self.warps[warp].rows;
        let flags = rows.holds(FLAG);
        let mut out_flags = 0;
        let bits = if carry.width == Width::Double { 64 } else { 32 };
        let mask = u64::MAX >> (64 - bits);
        for lane in lanes_of(active) {
            let a = u128::from(rows.get_wide(carry.sources[0], carry.width, lane));
            let b = u128::from(rows.get_wide(carry.sources[1], carry.width, lane));
            // Subtraction adds the complement and one; so a clear flag stands for a borrow.
            let b = if carry.subtract { !b & u128::from(mask) } else { b };
            let flag = if carry.reads { flags >> lane & 1 != 0 } else { carry.subtract };
            let sum = a + b + u128::from(flag);
            rows.set_wide(carry.out, carry.width, lane, sum as u64 & mask);
            out_flags |= ((sum >> bits & 1) as u32) << lane;
        }
        if carry.writes {
            rows.set_predicate(FLAG.predicate, active, out_flags);
        }
    }

    #[allow(clippy::too_many_arguments, reason = "the place of the instruction and its parts")]
    fn barrier(
        &mut self,
        warp: usize,
        index: usize,
        pc: u32,
        active: u32,
        kind: &BarrierKind,
        id: crate::program::Register,
        count: Option<crate::program::Register>,
    ) -> Result<Flow, Stop> {
        let lane = active.trailing_zeros() as usize;
        let number = self.warps[warp].rows.get(id, lane);
        if number >= 16 {
            let text = format!("barrier {number}, where only 0 to 15 exist");
            return Err(self.fault(FaultKind::Other(text), warp, pc, active));
        }
        if let Some(count) = count {
            let threads = self.warps[warp].rows.get(count, lane);
            if threads == 0 || threads % 32 != 0 || threads > 1024 {
                let text = format!("a barrier of {threads} threads, which is no multiple of 32 up to 1024");
                return Err(self.fault(FaultKind::Other(text), warp, pc, active));
            }
        }
        if *kind == BarrierKind::Arrive {
            self.arrive(number, warp, active);
            return Ok(Flow::Next);
        }
        self.split_off(warp, index, pc, active);
        let fragment = &mut self.warps[warp].fragments[index];
        fragment.wait = Wait::Barrier(number);
        Ok(Flow::Yield)
    }

    /// Leaves only the lanes of `active` in the fragment; the others go on behind the instruction.
    pub(super) fn split_off(&mut self, warp: usize, index: usize, pc: u32, active: u32) {
        let fragments = &mut self.warps[warp].fragments;
        let rest = fragments[index].mask & !active;
        if rest != 0 {
            let frame = fragments[index].frame.clone();
            fragments.push(Fragment { pc: pc + 1, mask: rest, frame, wait: Wait::Ready, tired: false });
            fragments[index].mask = active;
        }
        fragments[index].pc = pc;
    }
}

fn nanoseconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_nanos() as u64)
}
