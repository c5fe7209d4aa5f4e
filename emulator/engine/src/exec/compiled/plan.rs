//! Stops, entries, and the registers that each needs.

use super::calls;
use crate::program::blocks::Blocks;
use crate::program::effects::{self, Course};
use crate::program::instruction::{Condition, Instruction, Op};
use crate::program::memory::{Access, AtomicOperation};
use crate::program::types::Type;
use crate::program::{Kernel, RowKind};
use crate::ptx::Space;
use crate::semantics::{Register, Width};
use std::collections::HashMap;

/// Maximum total size of all sets in words (4 MiB).
const MOST_WORDS: usize = 1 << 19;
/// Maximum number of passes over all blocks.
const MOST_ROUNDS: usize = 64;

/// No stop or entry.
pub(super) const NONE: u32 = u32::MAX;

/// A set of registers, by their first row, and of predicates, after all rows.
pub(super) type Set = Vec<u64>;

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
    /// Registers that a stop has to store: live, and written since the entry.
    pub(super) stored: HashMap<u32, Vec<u32>>,
    /// Registers that an entry has to load.
    pub(super) loaded: HashMap<u32, Vec<u32>>,
    /// Registers that a call has to keep: live after it, and no results.
    pub(super) kept: HashMap<u32, Vec<u32>>,
}

impl Plan {
    /// Returns `None` for kernels that machine code does not support.
    pub(super) fn of(kernel: &Kernel) -> Option<Plan> {
        if !kernel.independent_lanes || !is_supported(kernel) {
            return None;
        }
        let blocks = Blocks::of(kernel);
        let count = kernel.code.len();
        let mut plan = Plan {
            stops: Vec::new(),
            stop_of: vec![NONE; count],
            entries: Vec::new(),
            entry_of: vec![NONE; count],
            leads: vec![false; count + 1],
            stored: HashMap::new(),
            loaded: HashMap::new(),
            kept: HashMap::new(),
        };
        plan.find_places(kernel, &blocks);
        let words = ((kernel.rows + kernel.predicates) as usize).div_ceil(64);
        if (blocks.count() * 2 + plan.stops.len() + plan.entries.len()) * words > MOST_WORDS {
            return None;
        }
        let live = plan.find_live(kernel, &blocks, words)?;
        plan.find_stored(kernel, &blocks, words, &live)?;
        for pc in &plan.entries {
            plan.loaded.insert(*pc, members(&live[pc]));
        }
        Some(plan)
    }

