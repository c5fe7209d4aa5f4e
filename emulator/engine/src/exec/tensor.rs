//! Tensor maps: descriptions of tensors for copies, created by the host or by kernels.
//!
//! A map has 16 words. As on hardware, the first contains the address; the layout of the others is
//! private. A map of zeros is the start of a map that a kernel creates field by field.

use crate::program::bulk::Field;

/// Words of a map.
pub type Words = [u64; 16];

/// Maximum number of dimensions of a tensor.
pub const MOST_DIMENSIONS: usize = 5;
/// Maximum bytes of one copy: more than the shared memory of any block.
const MOST_BYTES: u64 = 1 << 18;
/// Identifies a map that was encoded here.
const MARK: u64 = 0x6d61_7074_656e_736f;

/// The part of a tensor that one copy transfers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// A box, with its number of elements per dimension.
    Tile([u32; MOST_DIMENSIONS]),
    /// Consecutive pixels of a part of each image (`im2col`).
    Columns {
        /// Offsets of the corners of this part from the corners of the image.
        lower: [i32; 3],
        upper: [i32; 3],
        /// Elements of a pixel.
        channels: u32,
        pixels: u32,
    },
    /// Parts that only later devices have; no instruction here copies them.
    Wide { amounts: u64, corners: u64, mode: u64 },
}

/// A tensor map.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TensorMap {
    pub address: u64,
    /// Number of the type of elements, in the driver's numbering.
    pub element: u8,
    pub dimensions: usize,
    /// 0: none, 1: slices of 16 bytes, 2: slices of 32 bytes.
    pub interleave: u8,
    /// 0: none, 1: of 32 bytes, 2: of 64, 3: of 128.
    pub swizzle: u8,
    pub promotion: u8,
    /// Nonzero if elements outside of the tensor are read as NaN.
    pub fill: u8,
    pub sizes: [u64; MOST_DIMENSIONS],
    /// Bytes between elements, for each dimension except the first.
    pub strides: [u64; MOST_DIMENSIONS - 1],
    /// Traversal strides of the dimensions.
    pub steps: [u32; MOST_DIMENSIONS],
    pub part: Part,
}

const ELEMENT_BYTES: [u32; 13] = [1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4];

fn pack<const N: usize>(values: [u32; N], bits: u32) -> u64 {
    values.iter().rev().fold(0, |word, &value| word << bits | u64::from(value))
}

fn unpack<const N: usize>(word: u64, bits: u32) -> [u32; N] {
    core::array::from_fn(|index| (word >> (bits * index as u32)) as u32 & ((1 << bits) - 1))
}

/// Packs two numbers into a word.
fn pair(first: u32, second: u32) -> u64 {
    u64::from(first) | u64::from(second) << 32
}

impl TensorMap {
    pub fn encode(&self) -> Words {
        let mut words = [0; 16];
        words[0] = self.address;
        words[1] = MARK;
        let (kind, extra) = match self.part {
            Part::Tile(tile) => (0, [pack(tile, 9), 0, 0, 0]),
            Part::Columns { lower, upper, channels, pixels } => {
                let corner = |axis: usize| pair(lower[axis] as u32, upper[axis] as u32);
                (1, [pair(channels, pixels), corner(0), corner(1), corner(2)])
            }
            Part::Wide { amounts, corners, mode } => (2, [amounts, corners, mode, 0]),
        };
        let last = (self.dimensions - 1) as u8;
        let fields = [self.element, last, self.interleave, self.swizzle, self.promotion, self.fill, kind]
            .map(u32::from);
        words[2] = pack(fields, 8);
        for (index, &size) in self.sizes.iter().enumerate() {
            words[3 + index / 2] |= (size.wrapping_sub(1) & 0xffff_ffff) << (32 * (index % 2));
        }
        words[6..10].copy_from_slice(&self.strides);
        words[10] = pack(self.steps, 8);
        words[11..15].copy_from_slice(&extra);
        words
    }

