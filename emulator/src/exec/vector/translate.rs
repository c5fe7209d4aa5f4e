//! Decoded instructions to steps: what the vector mode runs.
//!
//! A step holds the function for this processor and the offsets of its rows. Instructions that only copy a constant
//! row disappear: who reads the copy reads the constant. Instructions without a step of their own kind are left to
//! the plain mode.

use super::super::semantics::{LANES, PureFn, PureInfo, Width, bits, integer, pure};
use super::affine::{Affine, TestKind};
use super::blocks::Blocks;
use super::liveness::{Liveness, may_wait};
use super::memory::{self, AccessFn, MOST_ELEMENTS, Source};
use super::registers::{Uses, visit_writes};
use super::regular::{self, RegularFn};
use super::rows::{BlendRows, Level, PureRows, Shuffle, ShuffleRows, TestRows, blends, shuffles};
use super::scalar::{NoWrap, Operand};
use crate::program::instruction::{
    self, BarrierKind, Collective, Condition, Constant, Instruction, Logic, Op, Register,
};
use crate::program::{Kernel, Predicate, RowKind};
use crate::ptx::Space;
use std::collections::{HashMap, HashSet};

/// A kernel in steps.
#[derive(Debug)]
pub(crate) struct Steps {
    /// For warps whose registers are all in rows.
    pub(super) rows: Code,
    /// For the others.
    pub(super) scalars: Option<Code>,
    pub(super) affine: Option<Affine>,
    /// Shape of the address and size of each access that finds its address in a scalar.
    pub(super) accesses: Vec<(u32, u32)>,
    /// Registers that hold a constant throughout, and are read by the plain mode.
    pub(crate) constants: Vec<(Register, Width, Constant)>,
    /// Blends of single and double rows, for masks.
    pub(super) blends: [BlendRows; 2],
    /// `None` where that is not known: then whatever lanes elsewhere hold is left alone.
    pub(super) liveness: Option<Liveness>,
}

