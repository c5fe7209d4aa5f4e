//! One launch: constants, workers, the queue of blocks.

use super::block::{Block, LONG_TURN, SHORT_TURN};
use super::pool::{self, Help};
use super::schedule::Order;
use super::semantics::{LANES, Width};
use super::shadow::GlobalShadow;
use super::unwritten::Unwritten;
use super::vector::Steps;
use super::{ExecOptions, Hooks, LaunchArgs, LaunchStats};
use crate::memory::Map;
use crate::program::instruction::{Constant, Special};
use crate::program::{FUNCTION_STRIDE, Register};
use crate::report::{Fault, FaultKind};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A launch that takes longer than this is worth waking other threads for, which takes some microseconds itself.
const WORTH_WAKING: Duration = Duration::from_micros(30);

/// Bytes of shared memory of each block that the system keeps for itself, as the device reports.
const RESERVED_SHARED: u32 = 1024;

/// From so many blocks on, workers take more than one at a time.
const MANY_BLOCKS: u64 = 256;
const MOST_AT_A_TIME: u64 = 8;

/// What workers write all the time, on a cache line of its own, away from what they only read.
#[derive(Default)]
#[repr(align(128))]
struct Apart<T>(T);

/// What all workers of a launch share.
pub(super) struct Launch<'a> {
    pub(super) args: LaunchArgs<'a>,
    pub(super) map: &'a Map,
    pub(super) options: &'a ExecOptions,
    pub(super) hooks: &'a dyn Hooks,
    /// Constant rows that are the same in all blocks.
    pub(super) uniform: Vec<(Register, Width, u64)>,
    /// Constant rows that differ by block, warp or lane.
    pub(super) varying: Vec<(Register, Width, Special)>,
    /// Registers and predicates that are zero at the start of each block.
    pub(super) unwritten: &'a Unwritten,
    /// What the vector mode runs; `None` in the plain mode.
    pub(super) steps: Option<&'a Steps>,
    pub(super) threads: u32,
    pub(super) shared_bytes: u32,
    pub(super) global_shadow: Option<GlobalShadow>,
    blocks: u64,
    order: Order,
    /// How many blocks a worker takes at a time: several where there are many, since short ones taken one by one keep
    /// the workers waiting for the counter.
    at_a_time: u64,
    next_block: Apart<AtomicU64>,
    stopped: AtomicBool,
    fault: Mutex<Option<Box<Fault>>>,
    instructions: Apart<AtomicU64>,
    /// When it counts as endless.
    deadline: Option<Instant>,
}

pub(super) fn run(
    args: &LaunchArgs<'_>,
    map: &Map,
    options: &ExecOptions,
    hooks: &dyn Hooks,
) -> Result<LaunchStats, Box<Fault>> {
    let launch = Launch::new(args, map, options, hooks)?;
    let workers = match options.workers {
        // Events come in one order, which is the same every time.
        _ if options.check_races || options.seed.is_some() => 1,
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        workers => workers,
    };
    let workers = workers.min(usize::try_from(launch.blocks).unwrap_or(usize::MAX)).max(1);
    if !pool::run(workers - 1, &|worker, help| launch.work(worker, help)) {
        return Err(Box::new(Fault::new(FaultKind::Other("a worker panicked".into()), &args.kernel.name)));
    }
    let fault = launch.fault.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    match fault {
        Some(fault) => Err(fault),
        None => Ok(LaunchStats { instructions: launch.instructions.0.into_inner(), blocks: launch.blocks }),
    }
}

impl<'a> Launch<'a> {
    fn new(
        args: &LaunchArgs<'a>,
        map: &'a Map,
        options: &'a ExecOptions,
        hooks: &'a dyn Hooks,
    ) -> Result<Self, Box<Fault>> {
        let kernel = args.kernel;
        let refuse = |text: String| Box::new(Fault::new(FaultKind::Other(text), &kernel.name));
        let product =
            |dims: [u32; 3]| dims.iter().try_fold(1u64, |product, dim| product.checked_mul(u64::from(*dim)));
        let threads = product(args.block).filter(|threads| (1..=1024).contains(threads));
        let Some(threads) = threads else {
            return Err(refuse(format!("a block of {:?} threads, where 1 to 1024 are possible", args.block)));
        };
        let Some(blocks) = product(args.grid) else {
            return Err(refuse(format!("a grid of {:?} blocks", args.grid)));
        };
        if args.params.len() < kernel.param_bytes() as usize {
            return Err(refuse(format!(
                "{} bytes of parameters, where the kernel takes {}",
                args.params.len(),
                kernel.param_bytes()
            )));
        }
        let dynamic_start =
            kernel.shared_offsets.iter().copied().max().unwrap_or(0).max(kernel.static_shared);
        let Some(shared_bytes) =
            dynamic_start.checked_add(args.dynamic_shared).filter(|bytes| *bytes <= 1 << 20)
        else {
            return Err(refuse(format!("{} bytes of dynamic shared memory", args.dynamic_shared)));
        };
        let mut launch = Launch {
            args: *args,
            map,
            options,
            hooks,
            uniform: Vec::new(),
            varying: Vec::new(),
            unwritten: kernel.unwritten(),
            steps: options.allow_vectors().then(|| kernel.steps()).flatten(),
            threads: threads as u32,
            shared_bytes,
            global_shadow: options.check_races.then(GlobalShadow::default),
            blocks,
            order: Order::new(options.seed, 0, blocks),
            at_a_time: if args.cooperative { 1 } else { (blocks / MANY_BLOCKS).clamp(1, MOST_AT_A_TIME) },
            next_block: Apart::default(),
            stopped: AtomicBool::new(false),
            fault: Mutex::new(None),
            instructions: Apart::default(),
            deadline: options.time_limit.and_then(|limit| Instant::now().checked_add(limit)),
        };
        let copies = launch.steps.map_or(&[][..], |steps| &steps.constants);
        for (register, width, constant) in kernel.constants.iter().chain(copies) {
            match launch.value(*constant) {
                Ok(value) => launch.uniform.push((*register, *width, value)),
                Err(special) => launch.varying.push((*register, *width, special)),
            }
        }
        Ok(launch)
    }

