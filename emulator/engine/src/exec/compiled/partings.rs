//! The partings of the lanes of a kernel, which show that another form would be faster.

use crate::exec::block::cached::Partings;
use crate::semantics::LANES;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Instructions of lanes for each parting of a quad, if quads are as fast as single lanes. Of 11
/// kernels whose quads part, single lanes are as fast or faster in seven with 27 to 1110, by up to
/// 2.2 times, and quads faster in four with 2064 and more, by 1.3 to 3.7 times.
const PARTING: u64 = 1500;

/// The same for whole warps, which store and load more: with 3500, eight lanes at a time are 2.2
/// times as fast, with 12,800 1.5 times, and with 21,500 whole warps 1.15 times.
const PARTING_OF_WARPS: u64 = 16_000;

/// The part of all instructions, as its inverse, that lanes may run one by one: quads take about a
/// quarter of the time of single lanes, and these more time if they join others. Of 46 kernels by
/// an independent reader, ten had more: with this limit two are 1.1 and 1.2 times as fast, and the
/// others as fast as without.
const ALONE: u64 = 4;

/// The partings of a kernel in all launches without a request.
#[derive(Debug, Default)]
pub(super) struct Totals {
    /// In code with premises, and in other code.
    expecting: Counts,
    others: Counts,
    /// In code for whole warps.
    warps: Counts,
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
    /// Adds the partings of a block, in code for so many lanes at a time with or without premises.
    pub(super) fn add(&self, found: Partings, (lanes, has_premises): (usize, bool)) {
        let counts = match (lanes, has_premises) {
            (LANES, _) => &self.warps,
            (_, true) => &self.expecting,
            (_, false) => &self.others,
        };
        counts.count.fetch_add(found.count, Ordering::Relaxed);
        counts.single.fetch_add(found.single, Ordering::Relaxed);
        counts.instructions.fetch_add(found.instructions, Ordering::Relaxed);
    }

    /// Decides if there were too many, after the blocks of a launch.
    pub(super) fn judge(&self) {
        let each = [(&self.expecting, PARTING), (&self.others, PARTING), (&self.warps, PARTING_OF_WARPS)];
        for (counts, parting) in each {
            let Counts { count, single, instructions, many } = counts;
            let [count, single, all] =
                [count, single, instructions].map(|count| count.load(Ordering::Relaxed));
            if count.saturating_mul(parting) > all || single.saturating_mul(ALONE) > all {
                many.store(true, Ordering::Relaxed);
            }
        }
    }

    /// True if premises fail so often that code without them is faster.
    pub(super) fn premises_fail(&self) -> bool {
        self.expecting.many.load(Ordering::Relaxed)
    }

    /// True if lanes of warps part so often that fewer at a time are faster.
    pub(super) fn warps_part(&self) -> bool {
        self.warps.many.load(Ordering::Relaxed)
    }

    /// True if lanes part so often without premises that single lanes are faster.
    pub(super) fn are_many(&self) -> bool {
        self.others.many.load(Ordering::Relaxed)
    }
}
