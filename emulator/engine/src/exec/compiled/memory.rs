//! Loads and stores as machine code.

use super::backend::{F32, F64, I8, I32, I64, IntCC, Kind, Type, Val, int_type};
use super::called::bits;
use super::callees::FIND;
use super::context::Context;
use super::groups::Span;
use super::initialized;
use super::quads::QUAD;
use super::support::Area;
use super::writer::Writer;
use crate::exec::block::cached::Reach as Cache;
use crate::program::memory::{Access, Address};
use crate::ptx::Space;
use crate::semantics::{Register, Width};

/// Offsets below this, of all bytes of an access, are part of an instruction.
const MOST_OFFSET: u32 = 1 << 30;

pub(super) fn wide_address(w: &mut Writer<'_, '_>, address: &Address) -> Val {
    let base = bits(w, address.base, address.width);
    let offset = w.e.int(I64, address.offset as u64);
    w.e.iadd(base, offset)
}

pub(super) fn narrow_address(w: &mut Writer<'_, '_>, address: &Address) -> Val {
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
pub(super) struct Place<'a> {
    pub(super) pc: u32,
    pub(super) space: Option<Space>,
    pub(super) address: &'a Address,
    pub(super) bytes: u32,
    pub(super) cache: u32,
    pub(super) reads: bool,
    pub(super) writes: bool,
}

/// Memory of an access: the address of its first byte, the place of this byte, and the number of
/// accesses that fit. In local memory, each lane's begins a stride after the one before.
#[derive(Clone, Copy)]
pub(super) struct Reach {
    pub(super) base: Val,
    pub(super) host: Val,
    pub(super) limit: Val,
    pub(super) stride: Option<Val>,
}

/// An access as it is checked: true if it fits, and its place, which is the sum of the rest.
struct Checked {
    fits: Val,
    origin: Val,
    distance: Val,
    offset: i32,
}

impl Reach {
    pub(super) fn is_local(&self) -> bool {
        self.stride.is_some()
    }
}

