//! Stops, entries, and the blocks of machine code.

use super::groups::Groups;
use super::live::Live;
use super::quads::{Arms, Crossings, Search, Shapes, find_joins, may_part};
use super::subnormal;
use super::sums;
use super::support::{self, course_goes_on, is_stop, is_supported};
use crate::program::Kernel;
use crate::program::blocks::Blocks;
use crate::program::effects::{self, Course};
use crate::program::instruction::{Instruction, Op};
use crate::semantics::LANES;
use std::collections::{HashMap, HashSet};

/// Maximum number of instructions of a kernel. Larger ones would take long to compile.
const MOST_INSTRUCTIONS: usize = 20_000;

/// Live registers at the beginnings of all blocks, and at the ways into them, that a kernel may
/// have in addition to [`MOST_LIVE`] for each instruction. Others would take long to compile.
const ALWAYS: usize = 4000;
const MOST_LIVE: usize = 20;
/// The same for live registers at accesses.
const MOST_CROSSED: usize = 100;

/// Maximum numbers of instructions, of accesses, of live registers at one position, and at all
/// accesses and blocks, of kernels that are optimized. The time for it grows with their square.
const OPTIMIZED: [usize; 4] = [4000, 512, 256, 20000];
const OPTIMIZED_QUADS: [usize; 4] = [1500, 256, 256, 16000];
const OPTIMIZED_WARPS: [usize; 4] = [600, 128, 128, 2500];

/// No stop or entry.
pub(super) const NONE: u32 = u32::MAX;

pub(super) struct Plan {
    /// Position of each stop, and the heads of loops.
    pub(super) stops: Vec<u32>,
    /// Number of the stop at each position, or [`NONE`].
    pub(super) stop_of: Vec<u32>,
    /// Position of each entry.
    pub(super) entries: Vec<u32>,
    /// Number of the entry at each position, or [`NONE`].
    pub(super) entry_of: Vec<u32>,
    /// Positions where blocks of machine code begin.
    pub(super) leads: Vec<bool>,
    /// True for these positions if code after them may jump to them, or if functions begin there.
    pub(super) open: Vec<bool>,
    /// True for entries that only lanes of quads take.
    pub(super) parts: Vec<bool>,
    /// Pieces of code that quads run with a guard.
    pub(super) arms: Arms,
    /// Instructions that a whole warp performs at once, if whole warps run together.
    pub(super) crossings: Option<Crossings>,
    /// The place where lanes that part at a position join.
    pub(super) joins: HashMap<u32, u32>,
    /// True for these places.
    pub(super) is_join: Vec<bool>,
    /// Shapes of the registers in quads, if there is code for them.
    pub(super) shapes: Option<Shapes>,
    pub(super) groups: Groups,
    pub(super) live: Live,
    /// Live registers that are not subnormal, at the beginnings of blocks.
    pub(super) normal: HashMap<u32, Vec<u32>>,
    /// Instructions whose results are computed at once.
    pub(super) sums: HashSet<u32>,
    /// True if optimizing it would take too long.
    pub(super) is_large: bool,
}

impl Plan {
    /// Returns `None` for kernels that machine code does not support.
    /// If several `lanes` run together, lanes may enter wherever they may part.
    pub(super) fn of(kernel: &Kernel, lanes: usize) -> Option<Plan> {
        let whole =
            Plan::with_arms(kernel, lanes, |search, shapes| search.all(|branch| shapes.may_differ(branch)))?;
        let shorter = lanes > 1 && whole.is_large;
        if shorter { Plan::with_arms(kernel, lanes, |search, _| search.short()) } else { Some(whole) }
    }

