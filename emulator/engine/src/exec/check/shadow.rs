//! Shadow memory: written bytes, and accesses that later ones may race with.

use super::clocks::{ByAddress, Past, Publications};
use super::lines::{By, LINE, Line, Row, WORD};
use super::traces::{Compare, Trace};
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
    pages: ByAddress<Box<[Line]>>,
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

    fn line(&mut self, line: u64) -> &mut Line {
        let fresh = || (0..Self::LINES_A_PAGE).map(|_| Line::default()).collect();
        let page = self.pages.entry(line / Self::LINES_A_PAGE).or_insert_with(fresh);
        &mut page[(line % Self::LINES_A_PAGE) as usize]
    }

    fn clear(&mut self) {
        self.pages.values_mut().flatten().for_each(Line::clear);
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
        let end = address + bytes;
        let mut found = None;
        for word in address / WORD..=(end - 1) / WORD {
            let first = address.max(word * WORD) - word * WORD;
            let last = end.min((word + 1) * WORD) - word * WORD;
            let mask = (1u8 << last) - (1u8 << first);
            let cell = self.line(word * WORD / LINE).cell((word % (LINE / WORD)) as usize);
            let race = cell.touch(Trace { bytes: mask, ..now }, past, how);
            found = found.or(race);
        }
        found
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
        if address % WORD != 0 || bytes % WORD != 0 {
            return lanes_of(lanes).zip(0..).all(|(lane, at)| {
                let address = if apart { address + at * bytes } else { address };
                self.touch_part(address, bytes, Trace { lanes: 1 << lane, ..now }, past, how)
            });
        }
        let shift = (bytes / WORD).trailing_zeros();
        let end = address + if apart { bytes * u64::from(lanes.count_ones()) } else { bytes };
        (address / LINE..=(end - 1) / LINE).all(|line| {
            let start = line * LINE;
            let from = (address.max(start) - start) / WORD;
            let to = (end.min(start + LINE) - start) / WORD;
            let words = ((1u32 << to) - (1u32 << from)) as u16;
            let by = if apart {
                let skipped = (start as i64 - address as i64) / WORD as i64;
                By::One { first: ((lanes.trailing_zeros() << shift) as i64 + skipped) as i32, shift }
            } else {
                By::All
            };
            self.line(line).touch(&Row { trace: Trace { lanes, bytes: 0xf, ..now }, words, by }, past, how)
        })
    }

    /// Records an access of one lane to parts of words, if it certainly races with no other.
    fn touch_part(&mut self, address: u64, bytes: u64, now: Trace, past: &Past, how: Compare) -> bool {
        let word = address / WORD;
        let first = address % WORD;
        debug_assert!(first + bytes <= WORD, "aligned accesses of less than a word");
        let now = Trace { bytes: (1u8 << (first + bytes)) - (1u8 << first), ..now };
        let cell = self.line(word * WORD / LINE).cell((word % (LINE / WORD)) as usize);
        let good = cell.admits(&now, past, how);
        if good {
            cell.touch(now, past, how);
        }
        good
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
