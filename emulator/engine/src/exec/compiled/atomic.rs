//! Atomic operations as machine code.

use super::backend::{I32, I64, IntCC, Kind, Rmw, Val, int_type};
use super::called::bits;
use super::callees::{ATOMIC, CHANGE};
use super::context::Context;
use super::float;
use super::memory::{Place, wide_address};
use super::support::{Area, adds_number, is_native, is_placed};
use super::writer::Writer;
use crate::program::memory::{Atomic, AtomicOperation, Order};
use crate::semantics::Width;

pub(super) fn atomic(w: &mut Writer<'_, '_>, pc: u32, atomic: &Atomic) {
    if is_placed(atomic) {
        let (at, offset) = update(pc, atomic).find(w);
        let host = w.e.add_constant(at, offset);
        return atomic_at(w, pc, atomic, host);
    }
    let address = wide_address(w, &atomic.address);
    let old = call(w, (ATOMIC, pc), atomic, address);
    let failed = w.e.load(I32, Kind::State, w.context, Context::FAILED);
    let next = w.e.block();
    w.give_up_if(failed, (next, &[]));
    w.e.go_on(next);
    set_old(w, atomic, old);
}

/// Performs an operation at a place that was checked.
pub(super) fn atomic_at(w: &mut Writer<'_, '_>, pc: u32, atomic: &Atomic, host: Val) {
    let old = if is_native(atomic) {
        native(w, atomic, host)
    } else if adds_number(atomic) {
        add(w, pc, atomic, host)
    } else {
        call(w, (CHANGE, pc), atomic, host)
    };
    set_old(w, atomic, old);
}

/// Adds a floating-point number. A function does if the sum is NaN or depends on subnormal numbers,
/// and if another thread of the machine changes the number meanwhile. Returns the bits of the old
/// number.
fn add(w: &mut Writer<'_, '_>, pc: u32, atomic: &Atomic, host: Val) -> Val {
    let (number, ty) = (float::float(atomic.ty.bytes()), int_type(atomic.ty.bytes()));
    let a = w.get_raw(atomic.operands[0], number);
    let is_global = Area::of(atomic.space) != Area::Shared;
    let [alone, contended, rare, done] = std::array::from_fn(|_| w.e.block());
    let result = w.e.param(done, I64);
    w.e.cold(rare);
    // Returns the bits of the sum, and goes on where it is usual.
    let sum = |w: &mut Writer<'_, '_>, old: Val| {
        let old = w.e.bitcast(number, old);
        let (new, good) = (w.e.fadd(old, a), w.e.block());
        let needs_care = float::needs_care(w, new, is_global);
        w.e.branch(needs_care, (rare, &[]), (good, &[]));
        w.e.go_on(good);
        w.e.bitcast(ty, new)
    };
    if is_global {
        let is_alone = w.e.load(I32, Kind::State, w.context, Context::ALONE);
        w.e.branch(is_alone, (alone, &[]), (contended, &[]));
        w.e.go_on(contended);
        let old = w.e.atomic_load(ty, host);
        let new = sum(w, old);
        let found = w.e.atomic_cas(host, old, new);
        let same = w.e.icmp(IntCC::Equal, found, old);
        let old = w.e.uextend(I64, old);
        w.e.branch(same, (done, &[old]), (rare, &[]));
    } else {
        w.e.jump(alone, &[]);
    }
    w.e.go_on(alone);
    let old = w.e.load(ty, Kind::User, host, 0);
    let new = sum(w, old);
    w.e.store(Kind::User, new, host, 0);
    let old = w.e.uextend(I64, old);
    w.e.jump(done, &[old]);
    w.e.go_on(rare);
    let old = call(w, (CHANGE, pc), atomic, host);
    w.e.jump(done, &[old]);
    w.e.go_on(done);
    result
}

fn native(w: &mut Writer<'_, '_>, atomic: &Atomic, host: Val) -> Val {
    let ty = int_type(atomic.ty.bytes());
    let a = w.get(atomic.operands[0], ty);
    if Area::of(atomic.space) == Area::Shared {
        return exclusively(w, atomic, host, a);
    }
    let [alone, contended, done] = std::array::from_fn(|_| w.e.block());
    let result = w.e.param(done, ty);
    let is_alone = w.e.load(I32, Kind::State, w.context, Context::ALONE);
    w.e.branch(is_alone, (alone, &[]), (contended, &[]));
    w.e.go_on(alone);
    let old = exclusively(w, atomic, host, a);
    w.e.jump(done, &[old]);
    w.e.go_on(contended);
    let old = locked(w, atomic, host, a);
    w.e.jump(done, &[old]);
    w.e.go_on(done);
    result
}

/// Performs an operation on memory that no other thread of the machine writes.
fn exclusively(w: &mut Writer<'_, '_>, atomic: &Atomic, host: Val, a: Val) -> Val {
    let ty = w.e.ty(a);
    let old = w.e.load(ty, Kind::User, host, 0);
    let new = apply(w, atomic, old, a);
    w.e.store(Kind::User, new, host, 0);
    old
}

