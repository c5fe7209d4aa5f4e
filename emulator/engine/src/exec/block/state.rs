//! The state of a block.

use std::rc::Rc;

use super::super::check::clocks::Clocks;
use super::super::check::shadow::{Shadow, Written};
use super::super::code::affine::reads_row;
use super::cached::Cached;
use super::cluster::Cluster;
use super::copies::LateCopies;
use super::launch::Launch;
use super::parts::Parts;
use super::rows::Rows;
use super::scalars::Scalars;
use super::special::{depends_on_block, set_varying};
use super::warp::Warp;
use crate::program::instruction::Special;
use crate::program::memory::RANK_SHIFT;
use crate::semantics::LANES;

/// A running block. Reused for one block after another.
pub(in crate::exec) struct Block<'l, 'a> {
    pub(in crate::exec) launch: &'l Launch<'a>,
    pub(in crate::exec) cluster: Option<Rc<Cluster>>,
    pub(in crate::exec) warps: Vec<Warp>,
    /// The region that each memory instruction found last.
    pub(in crate::exec) caches: Vec<Cached>,
    pub(in crate::exec) copies: LateCopies,
    pub(in crate::exec) checks: Checks,
    pub(in crate::exec) vector: VectorState,
    #[cfg(feature = "compile")]
    pub(in crate::exec) machine: super::cached::MachineState,
    pub(super) worker: usize,
    pub(super) index: [u32; 3],
    pub(super) rank: u32,
    pub(super) shared_base: u32,
    pub(super) shared: Vec<u64>,
    /// Number of threads that arrived at each barrier without waiting.
    pub(super) arrived: [u32; 16],
    instructions: u64,
    rounds: u64,
    /// The remaining parts, which are reused after the launch.
    parts: Option<Box<Parts>>,
}

/// The state of the checks of a block.
pub(in crate::exec) struct Checks {
    /// Shadow of shared memory, if a check needs it.
    pub(in crate::exec) shadow: Shadow,
    /// The clocks of its threads, if races are checked.
    pub(in crate::exec) clocks: Option<Box<Clocks>>,
}

/// The state of the vector mode of a block.
pub(in crate::exec) struct VectorState {
    /// Offset of the scratch rows of each warp, in cells.
    pub(in crate::exec) scratch: u32,
    /// Vector registers that lanes outside of the running group need, one bit each.
    pub(in crate::exec) kept: Vec<u64>,
    /// Buffer for the offsets of a warp's lanes in memory.
    pub(in crate::exec) offsets: [i64; LANES],
    pub(in crate::exec) scalars: Scalars,
}

impl<'l, 'a> Block<'l, 'a> {
    pub(in crate::exec) fn new(launch: &'l Launch<'a>, worker: usize) -> Self {
        let kernel = launch.args.kernel;
        let mut parts = prepared(launch);
        #[cfg(feature = "compile")]
        let machine = std::mem::take(&mut parts.machine);
        let stale = parts.worker.replace(worker) != Some(worker);
        let Parts { warps, shared, caches, scalars, .. } = &mut *parts;
        let clocks = || Box::new(Clocks::new(launch.threads.div_ceil(LANES as u32) as usize));
        let mut block = Block {
            launch,
            cluster: None,
            warps: std::mem::take(warps),
            caches: std::mem::take(caches),
            copies: LateCopies::default(),
            checks: Checks { shadow: Shadow::default(), clocks: launch.options.check_races.then(clocks) },
            vector: VectorState {
                scratch: Rows::scratch(kernel.rows).0 * LANES as u32,
                kept: Vec::new(),
                offsets: [0; LANES],
                scalars: std::mem::take(scalars),
            },
            #[cfg(feature = "compile")]
            machine,
            worker,
            index: [0; 3],
            rank: 0,
            shared_base: 0,
            shared: std::mem::take(shared),
            arrived: [0; 16],
            instructions: 0,
            rounds: 0,
            parts: Some(parts),
        };
        if stale {
            let wanted = |special: &Special, _| !depends_on_block(special);
            set_varying(launch, worker, &mut block.warps, wanted, [0; 3]);
        }
        block
    }