    /// The same with some of the arms.
    fn with_arms(
        kernel: &Kernel,
        lanes: usize,
        arms: impl FnOnce(&Search<'_>, &Shapes) -> Arms,
    ) -> Option<Plan> {
        let small = kernel.code.len() <= MOST_INSTRUCTIONS;
        if !small || !kernel.independent_lanes || !is_supported(kernel) {
            return None;
        }
        let blocks = Blocks::of(kernel);
        let joins = if lanes > 1 { find_joins(&blocks) } else { Vec::new() };
        let count = kernel.code.len();
        let mut plan = Plan {
            stops: Vec::new(),
            stop_of: vec![NONE; count],
            entries: Vec::new(),
            entry_of: vec![NONE; count],
            leads: vec![false; count + 1],
            open: vec![false; count],
            parts: vec![false; count],
            crossings: (lanes == LANES).then(|| Crossings::of(kernel)),
            joins: HashMap::new(),
            is_join: vec![false; count],
            shapes: None,
            arms: Arms::default(),
            groups: Groups::default(),
            live: Live::default(),
            normal: HashMap::new(),
            sums: HashSet::new(),
            is_large: false,
        };
        if lanes > 1 {
            let search = Search { kernel, blocks: &blocks, joins: &joins };
            let crossings = plan.crossings.as_ref();
            let shapes = Shapes::of(kernel, &blocks, (&search.short(), crossings), lanes);
            plan.arms = arms(&search, &shapes);
            plan.shapes = Some(Shapes::of(kernel, &blocks, (&plan.arms, crossings), lanes));
        }
        plan.find_places(kernel, &blocks, &joins);
        plan.groups = Groups::of(kernel, &plan.leads);
        plan.live = Live::of(kernel, &plan, &blocks)?;
        plan.normal = subnormal::find(kernel, &blocks, &plan.live.at);
        let Live { joined, accesses, crossed, most, .. } = plan.live;
        let sizes = [count, accesses, most, joined + crossed];
        let optimized = match lanes {
            1 => OPTIMIZED,
            LANES => OPTIMIZED_WARPS,
            _ => OPTIMIZED_QUADS,
        };
        plan.is_large = sizes.iter().zip(optimized).any(|(size, most)| *size > most);
        if !plan.is_large {
            plan.sums = sums::find(kernel, &plan.leads);
        }
        let usual = joined <= ALWAYS + MOST_LIVE * count && crossed <= ALWAYS + MOST_CROSSED * count;
        usual.then_some(plan)
    }

    /// Returns the time that it takes to compile, in instructions of usual kernels: 10 to 60 us
    /// each for single lanes, and three times as long for quads.
    pub(super) fn effort(&self) -> u64 {
        (self.stop_of.len() + self.arms.size() + (self.live.joined + self.live.crossed) / 16) as u64
    }

    /// Returns the live registers at a position where a block of machine code begins.
    pub(super) fn live_at(&self, pc: u32) -> &[u32] {
        self.live.at.get(&pc).map_or(&[], Vec::as_slice)
    }

    /// Returns the registers that a stop has to store.
    pub(super) fn stored_at(&self, pc: u32) -> &[u32] {
        self.live.stored.get(&pc).map_or(&[], Vec::as_slice)
    }

    fn find_places(&mut self, kernel: &Kernel, blocks: &Blocks, joins: &[Option<u32>]) {
        let mut entries = vec![0];
        entries.extend(kernel.functions.iter().map(|function| function.entry as usize));
        for block in 0..blocks.count() {
            self.leads[blocks.range(block).start] = true;
        }
        for entry in kernel.functions.iter().map(|function| function.entry as usize) {
            self.leads[entry] = true;
            self.open[entry] = true;
        }
        for (pc, instruction) in kernel.code.iter().enumerate() {
            let stops = is_stop(kernel, instruction);
            if stops {
                self.add_stop(pc as u32);
                if course_goes_on(&instruction.op) {
                    entries.push(pc + 1);
                }
            }
            if support::jumps(kernel, instruction) {
                self.add_stop(pc as u32);
                self.leads[pc + 1] = true;
                entries.push(pc + 1);
            }
            if let Course::Jump(targets) = effects::course(&instruction.op) {
                if targets.len() != 1 || matches!(instruction.op, Op::BranchIndexed { .. }) {
                    self.add_stop(pc as u32);
                }
                for target in targets.iter().filter(|target| **target as usize <= pc) {
                    self.add_stop(*target);
                    self.open[*target as usize] = true;
                    entries.push(*target as usize);
                }
                self.leads[pc + 1] = true;
                targets.iter().for_each(|target| self.leads[*target as usize] = true);
            }
        }
        entries.sort_unstable();
        entries.dedup();
        self.find_parting(kernel, (blocks, joins), &mut entries);
        for pc in entries {
            // The plain mode runs a lane that is at a stop.
            let runs =
                |next: &Instruction| !is_stop(kernel, next) && !matches!(next.op, Op::BranchIndexed { .. });
            if kernel.code.get(pc).is_some_and(runs) {
                self.entry_of[pc] = self.entries.len() as u32;
                self.entries.push(pc as u32);
                self.leads[pc] = true;
            }
        }
    }

    /// Adds the entries of lanes of quads where they part, where they join, and after arms. They
    /// store their registers there as at stops.
    fn find_parting(
        &mut self,
        kernel: &Kernel,
        (blocks, joins): (&Blocks, &[Option<u32>]),
        entries: &mut Vec<usize>,
    ) {
        let Some(shapes) = &self.shapes else { return };
        let code = kernel.code.iter().enumerate();
        let code = code.take(support::own_code(kernel));
        let parting = code.filter(|(_, next)| may_part(kernel, next, shapes)).map(|(pc, _)| pc);
        let parting = parting.collect::<Vec<_>>();
        let waiting = self.arms.starts().map(|start| start as usize).collect::<Vec<_>>();
        for pc in parting.iter().chain(&waiting) {
            self.parts[*pc] = entries.binary_search(pc).is_err();
        }
        let mut added: Vec<usize> = self.arms.ends().map(|end| end as usize).collect();
        added.iter().for_each(|end| self.is_join[*end] = true);
        for pc in &parting {
            let join = joins[blocks.at(*pc as u32)];
            let goes_on = |join: &u32| self.crosses(*join) || !is_stop(kernel, &kernel.code[*join as usize]);
            let join = join.filter(goes_on);
            let Some(join) = join else { continue };
            self.joins.insert(*pc as u32, join);
            self.is_join[join as usize] = true;
            self.open[join as usize] |= join as usize <= *pc;
            added.push(join as usize);
        }
        added.iter().for_each(|pc| self.parts[*pc] = false);
        added.extend(parting.into_iter().chain(waiting));
        added.iter().for_each(|pc| self.add_stop(*pc as u32));
        entries.extend(added);
        entries.sort_unstable();
        entries.dedup();
    }

    /// True if a whole warp performs an instruction at once.
    pub(super) fn crosses(&self, pc: u32) -> bool {
        self.crossings.as_ref().is_some_and(|crossings| crossings.contains(pc))
    }

    fn add_stop(&mut self, pc: u32) {
        if self.stop_of[pc as usize] == NONE {
            self.stop_of[pc as usize] = self.stops.len() as u32;
            self.stops.push(pc);
        }
    }
}
