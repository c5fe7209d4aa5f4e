//! `wgmma`: products of a warp group.

use super::modifiers::Modifiers;
use super::{Decoded, Decoder};
use crate::program::instruction::Op;
use crate::program::matrix::Element;
use crate::program::types::Type;
use crate::program::warp_group::{DEPTH, GroupOp, GroupProduct, LeftFactor, SharedFactor};
use crate::ptx::{Instruction, Operand};
use crate::semantics::{Register, Width};

const ELEMENTS: [(&str, Element); 10] = [
    ("f16", Element::F16),
    ("bf16", Element::Bf16),
    ("tf32", Element::Tf32),
    ("f32", Element::F32),
    ("s32", Element::S32),
    ("u8", Element::U8),
    ("s8", Element::S8),
    ("b1", Element::B1),
    ("e4m3", Element::E4m3),
    ("e5m2", Element::E5m2),
];

impl<'s> Decoder<'_, '_, 's> {
    pub(super) fn warp_group(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        if !self.input.features.of_sm_90a {
            return Err(m.for_target("sm_90a"));
        }
        let Some(&operation) = i.modifiers.first() else { return Err(m.unknown()) };
        if !m.flag(operation) || !m.flag("sync") || !m.flag("aligned") {
            return Err(m.unknown());
        }
        let op = match operation {
            // It orders accesses to registers, which are always ordered here.
            "fence" => return self.operand_count(i, 0),
            "commit_group" => {
                self.operand_count(i, 0)?;
                GroupOp::Commit
            }
            "wait_group" => match (self.operand(i, 0)?, i.operands.len()) {
                (Operand::Int(most), 1) => {
                    GroupOp::Wait { most: u32::try_from(*most).map_err(|_| m.unknown())? }
                }
                _ => return Err(m.unknown()),
            },
            "mma_async" => GroupOp::Product(self.group_product(i, m)?),
            _ => return Err(m.unknown()),
        };
        self.emit(Op::WarpGroup(Box::new(op)));
        Ok(())
    }

    /// Returns 32-bit registers with elements.
    fn held(&mut self, operand: &Operand<'s>, element: Element, ty: Type) -> Decoded<Vec<Register>> {
        let Operand::Vector(parts) = operand else {
            return Err(self.unsupported("this operand where registers belong"));
        };
        for part in parts {
            self.fits(part, ty, false)?;
            if !matches!(part, Operand::Name(_)) {
                return Err(self.unsupported("this operand where a register belongs"));
            }
        }
        self.registers(operand, element)
    }

    fn group_product(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<GroupProduct> {
        let shape = i.modifiers.iter().find_map(|modifier| Some((*modifier, shape(modifier)?)));
        let Some((name, [columns, depth])) = shape else { return Err(m.unknown()) };
        m.ignore(&[name]);
        let saturate = m.flag("satfinite");
        let is_sparse = m.flag("sp");
        let mut types = [Element::F32; 3];
        for ty in &mut types {
            let Some(known) = m.pick(&ELEMENTS) else { return Err(m.unknown()) };
            *ty = known;
        }
        let [d, a, b] = types;
        let bits = i.modifiers.ends_with(&["and", "popc"]) && m.flag("and") && m.flag("popc");
        if !is_product([columns, depth], types, is_sparse) || (a == Element::B1) != bits {
            return Err(m.unknown());
        }
        if saturate && !matches!(a, Element::S8 | Element::U8) {
            return Err(m.unknown());
        }
        let in_registers = matches!(self.operand(i, 1)?, Operand::Vector(_));
        // Signs of floating-point factors, and orders of 16-bit factors in shared memory.
        let signs = if d == Element::S32 { 0 } else { 2 };
        let orders = if a.bits() != 16 { 0 } else { 2 - usize::from(in_registers) };
        // Number of operands between the factors and the scale of the old result.
        let between = if is_sparse { 2 } else { 0 };
        self.operand(i, 3 + between + signs + orders)?;
        self.operand_count(i, 4 + between + signs + orders)?;
        let (negated, transposed) = factor_signs(&i.operands[4 + between..], signs, orders, m)?;
        let mut factor = |index, transposed| -> Decoded<SharedFactor> {
            let operand = self.operand(i, index)?;
            self.fits(operand, Type::B64, false)?;
            Ok(SharedFactor { descriptor: self.source(operand, Type::B64, Width::Double)?, transposed })
        };
        let b_factor = factor(2, transposed[1])?;
        let a_factor = match in_registers {
            false => LeftFactor::Shared(factor(1, transposed[0])?),
            true => LeftFactor::Registers(self.held(self.operand(i, 1)?, a, Type::U32)?),
        };
        let ty = if d == Element::F32 { Type::F32 } else { Type::B32 };
        let held = self.held(self.operand(i, 0)?, d, ty)?;
        let whole = match &a_factor {
            LeftFactor::Registers(registers) => registers.len() == 4,
            LeftFactor::Shared(_) => true,
        };
        if !whole || held.len() as u32 != columns / 2 / d.packed() {
            return Err(m.unsupported("this number of registers"));
        }
        Ok(GroupProduct {
            columns,
            types: [a, b, d],
            a: a_factor,
            sparse: self.sparse(i, is_sparse.then_some(3), (a.bits(), DEPTH * 8 / a.bits()), m)?,
            b: b_factor,
            d: held,
            accumulates: self.condition(self.operand(i, 3 + between)?)?,
            negated,
            saturate,
            cache: self.new_cache(),
        })
    }
}

/// Decodes the immediate operands: if factors are negated, and at the end the transposed ones.
fn factor_signs(
    operands: &[Operand<'_>],
    signs: usize,
    orders: usize,
    m: &Modifiers<'_, '_>,
) -> Decoded<(bool, [bool; 2])> {
    let (signs, named) = operands.split_at(signs);
    let mut negated = false;
    for sign in signs {
        match sign {
            Operand::Int(1) => {}
            Operand::Int(value) if *value == u64::MAX => negated = !negated,
            _ => return Err(m.unsupported("a scale other than 1 and -1")),
        }
    }
    let mut transposed = [false; 2];
    for (operand, order) in named.iter().zip(&mut transposed[2 - orders..]) {
        match operand {
            Operand::Int(value @ 0..=1) => *order = *value == 1,
            _ => return Err(m.unsupported("an order other than 0 and 1")),
        }
    }
    Ok((negated, transposed))
}

/// Returns the columns and the depth of a shape, such as `m64n8k16`.
fn shape(text: &str) -> Option<[u32; 2]> {
    let (columns, depth) = text.strip_prefix("m64n")?.split_once('k')?;
    Some([columns.parse().ok()?, depth.parse().ok()?])
}

/// True if a product of this shape exists for these types of `d`, `a` and `b`.
fn is_product([columns, depth]: [u32; 2], [d, a, b]: [Element; 3], is_sparse: bool) -> bool {
    use Element::*;
    let known = matches!(
        (d, a, b),
        (F16 | F32, F16, F16)
            | (F32, Bf16, Bf16)
            | (F32, Tf32, Tf32)
            | (F16 | F32, E4m3 | E5m2, E4m3 | E5m2)
            | (S32, U8 | S8, U8 | S8)
            | (S32, B1, B1)
    ) && !(is_sparse && a == B1);
    let columns_known = match d {
        S32 => matches!(columns, 8 | 24) || columns % 16 == 0,
        _ => columns % 8 == 0,
    };
    let row = if is_sparse { 512 } else { 256 };
    known && columns_known && (8..=256).contains(&columns) && depth * a.bits() == row
}