/// Steps in the order of the instructions.
#[derive(Debug)]
pub(super) struct Code {
    pub(super) steps: Vec<Step>,
    /// The step that an instruction, or the next one that has any, became.
    pub(super) of_pc: Vec<u32>,
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
        let bits = unsafe { *predicates.wrapping_add((self.0 >> 1) as usize) };
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
    /// An operation on the first lanes only.
    Scalar(Box<ScalarStep>),
    /// A comparison of registers whose lanes are regular.
    ScalarTest(Box<ScalarTest>),
    /// A load or store whose address is regular.
    ScalarLoad(Box<ScalarAccess>),
    ScalarStore(Box<ScalarAccess>),
    Shuffle {
        run: ShuffleRows,
        shuffle: Shuffle,
        inside: Option<Predicate>,
    },
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
pub(super) struct ScalarStep {
    /// `Err` if the operation is not compiled over rows.
    pub(super) run: Result<PureRows, PureFn>,
    pub(super) out: Operand,
    pub(super) sources: [u32; 4],
    pub(super) no_wrap: Option<NoWrap>,
    /// The result is needed as a row, too.
    pub(super) expand: bool,
}

#[derive(Debug)]
pub(super) struct ScalarTest {
    pub(super) run: TestRows,
    pub(super) kind: TestKind,
    pub(super) operands: [Operand; 2],
    pub(super) out: u32,
}

impl ScalarTest {
    pub(super) fn sources(&self) -> [u32; 4] {
        let [a, b] = self.operands.map(|operand| operand.row);
        [a, b, a, a]
    }
}

#[derive(Debug)]
pub(super) struct ScalarAccess {
    pub(super) run: RegularFn,
    pub(super) address: Operand,
    /// Index of its pattern.
    pub(super) pattern: u32,
    /// The same access with the address in a row.
    pub(super) by_row: Box<AccessStep>,
}

#[derive(Debug)]
pub(super) struct AccessStep {
    pub(super) run: AccessFn,
    pub(super) access: memory::Access,
    pub(super) space: AccessSpace,
    pub(super) cache: u32,
    /// What the plain mode has to run first, since it is no step of its own: it makes the address.
    pub(super) prepare: [Option<u32>; 2],
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum AccessSpace {
    Global,
    Shared,
}

impl AccessSpace {
    /// Of a load or store that has a step of its own. The plain mode runs all others, and finds their addresses where
    /// the registers say.
    pub(super) fn of(access: &instruction::Access) -> Option<AccessSpace> {
        let space = match access.space {
            // Generic addresses mostly mean global memory; the plain mode handles those that do not.
            Some(Space::Global | Space::Const) | None if !access.order.is_strong() => AccessSpace::Global,
            Some(Space::Shared) => AccessSpace::Shared,
            _ => return None,
        };
        let common = memory::is_common(access.bytes, access.width == Width::Double);
        (common && access.registers.len() <= MOST_ELEMENTS).then_some(space)
    }
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
    /// Registers that are no rows, while the code for them is made.
    affine: Option<Affine>,
    accesses: Vec<(u32, u32)>,
    known_accesses: HashMap<(u32, u32), u32>,
    /// The kernel's constant rows.
    constants: HashMap<Register, (Width, Constant)>,
    /// The constant row that stands for a register, and its value.
    copies: HashMap<Register, (Register, Width, Constant)>,
    read_plainly: Vec<Register>,
    /// The plain mode may read any copy.
    all_read_plainly: bool,
    /// `None` in kernels with instructions that are not looked into; copies and addresses are then left alone.
    uses: Option<Uses>,
    /// Accesses that make their addresses themselves, by instruction.
    indexed: HashMap<u32, Indexed>,
    /// Instructions whose results nobody needs any more.
    dropped: HashSet<u32>,
}

/// How far back what makes an address is looked for.
const MOST_DISTANCE: u32 = 256;

/// An address of the form base plus index times the bytes of the access.
struct Indexed {
    base: Register,
    index: Register,
    signed: bool,
    /// The multiplication and the addition.
    instructions: [u32; 2],
}

impl<'k> Translator<'k> {
    fn new(kernel: &'k Kernel, level: Level) -> Self {
        let mut translator = Translator {
            kernel,
            level,
            affine: None,
            accesses: Vec::new(),
            known_accesses: HashMap::new(),
            constants: kernel.constants.iter().map(|(row, width, value)| (*row, (*width, *value))).collect(),
            copies: HashMap::new(),
            read_plainly: Vec::new(),
            all_read_plainly: false,
            uses: Uses::count(kernel),
            indexed: HashMap::new(),
            dropped: HashSet::new(),
        };
        translator.find_copies();
        translator
    }

    /// Finds registers that are written once, without a guard, with the value of a constant row.
    fn find_copies(&mut self) {
        let Some(uses) = &self.uses else { return };
        let constants = &self.constants;
        for instruction in &self.kernel.code {
            let Some((out, source, width)) = as_copy(instruction) else { continue };
            if !uses.written_once(out, width) || self.kernel.unwritten().registers.contains(&out) {
                continue;
            }
            let root = self.copies.get(&source).copied();
            let root = root.or_else(|| constants.get(&source).map(|(width, value)| (source, *width, *value)));
            if let Some(root) = root.filter(|(_, root_width, _)| *root_width == width) {
                self.copies.insert(out, root);
            }
        }
    }

