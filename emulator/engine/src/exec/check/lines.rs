//! The last accesses to 64 bytes of memory, which later ones may race with.
//!
//! Most accesses are by lanes at neighboring or equal addresses. One [`Row`] describes such an
//! access. At the first access that rows cannot describe, or that may race with one, a line changes
//! to a list of accesses for each word, which decides exactly.

use super::past::Past;
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

/// The lanes that access the bytes of a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum By {
    /// All lanes of the access.
    All,
    /// The lane with the number `(first + word) >> shift`.
    One { first: i32, shift: u32 },
    /// For each byte, the lane with the number `(first + byte) >> shift`.
    Parts { first: i32, shift: u32 },
}

/// A weak access of some lanes of a warp to whole words of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Row {
    pub(super) trace: Trace,
    /// One bit for each word.
    pub(super) words: u16,
    pub(super) by: By,
}

impl Row {
    /// Returns the accesses to one word, each to other bytes.
    fn at(&self, word: usize) -> impl Iterator<Item = Trace> + use<> {
        let Row { trace, by, .. } = *self;
        let count = if let By::Parts { shift, .. } = by { WORD as i32 >> shift } else { 1 };
        (0..count).map(move |part| match by {
            By::All => trace,
            By::One { first, shift } => Trace { lanes: 1 << ((first + word as i32) >> shift & 31), ..trace },
            By::Parts { first, shift } => {
                let byte = part << shift;
                let lane = (first + word as i32 * WORD as i32 + byte) >> shift & 31;
                Trace { lanes: 1 << lane, bytes: ((1 << (1 << shift)) - 1) << byte, ..trace }
            }
        })
    }

    /// True if each byte is accessed by the same thread as by another row, in any common word.
    fn is_by_same_threads(&self, other: &Row) -> bool {
        self.trace.is_by_warp_of(&other.trace) && self.by == other.by && self.by != By::All
    }

    /// True if this access certainly happens before another one to the same words.
    fn precedes(&self, now: &Row, past: &Past) -> bool {
        if self.is_by_same_threads(now) {
            return true;
        }
        let same_warp = self.trace.is_by_warp_of(&now.trace);
        let own = if same_warp && now.trace.lanes.is_power_of_two() { now.trace.lanes } else { 0 };
        self.trace.unknown(past) & !own == 0
    }

    /// Returns the words, among these, that a later read makes this read unnecessary for, because a
    /// write that races with this read also races with the later one. `None` if it does so for some
    /// bytes of a word.
    #[inline]
    fn superseded(&self, now: &Row, words: u16, past: &Past) -> Option<u16> {
        if self.is_by_same_threads(now) {
            return Some(words);
        }
        match self.trace.unknown(past) {
            0 => Some(words),
            unknown if unknown == self.trace.lanes && !self.trace.is_by_warp_of(&now.trace) => Some(0),
            _ => self.superseded_by_word(now, words, past),
        }
    }

    #[inline(never)]
    fn superseded_by_word(&self, now: &Row, words: u16, past: &Past) -> Option<u16> {
        let mut found = 0;
        for word in words_of(words) {
            let ([Some(old), None], [Some(new), None]) = (two(self.at(word)), two(now.at(word))) else {
                return None;
            };
            found |= u16::from(old.unknown_to(&new.first_lane(), past) == 0) << word;
        }
        Some(found)
    }
}

fn two(mut traces: impl Iterator<Item = Trace>) -> [Option<Trace>; 2] {
    [traces.next(), traces.next()]
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
    /// No row that reads is of an earlier time.
    first_read: u32,
    /// The accesses by word, if there are no rows. Kept for later.
    cells: Option<Box<[Cell; WORDS]>>,
    has_cells: bool,
}

impl Line {
    pub(super) fn clear(&mut self) {
        self.rows.clear();
        if let Some(cells) = self.cells.as_mut().filter(|_| self.has_cells) {
            cells.iter_mut().for_each(Cell::clear);
        }
        self.has_cells = false;
    }

