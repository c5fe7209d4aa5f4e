//! The code of accesses that one check covers.

use super::backend::{I8, I64, Val};
use super::groups::{Found, Span};
use super::writer::Writer;

impl Writer<'_, '_> {
    /// Returns the span of a group that begins at a position.
    pub(super) fn span(&self, pc: u32) -> Option<Span> {
        // A check of initialized memory sees each access. In an arm, each lane has its own.
        let together = !self.checked && self.arm.is_none();
        self.plan.groups.span(pc).filter(|_| together)
    }

    /// Notes the places of the first access of a group.
    pub(super) fn begin_group(
        &mut self,
        pc: u32,
        good: Val,
        (origins, distances, offset): (&[Val], &[Val], i32),
    ) {
        let (origins, distances) = (origins.to_vec(), distances.to_vec());
        let block = self.values.number();
        self.found.insert(pc, Found { good, origins, distances, offset, block });
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
        let places = origins.iter().zip(&passed).map(|(origin, passed)| self.e.iadd(*origin, *passed));
        let places = places.collect();
        // If the code comes from a search, the next access searches too, whatever the distance is.
        if let Some(found) = self.found.get_mut(&first) {
            found.distances = passed;
        }
        Some((places, offset))
    }

    /// Returns the distances of places from these origins plus an offset.
    pub(super) fn away(&mut self, places: &[Val], origins: &[Val], offset: i32) -> Vec<Val> {
        let away = |(place, origin): (&Val, &Val)| {
            let distance = self.e.isub(*place, *origin);
            self.e.add_constant(distance, -offset)
        };
        places.iter().zip(origins).map(away).collect()
    }

    /// Returns a condition that holds, or does not.
    pub(super) fn constant_condition(&mut self, holds: bool) -> Val {
        self.e.int(I8, holds.into())
    }
}