    /// Finds loads and stores whose address is multiplied and added together just before, and drops what only serves
    /// that.
    fn find_indexed(&mut self) {
        self.indexed.clear();
        self.dropped.clear();
        let Some(uses) = &self.uses else { return };
        let mut served: HashMap<[u32; 2], u32> = HashMap::new();
        for (pc, instruction) in self.kernel.code.iter().enumerate() {
            let (Op::Load(access) | Op::Store(access)) = &instruction.op else { continue };
            let regular = self.affine.as_ref().is_some_and(|affine| affine.is_address(access));
            if regular || AccessSpace::of(access).is_none() {
                continue;
            }
            let Some(indexed) = self.find_index(pc as u32, access) else { continue };
            // The index of a product that is no row need be none either.
            let multiplication = &self.kernel.code[indexed.instructions[0] as usize].op;
            let is_scalar = |out| self.affine.as_ref().is_some_and(|affine| affine.scalars.contains_key(out));
            if matches!(multiplication, Op::Pure { out, .. } if is_scalar(out)) {
                continue;
            }
            *served.entry(indexed.instructions).or_default() += 1;
            self.indexed.insert(pc as u32, indexed);
        }
        let unneeded = |pc: u32, times: u32| match &self.kernel.code[pc as usize].op {
            Op::Pure { out, info, .. } => {
                uses.written_once(*out, info.out) && uses.reads[out.0 as usize] == times
            }
            _ => false,
        };
        let mut multiplications: HashMap<u32, u32> = HashMap::new();
        for ([multiplication, addition], times) in served {
            if unneeded(addition, times) {
                self.dropped.insert(addition);
                *multiplications.entry(multiplication).or_default() += 1;
            }
        }
        for (multiplication, times) in multiplications {
            if unneeded(multiplication, times) {
                self.dropped.insert(multiplication);
            }
        }
    }

    /// The address of an access as base and index, if it was made in its block, and nothing changed since.
    fn find_index(&self, pc: u32, access: &instruction::Access) -> Option<Indexed> {
        if access.address.width != Width::Double {
            return None;
        }
        let bytes = u64::from(access.bytes) * access.registers.len() as u64;
        let addition = self.definition(pc, access.address.base)?;
        let sums = [pure::<integer::Add<u64>>(), pure::<integer::Add<i64>>()];
        let (_, [a, b, ..]) = self.operation(addition, &sums)?;
        [(a, b), (b, a)].into_iter().find_map(|(base, product)| {
            let base = self.uniform(base)?;
            let multiplication = self.definition(addition, product)?;
            let products = [pure::<integer::MulWide<u32>>(), pure::<integer::MulWide<i32>>()];
            let (kind, [index, factor, ..]) = self.operation(multiplication, &products)?;
            let (_, factor) = self.constants.get(&factor)?;
            let unchanged = (multiplication + 1..pc).all(|between| {
                !self.writes(between, index) && !may_wait(&self.kernel.code[between as usize].op)
            });
            // The plain mode makes both anew, and must not undo what came of the product's register since.
            let unchanged = unchanged && !(addition + 1..pc).any(|between| self.writes(between, product));
            // Who computes the product for the first lane only reads no row of the index: there may be none.
            let scalar = self.affine.as_ref().is_some_and(|affine| affine.scalars.contains_key(&product));
            (*factor == Constant::Bits(bytes) && unchanged && !scalar).then_some(Indexed {
                base,
                index,
                signed: kind == 1,
                instructions: [multiplication, addition],
            })
        })
    }

    /// Where in the same block, shortly before `pc`, a register was written last.
    fn definition(&self, pc: u32, register: Register) -> Option<u32> {
        let rank = self.kernel.ranks[pc as usize];
        (pc.saturating_sub(MOST_DISTANCE)..pc)
            .rev()
            .take_while(|earlier| self.kernel.ranks[*earlier as usize] == rank)
            .find(|earlier| self.writes(*earlier, register))
    }

    fn writes(&self, pc: u32, register: Register) -> bool {
        let mut writes = false;
        let known = visit_writes(&self.kernel.code[pc as usize], &mut |out, width| {
            writes |= out == register || width == Width::Double && out.0 + 1 == register.0;
        });
        writes || !known
    }

