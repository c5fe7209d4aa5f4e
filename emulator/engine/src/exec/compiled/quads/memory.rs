//! Loads, stores and atomic operations of quads.
//!
//! If the lanes access consecutive elements, one check covers them, and vectors move them.
//! Otherwise the access of each lane is checked. An access that fails a check is left to single
//! lanes, which search for its memory.

use super::focus::Focus;
use super::shapes::Shape;
use crate::exec::compiled::atomic;
use crate::exec::compiled::backend::{I32, I64, IntCC, Kind, Type, Val, int_type};
use crate::exec::compiled::memory::{self, Place, Reach};
use crate::exec::compiled::support::Area;
use crate::exec::compiled::vectors::vector_of;
use crate::exec::compiled::writer::Writer;
use crate::program::memory::{Access, Atomic};
use crate::semantics::{Register, Width};

/// The greatest difference between lanes whose accesses are checked together, in bytes.
const MOST_STEP: i64 = 1 << 24;

/// The first lane of a quad, and the others.
pub(super) const LANES: [usize; 4] = [0, 1, 2, 3];

/// The distances of an access from the beginning of its memory.
#[derive(Clone, Copy)]
pub(super) enum Offsets {
    /// The first lane's, and the difference between lanes.
    Regular(Val, i64),
    /// Two lanes in each vector.
    Wide([Val; 2]),
    Narrow(Val),
}

/// Positions of a quad's accesses in memory.
#[derive(Clone, Copy)]
pub(super) enum Spread {
    /// The first of consecutive elements.
    Next(Val),
    /// The first, and the difference between lanes.
    Regular(Val, i32),
    Each([Val; 4]),
}

impl Spread {
    /// Returns the position of the access of a lane, without an offset.
    fn of(self, lane: usize, bytes: u32) -> (Val, i32) {
        match self {
            Spread::Next(at) => (at, lane as i32 * bytes as i32),
            Spread::Regular(at, step) => (at, lane as i32 * step),
            Spread::Each(all) => (all[lane], 0),
        }
    }
}

impl Writer<'_, '_> {
    pub(super) fn load_quad(&mut self, pc: u32, access: &Access) {
        let place = memory::place(pc, access, false);
        let (reach, offsets) = self.reached(&place);
        if let (Offsets::Regular(offset, 0), false) = (offsets, reach.is_local()) {
            let at = self.checked(&place, &reach, offset);
            for (index, register) in access.registers.iter().enumerate() {
                let value = memory::load_element(self, access, index, (at, 0));
                self.set(*register, value);
            }
            return;
        }
        let types: Vec<Type> = self.slots_of(access).iter().map(|slot| self.type_of(*slot)).collect();
        let values =
            self.spread(&place, (&reach, offsets), &types, &|w, spread| w.load_spread(access, spread));
        self.slots_of(access).into_iter().zip(values).for_each(|(slot, value)| self.set_value(slot, value));
    }

    pub(super) fn store_quad(&mut self, pc: u32, access: &Access) {
        let place = memory::place(pc, access, true);
        let (reach, offsets) = self.reached(&place);
        if let (Offsets::Regular(offset, 0), false) = (offsets, reach.is_local()) {
            let at = self.checked(&place, &reach, offset);
            // The last lane wins, as one after the other.
            self.with_focus(Focus::Lane(3), |w| memory::store_all(w, access, (at, 0)));
            return;
        }
        self.spread(&place, (&reach, offsets), &[], &|w, spread| {
            w.store_spread(access, spread);
            Vec::new()
        });
    }

    pub(super) fn change_quad(&mut self, pc: u32, atomic: &Atomic) {
        if !atomic::is_placed(atomic) {
            return self.part(pc);
        }
        let place = atomic::update(pc, atomic);
        let (reach, offsets) = self.reached(&place);
        let places = self.each(&place, &reach, offsets);
        let focuses = LANES.map(Focus::Lane);
        let mut lane = 0;
        self.for_each(&focuses, |w| {
            atomic::atomic_at(w, pc, atomic, places[lane]);
            lane += 1;
        });
    }

