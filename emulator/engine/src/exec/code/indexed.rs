//! Accesses that compute their addresses themselves: base plus index times size.

use super::liveness::may_wait;
use super::step::AccessSpace;
use super::translate::Translator;
use super::uses::visit_writes;
use crate::program::instruction::{Condition, Constant, Op};
use crate::program::memory;
use crate::semantics::known::{Linear, linear};
use crate::semantics::{Register, Width};
use std::collections::HashMap;

/// Maximum distance at which instructions that compute an address are searched.
const MOST_DISTANCE: u32 = 256;

/// An address of the form base plus index times the size of the access.
pub(super) struct Indexed {
    pub(super) base: Register,
    pub(super) index: Register,
    pub(super) signed: bool,
    pub(super) instructions: [u32; 2],
}

impl Translator<'_> {
    /// Finds accesses whose address was just computed, and drops instructions that only do that.
    pub(super) fn find_indexed(&mut self) {
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
            // If a product has no row, its index may have none either.
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

    /// Returns an address as base and index, if computed in the same block and unchanged since.
    fn find_index(&self, pc: u32, access: &memory::Access) -> Option<Indexed> {
        if access.address.width != Width::Double {
            return None;
        }
        let bytes = u64::from(access.bytes) * access.registers.len() as u64;
        let addition = self.definition(pc, access.address.base)?;
        let (Linear::Add, Width::Double, [a, b, ..]) = self.operation(addition)? else { return None };
        [(a, b), (b, a)].into_iter().find_map(|(base, product)| {
            let base = self.uniform(base)?;
            let multiplication = self.definition(addition, product)?;
            let (Linear::MulWide { signed }, _, [index, factor, ..]) = self.operation(multiplication)? else {
                return None;
            };
            let (_, factor) = self.constants.get(&factor)?;
            let unchanged = (multiplication + 1..pc).all(|between| {
                !self.writes(between, index) && !may_wait(&self.kernel.code[between as usize].op)
            });
            // The plain mode computes both again, and must not undo later changes of the product.
            let unchanged = unchanged && !(addition + 1..pc).any(|between| self.writes(between, product));
            // If the product is computed only for the first lane, its index may have no row.
            let scalar = self.affine.as_ref().is_some_and(|affine| affine.scalars.contains_key(&product));
            (*factor == Constant::Bits(bytes) && unchanged && !scalar).then_some(Indexed {
                base,
                index,
                signed,
                instructions: [multiplication, addition],
            })
        })
    }

    /// Returns the position of the last write of a register, in the block, shortly before `pc`.
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

    /// Returns the operation of an instruction without a guard, its result's width, its sources.
    fn operation(&self, pc: u32) -> Option<(Linear, Width, [Register; 4])> {
        let instruction = &self.kernel.code[pc as usize];
        let Op::Pure { info, sources, .. } = &instruction.op else { return None };
        if instruction.guard != Condition::ALWAYS {
            return None;
        }
        Some((linear(info)?, info.out, *sources))
    }

    /// Returns the constant row equal to a register, if all threads have the same value in it.
    fn uniform(&self, register: Register) -> Option<Register> {
        let root = self.copies.get(&register).map_or(register, |(root, ..)| *root);
        let (_, constant) = self.constants.get(&root).filter(|(width, _)| *width == Width::Double)?;
        (!matches!(constant, Constant::Special(_))).then_some(root)
    }
}
