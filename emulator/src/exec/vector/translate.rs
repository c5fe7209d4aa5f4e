//! Decoded instructions to steps: what the vector mode runs.
//!
//! A step holds the function for this processor and the offsets of its rows. Instructions that only copy a constant
//! row disappear: who reads the copy reads the constant. Instructions without a step of their own kind are left to
//! the plain mode.

use super::super::semantics::{LANES, PureFn, Width, bits, pure};
use super::memory::{self, AccessFn, MOST_ELEMENTS, Source};
use super::rows::{BlendRows, Level, PureRows, TestRows, blends};
use crate::program::instruction::{
    self, BarrierKind, Collective, Condition, Constant, Instruction, Logic, Op, Register,
};
use crate::program::{Kernel, Predicate};
use crate::ptx::Space;
use std::collections::HashMap;

/// A kernel in steps.
#[derive(Debug)]
pub(crate) struct Steps {
    pub(super) steps: Vec<Step>,
    /// The step that an instruction, or the next one that has any, became.
    pub(super) of_pc: Vec<u32>,
    /// Registers that hold a constant throughout, and are read by the plain mode.
    pub(crate) constants: Vec<(Register, Width, Constant)>,
    /// Blends of single and double rows, for masks.
    pub(super) blends: [BlendRows; 2],
}

/// A predicate or its opposite.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Guard(u32);

impl Guard {
    pub(super) const ALWAYS: Guard = Guard(0);

    fn of(condition: Condition) -> Self {
        Guard(condition.predicate.0 << 1 | u32::from(condition.negated))
    }

    /// The lanes where it holds, given the predicates.
    ///
    /// # Safety
    /// `predicates` holds all predicates of the kernel.
    #[inline(always)]
    pub(super) unsafe fn lanes(self, predicates: *const u32) -> u32 {
        // SAFETY: as the caller says.
        let bits = unsafe { *predicates.add((self.0 >> 1) as usize) };
        bits ^ 0u32.wrapping_sub(self.0 & 1)
    }
}

/// What a step does. Rows are offsets in cells.
#[derive(Debug)]
pub(super) enum Action {
    Pure {
        run: PureRows,
        out: u32,
        sources: [u32; 4],
        double: bool,
    },
    /// An operation that is not compiled over rows.
    PureLanes {
        run: PureFn,
        out: Register,
        sources: [Register; 4],
    },
    Test {
        run: TestRows,
        sources: [u32; 4],
        out: u32,
    },
    /// A comparison with more than one result, or combined with a predicate.
    TestAnd(Box<CombinedTest>),
    Logic {
        logic: Logic,
        out: u32,
        a: Guard,
        b: Guard,
    },
    Select {
        out: u32,
        a: u32,
        b: u32,
        condition: Guard,
        double: bool,
    },
    Load(Box<AccessStep>),
    Store(Box<AccessStep>),
    /// To a step.
    Branch(u32),
    /// A barrier for the whole block: the row of its number.
    Barrier(u32),
    Exit,
    /// For the plain mode. `parts`: lanes may go different ways afterwards, or wait.
    Plain {
        parts: bool,
    },
}

#[derive(Debug)]
pub(super) struct CombinedTest {
    pub(super) run: TestRows,
    pub(super) sources: [u32; 4],
    pub(super) out: Predicate,
    pub(super) inverse: Option<Predicate>,
    pub(super) combine: Option<(Logic, Guard)>,
}

#[derive(Debug)]
pub(super) struct AccessStep {
    pub(super) run: AccessFn,
    pub(super) access: memory::Access,
    pub(super) space: AccessSpace,
    pub(super) cache: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum AccessSpace {
    Global,
    Shared,
}

#[derive(Debug)]
pub(super) struct Step {
    pub(super) action: Action,
    pub(super) guard: Guard,
    /// The instruction it came from.
    pub(super) pc: u32,
    /// The first of the instructions it stands for: where lanes that come here meet.
    pub(super) entry: u32,
    /// Rank of its block.
    pub(super) rank: u32,
    /// How many instructions it stands for: itself, and those before it that disappeared.
    pub(super) weight: u32,
    /// The next step belongs to another block.
    pub(super) ends_block: bool,
}

/// Translates a kernel for this processor; `None` if that is for the plain mode only.
pub(crate) fn translate(kernel: &Kernel) -> Option<Steps> {
    Some(Translator::new(kernel, Level::detect()?).run())
}

struct Translator<'k> {
    kernel: &'k Kernel,
    level: Level,
    /// The constant row that stands for a register, and its value.
    copies: HashMap<Register, (Register, Width, Constant)>,
    read_plainly: Vec<Register>,
}

impl<'k> Translator<'k> {
    fn new(kernel: &'k Kernel, level: Level) -> Self {
        let mut translator = Translator { kernel, level, copies: HashMap::new(), read_plainly: Vec::new() };
        translator.find_copies();
        translator
    }

