//! Calls and returns as jumps within the machine code of a kernel.
//!
//! A lane has a stack of records, one for each call since its entry. A record contains the
//! registers of the caller that are live after the call, then a [`Header`]. A return without a
//! record is a stop: the plain mode made that call. A call that passes a limit is a stop too, so
//! the plain mode reports it. The stack ends with the run of the lane: `frames` turns the records
//! of a lane that stops in a function into the frames of the plain mode. Such a lane stores its
//! registers after the records, because the rows may have registers of a caller that has called the
//! same function.

use super::backend::{Blk, I32, I64, IntCC, Kind, Val};
use super::callees::KEEP;
use super::context::Context;
use super::plan::Plan;
use super::support::{self, fits};
use super::writer::Writer;
use crate::exec::block::stack::FRAME_ALIGN;
use crate::exec::plain::MOST_CALLS;
use crate::program::instruction::{Call, Callee, Condition, Op};
use crate::program::{FUNCTION_STRIDE, Function, Kernel};
use crate::semantics::{LANES, Register};
use std::mem::offset_of;

/// Bytes of a saved register.
pub(super) const SLOT: usize = size_of::<u64>();
/// Instructions that a call takes from the share of a lane at most.
const MOST_COST: usize = 64;

/// The end of a record.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Header {
    /// Number of the call in the kernel.
    pub(super) site: u32,
    pub(super) function: u32,
    /// Base of the caller's frame in local memory, and its stack pointer.
    pub(super) callers_base: u32,
    pub(super) callers_stack: u32,
}

const HEADER: i32 = size_of::<Header>() as i32;

impl Header {
    const SITE: i32 = offset_of!(Header, site) as i32 - HEADER;
    const FUNCTION: i32 = offset_of!(Header, function) as i32 - HEADER;
    const BASE: i32 = offset_of!(Header, callers_base) as i32 - HEADER;
    const STACK: i32 = offset_of!(Header, callers_stack) as i32 - HEADER;
}

/// A call with machine code.
#[derive(Clone, Debug)]
pub(super) struct CallSite {
    pub(super) pc: u32,
    /// The registers that its records contain, and predicates after all rows.
    pub(super) saved: Vec<u32>,
}

impl CallSite {
    /// Returns the number of bytes of its records.
    pub(super) fn bytes(&self) -> usize {
        self.saved.len() * SLOT + size_of::<Header>()
    }
}

/// The calls of the kernel that is being written.
#[derive(Default)]
pub(super) struct Calls {
    pub(super) sites: Vec<CallSite>,
    /// The code after each call.
    after: Vec<Blk>,
    /// The end of returns, which goes to the code after the call.
    returned: Option<(Blk, Val)>,
    /// The end of stops of lanes with records, which takes the number of the stop, the number of
    /// its registers, and the instructions left.
    kept: Option<(Blk, [Val; 3])>,
}

impl Writer<'_, '_> {
    /// Writes the beginning of a lane that has made no calls.
    pub(super) fn begin_calls(&mut self) {
        if !self.has_calls {
            return;
        }
        let context = self.context;
        let first = self.e.load(I64, Kind::Constant, context, Context::RECORDS);
        self.e.store(Kind::State, first, context, Context::TOP);
        let depth = self.e.load(I32, Kind::Constant, context, Context::FIRST_DEPTH);
        self.e.store(Kind::State, depth, context, Context::DEPTH);
        let base = self.e.load(I32, Kind::Constant, context, Context::FIRST_BASE);
        self.e.store(Kind::State, base, context, Context::LOCAL_BASE);
    }

    /// Returns true if the lane has records.
    pub(super) fn is_in_call(&mut self) -> Val {
        let top = self.e.load(I64, Kind::State, self.context, Context::TOP);
        let first = self.e.load(I64, Kind::Constant, self.context, Context::RECORDS);
        self.e.icmp(IntCC::NotEqual, top, first)
    }

