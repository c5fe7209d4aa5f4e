//! Creates the steps on registers with regular lanes.

use super::affine::is_sign;
use super::growth::{Condition, Operand};
use super::step::{Action, Guard, ScalarAccess, ScalarSelect, ScalarStep, ScalarTest, UniformLoad};
use super::translate::Translator;
use crate::program::RowKind;
use crate::program::instruction::{Instruction, Op};
use crate::program::memory;
use crate::semantics::lower::Lower;
use crate::semantics::{Register, Width};

impl Translator<'_> {
    /// Returns the step of an instruction on registers with regular lanes.
    pub(super) fn regular(&mut self, instruction: &Instruction) -> Option<Action> {
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
                let mut condition = None;
                if let Some((source, signed)) = affine.extended(info, sources) {
                    condition = Some(Condition::NoWrap { source: operand(source)?, signed });
                } else if let Some(source) = affine.thread(info, sources) {
                    let is_sign = self.number(sources[1]).is_some_and(|amount| is_sign(info, amount as i64));
                    let other = if source == sources[0] { sources[1] } else { sources[0] };
                    let other = if info.lower == Lower::Or { Some(operand(other)?) } else { None };
                    let source = operand(source)?;
                    let thread = Condition::Thread { source, other };
                    condition = Some(if is_sign { Condition::Sign(source) } else { thread });
                }
                Some(Action::Scalar(Box::new(ScalarStep {
                    run: info.rows.map(|rows| rows[self.level as usize]).ok_or(*info),
                    out: operand(*out)?,
                    sources: sources.map(|source| self.row(source)),
                    condition,
                    expand: scalar.row,
                })))
            }
            Op::Select { out, a, b, condition, .. } => {
                let expand = affine.scalars.get(out)?.row;
                Some(Action::ScalarSelect(Box::new(ScalarSelect {
                    out: operand(*out)?,
                    sources: [self.row(*a), self.row(*b)],
                    condition: Guard::of(*condition),
                    expand,
                })))
            }
            Op::Test { info, out, sources: [a, b], .. } => {
                let kind = affine.test_kind(instruction)?;
                let test = self.rows_test(info, [*a, *b])?;
                let operands = [operand(*a)?, operand(*b)?];
                Some(Action::ScalarTest(Box::new(ScalarTest { test, kind, operands, out: out.0 })))
            }
            Op::Load(access) | Op::Store(access) if affine.is_address(access) => {
                let address = operand(access.address.base)?;
                let is_load = matches!(instruction.op, Op::Load(_));
                let loaded = if is_load { &access.registers[..] } else { &[] };
                let scalars = loaded.iter().filter(|register| affine.scalars.contains_key(register));
                let scalars: Vec<_> = scalars.filter_map(|register| operand(*register)).collect();
                self.regular_access(access, is_load, address, scalars)
            }
            _ => None,
        }
    }

    /// Returns the step of a load or store at a regular address, which also stores some of the
    /// registers that it loads for the first lane.
    fn regular_access(
        &mut self,
        access: &memory::Access,
        is_load: bool,
        address: Operand,
        scalars: Vec<Operand>,
    ) -> Option<Action> {
        // Regular addresses need no index.
        let by_row = self.access(u32::MAX, access, is_load)?;
        let bytes = access.total_bytes();
        let pattern = (address.shape, bytes);
        let pattern = *self.known_accesses.entry(pattern).or_insert_with(|| {
            self.accesses.push(pattern);
            self.accesses.len() as u32 - 1
        });
        let is_generic = access.space.is_none();
        let access = ScalarAccess { address, pattern, by_row };
        Some(match (is_load, scalars.is_empty()) {
            (true, false) => Action::UniformLoad(Box::new(UniformLoad { access, is_generic, scalars })),
            (true, true) => Action::ScalarLoad(Box::new(access)),
            _ => Action::ScalarStore(Box::new(access)),
        })
    }
}
