//! Loads and stores of some lanes of a quad.
//!
//! The other lanes access the beginning of the memory, and drop the result.

use super::focus::Focus;
use super::places::{Offsets, Spread, Vectors};
use crate::exec::compiled::atomic;
use crate::exec::compiled::backend::{Blk, I32, Type, Val};
use crate::exec::compiled::memory::{self, Place};
use crate::exec::compiled::writer::Writer;
use crate::program::instruction::Condition;
use crate::program::memory::{Access, Atomic};
use crate::semantics::{Register, Width};

impl Writer<'_, '_> {
    /// Loads in the lanes in which a guard holds.
    pub(super) fn load_masked(&mut self, pc: u32, access: &Access, guard: Condition) {
        let slots = self.slots_of(access);
        let old: Vec<Val> = slots.iter().map(|slot| self.value(*slot)).collect();
        let after = self.e.block();
        let types: Vec<Type> = slots.iter().map(|slot| self.type_of(*slot)).collect();
        let results: Vec<Val> = types.into_iter().map(|ty| self.e.param(after, ty)).collect();
        let lanes = self.begin_masked(guard, (after, &old), |w| {
            w.load_quad(pc, access);
            slots.iter().map(|slot| w.value(*slot)).collect()
        });
        slots.iter().zip(&old).for_each(|(slot, value)| self.set_value(*slot, *value));
        let place = memory::place(pc, access, false);
        let places = self.find_masked(&place, guard, lanes);
        let values = self.load_spread(access, &Spread::Each(places));
        let wide = access.width == Width::Double;
        let focuses = if wide { self.halves() } else { self.wholes() };
        let mut merged = Vec::new();
        for ((value, old), focus) in values.into_iter().zip(old).zip(focuses.into_iter().cycle()) {
            merged.push(self.with_focus(focus, |w| {
                let mask = w.condition(guard);
                w.e.select(mask, value, old)
            }));
        }
        self.e.jump(after, &merged);
        self.e.go_on(after);
        slots.into_iter().zip(results).for_each(|(slot, value)| self.set_value(slot, value));
    }

    /// Stores in the lanes in which a guard holds.
    pub(super) fn store_masked(&mut self, pc: u32, access: &Access, guard: Condition) {
        let after = self.e.block();
        let lanes = self.begin_masked(guard, (after, &[]), |w| {
            w.store_quad(pc, access);
            Vec::new()
        });
        let place = memory::place(pc, access, true);
        let places = self.find_masked(&place, guard, lanes);
        for (lane, at) in places.into_iter().enumerate() {
            self.in_lane((lanes, lane), None, |w| memory::store_all(w, access, (at, 0)));
        }
        self.e.jump(after, &[]);
        self.e.go_on(after);
    }

    /// Performs an atomic operation in the lanes in which a guard holds.
    pub(super) fn change_masked(&mut self, pc: u32, atomic: &Atomic, guard: Condition) {
        let place = atomic::update(pc, atomic);
        let lanes = self.lanes_of(guard);
        let places = self.find_masked(&place, guard, lanes);
        for (lane, at) in places.into_iter().enumerate() {
            self.in_lane((lanes, lane), atomic.out, |w| atomic::atomic_at(w, pc, atomic, at));
        }
        let focuses = self.lanes_alone();
        self.join_results(&focuses);
    }

    /// Writes the access of a lane for the case that it has one of these bits; otherwise the result
    /// is as before.
    fn in_lane(&mut self, (lanes, lane): (Val, usize), out: Option<Register>, write: impl FnOnce(&mut Self)) {
        let (own, next) = (self.e.block(), self.e.block());
        let bit = self.e.int(I32, 1 << lane);
        let taken = self.e.band(lanes, bit);
        self.with_focus(Focus::Lane(lane), |w| {
            let old = out.map(|out| w.get_raw(out, w.own_type(out)));
            w.e.branch(taken, (own, &[]), (next, old.as_slice()));
            w.e.go_on(own);
            write(w);
            let new = old.and_then(|_| w.take_result());
            w.e.jump(next, new.as_slice());
            w.e.go_on(next);
            if let (Some(out), Some(new)) = (out, new) {
                let result = w.e.param(next, w.e.ty(new));
                w.set(out, result);
            }
        });
    }

    /// Begins an access with a guard: goes on after it if no lane takes part, and writes it with
    /// `all` for all lanes. Continues where some take part, and returns their bits.
    fn begin_masked(
        &mut self,
        guard: Condition,
        (after, old): (Blk, &[Val]),
        all: impl FnOnce(&mut Self) -> Vec<Val>,
    ) -> Val {
        let lanes = self.lanes_of(guard);
        let [every, part] = std::array::from_fn(|_| self.e.block());
        self.branch_by_lanes(lanes, (after, old), (every, &[]), part);
        self.e.go_on(every);
        let values = all(self);
        self.e.jump(after, &values);
        self.e.go_on(part);
        lanes
    }

    /// Finds the memory of the lanes in which a guard holds, and which have these bits; for other
    /// lanes the beginning of the memory.
    fn find_masked(&mut self, place: &Place<'_>, guard: Condition, lanes: Val) -> Vec<Val> {
        let (reach, offsets) = self.reached(place);
        let offsets = match offsets {
            Offsets::Regular(first, step) => {
                let lanes = 0..self.lane_count();
                let taking = |lane| {
                    let offset = self.of_lane(first, step, lane);
                    self.with_focus(Focus::Lane(lane), |w| {
                        let (condition, zero) = (w.condition(guard), w.e.zero(w.e.ty(offset)));
                        w.e.select(condition, offset, zero)
                    })
                };
                lanes.map(taking).collect()
            }
            Offsets::Apart(bases, added) => {
                let masked = |w: &mut Self, focus, offsets| {
                    let mask = w.with_focus(focus, |w| w.condition(guard));
                    w.e.band(offsets, mask)
                };
                let taking = match self.moved(&bases, added) {
                    Vectors::Narrow(quads) => Vectors::Narrow(
                        self.wholes()
                            .into_iter()
                            .zip(quads)
                            .map(|(focus, quad)| masked(self, focus, quad))
                            .collect(),
                    ),
                    Vectors::Wide(halves) => Vectors::Wide(
                        self.halves()
                            .into_iter()
                            .zip(halves)
                            .map(|(focus, half)| masked(self, focus, half))
                            .collect(),
                    ),
                };
                self.lanes(&taking)
            }
        };
        self.find_apart(place, (Some(lanes), None), &reach, offsets)
    }
}
