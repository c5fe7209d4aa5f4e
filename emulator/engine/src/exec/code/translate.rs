//! Translates decoded instructions to steps, the code of the vector mode.
//!
//! A step contains the function for this processor and the offsets of its rows. Instructions that
//! only copy a constant row are removed: readers of the copy read the constant. Instructions
//! without their own kind of step are delegated to the plain mode.

use super::access;
use super::affine::Affine;
use super::arms;
use super::blend::blends;
use super::early;
use super::indexed::Indexed;
use super::liveness::Liveness;
use super::step::{Action, Code, CollectiveStep, CombinedTest, Guard, RowsTest, ShuffleStep, Step, Steps};
use super::uses::Uses;
use crate::program::blocks::Blocks;
use crate::program::effects::Course;
use crate::program::instruction::{BarrierKind, Collective, Condition, Constant, Instruction, Logic, Op};
use crate::program::{Kernel, effects, sort_constants};
use crate::semantics::known::{Linear, linear};
use crate::semantics::rows::Extension;
use crate::semantics::shuffle::{Shuffle, Sources, shuffle_function};
use crate::semantics::{LANES, Predicate, Register, TestInfo, Width};
use std::collections::{HashMap, HashSet};

/// Returns a kernel's steps, created at its first launch; `None` if only for the plain mode.
pub(in crate::exec) fn steps(kernel: &Kernel) -> Option<&Steps> {
    kernel.runner.get_or_make(|| translate(kernel)).and_then(Option::as_ref)
}

/// Translates a kernel for this processor; `None` if the processor supports only the plain mode.
fn translate(kernel: &Kernel) -> Option<Steps> {
    Some(Translator::new(kernel, Extension::detect()?).run())
}

pub(super) struct Translator<'k> {
    pub(super) kernel: &'k Kernel,
    pub(super) level: Extension,
    /// Scalars, while their code is created.
    pub(super) affine: Option<Affine>,
    pub(super) accesses: Vec<(u32, u32)>,
    pub(super) known_accesses: HashMap<(u32, u32), u32>,
    pub(super) constants: HashMap<Register, (Width, Constant)>,
    /// The constant row equal to a register, and its value.
    pub(super) copies: HashMap<Register, (Register, Width, Constant)>,
    pub(super) read_plainly: Vec<Register>,
    /// True if the plain mode may read any copy.
    pub(super) all_read_plainly: bool,
    /// `None` if instructions are not analyzed; copies and addresses then stay as they are.
    pub(super) uses: Option<Uses>,
    /// Accesses that compute their addresses themselves, by instruction.
    pub(super) indexed: HashMap<u32, Indexed>,
    /// Instructions whose results are no longer needed.
    pub(super) dropped: HashSet<u32>,
    blocks: Blocks,
    liveness: Option<Liveness>,
}

