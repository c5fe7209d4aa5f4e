//! A kernel as machine code.

use super::backend::{Blk, Edge, I64, Kind, Val};
use super::calls::{self, CallSite};
use super::context::Context;
use super::loops;
use super::lower;
use super::machine::{self, Machine, Run};
use super::plan::{NONE, Plan};
use super::quads::{QUAD, Quads};
use super::roots::Roots;
use super::writer::Writer;
use super::{callees, support};
use crate::program::instruction::{BarrierKind, Condition, Constant, Instruction, Op};
use crate::program::{Kernel, effects};
use crate::semantics::{LANES, Register};
use std::collections::HashMap;

/// A form of the machine code of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    /// Lane by lane.
    Lanes,
    /// The same, with a test that bytes which it reads are initialized.
    Checked,
    /// Four lanes at a time.
    Quads,
    /// Eight lanes at a time: two quads.
    Octets,
    /// All lanes of a warp at a time: eight quads.
    Warps,
}

impl Form {
    /// Returns the number of lanes that run together.
    fn lanes(self) -> usize {
        (self.quads() * QUAD).max(1)
    }

    /// Returns the number of quads that run together.
    fn quads(self) -> usize {
        match self {
            Form::Lanes | Form::Checked => 0,
            Form::Quads => 1,
            Form::Octets => 2,
            Form::Warps => 8,
        }
    }
}

/// A kernel as machine code.
#[derive(Debug)]
pub(in crate::exec) struct Code {
    form: Form,
    machine: Machine,
    /// Position of each stop.
    pub(super) stops: Vec<u32>,
    /// Number of the entry at each position, or [`NONE`].
    pub(super) entry_of: Vec<u32>,
    entries: u32,
    /// True if its lanes part where premises fail that only octets have.
    pub(super) has_premises: bool,
    /// Assumed number of instructions of a lane between two stops, outside of loops.
    pub(super) straight: u64,
    /// True at each position of a barrier of the whole block; empty if there are none.
    barriers: Vec<bool>,
    pub(super) roots: Roots,
    pub(super) sites: Vec<CallSite>,
    /// Registers that each stop has to store.
    pub(super) stored: HashMap<u32, Vec<u32>>,
    /// Bytes that machine code may use after the last record of a lane.
    pub(super) slack: usize,
}

impl Code {
    /// Returns `None` for kernels that machine code does not support in this form.
    pub(super) fn of(kernel: &Kernel, form: Form) -> Option<Code> {
        let (checked, quads) = (form == Form::Checked, form.quads() != 0);
        // Other processors may lack instructions on vectors.
        if cfg!(target_endian = "big") || quads && cfg!(not(target_arch = "x86_64")) {
            return None;
        }
        let plan = Plan::of(kernel, form.lanes())?;
        if quads && plan.is_large {
            return None;
        }
        let roots = Roots::of(kernel);
        let mut sites = Vec::new();
        let mut build = |is_large, lanes: Option<Machine>| {
            let quads = lanes.as_ref().map(|_| Quads::new(form.quads()));
            machine::build(&callees::all(), is_large, lanes, |emitter| {
                let alone = quads.is_none();
                let writer = Writer::new(emitter, kernel, (&plan, &roots));
                // Lanes that run together make no calls.
                let has_calls = alone && writer.has_calls;
                let called = Writer { checked, quads, has_calls, ..writer }.write();
                if alone {
                    sites = called;
                }
            })
        };
        // Quads whose lanes part go on with code for single lanes.
        let lanes = build(plan.is_large, None)?;
        let machine = if quads { build(false, Some(lanes))? } else { lanes };
        let slack = calls::slack(kernel, &plan);
        let Plan { stops, mut entry_of, entries, live, .. } = plan;
        // The plain mode makes a call that machine code refuses. Only lanes of quads enter there.
        for (entry, next) in entry_of.iter_mut().zip(&kernel.code) {
            if support::jumps(kernel, next) {
                *entry = NONE;
            }
        }
        let (entries, stored, barriers) = (entries.len() as u32, live.stored, barriers(kernel));
        let straight = straight(kernel);
        let has_premises = plan.shapes.as_ref().is_some_and(|shapes| shapes.has_premises(kernel));
        Some(Code {
            form,
            machine,
            stops,
            entry_of,
            entries,
            has_premises,
            straight,
            barriers,
            roots,
            sites,
            stored,
            slack,
        })
    }