    /// Removes the accesses to a word.
    pub(super) fn forget(&mut self, word: usize) {
        match &mut self.cells {
            Some(cells) if self.has_cells => cells[word].clear(),
            _ => self.rows.iter_mut().for_each(|row| row.words &= !(1 << word)),
        }
    }

    /// Returns the accesses to each word, to be compared with others and changed.
    #[inline]
    pub(super) fn cells(&mut self) -> &mut [Cell; WORDS] {
        let cells = self.cells.get_or_insert_default();
        if !self.has_cells {
            self.has_cells = true;
            move_rows(&mut self.rows, cells);
        }
        cells
    }

    /// Records an access that certainly races with none. Otherwise returns false without a change.
    pub(super) fn touch(&mut self, now: &Row, past: &Past, how: Compare) -> bool {
        let single = now.trace.lanes.is_power_of_two() && self.rows.len() >= MOST_SINGLE;
        if self.has_cells || single || self.rows.len() >= MOST_ROWS {
            return self.touch_words(now, past, how);
        }
        // Mostly, the past of this access contains no read of the line.
        let fresh = past.ends_before(self.first_read);
        let (mut like, mut superseded) = (0, false);
        for row in self.rows.iter().rev() {
            let common = row.words & now.words;
            if common == 0 {
                continue;
            }
            if row.trace.write || now.trace.write {
                if !row.precedes(now, past) {
                    return self.touch_words(now, past, how);
                }
            } else if row.trace.differs_in_lanes_only(&now.trace) {
                if row == now {
                    return true;
                }
                like |= row.words;
            } else if !fresh || row.trace.warp == now.trace.warp {
                superseded |= row.superseded(now, common, past) != Some(0);
            }
        }
        if now.trace.write {
            self.retain(|row| row.words & !now.words);
        } else if superseded && !self.remove_reads(now, now.words & !like, past) {
            return self.touch_words(now, past, how);
        }
        if self.rows.is_empty() {
            self.first_read = u32::MAX;
        }
        if !now.trace.write {
            self.first_read = self.first_read.min(now.trace.moment);
        }
        self.rows.push(*now);
        true
    }

    /// Limits rows to these of their words.
    fn retain(&mut self, words: impl Fn(&Row) -> u16) {
        self.first_read = u32::MAX;
        self.rows.retain_mut(|row| {
            row.words = words(row);
            if row.words != 0 && !row.trace.write {
                self.first_read = self.first_read.min(row.trace.moment);
            }
            row.words != 0
        });
    }

    /// Removes the reads of some words that a later read makes unnecessary. Returns false without a
    /// change if rows cannot describe the others.
    #[inline(never)]
    fn remove_reads(&mut self, now: &Row, words: u16, past: &Past) -> bool {
        let superseded = |row: &Row| {
            let common = row.words & words;
            if common == 0 || row.trace.write { Some(0) } else { row.superseded(now, common, past) }
        };
        for row in &self.rows {
            let Some(words) = superseded(row) else { return false };
            // A read by other lanes of the same instruction goes only together with this one.
            let mut others = self.rows.iter().filter(|other| !std::ptr::eq(*other, row));
            if words != 0
                && others
                    .any(|other| other.words & words != 0 && other.trace.differs_in_lanes_only(&row.trace))
            {
                return false;
            }
        }
        self.retain(|row| row.words & !superseded(row).unwrap_or_default());
        true
    }

    fn touch_words(&mut self, now: &Row, past: &Past, how: Compare) -> bool {
        let cells = self.cells();
        let admits = |word| now.at(word).all(|trace: Trace| cells[word].admits(&trace, past, how));
        if !words_of(now.words).all(admits) {
            return false;
        }
        for word in words_of(now.words) {
            for trace in now.at(word) {
                cells[word].touch(trace, past, how);
            }
        }
        true
    }
}

/// Moves the accesses of rows to the words.
#[cold]
fn move_rows(rows: &mut Vec<Row>, cells: &mut [Cell; WORDS]) {
    for row in rows.drain(..) {
        for word in words_of(row.words) {
            row.at(word).for_each(|trace| cells[word].add(trace));
        }
    }
}
