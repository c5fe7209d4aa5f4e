//! The code of accesses that one check covers.

use super::backend::{I8, I64, Val};
use super::groups::{Found, Span};
use super::initialized;
use super::writer::Writer;

impl Writer<'_, '_> {
    /// Returns the span of a group that begins at a position.
    pub(super) fn span(&self, pc: u32) -> Option<Span> {
        // A check of initialized memory sees each access. In an arm, each lane has its own.
        let together = !self.checked && self.arm.is_none();
        self.plan.groups.span(pc).filter(|_| together)
    }

    /// Returns the places of an access, without the offset, at these distances from their origins
    /// if it fits, and marks the bytes at a position of a record. Otherwise `search` finds them. If
    /// it begins a group, notes that all of it fits, or if it does after the search.
    pub(super) fn first_places(
        &mut self,
        (pc, span): (u32, Option<Span>),
        (fits, record): (Val, Option<(Val, u32)>),
        (origins, distances, offset): (&[Val], &[Val], i32),
        search: impl FnOnce(&mut Self) -> Vec<Val>,
        fit_now: impl FnOnce(&mut Self) -> Val,
    ) -> Vec<Val> {
        let [missed, done] = std::array::from_fn(|_| self.e.block());
        let found: Vec<Val> = distances.iter().map(|_| self.e.param(done, I64)).collect();
        let mut passed = distances.to_vec();
        let good = span.map(|_| {
            passed.push(self.e.int(I8, 1));
            self.e.param(done, I8)
        });
        self.e.cold(missed);
        if let Some((at, bytes)) = record {
            let fit = self.e.block();
            self.e.branch(fits, (fit, &[]), (missed, &[]));
            self.e.go_on(fit);
            initialized::mark(self, at, bytes);
            self.e.jump(done, &passed);
        } else {
            self.e.branch(fits, (done, &passed), (missed, &[]));
        }
        self.e.go_on(missed);
        let places = search(self);
        let mut away = self.away(&places, origins, offset);
        away.extend(good.map(|_| fit_now(self)));
        self.e.jump(done, &away);
        self.e.go_on(done);
        if let Some(good) = good {
            let (origins, distances) = (origins.to_vec(), found.clone());
            let block = self.values.number();
            self.found.insert(pc, Found { good, origins, distances, offset, block });
        }
        self.sums(origins, &found)
    }

    /// Returns the places of an access, without an offset, and the offset, if it belongs to a group
    /// that was begun. If the first access did not find all, `search` finds the places.
    pub(super) fn places_in_group(
        &mut self,
        pc: u32,
        search: impl FnOnce(&mut Self) -> Vec<Val>,
    ) -> Option<(Vec<Val>, i32)> {
        let (first, distance) = self.plan.groups.first(pc)?;
        let number = self.values.number();
        let known = self.found.get(&first).filter(|found| found.block == number && self.arm.is_none());
        let Found { good, origins, distances, offset, .. } = known?.clone();
        let offset = offset + distance;
        let [missed, done] = std::array::from_fn(|_| self.e.block());
        self.e.cold(missed);
        let passed: Vec<Val> = distances.iter().map(|_| self.e.param(done, I64)).collect();
        self.e.branch(good, (done, &distances), (missed, &[]));
        self.e.go_on(missed);
        let places = search(self);
        let away = self.away(&places, &origins, offset);
        self.e.jump(done, &away);
        self.e.go_on(done);
        let places = self.sums(&origins, &passed);
        // If the code comes from a search, the next access searches too, whatever the distance is.
        if let Some(found) = self.found.get_mut(&first) {
            found.distances = passed;
        }
        Some((places, offset))
    }

    fn sums(&mut self, origins: &[Val], distances: &[Val]) -> Vec<Val> {
        origins.iter().zip(distances).map(|(origin, distance)| self.e.iadd(*origin, *distance)).collect()
    }

    /// Returns the distances of places from these origins plus an offset.
    fn away(&mut self, places: &[Val], origins: &[Val], offset: i32) -> Vec<Val> {
        let away = |(place, origin): (&Val, &Val)| {
            let distance = self.e.isub(*place, *origin);
            self.e.add_constant(distance, -offset)
        };
        places.iter().zip(origins).map(away).collect()
    }
}