    /// Writes a stop of a lane with records, and goes on for lanes without.
    pub(super) fn stop_in_call(&mut self, pc: u32) {
        let in_call = self.is_in_call();
        let (with, without) = (self.e.block(), self.e.block());
        self.e.branch(in_call, (with, &[]), (without, &[]));
        self.e.go_on(with);
        let top = self.e.load(I64, Kind::State, self.context, Context::TOP);
        let stored = self.plan.stored_at(pc);
        for (index, bit) in stored.iter().enumerate() {
            self.save(*bit, (top, (index * SLOT) as i32));
        }
        let e = &mut *self.e;
        let (kept, _) = *self.calls.kept.get_or_insert_with(|| {
            let block = e.block();
            (block, [I64, I64, I32].map(|ty| e.param(block, ty)))
        });
        let number = self.e.int(I64, self.plan.stop_of[pc as usize].into());
        let count = self.e.int(I64, stored.len() as u64);
        let left = self.fuel_left();
        self.e.jump(kept, &[number, count, left]);
        self.e.go_on(without);
    }

    /// Writes the end of all returns and of stops in functions, after all calls are known.
    pub(super) fn end_calls(&mut self) {
        if let Some((kept, [number, count, left])) = self.calls.kept {
            self.e.go_on(kept);
            let context = self.context;
            let lent = self.lent();
            let left = self.e.isub(left, lent);
            self.write_spent(left);
            self.e.call(KEEP, &[context, number, count]);
            let rest = self.rest;
            self.e.jump(self.next_lane, &[rest]);
        }
        let Some((returned, _)) = self.calls.returned else { return };
        self.e.go_on(returned);
        let top = self.e.load(I64, Kind::State, self.context, Context::TOP);
        let site = self.e.load(I32, Kind::State, top, Header::SITE);
        let never = self.e.block();
        let after = std::mem::take(&mut self.calls.after);
        self.e.table(site, &after, never);
        self.e.go_on(never);
        self.e.give_up();
    }

    /// Returns the instructions lent to the lane for the calls that it has not returned from.
    fn lent(&mut self) -> Val {
        let context = self.context;
        let depth = self.e.load(I32, Kind::State, context, Context::DEPTH);
        let first = self.e.load(I32, Kind::Constant, context, Context::FIRST_DEPTH);
        let calls = self.e.isub(depth, first);
        let each = self.e.load(I32, Kind::Constant, context, Context::LOAN);
        self.e.imul(calls, each)
    }

    /// Writes a call, and the return from it.
    pub(super) fn call(&mut self, pc: u32, call: &Call) {
        let saved = self.plan.live.kept.get(&pc).cloned().unwrap_or_default();
        let site = CallSite { pc, saved };
        let number = self.calls.sites.len() as u32;
        self.calls.sites.push(site.clone());
        let after = self.e.block();
        self.calls.after.push(after);
        let arguments: Vec<Val> = call.arguments.iter().map(|register| self.get(*register, I32)).collect();
        let top = self.e.load(I64, Kind::State, self.context, Context::TOP);
        for (index, bit) in site.saved.iter().enumerate() {
            self.save(*bit, (top, (index * SLOT) as i32));
        }
        let top = self.e.add_constant(top, site.bytes() as i32);
        let refused = self.e.block();
        match call.callee {
            Callee::Direct(function) => self.enter((number, top), function, &arguments, refused),
            Callee::Indirect(row) => self.choose((number, top), (call, row), &arguments, refused),
            Callee::System(_) => {}
        }
        self.e.cold(refused);
        self.e.go_on(refused);
        self.stop(pc);
        self.e.go_on(after);
        self.go_on_after(&site, call);
    }

    /// Writes a call that only some lanes make.
    pub(super) fn guarded_call(&mut self, pc: u32, call: &Call, guard: Condition) {
        let (run, skip) = (self.e.block(), self.e.block());
        self.branch_if((pc, guard), (run, &[]), (skip, &[]));
        self.e.go_on(skip);
        self.jump_to(pc + 1);
        self.e.go_on(run);
        self.call(pc, call);
    }

