//! The exact bytes of global memory that a launch reads and writes, by allocation.
//!
//! One bit per byte and kind of access, in pages that are created on demand. Words with all bits
//! set are stored without a locked instruction, and words that are already set are only read. A
//! warp at neighboring addresses therefore costs only a few plain accesses to the cache.

use crate::memory::{Neighbor, Region};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Bytes of memory covered by a page of bits.
pub const PAGE: u64 = 1 << 16;

/// Bits of a page, in words.
pub type Words = [u64];

/// Kind of access of an instruction. Strong accesses are atomic, volatile or have a memory order.
///
/// ```
/// use cuprum_engine::exec::touched::Manner;
///
/// assert!(Manner::StrongWrite.writes() && Manner::StrongWrite.is_strong());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Manner {
    /// An ordinary load.
    Read,
    /// An ordinary store.
    Write,
    /// A strong load.
    StrongRead,
    /// A strong store, or an atomic operation. If its result is used, it is also a strong load.
    StrongWrite,
}

impl Manner {
    /// All kinds of access.
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::StrongRead, Self::StrongWrite];

    /// True for stores and atomic operations.
    pub fn writes(self) -> bool {
        matches!(self, Self::Write | Self::StrongWrite)
    }

    /// True for accesses that may synchronize with others.
    pub fn is_strong(self) -> bool {
        matches!(self, Self::StrongRead | Self::StrongWrite)
    }
}

/// The bytes that a launch accesses.
///
/// ```
/// let touched = cuprum_engine::exec::touched::Touched::default(); // for `Hooks::touched`
/// assert!(touched.into_marks().is_empty());
/// ```
#[derive(Debug, Default)]
pub struct Touched {
    marks: Mutex<HashMap<u64, Box<Marks>>>,
    has_fence: AtomicBool,
}

impl Touched {
    /// Returns the accessed bytes of a region. The address stays valid as long as this value.
    pub(in crate::exec) fn of(&self, region: &Region, pc: u32, manner: Manner) -> *const Marks {
        let mut marks = self.marks.lock().unwrap_or_else(PoisonError::into_inner);
        let marks = marks.entry(region.id).or_insert_with(|| Box::new(Marks::new(region)));
        let places = marks.places.get_mut().unwrap_or_else(PoisonError::into_inner);
        if !places.contains(&(pc, manner)) {
            places.push((pc, manner));
        }
        &raw const **marks
    }

    pub(in crate::exec) fn fence(&self) {
        self.has_fence.store(true, Ordering::Relaxed);
    }

    /// True if the launch had a fence of the device, or of the system, which are equivalent here.
    pub fn has_fence(&self) -> bool {
        self.has_fence.load(Ordering::Relaxed)
    }

    /// Returns the accessed bytes by allocation.
    pub fn into_marks(self) -> Vec<Marks> {
        let marks = self.marks.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<Marks> = marks.into_values().map(|marks| *marks).collect();
        all.sort_by_key(|marks| marks.allocation.id);
        all
    }
}

/// Pages of bits, created on demand.
type Table = Box<[OnceLock<Box<[AtomicU64]>>]>;

/// The accessed bytes of an allocation.
///
/// ```
/// use cuprum_engine::exec::touched::{Manner, Marks};
///
/// /// Number of the bytes that a launch wrote in an allocation.
/// fn written(marks: &Marks) -> u32 {
///     let mut bytes = 0;
///     marks.for_each_page(Manner::Write, |_, words| bytes += words.iter().map(|word| word.count_ones()).sum::<u32>());
///     bytes
/// }
/// ```
#[derive(Debug)]
pub struct Marks {
    /// The allocation.
    pub allocation: Neighbor,
    tables: [OnceLock<Table>; 4],
    /// The instructions that accessed it.
    places: Mutex<Vec<(u32, Manner)>>,
}

impl Marks {
    fn new(region: &Region) -> Self {
        let allocation = region.neighbor(region.base, false);
        Self { allocation, tables: Default::default(), places: Mutex::default() }
    }