impl Place<'_> {
    /// Checks the access, and returns the position of its bytes: a host address and an offset. If
    /// the check fails, the memory is searched, and the frequent code goes on at the place found.
    pub(super) fn find(&self, w: &mut Writer<'_, '_>) -> (Val, i32) {
        let search = |w: &mut Writer<'_, '_>| {
            let (host, good) = (self.search(w), w.e.block());
            w.give_up_unless(host, (good, &[]));
            w.e.cold(good);
            w.e.go_on(good);
            vec![host]
        };
        if let Some((places, offset)) = w.places_in_group(self.pc, search) {
            return (places[0], offset);
        }
        let (span, mut record) = (w.span(self.pc), None);
        let Checked { fits, origin, distance, offset } = self.check(w, span, &mut record);
        let record = record.filter(|_| self.writes).map(|record| (record, self.bytes));
        let known = (&[origin][..], &[distance][..], offset);
        let places =
            w.first_places((self.pc, span), (fits, record), known, search, |w| self.fit_now(w, span));
        (places[0], offset)
    }

    /// Returns true if a group of accesses fits after a search for the first of them.
    fn fit_now(&self, w: &mut Writer<'_, '_>, span: Option<Span>) -> Val {
        let searched = Area::of(self.space) == Area::Region && w.roots.bounds(self.pc).is_none();
        if searched { self.in_region(w, span).fits } else { w.e.int(I8, 0) }
    }

    /// Checks an access, or all of a group. See `in_window` for the record.
    fn check(&self, w: &mut Writer<'_, '_>, span: Option<Span>, record: &mut Option<Val>) -> Checked {
        match (Area::of(self.space), w.roots.bounds(self.pc)) {
            (Area::Region, Some(_)) => self.in_known_region(w, span),
            (Area::Region, None) => self.in_region(w, span),
            (area, _) => self.in_window(w, (area, span), record),
        }
    }

    /// Writes the search for the region, and returns the host address; null after a fault.
    fn search(&self, w: &mut Writer<'_, '_>) -> Val {
        let address = wide_address(w, self.address);
        match self.space {
            None if !w.checked => self.local_or_found(w, address),
            _ => self.found(w, address),
        }
    }

    fn found(&self, w: &mut Writer<'_, '_>, address: Val) -> Val {
        let pc = w.e.int(I32, self.pc.into());
        w.e.call(FIND, &[pc, address])
    }

    /// Searches at an address without a space, which may be one in the lane's local memory.
    fn local_or_found(&self, w: &mut Writer<'_, '_>, address: Val) -> Val {
        let [local, other, done] = std::array::from_fn(|_| w.e.block());
        let host = w.e.param(done, I64);
        let window = w.e.load(I64, Kind::Constant, w.context, Context::LOCAL_WINDOW);
        let offset = w.e.isub(address, window);
        let Reach { host: first, limit, stride, .. } = self.reach_in(w, Area::Local);
        let limit = w.e.uextend(I64, limit);
        let good = self.fits(w, offset, limit);
        w.e.branch(good, (local, &[]), (other, &[]));
        w.e.cold(other);
        w.e.go_on(other);
        let found = self.found(w, address);
        w.e.jump(done, &[found]);
        w.e.go_on(local);
        let first = match stride {
            Some(stride) => {
                let start = start_of_lane(w, stride);
                w.e.iadd(first, start)
            }
            None => first,
        };
        let at = w.e.iadd(first, offset);
        w.e.jump(done, &[at]);
        w.e.go_on(done);
        host
    }

    /// Compares all accesses of a group with the number of accesses that fit.
    pub(super) fn all_fit(&self, w: &mut Writer<'_, '_>, offset: Val, limit: Val, span: Option<Span>) -> Val {
        let Span { low, high } = span.unwrap_or_default();
        let mut fits = |distance: i32| {
            let added = w.e.int(w.e.ty(offset), i64::from(distance) as u64);
            let offset = if distance == 0 { offset } else { w.e.iadd(offset, added) };
            self.fits(w, offset, limit)
        };
        if low == high {
            return fits(low);
        }
        let [low, high] = [low, high].map(&mut fits);
        w.e.band(low, high)
    }

    /// Compares with the number of accesses that fit.
    pub(super) fn fits(&self, w: &mut Writer<'_, '_>, offset: Val, limit: Val) -> Val {
        let number = self.number(w, offset);
        w.e.icmp(IntCC::UnsignedLessThan, number, limit)
    }

    /// Returns the number of accesses before this one; a large number if it is misaligned.
    pub(super) fn number(&self, w: &mut Writer<'_, '_>, offset: Val) -> Val {
        let shift = w.e.int(I32, self.bytes.trailing_zeros().into());
        if self.bytes == 1 { offset } else { w.e.rotr(offset, shift) }
    }

    /// Returns the memory that the access should be to.
    pub(super) fn reach(&self, w: &mut Writer<'_, '_>) -> Reach {
        self.reach_in(w, Area::of(self.space))
    }

    fn reach_in(&self, w: &mut Writer<'_, '_>, area: Area) -> Reach {
        let context = w.context;
        if let (Area::Region, Some(bounds)) = (area, w.roots.bounds(self.pc)) {
            let list = w.e.load(I64, Kind::Constant, context, Context::BOUNDS);
            let mut bound = |index| w.e.load(I64, Kind::Constant, list, word(index));
            let (base, host) = (bound(bounds.base), bound(bounds.base + 1));
            return Reach { base, host, limit: bound(bounds.limit), stride: None };
        }
        if area == Area::Region {
            let [base, limit, delta] = self.cached(w);
            return Reach { base, host: w.e.iadd(base, delta), limit, stride: None };
        }
        let size = self.bytes.trailing_zeros() as i32 * 4;
        let shared = area == Area::Shared;
        let limits = if shared { Context::SHARED_LIMITS } else { Context::LOCAL_LIMITS };
        let limit = w.e.load(I32, Kind::Constant, context, limits + size);
        if shared {
            let base = w.e.load(I32, Kind::Constant, context, Context::SHARED_BASE);
            let host = w.e.load(I64, Kind::Constant, context, Context::SHARED);
            return Reach { base, host, limit, stride: None };
        }
        let host = w.e.load(I64, Kind::Constant, context, Context::LOCAL);
        let stride = w.e.load(I64, Kind::Constant, context, Context::STRIDE);
        Reach { base: w.e.int(I32, 0), host, limit, stride: Some(stride) }
    }

    /// Returns the number of places where the first of the accesses of all lanes in a row fits.
    pub(super) fn row_limit(&self, w: &mut Writer<'_, '_>) -> Val {
        let limit = self.quad_limit(w);
        if w.lane_count() == QUAD {
            return limit;
        }
        let more = w.e.int(w.e.ty(limit), (w.lane_count() - QUAD) as u64);
        let fewer = w.e.isub(limit, more);
        let (enough, none) = (w.e.icmp(IntCC::UnsignedGreaterThan, limit, more), w.e.zero(w.e.ty(limit)));
        w.e.select(enough, fewer, none)
    }

    /// The same for four lanes.
    fn quad_limit(&self, w: &mut Writer<'_, '_>) -> Val {
        match (Area::of(self.space), w.roots.bounds(self.pc)) {
            (Area::Region, Some(bounds)) => {
                let list = w.e.load(I64, Kind::Constant, w.context, Context::BOUNDS);
                w.e.load(I64, Kind::Constant, list, word(bounds.limit + 1))
            }
            (Area::Region, None) => {
                let caches = w.e.load(I64, Kind::Constant, w.context, Context::CACHES);
                let at = self.cache as i32 * Cache::BYTES;
                w.e.load(I64, Kind::State, caches, at + Cache::ROW_LIMIT)
            }
            _ => {
                let size = self.bytes.trailing_zeros() as i32 * 4;
                w.e.load(I32, Kind::Constant, w.context, Context::SHARED_ROW_LIMITS + size)
            }
        }
    }

    /// Returns the bounds of the region found last, and the distance to its place.
    fn cached(&self, w: &mut Writer<'_, '_>) -> [Val; 3] {
        let caches = w.e.load(I64, Kind::Constant, w.context, Context::CACHES);
        let at = self.cache as i32 * Cache::BYTES;
        [Cache::BASE, Cache::LIMIT, Cache::DELTA]
            .map(|offset| w.e.load(I64, Kind::State, caches, at + offset))
    }

    fn in_known_region(&self, w: &mut Writer<'_, '_>, span: Option<Span>) -> Checked {
        let Reach { base, host, limit, .. } = self.reach(w);
        let address = w.get(self.address.base, I64);
        let first = w.e.isub(address, base);
        let added = w.e.int(I64, self.address.offset as u64);
        let distance = w.e.iadd(first, added);
        let fits = self.all_fit(w, distance, limit, span);
        match i32::try_from(self.address.offset) {
            Ok(offset) if offset.unsigned_abs() < MOST_OFFSET => {
                Checked { fits, origin: host, distance: first, offset }
            }
            _ => Checked { fits, origin: host, distance, offset: 0 },
        }
    }

    fn in_region(&self, w: &mut Writer<'_, '_>, span: Option<Span>) -> Checked {
        let address = wide_address(w, self.address);
        let [base, limit, delta] = self.cached(w);
        let distance = w.e.isub(address, base);
        let fits = self.all_fit(w, distance, limit, span);
        Checked { fits, origin: delta, distance: address, offset: 0 }
    }

    /// If a check needs it, also sets `record` to the position of the bytes in the record of
    /// written bytes.
    fn in_window(
        &self,
        w: &mut Writer<'_, '_>,
        (area, span): (Area, Option<Span>),
        record: &mut Option<Val>,
    ) -> Checked {
        let shared = area == Area::Shared;
        let Reach { base, host: mut first, limit, stride } = self.reach(w);
        let mut offset = narrow_address(w, self.address);
        if shared {
            offset = w.e.isub(offset, base);
        }
        let mut fits = self.all_fit(w, offset, limit, span);
        let mut offset = w.e.uextend(I64, offset);
        if w.checked {
            // The first byte has a record too, so it may be read before the comparison of bounds.
            let zero = w.e.int(I64, 0);
            offset = w.e.select(fits, offset, zero);
        }
        let mut own = offset;
        if let Some(stride) = stride {
            let start = start_of_lane(w, stride);
            first = w.e.iadd(first, start);
            own = w.e.iadd(own, start);
        }
        if w.checked {
            let written = if shared { Context::SHARED_WRITTEN } else { Context::LOCAL_WRITTEN };
            let written = w.e.load(I64, Kind::Constant, w.context, written);
            let at = w.e.iadd(written, own);
            if self.reads {
                let all = initialized::all(w, at, self.bytes);
                fits = w.e.band(fits, all);
            }
            *record = Some(at);
        }
        Checked { fits, origin: first, distance: offset, offset: 0 }
    }
}

