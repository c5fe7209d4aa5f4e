//! The shapes of registers and predicates in the lanes of a quad: regular ones are computed for the
//! first lane only.
//!
//! The lanes of a quad take the same way. So a result of regular operands is regular, in whatever
//! order the instructions run. Entries test it for the registers that they load, because lanes may
//! have parted before. The threads of a quad are neighbors in the first dimension of the block.

use super::arms::Arms;
use super::crossings::Crossings;
use crate::exec::compiled::support;
use crate::exec::compiled::support::Area;
use crate::program::blocks::Blocks;
use crate::program::instruction::{Condition, Constant, Instruction, Op, Special};
use crate::program::{Kernel, effects};
use crate::semantics::lower::Lower;
use crate::semantics::{PureInfo, Register, Width};
use std::collections::{HashMap, HashSet};

/// Maximum distance of the first lane from the last.
const MOST_APART: u64 = 1 << 20;

/// The shape of a register or predicate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::exec::compiled) enum Shape {
    /// Each lane has the number of the lane before it plus this one. Zero if all have the same.
    Regular(i64),
    Varies,
}

impl Shape {
    pub(in crate::exec::compiled) const SAME: Shape = Shape::Regular(0);
}

/// The shapes of a kernel.
pub(in crate::exec::compiled) struct Shapes {
    /// By the first row of a register, and of predicates after all rows. `None` if it is not known
    /// yet.
    shapes: Vec<Option<Shape>>,
    pub(super) known: HashMap<u32, u64>,
    /// Constants that are added to the numbers of lanes.
    pub(super) added: HashMap<u32, i64>,
    /// The predicates that only selections read.
    pub(super) selects: HashSet<u32>,
    /// The predicates that only branches of the same block read, by which lanes part.
    pub(super) decides: HashSet<u32>,
    rows: u32,
    /// Number of lanes that run together.
    pub(super) lanes: usize,
}

impl Shapes {
    pub(in crate::exec::compiled) fn of(
        kernel: &Kernel,
        blocks: &Blocks,
        (arms, crossings): (&Arms, Option<&Crossings>),
        lanes: usize,
    ) -> Shapes {
        let mut found = Shapes {
            shapes: vec![None; (kernel.rows + kernel.predicates) as usize],
            known: HashMap::new(),
            added: HashMap::new(),
            selects: selecting(kernel),
            decides: deciding(kernel, blocks, arms),
            rows: kernel.rows,
            lanes,
        };
        for (register, _, constant) in &kernel.constants {
            found.shapes[register.0 as usize] = Some(of_constant(constant));
            if let Constant::Bits(bits) = constant {
                found.known.insert(register.0, *bits);
            }
        }
        found.added = added(kernel, &found.known);
        found.shapes[(kernel.rows + crate::semantics::Predicate::TRUE.0) as usize] = Some(Shape::SAME);
        while found.pass(kernel, (arms, crossings)) {}
        // Nothing is known about registers that are never written, and about their results.
        found.shapes.iter_mut().for_each(|shape| _ = shape.get_or_insert(Shape::Varies));
        while found.pass(kernel, (arms, crossings)) {}
        found
    }

    /// Returns the shape of a register, by its first row, or of a predicate after all rows. After
    /// these is the fuel, the same for all lanes, and then masks.
    pub(in crate::exec::compiled) fn at(&self, bit: u32) -> Shape {
        let others = if bit as usize == self.shapes.len() { Shape::SAME } else { Shape::Varies };
        self.shapes.get(bit as usize).map_or(others, |shape| shape.unwrap_or(Shape::Varies))
    }

    /// True if a condition may differ between lanes.
    pub(in crate::exec::compiled) fn may_differ(&self, condition: Condition) -> bool {
        self.of_predicate(condition) == Shape::Varies
    }

    pub(super) fn of_predicate(&self, condition: Condition) -> Shape {
        self.at(self.rows + condition.predicate.0)
    }

    /// Joins the results of all instructions. Returns true if a shape has changed.
    fn pass(&mut self, kernel: &Kernel, (arms, crossings): (&Arms, Option<&Crossings>)) -> bool {
        let mut changed = false;
        for (pc, instruction) in kernel.code.iter().enumerate() {
            let crossing = crossings.filter(|crossings| crossings.contains(pc as u32));
            let result = match crossing {
                Some(crossings) => match crossings.chosen_by(pc as u32, instruction) {
                    Ok(lane) => self.shapes[lane.0 as usize].map(same_or_not),
                    Err(same) => Some(if same { Shape::SAME } else { Shape::Varies }),
                },
                None => self.result(kernel, instruction),
            };
            let Some(mut result) = result else { continue };
            if let Some(guard) = arms.guard(pc as u32) {
                let of_branch = |branch: &Condition| self.shapes[(kernel.rows + branch.predicate.0) as usize];
                let shapes: Option<Vec<Shape>> = guard.branches.iter().map(of_branch).collect();
                let Some(shapes) = shapes else { continue };
                let all = shapes.iter().all(|shape| *shape == Shape::SAME);
                result = if all { result } else { Shape::Varies };
            }
            let mut join = |bit: u32, result: Shape| {
                let shape = &mut self.shapes[bit as usize];
                let joined = match *shape {
                    Some(before) if before != result => Shape::Varies,
                    _ => result,
                };
                changed |= *shape != Some(joined);
                *shape = Some(joined);
            };
            effects::writes(instruction, &mut |register, _| join(register.0, result));
            let same = if result == Shape::SAME { result } else { Shape::Varies };
            effects::predicates(instruction, &mut |predicate| join(kernel.rows + predicate.0, same));
        }
        changed
    }