    /// Finds registers that are written once, without a guard, with the value of a constant row.
    fn find_copies(&mut self) {
        let Some(writes) = count_writes(self.kernel) else { return };
        let constants: HashMap<Register, (Width, Constant)> =
            self.kernel.constants.iter().map(|(row, width, constant)| (*row, (*width, *constant))).collect();
        for instruction in &self.kernel.code {
            let Some((out, source, width)) = as_copy(instruction) else { continue };
            let rows = if width == Width::Double { 2 } else { 1 };
            if (0..rows).any(|row| writes[(out.0 + row) as usize] != 1) {
                continue;
            }
            let root = self.copies.get(&source).copied();
            let root = root.or_else(|| constants.get(&source).map(|(width, value)| (source, *width, *value)));
            if let Some(root) = root.filter(|(_, root_width, _)| *root_width == width) {
                self.copies.insert(out, root);
            }
        }
    }

    fn run(mut self) -> Steps {
        let kernel = self.kernel;
        let mut steps: Vec<Step> = Vec::with_capacity(kernel.code.len());
        let mut of_pc = Vec::with_capacity(kernel.code.len());
        let mut gone = 0;
        for (pc, instruction) in kernel.code.iter().enumerate() {
            of_pc.push(steps.len() as u32);
            let dropped = as_copy(instruction).is_some_and(|(out, ..)| self.copies.contains_key(&out));
            let last_of_block = kernel.ranks.get(pc + 1) != kernel.ranks.get(pc);
            if dropped && !last_of_block {
                gone += 1;
                continue;
            }
            steps.push(Step {
                action: self.action(&instruction.op),
                guard: Guard::of(instruction.guard),
                pc: pc as u32,
                entry: pc as u32 - gone,
                rank: kernel.ranks[pc],
                weight: 1 + std::mem::take(&mut gone),
                ends_block: last_of_block,
            });
        }
        for step in &mut steps {
            if let Action::Branch(target) = &mut step.action {
                *target = of_pc[*target as usize];
            }
        }
        let copies = &self.copies;
        let mut constants: Vec<_> = self
            .read_plainly
            .iter()
            .filter_map(|read| copies.get(read).map(|(_, width, constant)| (*read, *width, *constant)))
            .collect();
        constants.sort_unstable_by_key(|(register, ..)| register.0);
        constants.dedup_by_key(|(register, ..)| register.0);
        let level = self.level as usize;
        Steps { steps, of_pc, constants, blends: [blends::<u32>()[level], blends::<u64>()[level]] }
    }

    /// The row that a register's value is read from.
    fn row(&self, register: Register) -> u32 {
        offset(self.copies.get(&register).map_or(register, |(root, ..)| *root))
    }

    fn action(&mut self, op: &Op) -> Action {
        match op {
            Op::Pure { info, out, sources } => match info.rows {
                Some(rows) => Action::Pure {
                    run: rows[self.level as usize],
                    out: offset(*out),
                    sources: sources.map(|source| self.row(source)),
                    double: info.out == Width::Double,
                },
                None => Action::PureLanes {
                    run: info.plain,
                    out: *out,
                    sources: sources.map(|source| Register(self.row(source) / LANES as u32)),
                },
            },
            Op::Test { info, out, inverse, sources, combine } => {
                let Some(rows) = info.rows else {
                    self.read_plainly.extend(sources);
                    return Action::Plain { parts: false };
                };
                let run = rows[self.level as usize];
                let [a, b] = sources.map(|source| self.row(source));
                let sources = [a, b, a, a];
                if inverse.is_none() && combine.is_none() {
                    return Action::Test { run, sources, out: out.0 };
                }
                let combine = combine.map(|(logic, condition)| (logic, Guard::of(condition)));
                let (out, inverse) = (*out, *inverse);
                Action::TestAnd(Box::new(CombinedTest { run, sources, out, inverse, combine }))
            }
            Op::Logic { logic, out, a, b } => {
                Action::Logic { logic: *logic, out: out.0, a: Guard::of(*a), b: Guard::of(*b) }
            }
            Op::Select { width, out, a, b, condition } => Action::Select {
                out: offset(*out),
                a: self.row(*a),
                b: self.row(*b),
                condition: Guard::of(*condition),
                double: *width == Width::Double,
            },
            Op::Load(access) => self.access(access, true).map_or_else(|| self.plain(op), Action::Load),
            Op::Store(access) => self.access(access, false).map_or_else(|| self.plain(op), Action::Store),
            Op::Branch { target } => Action::Branch(*target),
            Op::Barrier { kind: BarrierKind::Sync, id, count: None } => {
                self.read_plainly.push(*id);
                Action::Barrier(self.row(*id))
            }
            Op::Exit => Action::Exit,
            _ => self.plain(op),
        }
    }