    fn find_places(&mut self, kernel: &Kernel, blocks: &Blocks) {
        let mut entries = vec![0];
        entries.extend(kernel.functions.iter().map(|function| function.entry as usize));
        for block in 0..blocks.count() {
            self.leads[blocks.range(block).start] = true;
        }
        kernel.functions.iter().for_each(|function| self.leads[function.entry as usize] = true);
        for (pc, instruction) in kernel.code.iter().enumerate() {
            let stops = is_stop(kernel, instruction);
            if stops {
                self.add_stop(pc as u32);
                if course_goes_on(&instruction.op) {
                    entries.push(pc + 1);
                }
            }
            if calls::jumps(kernel, instruction) {
                self.add_stop(pc as u32);
                entries.push(pc + 1);
            }
            if let Course::Jump(targets) = effects::course(&instruction.op) {
                if targets.len() != 1 || matches!(instruction.op, Op::BranchIndexed { .. }) {
                    self.add_stop(pc as u32);
                }
                for target in targets.iter().filter(|target| **target as usize <= pc) {
                    self.add_stop(*target);
                    entries.push(*target as usize);
                }
                self.leads[pc + 1] = true;
                targets.iter().for_each(|target| self.leads[*target as usize] = true);
            }
        }
        entries.sort_unstable();
        entries.dedup();
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

    fn add_stop(&mut self, pc: u32) {
        if self.stop_of[pc as usize] == NONE {
            self.stop_of[pc as usize] = self.stops.len() as u32;
            self.stops.push(pc);
        }
    }

    fn is_marked(&self, pc: usize) -> bool {
        self.stop_of[pc] != NONE || self.entry_of[pc] != NONE
    }

    /// Returns the live registers at each stop and entry, and finds those after calls.
    fn find_live(&mut self, kernel: &Kernel, blocks: &Blocks, words: usize) -> Option<HashMap<u32, Set>> {
        let mut live_in = vec![0u64; blocks.count() * words];
        let mut order: Vec<usize> = (0..blocks.count()).collect();
        order.sort_unstable_by_key(|block| std::cmp::Reverse(blocks.rank(*block)));
        let at_end = |block: usize, live_in: &[u64]| union(blocks.successors(block), live_in, words);
        settle(|| {
            let mut changed = false;
            for block in &order {
                let mut set = at_end(*block, &live_in);
                blocks.range(*block).rev().for_each(|pc| before(kernel, pc, &mut set));
                let known = &mut live_in[block * words..(block + 1) * words];
                changed |= *known != set[..];
                known.copy_from_slice(&set);
            }
            changed
        })?;
        let mut live = HashMap::new();
        for block in 0..blocks.count() {
            let mut set = at_end(block, &live_in);
            for pc in blocks.range(block).rev() {
                if calls::jumps(kernel, &kernel.code[pc]) {
                    let mut kept = set.clone();
                    effects::writes(&kernel.code[pc], &mut |result, _| put(&mut kept, result.0, false));
                    self.kept.insert(pc as u32, members(&kept));
                }
                before(kernel, pc, &mut set);
                if self.is_marked(pc) {
                    live.insert(pc as u32, set.clone());
                }
            }
        }
        Some(live)
    }

    /// Finds the registers that may have been written since an entry, and are live, at each stop.
    fn find_stored(
        &mut self,
        kernel: &Kernel,
        blocks: &Blocks,
        words: usize,
        live: &HashMap<u32, Set>,
    ) -> Option<()> {
        let mut predecessors = vec![Vec::new(); blocks.count()];
        for block in 0..blocks.count() {
            blocks.successors(block).iter().for_each(|next| predecessors[*next].push(block));
        }
        let mut order: Vec<usize> = (0..blocks.count()).collect();
        order.sort_unstable_by_key(|block| blocks.rank(*block));
        let mut at_end = vec![0u64; blocks.count() * words];
        settle(|| {
            let mut changed = false;
            for block in &order {
                let mut set = union(&predecessors[*block], &at_end, words);
                written_by_calls(kernel, blocks, *block, &mut set);
                blocks.range(*block).for_each(|pc| after(kernel, pc, &mut set));
                let known = &mut at_end[block * words..(block + 1) * words];
                changed |= *known != set[..];
                known.copy_from_slice(&set);
            }
            changed
        })?;
        for (block, predecessors) in predecessors.iter().enumerate() {
            let mut set = union(predecessors, &at_end, words);
            written_by_calls(kernel, blocks, block, &mut set);
            for pc in blocks.range(block) {
                if self.stop_of[pc] != NONE {
                    let live = &live[&(pc as u32)];
                    let both: Set = set.iter().zip(live).map(|(written, live)| written & live).collect();
                    self.stored.insert(pc as u32, members(&both));
                }
                after(kernel, pc, &mut set);
            }
        }
        Some(())
    }
}

/// Adds the parameters of a function to the registers written before its first block.
fn written_by_calls(kernel: &Kernel, blocks: &Blocks, block: usize, set: &mut Set) {
    let start = blocks.range(block).start as u32;
    let functions = kernel.functions.iter().filter(|function| function.entry == start);
    functions.flat_map(|function| &function.params).for_each(|param| put(set, param.0, true));
}

/// Repeats passes until nothing changes; `None` if that takes too many.
fn settle(mut pass: impl FnMut() -> bool) -> Option<()> {
    (0..MOST_ROUNDS).any(|_| !pass()).then_some(())
}

fn union(of: &[usize], sets: &[u64], words: usize) -> Set {
    let mut set = vec![0; words];
    for one in of {
        set.iter_mut().zip(&sets[one * words..(one + 1) * words]).for_each(|(to, from)| *to |= from);
    }
    set
}

fn members(set: &Set) -> Vec<u32> {
    let bits = |(word, bits): (usize, &u64)| {
        let (word, bits) = (word as u32, *bits);
        (0..64).filter(move |bit| bits >> bit & 1 != 0).map(move |bit| word * 64 + bit)
    };
    set.iter().enumerate().flat_map(bits).collect()
}

fn put(set: &mut Set, bit: u32, on: bool) {
    let word = &mut set[bit as usize / 64];
    *word = *word & !(1 << (bit % 64)) | u64::from(on) << (bit % 64);
}

/// Computes the live registers before an instruction from those after it.
fn before(kernel: &Kernel, pc: usize, set: &mut Set) {
    let instruction = &kernel.code[pc];
    if instruction.guard == Condition::ALWAYS {
        effects::writes(instruction, &mut |register, _| put(set, register.0, false));
        effects::predicates(instruction, &mut |predicate| put(set, kernel.rows + predicate.0, false));
    }
    effects::reads(instruction, &mut |register| put(set, register.0, true));
    effects::conditions(instruction, &mut |predicate| put(set, kernel.rows + predicate.0, true));
    if matches!(instruction.op, Op::Return) {
        let function = calls::function_at(kernel, pc as u32);
        function
            .iter()
            .flat_map(|function| &function.returns)
            .for_each(|register| put(set, register.0, true));
    }
}

/// Computes the registers written since an entry after an instruction from those before it.
fn after(kernel: &Kernel, pc: usize, set: &mut Set) {
    let instruction = &kernel.code[pc];
    if is_stop(kernel, instruction) {
        if instruction.guard == Condition::ALWAYS {
            set.fill(0);
        }
        return;
    }
    effects::writes(instruction, &mut |register, _| put(set, register.0, true));
    effects::predicates(instruction, &mut |predicate| put(set, kernel.rows + predicate.0, true));
}

fn course_goes_on(op: &Op) -> bool {
    !matches!(effects::course(op), Course::End)
}

/// True if each operation names whole registers, and no operation relies on lanes in lockstep.
fn is_supported(kernel: &Kernel) -> bool {
    let known = |register: Register| {
        kernel.row_kinds.get(register.0 as usize).is_some_and(|kind| *kind != RowKind::Upper)
    };
    kernel.code.iter().all(|instruction| {
        let mut good = match &instruction.op {
            Op::WarpGroup(_) => false,
            Op::Load(access) | Op::Store(access) => !relies_on_lockstep(access),
            _ => true,
        };
        effects::reads(instruction, &mut |register| good &= known(register));
        // A write changes all of a register and no other. `before` and `after` rely on it.
        effects::writes(instruction, &mut |register, width| {
            let wide = kernel.row_kinds.get(register.0 as usize) == Some(&RowKind::Lower);
            good &= known(register) && wide == (width == Width::Double);
        });
        good
    })
}

/// True for volatile accesses to shared memory, which older programs use in place of barriers.
fn relies_on_lockstep(access: &Access) -> bool {
    access.order.is_strong() && matches!(access.space, Some(Space::Shared | Space::SharedCluster))
}

/// True if an instruction has no machine code.
pub(super) fn is_stop(kernel: &Kernel, instruction: &Instruction) -> bool {
    let is = |register: Register, width: Width| {
        let wide = kernel.row_kinds[register.0 as usize] == RowKind::Lower;
        width == Width::None || wide == (width == Width::Double)
    };
    let all = |registers: &[Register], width| registers.iter().all(|register| is(*register, width));
    !match &instruction.op {
        Op::Pure { info, out, sources } => {
            is(*out, info.out) && sources.iter().zip(info.sources).all(|(source, width)| is(*source, width))
        }
        Op::Test { info, sources, .. } => {
            // The second operand of a test of one number is unused.
            is(sources[0], info.width) && (info.unary || is(sources[1], info.width))
        }
        Op::Logic { .. } | Op::Branch { .. } | Op::Fence(_) => true,
        Op::Select { width, out, a, b, .. } => all(&[*out, *a, *b], *width),
        Op::Carry(carry) => is(carry.out, carry.width) && all(&carry.sources, carry.width),
        Op::Load(access) | Op::Store(access) => {
            let bytes = access.bytes as usize * access.registers.len();
            is(access.address.base, access.address.width)
                && all(&access.registers, access.width)
                && access.bytes <= if access.width == Width::Double { 8 } else { 4 }
                && bytes.is_power_of_two()
                && bytes <= 64
        }
        Op::Atomic(atomic) => {
            let width = if atomic.ty.bytes() == 8 { Width::Double } else { Width::Single };
            atomic.ty != Type::B128
                && is(atomic.address.base, atomic.address.width)
                && is(atomic.operands[0], width)
                && (atomic.operation != AtomicOperation::CompareExchange || is(atomic.operands[1], width))
                && atomic.out.is_none_or(|out| is(out, width))
        }
        Op::Call(call) => calls::is_jump(kernel, call),
        Op::LocalAddress { out, width, .. } => is(*out, *width),
        Op::BranchIndexed { index, .. } => is(*index, Width::Single),
        _ => false,
    }
}
