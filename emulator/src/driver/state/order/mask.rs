//! Bytes of a page of memory.

use crate::exec::touched::PAGE;

/// Bytes of a page: a range, or one bit for each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Mask {
    /// The first byte, and the end.
    Range(u64, u64),
    Bits(Box<[u64]>),
}

impl Mask {
    /// Returns the bytes whose bits are set, if there are any.
    pub(super) fn of_words(words: Vec<u64>) -> Option<Self> {
        let first = words.iter().position(|word| *word != 0)?;
        let last = words.iter().rposition(|word| *word != 0)?;
        let start = first as u64 * 64 + u64::from(words[first].trailing_zeros());
        let end = last as u64 * 64 + 64 - u64::from(words[last].leading_zeros());
        let count: u64 = words[first..=last].iter().map(|word| u64::from(word.count_ones())).sum();
        if count == end - start {
            return Some(Self::Range(start, end));
        }
        Some(Self::Bits(words.into()))
    }

    fn word(&self, index: usize) -> u64 {
        match self {
            Self::Bits(words) => words.get(index).copied().unwrap_or(0),
            Self::Range(start, end) => {
                let base = index as u64 * 64;
                let (from, to) = ((*start).max(base), (*end).min(base + 64));
                if from >= to { 0 } else { (u64::MAX >> (64 - (to - from))) << (from - base) }
            }
        }
    }

    fn words(&self) -> std::ops::Range<usize> {
        match self {
            Self::Bits(words) => 0..words.len(),
            Self::Range(start, end) => (*start / 64) as usize..end.div_ceil(64) as usize,
        }
    }

    /// Returns the first run of bytes in both.
    pub(super) fn overlap(&self, other: &Self) -> Option<(u64, u64)> {
        if let (Self::Range(a, b), Self::Range(c, d)) = (self, other) {
            let (start, end) = (*a.max(c), *b.min(d));
            return (start < end).then_some((start, end));
        }
        let (mine, others) = (self.words(), other.words());
        let range = mine.start.max(others.start)..mine.end.min(others.end);
        let both = |index: usize| self.word(index) & other.word(index);
        let first = range.clone().find(|index| both(*index) != 0)?;
        let start = first as u64 * 64 + u64::from(both(first).trailing_zeros());
        let mut end = start;
        while range.contains(&((end / 64) as usize)) && both((end / 64) as usize) >> (end % 64) & 1 != 0 {
            end += 1;
        }
        Some((start, end))
    }

    /// True if it contains all bytes of another one.
    pub(super) fn covers(&self, other: &Self) -> bool {
        if let (Self::Range(a, b), Self::Range(c, d)) = (self, other) {
            return a <= c && d <= b;
        }
        other.words().all(|index| other.word(index) & !self.word(index) == 0)
    }
}

pub(super) fn pages_of(start: u64, len: u64) -> impl Iterator<Item = (u64, Mask)> {
    let end = start.saturating_add(len);
    let numbers = if len == 0 { 0..0 } else { start / PAGE..end.div_ceil(PAGE) };
    numbers.map(move |number| {
        let base = number * PAGE;
        (number, Mask::Range(start.max(base) - base, end.min(base + PAGE) - base))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_bits_agree() {
        let bits = |start: u64, end: u64| {
            let mut words = vec![0u64; 1024];
            (start..end).for_each(|byte| words[byte as usize / 64] |= 1 << (byte % 64));
            words
        };
        let as_bits = |start, end| Mask::Bits(bits(start, end).into());
        assert_eq!(Mask::of_words(bits(60, 200)), Some(Mask::Range(60, 200)));
        assert_eq!(Mask::of_words(bits(0, PAGE)), Some(Mask::Range(0, PAGE)));
        assert_eq!(Mask::of_words(vec![0; 1024]), None);
        for (a, b, both) in [((60, 200), (190, 300), Some((190, 200))), ((0, 64), (64, 70), None)] {
            let (a, b): ((u64, u64), (u64, u64)) = (a, b);
            let left = [Mask::Range(a.0, a.1), as_bits(a.0, a.1)];
            let right = [Mask::Range(b.0, b.1), as_bits(b.0, b.1)];
            for (left, right) in left.iter().flat_map(|left| right.iter().map(move |right| (left, right))) {
                assert_eq!(left.overlap(right), both);
                assert!(!left.covers(right));
                assert!(left.covers(left));
            }
        }
        assert!(as_bits(10, 100).covers(&Mask::Range(20, 100)));
        let pages: Vec<(u64, Mask)> = pages_of(PAGE - 1, PAGE + 2).collect();
        let whole = [(0, Mask::Range(PAGE - 1, PAGE)), (1, Mask::Range(0, PAGE)), (2, Mask::Range(0, 1))];
        assert_eq!(pages, whole);
    }
}
