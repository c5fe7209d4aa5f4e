//! Matrix products of a warp: `mma.sync`, `wmma`, `ldmatrix`, `stmatrix`, `movmatrix`.

use super::memory::SPACES;
use super::modifiers::Modifiers;
use super::{Decoded, Decoder};
use crate::program::instruction::Op;
use crate::program::matrix::{Element, Layout, Matrix, MatrixMove, MatrixProduct, MatrixRows, Part};
use crate::program::sparse::Sparse;
use crate::program::types::Type;
use crate::ptx::{Instruction, Operand, Space};
use crate::semantics::{Register, Width};

/// Rows, columns and depth of a product.
const SHAPES: [(&str, [u32; 3]); 15] = [
    ("m16n8k4", [16, 8, 4]),
    ("m16n8k8", [16, 8, 8]),
    ("m16n8k16", [16, 8, 16]),
    ("m16n8k32", [16, 8, 32]),
    ("m16n8k64", [16, 8, 64]),
    ("m16n8k128", [16, 8, 128]),
    ("m16n8k256", [16, 8, 256]),
    ("m8n8k4", [8, 8, 4]),
    ("m8n8k16", [8, 8, 16]),
    ("m8n8k32", [8, 8, 32]),
    ("m8n8k128", [8, 8, 128]),
    ("m16n16k16", [16, 16, 16]),
    ("m32n8k16", [32, 8, 16]),
    ("m8n32k16", [8, 32, 16]),
    ("m16n16k8", [16, 16, 8]),
];

const ELEMENTS: [(&str, Element); 13] = [
    ("f16", Element::F16),
    ("bf16", Element::Bf16),
    ("tf32", Element::Tf32),
    ("f32", Element::F32),
    ("f64", Element::F64),
    ("s32", Element::S32),
    ("u8", Element::U8),
    ("s8", Element::S8),
    ("u4", Element::U4),
    ("s4", Element::S4),
    ("b1", Element::B1),
    ("e4m3", Element::E4m3),
    ("e5m2", Element::E5m2),
];

impl<'s> Decoder<'_, '_, 's> {
    pub(super) fn load_rows(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        self.move_rows(i, m, false)
    }

    pub(super) fn store_rows(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        self.move_rows(i, m, true)
    }

    pub(super) fn mma(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        // Unlike `wmma`, it has always had both.
        if !(m.flag("sync") && m.flag("aligned")) {
            return Err(m.unknown());
        }
        self.product(i, m, false)
    }

    pub(super) fn wmma(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        if m.flag("mma") { self.product(i, m, true) } else { self.move_fragment(i, m) }
    }

    pub(super) fn registers(&mut self, operand: &Operand<'s>, element: Element) -> Decoded<Vec<Register>> {
        let parts = match operand {
            Operand::Vector(parts) => parts.as_slice(),
            single => std::slice::from_ref(single),
        };
        // Packed elements use 32-bit registers.
        let (ty, width) = match element {
            Element::F64 => (Type::F64, Width::Double),
            _ => (Type::B32, Width::Single),
        };
        self.sources(parts, ty, width)
    }

    fn move_rows(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>, store: bool) -> Decoded<()> {
        m.ignore(&["sync", "aligned"]);
        let count = m.pick(&[("x1", 1), ("x2", 2), ("x4", 4)]);
        let transposed = m.flag("trans");
        let (place, values) = if store { (0, 1) } else { (1, 0) };
        let space = self.space_of(self.operand(i, place)?, m.pick(&SPACES))?;
        let (true, Some(count)) = (m.flag("m8n8"), count) else { return Err(m.unknown()) };
        if m.ty()? != Type::B16 || !matches!(space, None | Some(Space::Shared)) {
            return Err(m.unknown());
        }
        self.operand_count(i, 2)?;
        let registers = self.registers(self.operand(i, values)?, Element::F16)?;
        if registers.len() != count {
            return Err(m.unsupported("this number of registers"));
        }
        let address = self.address(self.operand(i, place)?)?;
        let cache = self.new_cache();
        let rows = MatrixRows { store, registers, address, space, transposed, cache };
        self.emit(Op::Matrix(Box::new(Matrix::Rows(rows))));
        Ok(())
    }

    pub(super) fn transpose(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        m.ignore(&["sync", "aligned"]);
        let known = m.flag("m8n8") && m.flag("trans");
        if !known || m.ty()? != Type::B16 {
            return Err(m.unknown());
        }
        self.operand_count(i, 2)?;
        let value = self.source(self.operand(i, 1)?, Type::B32, Width::Single)?;
        let out = self.destination(self.operand(i, 0)?, Width::Single, false)?;
        self.emit(Op::Matrix(Box::new(Matrix::Transpose { out: out.row, value })));
        self.finish(out);
        Ok(())
    }