    pub(in crate::exec) fn start(&mut self, index: [u32; 3]) {
        self.index = index;
        if self.launch.is_clustered() {
            self.rank = self.launch.rank(index);
            self.shared_base = self.rank << RANK_SHIFT;
        }
        self.enter_cluster();
        self.rounds = 0;
        self.arrived = [0; 16];
        self.copies.clear();
        self.checks.shadow.clear();
        let check_init = self.launch.options.check_init;
        if check_init {
            self.checks.shadow.written.start(self.launch.shared_bytes as usize);
        }
        if let Some(clocks) = &mut self.checks.clocks {
            clocks.reset(self.launch.number(index));
        }
        let (launch, worker) = (self.launch, self.worker);
        let scalars = self.vector.scalars.usable;
        for warp in &mut self.warps {
            let first = warp.index * LANES as u32;
            let count = (launch.threads - first).min(LANES as u32);
            if check_init != warp.local_written.is_some() {
                warp.local_written = check_init.then(Written::default);
            }
            warp.start(u32::MAX >> (LANES as u32 - count), launch.args.kernel, launch.unwritten);
            warp.rows_only = !scalars;
            if let Some(suspects) = &launch.suspects {
                warp.registers.start(launch.args.kernel, suspects);
            }
            warp.nans.clear();
        }
        if scalars {
            self.vector.scalars.start(launch, index);
        }
        let is_read = |register| !scalars || launch.steps.is_none_or(|steps| reads_row(steps, register));
        let wanted = |special: &Special, register| depends_on_block(special) && is_read(register);
        set_varying(launch, worker, &mut self.warps, wanted, index);
        for (register, width, offset) in &launch.shared_addresses {
            if is_read(*register) {
                let address = u64::from(self.shared_base) + offset;
                self.warps.iter_mut().for_each(|warp| warp.rows.fill(*register, *width, address));
            }
        }
    }

    #[inline]
    pub(in crate::exec) fn worker(&self) -> usize {
        self.worker
    }

    #[inline]
    pub(in crate::exec) fn index(&self) -> [u32; 3] {
        self.index
    }

    /// Returns its rank in its cluster.
    #[inline]
    pub(in crate::exec) fn rank(&self) -> u32 {
        self.rank
    }

    /// Returns the address of its shared memory, in the shared window.
    #[inline]
    pub(in crate::exec) fn shared_base(&self) -> u32 {
        self.shared_base
    }

    /// Returns the first byte of its shared memory on the host.
    #[inline]
    pub(in crate::exec) fn shared(&mut self) -> *mut u8 {
        self.shared.as_mut_ptr().cast()
    }

    /// Returns the number of instructions that its warps ran.
    #[inline]
    pub(in crate::exec) fn instructions(&self) -> u64 {
        self.instructions
    }

    #[inline]
    pub(in crate::exec) fn count_instructions(&mut self, count: u64) {
        self.instructions += count;
    }

    /// Returns the number of turns of its warps, the current one included.
    #[inline]
    pub(in crate::exec) fn rounds(&self) -> u64 {
        self.rounds
    }

    #[inline]
    pub(in crate::exec) fn begin_round(&mut self) {
        self.rounds += 1;
    }

    pub(in crate::exec) fn take_instructions(&mut self) -> u64 {
        std::mem::take(&mut self.instructions)
    }
}

/// Takes the parts of an earlier launch, or new ones, and prepares them for this launch.
fn prepared(launch: &Launch<'_>) -> Box<Parts> {
    let kernel = launch.args.kernel;
    // Rows and the forms of machine code use constant rows differently, and so do clusters.
    let form = launch.machine_form.map_or(0, |form| form as u64 + 1);
    let mode = u64::from(launch.steps.is_some()) | form << 1;
    let key = kernel.id << 8 | u64::from(launch.is_clustered()) << 7 | mode;
    let mut parts = Parts::take(key, launch.args.block);
    let fresh = parts.warps.is_empty();
    if fresh {
        let warps = launch.threads.div_ceil(LANES as u32);
        parts.warps = (0..warps).map(|index| Warp::new(kernel, index)).collect();
        parts.caches = vec![Cached::EMPTY; kernel.caches as usize + 1];
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
    parts
}

impl Drop for Block<'_, '_> {
    fn drop(&mut self) {
        let Some(mut parts) = self.parts.take() else { return };
        parts.warps = std::mem::take(&mut self.warps);
        parts.shared = std::mem::take(&mut self.shared);
        parts.caches = std::mem::take(&mut self.caches);
        parts.scalars = std::mem::take(&mut self.vector.scalars);
        #[cfg(feature = "compile")]
        {
            parts.machine = std::mem::take(&mut self.machine);
        }
        parts.keep();
    }
}
