//! Random orders of blocks and warps, to reveal dependences on the order.

/// An order of `count` items, determined by a seed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Permutation {
    count: u64,
    step: u64,
    first: u64,
    /// Seed for the lengths of turns.
    random: Option<u64>,
}

/// Maximum length of a turn in instructions, as a power of two.
const LONGEST_TURN: u64 = 12;

impl Permutation {
    /// Creates an order; by number without a seed. `salt` distinguishes orders of one seed.
    pub(super) fn new(seed: Option<u64>, salt: u64, count: u64) -> Self {
        let random = seed.map(|seed| mix(seed ^ mix(salt)));
        let Some(bits) = random.filter(|_| count > 1) else {
            return Permutation { count, step: 1, first: 0, random };
        };
        // A step that has no divisor in common with the number of items visits all of them.
        let mut step = bits % count;
        while greatest_common_divisor(step, count) != 1 {
            step = (step + 1) % count;
        }
        Permutation { count, step, first: mix(bits) % count, random }
    }

    /// Returns the maximum instructions of the turn at this position, if a seed determines it.
    pub(super) fn turn(&self, place: u64) -> Option<u32> {
        self.random.map(|random| 1 << (mix(random ^ mix(place)) % (LONGEST_TURN + 1)))
    }

    /// Returns a number for the order within the turn at this position, if a seed determines it.
    #[cfg(feature = "compile")]
    pub(super) fn random(&self, place: u64) -> Option<u64> {
        self.random.map(|random| mix(random ^ !mix(place)))
    }

    /// Returns the item at this position in the order.
    pub(super) fn at(&self, place: u64) -> u64 {
        if self.step == 1 && self.first == 0 {
            return place;
        }
        let place = u128::from(place) * u128::from(self.step) + u128::from(self.first);
        (place % u128::from(self.count.max(1))) as u64
    }
}

/// Returns well-mixed bits: the output function of splitmix64.
fn mix(seed: u64) -> u64 {
    let z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_order_visits_everything_once() {
        for count in 1..70 {
            let mut orders = HashSet::new();
            for seed in 0..20 {
                let order = Permutation::new(Some(seed), 3, count);
                let visited: Vec<u64> = (0..count).map(|place| order.at(place)).collect();
                assert_eq!(visited.iter().collect::<HashSet<_>>().len() as u64, count);
                assert!(visited.iter().all(|one| *one < count));
                orders.insert(visited);
            }
            assert!(count < 8 || orders.len() > 10, "{count}: {}", orders.len());
        }
        assert_eq!(
            (0..5).map(|place| Permutation::new(None, 1, 5).at(place)).collect::<Vec<_>>(),
            [0, 1, 2, 3, 4]
        );
    }
}
