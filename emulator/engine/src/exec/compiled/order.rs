//! Random orders of the lanes of a warp, to reveal dependences on the order.

use crate::semantics::LANES;

/// Maximum instructions that a lane spends in loops before others run, as a power of two.
const MOST_FUEL: u64 = 9;

/// Numbers that a seed determines.
#[derive(Clone, Copy, Debug)]
pub(super) struct Order(u64);

impl Order {
    pub(super) fn new(random: u64) -> Self {
        Order(random)
    }

    fn next(&mut self) -> u64 {
        // The linear congruential generator of Knuth's MMIX. Its high bits are the random ones.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    /// Returns the instructions that a lane may spend in loops.
    pub(super) fn fuel(&mut self) -> u32 {
        1 << (self.next() % (MOST_FUEL + 1))
    }

    /// Returns the lanes of a mask in an order, each as a mask.
    pub(super) fn lanes(&mut self, mask: u32) -> impl Iterator<Item = u32> + use<> {
        let (first, step) = (self.next(), self.next() | 1);
        // An odd step visits all lanes.
        let lane = move |place: u64| first.wrapping_add(place.wrapping_mul(step)) % LANES as u64;
        (0..LANES as u64).map(move |place| mask & 1 << lane(place)).filter(|lane| *lane != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_lane_runs_once_in_some_order() {
        let mut orders = std::collections::HashSet::new();
        for seed in 0..50 {
            let mut order = Order::new(seed);
            let lanes: Vec<u32> = order.lanes(0xff0f_00ff).collect();
            assert_eq!(lanes.iter().fold(0, |all, lane| all | lane), 0xff0f_00ff);
            assert_eq!(lanes.len(), 20);
            assert!((1..=512).contains(&order.fuel()));
            orders.insert(lanes);
        }
        assert!(orders.len() > 20);
    }
}