impl<'k> Translator<'k> {
    fn new(kernel: &'k Kernel, level: Extension) -> Self {
        let blocks = Blocks::of(kernel);
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
            liveness: Liveness::find(kernel, &blocks),
            blocks,
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

    fn run(mut self) -> Steps {
        let rows = self.code();
        let find = |liveness| Affine::find(self.kernel, &self.blocks, liveness, &self.copies);
        self.affine = self.liveness.as_ref().and_then(find);
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
        sort_constants(&mut constants);
        constants.dedup_by_key(|(register, ..)| register.0);
        let level = self.level as usize;
        Steps {
            rows,
            scalars,
            affine: self.affine,
            accesses: self.accesses,
            constants,
            blends: [blends::<u32>()[level], blends::<u64>()[level]],
            locate: access::locators()[level],
            locate_local: access::local_locators()[level],
            liveness: self.liveness,
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
                action: self.regular(instruction).unwrap_or_else(|| self.action(pc as u32, instruction)),
                guard: Guard::of(instruction.guard),
                within: Guard::ALWAYS,
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
        let mut code = Code { steps, of_pc };
        if let Some(liveness) = &self.liveness {
            early::find(&mut code, kernel, (&self.blocks, liveness));
        }
        arms::find(&mut code.steps, &self.blocks, self.liveness.as_ref());
        code
    }

    /// Returns the row from which a register's value is read.
    pub(super) fn row(&self, register: Register) -> u32 {
        offset(self.copies.get(&register).map_or(register, |(root, ..)| *root))
    }

    /// Returns the number that a register always has in all lanes, if it is known.
    pub(super) fn number(&self, register: Register) -> Option<u64> {
        let root = self.copies.get(&register).map_or(register, |(root, ..)| *root);
        match self.constants.get(&root) {
            Some((_, Constant::Bits(bits))) => Some(*bits),
            _ => None,
        }
    }

    /// Returns the step of an instruction on rows.
    fn action(&mut self, pc: u32, instruction: &Instruction) -> Action {
        let level = self.level as usize;
        match &instruction.op {
            Op::Pure { info, out, sources } => match info.rows {
                Some(rows) => Action::Pure {
                    run: rows[level],
                    out: offset(*out),
                    sources: sources.map(|source| self.row(source)),
                    double: info.out == Width::Double,
                },
                None => Action::PureLanes {
                    info,
                    out: *out,
                    sources: sources.map(|source| Register(self.row(source) / LANES as u32)),
                },
            },
            Op::Test { info, out, inverse, sources, combine } => match self.rows_test(info, *sources) {
                Some(test) => compare(test, (*out, *inverse), *combine),
                None => self.plain(instruction),
            },
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
            Op::Load(access) => {
                self.access(pc, access, true).map_or_else(|| self.plain(instruction), Action::Load)
            }
            Op::Store(access) => {
                self.access(pc, access, false).map_or_else(|| self.plain(instruction), Action::Store)
            }
            Op::Atomic(atomic) => {
                let left = self.plain(instruction);
                self.atomic(atomic).map_or(left, Action::Atomic)
            }
            Op::Branch { target } => Action::Branch(*target),
            Op::Barrier { kind: BarrierKind::Sync, id, count: None, .. } => {
                self.read_plainly.push(*id);
                Action::Barrier(self.row(*id))
            }
            Op::Collective { operation, members } => self.collective(instruction, *operation, *members),
            Op::ActiveMask { out } => Action::ActiveMask(*out),
            Op::Fence(scope) => Action::Fence(*scope),
            Op::Exit => Action::Exit,
            _ => self.plain(instruction),
        }
    }

    /// Returns the step of a collective operation. If lanes are missing, the plain mode runs it.
    fn collective(&mut self, instruction: &Instruction, operation: Collective, members: Register) -> Action {
        // The plain mode runs it if lanes are missing, and the step reads the registers of that
        // mode.
        self.plain(instruction);
        match operation {
            Collective::Shuffle { mode, out, inside, value, lane, clamp } => {
                let fixed = self.number(lane).zip(self.number(clamp));
                let fixed = fixed.map(|(lane, clamp)| Sources::of(mode, lane as u32, clamp as u32));
                let [value, lane, clamp] = [value, lane, clamp].map(|register| self.row(register));
                let members = self.number(members).is_none().then(|| self.row(members));
                let shuffle = Shuffle { mode, out: offset(out), value, lane, clamp, fixed, members };
                Action::Shuffle(Box::new(ShuffleStep { run: shuffle_function(self.level), shuffle, inside }))
            }
            _ => {
                let varies = self.number(members).is_none();
                Action::Collective(CollectiveStep { operation, members, varies })
            }
        }
    }

    /// Returns a comparison of rows, if it has a function for whole rows.
    pub(super) fn rows_test(&self, info: &TestInfo, sources: [Register; 2]) -> Option<RowsTest> {
        let run = info.rows?[self.level as usize];
        let [a, b] = info.in_order(sources);
        let (a, b) = (self.row(a), self.row(b));
        Some(RowsTest { run, sources: [a, b, a, a], flip: info.flip })
    }

    /// Delegates an instruction to the plain mode, which reads its registers from their own rows.
    fn plain(&mut self, instruction: &Instruction) -> Action {
        if effects::is_simple(&instruction.op) {
            effects::reads(instruction, &mut |register| self.read_plainly.push(register));
        } else {
            self.all_read_plainly = true;
        }
        Action::Plain { parts: effects::course(&instruction.op) != Course::Next }
    }
}

fn compare(
    test: RowsTest,
    (out, inverse): (Predicate, Option<Predicate>),
    combine: Option<(Logic, Condition)>,
) -> Action {
    if inverse.is_none() && combine.is_none() {
        return Action::Test { test, out: out.0 };
    }
    let combine = combine.map(|(logic, condition)| (logic, Guard::of(condition)));
    Action::TestAnd(Box::new(CombinedTest { test, out, inverse, combine }))
}

pub(super) fn offset(register: Register) -> u32 {
    register.0 * LANES as u32
}

/// Returns destination, source and width of an instruction that copies a register.
fn as_copy(instruction: &Instruction) -> Option<(Register, Register, Width)> {
    if instruction.guard != Condition::ALWAYS {
        return None;
    }
    let Op::Pure { info, out, sources } = &instruction.op else { return None };
    (linear(info) == Some(Linear::Copy)).then_some((*out, sources[0], info.out))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{LoadOptions, Program};

    /// Counts the steps of each kind in the code with scalars.
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
            count(|action| {
                matches!(action, Action::ScalarLoad(_) | Action::ScalarStore(_) | Action::UniformLoad(_))
            }),
            count(|action| matches!(action, Action::Load(_) | Action::Store(_))),
            count(|action| matches!(action, Action::Pure { .. })),
        ]
    }

