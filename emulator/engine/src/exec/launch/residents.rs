//! The blocks that a worker runs in turn.

use super::turn;
use crate::exec::block::Block;
use crate::exec::block::launch::Launch;
use std::sync::atomic::{AtomicU32, Ordering};

/// Rounds of a block after which it may wait for one that has not begun.
const PATIENCE: u64 = 8;
/// Numbers of threads and of blocks that run on a multiprocessor at the same time.
const MOST_THREADS: u32 = 2048;
const MOST_BLOCKS: u32 = 32;

/// The blocks that a worker has begun. Mostly it is a single one, which runs to its end. Blocks of
/// a launch that is not cooperative may wait for each other too, as long as all of them run at the
/// same time on hardware: while those that run do not end, another one begins.
pub(super) struct Residents<'q, 'l, 'a> {
    /// The running ones first. Others have ended, and are used again. A block is large, so mostly
    /// it stays at its place.
    blocks: Vec<Block<'l, 'a>>,
    running: usize,
    /// Number of running blocks of all workers, without the first of each.
    others: &'q AtomicU32,
    most: u32,
}

impl<'q, 'l, 'a> Residents<'q, 'l, 'a> {
    pub(super) fn new(launch: &Launch<'_>, others: &'q AtomicU32) -> Self {
        let on_each = (MOST_THREADS / launch.threads).clamp(1, MOST_BLOCKS);
        let all = launch.options.multiprocessors.max(1).saturating_mul(on_each);
        let most = if launch.args.kernel.may_wait { all - 1 } else { 0 };
        Residents { blocks: Vec::new(), running: 0, others, most }
    }

    /// True if another block should begin.
    pub(super) fn admits(&self) -> bool {
        let wait = || self.blocks[..self.running].iter().all(|block| block.rounds() >= PATIENCE);
        self.running == 0 || self.others.load(Ordering::Relaxed) < self.most && wait()
    }

    /// Begins the block with these coordinates.
    pub(super) fn start(&mut self, launch: &'l Launch<'a>, worker: usize, index: [u32; 3]) {
        if self.running == self.blocks.len() {
            self.blocks.push(turn::block(launch, worker));
        }
        self.blocks[self.running].start(index);
        if self.running != 0 {
            self.others.fetch_add(1, Ordering::Relaxed);
        }
        self.running += 1;
    }

    /// Ends the running block with this number.
    pub(super) fn end(&mut self, at: usize) {
        self.running -= 1;
        if at != self.running {
            self.blocks.swap(at, self.running);
        }
        if self.running != 0 {
            self.others.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Returns the number of running blocks.
    pub(super) fn count(&self) -> usize {
        self.running
    }

    /// Returns a running block; `None` beyond the last.
    pub(super) fn get_mut(&mut self, at: usize) -> Option<&mut Block<'l, 'a>> {
        self.blocks[..self.running].get_mut(at)
    }

    /// Removes the blocks that have ended.
    pub(super) fn take_ended(&mut self) -> impl Iterator<Item = Block<'l, 'a>> + use<'_, 'q, 'l, 'a> {
        self.blocks.drain(self.running..)
    }
}