    /// Returns the positions of the values of a load.
    pub(super) fn slots_of(&self, access: &Access) -> Vec<u32> {
        let registers: Vec<u32> = access.registers.iter().map(|register| register.0).collect();
        self.slots(&registers).into_owned()
    }

    /// Returns the memory that an access should be to, and its distances from its beginning.
    pub(super) fn reached(&mut self, place: &Place<'_>) -> (Reach, Offsets) {
        let reach = place.reach(self);
        let base = place.address.base;
        let shape = self.shape(base.0);
        if Area::of(place.space) == Area::Region {
            let of = |w: &mut Self| {
                let address = memory::wide_address(w, place.address);
                w.e.isub(address, reach.base)
            };
            let offsets = match shape {
                // Narrow addresses might wrap around between lanes.
                Shape::Regular(step) if step == 0 || place.address.width == Width::Double => {
                    Offsets::Regular(of(self), step)
                }
                _ => Offsets::Wide([0, 1].map(|half| self.with_focus(Focus::Half(half), of))),
            };
            return (reach, offsets);
        }
        if let Shape::Regular(step) = shape {
            let address = memory::narrow_address(self, place.address);
            return (reach, Offsets::Regular(self.e.isub(address, reach.base), step));
        }
        let address = if place.address.width == Width::Double {
            let halves = [0, 1].map(|half| self.with_focus(Focus::Half(half), |w| w.get(base, I64)));
            let address = self.e.join_words(halves);
            let added = self.e.int(I32, place.address.offset as u64);
            self.e.iadd(address, added)
        } else {
            self.with_focus(Focus::Whole, |w| memory::narrow_address(w, place.address))
        };
        (reach, Offsets::Narrow(self.e.isub(address, reach.base)))
    }

    /// Returns the position of an access that is the same in all lanes, after a check.
    fn checked(&mut self, place: &Place<'_>, reach: &Reach, offset: Val) -> Val {
        let good = place.fits(self, offset, reach.limit);
        self.part_unless(good, place.pc);
        self.position(reach, offset, 0)
    }

    /// Returns the position at a distance from the beginning of the memory of a lane.
    fn position(&mut self, reach: &Reach, offset: Val, lane: usize) -> Val {
        let offset = self.e.uextend(I64, offset);
        let host = match reach.stride {
            Some(stride) => {
                let first = self.lane;
                let lane = self.e.int(I32, lane as u64);
                let lane = self.e.iadd(first, lane);
                let lane = self.e.uextend(I64, lane);
                let start = self.e.imul(lane, stride);
                self.e.iadd(reach.host, start)
            }
            None => reach.host,
        };
        self.e.iadd(host, offset)
    }

    /// Performs an access, by one piece of code for consecutive elements and one for others.
    fn spread(
        &mut self,
        place: &Place<'_>,
        (reach, offsets): (&Reach, Offsets),
        types: &[Type],
        emit: &dyn Fn(&mut Self, Spread) -> Vec<Val>,
    ) -> Vec<Val> {
        if let Offsets::Regular(first, step) = offsets {
            if let Some(spread) = self.regular(place, reach, (first, step)) {
                return emit(self, spread);
            }
        }
        let Some((is_next, first)) = self.is_next(place, reach, offsets) else {
            let places = self.each(place, reach, offsets);
            return emit(self, Spread::Each(places));
        };
        let [next, each, done] = std::array::from_fn(|_| self.e.block());
        let results = types.iter().map(|ty| self.e.param(done, *ty)).collect();
        self.e.branch(is_next, (next, &[]), (each, &[]));
        self.e.go_on(each);
        let places = self.each(place, reach, offsets);
        let values = emit(self, Spread::Each(places));
        self.e.jump(done, &values);
        self.e.go_on(next);
        let at = self.checked_row(place, reach, first);
        let values = emit(self, Spread::Next(at));
        self.e.jump(done, &values);
        self.e.go_on(done);
        results
    }

