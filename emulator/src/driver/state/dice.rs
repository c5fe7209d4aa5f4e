//! Pseudo-random numbers from a seed, for the shuffled mode.

/// A pseudo-random sequence (xorshift64*).
#[derive(Debug)]
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        // Spreads neighboring seeds to unrelated sequences. The state must not be zero.
        let spread = (seed ^ 0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        Self((spread ^ spread >> 31) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11
    }

    /// Returns a number below `end`; 0 if there is none.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        match end {
            0 => 0,
            end => self.next() % end,
        }
    }

    /// True one time in four: often enough to matter, rarely enough to leave most work for waits.
    pub(super) fn chance(&mut self) -> bool {
        self.below(4) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::Dice;

    #[test]
    fn a_seed_decides_the_numbers_and_each_comes_up() {
        let first: Vec<u64> =
            std::iter::repeat_n((), 100).scan(Dice::new(1), |dice, ()| Some(dice.below(6))).collect();
        let again: Vec<u64> =
            std::iter::repeat_n((), 100).scan(Dice::new(1), |dice, ()| Some(dice.below(6))).collect();
        let other: Vec<u64> =
            std::iter::repeat_n((), 100).scan(Dice::new(2), |dice, ()| Some(dice.below(6))).collect();
        assert_eq!(first, again);
        assert_ne!(first, other);
        for side in 0..6 {
            assert!(first.contains(&side) && other.contains(&side), "{side}");
        }
        assert_eq!(Dice::new(0).below(0), 0);
    }
}