    /// True if it runs several lanes at a time.
    pub(super) fn has_quads(&self) -> bool {
        self.machine.run_quads().is_some()
    }

    /// Returns the number of lanes that it runs at a time.
    pub(super) fn lanes(&self) -> usize {
        self.form.lanes()
    }

    /// Returns the entry at a position.
    pub(super) fn entry(&self, pc: u32) -> Option<u32> {
        self.entry_of.get(pc as usize).copied().filter(|entry| *entry != NONE)
    }

    /// True if all threads of the block wait for each other at a position, and do nothing else.
    pub(super) fn waits_for_all(&self, pc: u32) -> bool {
        self.barriers.get(pc as usize) == Some(&true)
    }

    /// Returns the function that runs all of these lanes from an entry, and the number of the entry
    /// for it; `None` if two functions share them.
    pub(super) fn whole(&self, lanes: u32, entry: u32, (quads, regular): (bool, bool)) -> Option<(Run, u32)> {
        let Some(run) = self.machine.run_quads() else { return Some((self.machine.run(), entry)) };
        let all = quads && complete(lanes, self.lanes() as u32) == lanes;
        all.then_some((run, if regular { entry + self.entries } else { entry }))
    }

    /// Runs lanes from an entry to their stops: quads together, if they may, and their registers
    /// without a look if these are known to be `regular`.
    ///
    /// # Safety
    /// The context describes a warp of this kernel, and is not used otherwise.
    pub(super) unsafe fn run(
        &self,
        context: *mut Context,
        mut lanes: u32,
        entry: u32,
        (quads, regular): (bool, bool),
    ) {
        // SAFETY: guaranteed by the caller.
        unsafe { (*context).own = context };
        let quads = if quads { complete(lanes, self.lanes() as u32) } else { 0 };
        if let Some(run) = self.machine.run_quads().filter(|_| quads != 0) {
            let entry = if regular { entry + self.entries } else { entry };
            // SAFETY: guaranteed by the caller.
            unsafe { run(context, quads, entry) };
            lanes &= !quads;
        }
        if lanes != 0 {
            // SAFETY: guaranteed by the caller.
            unsafe { (self.machine.run())(context, lanes, entry) };
        }
    }
}

/// Returns the lanes of the quads, octets or warps, of so many lanes, all of which are in a mask.
fn complete(lanes: u32, count: u32) -> u32 {
    if count == LANES as u32 {
        return if lanes == u32::MAX { lanes } else { 0 };
    }
    let pairs = lanes & lanes >> 1;
    let quads = pairs & pairs >> 2 & 0x1111_1111;
    if count == 4 { quads * 15 } else { (quads & quads >> 4 & 0x0101_0101) * 255 }
}

/// Returns the number of instructions outside of loops for each stop among them.
fn straight(kernel: &Kernel) -> u64 {
    let outside = kernel.code.iter().zip(loops::of(kernel)).filter(|(_, loops)| *loops == 0);
    let (mut count, mut stops) = (0, 0);
    for (instruction, _) in outside {
        count += 1;
        stops += u64::from(support::is_stop(kernel, instruction));
    }
    count / stops.max(1)
}

