//! Loads, stores and atomic operations as machine code.

use super::backend::{Blk, F32, F64, I32, I64, IntCC, Kind, Rmw, Type, Val, int_type};
use super::code::{ATOMIC, CHANGE, FIND, Writer};
use super::context::Context;
use super::initialized;
use super::lower::bits;
use super::roots::Bounds;
use crate::exec::block::cached::Reach;
use crate::program::memory::{Access, Address, Atomic, AtomicOperation, Order};
use crate::ptx::Space;
use crate::semantics::{Register, Width};

/// Maximum number of bytes of an access.
const MOST_BYTES: i32 = 64;

/// Memory that an access may reach, as far as its bounds are checked here.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Area {
    Shared,
    Local,
    /// The region that the access found last.
    Region,
}

impl Area {
    fn of(space: Option<Space>) -> Area {
        match space {
            Some(Space::Shared | Space::SharedCluster) => Area::Shared,
            Some(Space::Local) => Area::Local,
            _ => Area::Region,
        }
    }
}

fn wide_address(w: &mut Writer<'_, '_>, address: &Address) -> Val {
    let base = bits(w, address.base, address.width);
    let offset = w.e.int(I64, address.offset as u64);
    w.e.iadd(base, offset)
}

fn narrow_address(w: &mut Writer<'_, '_>, address: &Address) -> Val {
    let base = if address.width == Width::Double {
        let base = w.get(address.base, I64);
        w.e.ireduce(I32, base)
    } else {
        w.get(address.base, I32)
    };
    let offset = w.e.int(I32, address.offset as u64);
    w.e.iadd(base, offset)
}

/// One access of a lane.
struct Place<'a> {
    pc: u32,
    space: Option<Space>,
    address: &'a Address,
    bytes: u32,
    cache: u32,
    reads: bool,
    writes: bool,
}

