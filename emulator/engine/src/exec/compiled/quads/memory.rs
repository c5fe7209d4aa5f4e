//! Loads, stores and atomic operations of quads.
//!
//! If the lanes access consecutive elements, one check covers them, and vectors move them.
//! Otherwise the access of each lane is checked. If a check fails, the memory of each lane is
//! searched.

use super::focus::Focus;
use super::places::{Offsets, Spread, Vectors, same};
use crate::exec::compiled::atomic;
use crate::exec::compiled::backend::{IntCC, Type, Val};
use crate::exec::compiled::memory::{self, Place, Reach};
use crate::exec::compiled::support;
use crate::exec::compiled::writer::Writer;
use crate::program::memory::{Access, Atomic};

impl Writer<'_, '_> {
    pub(super) fn load_quad(&mut self, pc: u32, access: &Access) {
        let place = memory::place(pc, access, false);
        let (reach, offsets) = self.reached(&place);
        if let Some(offset) = same(&reach, &offsets) {
            let spread = if support::reads_own_memory(access) {
                let fits = place.fits(self, offset, reach.limit);
                self.part_unless(fits, pc);
                Spread::Regular(self.position(&reach, offset, 0), 0)
            } else {
                self.find_same(&place, access, &reach, offset)
            };
            return memory::load_all(self, access, spread.of(0, 0));
        }
        let types: Vec<Type> = self.slots_of(access).iter().map(|slot| self.type_of(*slot)).collect();
        let values = self
            .spread((&place, access), (&reach, offsets), &types, &|w, spread| w.load_spread(access, &spread));
        self.slots_of(access).into_iter().zip(values).for_each(|(slot, value)| self.set_value(slot, value));
    }

    pub(super) fn store_quad(&mut self, pc: u32, access: &Access) {
        let place = memory::place(pc, access, true);
        let (reach, offsets) = self.reached(&place);
        if let Some(offset) = same(&reach, &offsets) {
            // The last lane wins, as one after the other.
            let spread = self.find_same(&place, access, &reach, offset);
            let last = self.lane_count() - 1;
            return self.with_focus(Focus::Lane(last), |w| memory::store_all(w, access, spread.of(last, 0)));
        }
        self.spread((&place, access), (&reach, offsets), &[], &|w, spread| {
            w.store_spread(access, &spread);
            Vec::new()
        });
    }

    pub(super) fn change_quad(&mut self, pc: u32, atomic: &Atomic) {
        if !support::is_placed(atomic) {
            return self.part(pc);
        }
        let place = atomic::update(pc, atomic);
        let (reach, offsets) = self.reached(&place);
        let distances = self.distances(&offsets);
        let places = self.find_lanes(&place, &reach, distances);
        let mut lane = 0;
        self.for_each(&self.lanes_alone(), |w| {
            atomic::atomic_at(w, pc, atomic, places[lane]);
            lane += 1;
        });
    }

    /// Returns the positions of the values of a load.
    pub(super) fn slots_of(&self, access: &Access) -> Vec<u32> {
        let registers: Vec<u32> = access.registers.iter().map(|register| register.0).collect();
        self.slots(&registers).into_owned()
    }

    /// Performs an access, by one piece of code for consecutive elements and one for others.
    fn spread(
        &mut self,
        (place, access): (&Place<'_>, &Access),
        (reach, offsets): (&Reach, Offsets),
        types: &[Type],
        emit: &dyn Fn(&mut Self, Spread) -> Vec<Val>,
    ) -> Vec<Val> {
        let next = match &offsets {
            Offsets::Regular(first, step) => {
                if let Some(spread) = self.find_regular(place, access, reach, (*first, *step)) {
                    return emit(self, spread);
                }
                None
            }
            Offsets::Apart(bases, added) if !reach.is_local() => self.is_next(place, (bases, *added)),
            Offsets::Apart(..) => None,
        };
        let Some((is_next, first)) = next else {
            let distances = self.distances(&offsets);
            let places = self.find_lanes(place, reach, distances);
            return emit(self, Spread::Each(places));
        };
        let [next, hit, each, done] = std::array::from_fn(|_| self.e.block());
        let results = types.iter().map(|ty| self.e.param(done, *ty)).collect();
        self.e.branch(is_next, (next, &[]), (each, &[]));
        self.e.go_on(each);
        let distances = self.distances(&offsets);
        let places = self.find_apart(place, (None, None), reach, distances);
        let values = emit(self, Spread::Each(places));
        self.e.jump(done, &values);
        self.e.go_on(next);
        let limit = place.row_limit(self);
        let fits = place.fits(self, first, limit);
        self.e.branch(fits, (hit, &[]), (each, &[]));
        self.e.go_on(hit);
        let at = self.position(reach, first, 0);
        let values = emit(self, Spread::Next(at));
        self.e.jump(done, &values);
        self.e.go_on(done);
        results
    }

    /// Returns true if the lanes access consecutive elements, and the distance of the first lane;
    /// `None` if they never do.
    fn is_next(&mut self, place: &Place<'_>, (bases, added): (&Vectors, Val)) -> Option<(Val, Val)> {
        let bytes = u64::from(place.bytes);
        if let Vectors::Wide(_) = bases {
            let stem = self.stem(place.address.base);
            // Narrow numbers that follow each other are the usual ones.
            if stem.as_ref().is_some_and(|stem| bytes.checked_rem(stem.factor) != Some(0)) {
                return None;
            }
            if let Some(stem) = stem.filter(|stem| stem.factor == bytes) {
                let (follow, first) = self.follow(stem);
                return Some((follow, self.e.iadd(first, added)));
            }
        }
        let (Vectors::Wide(all) | Vectors::Narrow(all)) = bases;
        let first = self.e.lane(all[0], 0);
        let differs = self.unlike_steps(bases, bytes as i64);
        let first = self.e.iadd(first, added);
        let differs = self.e.any(differs);
        let zero = self.e.zero(self.e.ty(differs));
        Some((self.e.icmp(IntCC::Equal, differs, zero), first))
    }
}
