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
    pub(super) running: Vec<Block<'l, 'a>>,
    pub(super) ended: Vec<Block<'l, 'a>>,
    /// Number of running blocks of all workers, without the first of each.
    others: &'q AtomicU32,
    most: u32,
}

impl<'q, 'l, 'a> Residents<'q, 'l, 'a> {
    pub(super) fn new(launch: &Launch<'_>, others: &'q AtomicU32) -> Self {
        let on_each = (MOST_THREADS / launch.threads).clamp(1, MOST_BLOCKS);
        let all = launch.options.multiprocessors.max(1).saturating_mul(on_each);
        let most = if launch.args.kernel.may_wait { all - 1 } else { 0 };
        Residents { running: Vec::new(), ended: Vec::new(), others, most }
    }

    /// True if another block should begin.
    pub(super) fn admits(&self) -> bool {
        let wait = || self.running.iter().all(|block| block.rounds() >= PATIENCE);
        self.running.is_empty() || self.others.load(Ordering::Relaxed) < self.most && wait()
    }

    /// Begins the block with these coordinates.
    pub(super) fn start(&mut self, launch: &'l Launch<'a>, worker: usize, index: [u32; 3]) {
        let mut block = self.ended.pop().unwrap_or_else(|| turn::block(launch, worker));
        block.start(index);
        if !self.running.is_empty() {
            self.others.fetch_add(1, Ordering::Relaxed);
        }
        self.running.push(block);
    }

    pub(super) fn end(&mut self, at: usize) {
        let block = self.running.swap_remove(at);
        if !self.running.is_empty() {
            self.others.fetch_sub(1, Ordering::Relaxed);
        }
        self.ended.push(block);
    }
}