    /// Returns the shape of the results of an instruction; `None` if it is not known yet.
    fn result(&self, kernel: &Kernel, instruction: &Instruction) -> Option<Shape> {
        if support::is_stop(kernel, instruction) {
            return Some(Shape::Varies);
        }
        let mut all = Some(Shape::SAME);
        let mut join = |bit: u32| {
            let shape = self.shapes[bit as usize];
            all = match (all, shape) {
                (Some(Shape::Varies), _) | (_, Some(Shape::Varies)) => Some(Shape::Varies),
                (None, _) | (_, None) => None,
                (Some(Shape::SAME), shape) => shape,
                (all, _) => all,
            };
        };
        effects::reads(instruction, &mut |register| join(register.0));
        effects::conditions(instruction, &mut |predicate| join(kernel.rows + predicate.0));
        match all {
            Some(Shape::Varies) | None => all,
            Some(_) => Some(self.of_result(instruction)),
        }
    }

    /// Returns the shape of the results of an instruction that has machine code.
    pub(super) fn of_result(&self, instruction: &Instruction) -> Shape {
        let mut same = true;
        effects::reads(instruction, &mut |register| same &= self.at(register.0) == Shape::SAME);
        effects::conditions(instruction, &mut |predicate| {
            same &= self.at(self.rows + predicate.0) == Shape::SAME;
        });
        match &instruction.op {
            Op::Atomic(_) | Op::Call(_) => Shape::Varies,
            // The same address is in other memory for each lane.
            Op::Load(access) if Area::of(access.space) == Area::Local => Shape::Varies,
            _ if same => Shape::SAME,
            _ if self.of_predicate(instruction.guard) != Shape::SAME => Shape::Varies,
            Op::Pure { info, sources, .. } => {
                let always = self.of_operation(info, *sources);
                let expected = || self.expected(instruction).map(|(_, shape)| shape);
                always.or_else(expected).unwrap_or(Shape::Varies)
            }
            Op::Test { .. } if self.sign_test(instruction).is_some() => Shape::SAME,
            Op::Test { .. } => self.expected(instruction).map_or(Shape::Varies, |(_, shape)| shape),
            Op::Select { a, b, condition, .. } if self.of_predicate(*condition) == Shape::SAME => {
                if self.at(a.0) == self.at(b.0) { self.at(a.0) } else { Shape::Varies }
            }
            _ => Shape::Varies,
        }
    }

    /// Returns the shape of the result of an operation on regular operands; `None` if it varies.
    fn of_operation(&self, info: &PureInfo, sources: [Register; 4]) -> Option<Shape> {
        let step = |index: usize| match self.at(sources[index].0) {
            Shape::Regular(step) => Some(step),
            Shape::Varies => None,
        };
        let times = |a: usize, b: usize| {
            let known = |index: usize| Some(extended(*self.known.get(&sources[index].0)?, info, index));
            match (step(a)?, step(b)?) {
                (0, 0) => Some(0),
                (step, 0) => step.checked_mul(known(b)?),
                (0, step) => step.checked_mul(known(a)?),
                _ => None,
            }
        };
        let [out, first, ..] = info.sizes;
        let whole = out == if info.out == Width::Double { 8 } else { 4 };
        if !whole || first < 4 {
            return None;
        }
        let step = match info.lower {
            Lower::Move | Lower::Low | Lower::Wrap => step(0)?,
            Lower::Add => step(0)?.checked_add(step(1)?)?,
            Lower::Sub => step(0)?.checked_sub(step(1)?)?,
            Lower::Neg | Lower::Not => step(0)?.checked_neg()?,
            Lower::MulLow | Lower::MulWide => times(0, 1)?,
            Lower::MadLow | Lower::MadWide => times(0, 1)?.checked_add(step(2)?)?,
            Lower::ShiftLeft => {
                let bits = *self.known.get(&sources[1].0)?;
                (bits < 20).then(|| step(0)?.checked_mul(1 << bits)).flatten()?
            }
            Lower::ShiftRight if self.repeats_sign(info, sources) => step(0).map(|_| 0)?,
            _ => return None,
        };
        (step.unsigned_abs() <= MOST_APART).then_some(Shape::Regular(step))
    }
}

/// Returns the shape of a result that is the same if a number is.
fn same_or_not(shape: Shape) -> Shape {
    if shape == Shape::SAME { shape } else { Shape::Varies }
}

