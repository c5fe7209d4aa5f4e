//! Finds registers whose lanes differ in a regular way.
//!
//! Most integer registers hold the same value in all threads of a warp, or one that grows by a fixed amount with each
//! coordinate of the thread: loop counters, indices, addresses. Such a register needs no row of 32 values. Its value
//! in the first lane, and the amount by which it grows, its *shape*, say all. The shape is the same throughout a
//! launch; so only the first lane's value is computed, for eight warps at once.
//!
//! This holds as long as all lanes that need a register get its new value together. What the analysis here can see to
//! be otherwise it leaves to rows; what it cannot see is noticed when it happens ([`super::scalar`]).

use super::super::semantics::{PureInfo, TestInfo, Width, bits, convert, integer, pure, test};
use super::blocks::Blocks;
use super::liveness::{Liveness, contains};
use super::memory::{MOST_ELEMENTS, is_common};
use super::registers::{visit_reads, visit_writes};
use crate::program::instruction::{
    Access, Condition, Constant, Instruction, Op, Predicate, Register, Special,
};
use crate::program::{Kernel, RowKind};
use crate::ptx::Space;
use std::collections::{HashMap, HashSet};

/// Index of an expression.
type Id = u32;

/// A number that is known once a launch is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Expr {
    Number(i64),
    /// What a constant row holds; of 32 bits, with its sign.
    Row(Register, Width),
    Add(Id, Id),
    Sub(Id, Id),
    Mul(Id, Id),
    /// The low 32 bits, with their sign.
    Low(Id),
    /// The low 32 bits, without sign.
    LowUnsigned(Id),
}

/// The expression that is zero.
const ZERO: Id = 0;
/// The expression that is one.
const ONE: Id = 1;

/// By how much a value grows with each coordinate of the thread.
pub(super) type Shape = [Id; 3];
const UNIFORM: Shape = [ZERO; 3];

/// Expressions, each once, behind those it is made of.
#[derive(Debug)]
struct Exprs {
    list: Vec<Expr>,
    ids: HashMap<Expr, Id>,
}

impl Exprs {
    fn new() -> Self {
        let mut exprs = Exprs { list: Vec::new(), ids: HashMap::new() };
        exprs.make(Expr::Number(0));
        exprs.make(Expr::Number(1));
        exprs
    }

    fn number(&self, id: Id) -> Option<i64> {
        match self.list[id as usize] {
            Expr::Number(number) => Some(number),
            _ => None,
        }
    }

    /// The expression, or a simpler one that is equal.
    fn make(&mut self, expr: Expr) -> Id {
        let expr = match expr {
            Expr::Add(a, b) if a > b => Expr::Add(b, a),
            Expr::Mul(a, b) if a > b => Expr::Mul(b, a),
            expr => expr,
        };
        let number = |id| self.number(id);
        let folded = match expr {
            Expr::Number(_) | Expr::Row(..) => None,
            Expr::Add(ZERO, b) | Expr::Mul(ONE, b) => return b,
            Expr::Sub(a, ZERO) => return a,
            Expr::Mul(ZERO, _) => return ZERO,
            Expr::Sub(a, b) if a == b => return ZERO,
            Expr::Add(a, b) => number(a).zip(number(b)).map(|(a, b)| a.wrapping_add(b)),
            Expr::Sub(a, b) => number(a).zip(number(b)).map(|(a, b)| a.wrapping_sub(b)),
            Expr::Mul(a, b) => number(a).zip(number(b)).map(|(a, b)| a.wrapping_mul(b)),
            Expr::Low(a) if matches!(self.list[a as usize], Expr::Low(_) | Expr::Row(_, Width::Single)) => {
                return a;
            }
            Expr::Low(a) => number(a).map(low),
            Expr::LowUnsigned(a) => number(a).map(low_unsigned),
        };
        let expr = folded.map_or(expr, Expr::Number);
        let list = &mut self.list;
        *self.ids.entry(expr).or_insert_with(|| {
            list.push(expr);
            (list.len() - 1) as Id
        })
    }

