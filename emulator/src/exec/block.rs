//! A block: its warps, its shared memory, its barriers.

use super::launch::Launch;
use super::memory::Cached;
use super::parts::Parts;
use super::rows::Rows;
use super::schedule::Order;
use super::semantics::{LANES, lanes_of};
use super::shadow::Shadow;
use super::vector::MOST_WARPS;
use super::warp::{Wait, Warp};
use crate::program::instruction::{BarrierKind, Op, Special};
use crate::report::{Fault, FaultKind, Related};

/// Warp instructions after which a warp lets the others of its block run.
const QUANTUM: u32 = 100_000;

/// What ends a block early.
pub(super) type Stop = Box<Fault>;

/// A block being run. Reused for one block after the other.
pub(super) struct Block<'l, 'a> {
    pub(super) launch: &'l Launch<'a>,
    pub(super) worker: usize,
    pub(super) index: [u32; 3],
    pub(super) warps: Vec<Warp>,
    pub(super) shared: Vec<u64>,
    /// The region that each memory instruction found last.
    pub(super) caches: Vec<Cached>,
    /// Threads that arrived at a barrier without waiting, by its number.
    arrived: [u32; 16],
    pub(super) instructions: u64,
    /// Turns that its warps had.
    rounds: u64,
    /// Barriers passed, so that accesses on either side of one can be told apart.
    pub(super) epoch: u32,
    /// Of shared memory, where a check needs it.
    pub(super) shadow: Option<Shadow>,
    /// What is left of the parts that go back at the end.
    parts: Parts,
    /// Offset in cells of the scratch rows of each warp.
    pub(super) scratch: u32,
    /// Rows that lanes outside the gang at hand need, a bit each.
    pub(super) kept: Vec<u64>,
}

impl<'l, 'a> Block<'l, 'a> {
    pub(super) fn new(launch: &'l Launch<'a>, worker: usize) -> Self {
        let kernel = launch.args.kernel;
        // The modes use constant rows differently.
        let key = kernel.id << 1 | u64::from(launch.steps.is_some());
        let mut parts = Parts::take(key, launch.args.block);
        let fresh = parts.warps.is_empty();
        if fresh {
            let warps = launch.threads.div_ceil(LANES as u32);
            parts.warps = (0..warps).map(|index| Warp::new(kernel, index)).collect();
            parts.caches = vec![Cached::EMPTY; kernel.caches as usize];
        } else {
            parts.caches.fill(Cached::EMPTY);
        }
        parts.shared.resize((launch.shared_bytes as usize).div_ceil(8), 0);
        parts.uniform.resize(launch.uniform.len(), 0);
        for ((register, width, value), held) in launch.uniform.iter().zip(&mut parts.uniform) {
            if fresh || value != held {
                *held = *value;
                parts.warps.iter_mut().for_each(|warp| warp.rows.fill(*register, *width, *value));
            }
        }
        let Parts { warps, shared, caches, .. } = &mut parts;
        let mut block = Block {
            launch,
            worker,
            index: [0; 3],
            warps: std::mem::take(warps),
            shared: std::mem::take(shared),
            caches: std::mem::take(caches),
            arrived: [0; 16],
            instructions: 0,
            rounds: 0,
            epoch: 0,
            shadow: (launch.options.check_init || launch.options.check_races)
                .then(|| Shadow::new(launch.shared_bytes as usize, launch.options.check_races)),
            parts,
            scratch: Rows::scratch(kernel.rows).0 * LANES as u32,
            kept: Vec::new(),
        };
        for warp in &mut block.warps {
            set_varying(launch, worker, warp, |special| !matches!(special, Special::BlockId(_)), [0; 3]);
        }
        block
    }

    /// Sets the block up to run as the one with these coordinates.
    pub(super) fn start(&mut self, index: [u32; 3]) {
        self.index = index;
        self.rounds = 0;
        self.arrived = [0; 16];
        if let Some(shadow) = &mut self.shadow {
            shadow.clear();
        }
        let (launch, worker) = (self.launch, self.worker);
        for warp in &mut self.warps {
            let first = warp.index * LANES as u32;
            let count = (launch.threads - first).min(LANES as u32);
            warp.start(u32::MAX >> (LANES as u32 - count), launch.args.kernel);
            set_varying(launch, worker, warp, |special| matches!(special, Special::BlockId(_)), index);
        }
    }

    pub(super) fn take_instructions(&mut self) -> u64 {
        std::mem::take(&mut self.instructions)
    }

    /// Gives each warp a turn. `true` when all threads have exited.
    pub(super) fn round(&mut self) -> Result<bool, Stop> {
        let before = self.instructions;
        let mut running = false;
        self.rounds += 1;
        if let Some(steps) = self.launch.steps {
            for first in (0..self.warps.len()).step_by(MOST_WARPS) {
                let count = MOST_WARPS.min(self.warps.len() - first);
                running |= self.run_group(steps, first, count, QUANTUM)?;
            }
        } else {
            let [x, y, z] = self.index.map(u64::from);
            let salt = self.rounds ^ x << 16 ^ y << 32 ^ z << 48;
            let order = Order::new(self.launch.options.seed, salt, self.warps.len() as u64);
            for place in 0..self.warps.len() {
                let index = order.at(place as u64) as usize;
                self.run_warp(index)?;
                running |= self.warps[index].live != 0;
            }
        }
        if !running {
            return Ok(true);
        }
        let released = self.release_barriers()?;
        if !released && self.instructions == before {
            return Err(self.stuck());
        }
        Ok(false)
    }

