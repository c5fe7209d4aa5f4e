//! Huffman codes, which encode literals.

use super::bits::{Backward, Forward};
use super::fse::Fse;

/// A table of Huffman codes: the first symbol in each string of `width` bits.
pub(super) struct Huffman {
    width: u32,
    codes: Vec<(u8, u32)>,
}

/// Maximum length of a code.
const MOST_WIDTH: u32 = 11;

impl Huffman {
    pub(super) fn read(input: &mut Forward<'_>) -> Option<Self> {
        let header = input.take(1)?[0];
        let mut weights = match header.checked_sub(127) {
            None | Some(0) => Self::packed_weights(input.take(usize::from(header))?)?,
            Some(count) => {
                let bytes = input.take(usize::from(count).div_ceil(2))?;
                let mut halves = Vec::with_capacity(2 * bytes.len());
                bytes.iter().for_each(|byte| halves.extend([byte >> 4, byte & 15]));
                halves.truncate(usize::from(count));
                halves
            }
        };
        let sum: u32 = weights.iter().filter(|&&weight| weight > 0).map(|weight| 1 << (weight - 1)).sum();
        let width = sum.checked_ilog2()? + 1;
        let left = (1u32 << width) - sum;
        if width > MOST_WIDTH || !left.is_power_of_two() {
            return None;
        }
        weights.push(left.ilog2() as u8 + 1);
        let mut codes = Vec::with_capacity(1 << width);
        for weight in 1..=width {
            let same = weights.iter().enumerate().filter(|(_, other)| u32::from(**other) == weight);
            for (symbol, _) in same {
                let entry = (u8::try_from(symbol).ok()?, width + 1 - weight);
                codes.extend(std::iter::repeat_n(entry, 1 << (weight - 1)));
            }
        }
        (codes.len() == 1 << width).then_some(Self { width, codes })
    }

    /// Reads weights from two interleaved streams of entropy codes.
    fn packed_weights(bytes: &[u8]) -> Option<Vec<u8>> {
        let mut input = Forward::new(bytes);
        let table = Fse::read(&mut input, 6)?;
        let mut bits = Backward::new(input.rest)?;
        let mut states = [table.start(&mut bits), table.start(&mut bits)];
        let mut weights = Vec::new();
        // The stream ends where a state needs more bits. The other state then holds a symbol.
        for turn in (0..2).cycle() {
            weights.push(table.symbol(states[turn])?);
            states[turn] = table.next(states[turn], &mut bits)?;
            if bits.overrun() {
                weights.push(table.symbol(states[1 - turn])?);
                break;
            }
            if weights.len() > 255 {
                return None;
            }
        }
        weights.iter().all(|&weight| u32::from(weight) <= MOST_WIDTH).then_some(weights)
    }

    pub(super) fn decode(&self, stream: &[u8], count: usize, output: &mut Vec<u8>) -> Option<()> {
        let mut bits = Backward::new(stream)?;
        for _ in 0..count {
            let (symbol, len) = *self.codes.get(bits.peek(self.width))?;
            bits.skip(len);
            output.push(symbol);
            if bits.overrun() {
                return None;
            }
        }
        Some(())
    }
}