    /// Decodes a map. `Err` describes the error in it.
    pub fn decode(words: &Words) -> Result<TensorMap, &'static str> {
        if words[1] != MARK {
            return Err("a tensor map that nobody encoded");
        }
        let [element, last, interleave, swizzle, promotion, fill, kind] = unpack(words[2], 8);
        let extra = &words[11..15];
        let halves = |word: u64| [word as u32, (word >> 32) as u32];
        let corners = |which: usize| core::array::from_fn(|axis| halves(extra[1 + axis])[which] as i32);
        let part = match kind {
            0 => Part::Tile(unpack(extra[0], 9)),
            1 => {
                let [channels, pixels] = halves(extra[0]);
                Part::Columns { lower: corners(0), upper: corners(1), channels, pixels }
            }
            _ => Part::Wide { amounts: extra[0], corners: extra[1], mode: extra[2] },
        };
        let map = TensorMap {
            address: words[0],
            element: element as u8,
            dimensions: last as usize + 1,
            interleave: interleave as u8,
            swizzle: swizzle as u8,
            promotion: promotion as u8,
            fill: fill as u8,
            sizes: core::array::from_fn(|index| u64::from(halves(words[3 + index / 2])[index % 2]) + 1),
            strides: core::array::from_fn(|index| words[6 + index]),
            steps: unpack(words[10], 8),
            part,
        };
        let in_range = map.dimensions <= MOST_DIMENSIONS && (element as usize) < ELEMENT_BYTES.len();
        if !in_range || swizzle > 3 || interleave > 2 || !map.has_a_size() {
            return Err("a tensor map with wrong fields");
        }
        Ok(map)
    }

    /// True if one copy is not empty, and fits into the shared memory of a block.
    fn has_a_size(&self) -> bool {
        let known = |values: &[u32], most| values.iter().all(|value| (1..=most).contains(value));
        known(&self.steps[..self.dimensions], 8)
            && (self.interleave == 0 || self.dimensions >= 3)
            && match self.part {
                Part::Tile(tile) => {
                    let counts = self.counts(tile).map(u64::from);
                    let bytes = counts
                        .iter()
                        .fold(u64::from(self.run(tile[0])), |bytes, count| bytes.saturating_mul(*count));
                    known(&tile[..self.dimensions], 256) && bytes <= MOST_BYTES
                }
                Part::Columns { channels, pixels, .. } => {
                    self.dimensions >= 3 && known(&[channels], 256) && known(&[pixels], 1024)
                }
                Part::Wide { .. } => true,
            }
    }

    /// Returns the number of rows of a box per dimension. It is 1 for the first dimension, whose
    /// elements are contiguous; in an interleaved tensor, it is 1 instead for the dimension of the
    /// slices, of which a copy has one.
    pub fn counts(&self, tile: [u32; MOST_DIMENSIONS]) -> [u32; MOST_DIMENSIONS] {
        let once = if self.interleave == 0 { 0 } else { self.dimensions.saturating_sub(2) };
        core::array::from_fn(|axis| match axis < self.dimensions && axis != once {
            true => tile[axis].div_ceil(self.steps[axis].max(1)),
            false => 1,
        })
    }

    /// Returns the size of a run: `elements` elements, or a pixel's slice in an interleaved tensor.
    pub fn run(&self, elements: u32) -> u32 {
        match self.interleave {
            0 => elements * self.element_bytes(),
            interleave => 8 << interleave,
        }
    }

    pub fn element_bytes(&self) -> u32 {
        ELEMENT_BYTES[usize::from(self.element)]
    }

    /// Returns the bytes per row of the swizzle pattern, 16 without a swizzle.
    pub fn span(&self) -> u32 {
        16 << self.swizzle
    }
}

/// The driver's numbers of the types of elements, in the order of the kernels' numbers.
const KERNEL_ELEMENTS: [u8; 13] = [0, 1, 2, 3, 4, 5, 6, 7, 10, 8, 9, 11, 12];

/// Sets a field of a map. `dimension` selects among values per dimension.
pub fn replace(words: &mut Words, field: Field, dimension: u32, value: u64) {
    let mut set = |word: usize, shift: u32, bits: u32, value: u64| {
        let mask = u64::MAX >> (64 - bits) << shift;
        words[word] = words[word] & !mask | value << shift & mask;
    };
    set(1, 0, 64, MARK);
    let index = dimension.min(MOST_DIMENSIONS as u32 - 1);
    match field {
        Field::Address => set(0, 0, 64, value),
        Field::Element => {
            set(2, 0, 8, KERNEL_ELEMENTS.get(value as usize).copied().unwrap_or(u8::MAX).into());
        }
        Field::LastDimension => set(2, 8, 8, value),
        Field::Interleave => set(2, 16, 8, value),
        Field::Swizzle => set(2, 24, 8, value),
        Field::Fill => set(2, 40, 8, value),
        Field::Size => set(3 + index as usize / 2, 32 * (index % 2), 32, value.wrapping_sub(1)),
        // There is one stride less than dimensions.
        Field::Stride if index as usize + 1 < MOST_DIMENSIONS => set(6 + index as usize, 0, 64, value),
        Field::Stride => {}
        Field::Step => set(10, 8 * index, 8, value),
        Field::Tile => set(11, 9 * index, 9, value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(part: Part) -> TensorMap {
        TensorMap {
            address: 0x7000_0010,
            element: 9,
            dimensions: 4,
            interleave: 0,
            swizzle: 3,
            promotion: 2,
            fill: 1,
            sizes: [64, 1 << 32, 7, 9, 1],
            strides: [128, 1 << 39, 48, 0],
            steps: [1, 8, 2, 3, 1],
            part,
        }
    }

    #[test]
    fn a_map_holds_all_of_its_fields() {
        let columns = Part::Columns { lower: [-1, -2, 0], upper: [1, -8, 0], channels: 256, pixels: 1024 };
        for part in [Part::Tile([256, 1, 3, 4, 1]), columns] {
            assert_eq!(TensorMap::decode(&map(part).encode()), Ok(map(part)));
        }
    }

    #[test]
    fn a_map_made_field_by_field_is_the_same() {
        let whole = TensorMap { promotion: 0, ..map(Part::Tile([256, 1, 3, 4, 0])) };
        let whole = TensorMap { sizes: [64, 1 << 32, 7, 9, 1], steps: [1, 8, 2, 3, 0], ..whole };
        let mut words = [0; 16];
        assert!(TensorMap::decode(&words).is_err());
        replace(&mut words, Field::Address, 0, whole.address);
        replace(&mut words, Field::Element, 0, 10);
        replace(&mut words, Field::LastDimension, 0, 3);
        replace(&mut words, Field::Swizzle, 0, 3);
        replace(&mut words, Field::Fill, 0, 1);
        let Part::Tile(tile) = whole.part else { unreachable!() };
        for dimension in 0..4 {
            let index = dimension as usize;
            replace(&mut words, Field::Tile, dimension, tile[index].into());
            replace(&mut words, Field::Size, dimension, whole.sizes[index]);
            replace(&mut words, Field::Step, dimension, whole.steps[index].into());
            if index < 3 {
                replace(&mut words, Field::Stride, dimension, whole.strides[index]);
            }
        }
        assert_eq!(TensorMap::decode(&words), Ok(whole));
    }
}