fn locked(w: &mut Writer<'_, '_>, atomic: &Atomic, host: Val, a: Val) -> Val {
    let ty = w.e.ty(a);
    if atomic.operation == AtomicOperation::CompareExchange {
        let new = w.get(atomic.operands[1], ty);
        // An exchange that fails only reads, which takes no locked instruction.
        let seen = w.e.atomic_load(ty, host);
        let same = w.e.icmp(IntCC::Equal, seen, a);
        locked_if(w, same, seen, &|w| w.e.atomic_cas(host, a, new))
    } else if is_extremum(atomic) {
        // Without an order, an extremum that changes nothing only reads.
        let seen = w.e.atomic_load(ty, host);
        let new = apply(w, atomic, seen, a);
        let changes = w.e.icmp(IntCC::NotEqual, seen, new);
        locked_if(w, changes, seen, &|w| w.e.atomic_rmw(rmw(atomic), host, a))
    } else {
        w.e.atomic_rmw(rmw(atomic), host, a)
    }
}

/// True for a minimum or maximum that makes no earlier accesses visible.
fn is_extremum(atomic: &Atomic) -> bool {
    matches!(atomic.operation, AtomicOperation::Min | AtomicOperation::Max)
        && !matches!(atomic.order, Order::Strong { releases: true, .. })
}

/// Returns the result of a locked instruction if the condition holds, and otherwise the other
/// value.
fn locked_if(
    w: &mut Writer<'_, '_>,
    condition: Val,
    otherwise: Val,
    locked: &dyn Fn(&mut Writer<'_, '_>) -> Val,
) -> Val {
    let (run, done) = (w.e.block(), w.e.block());
    let ty = w.e.ty(otherwise);
    let result = w.e.param(done, ty);
    w.e.branch(condition, (run, &[]), (done, &[otherwise]));
    w.e.go_on(run);
    let old = locked(w);
    w.e.jump(done, &[old]);
    w.e.go_on(done);
    result
}

/// Returns the instruction of an operation that has one.
fn rmw(atomic: &Atomic) -> Rmw {
    let signed = atomic.ty.is_signed();
    match atomic.operation {
        AtomicOperation::Add => Rmw::Add,
        AtomicOperation::And => Rmw::And,
        AtomicOperation::Or => Rmw::Or,
        AtomicOperation::Xor => Rmw::Xor,
        AtomicOperation::Min if signed => Rmw::Smin,
        AtomicOperation::Min => Rmw::Umin,
        AtomicOperation::Max if signed => Rmw::Smax,
        AtomicOperation::Max => Rmw::Umax,
        _ => Rmw::Exchange,
    }
}

pub(super) fn update(pc: u32, atomic: &Atomic) -> Place<'_> {
    let Atomic { space, address, cache, .. } = atomic;
    let reads = atomic.operation != AtomicOperation::Exchange;
    Place { pc, space: *space, address, bytes: atomic.ty.bytes(), cache: *cache, reads, writes: true }
}

/// Writes the new value of memory that no other thread of the machine accesses.
fn apply(w: &mut Writer<'_, '_>, atomic: &Atomic, old: Val, a: Val) -> Val {
    let signed = atomic.ty.is_signed();
    match atomic.operation {
        AtomicOperation::Add => w.e.iadd(old, a),
        AtomicOperation::And => w.e.band(old, a),
        AtomicOperation::Or => w.e.bor(old, a),
        AtomicOperation::Xor => w.e.bxor(old, a),
        AtomicOperation::Min if signed => w.e.smin(old, a),
        AtomicOperation::Min => w.e.umin(old, a),
        AtomicOperation::Max if signed => w.e.smax(old, a),
        AtomicOperation::Max => w.e.umax(old, a),
        AtomicOperation::CompareExchange => {
            let ty = w.e.ty(old);
            let new = w.get(atomic.operands[1], ty);
            let same = w.e.icmp(IntCC::Equal, old, a);
            w.e.select(same, new, old)
        }
        AtomicOperation::Increment => {
            let (ty, more) = (w.e.ty(old), w.e.icmp(IntCC::UnsignedGreaterThanOrEqual, old, a));
            let (zero, one) = (w.e.int(ty, 0), w.e.int(ty, 1));
            let next = w.e.iadd(old, one);
            w.e.select(more, zero, next)
        }
        AtomicOperation::Decrement => {
            // Zero becomes the greatest number, which is beyond any operand or equal to it.
            let ty = w.e.ty(old);
            let one = w.e.int(ty, 1);
            let before = w.e.isub(old, one);
            let wraps = w.e.icmp(IntCC::UnsignedGreaterThanOrEqual, before, a);
            w.e.select(wraps, a, before)
        }
        AtomicOperation::Exchange => a,
    }
}

/// Calls a function that performs an operation at an address or place, and returns the old value.
fn call(w: &mut Writer<'_, '_>, (callee, pc): (usize, u32), atomic: &Atomic, address: Val) -> Val {
    let width = if atomic.ty.bytes() == 8 { Width::Double } else { Width::Single };
    let (context, number) = (w.context, w.e.int(I32, pc.into()));
    let a = bits(w, atomic.operands[0], width);
    let second = atomic.operation == AtomicOperation::CompareExchange;
    let b = bits(w, atomic.operands[1], if second { width } else { Width::None });
    w.e.call(callee, &[context, number, address, a, b])
}

fn set_old(w: &mut Writer<'_, '_>, atomic: &Atomic, old: Val) {
    if let Some(out) = atomic.out {
        let short = w.e.ty(old) == I64 && atomic.ty.bytes() != 8;
        let value = if short { w.e.ireduce(I32, old) } else { old };
        w.set(out, value);
    }
}
