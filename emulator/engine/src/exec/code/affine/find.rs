//! The analysis.

use super::analysis::may_be_regular;
use super::expr::{Expr, Exprs, Growth, Id, ONE, UNIFORM, low};
use super::linear::{linear_shape, linear_value};
use super::warps::{self, Low, Source};
use super::{Affine, Scalar};
use crate::exec::code::liveness::{Liveness, contains};
use crate::exec::code::uses::{visit_reads, visit_writes};
use crate::program::blocks::Blocks;
use crate::program::instruction::{Condition, Constant, Instruction, Op, Special};
use crate::program::memory::Access;
use crate::program::{Kernel, RowKind, effects};
use crate::semantics::known::linear;
use crate::semantics::{Predicate, PureInfo, Register, Width};
use std::collections::{HashMap, HashSet, VecDeque};

/// Maximum number of instructions that the analysis examines before it gives up: per instruction of
/// the kernel, and the minimum of this limit.
const MOST_LOOKS: usize = 256;
const LEAST_LOOKS: usize = 1 << 16;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Known {
    /// Irregular: it needs a row.
    Row,
    Shaped {
        shape: Growth,
        /// The value, if it is the same in all threads and known at launch.
        value: Option<Id>,
        low: Low,
    },
}

impl Known {
    /// The same in all lanes, and no more is known.
    const UNIFORM: Known = Known::Shaped { shape: UNIFORM, value: None, low: Low::UNKNOWN };
}

impl Affine {
    /// Runs the analysis. `copies` are registers equal to constant rows. Returns `None` if there is
    /// nothing to gain, or if the analysis would take more than linear time.
    pub(in crate::exec) fn find(
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
            looks: LEAST_LOOKS + MOST_LOOKS * kernel.code.len(),
            seen: vec![0; blocks.count()],
            searches: 0,
            tests: tests(kernel),
            has_local_addresses: kernel
                .constants
                .iter()
                .any(|(.., constant)| *constant == Constant::Special(Special::LocalWindow)),
        };
        let users = finder.users();
        finder.assume_constants();
        let mut open: VecDeque<u32> = (0..kernel.code.len() as u32).collect();
        while !open.is_empty() {
            finder.propagate(&users, open);
            let before = finder.rejected.clone();
            finder.reject_divergent()?;
            let rejected: Vec<&Register> = finder.rejected.difference(&before).collect();
            open = rejected.iter().flat_map(|register| users.writers(**register)).copied().collect();
        }
        finder.finish(&users)
    }
}

pub(super) struct Finder<'k> {
    pub(super) kernel: &'k Kernel,
    pub(super) blocks: &'k Blocks,
    pub(super) liveness: &'k Liveness,
    copies: &'k HashMap<Register, (Register, Width, Constant)>,
    exprs: Exprs,
    pub(super) known: HashMap<Register, Known>,
    pub(super) rejected: HashSet<Register>,
    /// Number of instructions that may still be examined.
    pub(super) looks: usize,
    /// The last search that visited each block, and the number of searches.
    pub(super) seen: Vec<usize>,
    pub(super) searches: usize,
    /// The operands of the comparisons that set each predicate; none if others set it too.
    tests: HashMap<Predicate, Vec<[Register; 2]>>,
    /// True if the kernel converts addresses in local memory to addresses without a space.
    has_local_addresses: bool,
}

/// The instructions that read and write each register.
struct Users {
    readers: HashMap<Register, Vec<u32>>,
    writers: HashMap<Register, Vec<u32>>,
}

impl Users {
    fn readers(&self, register: Register) -> &[u32] {
        self.readers.get(&register).map_or(&[], Vec::as_slice)
    }

    fn writers(&self, register: Register) -> &[u32] {
        self.writers.get(&register).map_or(&[], Vec::as_slice)
    }
}