    fn each(&mut self, shape: Shape, mut make: impl FnMut(Id) -> Expr) -> Shape {
        shape.map(|id| self.make(make(id)))
    }

    fn pair(&mut self, a: Shape, b: Shape, make: impl Fn(Id, Id) -> Expr) -> Shape {
        core::array::from_fn(|axis| self.make(make(a[axis], b[axis])))
    }
}

fn low(number: i64) -> i64 {
    number as i32 as i64
}

fn low_unsigned(number: i64) -> i64 {
    number as u32 as i64
}

/// Evaluates expressions in their order; `row` tells what a constant row holds.
pub(super) fn evaluate(list: &[Expr], row: impl Fn(Register, Width) -> i64, values: &mut Vec<i64>) {
    values.clear();
    for expr in list {
        let of = |id: Id| values[id as usize];
        let value = match *expr {
            Expr::Number(number) => number,
            Expr::Row(register, width) => row(register, width),
            Expr::Add(a, b) => of(a).wrapping_add(of(b)),
            Expr::Sub(a, b) => of(a).wrapping_sub(of(b)),
            Expr::Mul(a, b) => of(a).wrapping_mul(of(b)),
            Expr::Low(a) => low(of(a)),
            Expr::LowUnsigned(a) => low_unsigned(of(a)),
        };
        values.push(value);
    }
}

/// What is known of a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Known {
    /// Nothing: it needs a row.
    Row,
    Shaped {
        shape: Shape,
        /// The value, if it is the same in all threads and known once the launch is.
        value: Option<Id>,
    },
}

/// Operations that keep lanes regular although these differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Linear {
    Copy,
    Add,
    Sub,
    Neg,
    MulLow,
    MadLow,
    ShiftLeft,
    /// Extends to 64 bits.
    Widen {
        signed: bool,
    },
    MulWide {
        signed: bool,
    },
    MadWide {
        signed: bool,
    },
    Truncate,
}

fn linear(info: &PureInfo) -> Option<Linear> {
    let is = |other: &PureInfo| super::translate::is_same(info, other);
    macro_rules! table {
        ($($($operation:ty),+ => $linear:expr;)*) => {$(
            if $(is(pure::<$operation>()))||+ {
                return Some($linear);
            }
        )*};
    }
    use integer::{Add, MadLow, MadWide, MulLow, MulWide, Neg, Sub};
    table! {
        Add<u32>, Add<i32>, Add<u64>, Add<i64> => Linear::Add;
        bits::Move32, bits::Move64 => Linear::Copy;
        MulWide<i32> => Linear::MulWide { signed: true };
        MulWide<u32> => Linear::MulWide { signed: false };
        MadLow<u32>, MadLow<i32>, MadLow<u64>, MadLow<i64> => Linear::MadLow;
        MulLow<u32>, MulLow<i32>, MulLow<u64>, MulLow<i64> => Linear::MulLow;
        Sub<u32>, Sub<i32>, Sub<u64>, Sub<i64> => Linear::Sub;
        Neg<i32>, Neg<i64> => Linear::Neg;
        bits::ShiftLeft<u32>, bits::ShiftLeft<u64> => Linear::ShiftLeft;
        convert::Wrap<i64, i32>, convert::Wrap<u64, i32> => Linear::Widen { signed: true };
        convert::Wrap<i64, u32>, convert::Wrap<u64, u32> => Linear::Widen { signed: false };
        convert::Wrap<u32, u64>, convert::Wrap<i32, u64>, convert::Wrap<u32, i64>, convert::Wrap<i32, i64>
            => Linear::Truncate;
        MadWide<i32> => Linear::MadWide { signed: true };
        MadWide<u32> => Linear::MadWide { signed: false };
    }
    None
}