    /// Checks accesses to consecutive elements, and returns the position of the first.
    fn checked_row(&mut self, place: &Place<'_>, reach: &Reach, first: Val) -> Val {
        let limit = place.row_limit(self);
        let good = place.fits(self, first, limit);
        self.part_unless(good, place.pc);
        self.position(reach, first, 0)
    }

    /// Checks accesses at regular distances; `None` if each lane has to be checked alone.
    fn regular(&mut self, place: &Place<'_>, reach: &Reach, (first, step): (Val, i64)) -> Option<Spread> {
        let bytes = i64::from(place.bytes);
        if step % bytes != 0 || step.abs() > MOST_STEP || reach.is_local() {
            return None;
        }
        if step == bytes {
            return Some(Spread::Next(self.checked_row(place, reach, first)));
        }
        // Multiples of their size between the first and the last, which are too near to wrap
        // around: if these two fit, all do.
        let number = place.number(self, first);
        let distance = self.e.int(self.e.ty(number), (3 * step / bytes) as u64);
        let last = self.e.iadd(number, distance);
        let [low, high] =
            [number, last].map(|number| self.e.icmp(IntCC::UnsignedLessThan, number, reach.limit));
        let good = self.e.band(low, high);
        self.part_unless(good, place.pc);
        Some(Spread::Regular(self.position(reach, first, 0), step as i32))
    }

    /// Returns true if the lanes access consecutive elements, and the distance of the first lane;
    /// `None` if they never do.
    fn is_next(&mut self, place: &Place<'_>, reach: &Reach, offsets: Offsets) -> Option<(Val, Val)> {
        if reach.is_local() {
            return None;
        }
        let bytes = u64::from(place.bytes);
        if matches!(offsets, Offsets::Wide(_)) {
            if let Some(stem) = self.stem(place.address.base).filter(|stem| stem.factor == bytes) {
                let (follow, first) = self.follow(stem);
                let added = self.e.int(I64, place.address.offset as u64);
                let address = self.e.iadd(first, added);
                return Some((follow, self.e.isub(address, reach.base)));
            }
        }
        let (first, differs) = match offsets {
            Offsets::Regular(..) => return None,
            Offsets::Narrow(offsets) => {
                let first = self.e.lane(offsets, 0);
                let steps = self.e.four([0, 1, 2, 3].map(|lane| lane * place.bytes));
                let all = self.e.first_of(offsets);
                let expected = self.e.iadd(all, steps);
                (first, self.e.bxor(offsets, expected))
            }
            Offsets::Wide([low, high]) => {
                let first = self.e.lane(low, 0);
                let steps = [self.e.two([0, bytes]), self.e.two([2 * bytes, 3 * bytes])];
                let all = self.e.first_of(low);
                let expected = steps.map(|steps| self.e.iadd(all, steps));
                let (low, high) = (self.e.bxor(low, expected[0]), self.e.bxor(high, expected[1]));
                (first, self.e.bor(low, high))
            }
        };
        let differs = self.e.any(differs);
        let zero = self.e.zero(self.e.ty(differs));
        Some((self.e.icmp(IntCC::Equal, differs, zero), first))
    }

    /// Checks the access of each lane, and returns their positions.
    fn each(&mut self, place: &Place<'_>, reach: &Reach, offsets: Offsets) -> [Val; 4] {
        let offsets = LANES.map(|lane| match offsets {
            Offsets::Regular(first, step) => self.of_lane(first, step, lane),
            Offsets::Narrow(offsets) => self.e.lane(offsets, lane),
            Offsets::Wide(halves) => self.e.lane(halves[lane / 2], lane % 2),
        });
        self.checked_lanes(place, reach, offsets)
    }

