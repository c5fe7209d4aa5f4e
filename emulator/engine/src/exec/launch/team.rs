//! The blocks of a cluster, which one worker keeps alive together.

use super::shuffle::Permutation;
use super::turn::{self, Round};
use crate::exec::block::cluster::{Cluster, end_phase};
use crate::exec::block::launch::Launch;
use crate::exec::block::{Block, Stop};
use std::rc::Rc;

/// Maximum instructions per turn in a cluster of blocks, which often wait for each other in loops.
const LONGEST_TURN: u32 = 2000;

/// The blocks of a cluster, which may be a single one.
pub(super) struct Team<'l, 'a> {
    pub(super) blocks: Vec<Block<'l, 'a>>,
    ended: Vec<bool>,
    rounds: u64,
}

impl<'l, 'a> Team<'l, 'a> {
    pub(super) fn new(launch: &'l Launch<'a>, worker: usize) -> Self {
        let count = launch.blocks_per_cluster();
        let cluster = launch.is_clustered().then(|| Rc::new(Cluster::new(count)));
        let block = |_| {
            let mut block = turn::block(launch, worker);
            block.cluster.clone_from(&cluster);
            block
        };
        let blocks = (0..count).map(block).collect::<Vec<_>>();
        Team { ended: vec![true; blocks.len()], blocks, rounds: 0 }
    }

    /// Prepares the blocks of the cluster with this number.
    pub(super) fn start(&mut self, cluster: u64) {
        for (rank, block) in self.blocks.iter_mut().enumerate() {
            let index = block.launch.coordinates_in_cluster(cluster, rank as u32);
            block.start(index);
        }
        self.ended.fill(false);
        self.rounds = 0;
    }

    /// Gives each block a round. Returns true after all have ended.
    pub(super) fn round(&mut self, turn: u32) -> Result<bool, Stop> {
        let mut idle = true;
        let turn = if self.blocks.len() > 1 { turn.min(LONGEST_TURN) } else { turn };
        self.rounds += 1;
        let seed = self.blocks.first().and_then(|block| block.launch.options.seed);
        let order = Permutation::new(seed, self.rounds, self.blocks.len() as u64);
        for place in 0..self.blocks.len() as u64 {
            let index = order.at(place) as usize;
            if self.ended[index] {
                continue;
            }
            let block = &mut self.blocks[index];
            let round = turn::round(block, turn)?;
            if round == Round::Ended {
                block.leave_cluster();
                self.ended[index] = true;
            }
            idle &= round == Round::Idle;
        }
        let Some(running) = self.ended.iter().position(|ended| !ended) else { return Ok(true) };
        let released = end_phase(&mut self.blocks);
        if idle && !released { Err(self.blocks[running].stuck()) } else { Ok(false) }
    }
}
