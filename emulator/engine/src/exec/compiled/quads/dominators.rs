//! The blocks that all ways to a block pass, in an arm.

use std::ops::Range;

/// The blocks of an arm that all ways to each of them pass.
pub(super) struct Dominators {
    first: usize,
    /// A bit for each block of the arm, by block.
    sets: Vec<u64>,
}

impl Dominators {
    /// Finds them for blocks of which none comes before one that leads to it, and of which only the
    /// first 64 dominate others.
    pub(super) fn of(blocks: Range<usize>, predecessors: &[Vec<usize>]) -> Dominators {
        let first = blocks.start;
        let mut found = Dominators { first, sets: Vec::new() };
        for block in blocks {
            let before = predecessors[block].iter().map(|from| found.set(*from));
            let own = 1u64.checked_shl((block - first) as u32).unwrap_or(0);
            found.sets.push(before.reduce(|a, b| a & b).unwrap_or(0) | own);
        }
        found
    }

    /// True if all ways to a block pass another.
    pub(super) fn dominates(&self, block: usize, other: usize) -> bool {
        let own = block.checked_sub(self.first).and_then(|index| 1u64.checked_shl(index as u32));
        own.is_some_and(|own| self.set(other) & own != 0)
    }

    /// Returns the blocks that all ways to a block pass; none for a block outside of the arm.
    fn set(&self, block: usize) -> u64 {
        let index = block.checked_sub(self.first);
        index.and_then(|index| self.sets.get(index)).copied().unwrap_or(0)
    }
}