    /// The step of a load or store, if it is of a common kind. The plain mode must be able to run it too.
    fn access(&mut self, access: &instruction::Access, is_load: bool) -> Option<Box<AccessStep>> {
        self.read_plainly.push(access.address.base);
        if !is_load {
            self.read_plainly.extend(&access.registers);
        }
        let space = match access.space {
            // Generic addresses mostly mean global memory; the plain mode handles those that do not.
            Some(Space::Global | Space::Const) | None => AccessSpace::Global,
            Some(Space::Shared) => AccessSpace::Shared,
            _ => return None,
        };
        if access.strong && space == AccessSpace::Global || access.registers.len() > MOST_ELEMENTS {
            return None;
        }
        let mut registers = [0; MOST_ELEMENTS];
        for (to, register) in registers.iter_mut().zip(&access.registers) {
            *to = if is_load { offset(*register) } else { self.row(*register) };
        }
        let ready = memory::Access {
            source: if access.address.width == Width::Double { Source::Wide } else { Source::Narrow },
            address: self.row(access.address.base),
            offset: access.address.offset as u64,
            bytes: access.bytes,
            elements: access.registers.len() as u32,
            registers,
            wide: access.width == Width::Double,
            signed: access.signed,
        };
        let run = memory::function(self.level, &ready, is_load)?;
        Some(Box::new(AccessStep { run, access: ready, space, cache: access.cache }))
    }

    fn plain(&mut self, op: &Op) -> Action {
        let parts = match op {
            Op::Load(_) | Op::Store(_) | Op::LocalAddress { .. } | Op::Fence => false,
            Op::ActiveMask { .. } | Op::Clock { .. } => false,
            Op::Carry(carry) => {
                self.read_plainly.extend(carry.sources);
                false
            }
            Op::Atomic(atomic) => {
                self.read_plainly.push(atomic.address.base);
                self.read_plainly.extend(atomic.operands);
                false
            }
            Op::Return | Op::Exit | Op::Trap | Op::Yield => true,
            // What the others read is not looked into.
            _ => {
                self.read_plainly.extend(self.copies.keys());
                true
            }
        };
        Action::Plain { parts }
    }
}

fn offset(register: Register) -> u32 {
    register.0 * LANES as u32
}

/// Destination, source and width of an instruction that copies a register.
fn as_copy(instruction: &Instruction) -> Option<(Register, Register, Width)> {
    if instruction.guard != Condition::ALWAYS {
        return None;
    }
    let Op::Pure { info, out, sources } = &instruction.op else { return None };
    // Functions with the same address do the same, so a match is certain; a miss would only cost speed.
    let is = |other: &super::super::semantics::PureInfo| info.plain as usize == other.plain as usize;
    let copies = is(pure::<bits::Move32>()) || is(pure::<bits::Move64>());
    copies.then_some((*out, sources[0], info.out))
}

/// How many instructions write each row, if that is easily told.
fn count_writes(kernel: &Kernel) -> Option<Vec<u32>> {
    let mut writes = vec![0u32; kernel.rows as usize + 1];
    let mut write = |register: Register, width: Width| {
        let rows = if width == Width::Double { 2 } else { 1 };
        for row in register.0..register.0 + rows {
            writes[row as usize] += 1;
        }
    };
    for function in &kernel.functions {
        // Written by calls and returns, wherever those are.
        for register in function.params.iter().chain(&function.returns) {
            write(*register, Width::Single);
            write(*register, Width::Single);
        }
    }
    for instruction in &kernel.code {
        match &instruction.op {
            Op::Pure { info, out, .. } => write(*out, info.out),
            Op::Select { width, out, .. } => write(*out, *width),
            Op::Carry(carry) => write(carry.out, carry.width),
            Op::Load(access) => access.registers.iter().for_each(|register| write(*register, access.width)),
            Op::Atomic(atomic) => atomic.out.into_iter().for_each(|out| write(out, Width::Double)),
            Op::LocalAddress { out, width, .. } | Op::Clock { out, width, .. } => write(*out, *width),
            Op::Call(call) => call.results.iter().for_each(|register| write(*register, Width::Single)),
            Op::Barrier { kind: BarrierKind::CountOnes { out, .. }, .. } | Op::ActiveMask { out } => {
                write(*out, Width::Single);
            }
            Op::Collective { operation, .. } => match operation {
                Collective::Shuffle { out, .. }
                | Collective::VoteBallot { out, .. }
                | Collective::MatchAny { out, .. }
                | Collective::MatchAll { out, .. }
                | Collective::Reduce { out, .. }
                | Collective::Elect { out, .. } => write(*out, Width::Single),
                Collective::VoteAll { .. }
                | Collective::VoteAny { .. }
                | Collective::VoteUniform { .. }
                | Collective::WarpBarrier => {}
            },
            Op::Test { .. } | Op::Logic { .. } | Op::Store(_) | Op::Branch { .. } => {}
            Op::BranchIndexed { .. } | Op::Return | Op::Exit | Op::Trap | Op::Barrier { .. } => {}
            Op::Fence | Op::Yield => {}
            // What the others write is not looked into, so no register counts as written once.
            _ => return None,
        }
    }
    Some(writes)
}
