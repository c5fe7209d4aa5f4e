//! Stops, entries, and the blocks of machine code.

use super::calls;
use super::live::Live;
use crate::program::blocks::Blocks;
use crate::program::effects::{self, Course};
use crate::program::instruction::{Instruction, Op};
use crate::program::memory::{Access, AtomicOperation};
use crate::program::types::Type;
use crate::program::{Kernel, RowKind};
use crate::ptx::Space;
use crate::semantics::{Register, Width};

/// Live registers at the beginnings of all blocks, and at the ways into them, that a kernel may
/// have in addition to [`MOST_LIVE`] for each instruction. Others would take long to compile.
const ALWAYS: usize = 4000;
const MOST_LIVE: usize = 20;
/// The same for live registers at accesses.
const MOST_CROSSED: usize = 100;

/// Maximum numbers of instructions, of accesses, of live registers at one position, and at all
/// accesses and blocks, of kernels that are optimized. The time for it grows with their square.
const OPTIMIZED: [usize; 4] = [1500, 80, 64, 4000];

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
    pub(super) live: Live,
    /// True if optimizing it would take too long.
    pub(super) is_large: bool,
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
            open: vec![false; count],
            live: Live::default(),
            is_large: false,
        };
        plan.find_places(kernel, &blocks);
        plan.live = Live::of(kernel, &plan, &blocks)?;
        let Live { joined, accesses, crossed, most, .. } = plan.live;
        let sizes = [count, accesses, most, joined + crossed];
        plan.is_large = sizes.iter().zip(OPTIMIZED).any(|(size, most)| *size > most);
        let usual = joined <= ALWAYS + MOST_LIVE * count && crossed <= ALWAYS + MOST_CROSSED * count;
        usual.then_some(plan)
    }

    /// Returns the live registers at a position where a block of machine code begins.
    pub(super) fn live_at(&self, pc: u32) -> &[u32] {
        self.live.at.get(&pc).map_or(&[], Vec::as_slice)
    }

    /// Returns the registers that a stop has to store.
    pub(super) fn stored_at(&self, pc: u32) -> &[u32] {
        self.live.stored.get(&pc).map_or(&[], Vec::as_slice)
    }

    fn find_places(&mut self, kernel: &Kernel, blocks: &Blocks) {
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
            if calls::jumps(kernel, instruction) {
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
