//! The last accesses to 64 bytes of memory, which later ones may race with.
//!
//! Most accesses are by lanes at neighboring or equal addresses. One [`Row`] describes such an
//! access. At the first access that rows cannot describe, or that may race with one, a line changes
//! to a list of accesses for each word, which decides exactly.

use super::clocks::Past;
use super::traces::{Cell, Compare, Trace};

/// Bytes of a line.
pub(super) const LINE: u64 = 64;
/// Bytes of a word.
pub(super) const WORD: u64 = 4;
const WORDS: usize = (LINE / WORD) as usize;

/// Maximum number of rows of a line.
const MOST_ROWS: usize = 64;
/// Number of rows after which rows of single lanes change to words.
const MOST_SINGLE: usize = 8;

/// The lanes that access a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum By {
    /// All lanes of the access.
    All,
    /// The lane with the number `(first + word) >> shift`.
    One { first: i32, shift: u32 },
}

/// An access of some lanes of a warp to whole words of a line. It is weak and not atomic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Row {
    pub(super) trace: Trace,
    /// One bit for each word.
    pub(super) words: u16,
    pub(super) by: By,
}

impl Row {
    /// Returns the access to one word.
    fn at(&self, word: usize) -> Trace {
        let lanes = match self.by {
            By::All => self.trace.lanes,
            By::One { first, shift } => 1 << ((first + word as i32) >> shift & 31),
        };
        Trace { lanes, ..self.trace }
    }

    /// True if this access certainly happens before another one to the same words.
    fn precedes(&self, now: &Row, past: &Past) -> bool {
        let (before, after) = (&self.trace, &now.trace);
        let same_warp = before.block == after.block && before.warp == after.warp;
        if same_warp && self.by == now.by && self.by != By::All {
            // Each word is accessed by the same thread.
            return true;
        }
        let unknown = past.unknown(before.block, before.warp, before.lanes, before.moment);
        let own = if same_warp && after.lanes.is_power_of_two() { after.lanes } else { 0 };
        unknown & !own == 0
    }
}

fn words_of(mut words: u16) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let word = (words != 0).then(|| words.trailing_zeros() as usize);
        words &= words.wrapping_sub(1);
        word
    })
}

#[derive(Debug, Default)]
pub(super) struct Line {
    rows: Vec<Row>,
    /// The accesses by word, if there are no rows.
    cells: Option<Box<[Cell; WORDS]>>,
}

impl Line {
    pub(super) fn clear(&mut self) {
        self.rows.clear();
        self.cells = None;
    }

    /// Removes the accesses to a word.
    pub(super) fn forget(&mut self, word: usize) {
        match &mut self.cells {
            Some(cells) => cells[word].clear(),
            None => self.rows.iter_mut().for_each(|row| row.words &= !(1 << word)),
        }
    }

    /// Returns the accesses to a word, to be compared with others and changed.
    pub(super) fn cell(&mut self, word: usize) -> &mut Cell {
        let rows = &mut self.rows;
        let cells = self.cells.get_or_insert_with(|| {
            let mut cells: Box<[Cell; WORDS]> = Box::default();
            for row in rows.drain(..) {
                words_of(row.words).for_each(|word| cells[word].push(row.at(word)));
            }
            cells
        });
        &mut cells[word]
    }

    /// Records an access that certainly races with none. Otherwise returns false without a change.
    pub(super) fn touch(&mut self, now: &Row, past: &Past, how: Compare) -> bool {
        let single = now.trace.lanes.is_power_of_two() && self.rows.len() >= MOST_SINGLE;
        if self.cells.is_some() || single {
            return self.touch_words(now, past, how);
        }
        if !now.trace.write && self.rows.iter().rev().any(|row| row == now) {
            return true;
        }
        let conflicts = |row: &&Row| row.words & now.words != 0 && (row.trace.write || now.trace.write);
        if !self.rows.iter().filter(conflicts).all(|row| row.precedes(now, past)) {
            return false;
        }
        let full = self.rows.len() % MOST_SINGLE == MOST_SINGLE - 1;
        if now.trace.write || full {
            self.rows.retain_mut(|row| {
                // A later access that races with an earlier one also races with this one.
                let past = row.words & now.words != 0
                    && (now.trace.write || !row.trace.write && row.precedes(now, past));
                row.words &= if past { !now.words } else { u16::MAX };
                row.words != 0
            });
        }
        if self.rows.len() >= MOST_ROWS {
            return self.touch_words(now, past, how);
        }
        self.rows.push(*now);
        true
    }

    fn touch_words(&mut self, now: &Row, past: &Past, how: Compare) -> bool {
        let good = words_of(now.words).all(|word| self.cell(word).admits(&now.at(word), past, how));
        if good {
            words_of(now.words).for_each(|word| {
                self.cell(word).touch(now.at(word), past, how);
            });
        }
        good
    }
}