    /// Checks the access of each lane at these distances, and returns their positions.
    pub(super) fn checked_lanes(&mut self, place: &Place<'_>, reach: &Reach, offsets: [Val; 4]) -> [Val; 4] {
        let [first, others @ ..] = offsets;
        let mut good = place.fits(self, first, reach.limit);
        for offset in others {
            let fits = place.fits(self, offset, reach.limit);
            good = self.e.band(good, fits);
        }
        self.part_unless(good, place.pc);
        LANES.map(|lane| self.position(reach, offsets[lane], lane))
    }

    /// Loads at these positions.
    pub(super) fn load_spread(&mut self, access: &Access, spread: Spread) -> Vec<Val> {
        let wide = access.width == Width::Double;
        let (count, total) = (access.registers.len(), access.bytes * access.registers.len() as u32);
        let vectors = !memory::is_strong(access);
        match (spread, access.bytes, count) {
            (Spread::Next(at), 4, 1) if vectors && !wide => {
                let ty = vector_of(self.own_type(access.registers[0]));
                return vec![self.e.load(ty, Kind::User, at, 0)];
            }
            (Spread::Next(at), 8, 1) if vectors => {
                let ty = vector_of(self.own_type(access.registers[0]));
                return [0, 16].map(|offset| self.e.load(ty, Kind::User, at, offset)).to_vec();
            }
            (Spread::Next(at), 1 | 2, 1) if vectors && !wide => {
                let packed = self.e.load(int_type(4 * access.bytes), Kind::User, at, 0);
                let value = self.e.unpack(packed, access.bytes, access.signed);
                return vec![self.convert(value, self.own_type(access.registers[0]))];
            }
            (_, 4, 4) if vectors && !wide => {
                let rows = LANES.map(|lane| {
                    let (at, offset) = spread.of(lane, total);
                    self.e.load(vector_of(I32), Kind::User, at, offset)
                });
                let columns = self.e.transposed(rows);
                let own = |register: &Register| self.own_type(*register);
                let types: Vec<Type> = access.registers.iter().map(own).collect();
                return columns.into_iter().zip(types).map(|(value, ty)| self.convert(value, ty)).collect();
            }
            _ => {}
        }
        let mut values = Vec::new();
        for (index, register) in access.registers.iter().enumerate() {
            let lanes = LANES.map(|lane| {
                let value = memory::load_element(self, access, index, spread.of(lane, total));
                self.convert(value, self.own_type(*register))
            });
            if wide {
                values.extend([self.e.join(&lanes[..2]), self.e.join(&lanes[2..])]);
            } else {
                values.push(self.e.join(&lanes));
            }
        }
        values
    }

    /// Stores at these positions.
    fn store_spread(&mut self, access: &Access, spread: Spread) {
        let total = access.bytes * access.registers.len() as u32;
        let vectors = !memory::is_strong(access);
        match (spread, access.bytes, &access.registers[..]) {
            (Spread::Next(at), 4, [register]) if vectors && access.width != Width::Double => {
                let value = self.with_focus(Focus::Whole, |w| w.get(*register, w.own_type(*register)));
                let value = if self.e.is_vector(value) { value } else { self.e.splat(value) };
                return self.e.store(Kind::User, value, at, 0);
            }
            (Spread::Next(at), 8, [register]) if vectors => {
                for half in [0, 1] {
                    let value =
                        self.with_focus(Focus::Half(half), |w| w.get(*register, w.own_type(*register)));
                    let value = if self.e.is_vector(value) { value } else { self.e.splat(value) };
                    self.e.store(Kind::User, value, at, 16 * half as i32);
                }
                return;
            }
            _ => {}
        }
        for lane in LANES {
            let place = spread.of(lane, total);
            self.with_focus(Focus::Lane(lane), |w| memory::store_all(w, access, place));
        }
    }
}
