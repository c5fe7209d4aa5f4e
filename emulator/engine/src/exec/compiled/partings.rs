//! The partings of the lanes of a kernel, which show that another form would be faster.

use crate::exec::block::cached::Partings;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Instructions of lanes for each parting of a quad, if quads are as fast as single lanes. Of 11
/// kernels whose quads part, single lanes are as fast or faster in seven with 27 to 1110, by up to
/// 2.2 times, and quads faster in four with 2064 and more, by 1.3 to 3.7 times.
const PARTING: u64 = 1500;

/// The part of all instructions, as its inverse, that lanes of octets may run one by one: quads
/// without their premises take about a quarter of the time of single lanes.
const ALONE: u64 = 4;

/// The partings of a kernel in all launches without a request.
#[derive(Debug, Default)]
pub(super) struct Totals {
    /// In code with premises, and in other code.
    expecting: Counts,
    others: Counts,
}

#[derive(Debug, Default)]
struct Counts {
    count: AtomicU64,
    single: AtomicU64,
    instructions: AtomicU64,
    /// True once there were too many.
    many: AtomicBool,
}

impl Totals {
    /// Adds the partings of a block, in code with or without premises.
    pub(super) fn add(&self, found: Partings, has_premises: bool) {
        let counts = if has_premises { &self.expecting } else { &self.others };
        counts.count.fetch_add(found.count, Ordering::Relaxed);
        counts.single.fetch_add(found.single, Ordering::Relaxed);
        counts.instructions.fetch_add(found.instructions, Ordering::Relaxed);
    }

    /// Decides if there were too many, after the blocks of a launch.
    pub(super) fn judge(&self) {
        for (counts, alone) in [(&self.expecting, Some(ALONE)), (&self.others, None)] {
            let Counts { count, single, instructions, many } = counts;
            let [count, single, all] =
                [count, single, instructions].map(|count| count.load(Ordering::Relaxed));
            let alone = alone.is_some_and(|part| single.saturating_mul(part) > all);
            if count.saturating_mul(PARTING) > all || alone {
                many.store(true, Ordering::Relaxed);
            }
        }
    }

    /// True if premises fail so often that code without them is faster.
    pub(super) fn premises_fail(&self) -> bool {
        self.expecting.many.load(Ordering::Relaxed)
    }

    /// True if lanes part so often without premises that single lanes are faster.
    pub(super) fn are_many(&self) -> bool {
        self.others.many.load(Ordering::Relaxed)
    }
}