/// Returns true for each position of a barrier of the whole block with a constant number, or
/// nothing if there are none.
fn barriers(kernel: &Kernel) -> Vec<bool> {
    let number = |id: Register| {
        let known = kernel.constants.iter().find(|(register, ..)| *register == id);
        known.is_some_and(|(.., constant)| matches!(constant, Constant::Bits(0..16)))
    };
    let products = kernel.code.iter().any(|next| matches!(next.op, Op::WarpGroup(_)));
    let waits = |next: &Instruction| match next.op {
        Op::Barrier { kind: BarrierKind::Sync, count: None, id, .. } => {
            next.guard == Condition::ALWAYS && number(id) && !products
        }
        _ => false,
    };
    let barriers: Vec<bool> = kernel.code.iter().map(waits).collect();
    if barriers.contains(&true) { barriers } else { Vec::new() }
}

impl Writer<'_, '_> {
    /// Returns the calls with machine code.
    fn write(mut self) -> Vec<CallSite> {
        self.begin();
        let code = if self.quads.is_some() { support::own_code(self.kernel) } else { self.kernel.code.len() };
        for pc in 0..code as u32 {
            if self.plan.leads[pc as usize] {
                if !self.e.has_ended() {
                    self.jump_to(pc);
                }
                self.join_lanes_at(pc);
                self.begin_block(pc);
                if self.plan.is_join[pc as usize] && !self.e.has_ended() {
                    self.end_if_joined(pc);
                }
            }
            if !self.e.has_ended() {
                self.instruction(pc);
            }
        }
        if !self.e.has_ended() {
            self.e.give_up();
        }
        // Code after the last instruction cannot be reached.
        self.begin_block(code as u32);
        if !self.e.has_ended() {
            self.e.give_up();
        }
        self.end_joins();
        self.end_calls();
        self.calls.sites
    }

    /// Ends the run of this lane without a stop, after a fault.
    pub(super) fn give_up_if(&mut self, failed: Val, next: (Blk, &[Val])) {
        // A cold block for each access. The edge to a common block would be among the frequent
        // code.
        let end = self.e.block();
        self.e.cold(end);
        self.e.branch(failed, (end, &[]), next);
        self.e.go_on(end);
        let rest = self.rest;
        self.e.jump(self.next_lane, &[rest]);
    }

    /// The same from cold code, if a search returned null.
    pub(super) fn give_up_unless(&mut self, found: Val, next: (Blk, &[Val])) {
        let (end, rest) = (self.failed, self.rest);
        self.e.branch(found, next, (end, &[rest]));
    }

    /// Ends the run of this lane before an instruction that the plain mode runs.
    pub(super) fn stop(&mut self, pc: u32) {
        if self.has_calls && support::function_at(self.kernel, pc).is_some() {
            self.stop_in_call(pc);
        }
        self.plan.stored_at(pc).iter().for_each(|bit| self.store_row(*bit));
        let number = self.plan.stop_of[pc as usize];
        let number = self.e.int(I64, number.into());
        let (left, lanes) = (self.fuel_left(), self.bit());
        self.e.jump(self.stopped, &[number, left, lanes]);
    }

    /// Ends the run of this lane before an instruction without machine code, or returns.
    fn end(&mut self, pc: u32, op: &Op) {
        match support::function_at(self.kernel, pc) {
            Some(function) if self.has_calls && matches!(op, Op::Return) => self.leave(pc, function),
            _ => self.stop(pc),
        }
    }

    fn instruction(&mut self, pc: u32) {
        self.write_instruction(pc);
        self.store_early(pc);
        self.compute_at_once(pc);
    }

    /// Stores the result of an instruction, so that it is computed before the next.
    fn compute_at_once(&mut self, pc: u32) {
        if !self.plan.sums.contains(&pc) || self.e.has_ended() {
            return;
        }
        for value in self.collect(&self.written_by(&self.kernel.code[pc as usize])) {
            self.e.store(Kind::State, value, self.context, Context::COMPUTED);
        }
    }

    /// Stores the registers that an instruction has written, if stops in inner loops need them.
    pub(super) fn store_early(&mut self, pc: u32) {
        if self.plan.live.early.is_empty() || self.e.has_ended() {
            return;
        }
        for bit in self.written_by(&self.kernel.code[pc as usize]) {
            if self.plan.live.early.contains(&bit) {
                self.store_row(bit);
            }
        }
    }

