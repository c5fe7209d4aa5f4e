//! The queue of blocks, and the communication among workers.

use super::residents::Residents;
use super::shuffle::Permutation;
use super::team::Team;
use super::turn::{self, LONG_TURN, Round, SHORT_TURN};
use super::workers::Help;
use crate::exec::block::Block;
use crate::exec::block::launch::Launch;
#[cfg(feature = "compile")]
use crate::exec::compiled;
use crate::exec::interface::LaunchStats;
use crate::report::{Fault, FaultKind};
use std::ops::Range;
use std::sync::Mutex;
#[cfg(feature = "compile")]
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Minimum duration of a launch for which other threads are woken. Waking takes some microseconds.
const WORTH_WAKING: Duration = Duration::from_micros(30);

/// Minimum number of blocks for which workers take several at a time.
const MANY_BLOCKS: u64 = 256;
const MOST_AT_A_TIME: u64 = 8;

/// A value that workers often write, on its own cache line, apart from values that they only read.
#[derive(Default)]
#[repr(align(128))]
struct Apart<T>(T);

/// State that all workers of a launch share.
pub(super) struct Queue<'l, 'a> {
    launch: &'l Launch<'a>,
    order: Permutation,
    /// Number of blocks that a worker takes at a time: several if there are many, because workers
    /// would otherwise contend for the counter when blocks are short.
    at_a_time: u64,
    next_block: Apart<AtomicU64>,
    /// Number of running blocks, without the first of each worker.
    others: Apart<AtomicU32>,
    stopped: AtomicBool,
    fault: Mutex<Option<Box<Fault>>>,
    instructions: Apart<AtomicU64>,
    deadline: Option<Instant>,
    #[cfg(feature = "compile")]
    later: Later<'a>,
}

/// The launch as machine code, to which it changes when it takes long.
#[cfg(feature = "compile")]
struct Later<'a> {
    /// Start of a launch that may change.
    started: Option<Instant>,
    launch: OnceLock<Option<Launch<'a>>>,
}

impl<'l, 'a> Queue<'l, 'a> {
    pub(super) fn new(launch: &'l Launch<'a>) -> Self {
        let Launch { options, args, .. } = launch;
        let clusters = launch.clusters();
        Queue {
            launch,
            order: Permutation::new(options.seed, 0, clusters),
            at_a_time: if args.cooperative { 1 } else { (clusters / MANY_BLOCKS).clamp(1, MOST_AT_A_TIME) },
            next_block: Apart::default(),
            others: Apart::default(),
            stopped: AtomicBool::new(false),
            fault: Mutex::new(None),
            instructions: Apart::default(),
            deadline: options.time_limit.and_then(|limit| Instant::now().checked_add(limit)),
            #[cfg(feature = "compile")]
            later: Later {
                started: compiled::may_change(launch).then(Instant::now),
                launch: OnceLock::new(),
            },
        }
    }

