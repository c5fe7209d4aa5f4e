//! The register file of a warp: vector registers, called rows, with one element per lane.

use crate::program::RowKind;
use crate::program::instruction::Condition;
use crate::semantics::{LANES, Predicate, Register, Width, lanes_of};

/// One row. Its alignment lets it fill whole vector registers and cache lines.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Row([u32; LANES]);

/// Rows in addition to the kernel's: a double one for results before masking, and one more because
/// an unused operand may be read as a double row.
const EXTRA_ROWS: u32 = 3;

#[derive(Clone, Debug)]
pub(in crate::exec) struct Rows {
    rows: Vec<Row>,
    predicates: Vec<u32>,
}

impl Rows {
    pub(in crate::exec) fn new(rows: u32, predicates: u32) -> Self {
        let mut predicates = vec![0; predicates as usize];
        predicates[Predicate::TRUE.0 as usize] = u32::MAX;
        Rows { rows: vec![Row([0; LANES]); (rows + EXTRA_ROWS) as usize], predicates }
    }

    pub(in crate::exec) fn base(&mut self) -> *mut u32 {
        self.rows.as_mut_ptr().cast()
    }

    pub(in crate::exec) fn predicates(&mut self) -> *mut u32 {
        self.predicates.as_mut_ptr()
    }

    /// Returns a double row that is not a register of a kernel with `rows` rows.
    pub(in crate::exec) fn scratch(rows: u32) -> Register {
        Register(rows)
    }

    pub(in crate::exec) fn get(&self, register: Register, lane: usize) -> u32 {
        self.rows[register.0 as usize].0[lane]
    }

    /// Returns a single row.
    pub(in crate::exec) fn row(&self, register: Register) -> &[u32; LANES] {
        &self.rows[register.0 as usize].0
    }

    pub(in crate::exec) fn row_mut(&mut self, register: Register) -> &mut [u32; LANES] {
        &mut self.rows[register.0 as usize].0
    }

    pub(in crate::exec) fn set(&mut self, register: Register, lane: usize, value: u32) {
        self.rows[register.0 as usize].0[lane] = value;
    }

    /// Reads a value of either width; the upper half of a single row is zero.
    pub(in crate::exec) fn get_wide(&self, register: Register, width: Width, lane: usize) -> u64 {
        if width != Width::Double {
            return self.get(register, lane).into();
        }
        let row = register.0 as usize + lane * 2 / LANES;
        let cell = lane * 2 % LANES;
        let low = self.rows[row].0[cell];
        let high = self.rows[row].0[cell + 1];
        u64::from(high) << 32 | u64::from(low)
    }

    pub(in crate::exec) fn set_wide(&mut self, register: Register, width: Width, lane: usize, value: u64) {
        if width != Width::Double {
            return self.set(register, lane, value as u32);
        }
        let row = register.0 as usize + lane * 2 / LANES;
        let cell = lane * 2 % LANES;
        self.rows[row].0[cell] = value as u32;
        self.rows[row].0[cell + 1] = (value >> 32) as u32;
    }

    pub(in crate::exec) fn fill(&mut self, register: Register, width: Width, value: u64) {
        let first = register.0 as usize;
        if width != Width::Double {
            self.rows[first] = Row([value as u32; LANES]);
            return;
        }
        let words = [value as u32, (value >> 32) as u32];
        let row = Row(core::array::from_fn(|cell| words[cell % 2]));
        self.rows[first..first + 2].fill(row);
    }

    /// Fills a row with a base value plus an offset per lane, for values of either width.
    pub(in crate::exec) fn fill_growing(
        &mut self,
        register: Register,
        width: Width,
        first: u64,
        narrow: &[u32; LANES],
        wide: &[i64; LANES],
    ) {
        let row = register.0 as usize;
        if width != Width::Double {
            let cells = self.rows[row].0.iter_mut().zip(narrow);
            cells.for_each(|(cell, growth)| *cell = (first as u32).wrapping_add(*growth));
            return;
        }
        for (half, row) in self.rows[row..row + 2].iter_mut().enumerate() {
            let growth = &wide[half * LANES / 2..(half + 1) * LANES / 2];
            for (cells, growth) in row.0.chunks_exact_mut(2).zip(growth) {
                let value = first.wrapping_add_signed(*growth);
                cells.copy_from_slice(&[value as u32, (value >> 32) as u32]);
            }
        }
    }

    pub(in crate::exec) fn bytes(&self) -> usize {
        size_of_val(self.rows.as_slice())
    }

    pub(in crate::exec) fn holds(&self, condition: Condition) -> u32 {
        let bits = self.predicates[condition.predicate.0 as usize];
        if condition.negated { !bits } else { bits }
    }

    pub(in crate::exec) fn set_predicate(&mut self, predicate: Predicate, mask: u32, bits: u32) {
        let old = &mut self.predicates[predicate.0 as usize];
        *old = (*old & !mask) | (bits & mask);
    }

    /// Copies these rows and predicates, to be restored later.
    pub(in crate::exec) fn save(
        &self,
        rows: &[core::ops::Range<u32>],
        predicates: core::ops::Range<u32>,
    ) -> Saved {
        let copy = |range: &core::ops::Range<u32>| {
            (range.start, self.rows[range.start as usize..range.end as usize].to_vec())
        };
        Saved {
            rows: rows.iter().map(copy).collect(),
            first_predicate: predicates.start,
            predicates: self.predicates[predicates.start as usize..predicates.end as usize].to_vec(),
        }
    }

    pub(in crate::exec) fn restore(&mut self, saved: &Saved, mask: u32, kinds: &[RowKind]) {
        for (first, rows) in &saved.rows {
            for (offset, old) in rows.iter().enumerate() {
                let index = *first as usize + offset;
                let row = &mut self.rows[index].0;
                let mut copy = |cell: usize| row[cell] = old.0[cell];
                match kinds[index] {
                    RowKind::Single => lanes_of(mask).for_each(copy),
                    // Half of a double row contains 16 lanes of two cells each.
                    RowKind::Lower | RowKind::Upper => {
                        let half = if kinds[index] == RowKind::Upper { mask >> 16 } else { mask & 0xffff };
                        lanes_of(half).flat_map(|lane| [2 * lane, 2 * lane + 1]).for_each(&mut copy);
                    }
                }
            }
        }
        for (offset, old) in saved.predicates.iter().enumerate() {
            self.set_predicate(Predicate(saved.first_predicate + offset as u32), mask, *old);
        }
    }
}

/// Saved registers of a function that runs recursively.
#[derive(Clone, Debug)]
pub(in crate::exec) struct Saved {
    rows: Vec<(u32, Vec<Row>)>,
    first_predicate: u32,
    predicates: Vec<u32>,
}
