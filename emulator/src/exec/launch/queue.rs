//! The blocks that wait for a worker, and the communication among workers.

use super::shuffle::Order;
use super::turn;
use super::turn::{LONG_TURN, SHORT_TURN};
use super::workers::Help;
use crate::exec::block::Block;
use crate::exec::block::launch::Launch;
use crate::exec::interface::LaunchStats;
use crate::report::{Fault, FaultKind};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Duration from which a launch is worth waking other threads for, which takes some microseconds itself.
const WORTH_WAKING: Duration = Duration::from_micros(30);

/// Number of blocks from which on workers take more than one at a time.
const MANY_BLOCKS: u64 = 256;
const MOST_AT_A_TIME: u64 = 8;

/// A value that workers often write, on a cache line of its own, away from those that they only read.
#[derive(Default)]
#[repr(align(128))]
struct Apart<T>(T);

/// State that all workers of a launch share.
pub(super) struct Queue<'l, 'a> {
    launch: &'l Launch<'a>,
    order: Order,
    /// Number of blocks that a worker takes at a time: several where there are many, since short ones taken one by one
    /// keep the workers waiting for the counter.
    at_a_time: u64,
    next_block: Apart<AtomicU64>,
    stopped: AtomicBool,
    fault: Mutex<Option<Box<Fault>>>,
    instructions: Apart<AtomicU64>,
    /// Time at which it counts as endless.
    deadline: Option<Instant>,
}

impl<'l, 'a> Queue<'l, 'a> {
    pub(super) fn new(launch: &'l Launch<'a>) -> Self {
        let Launch { blocks, options, args, .. } = launch;
        Queue {
            launch,
            order: Order::new(options.seed, 0, *blocks),
            at_a_time: if args.cooperative { 1 } else { (blocks / MANY_BLOCKS).clamp(1, MOST_AT_A_TIME) },
            next_block: Apart::default(),
            stopped: AtomicBool::new(false),
            fault: Mutex::new(None),
            instructions: Apart::default(),
            deadline: options.time_limit.and_then(|limit| Instant::now().checked_add(limit)),
        }
    }

    /// Outcome of the launch, once all workers have come back.
    pub(super) fn outcome(self) -> Result<LaunchStats, Box<Fault>> {
        let fault = self.fault.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        match fault {
            Some(fault) => Err(fault),
            None => {
                Ok(LaunchStats { instructions: self.instructions.0.into_inner(), blocks: self.launch.blocks })
            }
        }
    }

    pub(super) fn work(&self, worker: usize, help: &Help<'_>) {
        let outcome = if self.launch.args.cooperative {
            self.work_cooperatively(worker, help)
        } else {
            self.work_in_turn(worker, help)
        };
        if let Err(fault) = outcome {
            self.stopped.store(true, Ordering::Relaxed);
            let mut first = self.fault.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            first.get_or_insert(fault);
        }
    }

    /// The places of the next blocks that nobody has taken yet; none at the end.
    fn take_blocks(&self) -> Range<u64> {
        let first = self.next_block.0.fetch_add(self.at_a_time, Ordering::Relaxed);
        first.min(self.launch.blocks)..first.saturating_add(self.at_a_time).min(self.launch.blocks)
    }

    /// Takes blocks from the queue, one after the other. Asks others to help once it turns out to take long enough
    /// to be worth waking them.
    fn work_in_turn(&self, worker: usize, help: &Help<'_>) -> Result<(), Box<Fault>> {
        let started = help.is_possible().then(Instant::now);
        let invite_if_long = || {
            if help.is_possible() && started.is_some_and(|started| started.elapsed() > WORTH_WAKING) {
                help.invite();
            }
        };
        let mut taken = self.take_blocks();
        if taken.is_empty() {
            return Ok(());
        }
        let mut block = Block::new(self.launch, worker);
        while !taken.is_empty() {
            for place in taken {
                if self.stopped.load(Ordering::Relaxed) {
                    return Ok(());
                }
                block.start(self.launch.coordinates(self.order.at(place)));
                while !turn::round(&mut block, if help.is_possible() { SHORT_TURN } else { LONG_TURN })? {
                    self.account(&mut block)?;
                    if self.stopped.load(Ordering::Relaxed) {
                        return Ok(());
                    }
                    invite_if_long();
                }
                self.account(&mut block)?;
                invite_if_long();
            }
            taken = self.take_blocks();
        }
        self.count(&mut block);
        Ok(())
    }

    /// Keeps its blocks alive and gives each a turn, since blocks may wait for each other; takes one more block each
    /// time, so that all start even without help.
    fn work_cooperatively(&self, worker: usize, help: &Help<'_>) -> Result<(), Box<Fault>> {
        help.invite();
        let mut blocks = Vec::new();
        loop {
            if let Some(place) = self.take_blocks().next() {
                let mut block = Block::new(self.launch, worker);
                block.start(self.launch.coordinates(self.order.at(place)));
                blocks.push(block);
            }
            if blocks.is_empty() || self.stopped.load(Ordering::Relaxed) {
                return Ok(());
            }
            let mut index = 0;
            while index < blocks.len() {
                let done = turn::round(&mut blocks[index], LONG_TURN)?;
                self.account(&mut blocks[index])?;
                if done {
                    self.count(&mut blocks.swap_remove(index));
                } else {
                    index += 1;
                }
            }
        }
    }

    /// Adds the instructions that a block has executed to the total.
    fn count(&self, block: &mut Block<'_, '_>) -> u64 {
        let count = block.take_instructions();
        self.instructions.0.fetch_add(count, Ordering::Relaxed) + count
    }

    /// Checks executed instructions against the budget, and the time against its limit.
    fn account(&self, block: &mut Block<'_, '_>) -> Result<(), Box<Fault>> {
        let spent = self.launch.options.budget.is_some_and(|budget| self.count(block) > budget);
        let late = self.deadline.is_some_and(|deadline| Instant::now() > deadline);
        if spent || late { Err(block.fault_of_all(FaultKind::Timeout)) } else { Ok(()) }
    }
}