    /// Returns the result of the launch, after all workers have returned.
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
        } else if self.launch.is_clustered() {
            self.work_by_clusters(worker, help)
        } else {
            self.work_in_turn(worker, help)
        };
        if let Err(fault) = outcome {
            self.stopped.store(true, Ordering::Relaxed);
            let mut first = self.fault.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            first.get_or_insert(fault);
        }
    }

    /// True if another worker found a fault, or the driver stops the launch.
    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed) || self.launch.hooks.is_stopped()
    }

    /// Takes the positions of the next clusters; empty at the end. Mostly they are single blocks.
    fn take(&self) -> Range<u64> {
        let first = self.next_block.0.fetch_add(self.at_a_time, Ordering::Relaxed);
        let clusters = self.launch.clusters();
        first.min(clusters)..first.saturating_add(self.at_a_time).min(clusters)
    }

    /// Takes and runs blocks from the queue. Invites helpers if the launch takes long enough.
    fn work_in_turn(&self, worker: usize, help: &Help<'_>) -> Result<(), Box<Fault>> {
        let invite_if_long = self.inviting(help);
        let (mut launch, mut taken) = (self.launch, 0..0);
        let mut residents = Residents::new(launch, &self.others.0);
        loop {
            if residents.admits() {
                if taken.is_empty() {
                    taken = self.take();
                    let later = if taken.is_empty() { None } else { self.later() };
                    if let Some(later) = later.filter(|later| !std::ptr::eq(*later, launch)) {
                        launch = later;
                        residents.take_ended().for_each(|mut block| _ = self.count(&mut block));
                    }
                }
                if let Some(place) = taken.next() {
                    residents.start(launch, worker, launch.coordinates(self.order.at(place)));
                } else if residents.count() == 0 {
                    break;
                }
            }
            if self.stopped.load(Ordering::Relaxed) {
                return Ok(());
            }
            let turn = turn::shared(residents.count(), turn_length(help));
            let mut index = 0;
            while let Some(block) = residents.get_mut(index) {
                let round = turn::round(block, turn)?;
                if round == Round::Idle {
                    return Err(block.stuck());
                }
                self.account(block)?;
                if round == Round::Ended {
                    residents.end(index);
                } else {
                    index += 1;
                }
                if self.is_stopped() {
                    return Ok(());
                }
                invite_if_long();
            }
        }
        residents.take_ended().for_each(|mut block| _ = self.count(&mut block));
        Ok(())
    }

    /// Returns the launch as machine code, after it ran on rows for long enough.
    #[cfg(feature = "compile")]
    fn later(&self) -> Option<&Launch<'a>> {
        let Later { started, launch } = &self.later;
        let worth = |started: &Instant| compiled::is_worth_compiling(self.launch, started.elapsed());
        started.as_ref().filter(|started| worth(started))?;
        launch.get_or_init(|| compiled::changed(self.launch)).as_ref()
    }

    #[cfg(not(feature = "compile"))]
    fn later(&self) -> Option<&Launch<'a>> {
        None
    }

    /// Takes and runs clusters from the queue. The blocks of a cluster run in turn.
    fn work_by_clusters(&self, worker: usize, help: &Help<'_>) -> Result<(), Box<Fault>> {
        let invite_if_long = self.inviting(help);
        let mut taken = self.take();
        if taken.is_empty() {
            return Ok(());
        }
        let mut team = Team::new(self.launch, worker);
        while !taken.is_empty() {
            for place in taken {
                team.start(self.order.at(place));
                let mut ended = false;
                while !ended {
                    if self.is_stopped() {
                        return Ok(());
                    }
                    ended = team.round(turn_length(help))?;
                    self.account_team(&mut team)?;
                    invite_if_long();
                }
            }
            taken = self.take();
        }
        Ok(())
    }

    /// Keeps its blocks alive and gives each a turn, because blocks may wait for each other. Takes
    /// one more cluster each time, so that all clusters start even without helpers.
    fn work_cooperatively(&self, worker: usize, help: &Help<'_>) -> Result<(), Box<Fault>> {
        self.invite(help);
        let mut teams = Vec::new();
        loop {
            if let Some(place) = self.take().next() {
                let mut team = Team::new(self.launch, worker);
                team.start(self.order.at(place));
                teams.push(team);
            }
            if teams.is_empty() || self.is_stopped() {
                return Ok(());
            }
            let mut index = 0;
            while index < teams.len() {
                let turn = turn::shared(teams.len(), LONG_TURN);
                let ended = teams[index].round(turn)?;
                self.account_team(&mut teams[index])?;
                if ended {
                    teams.swap_remove(index);
                } else {
                    index += 1;
                }
            }
        }
    }

    /// Lets helpers join, whose atomic operations may be at the same places.
    fn invite(&self, help: &Help<'_>) {
        self.launch.writer.admit_others();
        help.invite();
    }

    /// Returns a function that invites helpers when the launch takes long enough.
    fn inviting<'h>(&'h self, help: &'h Help<'_>) -> impl Fn() + use<'h, 'l, 'a> {
        let started = help.is_possible().then(Instant::now);
        move || {
            if help.is_possible() && started.is_some_and(|started| started.elapsed() > WORTH_WAKING) {
                self.invite(help);
            }
        }
    }

    /// Adds the instructions that a block has executed to the total.
    fn count(&self, block: &mut Block<'_, '_>) -> u64 {
        #[cfg(feature = "compile")]
        compiled::count(block);
        let count = block.take_instructions();
        self.instructions.0.fetch_add(count, Ordering::Relaxed) + count
    }

    /// Like `account` for all blocks of a cluster, whose instructions are counted each time.
    fn account_team(&self, team: &mut Team<'_, '_>) -> Result<(), Box<Fault>> {
        for block in &mut team.blocks {
            self.account(block)?;
            self.count(block);
        }
        Ok(())
    }

    /// Checks the executed instructions against the budget, and the time against its limit.
    fn account(&self, block: &mut Block<'_, '_>) -> Result<(), Box<Fault>> {
        let spent = self.launch.options.budget.is_some_and(|budget| self.count(block) > budget);
        let late = self.deadline.is_some_and(|deadline| Instant::now() > deadline);
        if spent || late { Err(block.fault_of_all(FaultKind::Timeout)) } else { Ok(()) }
    }
}

fn turn_length(help: &Help<'_>) -> u32 {
    if help.is_possible() { SHORT_TURN } else { LONG_TURN }
}