    fn write_instruction(&mut self, pc: u32) {
        let instruction = &self.kernel.code[pc as usize];
        let guarded = instruction.guard != Condition::ALWAYS;
        if let Op::Branch { target } = instruction.op {
            return self.write_branch(pc, target, instruction.guard);
        }
        if self.crosses(pc) {
            return self.cross(pc, instruction);
        }
        if self.quads.is_some() && self.guarded_in_quad(pc, instruction) {
            return;
        }
        let stops = support::is_stop(self.kernel, instruction);
        if !guarded {
            return if stops { self.end(pc, &instruction.op) } else { self.always(pc, instruction) };
        }
        if !stops && support::is_cheap(instruction) {
            if self.quads.is_some() {
                return self.selected_quad(pc, instruction, instruction.guard);
            }
            let condition = self.condition(instruction.guard);
            return lower::selected(self, instruction, condition);
        }
        if let (Op::Call(call), false, true) = (&instruction.op, stops, self.has_calls) {
            return self.guarded_call(pc, call, instruction.guard);
        }
        let (run, after) = (self.e.block(), self.e.block());
        let changed = if stops { Vec::new() } else { self.written_by(instruction) };
        let old = self.collect(&changed);
        if stops && !self.is_uniform_condition(instruction.guard) {
            // The plain mode runs all lanes.
            let some = self.lanes_of(instruction.guard);
            self.e.branch(some, (run, &[]), (after, &old));
        } else {
            self.branch_if((pc, instruction.guard), (run, &[]), (after, &old));
        }
        self.e.go_on(run);
        if stops {
            self.end(pc, &instruction.op);
        } else {
            self.always(pc, instruction);
            if !self.e.has_ended() {
                let new = self.collect(&changed);
                self.e.jump(after, &new);
            }
        }
        self.e.go_on(after);
        let slots = self.slots(&changed).into_owned();
        self.set_params(after, &slots);
    }

    /// Writes an instruction that has machine code, and whose guard holds.
    fn always(&mut self, pc: u32, instruction: &Instruction) {
        if self.quads.is_some() {
            self.quad_instruction(pc, instruction);
        } else {
            lower::instruction(self, pc, instruction);
        }
    }

    /// Returns the registers and predicates that an instruction writes.
    pub(super) fn written_by(&self, instruction: &Instruction) -> Vec<u32> {
        let mut written = Vec::new();
        effects::writes(instruction, &mut |register, _| written.push(register.0));
        effects::predicates(instruction, &mut |predicate| written.push(self.kernel.rows + predicate.0));
        written.sort_unstable();
        written.dedup();
        written
    }

    fn write_branch(&mut self, pc: u32, target: u32, guard: Condition) {
        let way = self.way(pc, target);
        if guard == Condition::ALWAYS {
            let edge = self.e.jump(way.block, &[]);
            return self.take(way, edge);
        }
        let next = self.way(pc, pc + 1);
        if let Some(arm) = self.arm_after(pc) {
            return self.branch_to_arm(pc, &arm, [way, next]);
        }
        let [yes, no] = self.branch_if((pc, guard), (way.block, &[]), (next.block, &[]));
        self.take(way, yes);
        self.take(next, no);
    }

    pub(super) fn branch_if(
        &mut self,
        (pc, condition): (u32, Condition),
        yes: (Blk, &[Val]),
        no: (Blk, &[Val]),
    ) -> [Edge; 2] {
        if !self.is_uniform_condition(condition) {
            return self.branch_together(pc, condition, [yes, no]);
        }
        let value = self.predicate(condition.predicate);
        if !condition.negated {
            return self.e.branch(value, yes, no);
        }
        let [no, yes] = self.e.branch(value, no, yes);
        [yes, no]
    }
}