/// How two values of regular lanes are compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Comparison {
    pub(super) relation: Relation,
    pub(super) signed: bool,
    pub(super) wide: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Relation {
    Equal,
    Unequal,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

/// Which comparison of integers a test is.
fn comparison(info: &TestInfo) -> Option<Comparison> {
    macro_rules! table {
        ($($relation:ident: $name:ident;)*) => {$(
            table!(@each $relation, $name, u32, false, false);
            table!(@each $relation, $name, i32, true, false);
            table!(@each $relation, $name, u64, false, true);
            table!(@each $relation, $name, i64, true, true);
        )*};
        (@each $relation:ident, $name:ident, $ty:ty, $signed:expr, $wide:expr) => {
            if info.plain as usize == test::<integer::$name<$ty>>().plain as usize {
                return Some(Comparison { relation: Relation::$relation, signed: $signed, wide: $wide });
            }
        };
    }
    table! {
        AtLeast: Ge;
        Less: Lt;
        Greater: Gt;
        AtMost: Le;
        Unequal: Ne;
        Equal: Eq;
    }
    None
}

/// How a test on regular operands is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TestKind {
    /// Once for each warp: both operands are the same in all lanes.
    Uniform,
    /// By the least and the greatest value of each operand, if that tells.
    Range(Comparison),
}

/// A register without a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Scalar {
    /// Index of its shape.
    pub(super) shape: u32,
    pub(super) width: Width,
    /// Whether somebody reads it as a row, so that it has one as well.
    pub(super) row: bool,
}

/// What the analysis found.
#[derive(Debug)]
pub(super) struct Affine {
    pub(super) exprs: Vec<Expr>,
    pub(super) shapes: Vec<Shape>,
    /// Registers that are computed for the first lane only.
    pub(super) scalars: HashMap<Register, Scalar>,
    /// Shapes of constant rows.
    constants: HashMap<Register, u32>,
    /// Constant rows that are read as rows, a bit each.
    pub(super) rows: Vec<u64>,
}

impl Affine {
    /// `copies` are registers that stand for constant rows. `None` if there is nothing to gain.
    pub(super) fn find(
        kernel: &Kernel,
        blocks: &Blocks,
        liveness: &Liveness,
        copies: &HashMap<Register, (Register, Width, Constant)>,
    ) -> Option<Affine> {
        let mut finder = Finder {
            kernel,
            blocks,
            liveness,
            copies,
            exprs: Exprs::new(),
            known: HashMap::new(),
            rejected: HashSet::new(),
        };
        loop {
            finder.propagate();
            let before = finder.rejected.len();
            finder.reject_divergent();
            if finder.rejected.len() == before {
                break;
            }
        }
        finder.finish()
    }

    /// The index of the shape of a register that has one: a scalar or a constant.
    pub(super) fn shape(&self, register: Register) -> Option<u32> {
        self.scalars
            .get(&register)
            .map(|scalar| scalar.shape)
            .or_else(|| self.constants.get(&register).copied())
    }

    fn is_uniform(&self, register: Register) -> bool {
        self.shape(register).is_some_and(|shape| self.shapes[shape as usize] == UNIFORM)
    }

    /// How a test is done, if without rows.
    pub(super) fn test_kind(&self, instruction: &Instruction) -> Option<TestKind> {
        let Op::Test { info, inverse: None, combine: None, sources: [a, b], .. } = &instruction.op else {
            return None;
        };
        let constant = |register| self.constants.contains_key(register);
        if info.rows.is_none() || constant(a) && constant(b) {
            return None;
        }
        if self.is_uniform(*a) && self.is_uniform(*b) {
            return Some(TestKind::Uniform);
        }
        self.shape(*a).and(self.shape(*b))?;
        comparison(info).map(TestKind::Range)
    }

    /// The source whose lanes differ that an operation extends to 64 bits, and whether with its sign.
    pub(super) fn extended(&self, info: &PureInfo, sources: &[Register; 4]) -> Option<(Register, bool)> {
        let (Linear::Widen { signed } | Linear::MulWide { signed } | Linear::MadWide { signed }) =
            linear(info)?
        else {
            return None;
        };
        let source = sources[..2].iter().find(|source| !self.is_uniform(**source))?;
        // The third one, where there is one, is wide already, and the second one unused by a mere extension.
        let used = info.sources[1] != Width::None || *source == sources[0];
        used.then_some((*source, signed))
    }