    /// Returns the instructions that accessed it, by index in the kernel's code.
    pub fn places(&self) -> Vec<(u32, Manner)> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Calls `visit` with the number and the words of each page that has bits set.
    pub fn for_each_page(&self, manner: Manner, mut visit: impl FnMut(u64, Vec<u64>)) {
        let table = self.tables[manner as usize].get().map(|table| &table[..]).unwrap_or_default();
        for (number, page) in table.iter().enumerate() {
            if let Some(words) = page.get() {
                visit(number as u64, words.iter().map(|word| word.load(Ordering::Relaxed)).collect());
            }
        }
    }

    #[cold]
    fn table(&self) -> Table {
        (0..self.allocation.len.div_ceil(PAGE)).map(|_| OnceLock::new()).collect()
    }

    #[cold]
    fn page(&self, number: u64) -> Box<[AtomicU64]> {
        let bytes = (self.allocation.len - number * PAGE).min(PAGE);
        (0..bytes.div_ceil(64)).map(|_| AtomicU64::new(0)).collect()
    }

    #[inline]
    pub(in crate::exec) fn note(&self, manner: Manner, start: u64, bytes: u64) {
        let table = self.tables[manner as usize].get_or_init(|| self.table());
        let (mut at, end) = (start, start + bytes);
        while at < end {
            let number = at / PAGE;
            let Some(page) = table.get(number as usize) else { return };
            let words = page.get_or_init(|| self.page(number));
            let stop = end.min((number + 1) * PAGE);
            while at < stop {
                let Some(word) = words.get((at % PAGE / 64) as usize) else { return };
                let count = (64 - at % 64).min(stop - at);
                let mask = (u64::MAX >> (64 - count)) << (at % 64);
                if word.load(Ordering::Relaxed) & mask != mask {
                    if mask == u64::MAX {
                        word.store(mask, Ordering::Relaxed);
                    } else {
                        word.fetch_or(mask, Ordering::Relaxed);
                    }
                }
                at += count;
            }
        }
    }
}

/// Records ranges of bytes, combining neighboring ones.
pub(in crate::exec) struct Noting<'m> {
    marks: &'m Marks,
    manner: Manner,
    start: u64,
    end: u64,
}

impl<'m> Noting<'m> {
    pub(in crate::exec) fn new(marks: &'m Marks, manner: Manner) -> Self {
        Self { marks, manner, start: 0, end: 0 }
    }

    #[inline]
    pub(in crate::exec) fn add(&mut self, start: u64, bytes: u64) {
        if start != self.end {
            self.marks.note(self.manner, self.start, self.end - self.start);
            self.start = start;
        }
        self.end = start + bytes;
    }
}

impl Drop for Noting<'_> {
    fn drop(&mut self) {
        self.marks.note(self.manner, self.start, self.end - self.start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Memory, Request};

    fn pages(marks: &Marks, manner: Manner) -> Vec<(u64, u64, u32)> {
        let mut found = Vec::new();
        marks.for_each_page(manner, |number, words| {
            let bits: u32 = words.iter().map(|word| word.count_ones()).sum();
            let first = words.iter().position(|word| *word != 0).map_or(0, |word| word as u64);
            found.push((number, first, bits));
        });
        found
    }

    #[test]
    fn bytes_are_noted_exactly_and_across_pages() {
        let memory = Memory::new(1, 1 << 30, false);
        let region = memory.alloc(&Request::device(3 * PAGE, 0, 0)).unwrap();
        let touched = Touched::default();
        // SAFETY: `touched` keeps it alive.
        let marks = unsafe { &*touched.of(&region, 3, Manner::Write) };
        let mut noting = Noting::new(marks, Manner::Write);
        noting.add(PAGE - 70, 70);
        noting.add(PAGE, 130);
        noting.add(5, 1);
        drop(noting);
        assert_eq!(pages(marks, Manner::Write), [(0, 0, 71), (1, 0, 130)]);
        assert_eq!(pages(marks, Manner::Read), []);
        let marks = touched.into_marks();
        assert_eq!(marks[0].places(), [(3, Manner::Write)]);
        assert_eq!(marks[0].allocation.id, region.id);
    }
}
