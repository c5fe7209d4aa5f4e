//! A kernel as machine code.

use super::backend::{Blk, Callee, Edge, Emitter, I32, I64, Kind, Val};
use super::calls::{self, CallSite, Calls};
use super::context::{self, Context};
use super::lower;
use super::machine::{self, Machine};
use super::plan::{self, NONE, Plan};
use super::roots::Roots;
use super::types::{self, Holds};
use super::values::Values;
use crate::program::instruction::{Condition, Constant, Instruction, Op};
use crate::program::{Kernel, effects};
use std::collections::HashMap;

/// Maximum number of instructions of a kernel. Larger ones would take long to compile.
const MOST_INSTRUCTIONS: usize = 20_000;

/// The functions that machine code calls, by their position in [`callees`].
pub(super) const FIND: usize = 0;
pub(super) const ATOMIC: usize = 1;
pub(super) const PURE: usize = 2;
pub(super) const TEST: usize = 3;
/// [`PURE`] for rare cases of a common operation.
pub(super) const PURE_COLD: usize = 4;
pub(super) const KEEP: usize = 5;
pub(super) const CHANGE: usize = 6;

fn callees() -> [Callee; 7] {
    let [find, atomic] = [context::find as *const u8, context::atomic as *const u8];
    let [pure, test] = [context::pure as *const u8, context::test as *const u8];
    let pure_cold = context::pure_cold as *const u8;
    let pure_of = |address, cold| Callee { address, params: &[I64; 5], result: I64, cold };
    [
        Callee { address: find, params: &[I32, I64], result: I64, cold: true },
        Callee { address: atomic, params: &[I64, I32, I64, I64, I64], result: I64, cold: false },
        pure_of(pure, false),
        Callee { address: test, params: &[I64, I64, I64], result: I64, cold: false },
        pure_of(pure_cold, true),
        Callee { address: context::keep as *const u8, params: &[I64, I64, I64], result: I64, cold: false },
        Callee {
            address: context::change_at as *const u8,
            params: &[I64, I32, I64, I64, I64],
            result: I64,
            cold: false,
        },
    ]
}

/// A kernel as machine code.
#[derive(Debug)]
pub(in crate::exec) struct Code {
    machine: Machine,
    /// Position of each stop.
    pub(super) stops: Vec<u32>,
    /// Number of the entry at each position, or [`NONE`].
    pub(super) entry_of: Vec<u32>,
    pub(super) roots: Roots,
    pub(super) sites: Vec<CallSite>,
    /// Registers that each stop has to store.
    pub(super) stored: HashMap<u32, Vec<u32>>,
    /// Bytes that machine code may use after the last record of a lane.
    pub(super) slack: usize,
}

impl Code {
    /// Returns `None` for kernels that machine code does not support. If `checked`, it tests that
    /// bytes which it reads are initialized.
    pub(super) fn of(kernel: &Kernel, checked: bool) -> Option<Code> {
        if kernel.code.len() > MOST_INSTRUCTIONS || cfg!(target_endian = "big") {
            return None;
        }
        let plan = Plan::of(kernel)?;
        let roots = Roots::of(kernel);
        let mut sites = Vec::new();
        let machine = machine::build(&callees(), plan.is_large, |emitter| {
            let writer = Writer::new(emitter, kernel, (&plan, &roots));
            sites = Writer { checked, ..writer }.write();
            Some(())
        })?;
        let slack = calls::slack(kernel, &plan);
        let Plan { stops, entry_of, live, .. } = plan;
        Some(Code { machine, stops, entry_of, roots, sites, stored: live.stored, slack })
    }

    /// Returns the number of its stops.
    pub(in crate::exec) fn stops(&self) -> usize {
        self.stops.len()
    }

    /// Returns the entry at a position.
    pub(super) fn entry(&self, pc: u32) -> Option<u32> {
        self.entry_of.get(pc as usize).copied().filter(|entry| *entry != NONE)
    }

    /// Runs lanes from an entry to their stops.
    ///
    /// # Safety
    /// The context describes a warp of this kernel, and is not used otherwise.
    pub(super) unsafe fn run(&self, context: *mut Context, lanes: u32, entry: u32) {
        // SAFETY: guaranteed by the caller.
        unsafe { (*context).own = context };
        // SAFETY: guaranteed by the caller.
        unsafe { (self.machine.run())(context, lanes, entry) };
    }
}

