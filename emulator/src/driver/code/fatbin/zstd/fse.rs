//! Finite-state entropy codes, which encode lengths, offsets and the weights of Huffman codes.

use super::bits::{Backward, Forward, ForwardBits};

pub(super) struct Fse {
    accuracy: u32,
    states: Vec<State>,
}

#[derive(Clone, Copy, Default)]
struct State {
    symbol: u8,
    bits: u32,
    base: usize,
}

impl Fse {
    /// Returns a table with one symbol, which takes no bits.
    pub(super) fn single(symbol: u8) -> Self {
        Self { accuracy: 0, states: vec![State { symbol, bits: 0, base: 0 }] }
    }

    /// Reads a distribution and builds its table.
    pub(super) fn read(input: &mut Forward<'_>, most_accuracy: u32) -> Option<Self> {
        let mut bits = ForwardBits { bytes: input.rest, at: 0 };
        let accuracy = bits.read(4)? + 5;
        if accuracy > most_accuracy {
            return None;
        }
        let mut left = 1i32 << accuracy;
        let mut probabilities = Vec::new();
        while left > 0 {
            let most = left + 1;
            let width = most.ilog2() + 1;
            let low_mask = (1 << (width - 1)) - 1;
            let short_codes = (1 << width) - 1 - most;
            let mut value = bits.read(width - 1)? as i32;
            if value >= short_codes {
                value |= (bits.read(1)? as i32) << (width - 1);
                if value > low_mask {
                    value -= short_codes;
                }
            }
            let probability = value - 1;
            left -= probability.abs();
            probabilities.push(i16::try_from(probability).ok()?);
            if probability == 0 {
                loop {
                    let zeros = bits.read(2)? as usize;
                    probabilities.extend(std::iter::repeat_n(0, zeros));
                    if zeros != 3 {
                        break;
                    }
                }
            }
            if probabilities.len() > 256 {
                return None;
            }
        }
        input.take(bits.at.div_ceil(8))?;
        if left < 0 { None } else { Self::build(accuracy, &probabilities) }
    }

    pub(super) fn build(accuracy: u32, probabilities: &[i16]) -> Option<Self> {
        let size = 1usize << accuracy;
        let mut states = vec![State::default(); size];
        let mut next = vec![0usize; probabilities.len()];
        let mut high = size;
        for (symbol, &probability) in probabilities.iter().enumerate() {
            if probability == -1 {
                high = high.checked_sub(1)?;
                states[high].symbol = symbol as u8;
                next[symbol] = 1;
            }
        }
        let step = (size >> 1) + (size >> 3) + 3;
        let mut at = 0;
        for (symbol, &probability) in probabilities.iter().enumerate() {
            let Some(count) = usize::try_from(probability).ok().filter(|&count| count > 0) else {
                continue;
            };
            next[symbol] = count;
            for _ in 0..count {
                states[at].symbol = symbol as u8;
                at = (at + step) & (size - 1);
                while at >= high {
                    at = (at + step) & (size - 1);
                }
            }
        }
        for state in &mut states {
            let next = next.get_mut(usize::from(state.symbol))?;
            state.bits = accuracy.checked_sub(next.checked_ilog2()?)?;
            state.base = (*next << state.bits).checked_sub(size)?;
            *next += 1;
        }
        Some(Self { accuracy, states })
    }

    pub(super) fn start(&self, bits: &mut Backward<'_>) -> usize {
        bits.read(self.accuracy)
    }

    pub(super) fn symbol(&self, state: usize) -> Option<u8> {
        Some(self.states.get(state)?.symbol)
    }

    pub(super) fn next(&self, state: usize, bits: &mut Backward<'_>) -> Option<usize> {
        let state = self.states.get(state)?;
        Some(state.base + bits.read(state.bits))
    }
}