/// Returns the predicates that only selections read.
fn selecting(kernel: &Kernel) -> HashSet<u32> {
    let mut all: HashSet<u32> = (0..kernel.predicates).collect();
    for instruction in &kernel.code {
        let mut others = vec![instruction.guard.predicate.0];
        if !matches!(instruction.op, Op::Select { .. }) {
            effects::conditions(instruction, &mut |predicate| others.push(predicate.0));
        }
        others.iter().for_each(|predicate| _ = all.remove(predicate));
    }
    all
}

/// Returns the predicates that one comparison or logical operation sets, and that only branches of
/// the same block read, other than before arms and in them: directly, or by logical operations.
fn deciding(kernel: &Kernel, blocks: &Blocks, arms: &Arms) -> HashSet<u32> {
    let mut writers: HashMap<u32, Vec<u32>> = HashMap::new();
    for (pc, instruction) in kernel.code.iter().enumerate() {
        let sets = matches!(instruction.op, Op::Test { .. } | Op::Logic { .. });
        // Others count as two.
        let count = if sets && instruction.guard == Condition::ALWAYS { 1 } else { 2 };
        effects::predicates(instruction, &mut |predicate| {
            writers.entry(predicate.0).or_default().extend(vec![pc as u32; count]);
        });
    }
    let mut found: HashMap<u32, u32> = writers
        .iter()
        .filter(|(_, pcs)| pcs.len() == 1)
        .map(|(predicate, pcs)| (*predicate, pcs[0]))
        .collect();
    loop {
        let before = found.len();
        for (pc, instruction) in (0..).zip(&kernel.code) {
            let decides = match &instruction.op {
                Op::Branch { .. } => !arms.has(pc),
                Op::Logic { out, .. } => found.contains_key(&out.0),
                _ => false,
            };
            effects::conditions(instruction, &mut |read| {
                let near = |writer: &u32| *writer < pc && blocks.at(*writer) == blocks.at(pc);
                if !(decides && found.get(&read.0).is_some_and(near)) {
                    found.remove(&read.0);
                }
            });
        }
        if found.len() == before {
            return found.into_keys().collect();
        }
    }
}

/// Returns the constant that is added to the numbers of the lanes, for each register with one
/// writer.
fn added(kernel: &Kernel, known: &HashMap<u32, u64>) -> HashMap<u32, i64> {
    let mut writers: HashMap<u32, u32> = HashMap::new();
    for instruction in &kernel.code {
        effects::writes(instruction, &mut |register, _| *writers.entry(register.0).or_default() += 1);
    }
    let mut found: HashMap<u32, i64> = HashMap::new();
    for instruction in &kernel.code {
        let Op::Pure { info, out, sources } = &instruction.op else { continue };
        let of = |index: usize| match known.get(&sources[index].0) {
            Some(bits) => extended(*bits, info, index),
            None => found.get(&sources[index].0).copied().unwrap_or(0),
        };
        let sum = match info.lower {
            Lower::Move | Lower::Wrap => of(0),
            Lower::Add => of(0).wrapping_add(of(1)),
            Lower::Sub => of(0).wrapping_sub(of(1)),
            _ => continue,
        };
        if writers.get(&out.0) == Some(&1) {
            found.insert(out.0, sum);
        }
    }
    found
}

/// Returns a constant operand as its operation reads it.
fn extended(bits: u64, info: &PureInfo, index: usize) -> i64 {
    match (info.sizes[index + 1], info.signed[index + 1]) {
        (4, true) => i64::from(bits as i32),
        (4, false) => i64::from(bits as u32),
        _ => bits as i64,
    }
}

fn of_constant(constant: &Constant) -> Shape {
    match constant {
        Constant::Special(Special::ThreadId(0) | Special::LaneId) => Shape::Regular(1),
        Constant::Special(Special::LaneMask(..)) => Shape::Varies,
        _ => Shape::SAME,
    }
}

/// True if so many lanes may run together in a block of this size: its constants then have these
/// shapes.
pub(in crate::exec::compiled) fn fit(block: [u32; 3], lanes: usize) -> bool {
    block[0] % lanes as u32 == 0 || block[1] == 1 && block[2] == 1
}

/// True if the lanes of a quad may part before an instruction: the code for single lanes then
/// needs an entry there.
pub(in crate::exec::compiled) fn may_part(
    kernel: &Kernel,
    instruction: &Instruction,
    shapes: &Shapes,
) -> bool {
    let found = match &instruction.op {
        Op::Load(access) => {
            shapes.at(access.address.base.0) != Shape::SAME || !support::reads_own_memory(access)
        }
        Op::Atomic(atomic) => support::is_placed(atomic),
        Op::Call(_) => !support::jumps(kernel, instruction),
        _ => true,
    };
    let masked = matches!(instruction.op, Op::Load(_) | Op::Store(_)) || support::is_cheap(instruction);
    let guarded = instruction.guard != Condition::ALWAYS && !masked;
    !found || guarded || shapes.premise(instruction).is_some()
}
