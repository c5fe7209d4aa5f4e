//! Shadow memory: written bytes, and accesses that later ones may race with.

use super::clocks::{ByAddress, Publications};
use super::lines::{By, LINE, Line, Row, WORD};
use super::past::Past;
use super::traces::{Cell, Compare, Trace};
use crate::semantics::lanes_of;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// One byte per byte of a memory, which is 1 when the byte is written.
#[derive(Clone, Debug, Default)]
pub(in crate::exec) struct Written(Vec<u8>);

impl Written {
    /// Maximum number of bytes of an access. Any access at the first byte is within the record.
    const MOST_BYTES: usize = 64;

    /// Provides for a memory of this size, and forgets all writes.
    pub(in crate::exec) fn start(&mut self, bytes: usize) {
        self.0.clear();
        self.0.resize(bytes.max(Self::MOST_BYTES), 0);
    }

    /// Moves the records of `parts` parts of a memory, each of `old` bytes, to parts of `new`
    /// bytes.
    pub(in crate::exec) fn widen(&mut self, parts: usize, old: usize, new: usize) {
        let mut wide = vec![0; (parts * new).max(Self::MOST_BYTES)];
        for part in 0..parts {
            wide[part * new..][..old].copy_from_slice(&self.0[part * old..][..old]);
        }
        self.0 = wide;
    }

    /// Returns the first byte of the record, for machine code.
    #[cfg(feature = "compile")]
    pub(in crate::exec) fn base(&mut self) -> *mut u8 {
        self.0.as_mut_ptr()
    }

    pub(in crate::exec) fn mark(&mut self, start: usize, bytes: usize) {
        self.0[start..start + bytes].fill(1);
    }

    pub(in crate::exec) fn all(&self, start: usize, bytes: usize) -> bool {
        // Without an early end, so that the comparisons become vector instructions.
        self.0[start..start + bytes].iter().fold(1, |all, written| all & written) == 1
    }
}

/// Accesses to a memory by pages, and the knowledge published through it.
#[derive(Debug, Default)]
pub(in crate::exec) struct Accesses {
    pages: Vec<Box<[Line]>>,
    /// Position of each page.
    places: ByAddress<usize>,
    /// The numbers of pages found last, with their position plus one.
    recent: [(u64, usize); 4],
    pub(in crate::exec) publications: Publications,
}

/// Bytes that lanes of a warp access, all of them the same or each the next ones.
#[derive(Clone, Copy, Debug)]
pub(in crate::exec) struct Group {
    pub(in crate::exec) address: u64,
    pub(in crate::exec) lanes: u32,
    /// Bytes of one lane.
    pub(in crate::exec) bytes: u64,
    /// True if each lane accesses the bytes that follow the previous lane's. The lanes are then
    /// consecutive, and `bytes` is a power of two.
    pub(in crate::exec) apart: bool,
}

impl Accesses {
    const LINES_A_PAGE: u64 = 16;

    #[inline]
    fn line(&mut self, line: u64) -> &mut Line {
        let page = line / Self::LINES_A_PAGE;
        let (number, after) = self.recent[(page % 4) as usize];
        let place = if number == page && after != 0 { after - 1 } else { self.find_page(page) };
        &mut self.pages[place][(line % Self::LINES_A_PAGE) as usize]
    }

    #[inline(never)]
    fn find_page(&mut self, page: u64) -> usize {
        let place = *self.places.entry(page).or_insert_with(|| {
            self.pages.push((0..Self::LINES_A_PAGE).map(|_| Line::default()).collect());
            self.pages.len() - 1
        });
        self.recent[(page % 4) as usize] = (page, place + 1);
        place
    }

    fn clear(&mut self) {
        self.pages.iter_mut().flatten().for_each(Line::clear);
        self.publications.clear();
    }

    /// Records an access to bytes from `address` on. Returns an earlier access with which it races.
    pub(in crate::exec) fn touch(
        &mut self,
        address: u64,
        bytes: u64,
        now: Trace,
        past: &Past,
        how: Compare,
    ) -> Option<Trace> {
        let mut found = None;
        for (word, bytes) in words_of(address, bytes) {
            let race = self.cell(word).touch(Trace { bytes, ..now }, past, how);
            found = found.or(race);
        }
        found
    }

    /// Records an access of one lane, if it certainly races with no other. Returns false without a
    /// change if it may race.
    pub(in crate::exec) fn touch_lane(
        &mut self,
        address: u64,
        bytes: u64,
        now: &Trace,
        past: &Past,
        how: Compare,
    ) -> bool {
        self.touch_lanes(address, bytes, (now, now.lanes), past, how)
    }

