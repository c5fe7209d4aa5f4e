//! The basic blocks of a kernel.

use super::{Kernel, flow};

/// Basic blocks in the order of the code.
#[derive(Debug)]
pub struct Blocks {
    starts: Vec<usize>,
    successors: Vec<Vec<usize>>,
    ranks: Vec<u32>,
    end: usize,
}

impl Blocks {
    pub fn of(kernel: &Kernel) -> Blocks {
        let starts: Vec<usize> = (0..kernel.code.len())
            .filter(|pc| *pc == 0 || kernel.ranks[*pc] != kernel.ranks[pc - 1])
            .collect();
        let ranks = starts.iter().map(|start| kernel.ranks[*start]).collect();
        let end = kernel.code.len();
        let mut blocks = Blocks { starts, successors: Vec::new(), ranks, end };
        for block in 0..blocks.count() {
            let mut successors = Vec::new();
            for pc in flow::successors(&kernel.code, blocks.range(block).end - 1) {
                successors.push(blocks.at(pc));
            }
            blocks.successors.push(successors);
        }
        blocks
    }

    #[inline]
    pub fn count(&self) -> usize {
        self.starts.len()
    }

    /// Returns the instructions of a block.
    #[inline]
    pub fn range(&self, block: usize) -> std::ops::Range<usize> {
        self.starts[block]..self.starts.get(block + 1).copied().unwrap_or(self.end)
    }

    /// Returns the block of an instruction.
    #[inline]
    pub fn at(&self, pc: u32) -> usize {
        self.starts.partition_point(|start| *start <= pc as usize) - 1
    }

    #[inline]
    pub fn successors(&self, block: usize) -> &[usize] {
        &self.successors[block]
    }

    /// Returns the blocks before each block.
    pub fn predecessors(&self) -> Vec<Vec<usize>> {
        let mut predecessors = vec![Vec::new(); self.count()];
        for (block, successors) in self.successors.iter().enumerate() {
            successors.iter().for_each(|next| predecessors[*next].push(block));
        }
        predecessors
    }

    /// Returns the reverse post-order number of a block. Blocks with lower numbers run first.
    #[inline]
    pub fn rank(&self, block: usize) -> u32 {
        self.ranks[block]
    }
}