    /// Decodes the positions of the elements of a left factor, if it is sparse, with so many bits
    /// each and so many stored ones in a row: a register, and a number.
    pub(super) fn sparse(
        &mut self,
        i: &Instruction<'s>,
        at: Option<usize>,
        (bits, stored): (u32, u32),
        m: &Modifiers<'_, 's>,
    ) -> Decoded<Option<Sparse>> {
        let Some(at) = at else { return Ok(None) };
        let places = self.operand(i, at)?;
        self.fits(places, Type::B32, false)?;
        if !matches!(places, Operand::Name(_)) {
            return Err(self.unsupported("this operand where a register belongs"));
        }
        let places = self.source(places, Type::B32, Width::Single)?;
        let sparse = |selector| Sparse { places, selector, bits, stored };
        match self.operand(i, at + 1)? {
            Operand::Int(selector) if *selector < u64::from(sparse(0).selectors()) => {
                Ok(Some(sparse(*selector as u32)))
            }
            _ => Err(m.unsupported("this selector of threads")),
        }
    }

    fn product(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>, opaque: bool) -> Decoded<()> {
        m.ignore(&["sync", "aligned", "rn"]);
        let is_sparse = m.flag("sp::ordered_metadata") || m.flag("sp");
        let orders = [("row", false), ("col", true)];
        let (Some(a_by_column), Some(b_by_column)) = (m.pick(&orders), m.pick(&orders)) else {
            return Err(m.unknown());
        };
        let Some(shape) = m.pick(&SHAPES) else { return Err(m.unknown()) };
        let saturate = m.flag("satfinite");
        let bits = m.pick(&[("and", false), ("xor", true)]);
        if bits.is_some() && !m.flag("popc") {
            return Err(m.unknown());
        }
        let mut types = Vec::new();
        while let Some(ty) = m.pick(&ELEMENTS) {
            types.push(ty);
        }
        let [d, a, b, c] = match types.as_slice() {
            [d, c] => [*d, Element::F16, Element::F16, *c],
            [d, a, b, c] => [*d, *a, *b, *c],
            _ => return Err(m.unknown()),
        };
        let layout = match (opaque, shape, a) {
            (true, ..) => Layout::Opaque,
            (_, [8, 8, 4], Element::F16) => Layout::QuadPairs { by_column: [a_by_column, b_by_column] },
            _ if a_by_column || !b_by_column => return Err(m.unknown()),
            _ => Layout::Documented,
        };
        let known = match (opaque, is_sparse) {
            (true, is_sparse) => !is_sparse && is_opaque_product(shape, [a, b, c, d]),
            (false, true) => is_sparse_product(shape, [a, b, c, d]),
            (false, false) => is_product(shape, [a, b, c, d]),
        };
        if !known || (saturate && d != Element::S32) || bits.is_some() != (a == Element::B1) {
            return Err(m.unknown());
        }
        self.operand_count(i, if is_sparse { 6 } else { 4 })?;
        let mut product = MatrixProduct {
            layout,
            shape,
            types: [a, b, c, d],
            a: self.registers(self.operand(i, 1)?, a)?,
            b: self.registers(self.operand(i, 2)?, b)?,
            c: self.registers(self.operand(i, 3)?, c)?,
            d: self.registers(self.operand(i, 0)?, d)?,
            saturate,
            sparse: self.sparse(i, is_sparse.then_some(4), (a.bits(), shape[2] / 2), m)?,
            differ: bits == Some(true),
            places: Default::default(),
        };
        product.places = [Part::A, Part::B, Part::C, Part::D].map(|part| product.places_of(part));
        let held = [&product.a, &product.b, &product.c, &product.d].map(|registers| registers.len() as u32);
        if held != [Part::A, Part::B, Part::C, Part::D].map(|part| product.registers(part)) {
            return Err(m.unsupported("this number of registers"));
        }
        self.emit(Op::Matrix(Box::new(Matrix::Product(product))));
        Ok(())
    }