    /// Records an access of several lanes, one after the other, if the first certainly races with
    /// no other, and the others race with none unless it does. Only the last is stored.
    #[inline]
    pub(in crate::exec) fn touch_lanes(
        &mut self,
        address: u64,
        bytes: u64,
        (now, lanes): (&Trace, u32),
        past: &Past,
        how: Compare,
    ) -> bool {
        let mut now = Trace { lanes: lanes & lanes.wrapping_neg(), bytes: 0xf, ..*now };
        let last = 1 << (31 - lanes.leading_zeros());
        if bytes == WORD && address % WORD == 0 {
            return self.cell(address / WORD).touch_word(&mut now, last, past, how);
        }
        let mut words = words_of(address, bytes);
        if !words.all(|(word, bytes)| self.cell(word).admits(&Trace { bytes, ..now }, past, how)) {
            return false;
        }
        for (word, bytes) in words_of(address, bytes) {
            self.cell(word).touch(Trace { lanes: last, bytes, ..now }, past, how);
        }
        true
    }

    #[inline]
    fn cell(&mut self, word: u64) -> &mut Cell {
        &mut self.line(word * WORD / LINE).cells()[(word % (LINE / WORD)) as usize]
    }

    /// Records a weak access of some lanes, whose pasts are the same, if it certainly races with no
    /// other. Returns false if it may race; it can then be recorded again, lane by lane.
    pub(in crate::exec) fn touch_group(
        &mut self,
        group: Group,
        now: Trace,
        past: &Past,
        how: Compare,
    ) -> bool {
        let Group { address, lanes, bytes, apart } = group;
        let end = address + if apart { bytes * u64::from(lanes.count_ones()) } else { bytes };
        if address % WORD != 0 || end % WORD != 0 {
            return lanes_of(lanes).zip(0..).all(|(lane, at)| {
                let address = if apart { address + at * bytes } else { address };
                self.touch_lane(address, bytes, &Trace { lanes: 1 << lane, ..now }, past, how)
            });
        }
        let mut row = Row { trace: Trace { lanes, bytes: 0xf, ..now }, words: 0, by: By::All };
        (address / LINE..=(end - 1) / LINE).all(|line| {
            let start = line * LINE;
            let from = (address.max(start) - start) / WORD;
            let to = (end.min(start + LINE) - start) / WORD;
            row.words = ((1u32 << to) - (1u32 << from)) as u16;
            if apart {
                row.by = by_next(group, start);
            }
            self.line(line).touch(&row, past, how)
        })
    }
}

/// Returns the words that an access touches, and the bytes in each as a mask.
#[inline]
fn words_of(address: u64, bytes: u64) -> impl Iterator<Item = (u64, u8)> {
    let end = address + bytes;
    (address / WORD..=(end - 1) / WORD).map(move |word| {
        let first = address.max(word * WORD) - word * WORD;
        let last = end.min((word + 1) * WORD) - word * WORD;
        (word, (1u8 << last) - (1u8 << first))
    })
}

/// Returns the lane of each word, or of each byte, in the line that begins at `start`, for lanes
/// that are each at the bytes after the previous lane's.
#[inline]
fn by_next(group: Group, start: u64) -> By {
    let Group { address, lanes, bytes, .. } = group;
    let skipped = start as i64 - address as i64;
    let first = |shift| i64::from(lanes.trailing_zeros()) << shift;
    if bytes < WORD {
        let shift = bytes.trailing_zeros();
        By::Parts { first: (first(shift) + skipped) as i32, shift }
    } else {
        let shift = (bytes / WORD).trailing_zeros();
        By::One { first: (first(shift) + skipped / WORD as i64) as i32, shift }
    }
}

#[derive(Debug, Default)]
pub(in crate::exec) struct Shadow {
    pub(in crate::exec) written: Written,
    pub(in crate::exec) accesses: Accesses,
    /// Knowledge of threads when they arrived at a barrier in memory.
    pub(in crate::exec) barriers: Publications,
}

impl Shadow {
    pub(in crate::exec) fn clear(&mut self) {
        self.accesses.clear();
        self.barriers.clear();
    }
}

/// Accesses of all blocks to global memory. One worker runs all blocks, so the lock is uncontended.
#[derive(Debug, Default)]
pub(in crate::exec) struct GlobalShadow(Mutex<Accesses>);

impl GlobalShadow {
    pub(in crate::exec) fn lock(&self) -> MutexGuard<'_, Accesses> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes earlier accesses, because the memory was allocated again.
    pub(in crate::exec) fn forget(&self, address: u64, bytes: u64) {
        let mut accesses = self.lock();
        for word in address / WORD..(address + bytes).div_ceil(WORD) {
            accesses.line(word * WORD / LINE).forget((word % (LINE / WORD)) as usize);
            accesses.publications.remove(&(word * WORD));
        }
    }
}
