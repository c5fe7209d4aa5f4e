//! The registers of a kernel that need no row.

use super::Expr;
use super::expr::{Growth, UNIFORM};
use crate::exec::code::liveness::contains;
use crate::exec::code::step::{AccessSpace, Steps};
use crate::exec::code::uses::visit_reads;
use crate::program::instruction::{Instruction, Op};
use crate::program::memory::Access;
use crate::semantics::known::{Comparison, Linear, comparison, linear};
use crate::semantics::lower::Lower;
use crate::semantics::{PureInfo, Register, Width};
use std::collections::{HashMap, HashSet};

/// Method of a comparison of regular operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::exec) enum TestKind {
    /// Once per warp, because both operands are the same in all lanes.
    Uniform,
    /// By the minimum and maximum of each operand, if they decide it.
    Range(Comparison),
}

/// A register without a row of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::exec) struct Scalar {
    pub(in crate::exec) shape: u32,
    pub(in crate::exec) width: Width,
    /// True if it is also read as a row, so that it needs one.
    pub(in crate::exec) row: bool,
}

#[derive(Debug)]
pub(in crate::exec) struct Affine {
    pub(in crate::exec) exprs: Vec<Expr>,
    pub(in crate::exec) shapes: Vec<Growth>,
    /// Registers that are computed only for the first lane.
    pub(in crate::exec) scalars: HashMap<Register, Scalar>,
    pub(super) constants: HashMap<Register, u32>,
    /// Registers with the number of the lane, whose comparisons have no common result.
    pub(super) lanes: HashSet<Register>,
    /// Constant rows, and copies of them, that are read as rows; one bit each.
    pub(in crate::exec) rows: Vec<u64>,
}

impl Affine {
    pub(in crate::exec) fn shape(&self, register: Register) -> Option<u32> {
        self.scalars
            .get(&register)
            .map(|scalar| scalar.shape)
            .or_else(|| self.constants.get(&register).copied())
    }

    pub(super) fn is_uniform(&self, register: Register) -> bool {
        self.shape(register).is_some_and(|shape| self.shapes[shape as usize] == UNIFORM)
    }

    /// Returns the method of a comparison, if it needs no rows.
    pub(in crate::exec) fn test_kind(&self, instruction: &Instruction) -> Option<TestKind> {
        let Op::Test { info, inverse: None, combine: None, sources: [a, b], .. } = &instruction.op else {
            return None;
        };
        let constant = |register| self.constants.contains_key(register);
        let is_lane = |register| self.lanes.contains(register);
        if info.rows.is_none() || constant(a) && constant(b) || is_lane(a) || is_lane(b) {
            return None;
        }
        if self.is_uniform(*a) && self.is_uniform(*b) {
            return Some(TestKind::Uniform);
        }
        self.shape(*a).and(self.shape(*b))?;
        comparison(info).map(TestKind::Range)
    }

    /// Returns the irregular source that an operation extends to 64 bits; true if signed.
    pub(in crate::exec) fn extended(
        &self,
        info: &PureInfo,
        sources: &[Register; 4],
    ) -> Option<(Register, bool)> {
        let (Linear::Widen { signed } | Linear::MulWide { signed } | Linear::MadWide { signed }) =
            linear(info)?
        else {
            return None;
        };
        let source = sources[..2].iter().find(|source| !self.is_uniform(**source))?;
        // A third source is already wide; a mere extension does not use the second one.
        let used = info.sources[1] != Width::None || *source == sources[0];
        used.then_some((*source, signed))
    }

    /// Returns the number of a thread of which an operation takes a part.
    pub(in crate::exec) fn thread(&self, info: &PureInfo, sources: &[Register; 4]) -> Option<Register> {
        let takes_part = matches!(info.lower, Lower::ShiftRight | Lower::And | Lower::Or);
        sources[..2].iter().copied().find(|source| takes_part && !self.is_uniform(*source))
    }

    /// True if a load or store has a step for a regular address.
    pub(in crate::exec) fn is_address(&self, access: &Access) -> bool {
        may_be_regular(access) && self.shape(access.address.base).is_some()
    }

    /// True if an access needs its address in a row. The plain mode reads a constant from its own.
    fn is_row(&self, access: &Access) -> bool {
        !self.is_address(access) || !self.scalars.contains_key(&access.address.base)
    }

    /// Calls `visit` with each register that an instruction reads, and true if it is read as a row.
    pub(super) fn visit_reads(&self, instruction: &Instruction, visit: &mut dyn FnMut(Register, bool)) {
        match &instruction.op {
            Op::Pure { out, .. } => {
                let row = !self.scalars.contains_key(out);
                visit_reads(instruction, &mut |register| visit(register, row));
            }
            Op::Select { out, a, b, .. } => {
                let row = !self.scalars.contains_key(out);
                [a, b].into_iter().for_each(|source| visit(*source, row));
            }
            Op::Test { sources, .. } => {
                let row = self.test_kind(instruction).is_none();
                sources.iter().for_each(|source| visit(*source, row));
            }
            Op::Load(access) => visit(access.address.base, self.is_row(access)),
            Op::Store(access) => {
                visit(access.address.base, self.is_row(access));
                access.registers.iter().for_each(|register| visit(*register, true));
            }
            _ => {
                visit_reads(instruction, &mut |register| visit(register, true));
            }
        }
    }
}

/// True if a load or store may have a step for a regular address.
pub(super) fn may_be_regular(access: &Access) -> bool {
    // Local memory differs by lane, so equal addresses refer to different bytes.
    // A strong access to global memory has no function for whole warps.
    let strong = |space| space == AccessSpace::Global && access.order.is_strong();
    AccessSpace::of(access).is_some_and(|space| space != AccessSpace::Local && !strong(space))
}

/// True if a constant row must be filled although the code with scalars runs.
pub(in crate::exec) fn reads_row(steps: &Steps, register: Register) -> bool {
    steps.affine.as_ref().is_none_or(|affine| contains(&affine.rows, register))
}
