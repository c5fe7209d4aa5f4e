//! Decoder of Zstandard frames, after RFC 8878. Without dictionaries; checksums are not compared.
//!
//! No block makes more than the format allows, so memory and time are bounded by the input as well as by the limit.

use super::{append, repeat};

const MAGIC: [u8; 4] = 0xfd2f_b528_u32.to_le_bytes();

/// The most bytes that a block makes.
const MOST_BLOCK: usize = 128 << 10;

/// Decompresses the first frame, up to `limit` bytes; `None` if it is broken or longer.
pub(super) fn decompress(input: &[u8], limit: usize) -> Option<Vec<u8>> {
    let mut input = Forward::new(input.strip_prefix(&MAGIC)?);
    skip_frame_header(&mut input)?;
    let mut decoder =
        Decoder { output: Vec::new(), limit, huffman: None, tables: [None, None, None], recent: [1, 4, 8] };
    loop {
        let header = input.little_endian(3)?;
        let (last, kind, size) = (header & 1 == 1, header >> 1 & 3, header >> 3);
        let size = usize::try_from(size).ok().filter(|size| *size <= MOST_BLOCK)?;
        match kind {
            0 => append(&mut decoder.output, input.take(size)?, limit)?,
            1 => append(&mut decoder.output, &vec![input.take(1)?[0]; size], limit)?,
            2 => decoder.block(input.take(size)?)?,
            _ => return None,
        }
        if last {
            return Some(decoder.output);
        }
    }
}

fn skip_frame_header(input: &mut Forward<'_>) -> Option<()> {
    let descriptor = input.take(1)?[0];
    let single_segment = descriptor & 0x20 != 0;
    let window = usize::from(!single_segment);
    let dictionary = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let content = match descriptor >> 6 {
        0 => usize::from(single_segment),
        power => 1 << power,
    };
    input.take(window + dictionary + content).map(drop)
}

/// What blocks of a frame share.
struct Decoder {
    output: Vec<u8>,
    limit: usize,
    huffman: Option<Huffman>,
    /// The last tables of literal lengths, offsets and match lengths.
    tables: [Option<Fse>; 3],
    recent: [usize; 3],
}

impl Decoder {
    fn block(&mut self, block: &[u8]) -> Option<()> {
        let mut input = Forward::new(block);
        let literals = self.literals(&mut input)?;
        self.sequences(input, &literals)
    }

    fn literals(&mut self, input: &mut Forward<'_>) -> Option<Vec<u8>> {
        let first = *input.rest.first()?;
        let (kind, format) = (first & 3, first >> 2 & 3);
        if kind < 2 {
            // The format's low bit says that there is more than one byte.
            let (bytes, shift) = [(1, 3), (2, 4), (1, 3), (3, 4)][usize::from(format)];
            let len = usize::try_from(input.little_endian(bytes)? >> shift).ok()?;
            return match kind {
                0 => Some(input.take(len)?.to_vec()),
                _ => Some(vec![input.take(1)?[0]; Some(len).filter(|len| *len <= MOST_BLOCK)?]),
            };
        }
        let (bytes, bits) = [(3, 10), (3, 10), (4, 14), (5, 18)][usize::from(format)];
        let header = input.little_endian(bytes)? >> 4;
        let mask = (1u64 << bits) - 1;
        let len = usize::try_from(header & mask).ok().filter(|len| *len <= MOST_BLOCK)?;
        let packed = usize::try_from(header >> bits & mask).ok()?;
        let mut packed = Forward::new(input.take(packed)?);
        if kind == 2 {
            self.huffman = Some(Huffman::read(&mut packed)?);
        }
        let huffman = self.huffman.as_ref()?;
        let mut literals = Vec::with_capacity(len);
        if format == 0 {
            huffman.decode(packed.rest, len, &mut literals)?;
            return Some(literals);
        }
        let sizes = [0; 3].map(|_: u8| packed.little_endian(2));
        let each = len.div_ceil(4);
        for size in sizes {
            let stream = packed.take(usize::try_from(size?).ok()?)?;
            huffman.decode(stream, each, &mut literals)?;
        }
        let left = len.checked_sub(literals.len())?;
        huffman.decode(packed.rest, left, &mut literals)?;
        Some(literals)
    }