    /// Runs a warp in the plain mode until it waits, has ended, or had its share.
    fn run_warp(&mut self, index: usize) -> Result<(), Stop> {
        let kernel = self.launch.args.kernel;
        let mut left = QUANTUM;
        loop {
            let warp = &mut self.warps[index];
            if warp.fragments.len() > 1 {
                warp.merge();
            }
            match warp.next(kernel) {
                Some(fragment) => self.run_fragment(index, fragment, &mut left)?,
                None => {
                    if !self.resolve_collectives(index)? {
                        return Ok(());
                    }
                }
            }
            if left == 0 {
                return Ok(());
            }
        }
    }

    /// Threads waiting at a barrier, and how many it waits for.
    fn release_barriers(&mut self) -> Result<bool, Stop> {
        let live: u32 = self.warps.iter().map(|warp| warp.live.count_ones()).sum();
        let mut any = false;
        for id in 0..16u32 {
            let mut waiting = self.arrived[id as usize];
            let mut expected = live;
            for warp in &self.warps {
                for fragment in warp.fragments.iter().filter(|fragment| fragment.wait == Wait::Barrier(id)) {
                    waiting += fragment.mask.count_ones();
                    if let Op::Barrier { count: Some(count), .. } = &self.instruction(fragment.pc).op {
                        let lane = fragment.mask.trailing_zeros() as usize;
                        expected = warp.rows.get(*count, lane);
                    }
                }
            }
            if waiting == 0 || waiting < expected {
                continue;
            }
            any = true;
            self.release(id);
        }
        Ok(any)
    }

    fn release(&mut self, id: u32) {
        let kernel = self.launch.args.kernel;
        let mut ones = 0;
        let mut total = 0;
        for warp in &self.warps {
            for fragment in warp.fragments.iter().filter(|fragment| fragment.wait == Wait::Barrier(id)) {
                total += fragment.mask.count_ones();
                if let Op::Barrier {
                    kind: BarrierKind::CountOnes { condition, .. } | BarrierKind::Combine { condition, .. },
                    ..
                } = &kernel.code[fragment.pc as usize].op
                {
                    ones += (warp.rows.holds(*condition) & fragment.mask).count_ones();
                }
            }
        }
        for warp in &mut self.warps {
            let rows = &mut warp.rows;
            for fragment in warp.fragments.iter_mut().filter(|fragment| fragment.wait == Wait::Barrier(id)) {
                if let Op::Barrier { kind, .. } = &kernel.code[fragment.pc as usize].op {
                    match kind {
                        BarrierKind::CountOnes { out, .. } => {
                            lanes_of(fragment.mask).for_each(|lane| rows.set(*out, lane, ones));
                        }
                        BarrierKind::Combine { out, all, .. } => {
                            let result = if *all { ones == total } else { ones > 0 };
                            rows.set_predicate(*out, fragment.mask, if result { u32::MAX } else { 0 });
                        }
                        BarrierKind::Sync | BarrierKind::Arrive => {}
                    }
                }
                fragment.wait = Wait::Ready;
                fragment.pc += 1;
            }
        }
        self.arrived[id as usize] = 0;
        self.epoch += 1;
    }

    /// Whether no thread of this block has arrived at a barrier whose number lies here.
    pub(super) fn nobody_arrived(&self, id: u32) -> bool {
        self.arrived.get(id as usize) == Some(&0)
    }

    /// Threads that arrive at a barrier and go on.
    pub(super) fn arrive(&mut self, id: u32, threads: u32) {
        self.arrived[id as usize & 15] += threads;
    }

    /// With the check on: a barrier that these lanes reach and others of their warp have gone past. Lanes about to exit
    /// are not waited for, and so do no harm.
    pub(super) fn check_barrier(&self, warp: usize, index: usize, pc: u32, active: u32) -> Result<(), Stop> {
        if !self.launch.options.check_barriers {
            return Ok(());
        }
        let elsewhere = self.warps[warp].fragments.iter().enumerate().find(|(other, fragment)| {
            let leaves = matches!(self.instruction(fragment.pc).op, Op::Exit);
            *other != index && fragment.pc != pc && !leaves
        });
        let Some((_, fragment)) = elsewhere else { return Ok(()) };
        let mut fault = self.fault(FaultKind::BarrierDivergence, warp, pc, active);
        fault.related.push(self.related(
            warp,
            fragment.pc,
            fragment.mask,
            "went past the barrier:".to_owned(),
        ));
        Err(fault)
    }