    /// Which of some operations an instruction without a guard is, and its sources.
    fn operation(&self, pc: u32, kinds: &[&PureInfo]) -> Option<(usize, [Register; 4])> {
        let instruction = &self.kernel.code[pc as usize];
        let Op::Pure { info, sources, .. } = &instruction.op else { return None };
        if instruction.guard != Condition::ALWAYS {
            return None;
        }
        Some((kinds.iter().position(|kind| is_same(info, kind))?, *sources))
    }

    /// The constant row that a register stands for, if all threads of the launch have the same value there.
    fn uniform(&self, register: Register) -> Option<Register> {
        let root = self.copies.get(&register).map_or(register, |(root, ..)| *root);
        let (_, constant) = self.constants.get(&root).filter(|(width, _)| *width == Width::Double)?;
        (!matches!(constant, Constant::Special(_))).then_some(root)
    }

    fn run(mut self) -> Steps {
        let blocks = Blocks::of(self.kernel);
        let liveness = Liveness::find(self.kernel, &blocks);
        let rows = self.code();
        self.affine =
            liveness.as_ref().and_then(|liveness| Affine::find(self.kernel, &blocks, liveness, &self.copies));
        let scalars = self.affine.is_some().then(|| self.code());
        let copies = &self.copies;
        if self.all_read_plainly {
            self.read_plainly.extend(copies.keys());
        }
        let mut constants: Vec<_> = self
            .read_plainly
            .iter()
            .filter_map(|read| copies.get(read).map(|(_, width, constant)| (*read, *width, *constant)))
            .collect();
        constants.sort_unstable_by_key(|(register, ..)| register.0);
        constants.dedup_by_key(|(register, ..)| register.0);
        let level = self.level as usize;
        Steps {
            rows,
            scalars,
            affine: self.affine,
            accesses: self.accesses,
            constants,
            blends: [blends::<u32>()[level], blends::<u64>()[level]],
            liveness,
        }
    }

