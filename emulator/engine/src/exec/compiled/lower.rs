//! Instructions as machine code.

use super::backend::{CondCode, FloatCC, I8, I32, I64, IntCC, Kind, Val};
use super::called::{bits, call, extended};
use super::callees::{PURE, TEST};
use super::context::Context;
use super::types::{Holds, makes_canonical};
use super::writer::Writer;
use super::{atomic, conversion, directed, elementary, float, integer, memory};
use crate::program::effects::CARRY;
use crate::program::instruction::{Carry, Condition, Instruction, Logic, Op};
use crate::semantics::lower::{FloatRelation, Lower, LowerTest};
use crate::semantics::{Predicate, PureInfo, Register, TestInfo, Width};
use std::collections::HashMap;

/// Writes an instruction that has machine code, and whose guard holds.
pub(super) fn instruction(w: &mut Writer<'_, '_>, pc: u32, instruction: &Instruction) {
    match &instruction.op {
        Op::Load(access) => memory::load(w, pc, access),
        Op::Store(access) => memory::store(w, pc, access),
        Op::Atomic(atomic) => atomic::atomic(w, pc, atomic),
        Op::Fence(_) => w.e.fence(),
        Op::BranchIndexed { index, targets } => branch_indexed(w, pc, *index, targets),
        Op::Call(call) => w.call(pc, call),
        op => compute(w, op, None),
    }
}

/// Writes a cheap instruction, whose results count if the condition holds.
pub(super) fn selected(w: &mut Writer<'_, '_>, instruction: &Instruction, condition: Val) {
    compute(w, &instruction.op, Some(condition));
}

fn compute(w: &mut Writer<'_, '_>, op: &Op, condition: Option<Val>) {
    match op {
        Op::Pure { info, out, sources } => {
            let value = pure(w, info, *out, *sources);
            set(w, *out, value, condition);
        }
        Op::Test { info, out, inverse, sources, combine } => {
            let yes = test(w, info, *sources);
            let no = w.e.not(yes);
            let other = combine.map(|(logic, condition)| (logic, w.condition(condition)));
            set_predicate(w, *out, yes, other, condition);
            if let Some(inverse) = inverse {
                set_predicate(w, *inverse, no, other, condition);
            }
        }
        Op::Logic { logic, out, a, b } => {
            let (a, b) = (w.condition(*a), w.condition(*b));
            set_predicate(w, *out, a, Some((*logic, b)), condition);
        }
        Op::Select { out, a, b, condition: chosen, .. } => {
            let chosen = w.condition(*chosen);
            let value = select(w, *out, [*a, *b], chosen);
            set(w, *out, value, condition);
        }
        Op::Carry(carry) => add_with_carry(w, carry),
        Op::LocalAddress { out, offset, width } => {
            let ty = if *width == Width::Double { I64 } else { I32 };
            let mut value = w.e.int(I32, (*offset).into());
            if !w.kernel.functions.is_empty() {
                let context = w.context;
                let base = w.e.load(I32, Kind::State, context, Context::LOCAL_BASE);
                value = w.e.iadd(value, base);
            }
            if ty == I64 {
                value = w.e.uextend(I64, value);
            }
            set(w, *out, value, condition);
        }
        _ => {}
    }
}

fn set(w: &mut Writer<'_, '_>, out: Register, value: Val, condition: Option<Val>) {
    let Some(condition) = condition else { return w.set(out, value) };
    let ty = w.e.ty(value);
    let old = w.get_raw(out, ty);
    let value = w.select(condition, value, old);
    w.set(out, value);
}

fn set_predicate(
    w: &mut Writer<'_, '_>,
    out: Predicate,
    value: Val,
    other: Option<(Logic, Val)>,
    condition: Option<Val>,
) {
    let mut value = match other {
        None => value,
        Some((Logic::And, other)) => w.e.band(value, other),
        Some((Logic::Or, other)) => w.e.bor(value, other),
        Some((Logic::Xor, other)) => w.e.bxor(value, other),
    };
    if let Some(condition) = condition {
        let old = w.predicate(out);
        value = w.e.select(condition, value, old);
    }
    w.set_predicate(out, value);
}

fn select(w: &mut Writer<'_, '_>, out: Register, [a, b]: [Register; 2], chosen: Val) -> Val {
    let ty = w.own_type(out);
    let raw = w.holds[out.0 as usize] == Holds::Raw;
    let mut read = |register| if raw { w.get_raw(register, ty) } else { w.get(register, ty) };
    let (a, b) = (read(a), read(b));
    w.select(chosen, a, b)
}