    fn sequences(&mut self, mut input: Forward<'_>, mut literals: &[u8]) -> Option<()> {
        let count = match u64::from(input.take(1)?[0]) {
            first @ 0..128 => first,
            first @ 128..255 => ((first - 128) << 8) + input.little_endian(1)?,
            _ => input.little_endian(2)? + 0x7f00,
        };
        let limit = self.limit.min(self.output.len().saturating_add(MOST_BLOCK));
        if count == 0 {
            return append(&mut self.output, literals, limit);
        }
        let modes = input.take(1)?[0];
        for (index, default) in DEFAULTS.iter().enumerate() {
            let table = match modes >> (6 - 2 * index) & 3 {
                0 => Some(Fse::build(default.accuracy, default.probabilities)?),
                1 => Some(Fse::single(input.take(1)?[0])),
                2 => Some(Fse::read(&mut input, default.most_accuracy)?),
                _ => self.tables[index].take(),
            };
            self.tables[index] = Some(table?);
        }
        let mut bits = Backward::new(input.rest)?;
        let [Some(lengths), Some(offsets), Some(matches)] = &self.tables else {
            return None;
        };
        let mut length_state = lengths.start(&mut bits);
        let mut offset_state = offsets.start(&mut bits);
        let mut match_state = matches.start(&mut bits);
        for left in (0..count).rev() {
            let offset_code = u32::from(offsets.symbol(offset_state)?);
            if offset_code > 31 {
                return None;
            }
            let offset = (1usize << offset_code) + bits.read(offset_code);
            let (base, extra) = code(&MATCH_CODES, 3, matches.symbol(match_state)?)?;
            let match_len = base + bits.read(extra);
            let (base, extra) = code(&LENGTH_CODES, 0, lengths.symbol(length_state)?)?;
            let literal_len = base + bits.read(extra);
            if left > 0 {
                length_state = lengths.next(length_state, &mut bits)?;
                match_state = matches.next(match_state, &mut bits)?;
                offset_state = offsets.next(offset_state, &mut bits)?;
            }
            if bits.overrun() {
                return None;
            }
            let (now, rest) = literals.split_at_checked(literal_len)?;
            literals = rest;
            append(&mut self.output, now, limit)?;
            let distance = distance(&mut self.recent, offset, literal_len)?;
            repeat(&mut self.output, distance, match_len, limit)?;
        }
        append(&mut self.output, literals, limit)
    }
}

/// The distance that an offset value means, and the new recent ones.
fn distance(recent: &mut [usize; 3], offset: usize, literal_len: usize) -> Option<usize> {
    if offset > 3 {
        *recent = [offset - 3, recent[0], recent[1]];
        return Some(recent[0]);
    }
    let index = offset - 1 + usize::from(literal_len == 0);
    let distance = match index {
        3 => recent[0].checked_sub(1)?,
        index => recent[index],
    };
    *recent = match index {
        0 => *recent,
        1 => [distance, recent[0], recent[2]],
        _ => [distance, recent[0], recent[1]],
    };
    Some(distance)
}

/// The predefined distribution of one kind of code.
struct Default {
    accuracy: u32,
    most_accuracy: u32,
    probabilities: &'static [i16],
}

/// Literal lengths, offsets, match lengths.
const DEFAULTS: [Default; 3] = [
    Default {
        accuracy: 6,
        most_accuracy: 9,
        probabilities: &[
            4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1,
            -1, -1, -1, -1,
        ],
    },
    Default {
        accuracy: 5,
        most_accuracy: 8,
        probabilities: &[
            1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1,
        ],
    },
    Default {
        accuracy: 6,
        most_accuracy: 9,
        probabilities: &[
            1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
            1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1,
        ],
    },
];

/// Codes from the first one with extra bits on: first value and extra bits.
const LENGTH_CODES: [(usize, u32); 20] = [
    (16, 1),
    (18, 1),
    (20, 1),
    (22, 1),
    (24, 2),
    (28, 2),
    (32, 3),
    (40, 3),
    (48, 4),
    (64, 6),
    (128, 7),
    (256, 8),
    (512, 9),
    (1024, 10),
    (2048, 11),
    (4096, 12),
    (8192, 13),
    (16384, 14),
    (32768, 15),
    (65536, 16),
];
const MATCH_CODES: [(usize, u32); 21] = [
    (35, 1),
    (37, 1),
    (39, 1),
    (41, 1),
    (43, 2),
    (47, 2),
    (51, 3),
    (59, 3),
    (67, 4),
    (83, 4),
    (99, 5),
    (131, 7),
    (259, 8),
    (515, 9),
    (1027, 10),
    (2051, 11),
    (4099, 12),
    (8195, 13),
    (16387, 14),
    (32771, 15),
    (65539, 16),
];