impl Place<'_> {
    /// Checks the access, and performs it by `emit` at a host address plus an offset: once in the
    /// frequent code, where the address is part of the instruction, and once after a search for the
    /// region. Returns the results of `emit`.
    fn access(
        &self,
        w: &mut Writer<'_, '_>,
        types: &[Type],
        emit: &dyn Fn(&mut Writer<'_, '_>, Val, i32) -> Vec<Val>,
    ) -> Vec<Val> {
        if w.plan.is_large && !w.checked {
            return self.access_shortly(w, emit);
        }
        let [hit, missed, searched, done] = std::array::from_fn(|_| w.e.block());
        let results = types.iter().map(|ty| w.e.param(done, *ty)).collect();
        let mut record = None;
        let (good, at, offset) = self.check(w, &mut record);
        w.e.cold(missed);
        w.e.branch(good, (hit, &[]), (missed, &[]));
        w.e.go_on(missed);
        w.e.cold(searched);
        let host = self.search(w, searched, false);
        w.e.go_on(searched);
        let values = emit(w, host, 0);
        w.e.jump(done, &values);
        w.e.go_on(hit);
        if let Some(record) = record.filter(|_| self.writes) {
            initialized::mark(w, record, self.bytes);
        }
        let values = emit(w, at, offset);
        w.e.jump(done, &values);
        w.e.go_on(done);
        results
    }

    /// Like `access` in fewer blocks, which the code generator translates in half the time.
    fn access_shortly(
        &self,
        w: &mut Writer<'_, '_>,
        emit: &dyn Fn(&mut Writer<'_, '_>, Val, i32) -> Vec<Val>,
    ) -> Vec<Val> {
        let [missed, done] = std::array::from_fn(|_| w.e.block());
        let host = w.e.param(done, I64);
        let (good, at, offset) = self.check(w, &mut None);
        let at = if offset == 0 { at } else { w.e.add_constant(at, offset) };
        w.e.cold(missed);
        w.e.branch(good, (done, &[at]), (missed, &[]));
        w.e.go_on(missed);
        self.search(w, done, true);
        w.e.go_on(done);
        emit(w, host, 0)
    }

    /// Returns true if the access fits, and its host address without and with its constant offset.
    /// See `in_window` for the record.
    fn check(&self, w: &mut Writer<'_, '_>, record: &mut Option<Val>) -> (Val, Val, i32) {
        match (Area::of(self.space), w.roots.bounds(self.pc)) {
            (Area::Region, Some(bounds)) => self.in_known_region(w, bounds),
            (Area::Region, None) => self.in_region(w),
            (area, _) => self.in_window(w, area, record),
        }
    }

    /// Writes the search for the region, and goes on in a block, `passed` the address.
    fn search(&self, w: &mut Writer<'_, '_>, found: Blk, passed: bool) -> Val {
        let address = wide_address(w, self.address);
        let pc = w.e.int(I32, self.pc.into());
        let host = w.e.call(FIND, &[pc, address]);
        let arguments = if passed { &[host][..] } else { &[] };
        w.give_up_unless(host, (found, arguments));
        host
    }

    /// Checks the access, and returns the position of its bytes in memory.
    fn find(&self, w: &mut Writer<'_, '_>) -> Val {
        let found = self.access(w, &[I64], &|w, at, offset| vec![w.e.add_constant(at, offset)]);
        found[0]
    }

    /// Compares with the number of accesses that fit: a misaligned one becomes a large number.
    fn fits(&self, w: &mut Writer<'_, '_>, offset: Val, limit: Val) -> Val {
        let shift = w.e.int(I32, self.bytes.trailing_zeros().into());
        let number = if self.bytes == 1 { offset } else { w.e.rotr(offset, shift) };
        w.e.icmp(IntCC::UnsignedLessThan, number, limit)
    }

    /// Returns true if the access fits, and its host address without and with its constant offset.
    fn in_known_region(&self, w: &mut Writer<'_, '_>, bounds: Bounds) -> (Val, Val, i32) {
        let list = w.e.load(I64, Kind::Constant, w.context, Context::BOUNDS);
        let word = |index: usize| index as i32 * size_of::<u64>() as i32;
        let base = w.e.load(I64, Kind::Constant, list, word(bounds.base));
        let host = w.e.load(I64, Kind::Constant, list, word(bounds.base + 1));
        let limit = w.e.load(I64, Kind::Constant, list, word(bounds.limit));
        let address = w.get(self.address.base, I64);
        let first = w.e.isub(address, base);
        let added = w.e.int(I64, self.address.offset as u64);
        let offset = w.e.iadd(first, added);
        let good = self.fits(w, offset, limit);
        match i32::try_from(self.address.offset) {
            Ok(added) if added.checked_add(MOST_BYTES).is_some() => (good, w.e.iadd(host, first), added),
            _ => (good, w.e.iadd(host, offset), 0),
        }
    }

    fn in_region(&self, w: &mut Writer<'_, '_>) -> (Val, Val, i32) {
        let address = wide_address(w, self.address);
        let caches = w.e.load(I64, Kind::Constant, w.context, Context::CACHES);
        let at = self.cache as i32 * Reach::BYTES;
        let base = w.e.load(I64, Kind::State, caches, at + Reach::BASE);
        let limit = w.e.load(I64, Kind::State, caches, at + Reach::LIMIT);
        let delta = w.e.load(I64, Kind::State, caches, at + Reach::DELTA);
        let offset = w.e.isub(address, base);
        let good = self.fits(w, offset, limit);
        (good, w.e.iadd(address, delta), 0)
    }

    /// If a check needs it, also sets `record` to the position of the bytes in the record of
    /// written bytes.
    fn in_window(&self, w: &mut Writer<'_, '_>, area: Area, record: &mut Option<Val>) -> (Val, Val, i32) {
        let shared = area == Area::Shared;
        let mut offset = narrow_address(w, self.address);
        let size = self.bytes.trailing_zeros() as i32 * 4;
        if shared {
            let base = w.e.load(I32, Kind::Constant, w.context, Context::SHARED_BASE);
            offset = w.e.isub(offset, base);
        }
        let limits = if shared { Context::SHARED_LIMITS } else { Context::LOCAL_LIMITS };
        let limit = w.e.load(I32, Kind::Constant, w.context, limits + size);
        let mut good = self.fits(w, offset, limit);
        let first = if shared { Context::SHARED } else { Context::LOCAL };
        let mut first = w.e.load(I64, Kind::Constant, w.context, first);
        let mut offset = w.e.uextend(I64, offset);
        if w.checked {
            // The first byte has a record too, so it may be read before the comparison of bounds.
            let zero = w.e.int(I64, 0);
            offset = w.e.select(good, offset, zero);
        }
        let mut own = offset;
        if !shared {
            let stride = w.e.load(I64, Kind::Constant, w.context, Context::STRIDE);
            let lane = w.e.uextend(I64, w.lane);
            let start = w.e.imul(lane, stride);
            first = w.e.iadd(first, start);
            own = w.e.iadd(own, start);
        }
        if w.checked {
            let written = if shared { Context::SHARED_WRITTEN } else { Context::LOCAL_WRITTEN };
            let written = w.e.load(I64, Kind::Constant, w.context, written);
            let at = w.e.iadd(written, own);
            if self.reads {
                let all = initialized::all(w, at, self.bytes);
                good = w.e.band(good, all);
            }
            *record = Some(at);
        }
        (good, w.e.iadd(first, offset), 0)
    }
}

fn place(pc: u32, access: &Access, writes: bool) -> Place<'_> {
    let bytes = access.bytes * access.registers.len() as u32;
    let Access { space, address, cache, .. } = access;
    Place { pc, space: *space, address, bytes, cache: *cache, reads: !writes, writes }
}

/// Returns the type in which bytes move between memory and a register.
fn moved(w: &Writer<'_, '_>, access: &Access, register: Register) -> Type {
    match (access.bytes, w.own_type(register)) {
        (4, F32) => F32,
        (8, F64) => F64,
        (bytes, _) => int_type(bytes),
    }
}

