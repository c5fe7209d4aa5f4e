//! Matrix products of a warp: `mma.sync`, `wmma`, `ldmatrix`.

use super::modifiers::Modifiers;
use super::operands::width_of;
use super::{Decoded, Decoder};
use crate::exec::semantics::Width;
use crate::program::instruction::{Layout, Matrix, MatrixMove, MatrixProduct, Op, Part, Register};
use crate::program::types::Type;
use crate::ptx::{Instruction, Operand, Space};

/// Rows, columns and depth of a product.
const SHAPES: [(&str, [u32; 3]); 9] = [
    ("m16n8k4", [16, 8, 4]),
    ("m16n8k8", [16, 8, 8]),
    ("m16n8k16", [16, 8, 16]),
    ("m16n8k32", [16, 8, 32]),
    ("m8n8k4", [8, 8, 4]),
    ("m16n16k16", [16, 16, 16]),
    ("m32n8k16", [32, 8, 16]),
    ("m8n32k16", [8, 32, 16]),
    ("m16n16k8", [16, 16, 8]),
];

const SPACES: [(&str, Space); 3] =
    [("global", Space::Global), ("shared", Space::Shared), ("shared::cta", Space::Shared)];

impl<'s> Decoder<'_, '_, 's> {
    /// Decodes the instruction if it is about matrices; `false` if not.
    pub(super) fn matrix(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<bool> {
        match i.opcode {
            "ldmatrix" => self.load_rows(i, m),
            "mma" => self.product(i, m, Layout::Documented),
            "wmma" if m.flag("mma") => self.product(i, m, Layout::Opaque),
            "wmma" => self.move_fragment(i, m),
            _ => Ok(false),
        }
    }

    fn registers(&mut self, operand: &Operand<'s>, ty: Type) -> Decoded<Vec<Register>> {
        let parts = match operand {
            Operand::Vector(parts) => parts.as_slice(),
            single => std::slice::from_ref(single),
        };
        let width = width_of(ty);
        // Packed elements travel in registers of 32 bits.
        let ty = if width == Width::Double { ty } else { Type::B32 };
        parts.iter().map(|part| self.source(part, ty, width)).collect()
    }

    fn load_rows(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<bool> {
        m.ignore(&["sync", "aligned"]);
        let count = m.pick(&[("x1", 1), ("x2", 2), ("x4", 4)]);
        let transposed = m.flag("trans");
        let space = m.pick(&SPACES);
        let (true, Some(count)) = (m.flag("m8n8"), count) else { return Ok(false) };
        if m.ty()? != Type::B16 || space == Some(Space::Global) {
            return Ok(false);
        }
        self.operand_count(i, 2)?;
        let registers = self.registers(self.operand(i, 0)?, Type::B32)?;
        if registers.len() != count {
            return Err(m.unsupported("this number of registers"));
        }
        let address = self.address(self.operand(i, 1)?)?;
        let cache = self.new_cache();
        self.emit(Op::Matrix(Box::new(Matrix::LoadRows { registers, address, space, transposed, cache })));
        Ok(true)
    }

    fn product(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>, layout: Layout) -> Decoded<bool> {
        m.ignore(&["sync", "aligned"]);
        let (row, col) = (m.flag("row"), m.flag("col"));
        // The opaque layout holds either order alike; `row.row` and `col.col` leave one word over.
        if layout == Layout::Opaque {
            m.ignore(&["row", "col"]);
        } else if !(row && col) {
            return Ok(false);
        }
        let Some(shape) = m.pick(&SHAPES) else { return Ok(false) };
        let saturate = m.flag("satfinite");
        let mut types = Vec::new();
        while let Some(ty) = self.element_type(m) {
            types.push(ty);
        }
        let [d, a, b, c] = match types.as_slice() {
            [d, c] => [*d, Type::F16, Type::F16, *c],
            [d, a, b, c] => [*d, *a, *b, *c],
            _ => return Ok(false),
        };
        let known = match layout {
            Layout::Documented => is_product(shape, a, b, c, d),
            Layout::Opaque => matches!(
                (a, b, c, d),
                (Type::F16, Type::F16, Type::F16 | Type::F32, Type::F16 | Type::F32)
                    | (Type::Bf16, Type::Bf16, Type::F32, Type::F32)
                    | (Type::U8, Type::U8, Type::S32, Type::S32)
                    | (Type::S8, Type::S8, Type::S32, Type::S32)
            ),
        };
        if !known || (saturate && d != Type::S32) {
            return Ok(false);
        }
        self.operand_count(i, 4)?;
        let product = MatrixProduct {
            layout,
            shape,
            types: [a, b, c, d],
            a: self.registers(self.operand(i, 1)?, a)?,
            b: self.registers(self.operand(i, 2)?, b)?,
            c: self.registers(self.operand(i, 3)?, c)?,
            d: self.registers(self.operand(i, 0)?, d)?,
            saturate,
        };
        for (part, registers) in
            [(Part::A, &product.a), (Part::B, &product.b), (Part::C, &product.c), (Part::D, &product.d)]
        {
            if registers.len() as u32 != product.registers(part) {
                return Err(m.unsupported("this number of registers"));
            }
        }
        self.emit(Op::Matrix(Box::new(Matrix::Product(product))));
        Ok(true)
    }

    /// The next type of an element; `tf32` is single precision whose low bits do not count.
    fn element_type(&self, m: &mut Modifiers<'_, 's>) -> Option<Type> {
        if m.flag("tf32") { Some(Type::F32) } else { m.next_type() }
    }

    fn move_fragment(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<bool> {
        let store = m.flag("store");
        if !store && !m.flag("load") {
            return Ok(false);
        }
        let part = m.pick(&[("a", Part::A), ("b", Part::B), ("c", Part::C), ("d", Part::D)]);
        m.ignore(&["sync", "aligned"]);
        let by_column = m.pick(&[("row", false), ("col", true)]);
        let shape = m.pick(&SHAPES);
        let space = m.pick(&SPACES);
        let ty = m.ty()?;
        let (Some(part), Some(by_column), Some(shape)) = (part, by_column, shape) else { return Ok(false) };
        if !matches!(ty, Type::F16 | Type::Bf16 | Type::F32 | Type::S32 | Type::U8 | Type::S8) {
            return Ok(false);
        }
        self.operand_count(i, 3)?;
        let (place, values) = if store { (0, 1) } else { (1, 0) };
        let registers = self.registers(self.operand(i, values)?, ty)?;
        let address = self.address(self.operand(i, place)?)?;
        let stride = match i.operands.get(2) {
            Some(operand) => Some(self.source(operand, Type::U32, Width::Single)?),
            None => None,
        };
        let cache = self.new_cache();
        let fragment =
            MatrixMove { store, part, by_column, shape, space, ty, registers, address, stride, cache };
        self.emit(Op::Matrix(Box::new(Matrix::Move(fragment))));
        Ok(true)
    }
}

/// Whether `mma.sync` has this product.
fn is_product(shape: [u32; 3], a: Type, b: Type, c: Type, d: Type) -> bool {
    use Type::*;
    match (shape, a, b, c, d) {
        ([16, 8, 8 | 16], F16, F16, F16, F16) | ([16, 8, 8 | 16], F16 | Bf16, _, F32, F32) => a == b,
        ([16, 8, 4 | 8], F32, F32, F32, F32) => true,
        ([16, 8, 16 | 32], U8 | S8, U8 | S8, S32, S32) => true,
        ([8, 8, 4], F64, F64, F64, F64) => true,
        _ => false,
    }
}