    /// Writes the jumps to each function that a pointer may name.
    fn choose(
        &mut self,
        record: (u32, Val),
        (call, row): (&Call, Register),
        arguments: &[Val],
        refused: Blk,
    ) {
        let address = self.get(row, I64);
        let first = self.e.load(I64, Kind::Constant, self.context, Context::CODE);
        let offset = self.e.isub(address, first);
        let shift = self.e.int(I32, FUNCTION_STRIDE.trailing_zeros().into());
        // An address between two functions becomes a large number.
        let number = self.e.rotr(offset, shift);
        let functions = &self.kernel.by_module_index;
        let count = functions.keys().max().map_or(0, |last| *last as usize + 1).min(support::MOST_WAYS);
        let wide = self.e.int(I64, count as u64);
        let known = self.e.icmp(IntCC::UnsignedLessThan, number, wide);
        let chosen = self.e.block();
        self.e.branch(known, (chosen, &[]), (refused, &[]));
        self.e.go_on(chosen);
        let number = self.e.ireduce(I32, number);
        let of_number = |number: usize| functions.get(&(number as u32)).copied();
        let targets: Vec<Option<u32>> = (0..count)
            .map(|number| of_number(number).filter(|function| fits(self.kernel, call, *function)))
            .collect();
        let ways: Vec<Blk> =
            targets.iter().map(|target| if target.is_some() { self.e.block() } else { refused }).collect();
        self.e.table(number, &ways, refused);
        for (target, way) in targets.into_iter().zip(ways) {
            if let Some(function) = target {
                self.e.go_on(way);
                self.enter(record, function, arguments, refused);
            }
        }
    }

    /// Writes the jump to a function, with the record that ends at `top`.
    fn enter(&mut self, (site, top): (u32, Val), function: u32, arguments: &[Val], refused: Blk) {
        let callee = &self.kernel.functions[function as usize];
        let context = self.context;
        let stack = self.stack_pointer();
        let old_stack = self.e.load(I32, Kind::State, stack, 0);
        let up = self.e.int(I32, (FRAME_ALIGN - 1).into());
        let down = self.e.int(I32, (!(FRAME_ALIGN - 1)).into());
        let base = self.e.iadd(old_stack, up);
        let base = self.e.band(base, down);
        let size = self.e.int(I32, callee.frame.into());
        let end = self.e.iadd(base, size);
        let local = self.e.load(I32, Kind::Constant, context, Context::MOST_STACK);
        let in_local = self.e.icmp(IntCC::UnsignedLessThanOrEqual, end, local);
        let last = self.e.load(I64, Kind::Constant, context, Context::RECORDS_END);
        let in_records = self.e.icmp(IntCC::UnsignedLessThanOrEqual, top, last);
        let depth = self.e.load(I32, Kind::State, context, Context::DEPTH);
        let one = self.e.int(I32, 1);
        let deeper = self.e.iadd(depth, one);
        let most = self.e.int(I32, MOST_CALLS.into());
        let in_depth = self.e.icmp(IntCC::UnsignedLessThanOrEqual, deeper, most);
        let cost = self.e.int(I32, self.cost(callee).into());
        let fuel = self.fuel_left();
        let left = self.e.isub(fuel, cost);
        let zero = self.e.int(I32, 0);
        let in_share = self.e.greater(left, zero);
        let good = self.e.band(in_local, in_records);
        let good = self.e.band(good, in_depth);
        let good = self.e.band(good, in_share);
        let entered = self.e.block();
        self.e.branch(good, (entered, &[]), (refused, &[]));
        self.e.go_on(entered);
        let old_base = self.e.load(I32, Kind::State, context, Context::LOCAL_BASE);
        let (site, number) = (self.e.int(I32, site.into()), self.e.int(I32, function.into()));
        self.e.store(Kind::State, site, top, Header::SITE);
        self.e.store(Kind::State, number, top, Header::FUNCTION);
        self.e.store(Kind::State, old_base, top, Header::BASE);
        self.e.store(Kind::State, old_stack, top, Header::STACK);
        self.e.store(Kind::State, top, context, Context::TOP);
        self.e.store(Kind::State, deeper, context, Context::DEPTH);
        self.e.store(Kind::State, base, context, Context::LOCAL_BASE);
        self.e.store(Kind::State, end, stack, 0);
        let mut values = self.first_values(callee, arguments);
        let lent = self.e.load(I32, Kind::Constant, context, Context::LOAN);
        values.push(self.e.iadd(left, lent));
        self.jump_with(callee.entry, values);
    }

