//! The values of registers and predicates in the code that is written, and where blocks join.
//!
//! A block of the plan begins with the values of the registers that are live there. If all ways
//! into it come from code before it and have the same value of a register, it goes on with this
//! value; otherwise the register becomes a parameter of the block. So the code generator gets few
//! parameters, and never searches for a value.

use super::backend::{Blk, Edge, I8, I32, Type, Val};
use super::writer::Writer;
use crate::semantics::Register;
use std::collections::{HashMap, HashSet};

/// The known values, and the blocks of the plan.
pub(super) struct Values {
    /// Value of each register, by its first row, of each predicate, and of the fuel, in this block.
    cells: Vec<(u32, Val)>,
    /// Number of the current block. Values of other blocks are unknown.
    number: u32,
    blocks: HashMap<u32, Blk>,
    /// Ways into blocks that are not written yet.
    waiting: HashMap<u32, Vec<(Edge, Vec<Val>)>>,
    written: HashSet<u32>,
    /// Blocks in which lanes without fuel stop.
    tired: HashMap<u32, Blk>,
}

impl Values {
    pub(super) fn new(count: u32, none: Val) -> Values {
        Values {
            cells: vec![(0, none); count as usize],
            number: 1,
            blocks: HashMap::new(),
            waiting: HashMap::new(),
            written: HashSet::new(),
            tired: HashMap::new(),
        }
    }

    /// Returns a number of the block that is being written.
    pub(super) fn number(&self) -> u32 {
        self.number
    }

    fn known(&self, bit: u32) -> Option<Val> {
        let (number, value) = self.cells[bit as usize];
        (number == self.number).then_some(value)
    }
}

/// A way from the end of a block to another, with the values that are live there.
pub(super) struct Way {
    pub(super) block: Blk,
    to: u32,
    values: Vec<Val>,
    back: Option<Back>,
}

/// A way backwards.
struct Back {
    cost: u32,
    fuel: Val,
    /// Values for the stop at the head of the loop.
    stored: Vec<Val>,
}

impl Writer<'_, '_> {
    /// Returns the position of the fuel among the values.
    fn fuel(&self) -> u32 {
        self.kernel.rows + self.kernel.predicates
    }

    /// Returns the number of positions for the vectors of a quad.
    pub(super) fn slots_of_quad(&self) -> u32 {
        self.fuel() + 1 + self.plan.arms.masks()
    }

    pub(super) fn type_of(&self, bit: u32) -> Type {
        if let Some(vector) = self.vector_type(bit) {
            vector
        } else if bit < self.kernel.rows {
            self.own_type(Register(bit))
        } else if bit == self.fuel() {
            I32
        } else {
            I8
        }
    }

    /// Returns the value of a register or predicate; any value if none was written.
    pub(super) fn value(&mut self, bit: u32) -> Val {
        if let Some(value) = self.values.known(bit) {
            return value;
        }
        let ty = self.type_of(bit);
        let zero = self.e.zero(ty);
        self.set_value(bit, zero);
        zero
    }

    /// True if a register or predicate has a value here.
    pub(super) fn has_value(&self, bit: u32) -> bool {
        self.slots(&[bit]).iter().all(|slot| self.values.known(*slot).is_some())
    }

    pub(super) fn set_value(&mut self, bit: u32, value: Val) {
        self.values.cells[bit as usize] = (self.values.number, value);
    }

    /// Sets registers and predicates, by the positions of their values, to parameters of a block.
    pub(super) fn set_params(&mut self, block: Blk, slots: &[u32]) {
        for slot in slots {
            let ty = self.type_of(*slot);
            let param = self.e.param(block, ty);
            self.set_value(*slot, param);
        }
    }

    pub(super) fn fuel_left(&mut self) -> Val {
        let fuel = self.fuel();
        self.value(fuel)
    }

    pub(super) fn set_fuel(&mut self, value: Val) {
        let fuel = self.fuel();
        self.set_value(fuel, value);
    }

    /// Forgets all values, at the beginning of a block.
    pub(super) fn forget(&mut self) {
        self.values.number += 1;
    }

    fn block(&mut self, pc: u32) -> Blk {
        let e = &mut *self.e;
        *self.values.blocks.entry(pc).or_insert_with(|| e.block())
    }