/// The first value of a code and its extra bits. Low codes are values themselves, plus `least`.
fn code(codes: &[(usize, u32)], least: usize, symbol: u8) -> Option<(usize, u32)> {
    let symbol = usize::from(symbol) + least;
    let plain = codes.first()?.0;
    match symbol.checked_sub(plain) {
        None => Some((symbol, 0)),
        Some(index) => codes.get(index).copied(),
    }
}

/// A table of finite-state entropy codes.
struct Fse {
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
    /// A table with one symbol, which takes no bits.
    fn single(symbol: u8) -> Self {
        Self { accuracy: 0, states: vec![State { symbol, bits: 0, base: 0 }] }
    }

    /// Reads a distribution and builds its table.
    fn read(input: &mut Forward<'_>, most_accuracy: u32) -> Option<Self> {
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

    fn build(accuracy: u32, probabilities: &[i16]) -> Option<Self> {
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

    fn start(&self, bits: &mut Backward<'_>) -> usize {
        bits.read(self.accuracy)
    }

    fn symbol(&self, state: usize) -> Option<u8> {
        Some(self.states.get(state)?.symbol)
    }

    fn next(&self, state: usize, bits: &mut Backward<'_>) -> Option<usize> {
        let state = self.states.get(state)?;
        Some(state.base + bits.read(state.bits))
    }
}

/// A table of Huffman codes: what each string of `width` bits starts with.
struct Huffman {
    width: u32,
    /// Symbol and length of its code.
    codes: Vec<(u8, u32)>,
}

/// The longest code.
const MOST_WIDTH: u32 = 11;

impl Huffman {
    fn read(input: &mut Forward<'_>) -> Option<Self> {
        let header = input.take(1)?[0];
        let mut weights = match header.checked_sub(127) {
            None | Some(0) => Self::packed_weights(input.take(usize::from(header))?)?,
            Some(count) => {
                let bytes = input.take(usize::from(count).div_ceil(2))?;
                let halves = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
                halves.take(usize::from(count)).collect()
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

    /// Weights as two interleaved streams of entropy codes.
    fn packed_weights(bytes: &[u8]) -> Option<Vec<u8>> {
        let mut input = Forward::new(bytes);
        let table = Fse::read(&mut input, 6)?;
        let mut bits = Backward::new(input.rest)?;
        let mut states = [table.start(&mut bits), table.start(&mut bits)];
        let mut weights = Vec::new();
        // The stream ends where a state would need more bits than are left; the other state still
        // has a symbol then.
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

    fn decode(&self, stream: &[u8], count: usize, output: &mut Vec<u8>) -> Option<()> {
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

/// Bytes from the front.
struct Forward<'a> {
    rest: &'a [u8],
}

impl<'a> Forward<'a> {
    fn new(rest: &'a [u8]) -> Self {
        Self { rest }
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }

    /// A number of up to eight bytes.
    fn little_endian(&mut self, bytes: usize) -> Option<u64> {
        let taken = self.take(bytes)?;
        Some(taken.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
    }
}

/// Bits from the front, lowest first.
struct ForwardBits<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl ForwardBits<'_> {
    fn read(&mut self, count: u32) -> Option<u32> {
        let mut value = 0;
        for bit in 0..count {
            let byte = self.bytes.get(self.at / 8)?;
            value |= u32::from(byte >> (self.at % 8) & 1) << bit;
            self.at += 1;
        }
        Some(value)
    }
}

/// Bits from the back: the highest bit set in the last byte marks the end. Beyond the front there
/// are zeros, and [`Backward::overrun`] tells.
struct Backward<'a> {
    bytes: &'a [u8],
    /// Bits not read yet.
    left: i64,
}

impl<'a> Backward<'a> {
    fn new(bytes: &'a [u8]) -> Option<Self> {
        let top = bytes.last()?.checked_ilog2()?;
        let left = (bytes.len() as i64 - 1) * 8 + i64::from(top);
        Some(Self { bytes, left })
    }

    fn read(&mut self, count: u32) -> usize {
        let value = self.peek(count);
        self.skip(count);
        value
    }

    fn peek(&self, count: u32) -> usize {
        (1..=i64::from(count)).fold(0, |value, back| value << 1 | self.bit(self.left - back))
    }

    fn skip(&mut self, count: u32) {
        self.left -= i64::from(count);
    }

    fn bit(&self, index: i64) -> usize {
        let byte = usize::try_from(index / 8).ok().filter(|_| index >= 0);
        let byte = byte.and_then(|byte| self.bytes.get(byte)).copied().unwrap_or(0);
        usize::from(byte >> (index & 7) & 1)
    }

    fn overrun(&self) -> bool {
        self.left < 0
    }
}