    /// Returns the values with which a function begins: the parameters, and zero for the registers
    /// that it may read before it writes them.
    fn first_values(&mut self, callee: &Function, arguments: &[Val]) -> Vec<Val> {
        let plan = self.plan;
        let value = |bit: &u32| {
            let index = callee.params.iter().position(|param| param.0 == *bit);
            let ty = self.type_of(*bit);
            match index {
                Some(index) => self.convert(arguments[index], ty),
                None => self.e.zero(ty),
            }
        };
        plan.live_at(callee.entry).iter().map(value).collect()
    }

    /// Returns the instructions of a function without its loops, up to a limit.
    fn cost(&self, callee: &Function) -> u32 {
        let code = &self.kernel.code[callee.entry as usize..];
        let length = code.iter().position(|instruction| {
            matches!(instruction.op, Op::Return) && instruction.guard == Condition::ALWAYS
        });
        length.unwrap_or(0).min(MOST_COST) as u32 + 1
    }

    /// Writes a return, a stop if the plain mode has made the call.
    pub(super) fn leave(&mut self, pc: u32, function: &Function) {
        let in_call = self.is_in_call();
        let (made, refused) = (self.e.block(), self.e.block());
        self.e.branch(in_call, (made, &[]), (refused, &[]));
        self.e.cold(refused);
        self.e.go_on(refused);
        self.stop(pc);
        self.e.go_on(made);
        let context = self.context;
        let top = self.e.load(I64, Kind::State, context, Context::TOP);
        for (index, register) in function.returns.iter().enumerate() {
            let value = self.get(*register, I32);
            self.e.store(Kind::State, value, top, index as i32 * 4);
        }
        let base = self.e.load(I32, Kind::State, top, Header::BASE);
        self.e.store(Kind::State, base, context, Context::LOCAL_BASE);
        let stack = self.stack_pointer();
        let old = self.e.load(I32, Kind::State, top, Header::STACK);
        self.e.store(Kind::State, old, stack, 0);
        let depth = self.e.load(I32, Kind::State, context, Context::DEPTH);
        let one = self.e.int(I32, 1);
        let depth = self.e.isub(depth, one);
        self.e.store(Kind::State, depth, context, Context::DEPTH);
        let (returned, _) = self.returned();
        let (left, lent) = (self.fuel_left(), self.e.load(I32, Kind::Constant, context, Context::LOAN));
        let left = self.e.isub(left, lent);
        self.e.jump(returned, &[left]);
    }

    /// Returns the end of all returns, and the instructions left to the lane there.
    fn returned(&mut self) -> (Blk, Val) {
        let e = &mut *self.e;
        *self.calls.returned.get_or_insert_with(|| {
            let block = e.block();
            (block, e.param(block, I32))
        })
    }

    /// Writes the code after a call, which takes the registers from the record and the results from
    /// the bytes after it.
    fn go_on_after(&mut self, site: &CallSite, call: &Call) {
        let (_, left) = self.returned();
        self.forget();
        self.set_fuel(left);
        let end = self.e.load(I64, Kind::State, self.context, Context::TOP);
        let start = self.e.add_constant(end, -(site.bytes() as i32));
        self.e.store(Kind::State, start, self.context, Context::TOP);
        for (index, bit) in site.saved.iter().enumerate() {
            self.restore(*bit, (start, (index * SLOT) as i32));
        }
        for (index, register) in call.results.iter().enumerate() {
            let value = self.e.load(I32, Kind::State, end, index as i32 * 4);
            self.set(*register, value);
        }
    }

    /// Returns the address of the lane's stack pointer.
    fn stack_pointer(&mut self) -> Val {
        let pointers = self.e.load(I64, Kind::Constant, self.context, Context::STACK);
        let lane = self.e.uextend(I64, self.lane);
        let two = self.e.int(I64, 2);
        let offset = self.e.ishl(lane, two);
        self.e.iadd(pointers, offset)
    }
}

/// Returns the bytes that machine code may use after the last record: for results, or for the
/// registers of a stop.
pub(super) fn slack(kernel: &Kernel, plan: &Plan) -> usize {
    let results = kernel.functions.iter().map(|function| function.returns.len().div_ceil(2));
    let stored = plan.live.stored.values().map(Vec::len);
    results.chain(stored).max().unwrap_or(0) * SLOT
}

const _: () = assert!(LANES == 32 && FUNCTION_STRIDE.is_power_of_two());
