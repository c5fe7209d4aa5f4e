//! Decompresses frames, block by block.

use super::bits::{Backward, Forward};
use super::codes::{DEFAULTS, LENGTH_CODES, MATCH_CODES, code};
use super::fse::Fse;
use super::huffman::Huffman;
use crate::driver::code::fatbin::output::{append, repeat};

const MAGIC: [u8; 4] = 0xfd2f_b528_u32.to_le_bytes();

/// Maximum output of a block in bytes.
const MOST_BLOCK: usize = 128 << 10;

/// Decompresses the first frame, up to `limit` bytes. Returns `None` if it is broken or longer.
pub(in crate::driver::code::fatbin) fn decompress(input: &[u8], limit: usize) -> Option<Vec<u8>> {
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

/// State that the blocks of a frame share.
struct Decoder {
    output: Vec<u8>,
    limit: usize,
    huffman: Option<Huffman>,
    /// The previous tables of literal lengths, offsets and match lengths.
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
            // The low bit of the format is set if the length has more than one byte.
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

/// Returns the distance for an offset value, and updates the recent distances.
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
