//! Lanes with equal values.

use super::LANES;
use super::rows::{Extension, for_each_level};

type EqualRows = unsafe fn(&[u32; LANES]) -> [u32; LANES];

for_each_level! {
    equal_rows: EqualRows = compare(values: &[u32; LANES]) -> [u32; LANES]
}

/// Returns, for each lane, the lanes with the same value.
#[must_use]
pub fn equal_lanes(values: &[u32; LANES]) -> [u32; LANES] {
    match Extension::detect() {
        // SAFETY: the processor has the extension.
        Some(level) => unsafe { equal_rows()[level as usize](values) },
        // SAFETY: it needs no extension.
        None => unsafe { compare(values) },
    }
}

/// # Safety
/// None is needed: it is declared for the functions of all levels.
#[inline(always)]
unsafe fn compare(values: &[u32; LANES]) -> [u32; LANES] {
    let mut equal = [0; LANES];
    // One value with all, so that the results are whole vectors.
    for (other, value) in values.iter().enumerate() {
        for (own, equal) in values.iter().zip(&mut equal) {
            *equal |= if own == value { 1 << other } else { 0 };
        }
    }
    equal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_lane_finds_its_equals() {
        for most in 1..=40u32 {
            let value = |lane: usize| (lane as u32).wrapping_mul(0x9e37_79b9) % most;
            let values: [u32; LANES] = core::array::from_fn(value);
            let equal = equal_lanes(&values);
            for (lane, value) in values.iter().enumerate() {
                let expected = (0..LANES).filter(|other| values[*other] == *value);
                assert_eq!(equal[lane], expected.fold(0, |bits, other| bits | 1 << other));
            }
        }
    }
}