    /// Whether an access finds its address in a scalar.
    pub(super) fn is_address(&self, access: &Access) -> bool {
        let handled = match access.space {
            Some(Space::Global | Space::Const) | None => !access.order.is_strong(),
            Some(Space::Shared) => true,
            _ => false,
        };
        let common = is_common(access.bytes, access.width == Width::Double);
        handled
            && common
            && access.registers.len() <= MOST_ELEMENTS
            && self.scalars.contains_key(&access.address.base)
    }

    /// Calls `visit` with what an instruction reads, and whether it does so as a row.
    fn visit_reads(&self, instruction: &Instruction, visit: &mut impl FnMut(Register, bool)) {
        match &instruction.op {
            Op::Pure { out, .. } => {
                let row = !self.scalars.contains_key(out);
                visit_reads(instruction, &mut |register| visit(register, row));
            }
            Op::Test { sources, .. } => {
                let row = self.test_kind(instruction).is_none();
                sources.iter().for_each(|source| visit(*source, row));
            }
            Op::Load(access) => visit(access.address.base, !self.is_address(access)),
            Op::Store(access) => {
                visit(access.address.base, !self.is_address(access));
                access.registers.iter().for_each(|register| visit(*register, true));
            }
            _ => {
                visit_reads(instruction, &mut |register| visit(register, true));
            }
        }
    }
}

struct Finder<'k> {
    kernel: &'k Kernel,
    blocks: &'k Blocks,
    liveness: &'k Liveness,
    copies: &'k HashMap<Register, (Register, Width, Constant)>,
    exprs: Exprs,
    known: HashMap<Register, Known>,
    rejected: HashSet<Register>,
}

