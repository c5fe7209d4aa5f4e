//! The memory of a quad's accesses: checks that cover all lanes, and the search if one fails.

use super::focus::Focus;
use super::shapes::Shape;
use super::sizes::QUAD;
use crate::exec::block::cached::SPARE;
use crate::exec::compiled::backend::{I8, I32, I64, Kind, Val, argument, int_type};
use crate::exec::compiled::called::bits;
use crate::exec::compiled::callees::{FIND_EACH, MOVE_ROW};
use crate::exec::compiled::context::Context;
use crate::exec::compiled::groups::Span;
use crate::exec::compiled::memory::{self, Place, Reach};
use crate::exec::compiled::support::Area;
use crate::exec::compiled::writer::Writer;
use crate::program::memory::Access;
use crate::semantics::Width;

/// The distances of an access from the beginning of its memory.
pub(super) enum Offsets {
    /// The first lane's, and the difference between lanes.
    Regular(Val, i64),
    /// The registers of the addresses, and the same number for all lanes to add. Accesses with
    /// other offsets have the same registers, so code that reads only these is shared.
    Apart(Vectors, Val),
}

/// A number for each lane.
pub(super) enum Vectors {
    /// Two lanes in each vector.
    Wide(Vec<Val>),
    /// Four lanes in each.
    Narrow(Vec<Val>),
}

/// Positions of the accesses in memory.
pub(super) enum Spread {
    /// The first of consecutive elements.
    Next(Val),
    /// The first, and the difference between lanes.
    Regular(Val, i32),
    Each(Vec<Val>),
}

impl Spread {
    /// Returns the position of the access of a lane, without an offset.
    pub(super) fn of(&self, lane: usize, bytes: u32) -> (Val, i32) {
        match self {
            Spread::Next(at) => (*at, lane as i32 * bytes as i32),
            Spread::Regular(at, step) => (*at, lane as i32 * step),
            Spread::Each(all) => (all[lane], 0),
        }
    }
}