fn pure(w: &mut Writer<'_, '_>, info: &'static PureInfo, out: Register, sources: [Register; 4]) -> Val {
    if info.lower == Lower::Move {
        let ty = w.own_type(out);
        return if w.holds[out.0 as usize] == Holds::Raw {
            w.get_raw(sources[0], ty)
        } else {
            w.get(sources[0], ty)
        };
    }
    if let Some(value) = float::pure(w, info, sources).or_else(|| elementary::pure(w, info, sources)) {
        let canonical = makes_canonical(info) && w.holds[out.0 as usize] != Holds::Raw;
        return if canonical { w.canonical(value) } else { value };
    }
    conversion::pure(w, info, sources)
        .or_else(|| directed::pure(w, info, sources))
        .or_else(|| integer::pure(w, info, sources))
        .unwrap_or_else(|| call(w, info, sources, PURE))
}

fn test(w: &mut Writer<'_, '_>, info: &'static TestInfo, sources: [Register; 2]) -> Val {
    let [a, b] = info.in_order(sources);
    let relation = match (info.lower, info.signed) {
        (LowerTest::Equal, _) => IntCC::Equal,
        (_, true) => IntCC::SignedLessThan,
        (_, false) => IntCC::UnsignedLessThan,
    };
    let (cc, flush) = match info.lower {
        LowerTest::Call => {
            let pointer = w.e.int(I64, std::ptr::from_ref(info).addr() as u64);
            // The function exchanges the operands itself, and inverts the result.
            let first = bits(w, sources[0], info.width);
            let second = bits(w, sources[1], if info.unary { Width::None } else { info.width });
            let result = w.e.call(TEST, &[pointer, first, second]);
            return w.e.ireduce(I8, result);
        }
        LowerTest::Equal | LowerTest::Less => {
            let ty = if info.size == 8 { I64 } else { I32 };
            let (a, b) = (w.get(a, ty), w.get(b, ty));
            let a = extended(w, a, info.size, info.signed);
            let b = extended(w, b, info.size, info.signed);
            // The opposite relation joins a branch, which an inverted result would not.
            return w.e.icmp(if info.flip == 0 { relation } else { relation.complement() }, a, b);
        }
        LowerTest::Float { relation, flush } => {
            let cc = match relation {
                FloatRelation::Equal => FloatCC::Equal,
                FloatRelation::Unequal => FloatCC::OrderedNotEqual,
                FloatRelation::Less => FloatCC::LessThan,
                FloatRelation::AtMost => FloatCC::LessThanOrEqual,
                FloatRelation::Ordered => FloatCC::Ordered,
            };
            (cc, flush && relation != FloatRelation::Ordered)
        }
    };
    float::compare(w, info, [a, b], if info.flip == 0 { cc } else { cc.complement() }, flush)
}

/// Adds integers with the carry flag.
fn add_with_carry(w: &mut Writer<'_, '_>, carry: &Carry) {
    const FLAG: Condition = Condition { predicate: CARRY, negated: false };
    let ty = if carry.width == Width::Double { I64 } else { I32 };
    let (a, b) = (w.get(carry.sources[0], ty), w.get(carry.sources[1], ty));
    let b = if carry.subtract { w.e.bnot(b) } else { b };
    let flag = if carry.reads { w.condition(FLAG) } else { w.e.int(I8, carry.subtract.into()) };
    if ty == I32 && w.quads.is_none() {
        // The upper half of a sum of 64 bits is the flag.
        let [a, b, flag] = [a, b, flag].map(|value| w.e.uextend(I64, value));
        let part = w.e.iadd(a, b);
        let sum = w.e.iadd(part, flag);
        let low = w.e.ireduce(I32, sum);
        w.set(carry.out, low);
        if carry.writes {
            let half = w.e.int(I64, 32);
            let upper = w.e.ushr(sum, half);
            let out = w.e.ireduce(I8, upper);
            w.set_predicate(CARRY, out);
        }
        return;
    }
    let flag = w.e.uextend(ty, flag);
    let part = w.e.iadd(a, b);
    let sum = w.e.iadd(part, flag);
    w.set(carry.out, sum);
    if carry.writes {
        let first = w.e.icmp(IntCC::UnsignedLessThan, part, a);
        let second = w.e.icmp(IntCC::UnsignedLessThan, sum, part);
        let out = w.e.bor(first, second);
        w.set_predicate(CARRY, out);
    }
}

fn branch_indexed(w: &mut Writer<'_, '_>, pc: u32, index: Register, targets: &[u32]) {
    let index = w.get(index, I32);
    let wrong = w.e.block();
    let mut blocks = HashMap::new();
    let ways: Vec<_> =
        targets.iter().map(|target| *blocks.entry(*target).or_insert_with(|| w.e.block())).collect();
    let mut blocks: Vec<_> = blocks.into_iter().map(|(target, block)| (block, w.way(pc, target))).collect();
    blocks.sort_unstable_by_key(|(block, _)| *block);
    w.e.table(index, &ways, wrong);
    w.e.cold(wrong);
    w.e.go_on(wrong);
    w.stop(pc);
    for (block, way) in blocks {
        w.e.go_on(block);
        let edge = w.e.jump(way.block, &[]);
        w.take(way, edge);
    }
}