    pub(super) fn move_fragment(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        let store = m.flag("store");
        if !store && !m.flag("load") {
            return Err(m.unknown());
        }
        let part = m.pick(&[("a", Part::A), ("b", Part::B), ("c", Part::C), ("d", Part::D)]);
        m.ignore(&["sync", "aligned"]);
        let by_column = m.pick(&[("row", false), ("col", true)]);
        let shape = m.pick(&SHAPES);
        let space = m.pick(&SPACES);
        let (Some(part), Some(by_column), Some(shape), Some(ty)) =
            (part, by_column, shape, m.pick(&ELEMENTS))
        else {
            return Err(m.unknown());
        };
        let factor = matches!(part, Part::A | Part::B);
        let known = match ty {
            Element::F16 => true,
            Element::F64 => shape == [8, 8, 4],
            Element::F32 | Element::S32 => !factor,
            Element::E4m3 | Element::E5m2 => false,
            // Elements smaller than bytes are in memory only in the layout of the product.
            Element::U4 | Element::S4 | Element::B1 => factor && by_column == (part == Part::B),
            _ => factor,
        };
        if !known || !matches!(space, None | Some(Space::Global | Space::Shared)) {
            return Err(m.unknown());
        }
        self.operand_count(i, 3)?;
        let (place, values) = if store { (0, 1) } else { (1, 0) };
        let registers = self.registers(self.operand(i, values)?, ty)?;
        if registers.len() as u32 != MatrixProduct::opaque_registers(shape, part, ty) {
            return Err(m.unsupported("this number of registers"));
        }
        let address = self.address(self.operand(i, place)?)?;
        let stride = match i.operands.get(2) {
            Some(operand) => Some(self.source(operand, Type::U32, Width::Single)?),
            None => None,
        };
        let cache = self.new_cache();
        let fragment =
            MatrixMove { store, part, by_column, shape, space, ty, registers, address, stride, cache };
        self.emit(Op::Matrix(Box::new(Matrix::Move(fragment))));
        Ok(())
    }
}

/// True if `mma.sync` has this product of `a`, `b`, `c` and `d`.
fn is_product(shape: [u32; 3], [a, b, c, d]: [Element; 4]) -> bool {
    use Element::*;
    match (shape, a, b, c, d) {
        ([16, 8, 8 | 16], F16, F16, F16, F16) => true,
        ([16, 8, 8 | 16], F16 | Bf16, _, F32, F32) => a == b,
        ([16, 8, 4 | 8], Tf32, Tf32, F32, F32) => true,
        ([8, 8, 4], F16, F16, F16 | F32, F16 | F32) => true,
        ([8, 8, 16] | [16, 8, 16 | 32], U8 | S8, U8 | S8, S32, S32) => true,
        ([8, 8, 32] | [16, 8, 32 | 64], U4 | S4, U4 | S4, S32, S32) => true,
        ([8, 8, 128] | [16, 8, 128 | 256], B1, B1, S32, S32) => true,
        ([16, 8, 16 | 32], E4m3 | E5m2, E4m3 | E5m2, F16 | F32, F16 | F32) => c == d,
        ([8, 8, 4] | [16, 8, 4 | 8 | 16], F64, F64, F64, F64) => true,
        _ => false,
    }
}

/// True if `mma.sp` has this product of `a`, `b`, `c` and `d`.
fn is_sparse_product(shape: [u32; 3], [a, b, c, d]: [Element; 4]) -> bool {
    use Element::*;
    let [16, 8, depth] = shape else { return false };
    match (depth, a, b, c, d) {
        (16 | 32, F16, F16, F16, F16) => true,
        (16 | 32, F16 | Bf16, _, F32, F32) => a == b,
        (8 | 16, Tf32, Tf32, F32, F32) => true,
        (32 | 64, U8 | S8, U8 | S8, S32, S32) => true,
        (64 | 128, U4 | S4, U4 | S4, S32, S32) => true,
        (64, E4m3 | E5m2, E4m3 | E5m2, F32, F32) => true,
        _ => false,
    }
}

/// True if `wmma` has this product of `a`, `b`, `c` and `d`.
fn is_opaque_product(shape: [u32; 3], [a, b, c, d]: [Element; 4]) -> bool {
    use Element::*;
    let common = matches!(shape, [16, 16, 16] | [32, 8, 16] | [8, 32, 16]);
    match (a, b, c, d) {
        (F16, F16, F16 | F32, F16 | F32) | (Bf16, Bf16, F32, F32) => common,
        (U8, U8, S32, S32) | (S8, S8, S32, S32) => common,
        (Tf32, Tf32, F32, F32) => shape == [16, 16, 8],
        (F64, F64, F64, F64) => shape == [8, 8, 4],
        (U4, U4, S32, S32) | (S4, S4, S32, S32) => shape == [8, 8, 32],
        (B1, B1, S32, S32) => shape == [8, 8, 128],
        _ => false,
    }
}