impl Finder<'_> {
    /// From the constants on, what follows for all registers. What nothing speaks against is taken to be regular.
    fn propagate(&mut self) {
        self.known.clear();
        for (register, width, constant) in &self.kernel.constants {
            let known = self.constant(*register, *width, *constant);
            self.known.insert(*register, known);
        }
        let mut changed = true;
        while changed {
            changed = false;
            for instruction in &self.kernel.code {
                let mut outs = Vec::new();
                visit_writes(instruction, &mut |out, width| outs.push((out, width)));
                for (out, width) in outs {
                    let Some(new) = self.result(instruction, out, width) else { continue };
                    let joined = self.known.get(&out).map_or(new, |old| join(*old, new));
                    changed |= self.known.insert(out, joined) != Some(joined);
                }
            }
        }
    }

    fn constant(&mut self, register: Register, width: Width, constant: Constant) -> Known {
        let mut value = |expr| Some(self.exprs.make(expr));
        let (shape, value) = match constant {
            Constant::Bits(bits) => {
                let number = if width == Width::Double { bits as i64 } else { low(bits as i64) };
                (UNIFORM, value(Expr::Number(number)))
            }
            Constant::Special(Special::ThreadId(axis)) if axis < 3 => {
                let mut shape = UNIFORM;
                shape[usize::from(axis)] = ONE;
                (shape, None)
            }
            Constant::Special(Special::BlockId(_)) => (UNIFORM, None),
            Constant::Special(
                Special::BlockDim(_)
                | Special::GridDim(_)
                | Special::WarpSize
                | Special::WarpsPerBlock
                | Special::DynamicSharedBytes
                | Special::TotalSharedBytes
                | Special::SharedWindow
                | Special::LocalWindow
                | Special::Zero,
            )
            | Constant::Param { .. }
            | Constant::Global { .. }
            | Constant::Shared { .. }
            | Constant::Function { .. } => (UNIFORM, value(Expr::Row(register, width))),
            Constant::Special(_) => return Known::Row,
        };
        Known::Shaped { shape, value }
    }

    /// What an instruction makes of a register; `None` while nothing is known of its sources.
    fn result(&mut self, instruction: &Instruction, out: Register, width: Width) -> Option<Known> {
        let whole = match self.kernel.row_kinds.get(out.0 as usize) {
            Some(RowKind::Single) => width == Width::Single,
            Some(RowKind::Lower) => width == Width::Double,
            _ => false,
        };
        let Op::Pure { info, sources, .. } = &instruction.op else { return Some(Known::Row) };
        if !whole
            || instruction.guard != Condition::ALWAYS
            || self.rejected.contains(&out)
            || contains(self.liveness.exchanged(), out)
        {
            return Some(Known::Row);
        }
        let mut shapes = [UNIFORM; 4];
        let mut values = [None; 4];
        let used = info.sources.iter().take_while(|width| **width != Width::None).count();
        for (index, source) in sources.iter().enumerate().take(used) {
            let Known::Shaped { shape, value } = *self.known.get(source)? else { return Some(Known::Row) };
            (shapes[index], values[index]) = (shape, value);
        }
        let uniform = shapes == [UNIFORM; 4];
        let Some(linear) = linear(info) else {
            return Some(if uniform { Known::Shaped { shape: UNIFORM, value: None } } else { Known::Row });
        };
        let exprs = &mut self.exprs;
        let shape = linear_shape(exprs, linear, shapes, values);
        let value = linear_value(exprs, linear, values).filter(|_| uniform);
        Some(match shape {
            Some(shape) if info.out == Width::Single => {
                let shape = exprs.each(shape, Expr::Low);
                Known::Shaped { shape, value: value.map(|value| exprs.make(Expr::Low(value))) }
            }
            Some(shape) => Known::Shaped { shape, value },
            None if uniform => Known::Shaped { shape: UNIFORM, value },
            None => Known::Row,
        })
    }

    /// Leaves to rows what some lanes write while others wait elsewhere with a value of their own.
    fn reject_divergent(&mut self) {
        let uniform = self.uniform_predicates();
        for block in 0..self.blocks.count() {
            let Some(last) = self.kernel.code.get(self.blocks.range(block).end - 1) else { continue };
            let diverges = match &last.op {
                Op::Branch { .. } => !uniform[last.guard.predicate.0 as usize],
                Op::BranchIndexed { .. } => true,
                _ => false,
            };
            let ways = self.blocks.successors(block);
            for (index, one) in ways.iter().enumerate().filter(|_| diverges) {
                for other in &ways[index + 1..] {
                    let (one, other) = (*one, *other);
                    let earlier = self.blocks.rank(one) < self.blocks.rank(other);
                    let (first, second) = if earlier { (one, other) } else { (other, one) };
                    // The first run until they come to where the others are, or beyond. Then those catch up.
                    for meeting in self.reject_written(first, second) {
                        if meeting != second {
                            self.reject_written(second, meeting);
                        }
                    }
                }
            }
        }
    }

    /// Rejects what is needed at the start of the block `waiting` and written on the ways from `from` to blocks that do
    /// not come before that. Returns these.
    fn reject_written(&mut self, from: usize, waiting: usize) -> Vec<usize> {
        let limit = self.blocks.rank(waiting);
        let place = self.blocks.range(waiting).start as u32;
        let mut beyond = Vec::new();
        let mut seen = vec![false; self.blocks.count()];
        let mut open = vec![from];
        while let Some(block) = open.pop() {
            if std::mem::replace(&mut seen[block], true) {
                continue;
            }
            if self.blocks.rank(block) >= limit {
                beyond.push(block);
                continue;
            }
            for pc in self.blocks.range(block) {
                let (liveness, rejected) = (self.liveness, &mut self.rejected);
                visit_writes(&self.kernel.code[pc], &mut |out, _| {
                    if liveness.needs(place, out) {
                        rejected.insert(out);
                    }
                });
            }
            open.extend(self.blocks.successors(block));
        }
        beyond
    }

    /// Which predicates are the same in all lanes that run.
    fn uniform_predicates(&self) -> Vec<bool> {
        let is_uniform = |register: &Register| {
            matches!(self.known.get(register), Some(Known::Shaped { shape: UNIFORM, .. }))
        };
        let mut uniform = vec![true; self.kernel.predicates as usize];
        let mut changed = true;
        while changed {
            changed = false;
            for instruction in &self.kernel.code {
                let holds = |condition: &Condition| uniform[condition.predicate.0 as usize];
                let (outs, same): (Vec<Predicate>, bool) = match &instruction.op {
                    Op::Test { out, inverse, sources, combine, .. } => {
                        let combined = combine.as_ref().is_none_or(|(_, condition)| holds(condition));
                        (
                            std::iter::once(*out).chain(*inverse).collect(),
                            sources.iter().all(is_uniform) && combined && holds(&instruction.guard),
                        )
                    }
                    Op::Logic { out, a, b, .. } => {
                        (vec![*out], holds(a) && holds(b) && holds(&instruction.guard))
                    }
                    op => (written_predicates(op), false),
                };
                for out in outs {
                    changed |= uniform[out.0 as usize] && !same;
                    uniform[out.0 as usize] &= same;
                }
            }
        }
        uniform
    }

    fn finish(self) -> Option<Affine> {
        let mut affine = Affine {
            exprs: Vec::new(),
            shapes: vec![UNIFORM],
            scalars: HashMap::new(),
            constants: HashMap::new(),
            rows: vec![0; (self.kernel.rows as usize + 1).div_ceil(64)],
        };
        let constants: HashSet<Register> =
            self.kernel.constants.iter().map(|(register, ..)| *register).collect();
        let mut written = HashMap::new();
        for instruction in &self.kernel.code {
            visit_writes(instruction, &mut |out, width| {
                written.insert(out, width);
            });
        }
        let mut shaped: Vec<(Register, Shape)> = self
            .known
            .iter()
            .filter_map(|(register, known)| match known {
                Known::Shaped { shape, .. } => Some((*register, *shape)),
                Known::Row => None,
            })
            .collect();
        shaped.sort_unstable_by_key(|(register, _)| register.0);
        for (register, shape) in shaped {
            let at = affine.shapes.iter().position(|other| *other == shape).unwrap_or_else(|| {
                affine.shapes.push(shape);
                affine.shapes.len() - 1
            });
            if constants.contains(&register) || self.copies.contains_key(&register) {
                affine.constants.insert(register, at as u32);
            } else if let Some(width) = written.get(&register) {
                affine.scalars.insert(register, Scalar { shape: at as u32, width: *width, row: false });
            }
        }
        loop {
            let (mut as_scalar, mut as_row) = (HashSet::new(), HashSet::new());
            for instruction in &self.kernel.code {
                affine.visit_reads(instruction, &mut |register, row| {
                    if row { &mut as_row } else { &mut as_scalar }.insert(register);
                });
            }
            // What is read as rows only had better be computed as rows.
            let before = affine.scalars.len();
            affine.scalars.retain(|register, _| as_scalar.contains(register));
            if affine.scalars.len() == before {
                for (register, scalar) in &mut affine.scalars {
                    scalar.row = as_row.contains(register);
                }
                let copies = self.copies;
                let root = |register: &Register| copies.get(register).map_or(*register, |(root, ..)| *root);
                for row in as_row.iter().map(root).filter(|row| constants.contains(row)) {
                    affine.rows[row.0 as usize / 64] |= 1 << (row.0 % 64);
                }
                break;
            }
        }
        affine.exprs = self.exprs.list;
        (!affine.scalars.is_empty()).then_some(affine)
    }
}

