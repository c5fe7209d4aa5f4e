//! A block: its warps, its shared memory, its barriers.

use super::launch::Launch;
use super::memory::Cached;
use super::order::Clocks;
use super::parts::Parts;
use super::rows::Rows;
use super::schedule::Order;
use super::semantics::{LANES, lanes_of};
use super::shadow::Shadow;
use super::vector::{MOST_WARPS, Scalars, reads_row};
use super::warp::{Fragment, Wait, Warp};
use crate::program::Register;
use crate::program::instruction::{BarrierKind, Op, Special};
use crate::report::{Fault, FaultKind, Related};

/// Instructions after which a warp lets the others of its block run.
pub(super) const LONG_TURN: u32 = 100_000;
/// The same where whoever runs the block wants to look at the clock soon.
pub(super) const SHORT_TURN: u32 = 500;

/// The most places that a report names beside that of the fault.
const MOST_RELATED: usize = 16;

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
    /// Of shared memory, where a check needs it.
    pub(super) shadow: Shadow,
    /// Where races are looked for.
    pub(super) clocks: Option<Clocks>,
    /// What is left of the parts that go back at the end.
    parts: Parts,
    /// Offset in cells of the scratch rows of each warp.
    pub(super) scratch: u32,
    /// Rows that lanes outside the gang at hand need, a bit each.
    pub(super) kept: Vec<u64>,
    /// Registers that are not rows.
    pub(super) scalars: Scalars,
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
        let mut changed = fresh;
        for ((register, width, value), held) in launch.uniform.iter().zip(&mut parts.uniform) {
            if fresh || value != held {
                changed = true;
                *held = *value;
                parts.warps.iter_mut().for_each(|warp| warp.rows.fill(*register, *width, *value));
            }
        }
        parts.scalars.prepare(launch, changed);
        let Parts { warps, shared, caches, scalars, .. } = &mut parts;
        let mut block = Block {
            launch,
            worker,
            index: [0; 3],
            warps: std::mem::take(warps),
            shared: std::mem::take(shared),
            caches: std::mem::take(caches),
            scalars: std::mem::take(scalars),
            arrived: [0; 16],
            instructions: 0,
            rounds: 0,
            shadow: Shadow::default(),
            clocks: launch
                .options
                .check_races
                .then(|| Clocks::new(launch.threads.div_ceil(LANES as u32) as usize)),
            parts,
            scratch: Rows::scratch(kernel.rows).0 * LANES as u32,
            kept: Vec::new(),
        };
        for warp in &mut block.warps {
            set_varying(launch, worker, warp, |special, _| !depends_on_block(special), [0; 3]);
        }
        block
    }

    /// Sets the block up to run as the one with these coordinates.
    pub(super) fn start(&mut self, index: [u32; 3]) {
        self.index = index;
        self.rounds = 0;
        self.arrived = [0; 16];
        self.shadow.clear();
        if let Some(clocks) = &mut self.clocks {
            clocks.reset(self.launch.number(index));
        }
        let (launch, worker) = (self.launch, self.worker);
        let scalars = self.scalars.usable;
        for warp in &mut self.warps {
            let first = warp.index * LANES as u32;
            let count = (launch.threads - first).min(LANES as u32);
            warp.start(u32::MAX >> (LANES as u32 - count), launch.args.kernel, launch.unwritten);
            warp.rows_only = !scalars;
            if launch.options.check_init {
                warp.registers.start(launch.args.kernel);
            }
        }
        if scalars {
            self.scalars.start(launch, index);
        }
        let is_read = |register| !scalars || launch.steps.is_none_or(|steps| reads_row(steps, register));
        let wanted = |special: &Special, register| depends_on_block(special) && is_read(register);
        if launch.varying.iter().any(|(register, _, special)| wanted(special, *register)) {
            for warp in &mut self.warps {
                set_varying(launch, worker, warp, wanted, index);
            }
        }
    }

    pub(super) fn take_instructions(&mut self) -> u64 {
        std::mem::take(&mut self.instructions)
    }

    /// Gives each warp a turn of so many instructions. `true` when all threads have exited.
    pub(super) fn round(&mut self, turn: u32) -> Result<bool, Stop> {
        let before = self.instructions;
        let mut running = false;
        self.rounds += 1;
        if let Some(steps) = self.launch.steps {
            for first in (0..self.warps.len()).step_by(MOST_WARPS) {
                let count = MOST_WARPS.min(self.warps.len() - first);
                running |= self.run_group(steps, first, count, turn)?;
            }
        } else {
            let [x, y, z] = self.index.map(u64::from);
            let salt = self.rounds ^ x << 16 ^ y << 32 ^ z << 48;
            let order = Order::new(self.launch.options.seed, salt, self.warps.len() as u64);
            for place in 0..self.warps.len() {
                let index = order.at(place as u64) as usize;
                let turn = order.turn(place as u64).unwrap_or(turn);
                self.run_warp(index, turn)?;
                running |= self.warps[index].live != 0;
            }
        }
        if !running {
            return Ok(true);
        }
        let released = self.release_cluster() | self.release_barriers()?;
        if !released && self.instructions == before {
            return Err(self.stuck());
        }
        Ok(false)
    }

    /// Runs a warp in the plain mode until it waits, has ended, or had its share.
    fn run_warp(&mut self, index: usize, mut left: u32) -> Result<(), Stop> {
        let kernel = self.launch.args.kernel;
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

    /// Lets those go on whose barrier has all the threads that it waits for. `false` if there are none.
    fn release_barriers(&mut self) -> Result<bool, Stop> {
        let live: u32 = self.warps.iter().map(|warp| warp.live.count_ones()).sum();
        let mut any = false;
        for id in 0..16u32 {
            let mut waiting = self.arrived[id as usize];
            let mut expected = live;
            for (warp, fragment) in self.waiting_at(id) {
                waiting += fragment.mask.count_ones();
                expected = self.asked_for(warp, fragment).unwrap_or(expected);
            }
            if waiting == 0 {
                continue;
            }
            if self.launch.options.check_barriers {
                self.check_counts(id)?;
            }
            if waiting < expected {
                continue;
            }
            if self.launch.options.check_barriers {
                self.check_exits(id)?;
            }
            any = true;
            self.release(id);
        }
        Ok(any)
    }

    /// Which parts of which warps wait at a barrier.
    fn waiting_at(&self, id: u32) -> impl Iterator<Item = (&Warp, &Fragment)> {
        let of_warp = move |warp| {
            let fragments = Warp::fragments(warp).iter();
            fragments.filter(move |fragment| fragment.wait == Wait::Barrier(id)).map(move |part| (warp, part))
        };
        self.warps.iter().flat_map(of_warp)
    }

    /// The number of threads that a barrier names, if it does.
    fn asked_for(&self, warp: &Warp, fragment: &Fragment) -> Option<u32> {
        match &self.instruction(fragment.pc).op {
            Op::Barrier { count: Some(count), .. } => {
                Some(warp.rows.get(*count, fragment.mask.trailing_zeros() as usize))
            }
            _ => None,
        }
    }

    /// With the check on: threads that wait at the same barrier for different numbers of threads.
    fn check_counts(&self, id: u32) -> Result<(), Stop> {
        let mut waiting = self.waiting_at(id);
        let Some((first_warp, first)) = waiting.next() else { return Ok(()) };
        let wanted = self.asked_for(first_warp, first);
        let Some((warp, other)) = waiting.find(|(warp, other)| self.asked_for(warp, other) != wanted) else {
            return Ok(());
        };
        let words = |count: Option<u32>| match count {
            Some(count) => format!("waits for {count} threads"),
            None => "waits for all threads of the block".to_owned(),
        };
        let place = |warp: &Warp, part: &Fragment, count| {
            self.related(warp.index as usize, part.pc, part.mask, words(count))
        };
        let mut fault = self.fault(FaultKind::BarrierCounts, first_warp.index as usize, first.pc, first.mask);
        fault.related.push(place(first_warp, first, wanted));
        fault.related.push(place(warp, other, self.asked_for(warp, other)));
        Err(fault)
    }

    /// With the check on: a barrier of all threads that some of them never reach, because they have exited.
    fn check_exits(&self, id: u32) -> Result<(), Stop> {
        let Some((warp, waiting)) = self.waiting_at(id).next() else { return Ok(()) };
        let exited = self.warps.iter().filter(|warp| !warp.exits.is_empty());
        let mut exited = exited.flat_map(|warp| warp.exits.iter().map(|exit| (warp.index, *exit))).peekable();
        if self.asked_for(warp, waiting).is_some() || exited.peek().is_none() {
            return Ok(());
        }
        let mut fault =
            self.fault(FaultKind::BarrierDivergence, warp.index as usize, waiting.pc, waiting.mask);
        fault.related.extend(exited.take(MOST_RELATED).map(|(warp, (pc, mask))| {
            let note = format!("{} exited", threads_of_warp(mask));
            self.related(warp as usize, pc, mask, note)
        }));
        Err(fault)
    }

    fn release(&mut self, id: u32) {
        let kernel = self.launch.args.kernel;
        let mut ones = 0;
        let mut total = 0;
        let mut parties = Vec::new();
        for (index, warp) in self.warps.iter().enumerate() {
            for fragment in warp.fragments.iter().filter(|fragment| fragment.wait == Wait::Barrier(id)) {
                parties.push((index, fragment.mask));
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
        if let Some(clocks) = &mut self.clocks {
            clocks.meet(&parties, Some(id as usize));
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
    }

    /// With the check on: whether some threads have exited.
    pub(super) fn has_exits(&self) -> bool {
        self.warps.iter().any(|warp| !warp.exits.is_empty())
    }

    /// Whether no thread of this block has arrived at a barrier whose number lies here.
    pub(super) fn nobody_arrived(&self, id: u32) -> bool {
        self.arrived.get(id as usize) == Some(&0)
    }

    /// Threads of a warp that arrive at a barrier and go on.
    pub(super) fn arrive(&mut self, id: u32, warp: usize, mask: u32) {
        let number = id as usize & 15;
        self.arrived[number] += mask.count_ones();
        if let Some(clocks) = &mut self.clocks {
            clocks.arrive(warp, mask, number);
        }
    }

    /// With the check on: an aligned barrier that these lanes reach and others of their warp have gone past. Lanes about to exit
    /// are not waited for, and so do no harm.
    pub(super) fn check_aligned(&self, warp: usize, index: usize, pc: u32, active: u32) -> Result<(), Stop> {
        if !self.launch.options.check_barriers {
            return Ok(());
        }
        let ranks = &self.launch.args.kernel.ranks;
        let place = |pc: u32| (ranks[pc as usize], pc);
        let gone = self.warps[warp].fragments.iter().enumerate().find(|(other, fragment)| {
            let leaves = matches!(self.instruction(fragment.pc).op, Op::Exit);
            *other != index && place(fragment.pc) > place(pc) && !leaves
        });
        let Some((_, fragment)) = gone else { return Ok(()) };
        let mut fault = self.fault(FaultKind::BarrierDivergence, warp, pc, active);
        fault.related.push(self.related(
            warp,
            fragment.pc,
            fragment.mask,
            format!("{} went past it", threads_of_warp(fragment.mask)),
        ));
        Err(fault)
    }

    /// Another place that takes part in a fault.
    pub(super) fn related(&self, warp: usize, pc: u32, mask: u32, note: String) -> Related {
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

    /// The fault of a block in which no thread can run.
    fn stuck(&self) -> Stop {
        let mut waits = self.warps.iter().flat_map(|warp| &warp.fragments).map(|fragment| fragment.wait);
        self.fault_of_all(if waits.clone().all(|wait| matches!(wait, Wait::Barrier(_) | Wait::Cluster)) {
            FaultKind::BarrierDivergence
        } else if waits.all(|wait| wait == Wait::Collective) {
            FaultKind::WrongMembers
        } else {
            FaultKind::Deadlock
        })
    }

    /// A fault of the block as a whole, with where its threads are. It is put down to the first that still runs.
    pub(super) fn fault_of_all(&self, kind: FaultKind) -> Stop {
        let parts = || {
            let of_warp = |warp| Warp::fragments(warp).iter().map(move |fragment| (warp.index, fragment));
            self.warps.iter().flat_map(of_warp)
        };
        let first = parts().next().map(|(warp, fragment)| (warp as usize, fragment.pc, fragment.mask));
        let (warp, pc, mask) = first.unwrap_or((0, 0, 1));
        let mut fault = self.fault(kind, warp, pc, mask);
        fault.related.extend(parts().take(MOST_RELATED).map(|(warp, fragment)| {
            let what = match fragment.wait {
                Wait::Barrier(id) => format!("at barrier {id}"),
                Wait::Cluster => "at the barrier of the cluster".to_owned(),
                Wait::Collective => "waiting for others of the member mask".to_owned(),
                Wait::Ready => "running".to_owned(),
            };
            let note = format!("{} {what}", threads_of_warp(fragment.mask));
            self.related(warp as usize, fragment.pc, fragment.mask, note)
        }));
        fault
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
        parts.scalars = std::mem::take(&mut self.scalars);
        parts.keep();
    }
}

/// Fills those rows of special registers that `wanted` picks.
fn set_varying(
    launch: &Launch<'_>,
    worker: usize,
    warp: &mut Warp,
    wanted: impl Fn(&Special, Register) -> bool,
    index: [u32; 3],
) {
    let first = warp.index * LANES as u32;
    for (register, width, special) in &launch.varying {
        if !wanted(special, *register) {
            continue;
        }
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

/// How many threads of a warp there are in a mask, in words.
fn threads_of_warp(mask: u32) -> String {
    match mask.count_ones() {
        1 => "one thread of a warp".to_owned(),
        count => format!("{count} threads of a warp"),
    }
}

/// Fills the rows that depend on the block.
pub(super) fn set_block_rows(launch: &Launch<'_>, worker: usize, warp: &mut Warp, index: [u32; 3]) {
    set_varying(launch, worker, warp, |special, _| depends_on_block(special), index);
}

fn depends_on_block(special: &Special) -> bool {
    matches!(special, Special::BlockId(_))
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
