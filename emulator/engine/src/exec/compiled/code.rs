//! A kernel as machine code.

use super::backend::{self, Blk, Callee, Emitter, I32, I64, IntCC, Kind, Machine, Val, Var};
use super::calls::{self, CallSite, Calls};
use super::context::{self, Context};
use super::lower;
use super::plan::{self, NONE, Plan};
use super::roots::Roots;
use super::types::{self, Holds};
use crate::program::Kernel;
use crate::program::instruction::{Condition, Constant, Op};
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

fn callees() -> [Callee; 6] {
    let [find, atomic] = [context::find as *const u8, context::atomic as *const u8];
    let [pure, test] = [context::pure as *const u8, context::test as *const u8];
    let pure_of = |cold| Callee { address: pure, params: &[I64, I64, I64, I64, I64], result: I64, cold };
    [
        Callee { address: find, params: &[I64, I32, I64], result: I64, cold: true },
        Callee { address: atomic, params: &[I64, I32, I64, I64, I64], result: I64, cold: false },
        pure_of(false),
        Callee { address: test, params: &[I64, I64, I64], result: I64, cold: false },
        pure_of(true),
        Callee { address: context::keep as *const u8, params: &[I64, I64, I64], result: I64, cold: false },
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
        let machine = backend::build(&callees(), |emitter| {
            let writer = Writer::new(emitter, kernel, (&plan, &roots));
            sites = Writer { checked, ..writer }.write();
            Some(())
        })?;
        let slack = calls::slack(kernel, &plan);
        let Plan { stops, entry_of, stored, .. } = plan;
        Some(Code { machine, stops, entry_of, roots, sites, stored, slack })
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
    pub(super) registers: Vec<Option<Var>>,
    pub(super) predicates: Vec<Option<Var>>,
    fuel: Var,
    blocks: HashMap<u32, Blk>,
    tired: HashMap<u32, Blk>,
    pub(super) context: Val,
    /// The running lane, and the addresses of its cells in the first row and the first double row.
    pub(super) lane: Val,
    pub(super) cells: [Val; 2],
    pub(super) rest: Val,
    pub(super) next_lane: Blk,
    stopped: Blk,
}

impl<'w, 'e> Writer<'w, 'e> {
    fn new(e: &'w mut Emitter<'e>, kernel: &'w Kernel, (plan, roots): (&'w Plan, &'w Roots)) -> Self {
        let constants: HashMap<u32, Constant> =
            kernel.constants.iter().map(|(register, _, constant)| (register.0, *constant)).collect();
        let holds = types::find(kernel, &constants);
        let [context, _, _] = [e.params[0], e.params[1], e.params[2]];
        let fuel = e.var(I32);
        let (next_lane, stopped) = (e.block(), e.block());
        Writer {
            holds,
            constants,
            registers: vec![None; kernel.rows as usize],
            predicates: vec![None; kernel.predicates as usize],
            fuel,
            blocks: HashMap::new(),
            tired: HashMap::new(),
            context,
            lane: context,
            cells: [context; 2],
            rest: context,
            next_lane,
            stopped,
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
                let block = self.block(pc);
                if !self.e.has_ended() {
                    self.e.jump(block, &[]);
                }
                self.e.go_on(block);
            }
            if !self.e.has_ended() {
                self.instruction(pc);
            }
        }
        if !self.e.has_ended() {
            self.e.give_up();
        }
        // Code after the last instruction cannot be reached.
        let behind = self.kernel.code.len() as u32;
        if let Some(block) = self.blocks.get(&behind).copied() {
            self.e.go_on(block);
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
        self.e.set(self.fuel, fuel);
        self.begin_calls();
        let entries: Vec<Blk> = self.plan.entries.iter().map(|_| self.e.block()).collect();
        let never = self.e.block();
        self.e.table(entry, &entries, never);
        self.e.go_on(never);
        self.e.give_up();
        for (pc, block) in self.plan.entries.iter().zip(entries) {
            self.e.go_on(block);
            for bit in &self.plan.loaded[pc] {
                self.load_row(*bit);
            }
            let to = self.block(*pc);
            self.e.jump(to, &[]);
        }
        self.write_stopped();
    }

    fn write_stopped(&mut self) {
        let number = self.e.param(self.stopped, I64);
        self.e.go_on(self.stopped);
        self.write_spent();
        let (first, done) = (self.e.block(), self.e.block());
        let stops = self.e.load(I64, Kind::Constant, self.context, Context::STOPS);
        let two = self.e.int(I64, 2);
        let offset = self.e.ishl(number, two);
        let at = self.e.iadd(stops, offset);
        let old = self.e.load(I32, Kind::State, at, 0);
        let bit = self.bit();
        let new = self.e.bor(old, bit);
        self.e.store(Kind::State, new, at, 0);
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

    /// Adds the instructions of the lane to those of all lanes.
    pub(super) fn write_spent(&mut self) {
        let fuel = self.e.load(I32, Kind::Constant, self.context, Context::FUEL);
        let left = self.e.get(self.fuel);
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

    /// Returns the block that begins at an instruction.
    pub(super) fn block(&mut self, pc: u32) -> Blk {
        let e = &mut *self.e;
        *self.blocks.entry(pc).or_insert_with(|| e.block())
    }

    /// Ends the run of this lane without a stop, after a fault.
    pub(super) fn give_up_if(&mut self, failed: Val, next: (Blk, &[Val])) {
        // A cold block for each access. The edge to a common block would be among the frequent code.
        let end = self.e.block();
        self.e.cold(end);
        self.e.branch(failed, (end, &[]), next);
        self.e.go_on(end);
        let rest = self.rest;
        self.e.jump(self.next_lane, &[rest]);
    }

    /// Ends the run of this lane before an instruction that the plain mode runs.
    pub(super) fn stop(&mut self, pc: u32) {
        if self.has_calls && calls::function_at(self.kernel, pc).is_some() {
            self.stop_in_call(pc);
        }
        for bit in &self.plan.stored[&pc] {
            self.store_row(*bit);
        }
        let number = self.plan.stop_of[pc as usize];
        let number = self.e.int(I64, number.into());
        self.e.jump(self.stopped, &[number]);
    }

    /// Returns the block for the way from a branch to its target. Backwards it takes fuel.
    pub(super) fn way(&mut self, from: u32, to: u32) -> Blk {
        let target = self.block(to);
        if to > from {
            return target;
        }
        let way = self.e.block();
        let known = self.tired.get(&to).copied();
        let tired = known.unwrap_or_else(|| self.e.block());
        if known.is_none() {
            self.tired.insert(to, tired);
            self.e.cold(tired);
            self.e.go_on(tired);
            self.stop(to);
        }
        self.e.go_on(way);
        let good = self.takes_share(from - to + 1);
        self.e.branch(good, (target, &[]), (tired, &[]));
        way
    }

    /// Takes instructions from the share of the lane. Returns true if some are left.
    pub(super) fn takes_share(&mut self, cost: u32) -> Val {
        let fuel = self.e.get(self.fuel);
        let cost = self.e.int(I32, cost.into());
        let left = self.e.isub(fuel, cost);
        self.e.set(self.fuel, left);
        let zero = self.e.int(I32, 0);
        self.e.icmp(IntCC::SignedGreaterThan, left, zero)
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
        let (run, after) = (self.e.block(), self.e.block());
        self.branch_if(instruction.guard, run, after);
        self.e.go_on(run);
        if stops {
            self.end(pc, &instruction.op);
        } else {
            lower::instruction(self, pc, instruction);
            if !self.e.has_ended() {
                self.e.jump(after, &[]);
            }
        }
        self.e.go_on(after);
    }

    fn write_branch(&mut self, pc: u32, target: u32, guard: Condition) {
        let at = self.e.block();
        self.e.jump(at, &[]);
        let way = self.way(pc, target);
        self.e.go_on(at);
        if guard == Condition::ALWAYS {
            self.e.jump(way, &[]);
            return;
        }
        let next = self.block(pc + 1);
        self.branch_if(guard, way, next);
    }

    fn branch_if(&mut self, condition: Condition, yes: Blk, no: Blk) {
        let value = self.predicate(condition.predicate);
        let (yes, no) = if condition.negated { (no, yes) } else { (yes, no) };
        self.e.branch(value, (yes, &[]), (no, &[]));
    }
}