fn join(old: Known, new: Known) -> Known {
    match (old, new) {
        (Known::Shaped { shape, value }, Known::Shaped { shape: other, value: other_value })
            if shape == other =>
        {
            Known::Shaped { shape, value: value.filter(|_| value == other_value) }
        }
        _ => Known::Row,
    }
}

/// By how much the result of an operation grows; `None` if that depends on more than the launch.
fn linear_shape(
    exprs: &mut Exprs,
    linear: Linear,
    [a, b, c, _]: [Shape; 4],
    values: [Option<Id>; 4],
) -> Option<Shape> {
    let product = |exprs: &mut Exprs, factor: fn(&mut Exprs, Id) -> Id| match values {
        [_, Some(value), ..] => {
            let value = factor(exprs, value);
            Some(exprs.each(a, |id| Expr::Mul(id, value)))
        }
        [Some(value), ..] => {
            let value = factor(exprs, value);
            Some(exprs.each(b, |id| Expr::Mul(id, value)))
        }
        _ => None,
    };
    let as_is: fn(&mut Exprs, Id) -> Id = |_, id| id;
    let low: fn(&mut Exprs, Id) -> Id = |exprs, id| exprs.make(Expr::Low(id));
    let low_unsigned: fn(&mut Exprs, Id) -> Id = |exprs, id| exprs.make(Expr::LowUnsigned(id));
    match linear {
        Linear::Copy | Linear::Widen { .. } | Linear::Truncate => Some(a),
        Linear::Add => Some(exprs.pair(a, b, Expr::Add)),
        Linear::Sub => Some(exprs.pair(a, b, Expr::Sub)),
        Linear::Neg => Some(exprs.each(a, |id| Expr::Sub(ZERO, id))),
        Linear::MulLow => product(exprs, as_is),
        Linear::MulWide { signed } => product(exprs, if signed { low } else { low_unsigned }),
        Linear::MadLow => {
            let product = product(exprs, as_is)?;
            Some(exprs.pair(product, c, Expr::Add))
        }
        Linear::MadWide { signed } => {
            let product = product(exprs, if signed { low } else { low_unsigned })?;
            Some(exprs.pair(product, c, Expr::Add))
        }
        Linear::ShiftLeft => {
            let amount = exprs.number(values[1]?)?;
            let factor = exprs.make(Expr::Number(if (0..63).contains(&amount) { 1 << amount } else { 0 }));
            Some(exprs.each(a, |id| Expr::Mul(id, factor)))
        }
    }
}