/// Returns the distance of the running lane's local memory from the first lane's.
fn start_of_lane(w: &mut Writer<'_, '_>, stride: Val) -> Val {
    let lane = w.e.uextend(I64, w.lane);
    w.e.imul(lane, stride)
}

/// Returns the place of a word in a list.
fn word(index: usize) -> i32 {
    index as i32 * size_of::<u64>() as i32
}

pub(super) fn place(pc: u32, access: &Access, writes: bool) -> Place<'_> {
    let bytes = access.total_bytes();
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
pub(super) fn is_strong(access: &Access) -> bool {
    access.order.is_strong() && Area::of(access.space) == Area::Region
}

/// Returns the types in which an element is loaded, and of the value that a register gets.
fn loaded(w: &Writer<'_, '_>, access: &Access, register: Register) -> [Type; 2] {
    let own = if access.width == Width::Double { I64 } else { I32 };
    let ty = if is_strong(access) { int_type(access.bytes) } else { moved(w, access, register) };
    [ty, if access.bytes < own.bytes() { own } else { ty }]
}

/// Loads the element of a lane's access at a place for the register at a position.
pub(super) fn load_element(
    w: &mut Writer<'_, '_>,
    access: &Access,
    index: usize,
    (at, offset): (Val, i32),
) -> Val {
    let offset = offset + index as i32 * access.bytes as i32;
    let [ty, result] = loaded(w, access, access.registers[index]);
    let value = if is_strong(access) {
        let at = w.e.add_constant(at, offset);
        w.e.atomic_load(ty, at)
    } else {
        w.e.load(ty, Kind::User, at, offset)
    };
    match (result == ty, access.signed) {
        (true, _) => value,
        (false, true) => w.e.sextend(result, value),
        (false, false) => w.e.uextend(result, value),
    }
}