impl Writer<'_, '_> {
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
                _ => self.apart(place, &reach),
            };
            return (reach, offsets);
        }
        if let Shape::Regular(step) = shape {
            let address = memory::narrow_address(self, place.address);
            return (reach, Offsets::Regular(self.e.isub(address, reach.base), step));
        }
        let offsets = self.apart(place, &reach);
        (reach, offsets)
    }

    /// Returns the distances of accesses at different addresses.
    fn apart(&mut self, place: &Place<'_>, reach: &Reach) -> Offsets {
        let (base, width) = (place.address.base, place.address.width);
        let is_region = Area::of(place.space) == Area::Region;
        let bases = if !is_region && width != Width::Double {
            Vectors::Narrow(
                self.wholes().into_iter().map(|quad| self.with_focus(quad, |w| w.get(base, I32))).collect(),
            )
        } else {
            let half = |w: &mut Self| bits(w, base, width);
            let halves: Vec<Val> =
                self.halves().into_iter().map(|focus| self.with_focus(focus, half)).collect();
            if is_region {
                Vectors::Wide(halves)
            } else {
                let quads = halves.chunks_exact(2).map(|quad| self.e.join_words([quad[0], quad[1]]));
                Vectors::Narrow(quads.collect())
            }
        };
        let offset = self.e.int(self.e.ty(reach.base), place.address.offset as u64);
        Offsets::Apart(bases, self.e.isub(offset, reach.base))
    }

    /// Adds a number to all lanes.
    pub(super) fn moved(&mut self, vectors: &Vectors, added: Val) -> Vectors {
        let mut all = |vectors: &[Val]| vectors.iter().map(|vector| self.e.iadd(*vector, added)).collect();
        match vectors {
            Vectors::Wide(halves) => Vectors::Wide(all(halves)),
            Vectors::Narrow(quads) => Vectors::Narrow(all(quads)),
        }
    }

    /// Returns the number of each lane.
    pub(super) fn lanes(&mut self, vectors: &Vectors) -> Vec<Val> {
        let lanes = 0..self.lane_count();
        let number = |lane| match vectors {
            Vectors::Wide(halves) => self.e.lane(halves[lane / 2], lane % 2),
            Vectors::Narrow(quads) => self.e.lane(quads[lane / QUAD], lane % QUAD),
        };
        lanes.map(number).collect()
    }

    /// Returns the position at a distance from the beginning of the memory of a lane.
    pub(super) fn position(&mut self, reach: &Reach, distance: Val, lane: usize) -> Val {
        let distance = self.e.uextend(I64, distance);
        let origin = self.origin(reach, lane);
        self.e.iadd(origin, distance)
    }

    /// Returns the beginning of the memory of a lane.
    fn origin(&mut self, reach: &Reach, lane: usize) -> Val {
        let Some(stride) = reach.stride else { return reach.host };
        let first = self.lane;
        let lane = self.e.int(I32, lane as u64);
        let lane = self.e.iadd(first, lane);
        let lane = self.e.uextend(I64, lane);
        let start = self.e.imul(lane, stride);
        self.e.iadd(reach.host, start)
    }

    /// Finds the memory of an access that is the same in all lanes.
    pub(super) fn find_same(
        &mut self,
        place: &Place<'_>,
        access: &Access,
        reach: &Reach,
        offset: Val,
    ) -> Spread {
        let fit = place.all_fit(self, offset, reach.limit, self.span(place.pc));
        Spread::Regular(self.find_first(place, access, reach, (fit, offset, 0)), 0)
    }

    /// Finds the memory of accesses at regular distances; `None` if each lane has to be checked
    /// alone.
    pub(super) fn find_regular(
        &mut self,
        place: &Place<'_>,
        access: &Access,
        reach: &Reach,
        (first, step): (Val, i64),
    ) -> Option<Spread> {
        let bytes = i64::from(place.bytes);
        // Spare memory stands in for all lanes.
        let most = (SPARE / self.lane_count()) as i64;
        if step % bytes != 0 || step.abs() > most || reach.is_local() {
            return None;
        }
        let (step, span) = (step as i32, self.span(place.pc));
        let fit = if i64::from(step) == bytes && span.is_none() {
            let limit = place.row_limit(self);
            place.fits(self, first, limit)
        } else {
            // Multiples of their size between the first and the last, which are too near to wrap
            // around: if these two fit, all do.
            let Span { low, high } = span.unwrap_or_default();
            let last = (self.lane_count() as i32 - 1) * step;
            let span = Span { low: low + last.min(0), high: high + last.max(0) };
            place.all_fit(self, first, reach.limit, Some(span))
        };
        let at = self.find_first(place, access, reach, (fit, first, step));
        Some(if i64::from(step) == bytes { Spread::Next(at) } else { Spread::Regular(at, step) })
    }

    /// Returns the position of the first lane's access, from which the others are at regular
    /// distances. If the accesses do not fit, performs them, and returns a position in spare memory
    /// where the frequent code loads the same again, or stores it.
    fn find_first(
        &mut self,
        place: &Place<'_>,
        access: &Access,
        reach: &Reach,
        (fit, first, step): (Val, Val, i32),
    ) -> Val {
        let search = |w: &mut Self| {
            let spare = w.e.load(I64, Kind::Constant, w.context, Context::SPARE);
            let last = (w.lane_count() as i32 - 1) * step;
            let spare = w.e.add_constant(spare, (-last).max(0));
            // The same address may be in other memory for each lane.
            let apart = place.writes && step == 0;
            if !apart && !memory::is_strong(access) {
                w.move_row((place, access), (spare, step));
                return vec![spare];
            }
            let places = w.search(place, None);
            if place.writes {
                w.store_spread(access, &Spread::Each(places));
            } else {
                w.copy(access, places, (spare, step));
            }
            vec![spare]
        };
        if let Some((places, offset)) = self.places_in_group(place.pc, search) {
            return self.e.add_constant(places[0], offset);
        }
        let first = self.e.uextend(I64, first);
        let span = self.span(place.pc);
        let known = (&[reach.host][..], &[first][..], 0);
        self.first_places((place.pc, span), (fit, None), known, search, |w| w.e.int(I8, 0))[0]
    }

    /// Performs an access by way of spare memory, where the elements of the lanes have the same
    /// distances as at their places.
    fn move_row(&mut self, (place, access): (&Place<'_>, &Access), (spare, step): (Val, i32)) {
        if place.writes {
            let next = step == place.bytes as i32;
            self.store_spread(access, &if next { Spread::Next(spare) } else { Spread::Regular(spare, step) });
        }
        let address = self.with_focus(Focus::Lane(0), |w| memory::wide_address(w, place.address));
        let (step, count) =
            (self.e.int(I64, i64::from(step) as u64), self.e.int(I64, self.lane_count() as u64));
        for (index, value) in [address, step, count].into_iter().enumerate() {
            self.e.store(Kind::State, value, self.context, argument(Context::PLACES + index));
        }
        let arguments = [self.e.int(I32, place.pc.into()), self.lane, spare];
        let found = self.e.call(MOVE_ROW, &arguments);
        let good = self.e.block();
        self.e.cold(good);
        self.give_up_unless(found, (good, &[]));
        self.e.go_on(good);
    }

    /// Copies the elements of a load to spare memory, each at once.
    fn copy(&mut self, access: &Access, places: Vec<Val>, (spare, step): (Val, i32)) {
        let size = access.bytes;
        for (lane, at) in places.into_iter().enumerate() {
            for offset in (0..access.total_bytes()).step_by(size as usize) {
                let at = self.e.add_constant(at, offset as i32);
                let value = self.e.atomic_load(int_type(size), at);
                self.e.store(Kind::State, value, spare, lane as i32 * step + offset as i32);
            }
        }
    }

    /// Searches the memory of each lane, or of the lanes of which a value has bits, and returns the
    /// places. The others get one of these. Ends the run of the lanes after a fault.
    fn search(&mut self, place: &Place<'_>, lanes: Option<Val>) -> Vec<Val> {
        let (context, count) = (self.context, self.lane_count());
        for lane in 0..count {
            let address = self.with_focus(Focus::Lane(lane), |w| memory::wide_address(w, place.address));
            self.e.store(Kind::State, address, context, argument(Context::PLACES + lane));
        }
        let lanes = lanes.unwrap_or_else(|| self.e.int(I32, self.all_lanes()));
        let arguments = [self.e.int(I32, place.pc.into()), lanes, self.lane];
        let found = self.e.call(FIND_EACH, &arguments);
        let good = self.e.block();
        self.e.cold(good);
        self.give_up_unless(found, (good, &[]));
        self.e.go_on(good);
        let place = |lane| self.e.load(I64, Kind::State, context, argument(Context::PLACES + lane));
        (0..count).map(place).collect()
    }

    /// Returns the distance of each lane's access.
    pub(super) fn distances(&mut self, offsets: &Offsets) -> Vec<Val> {
        match offsets {
            Offsets::Regular(first, step) => {
                (0..self.lane_count()).map(|lane| self.of_lane(*first, *step, lane)).collect()
            }
            Offsets::Apart(bases, added) => {
                let distances = self.moved(bases, *added);
                self.lanes(&distances)
            }
        }
    }

    /// Finds the memory of each lane's access at these distances.
    pub(super) fn find_lanes(&mut self, place: &Place<'_>, reach: &Reach, distances: Vec<Val>) -> Vec<Val> {
        let search = |w: &mut Self| w.search(place, None);
        if let Some((places, offset)) = self.places_in_group(place.pc, search) {
            return places.into_iter().map(|place| self.e.add_constant(place, offset)).collect();
        }
        self.find_apart(place, (None, self.span(place.pc)), reach, distances)
    }

    /// The same for the lanes of which a value has bits, and for all accesses of a group.
    pub(super) fn find_apart(
        &mut self,
        place: &Place<'_>,
        (lanes, span): (Option<Val>, Option<Span>),
        reach: &Reach,
        distances: Vec<Val>,
    ) -> Vec<Val> {
        let mut fit = place.all_fit(self, distances[0], reach.limit, span);
        for distance in &distances[1..] {
            let fits = place.all_fit(self, *distance, reach.limit, span);
            fit = self.e.band(fit, fits);
        }
        let origins: Vec<Val> = (0..distances.len()).map(|lane| self.origin(reach, lane)).collect();
        let distances: Vec<Val> =
            distances.into_iter().map(|distance| self.e.uextend(I64, distance)).collect();
        let search = |w: &mut Self| w.search(place, lanes);
        let known = (&origins[..], &distances[..], 0);
        self.first_places((place.pc, span), (fit, None), known, search, |w| w.e.int(I8, 0))
    }

    /// Returns bits if the numbers of the lanes do not grow by a step from the first.
    pub(super) fn unlike_steps(&mut self, vectors: &Vectors, step: i64) -> Val {
        let (Vectors::Wide(all) | Vectors::Narrow(all)) = vectors;
        let first = self.e.first_of(all[0]);
        let mut unlike = None;
        for (index, numbers) in all.iter().enumerate() {
            let expected = match vectors {
                Vectors::Wide(_) => self.of_half(first, step, index),
                Vectors::Narrow(_) => self.of_lanes(first, step, index),
            };
            let differs = self.e.bxor(*numbers, expected);
            unlike = Some(unlike.map_or(differs, |before| self.e.bor(before, differs)));
        }
        unlike.unwrap_or(first)
    }
}

/// Returns the distance of an access that is the same in all lanes.
pub(super) fn same(reach: &Reach, offsets: &Offsets) -> Option<Val> {
    match offsets {
        Offsets::Regular(offset, 0) if !reach.is_local() => Some(*offset),
        _ => None,
    }
}