    /// Another place that takes part in a fault.
    fn related(&self, warp: usize, pc: u32, mask: u32, note: String) -> Related {
        let origin = self.origin(pc);
        let thread = (warp * LANES) as u32 + mask.trailing_zeros().min(31);
        Related {
            note,
            block: self.index,
            thread: thread_index(thread, self.launch.args.block),
            ptx_line: origin.line,
            source: self.source(origin),
        }
    }

    /// The fault of a block in which no thread can run: who waits where.
    fn stuck(&self) -> Stop {
        let mut related = Vec::new();
        let mut barriers = false;
        for warp in &self.warps {
            for fragment in &warp.fragments {
                barriers |= matches!(fragment.wait, Wait::Barrier(_));
                let threads = fragment.mask.count_ones();
                let note = match fragment.wait {
                    Wait::Barrier(id) => format!("{threads} threads of this warp wait at barrier {id}"),
                    Wait::Collective => {
                        format!("{threads} threads of this warp wait for others of their member mask")
                    }
                    Wait::Ready => continue,
                };
                related.push(self.related(warp.index as usize, fragment.pc, fragment.mask, note));
            }
        }
        let kind = if barriers { FaultKind::BarrierDivergence } else { FaultKind::WrongMembers };
        let mut fault = self.fault_somewhere(kind);
        related.truncate(8);
        fault.related = related;
        fault
    }

    /// A fault of the first thread that still runs.
    pub(super) fn fault_somewhere(&self, kind: FaultKind) -> Stop {
        let place = self.warps.iter().enumerate().find_map(|(index, warp)| {
            warp.fragments.first().map(|fragment| (index, fragment.pc, fragment.mask))
        });
        let (warp, pc, mask) = place.unwrap_or((0, 0, 1));
        self.fault(kind, warp, pc, mask)
    }

    /// A fault of the lanes of `mask` at `pc`.
    pub(super) fn fault(&self, kind: FaultKind, warp: usize, pc: u32, mask: u32) -> Stop {
        let origin = self.origin(pc);
        let lane = mask.trailing_zeros().min(31);
        let mut fault = Fault::new(kind, &self.launch.args.kernel.name);
        fault.block = self.index;
        fault.thread = thread_index(warp as u32 * LANES as u32 + lane, self.launch.args.block);
        fault.lanes = mask;
        fault.ptx_line = origin.line;
        fault.ptx_text = origin.text.to_string();
        fault.source = self.source(origin);
        Box::new(fault)
    }

    pub(super) fn origin(&self, pc: u32) -> &crate::program::Origin {
        let kernel = self.launch.args.kernel;
        &kernel.origins[self.instruction(pc).origin as usize]
    }

    pub(super) fn source(&self, origin: &crate::program::Origin) -> Option<(String, u32)> {
        let (file, line) = origin.source?;
        let files = &self.launch.args.kernel.files;
        let (_, path) = files.iter().find(|(index, _)| *index == file)?;
        Some((path.clone(), line))
    }

    pub(super) fn instruction(&self, pc: u32) -> &'a crate::program::instruction::Instruction {
        &self.launch.args.kernel.code[pc as usize]
    }
}

impl Drop for Block<'_, '_> {
    fn drop(&mut self) {
        let mut parts = std::mem::take(&mut self.parts);
        parts.warps = std::mem::take(&mut self.warps);
        parts.shared = std::mem::take(&mut self.shared);
        parts.caches = std::mem::take(&mut self.caches);
        parts.keep();
    }
}

/// Fills those rows of special registers that `wanted` picks.
fn set_varying(
    launch: &Launch<'_>,
    worker: usize,
    warp: &mut Warp,
    wanted: impl Fn(&Special) -> bool,
    index: [u32; 3],
) {
    let first = warp.index * LANES as u32;
    for (register, width, special) in launch.varying.iter().filter(|(.., special)| wanted(special)) {
        let value = |lane: u32| match *special {
            Special::ThreadId(axis) => thread_index(first + lane, launch.args.block)[axis as usize],
            Special::BlockId(axis) => index[axis as usize],
            Special::LaneId => lane,
            Special::WarpId => warp.index,
            Special::MultiprocessorId => worker as u32,
            Special::LaneMask(order, or_equal) => lane_mask(lane, order, or_equal),
            _ => 0,
        };
        match *special {
            Special::BlockId(_) => warp.rows.fill(*register, *width, value(0).into()),
            _ => (0..LANES)
                .for_each(|lane| warp.rows.set_wide(*register, *width, lane, value(lane as u32).into())),
        }
    }
}

/// Coordinates of a thread in a block of these dimensions.
pub(super) fn thread_index(thread: u32, block: [u32; 3]) -> [u32; 3] {
    let [x, y, _] = block;
    [thread % x, thread / x % y, thread / x / y]
}

fn lane_mask(lane: u32, order: core::cmp::Ordering, or_equal: bool) -> u32 {
    let own = 1 << lane;
    let below = own - 1;
    let strict = match order {
        core::cmp::Ordering::Less => below,
        core::cmp::Ordering::Equal => own,
        core::cmp::Ordering::Greater => !(below | own),
    };
    if or_equal { strict | own } else { strict }
}