    /// The value of a constant row, or what it depends on.
    fn value(&self, constant: Constant) -> Result<u64, Special> {
        let args = &self.args;
        let windows = self.map.windows();
        Ok(match constant {
            Constant::Bits(bits) => bits,
            Constant::Param { offset, bytes, signed } => {
                let mut raw = [0; 8];
                let source =
                    args.params.get(offset as usize..offset as usize + bytes as usize).unwrap_or_default();
                raw[..source.len()].copy_from_slice(source);
                let value = u64::from_le_bytes(raw);
                let unused = 64 - 8 * bytes.min(8);
                if signed { ((value << unused) as i64 >> unused) as u64 } else { value }
            }
            Constant::Global { index, offset } => {
                let base = args.globals.get(index as usize).copied().unwrap_or(0);
                base.wrapping_add_signed(offset)
            }
            Constant::Shared { index, offset } => {
                u64::from(args.kernel.shared_offsets[index as usize]).wrapping_add_signed(offset)
            }
            Constant::Function { index } => windows.code + u64::from(index) * FUNCTION_STRIDE,
            Constant::Special(special) => match special {
                Special::BlockDim(axis) => args.block[axis as usize].into(),
                Special::GridDim(axis) => args.grid[axis as usize].into(),
                Special::WarpSize => LANES as u64,
                Special::WarpsPerBlock => u64::from(self.threads.div_ceil(LANES as u32)),
                Special::MultiprocessorCount => self.options.multiprocessors.into(),
                Special::GridId | Special::Zero => 0,
                Special::One => 1,
                Special::DynamicSharedBytes => args.dynamic_shared.into(),
                Special::TotalSharedBytes => self.shared_bytes.into(),
                Special::AllSharedBytes => u64::from(self.shared_bytes + RESERVED_SHARED),
                Special::ParamWindow => windows.param,
                Special::SharedWindow => windows.shared,
                Special::LocalWindow => windows.local,
                Special::WindowBytes => windows.bytes,
                // The upper half comes first.
                Special::Environment(1) => args.grid_workspace >> 32,
                Special::Environment(2) => args.grid_workspace & 0xffff_ffff,
                Special::Environment(_) => 0,
                varying => return Err(varying),
            },
        })
    }

    pub(super) fn coordinates(&self, block: u64) -> [u32; 3] {
        let [x, y, _] = self.args.grid.map(u64::from);
        if block < x {
            return [block as u32, 0, 0];
        }
        [(block % x) as u32, (block / x % y) as u32, (block / x / y) as u32]
    }

    /// Whether something is remembered of accesses.
    pub(super) fn watches(&self) -> bool {
        self.options.check_init || self.options.check_races
    }

    /// The number of a block, from its coordinates.
    pub(super) fn number(&self, [x, y, z]: [u32; 3]) -> u64 {
        let [width, height, _] = self.args.grid.map(u64::from);
        u64::from(x) + width * (u64::from(y) + height * u64::from(z))
    }

    fn work(&self, worker: usize, help: &Help<'_>) {
        let outcome = if self.args.cooperative {
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
        first.min(self.blocks)..first.saturating_add(self.at_a_time).min(self.blocks)
    }

    /// Takes blocks from the queue, one after the other. Others are asked to help once it turns out to take long enough
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
        let mut block = Block::new(self, worker);
        while !taken.is_empty() {
            for place in taken {
                if self.stopped.load(Ordering::Relaxed) {
                    return Ok(());
                }
                block.start(self.coordinates(self.order.at(place)));
                while !block.round(if help.is_possible() { SHORT_TURN } else { LONG_TURN })? {
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
    /// time, so that all start whoever helps.
    fn work_cooperatively(&self, worker: usize, help: &Help<'_>) -> Result<(), Box<Fault>> {
        help.invite();
        let mut blocks = Vec::new();
        loop {
            if let Some(place) = self.take_blocks().next() {
                let mut block = Block::new(self, worker);
                block.start(self.coordinates(self.order.at(place)));
                blocks.push(block);
            }
            if blocks.is_empty() || self.stopped.load(Ordering::Relaxed) {
                return Ok(());
            }
            let mut index = 0;
            while index < blocks.len() {
                let done = blocks[index].round(LONG_TURN)?;
                self.account(&mut blocks[index])?;
                if done {
                    self.count(&mut blocks.swap_remove(index));
                } else {
                    index += 1;
                }
            }
        }
    }

    /// Adds what a block has executed to what all have.
    fn count(&self, block: &mut Block<'_, 'a>) -> u64 {
        let count = block.take_instructions();
        self.instructions.0.fetch_add(count, Ordering::Relaxed) + count
    }

    /// Checks executed instructions against the budget, and the time against its limit.
    fn account(&self, block: &mut Block<'_, 'a>) -> Result<(), Box<Fault>> {
        let spent = self.options.budget.is_some_and(|budget| self.count(block) > budget);
        let late = self.deadline.is_some_and(|deadline| Instant::now() > deadline);
        if spent || late { Err(block.fault_of_all(FaultKind::Timeout)) } else { Ok(()) }
    }
}
