//! The lanes that run together, and the positions of their vectors among the values.

use super::focus::Focus;
use super::shapes::Shape;
use super::sizes::QUAD;
use crate::exec::compiled::backend::{I32, Type};
use crate::exec::compiled::vectors::vector_of;
use crate::exec::compiled::writer::Writer;
use crate::program::RowKind;
use crate::semantics::Register;
use std::borrow::Cow;

impl Writer<'_, '_> {
    /// Returns the number of quads that run together; none in code for single lanes.
    pub(super) fn quad_count(&self) -> usize {
        self.quads.as_ref().map_or(0, |quads| quads.count)
    }

    /// Returns the number of lanes that run together.
    pub(in crate::exec::compiled) fn lane_count(&self) -> usize {
        self.quads.as_ref().map_or(1, |quads| quads.count * QUAD)
    }

    /// Returns the focuses on each quad.
    pub(super) fn wholes(&self) -> Vec<Focus> {
        (0..self.quad_count()).map(Focus::Whole).collect()
    }

    /// Returns the focuses on two lanes each.
    pub(super) fn halves(&self) -> Vec<Focus> {
        (0..2 * self.quad_count()).map(Focus::Half).collect()
    }

    /// Returns the focuses on each lane.
    pub(super) fn lanes_alone(&self) -> Vec<Focus> {
        (0..self.lane_count()).map(Focus::Lane).collect()
    }

    /// Returns the position of the vector of a quad, from its position in the first quad.
    pub(super) fn slot(&self, bit: u32, quad: usize) -> u32 {
        bit + quad as u32 * self.slots_of_quad()
    }

    /// Returns the positions of the values of registers and predicates: one for each vector.
    pub(in crate::exec::compiled) fn slots<'b>(&self, bits: &'b [u32]) -> Cow<'b, [u32]> {
        if self.quads.is_none() {
            return Cow::Borrowed(bits);
        }
        let slots = |bit: &u32| {
            let bit = *bit;
            let varies = self.shape(bit) == Shape::Varies;
            let (quads, halves) =
                if varies { (self.quad_count(), 1 + u32::from(self.is_wide(bit))) } else { (1, 1) };
            (0..quads).flat_map(move |quad| (0..halves).map(move |half| self.slot(bit + half, quad)))
        };
        bits.iter().flat_map(slots).collect()
    }

    /// Returns the type of the value at a position, if it is a vector.
    pub(in crate::exec::compiled) fn vector_type(&self, slot: u32) -> Option<Type> {
        self.quads.as_ref()?;
        let slot = slot % self.slots_of_quad();
        let bit = match self.kernel.row_kinds.get(slot as usize) {
            Some(RowKind::Upper) => slot - 1,
            _ => slot,
        };
        if self.shape(bit) != Shape::Varies {
            return None;
        }
        let is_register = bit < self.kernel.rows;
        Some(vector_of(if is_register { self.own_type(Register(bit)) } else { I32 }))
    }
}
