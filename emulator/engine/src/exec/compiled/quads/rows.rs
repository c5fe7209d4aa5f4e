//! The registers of a quad's lanes at entries and stops.

use super::shapes::Shape;
use super::sizes::QUAD;
use crate::exec::compiled::backend::{I8, I32, I64, IntCC, Kind, Val};
use crate::exec::compiled::context::Context;
use crate::exec::compiled::types::Holds;
use crate::exec::compiled::vectors::vector_of;
use crate::exec::compiled::writer::Writer;
use crate::program::instruction::Condition;
use crate::semantics::{Predicate, Register};

impl Writer<'_, '_> {
    /// Loads the registers of an entry. If one that should be the same in all lanes is not, single
    /// lanes enter there. Without a look if they are known to be `regular`.
    pub(in crate::exec::compiled) fn enter_quad(&mut self, pc: u32, regular: bool) {
        let mut differs = None;
        for bit in self.plan.live_at(pc).to_vec() {
            let found = if bit < self.kernel.rows {
                self.load_registers(Register(bit), regular)
            } else {
                self.load_predicates(Predicate(bit - self.kernel.rows), regular)
            };
            differs = match (differs, found) {
                (Some(before), Some(found)) => Some(self.e.bor(before, found)),
                (before, found) => before.or(found),
            };
        }
        if let Some(differs) = differs {
            let (alone, together) = (self.e.block(), self.e.block());
            self.e.cold(alone);
            let differs = self.e.any(differs);
            self.e.branch(differs, (alone, &[]), (together, &[]));
            self.e.go_on(alone);
            let (left, lanes) = (self.fuel_left(), self.bit());
            self.run_from(pc, lanes, left);
            self.e.go_on(together);
        }
    }

    /// Loads a register of the lanes. Returns a vector with bits if it should be the same in all,
    /// and is not.
    fn load_registers(&mut self, register: Register, regular: bool) -> Option<Val> {
        let ((at, offset), own) = (self.cell(register), self.own_type(register));
        let bits = if self.is_wide(register.0) { I64 } else { I32 };
        let Shape::Regular(step) = self.shape(register.0) else {
            for (index, slot) in self.slots(&[register.0]).iter().enumerate() {
                let value = self.e.load(vector_of(own), Kind::State, at, offset + 16 * index as i32);
                self.set_value(*slot, value);
            }
            return None;
        };
        let mut differs = None;
        let first = self.e.load(bits, Kind::State, at, offset);
        let others = if regular { Vec::new() } else { self.expanded(first, step) };
        for (half, expected) in others.into_iter().enumerate() {
            let vector = self.e.load(vector_of(bits), Kind::State, at, offset + 16 * half as i32);
            let found = self.e.bxor(vector, expected);
            let found = self.e.bitcast(vector_of(I32), found);
            differs = Some(differs.map_or(found, |before| self.e.bor(before, found)));
        }
        let first = self.convert(first, own);
        self.set_value(register.0, first);
        differs
    }

    /// The same for a predicate.
    fn load_predicates(&mut self, predicate: Predicate, regular: bool) -> Option<Val> {
        let bit = self.kernel.rows + predicate.0;
        let predicates = self.e.load(I64, Kind::Constant, self.context, Context::PREDICATES);
        let word = self.e.load(I32, Kind::State, predicates, predicate.0 as i32 * 4);
        let lane = self.lane;
        let word = self.e.ushr(word, lane);
        if !self.is_uniform(bit) {
            for (quad, slot) in self.slots(&[bit]).iter().enumerate() {
                let lanes = self.e.four([1, 2, 4, 8].map(|lane| lane << (quad * QUAD)));
                let own = self.e.band(word, lanes);
                let mask = self.e.icmp(IntCC::Equal, own, lanes);
                self.set_value(*slot, mask);
            }
            return None;
        }
        let one = self.e.int(I32, 1);
        let first = self.e.band(word, one);
        let value = self.e.ireduce(I8, first);
        self.set_value(bit, value);
        if regular {
            return None;
        }
        let all = self.e.ineg(first);
        let differs = self.e.bxor(word, all);
        let lanes = self.e.int(I32, self.all_lanes());
        let differs = self.e.band(differs, lanes);
        Some(self.e.splat(differs))
    }

    /// Stores a register or predicate of the lanes.
    pub(in crate::exec::compiled) fn store_rows(&mut self, bit: u32) {
        if let Some(predicate) = bit.checked_sub(self.kernel.rows) {
            return self.store_predicates(Predicate(predicate));
        }
        let register = Register(bit);
        let ((at, offset), own) = (self.cell(register), self.own_type(register));
        let mut vectors: Vec<Val> = self.slots(&[bit]).iter().map(|slot| self.value(*slot)).collect();
        if self.holds[bit as usize] == Holds::Raw {
            vectors = vectors.into_iter().map(|value| self.canonical(value)).collect();
        }
        if let Shape::Regular(step) = self.shape(bit) {
            vectors = self.expanded(vectors[0], step);
        }
        for (half, value) in vectors.into_iter().enumerate() {
            let value = self.convert(value, own);
            self.e.store(Kind::State, value, at, offset + 16 * half as i32);
        }
    }

    fn store_predicates(&mut self, predicate: Predicate) {
        let bit = self.kernel.rows + predicate.0;
        let bits = if self.is_uniform(bit) {
            let value = self.value(bit);
            let (mask, lanes) = (self.e.mask(value, 32), self.e.int(I32, self.all_lanes()));
            self.e.band(mask, lanes)
        } else {
            self.lanes_of(Condition { predicate, negated: false })
        };
        let lane = self.lane;
        let own = self.e.ishl(bits, lane);
        let lanes = self.bit();
        let others = self.e.bnot(lanes);
        let predicates = self.e.load(I64, Kind::Constant, self.context, Context::PREDICATES);
        let word = self.e.load(I32, Kind::State, predicates, predicate.0 as i32 * 4);
        let word = self.e.band(word, others);
        let word = self.e.bor(word, own);
        self.e.store(Kind::State, word, predicates, predicate.0 as i32 * 4);
    }
}