/// Loads the registers of an access from a place.
pub(super) fn load_all(w: &mut Writer<'_, '_>, access: &Access, place: (Val, i32)) {
    let element = |index| load_element(w, access, index, place);
    let values: Vec<Val> = (0..access.registers.len()).map(element).collect();
    access.registers.iter().zip(values).for_each(|(register, value)| w.set(*register, value));
}

pub(super) fn load(w: &mut Writer<'_, '_>, pc: u32, access: &Access) {
    let place = place(pc, access, false).find(w);
    load_all(w, access, place);
}

/// Returns the values of registers as they are stored.
fn stored(w: &mut Writer<'_, '_>, access: &Access) -> Vec<Val> {
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
    access.registers.iter().map(|register| stored(*register)).collect()
}

/// Stores the registers of an access at a place.
pub(super) fn store_all(w: &mut Writer<'_, '_>, access: &Access, (at, offset): (Val, i32)) {
    for (index, value) in stored(w, access).into_iter().enumerate() {
        let offset = offset + index as i32 * access.bytes as i32;
        if is_strong(access) {
            let at = w.e.add_constant(at, offset);
            w.e.atomic_store(value, at);
        } else {
            w.e.store(Kind::User, value, at, offset);
        }
    }
}

pub(super) fn store(w: &mut Writer<'_, '_>, pc: u32, access: &Access) {
    let place = place(pc, access, true).find(w);
    store_all(w, access, place);
}