    fn code(&mut self) -> Code {
        self.find_indexed();
        let kernel = self.kernel;
        let mut steps: Vec<Step> = Vec::with_capacity(kernel.code.len());
        let mut of_pc = Vec::with_capacity(kernel.code.len());
        let mut gone = 0;
        for (pc, instruction) in kernel.code.iter().enumerate() {
            of_pc.push(steps.len() as u32);
            let copied = as_copy(instruction).is_some_and(|(out, ..)| self.copies.contains_key(&out));
            let dropped = copied || self.dropped.contains(&(pc as u32));
            let last_of_block = kernel.ranks.get(pc + 1) != kernel.ranks.get(pc);
            if dropped && !last_of_block {
                gone += 1;
                continue;
            }
            steps.push(Step {
                action: self.regular(instruction).unwrap_or_else(|| self.action(pc as u32, &instruction.op)),
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
        Code { steps, of_pc }
    }

    /// The row that a register's value is read from.
    fn row(&self, register: Register) -> u32 {
        offset(self.copies.get(&register).map_or(register, |(root, ..)| *root))
    }

    /// The step of an instruction that works on registers with regular lanes.
    fn regular(&mut self, instruction: &Instruction) -> Option<Action> {
        let affine = self.affine.as_ref()?;
        let operand = |register: Register| {
            let width = match self.kernel.row_kinds.get(register.0 as usize) {
                Some(RowKind::Single) => Width::Single,
                _ => Width::Double,
            };
            Some(Operand { row: self.row(register), shape: affine.shape(register)?, width })
        };
        match &instruction.op {
            Op::Pure { info, out, sources } => {
                let scalar = affine.scalars.get(out)?;
                let mut no_wrap = None;
                if let Some((source, signed)) = affine.extended(info, sources) {
                    no_wrap = Some(NoWrap { source: operand(source)?, signed });
                }
                Some(Action::Scalar(Box::new(ScalarStep {
                    run: info.rows.map(|rows| rows[self.level as usize]).ok_or(info.plain),
                    out: operand(*out)?,
                    sources: sources.map(|source| self.row(source)),
                    no_wrap,
                    expand: scalar.row,
                })))
            }
            Op::Test { info, out, sources: [a, b], .. } => {
                let kind = affine.test_kind(instruction)?;
                let run = info.rows?[self.level as usize];
                let operands = [operand(*a)?, operand(*b)?];
                Some(Action::ScalarTest(Box::new(ScalarTest { run, kind, operands, out: out.0 })))
            }
            Op::Load(access) | Op::Store(access) if affine.is_address(access) => {
                let address = operand(access.address.base)?;
                let is_load = matches!(instruction.op, Op::Load(_));
                // Nothing is indexed here.
                let by_row = self.access(u32::MAX, access, is_load)?;
                let run = regular::function(self.level, &by_row.access, is_load)?;
                let bytes = access.bytes * access.registers.len() as u32;
                let pattern = (address.shape, bytes);
                let pattern = *self.known_accesses.entry(pattern).or_insert_with(|| {
                    self.accesses.push(pattern);
                    self.accesses.len() as u32 - 1
                });
                let access = Box::new(ScalarAccess { run, address, pattern, by_row });
                Some(if is_load { Action::ScalarLoad(access) } else { Action::ScalarStore(access) })
            }
            _ => None,
        }
    }

    fn action(&mut self, pc: u32, op: &Op) -> Action {
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
            Op::Load(access) => self.access(pc, access, true).map_or_else(|| self.plain(op), Action::Load),
            Op::Store(access) => self.access(pc, access, false).map_or_else(|| self.plain(op), Action::Store),
            Op::Branch { target } => Action::Branch(*target),
            Op::Barrier { kind: BarrierKind::Sync, id, count: None, .. } => {
                self.read_plainly.push(*id);
                Action::Barrier(self.row(*id))
            }
            Op::Collective {
                operation: Collective::Shuffle { mode, out, inside, value, lane, clamp },
                ..
            } => {
                let shuffle = Shuffle {
                    mode: *mode,
                    out: offset(*out),
                    value: self.row(*value),
                    lane: self.row(*lane),
                    clamp: self.row(*clamp),
                };
                // Where lanes are missing, the plain mode sorts that out.
                self.plain(op);
                Action::Shuffle { run: shuffles()[self.level as usize], shuffle, inside: *inside }
            }
            Op::Exit => Action::Exit,
            _ => self.plain(op),
        }
    }

    /// The step of a load or store, if it is of a common kind. The plain mode must be able to run it too.
    fn access(&mut self, pc: u32, access: &instruction::Access, is_load: bool) -> Option<Box<AccessStep>> {
        self.read_plainly.push(access.address.base);
        if !is_load {
            self.read_plainly.extend(&access.registers);
        }
        let space = AccessSpace::of(access)?;
        let mut registers = [0; MOST_ELEMENTS];
        for (to, register) in registers.iter_mut().zip(&access.registers) {
            *to = if is_load { offset(*register) } else { self.row(*register) };
        }
        let (source, address, prepare) = match self.indexed.get(&pc) {
            Some(Indexed { base, index, signed, instructions }) => {
                let source = Source::Indexed { base: offset(*base), signed: *signed };
                (source, self.row(*index), instructions.map(Some))
            }
            None if access.address.width == Width::Double => {
                (Source::Wide, self.row(access.address.base), [None; 2])
            }
            None => (Source::Narrow, self.row(access.address.base), [None; 2]),
        };
        for instruction in prepare.into_iter().flatten() {
            if let Op::Pure { sources, .. } = &self.kernel.code[instruction as usize].op {
                self.read_plainly.extend(sources);
            }
        }
        let ready = memory::Access {
            source,
            address,
            offset: access.address.offset as u64,
            bytes: access.bytes,
            elements: access.registers.len() as u32,
            registers,
            wide: access.width == Width::Double,
            signed: access.signed,
        };
        let run = memory::function(self.level, &ready, is_load)?;
        Some(Box::new(AccessStep { run, access: ready, space, cache: access.cache, prepare }))
    }

    fn plain(&mut self, op: &Op) -> Action {
        let parts = match op {
            Op::Load(_) | Op::Store(_) | Op::LocalAddress { .. } | Op::Fence(_) => false,
            Op::ActiveMask { .. } | Op::Clock { .. } | Op::StackSave { .. } => false,
            Op::Alloca { size: source, .. } | Op::StackRestore { pointer: source, .. } => {
                self.read_plainly.push(*source);
                false
            }
            Op::Video { sources, .. } => {
                self.read_plainly.extend(sources);
                false
            }
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
                self.all_read_plainly = true;
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
    let is = |other| is_same(info, other);
    let copies = is(pure::<bits::Move32>()) || is(pure::<bits::Move64>());
    copies.then_some((*out, sources[0], info.out))
}

/// Whether two operations are the same. Functions with the same address do the same, so a match is certain; a miss
/// would only cost speed.
pub(super) fn is_same(a: &PureInfo, b: &PureInfo) -> bool {
    a.plain as usize == b.plain as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{LoadOptions, Program};

    /// How many steps of each kind the code with scalars has.
    fn kinds(ptx: &str, kernel: &str) -> [usize; 5] {
        let program = Program::load(ptx, &LoadOptions::default()).unwrap();
        let steps = translate(program.kernel(kernel).unwrap());
        let code = steps
            .and_then(|steps| steps.scalars)
            .expect("this processor runs rows, and the kernel has scalars");
        let count =
            |wanted: fn(&Action) -> bool| code.steps.iter().filter(|step| wanted(&step.action)).count();
        [
            count(|action| matches!(action, Action::Scalar(_))),
            count(|action| matches!(action, Action::ScalarTest(_))),
            count(|action| matches!(action, Action::ScalarLoad(_) | Action::ScalarStore(_))),
            count(|action| matches!(action, Action::Load(_) | Action::Store(_))),
            count(|action| matches!(action, Action::Pure { .. })),
        ]
    }

    #[test]
    fn only_the_data_of_saxpy_are_rows() {
        let ptx = include_str!("../../../../kernels/saxpy.ptx");
        let [scalars, tests, regular, irregular, pure] = kinds(ptx, "saxpy_grid_stride");
        assert_eq!((tests, regular, irregular), (2, 3, 0));
        assert_eq!(pure, 2, "the multiplication and addition of the data, and a copy that ends its block");
        assert!(scalars >= 5, "{scalars}");
    }

    #[test]
    fn matrices_are_read_at_regular_addresses() {
        let ptx = include_str!("../../../../kernels/matmul_naive.ptx");
        let [_, _, regular, irregular, pure] = kinds(ptx, "matmul_naive");
        assert_eq!((regular, irregular), (11, 0));
        assert_eq!(pure, 7, "five products, and two zeros to start from");
    }

    #[test]
    fn what_lanes_leave_a_loop_with_is_a_row() {
        let ptx = "
.version 8.0
.target sm_90
.address_size 64
.visible .entry count(.param .u64 out)
{
.reg .b32 %r<4>;
.reg .b64 %rd<4>;
.reg .pred %p<2>;
mov.u32 %r0, %tid.x;
mov.u32 %r1, 0;
mov.u32 %r2, 0;
L1:
add.u32 %r1, %r1, 3;
add.u32 %r2, %r2, 1;
setp.lt.u32 %p0, %r1, %r0;
@%p0 bra L1;
ld.param.u64 %rd0, [out];
mul.wide.u32 %rd1, %r0, 4;
add.s64 %rd1, %rd0, %rd1;
st.global.u32 [%rd1], %r2;
ret;
}
";
        let [scalars, tests, regular, irregular, pure] = kinds(ptx, "count");
        // %r1 is needed by nobody who left, so one value a warp is enough; %r2 is what they leave with.
        assert_eq!((tests, regular, irregular), (1, 1, 0));
        assert_eq!((scalars, pure), (4, 2));
    }
}
