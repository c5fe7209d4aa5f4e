//! Barriers in memory: a 64-bit word with a private layout. It contains the arrivals per phase, the
//! pending arrivals, the pending bytes of transactions, and the number of the phase.

use super::operations;

const COUNT_BITS: u32 = 20;
pub const COUNT: u64 = (1 << COUNT_BITS) - 1;
/// The transaction count is signed, because completions may precede their announcement.
const TRANSACTION_BITS: u32 = 22;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct State {
    pub expected: u64,
    pub pending: u64,
    pub transactions: i64,
    pub phase: u64,
}

impl State {
    #[inline]
    pub fn unpack(word: u64) -> Self {
        let transactions = (word >> (2 * COUNT_BITS)) << (64 - TRANSACTION_BITS);
        State {
            expected: word & COUNT,
            pending: word >> COUNT_BITS & COUNT,
            transactions: transactions as i64 >> (64 - TRANSACTION_BITS),
            phase: word >> (2 * COUNT_BITS + TRANSACTION_BITS),
        }
    }

    #[inline]
    pub fn pack(self) -> u64 {
        let transactions = self.transactions as u64 & ((1 << TRANSACTION_BITS) - 1);
        let counts = self.expected & COUNT | (self.pending & COUNT) << COUNT_BITS;
        counts | transactions << (2 * COUNT_BITS) | (self.phase & 3) << (2 * COUNT_BITS + TRANSACTION_BITS)
    }

    /// Begins the next phase if nothing is pending.
    #[inline]
    pub fn settled(mut self) -> Self {
        if self.pending == 0 && self.transactions == 0 {
            self.phase = (self.phase + 1) & 3;
            self.pending = self.expected;
        }
        self
    }
}

operations! {
    /// Pending arrivals in the state that an arrival returned.
    PendingCount(a: u64) -> u32 { State::unpack(a).pending as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_holds_all_of_a_barrier() {
        let state = State { expected: 1024, pending: 17, transactions: -4096, phase: 3 };
        assert_eq!(State::unpack(state.pack()), state);
    }

    #[test]
    fn a_phase_ends_with_the_last_arrival_and_the_last_byte() {
        let state = State { expected: 2, pending: 0, transactions: 16, phase: 0 };
        assert_eq!(state.settled(), state);
        let done = State { transactions: 0, ..state }.settled();
        assert_eq!((done.phase, done.pending), (1, 2));
    }
}
