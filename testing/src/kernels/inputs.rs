//! Deterministic inputs from integers alone, so that other languages make the same ones bit for
//! bit.

/// The `index`-th number of the SplitMix64 sequence started at `seed`.
fn splitmix64(seed: u64, index: u64) -> u64 {
    let mut z = seed.wrapping_add(index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn sequence<T>(seed: u64, len: usize, convert: impl Fn(u64) -> T) -> Vec<T> {
    (0_u64..).take(len).map(|index| convert(splitmix64(seed, index))).collect()
}

/// Bytes, all values equally likely.
pub fn bytes(seed: u64, len: usize) -> Vec<u8> {
    sequence(seed, len, |bits| (bits >> 56) as u8)
}

/// 32-bit integers, all values equally likely.
pub fn integers(seed: u64, len: usize) -> Vec<u32> {
    sequence(seed, len, |bits| (bits >> 32) as u32)
}

/// Floats in [-1, 1), multiples of 2^-23.
pub fn floats(seed: u64, len: usize) -> Vec<f32> {
    const STEP: f32 = 1.0 / (1 << 23) as f32;
    sequence(seed, len, |bits| ((bits >> 40) as i32 - (1 << 23)) as f32 * STEP)
}

/// Plain values as the bytes that device memory holds.
pub trait ToBytes {
    /// Little-endian bytes of all elements.
    fn to_bytes(&self) -> Vec<u8>;
}

macro_rules! to_bytes {
    ($($t:ty)*) => { $(
        impl ToBytes for [$t] {
            fn to_bytes(&self) -> Vec<u8> {
                self.iter().flat_map(|value| value.to_le_bytes()).collect()
            }
        }
        impl ToBytes for $t {
            fn to_bytes(&self) -> Vec<u8> {
                self.to_le_bytes().to_vec()
            }
        }
    )* };
}

to_bytes!(u8 u16 u32 u64 f32 f64);

/// The sequence is SplitMix64: its first number from seed 0 is the published one.
#[test]
fn generator_is_splitmix64() {
    assert_eq!(splitmix64(0, 0), 0xe220_a839_7b1d_cdaf);
}
