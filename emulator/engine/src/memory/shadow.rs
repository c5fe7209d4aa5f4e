//! Written bytes of an allocation.

use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// One bit per byte of an allocation, set when the byte is written.
///
/// Kernels on several threads set and read bits at the same time. Each word is atomic and bits are
/// never cleared, so relaxed order is sufficient.
///
/// ```
/// let written = cuprum_engine::memory::ValidBits::new(100);
/// written.set(0, 40);
/// assert!(written.all_set(0, 40));
/// assert_eq!(written.first_unset(0, 100), Some(40));
/// ```
#[derive(Debug)]
pub struct ValidBits {
    words: Box<[AtomicU64]>,
    /// All words before this one are known to be set.
    complete: AtomicUsize,
}

impl ValidBits {
    /// Creates clear bits for `bytes` bytes.
    pub fn new(bytes: u64) -> Self {
        let words = usize::try_from(bytes.div_ceil(64)).unwrap_or(0);
        let words: Box<[AtomicU64]> = (0..words).map(|_| AtomicU64::new(0)).collect();
        if let Some(last) = words.last().filter(|_| bytes % 64 != 0) {
            // The bits after the last byte.
            last.store(u64::MAX << (bytes % 64), Ordering::Relaxed);
        }
        Self { words, complete: AtomicUsize::new(0) }
    }

    /// True if all bytes have been written. Each call continues where the last one stopped.
    ///
    /// ```
    /// let written = cuprum_engine::memory::ValidBits::new(100);
    /// written.set(0, 99);
    /// assert!(!written.is_complete());
    /// written.set(99, 1);
    /// assert!(written.is_complete());
    /// ```
    pub fn is_complete(&self) -> bool {
        let first = self.complete.load(Ordering::Relaxed);
        let set = |word: &&AtomicU64| word.load(Ordering::Relaxed) == u64::MAX;
        let complete = first + self.words[first..].iter().take_while(set).count();
        if complete != first {
            self.complete.store(complete, Ordering::Relaxed);
        }
        complete == self.words.len()
    }

    /// Marks `len` bytes from `offset` on as written. Bytes outside are ignored.
    pub fn set(&self, offset: u64, len: u64) {
        self.each_word(offset, len, |word, mask| {
            if word.load(Ordering::Relaxed) & mask != mask {
                word.fetch_or(mask, Ordering::Relaxed);
            }
            true
        });
    }

    /// True if all `len` bytes from `offset` on have been written.
    pub fn all_set(&self, offset: u64, len: u64) -> bool {
        self.each_word(offset, len, |word, mask| word.load(Ordering::Relaxed) & mask == mask)
    }

    /// Returns the first byte at or after `offset`, within `len` bytes, that was not written.
    pub fn first_unset(&self, offset: u64, len: u64) -> Option<u64> {
        (offset..offset.saturating_add(len)).find(|&byte| !self.all_set(byte, 1))
    }

    /// Calls `visit` with each word of the range and the mask of its bits in the range, until it
    /// returns `false`.
    fn each_word(&self, offset: u64, len: u64, mut visit: impl FnMut(&AtomicU64, u64) -> bool) -> bool {
        let end = offset.saturating_add(len);
        let mut at = offset;
        while at < end {
            let Some(word) = usize::try_from(at / 64).ok().and_then(|index| self.words.get(index)) else {
                return true;
            };
            let first = at % 64;
            let count = (64 - first).min(end - at);
            let mask = (u64::MAX >> (64 - count)) << first;
            if !visit(word, mask) {
                return false;
            }
            at += count;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_across_words_are_exact() {
        let bits = ValidBits::new(200);
        bits.set(60, 10);
        assert!(bits.all_set(60, 10));
        assert!(!bits.all_set(59, 2));
        assert!(!bits.all_set(69, 2));
        assert_eq!(bits.first_unset(60, 20), Some(70));
        assert_eq!(bits.first_unset(62, 8), None);
        bits.set(0, 200);
        assert!(bits.all_set(0, 200));
    }
}