    pub(super) fn collect(&mut self, bits: &[u32]) -> Vec<Val> {
        self.slots(bits).iter().map(|slot| self.value(*slot)).collect()
    }

    /// Prepares the way from a branch to its target. Backwards it takes fuel.
    pub(super) fn way(&mut self, from: u32, to: u32) -> Way {
        self.way_from(Some(from), to)
    }

    fn way_from(&mut self, from: Option<u32>, to: u32) -> Way {
        let (live, stored) = (self.plan.live_at(to), self.plan.stored_at(to));
        let (mut values, fuel) = (self.collect(live), self.fuel_left());
        let Some(from) = from.filter(|from| *from >= to) else {
            values.push(fuel);
            return Way { block: self.block(to), to, values, back: None };
        };
        let back = Back { cost: from - to + 1, fuel, stored: self.collect(stored) };
        Way { block: self.e.block(), to, values, back: Some(back) }
    }

    /// Jumps to a block that is not written yet.
    pub(super) fn jump_to(&mut self, pc: u32) {
        let way = self.way_from(None, pc);
        let edge = self.e.jump(way.block, &[]);
        self.take(way, edge);
    }

    /// Jumps to a block with these values of its live registers and of the fuel.
    pub(super) fn jump_with(&mut self, pc: u32, values: Vec<Val>) {
        let block = self.block(pc);
        let edge = self.e.jump(block, &[]);
        self.join(pc, edge, values);
    }

    /// Connects a way with the branch that takes it.
    pub(super) fn take(&mut self, way: Way, edge: Edge) {
        let Some(back) = way.back else { return self.join(way.to, edge, way.values) };
        let tired = self.tired(way.to);
        let (mut values, mut stored) = (way.values, back.stored);
        self.e.go_on(way.block);
        let (cost, zero) = (self.e.int(I32, back.cost.into()), self.e.int(I32, 0));
        let left = self.e.isub(back.fuel, cost);
        values.push(left);
        stored.push(left);
        let good = self.e.greater(left, zero);
        let block = self.block(way.to);
        let [again, _] = self.e.branch(good, (block, &[]), (tired, &stored));
        self.join(way.to, again, values);
    }

    /// Returns the block in which a lane without fuel stops, at the head of a loop.
    fn tired(&mut self, pc: u32) -> Blk {
        if let Some(known) = self.values.tired.get(&pc) {
            return *known;
        }
        let block = self.e.block();
        self.values.tired.insert(pc, block);
        self.e.cold(block);
        self.e.go_on(block);
        self.forget();
        let slots: Vec<u32> =
            self.slots(self.plan.stored_at(pc)).iter().copied().chain([self.fuel()]).collect();
        self.set_params(block, &slots);
        self.stop(pc);
        block
    }

    fn join(&mut self, pc: u32, edge: Edge, values: Vec<Val>) {
        if self.values.written.contains(&pc) {
            values.iter().for_each(|value| self.e.add_argument(edge, *value));
        } else {
            self.values.waiting.entry(pc).or_default().push((edge, values));
        }
    }

    /// Begins the block at an instruction, if it can be reached.
    pub(super) fn begin_block(&mut self, pc: u32) {
        let edges = self.values.waiting.remove(&pc).unwrap_or_default();
        let open = self.plan.open.get(pc as usize) == Some(&true);
        if edges.is_empty() && !open {
            return;
        }
        let block = self.block(pc);
        self.values.written.insert(pc);
        self.e.go_on(block);
        self.forget();
        let live = self.slots(self.plan.live_at(pc));
        for (index, bit) in live.iter().copied().chain([self.fuel()]).enumerate() {
            let first = edges.first().map(|(_, values)| values[index]);
            let same = edges.iter().all(|(_, values)| Some(values[index]) == first);
            let value = match first.filter(|_| same && !open) {
                Some(value) => value,
                None => {
                    let ty = self.type_of(bit);
                    let param = self.e.param(block, ty);
                    edges.iter().for_each(|(edge, values)| self.e.add_argument(*edge, values[index]));
                    param
                }
            };
            self.set_value(bit, value);
        }
        for bit in self.plan.normal.get(&pc).into_iter().flatten() {
            let value = self.value(*bit);
            self.flushed.insert(value);
        }
    }
}