/// Writes the code of a kernel.
pub(super) struct Writer<'w, 'e> {
    pub(super) e: &'w mut Emitter<'e>,
    pub(super) kernel: &'w Kernel,
    pub(super) plan: &'w Plan,
    /// True if machine code makes calls.
    pub(super) has_calls: bool,
    pub(super) calls: Calls,
    pub(super) roots: &'w Roots,
    /// True if accesses test and record which bytes are written.
    pub(super) checked: bool,
    pub(super) constants: HashMap<u32, Constant>,
    pub(super) holds: Vec<Holds>,
    pub(super) values: Values,
    pub(super) context: Val,
    /// The running lane, and the addresses of its cells in the first row and the first double row.
    pub(super) lane: Val,
    pub(super) cells: [Val; 2],
    pub(super) rest: Val,
    pub(super) next_lane: Blk,
    stopped: Blk,
    /// The end of the run of a lane after a fault.
    failed: Blk,
}

impl<'w, 'e> Writer<'w, 'e> {
    fn new(e: &'w mut Emitter<'e>, kernel: &'w Kernel, (plan, roots): (&'w Plan, &'w Roots)) -> Self {
        let constants: HashMap<u32, Constant> =
            kernel.constants.iter().map(|(register, _, constant)| (register.0, *constant)).collect();
        let holds = types::find(kernel, &constants);
        let [context, _, _] = [e.params[0], e.params[1], e.params[2]];
        let [next_lane, stopped, failed] = std::array::from_fn(|_| e.block());
        Writer {
            holds,
            constants,
            values: Values::new(kernel.rows + kernel.predicates, context),
            context,
            lane: context,
            cells: [context; 2],
            rest: context,
            next_lane,
            stopped,
            failed,
            e,
            kernel,
            plan,
            has_calls: calls::has_calls(kernel),
            calls: Calls::default(),
            roots,
            checked: false,
        }
    }

    /// Returns the calls with machine code.
    fn write(mut self) -> Vec<CallSite> {
        self.begin();
        for pc in 0..self.kernel.code.len() as u32 {
            if self.plan.leads[pc as usize] {
                if !self.e.has_ended() {
                    self.jump_to(pc);
                }
                self.begin_block(pc);
            }
            if !self.e.has_ended() {
                self.instruction(pc);
            }
        }
        if !self.e.has_ended() {
            self.e.give_up();
        }
        // Code after the last instruction cannot be reached.
        self.begin_block(self.kernel.code.len() as u32);
        if !self.e.has_ended() {
            self.e.give_up();
        }
        self.end_calls();
        self.calls.sites
    }

    /// Writes the loop over lanes, the entries, and the common end of all stops.
    fn begin(&mut self) {
        let (lanes, entry) = (self.e.params[1], self.e.params[2]);
        let (body, done) = (self.e.block(), self.e.block());
        let left = self.e.param(self.next_lane, I32);
        self.e.jump(self.next_lane, &[lanes]);
        self.e.go_on(self.next_lane);
        self.e.branch(left, (body, &[]), (done, &[]));
        self.e.go_on(done);
        self.e.return_nothing();
        self.e.go_on(body);
        self.lane = self.e.ctz(left);
        let one = self.e.int(I32, 1);
        let less = self.e.isub(left, one);
        self.rest = self.e.band(left, less);
        self.e.store(Kind::State, self.lane, self.context, Context::LANE);
        let rows = self.e.load(I64, Kind::Constant, self.context, Context::ROWS);
        let wide = self.e.uextend(I64, self.lane);
        for (index, shift) in [2, 3].into_iter().enumerate() {
            let shift = self.e.int(I64, shift);
            let offset = self.e.ishl(wide, shift);
            self.cells[index] = self.e.iadd(rows, offset);
        }
        let fuel = self.e.load(I32, Kind::Constant, self.context, Context::FUEL);
        self.begin_calls();
        let entries: Vec<Blk> = self.plan.entries.iter().map(|_| self.e.block()).collect();
        let never = self.e.block();
        self.e.table(entry, &entries, never);
        self.e.go_on(never);
        self.e.give_up();
        for (pc, block) in self.plan.entries.iter().zip(entries) {
            self.e.go_on(block);
            self.forget();
            self.set_fuel(fuel);
            self.plan.live_at(*pc).iter().for_each(|bit| self.load_row(*bit));
            self.jump_to(*pc);
        }
        self.write_stopped();
        let rest = self.e.param(self.failed, I32);
        self.e.cold(self.failed);
        self.e.go_on(self.failed);
        self.e.jump(self.next_lane, &[rest]);
    }