    #[test]
    fn only_the_data_of_saxpy_are_rows() {
        let ptx = include_str!("../../../../../kernels/saxpy.ptx");
        let [scalars, tests, regular, irregular, pure] = kinds(ptx, "saxpy_grid_stride");
        assert_eq!((tests, regular, irregular), (2, 3, 0));
        assert_eq!(pure, 2, "the multiplication and addition of the data, and a copy that ends its block");
        assert!(scalars >= 5, "{scalars}");
    }

    #[test]
    fn matrices_are_read_at_regular_addresses() {
        let ptx = include_str!("../../../../../kernels/matmul_naive.ptx");
        let [_, _, regular, irregular, pure] = kinds(ptx, "matmul_naive");
        assert_eq!((regular, irregular), (11, 0));
        assert_eq!(pure, 7, "five products, and two zeros to start from");
    }

    /// A base address and the limit of a loop, read through a pointer, and an element at each
    /// index.
    #[test]
    fn numbers_from_equal_addresses_need_no_row() {
        let ptx = "
.version 8.0
.target sm_90
.address_size 64
.visible .entry sum(.param .u64 task)
{
.reg .b32 %r<5>; .reg .b64 %rd<6>; .reg .pred %p<2>;
ld.param.u64 %rd0, [task];
ld.global.u64 %rd1, [%rd0];
ld.u32 %r0, [%rd0+8];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd2, %r1, 4;
add.s64 %rd3, %rd1, %rd2;
mov.u32 %r2, 0;
L1:
ld.global.u32 %r3, [%rd3];
add.u32 %r2, %r2, 1;
setp.lt.u32 %p0, %r2, %r0;
st.global.u32 [%rd3+4], %r3;
@%p0 bra L1;
ret;
}
";
        let [_, tests, regular, irregular, _] = kinds(ptx, "sum");
        assert_eq!((tests, regular, irregular), (1, 4, 0));
        // In local memory, lanes load different numbers from equal addresses.
        let local = ptx.replace("ld.global.u64 %rd1", "cvta.local.u64 %rd0, %rd0;\nld.u64 %rd1");
        let [_, tests, _, irregular, _] = kinds(&local, "sum");
        assert_eq!((tests, irregular), (0, 2));
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
        // Lanes that left do not need %r1, so one value per warp is enough; they leave with %r2.
        assert_eq!((tests, regular, irregular), (1, 1, 0));
        assert_eq!((scalars, pure), (4, 2));
    }
}
