//! Used address ranges, and the gaps between them by size. Finding a gap takes logarithmic time.

use std::collections::{BTreeMap, BTreeSet};

/// Number of smallest fitting gaps to try before using one that is large enough for any alignment.
const TRIES: usize = 16;

/// Used address ranges, each followed by a guard.
///
/// ```
/// use cuprum_engine::memory::Ranges;
///
/// let mut ranges = Ranges::new(0, 1000, 10);
/// ranges.insert(0, 100);
/// assert!(ranges.remove(0) && !ranges.remove(0));
/// ```
#[derive(Debug)]
pub struct Ranges {
    /// Bytes after each range that stay free.
    guard: u64,
    /// Start to end (exclusive, without the guard).
    taken: BTreeMap<u64, u64>,
    /// The gaps: start to end, and by length.
    gaps: BTreeMap<u64, u64>,
    by_length: BTreeSet<(u64, u64)>,
}

impl Ranges {
    /// Creates an empty set of ranges for these addresses.
    pub fn new(start: u64, end: u64, guard: u64) -> Self {
        let (taken, gaps, by_length) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
        let mut ranges = Self { guard, taken, gaps, by_length };
        ranges.add_gap(start, end);
        ranges
    }

    fn add_gap(&mut self, start: u64, end: u64) {
        if start < end {
            self.gaps.insert(start, end);
            self.by_length.insert((end - start, start));
        }
    }

    fn remove_gap(&mut self, start: u64) -> Option<u64> {
        let end = self.gaps.remove(&start)?;
        self.by_length.remove(&(end - start, start));
        Some(end)
    }

    /// Inserts a range that is in a gap with its guard, such as one from [`Self::find`].
    pub fn insert(&mut self, start: u64, end: u64) {
        self.taken.insert(start, end);
        let gap = self.gaps.range(..=start).next_back().map(|(&from, _)| from);
        if let Some((from, to)) = gap.and_then(|from| Some((from, self.remove_gap(from)?))) {
            self.add_gap(from, start);
            self.add_gap(end + self.guard, to);
        }
    }

    /// Removes the range that begins here. Returns false if there is none.
    pub fn remove(&mut self, start: u64) -> bool {
        let Some(end) = self.taken.remove(&start) else { return false };
        let before = self.gaps.range(..start).next_back().filter(|(_, to)| **to == start);
        let from = before.map_or(start, |(&from, _)| from);
        self.remove_gap(from);
        let to = self.remove_gap(end + self.guard).unwrap_or(end + self.guard);
        self.add_gap(from, to);
        true
    }

    pub(super) fn is_taken(&self, start: u64, end: u64) -> bool {
        self.taken.get(&start) == Some(&end)
    }

    /// Returns the last used range that begins at or before this address.
    pub(super) fn last_up_to(&self, address: u64) -> Option<(u64, u64)> {
        self.taken.range(..=address).next_back().map(|(&start, &end)| (start, end))
    }

    /// Returns the address for a range of this size and alignment, in one of the smallest gaps.
    pub fn find(&self, span: u64, align: u64) -> Option<u64> {
        let bytes = span.checked_add(self.guard)?;
        let fits = |&(length, start): &(u64, u64)| {
            let base = start.checked_next_multiple_of(align)?;
            (base.checked_add(bytes)? <= start + length).then_some(base)
        };
        let gaps = || self.by_length.range((bytes, 0)..);
        let any = self.by_length.range((bytes.saturating_add(align), 0)..).next();
        // Tries all gaps only if none is large enough for any alignment.
        let all = || gaps().find_map(fits);
        gaps().take(TRIES).find_map(fits).or_else(|| any.and_then(fits)).or_else(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_come_back_and_gaps_join() {
        let mut ranges = Ranges::new(1000, 1000 + (48 << 16), 16);
        let take = |ranges: &mut Ranges, bytes| {
            let start = ranges.find(bytes, 1)?;
            ranges.insert(start, start + bytes);
            Some(start)
        };
        // A quadratic algorithm would take minutes.
        let all: Vec<u64> = (0..1 << 16).map(|_| take(&mut ranges, 32).unwrap()).collect();
        assert_eq!(take(&mut ranges, 1), None);
        assert!(all.iter().step_by(2).all(|start| ranges.remove(*start)));
        assert_eq!(take(&mut ranges, 33), None);
        assert!(all.iter().skip(1).step_by(2).all(|start| ranges.remove(*start)));
        assert!(!ranges.remove(all[0]));
        assert_eq!(take(&mut ranges, (48 << 16) - 16), Some(1000));
    }
}
