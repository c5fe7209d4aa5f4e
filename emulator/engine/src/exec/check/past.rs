//! The past of a thread: the times of other threads that it knows.

use crate::ordered::Ordered;
use crate::semantics::{LANES, lanes_of};
use std::sync::Arc;

/// Time up to which each thread of a warp is known; 0 if it is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Times {
    lanes: [u32; LANES],
    /// The least and the greatest of them.
    least: u32,
    most: u32,
}

impl Times {
    fn set(&mut self, lanes: u32, moment: u32) {
        lanes_of(lanes).for_each(|lane| self.lanes[lane] = moment);
        self.update();
    }

    fn absorb(&mut self, other: &Times) {
        for (mine, other) in self.lanes.iter_mut().zip(other.lanes) {
            *mine = (*mine).max(other);
        }
        self.update();
    }

    fn update(&mut self) {
        self.least = self.lanes.iter().fold(u32::MAX, |least, time| least.min(*time));
        self.most = self.lanes.iter().fold(0, |most, time| most.max(*time));
    }

    /// Returns the lanes, among these, for which a time is not known.
    fn unknown(&self, lanes: u32, moment: u32) -> u32 {
        if self.least >= moment {
            0
        } else if self.most < moment {
            lanes
        } else {
            lanes_of(lanes).fold(0, |bits, lane| bits | u32::from(self.lanes[lane] < moment) << lane)
        }
    }
}

/// The times of the threads of a block, by warp. Warps beyond the end are unknown.
type Moments = Arc<Vec<Times>>;

/// Times of all threads that are in the past. Threads that are not listed are unknown.
#[derive(Clone, Debug, Default)]
pub(in crate::exec) struct Past {
    block: u64,
    own: Moments,
    others: Arc<Ordered<Moments>>,
    /// No time in it is greater.
    most: u32,
}

impl Past {
    pub(super) fn of_block(block: u64) -> Self {
        Past { block, ..Past::default() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.own.is_empty() && self.others.is_empty()
    }

    pub(super) fn is_same(&self, other: &Past) -> bool {
        Arc::ptr_eq(&self.own, &other.own) && Arc::ptr_eq(&self.others, &other.others)
    }

    fn moments(&self, block: u64) -> Option<&Moments> {
        if block == self.block { Some(&self.own) } else { self.others.get(block) }
    }

    /// Returns the lanes, among `lanes` of a warp, for which this time is not known.
    #[inline]
    pub(in crate::exec) fn unknown(&self, block: u64, warp: u32, lanes: u32, moment: u32) -> u32 {
        let times = self.moments(block).and_then(|moments| moments.get(warp as usize));
        times.map_or(lanes, |times| times.unknown(lanes, moment))
    }

    /// True if it certainly contains no time from this one on, of any thread.
    pub(super) fn ends_before(&self, moment: u32) -> bool {
        self.most < moment
    }

    pub(super) fn learn(&mut self, warp: usize, lanes: u32, moment: u32) {
        if lanes == 0 {
            return;
        }
        self.most = self.most.max(moment);
        let own = Arc::make_mut(&mut self.own);
        if own.len() <= warp {
            own.resize(warp + 1, Times::default());
        }
        own[warp].set(lanes, moment);
    }

    /// Returns the times of another block, to be changed.
    fn of_other(&mut self, block: u64) -> &mut Moments {
        Arc::make_mut(&mut self.others).get_or_insert_with(block, Moments::default)
    }

    /// Adds the past of another thread, of any block.
    pub(super) fn absorb(&mut self, other: &Past) {
        self.most = self.most.max(other.most);
        if other.block == self.block {
            merge(&mut self.own, &other.own);
        } else if !other.own.is_empty() {
            merge(self.of_other(other.block), &other.own);
        }
        if Arc::ptr_eq(&self.others, &other.others) || other.others.is_empty() {
            return;
        }
        if self.others.is_empty() && !other.others.contains(self.block) {
            self.others = Arc::clone(&other.others);
            return;
        }
        for (block, moments) in other.others.iter() {
            if block == self.block {
                merge(&mut self.own, moments);
            } else {
                merge(self.of_other(block), moments);
            }
        }
    }
}

fn merge(into: &mut Moments, from: &Moments) {
    if from.is_empty() || Arc::ptr_eq(into, from) {
        return;
    }
    if into.is_empty() {
        *into = Arc::clone(from);
        return;
    }
    let into = Arc::make_mut(into);
    if into.len() < from.len() {
        into.resize(from.len(), Times::default());
    }
    for (mine, other) in into.iter_mut().zip(from.iter()) {
        mine.absorb(other);
    }
}