/// True if other threads of the machine may access the same bytes now.
fn is_strong(access: &Access) -> bool {
    access.order.is_strong() && Area::of(access.space) == Area::Region
}

pub(super) fn load(w: &mut Writer<'_, '_>, pc: u32, access: &Access) {
    let own = if access.width == Width::Double { I64 } else { I32 };
    let (strong, short) = (is_strong(access), access.bytes < own.bytes());
    let loaded = |w: &Writer<'_, '_>, register| {
        if strong { int_type(access.bytes) } else { moved(w, access, register) }
    };
    let result = |register| if short { own } else { loaded(w, register) };
    let types: Vec<Type> = access.registers.iter().map(|register| result(*register)).collect();
    let values = place(pc, access, false).access(w, &types, &|w, at, offset| {
        let one = |(index, register): (usize, &Register)| {
            let (ty, offset) = (loaded(w, *register), offset + index as i32 * access.bytes as i32);
            let value = if strong {
                let at = w.e.add_constant(at, offset);
                w.e.atomic_load(ty, at)
            } else {
                w.e.load(ty, Kind::User, at, offset)
            };
            match (short, access.signed) {
                (false, _) => value,
                (true, true) => w.e.sextend(own, value),
                (true, false) => w.e.uextend(own, value),
            }
        };
        access.registers.iter().enumerate().map(one).collect()
    });
    access.registers.iter().zip(values).for_each(|(register, value)| w.set(*register, value));
}

pub(super) fn store(w: &mut Writer<'_, '_>, pc: u32, access: &Access) {
    let own = if access.width == Width::Double { I64 } else { I32 };
    let strong = is_strong(access);
    let mut stored = |register: Register| {
        if access.bytes == own.bytes() {
            let ty = if strong { own } else { moved(w, access, register) };
            return w.get(register, ty);
        }
        let value = w.get(register, own);
        w.e.ireduce(int_type(access.bytes), value)
    };
    let values: Vec<Val> = access.registers.iter().map(|register| stored(*register)).collect();
    place(pc, access, true).access(w, &[], &|w, at, offset| {
        for (index, value) in values.iter().enumerate() {
            let offset = offset + index as i32 * access.bytes as i32;
            if strong {
                let at = w.e.add_constant(at, offset);
                w.e.atomic_store(*value, at);
            } else {
                w.e.store(Kind::User, *value, at, offset);
            }
        }
        Vec::new()
    });
}

pub(super) fn atomic(w: &mut Writer<'_, '_>, pc: u32, atomic: &Atomic) {
    let bytes = atomic.ty.bytes();
    let exclusive = Area::of(atomic.space) == Area::Shared;
    let wraps = matches!(atomic.operation, AtomicOperation::Increment | AtomicOperation::Decrement);
    let native = matches!(bytes, 4 | 8)
        && (!atomic.ty.is_float() || atomic.operation == AtomicOperation::Exchange)
        && (exclusive || !wraps);
    if !native {
        return call(w, pc, atomic);
    }
    let ty = int_type(bytes);
    let host = update(pc, atomic).find(w);
    let a = w.get(atomic.operands[0], ty);
    let old = if exclusive {
        let old = w.e.load(ty, Kind::User, host, 0);
        let new = apply(w, atomic, old, a);
        w.e.store(Kind::User, new, host, 0);
        old
    } else if atomic.operation == AtomicOperation::CompareExchange {
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
    };
    if let Some(out) = atomic.out {
        w.set(out, old);
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

fn update(pc: u32, atomic: &Atomic) -> Place<'_> {
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

fn call(w: &mut Writer<'_, '_>, pc: u32, atomic: &Atomic) {
    let width = if atomic.ty.bytes() == 8 { Width::Double } else { Width::Single };
    let (context, number) = (w.context, w.e.int(I32, pc.into()));
    // The operation differs between shared and global memory, so a generic address needs a search.
    let place = atomic.space.is_some().then(|| update(pc, atomic).find(w));
    let address = place.unwrap_or_else(|| wide_address(w, &atomic.address));
    let a = bits(w, atomic.operands[0], width);
    let second = atomic.operation == AtomicOperation::CompareExchange;
    let b = bits(w, atomic.operands[1], if second { width } else { Width::None });
    let old = if place.is_some() {
        w.e.call(CHANGE, &[context, number, address, a, b])
    } else {
        let old = w.e.call(ATOMIC, &[context, number, address, a, b]);
        let failed = w.e.load(I32, Kind::State, context, Context::FAILED);
        let next = w.e.block();
        w.give_up_if(failed, (next, &[]));
        w.e.go_on(next);
        old
    };
    if let Some(out) = atomic.out {
        let value = if width == Width::Double { old } else { w.e.ireduce(I32, old) };
        w.set(out, value);
    }
}