impl Finder<'_> {
    fn users(&self) -> Users {
        let mut users = Users { readers: HashMap::new(), writers: HashMap::new() };
        for (pc, instruction) in (0..).zip(&self.kernel.code) {
            visit_writes(instruction, &mut |out, _| users.writers.entry(out).or_default().push(pc));
            if let Op::Pure { .. } | Op::Load(_) | Op::Select { .. } = instruction.op {
                visit_reads(instruction, &mut |source| users.readers.entry(source).or_default().push(pc));
            }
            if let Op::Select { condition, .. } = &instruction.op {
                let tests = self.tests.get(&condition.predicate).into_iter().flatten();
                tests.flatten().for_each(|source| users.readers.entry(*source).or_default().push(pc));
            }
        }
        users
    }

    fn assume_constants(&mut self) {
        for (register, width, constant) in &self.kernel.constants {
            let known = self.constant(*register, *width, *constant);
            self.known.insert(*register, known);
        }
        // A register that is read before it is written is zero then, so its value is irregular.
        self.known.extend(self.kernel.unwritten().registers.iter().map(|register| (*register, Known::Row)));
    }

    /// Propagates from these instructions to all registers. A register counts as regular until an
    /// instruction contradicts this. Its state changes at most twenty times: linear time.
    fn propagate(&mut self, users: &Users, mut open: VecDeque<u32>) {
        let mut waits = vec![false; self.kernel.code.len()];
        open.iter().for_each(|pc| waits[*pc as usize] = true);
        while let Some(pc) = open.pop_front() {
            waits[pc as usize] = false;
            let instruction = &self.kernel.code[pc as usize];
            let mut outs = Vec::new();
            visit_writes(instruction, &mut |out, width| outs.push((out, width)));
            for (out, width) in outs {
                let Some(new) = self.result(instruction, out, width) else { continue };
                let joined = self.known.get(&out).map_or(new, |old| join(*old, new));
                if self.known.insert(out, joined) == Some(joined) {
                    continue;
                }
                for reader in users.readers(out) {
                    if !std::mem::replace(&mut waits[*reader as usize], true) {
                        open.push_back(*reader);
                    }
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
            // The same in all threads of a block.
            Constant::Special(
                Special::BlockId(_)
                | Special::ClusterId(_)
                | Special::BlockIdInCluster(_)
                | Special::BlockRank
                | Special::OwnSharedWindow,
            )
            | Constant::Shared { .. } => (UNIFORM, None),
            Constant::Special(
                Special::BlockDim(_)
                | Special::GridDim(_)
                | Special::WarpSize
                | Special::WarpsPerBlock
                | Special::DynamicSharedBytes
                | Special::TotalSharedBytes
                | Special::GridDimInClusters(_)
                | Special::ClusterDim(_)
                | Special::BlocksPerCluster
                | Special::SharedWindow
                | Special::LocalWindow
                | Special::Zero,
            )
            | Constant::Param { .. }
            | Constant::Global { .. }
            | Constant::Function { .. } => (UNIFORM, value(Expr::Row(register, width))),
            Constant::Special(_) => return Known::Row,
        };
        Known::Shaped { shape, value, low: Low::of_constant(constant) }
    }

    /// Returns the state of a register after an instruction; `None` while its sources are unknown.
    fn result(&mut self, instruction: &Instruction, out: Register, width: Width) -> Option<Known> {
        let whole = match self.kernel.row_kinds.get(out.0 as usize) {
            Some(RowKind::Single) => width == Width::Single,
            Some(RowKind::Lower) => width == Width::Double,
            _ => false,
        };
        if !whole
            || instruction.guard != Condition::ALWAYS
            || self.rejected.contains(&out)
            || contains(self.liveness.exchanged(), out)
        {
            return Some(Known::Row);
        }
        match &instruction.op {
            Op::Pure { info, sources, .. } => self.computed(info, sources),
            Op::Load(access) => self.loaded(access),
            Op::Select { a, b, condition, .. } => self.selected([a, b], condition.predicate),
            _ => Some(Known::Row),
        }
    }

    /// Returns the state of the result of a load: lanes with equal addresses load the same.
    fn loaded(&self, access: &Access) -> Option<Known> {
        let Known::Shaped { shape, .. } = *self.known.get(&access.address.base)? else {
            return Some(Known::Row);
        };
        // An address without a space may be one in local memory, if the kernel computes these.
        let is_anywhere = access.space.is_none() && self.has_local_addresses;
        let same = shape == UNIFORM && may_be_regular(access) && !is_anywhere;
        Some(if same { Known::UNIFORM } else { Known::Row })
    }

    /// Returns the state of a selected number, if lanes mostly agree about the condition.
    fn selected(&self, sources: [&Register; 2], predicate: Predicate) -> Option<Known> {
        let [a, b] = [*self.known.get(sources[0])?, *self.known.get(sources[1])?];
        let tests = self.tests.get(&predicate).map_or(&[][..], Vec::as_slice);
        let mut agree = !tests.is_empty();
        for source in tests.iter().flatten() {
            let tested = self.known.get(source)?;
            agree &= matches!(tested, Known::Shaped { low, .. } if !low.is_lane);
        }
        Some(match join(a, b) {
            Known::Shaped { shape, low, .. } if agree => Known::Shaped { shape, value: None, low },
            _ => Known::Row,
        })
    }

    /// Returns the state of the result of an operation.
    fn computed(&mut self, info: &PureInfo, sources: &[Register; 4]) -> Option<Known> {
        let mut shapes = [UNIFORM; 4];
        let mut values = [None; 4];
        let mut lows = [Low::UNKNOWN; 4];
        let used = info.sources.iter().take_while(|width| **width != Width::None).count();
        for (index, source) in sources.iter().enumerate().take(used) {
            let Known::Shaped { shape, value, low } = *self.known.get(source)? else {
                return Some(Known::Row);
            };
            (shapes[index], values[index], lows[index]) = (shape, value, low);
        }
        let uniform = shapes == [UNIFORM; 4];
        let otherwise = if uniform { Known::UNIFORM } else { Known::Row };
        let exprs = &mut self.exprs;
        let numbers = [values[0], values[1]].map(|value| exprs.number(value?));
        let Some(linear) = linear(info) else {
            let source = |at: usize| Source { shape: shapes[at], low: lows[at], number: numbers[at] };
            let part = warps::part(exprs, info, [source(0), source(1)]);
            return Some(part.map_or(otherwise, |(shape, low)| Known::Shaped { shape, value: None, low }));
        };
        let low = Low::of_linear(linear, lows, numbers[1]);
        let shape = linear_shape(exprs, linear, shapes, values);
        let value = linear_value(exprs, linear, values).filter(|_| uniform);
        Some(match shape {
            Some(shape) if info.out == Width::Single => {
                let shape = exprs.each(shape, Expr::Low);
                Known::Shaped { shape, value: value.map(|value| exprs.make(Expr::Low(value))), low }
            }
            Some(shape) => Known::Shaped { shape, value, low },
            None if uniform => Known::Shaped { shape: UNIFORM, value, low },
            None => Known::Row,
        })
    }

    fn finish(self, users: &Users) -> Option<Affine> {
        let mut affine = Affine {
            exprs: Vec::new(),
            shapes: vec![UNIFORM],
            scalars: HashMap::new(),
            constants: HashMap::new(),
            lanes: HashSet::new(),
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
        let mut shaped: Vec<(Register, Growth, Low)> = self
            .known
            .iter()
            .filter_map(|(register, known)| match known {
                Known::Shaped { shape, low, .. } => Some((*register, *shape, *low)),
                Known::Row => None,
            })
            .collect();
        shaped.sort_unstable_by_key(|(register, ..)| register.0);
        let mut places = HashMap::from([(UNIFORM, 0)]);
        for (register, shape, low) in shaped {
            if low.is_lane {
                affine.lanes.insert(register);
            }
            let at = *places.entry(shape).or_insert_with(|| {
                affine.shapes.push(shape);
                affine.shapes.len() - 1
            });
            if constants.contains(&register) || self.copies.contains_key(&register) {
                affine.constants.insert(register, at as u32);
            } else if let Some(width) = written.get(&register) {
                affine.scalars.insert(register, Scalar { shape: at as u32, width: *width, row: false });
            }
        }
        self.drop_rows(&mut affine, users);
        self.find_rows(&mut affine, &constants);
        affine.exprs = self.exprs.list;
        (!affine.scalars.is_empty()).then_some(affine)
    }

    /// Finds scalars and constants that are also read as rows.
    fn find_rows(&self, affine: &mut Affine, constants: &HashSet<Register>) {
        let mut as_row = HashSet::new();
        for instruction in &self.kernel.code {
            affine.visit_reads(instruction, &mut |register, row| {
                if row {
                    as_row.insert(register);
                }
            });
        }
        for (register, scalar) in &mut affine.scalars {
            scalar.row = as_row.contains(register);
        }
        for register in &as_row {
            // Steps read the constant row, but the plain mode, which runs an access outside its
            // window, reads the copy.
            let root = self.copies.get(register).map_or(*register, |(root, ..)| *root);
            for row in [*register, root].into_iter().filter(|_| constants.contains(&root)) {
                affine.rows[row.0 as usize / 64] |= 1 << (row.0 % 64);
            }
        }
    }

    /// Drops scalars that are only read as rows, because it is cheaper to compute them as rows.
    /// Their sources are then also read as rows.
    fn drop_rows(&self, affine: &mut Affine, users: &Users) {
        let mut as_scalar: HashMap<Register, usize> = HashMap::new();
        for instruction in &self.kernel.code {
            affine.visit_reads(instruction, &mut |register, row| {
                *as_scalar.entry(register).or_default() += usize::from(!row);
            });
        }
        let nobody = |reads: Option<&usize>| reads.is_none_or(|reads| *reads == 0);
        let mut open: Vec<Register> =
            affine.scalars.keys().copied().filter(|register| nobody(as_scalar.get(register))).collect();
        while let Some(register) = open.pop() {
            affine.scalars.remove(&register);
            for pc in users.writers(register) {
                let instruction = &self.kernel.code[*pc as usize];
                let (Op::Pure { .. } | Op::Select { .. }) = instruction.op else { continue };
                visit_reads(instruction, &mut |source| {
                    if let Some(reads) = as_scalar.get_mut(&source) {
                        *reads -= 1;
                        if *reads == 0 && affine.scalars.contains_key(&source) {
                            open.push(source);
                        }
                    }
                });
            }
        }
    }
}

/// Returns the operands of the comparisons that set each predicate; none if others set it too.
fn tests(kernel: &Kernel) -> HashMap<Predicate, Vec<[Register; 2]>> {
    let mut tests: HashMap<Predicate, Option<Vec<[Register; 2]>>> = HashMap::new();
    for instruction in &kernel.code {
        effects::predicates(instruction, &mut |out| {
            let known = tests.entry(out).or_insert_with(|| Some(Vec::new()));
            match &instruction.op {
                Op::Test { info, inverse: None, combine: None, sources, .. } if info.rows.is_some() => {
                    known.iter_mut().for_each(|known| known.push(*sources));
                }
                _ => *known = None,
            }
        });
    }
    tests.into_iter().map(|(predicate, known)| (predicate, known.unwrap_or_default())).collect()
}

fn join(old: Known, new: Known) -> Known {
    match (old, new) {
        (
            Known::Shaped { shape, value, low },
            Known::Shaped { shape: other, value: other_value, low: other_low },
        ) if shape == other => {
            Known::Shaped { shape, value: value.filter(|_| value == other_value), low: low.join(other_low) }
        }
        _ => Known::Row,
    }
}