    fn write_stopped(&mut self) {
        let (number, left) = (self.e.param(self.stopped, I64), self.e.param(self.stopped, I32));
        self.e.go_on(self.stopped);
        let (first, done) = (self.e.block(), self.e.block());
        let stops = self.e.load(I64, Kind::Constant, self.context, Context::STOPS);
        let two = self.e.int(I64, 2);
        let offset = self.e.ishl(number, two);
        let at = self.e.iadd(stops, offset);
        let old = self.e.load(I32, Kind::State, at, 0);
        let bit = self.bit();
        let new = self.e.bor(old, bit);
        self.e.store(Kind::State, new, at, 0);
        self.write_spent(left);
        self.e.branch(old, (done, &[]), (first, &[]));
        self.e.go_on(first);
        let list = self.e.load(I64, Kind::Constant, self.context, Context::LIST);
        let listed = self.e.load(I64, Kind::State, self.context, Context::LISTED);
        let offset = self.e.ishl(listed, two);
        let at = self.e.iadd(list, offset);
        let short = self.e.ireduce(I32, number);
        self.e.store(Kind::State, short, at, 0);
        let one = self.e.int(I64, 1);
        let more = self.e.iadd(listed, one);
        self.e.store(Kind::State, more, self.context, Context::LISTED);
        self.e.jump(done, &[]);
        self.e.go_on(done);
        let rest = self.rest;
        self.e.jump(self.next_lane, &[rest]);
    }

    /// Adds the instructions that the lane has spent to the total of all lanes.
    pub(super) fn write_spent(&mut self, left: Val) {
        let fuel = self.e.load(I32, Kind::Constant, self.context, Context::FUEL);
        let used = self.e.isub(fuel, left);
        let used = self.e.sextend(I64, used);
        let spent = self.e.load(I64, Kind::State, self.context, Context::SPENT);
        let spent = self.e.iadd(spent, used);
        self.e.store(Kind::State, spent, self.context, Context::SPENT);
    }

    pub(super) fn bit(&mut self) -> Val {
        let one = self.e.int(I32, 1);
        let lane = self.lane;
        self.e.ishl(one, lane)
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
        if self.has_calls && calls::function_at(self.kernel, pc).is_some() {
            self.stop_in_call(pc);
        }
        self.plan.stored_at(pc).iter().for_each(|bit| self.store_row(*bit));
        let number = self.plan.stop_of[pc as usize];
        let number = self.e.int(I64, number.into());
        let left = self.fuel_left();
        self.e.jump(self.stopped, &[number, left]);
    }

    /// Ends the run of this lane before an instruction without machine code, or returns.
    fn end(&mut self, pc: u32, op: &Op) {
        match calls::function_at(self.kernel, pc) {
            Some(function) if self.has_calls && matches!(op, Op::Return) => self.leave(pc, function),
            _ => self.stop(pc),
        }
    }

    fn instruction(&mut self, pc: u32) {
        let instruction = &self.kernel.code[pc as usize];
        let guarded = instruction.guard != Condition::ALWAYS;
        if let Op::Branch { target } = instruction.op {
            return self.write_branch(pc, target, instruction.guard);
        }
        let stops = plan::is_stop(self.kernel, instruction);
        if !guarded {
            return if stops {
                self.end(pc, &instruction.op)
            } else {
                lower::instruction(self, pc, instruction)
            };
        }
        if !stops && lower::is_cheap(instruction) {
            let condition = self.condition(instruction.guard);
            return lower::selected(self, instruction, condition);
        }
        if let (Op::Call(call), false) = (&instruction.op, stops) {
            return self.guarded_call(pc, call, instruction.guard);
        }
        let (run, after) = (self.e.block(), self.e.block());
        let changed = if stops { Vec::new() } else { self.written_by(instruction) };
        let old = self.collect(&changed);
        self.branch_if(instruction.guard, (run, &[]), (after, &old));
        self.e.go_on(run);
        if stops {
            self.end(pc, &instruction.op);
        } else {
            lower::instruction(self, pc, instruction);
            if !self.e.has_ended() {
                let new = self.collect(&changed);
                self.e.jump(after, &new);
            }
        }
        self.e.go_on(after);
        for bit in changed {
            let ty = self.type_of(bit);
            let param = self.e.param(after, ty);
            self.set_value(bit, param);
        }
    }

    /// Returns the registers and predicates that an instruction writes.
    fn written_by(&self, instruction: &Instruction) -> Vec<u32> {
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
        let [yes, no] = self.branch_if(guard, (way.block, &[]), (next.block, &[]));
        self.take(way, yes);
        self.take(next, no);
    }

    pub(super) fn branch_if(
        &mut self,
        condition: Condition,
        yes: (Blk, &[Val]),
        no: (Blk, &[Val]),
    ) -> [Edge; 2] {
        let value = self.predicate(condition.predicate);
        if !condition.negated {
            return self.e.branch(value, yes, no);
        }
        let [no, yes] = self.e.branch(value, no, yes);
        [yes, no]
    }
}