/// The result of an operation on known values.
fn linear_value(exprs: &mut Exprs, linear: Linear, values: [Option<Id>; 4]) -> Option<Id> {
    let [a, b, c, _] = values;
    match linear {
        Linear::Copy | Linear::Truncate => a,
        Linear::Add => Some(exprs.make(Expr::Add(a?, b?))),
        Linear::Sub => Some(exprs.make(Expr::Sub(a?, b?))),
        Linear::Neg => Some(exprs.make(Expr::Sub(ZERO, a?))),
        Linear::MulLow => Some(exprs.make(Expr::Mul(a?, b?))),
        Linear::MadLow => {
            let product = exprs.make(Expr::Mul(a?, b?));
            Some(exprs.make(Expr::Add(product, c?)))
        }
        Linear::ShiftLeft | Linear::Widen { .. } | Linear::MulWide { .. } | Linear::MadWide { .. } => None,
    }
}

/// The predicates that an instruction other than a test or logic writes.
fn written_predicates(op: &Op) -> Vec<Predicate> {
    use crate::program::instruction::{BarrierKind, Collective, MemoryBarrierAction};
    match op {
        Op::Barrier { kind: BarrierKind::Combine { out, .. }, .. } => vec![*out],
        Op::MemoryBarrier(barrier) => match barrier.action {
            MemoryBarrierAction::Test { out, .. } => vec![out],
            _ => Vec::new(),
        },
        Op::Collective { operation, .. } => match operation {
            Collective::Shuffle { inside, .. } => inside.iter().copied().collect(),
            Collective::MatchAll { agreed, .. } => agreed.iter().copied().collect(),
            Collective::VoteAll { out, .. }
            | Collective::VoteAny { out, .. }
            | Collective::VoteUniform { out, .. }
            | Collective::Elect { elected: out, .. } => vec![*out],
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}
