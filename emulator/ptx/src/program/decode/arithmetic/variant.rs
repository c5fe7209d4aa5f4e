//! Variants of an instruction: its type, rounding and modifiers.

use super::half::marked_fma;
use super::integer::integer;
use super::mode::{Extremum, FloatMode, Found, Kept};
use super::{float, half, integer};
use crate::program::decode::modifiers::Modifiers;
use crate::program::decode::operands::width_of;
use crate::program::decode::{Decoded, Decoder};
use crate::program::instruction::{Carry, Op};
use crate::program::types::Type;
use crate::ptx::{Instruction, Operand};
use crate::semantics::{Register, Width, bits, pure};

const PARTS: [(&str, Kept); 3] = [("lo", Kept::Low), ("hi", Kept::High), ("wide", Kept::Wide)];

#[derive(Clone, Copy)]
struct Variant {
    part: Option<Kept>,
    approximate: bool,
    full: bool,
    extremum: Extremum,
    relu: bool,
    mode: FloatMode,
}

impl Variant {
    fn operation(self, opcode: &str, ty: Type) -> Found {
        let Variant { part, approximate, full, extremum, relu, mode } = self;
        let nan = extremum.nan || extremum.xor_sign;
        let unusual = approximate || full || nan || mode.rounding.is_some() || mode.ftz;
        match ty {
            Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2 if part.is_none() && !full => {
                half::operation(opcode, approximate, extremum, relu, mode, ty)
            }
            Type::S16x2 | Type::U16x2 if !unusual => integer::pair(opcode, relu, mode.sat, ty),
            Type::S32 if relu && !mode.sat => integer::relu(opcode),
            _ if relu => None,
            Type::F32 if full => float::full(opcode, mode),
            Type::F32 => float::f32(opcode, part, approximate, extremum, mode),
            Type::F64 if !nan && !full => float::f64(opcode, part, approximate, mode),
            _ if unusual => None,
            _ => integer(opcode, part, mode.sat, ty),
        }
    }
}

impl<'s> Decoder<'_, '_, 's> {
    /// Decodes sums, differences and multiply-adds, with carry or as [`Decoder::arithmetic`].
    pub(in crate::program::decode) fn add(
        &mut self,
        i: &Instruction<'s>,
        m: &mut Modifiers<'_, 's>,
    ) -> Decoded<()> {
        if i.modifiers.contains(&"cc") { self.carrying(i, m) } else { self.arithmetic(i, m) }
    }

    pub(in crate::program::decode) fn find_nth(
        &mut self,
        i: &Instruction<'s>,
        m: &mut Modifiers<'_, 's>,
    ) -> Decoded<()> {
        match m.ty()? {
            Type::B32 => self.pure_instruction(i, pure::<bits::FindNth>(), Type::B32),
            _ => Err(m.unknown()),
        }
    }

    /// Decodes an operation determined by the opcode, the type, and the rounding.
    pub(in crate::program::decode) fn arithmetic(
        &mut self,
        i: &Instruction<'s>,
        m: &mut Modifiers<'_, 's>,
    ) -> Decoded<()> {
        if matches!(i.opcode, "min" | "max") && i.operands.len() == 4 {
            return self.extremum_of_three(i, m);
        }
        let part = m.pick(&PARTS);
        let approximate = m.flag("approx");
        let full = m.flag("full");
        let extremum = Extremum { nan: m.flag("NaN"), xor_sign: m.flag("xorsign") };
        if extremum.xor_sign && !m.flag("abs") {
            return Err(m.unknown());
        }
        let nan = extremum.nan || extremum.xor_sign;
        let relu = m.flag("relu");
        let marked = i.opcode == "fma" && m.flag("oob");
        let mode = FloatMode::of(m);
        if m.flag("f32x2") {
            return self.single_pair(i, m, mode);
        }
        let ty = m.ty()?;
        if marked {
            let info = marked_fma(mode, relu, ty).ok_or_else(|| m.unknown())?;
            return self.pure_instruction(i, info, ty);
        }
        if nan && !matches!(i.opcode, "min" | "max") {
            return Err(m.unknown());
        }
        let variant = Variant { part, approximate, full, extremum, relu, mode };
        let info = variant.operation(i.opcode, ty).ok_or_else(|| m.unknown())?;
        self.pure_instruction(i, info, ty)
    }

    /// Decodes the minimum or maximum of three numbers, or of their magnitudes, as two operations.
    fn extremum_of_three(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        let (nan, abs, mode) = (m.flag("NaN"), m.flag("abs"), FloatMode::of(m));
        let is_known = self.input.features.since_sm_100 && self.input.module.version >= (8, 8);
        if m.ty()? != Type::F32 || !is_known {
            return Err(m.unknown());
        }
        let found = |opcode| float::f32(opcode, None, false, Extremum { nan, xor_sign: false }, mode);
        let (Some(info), Some(magnitude)) = (found(i.opcode), found("abs")) else { return Err(m.unknown()) };
        let mut sources = [Register::default(); 3];
        for (index, source) in sources.iter_mut().enumerate() {
            let operand = self.operand(i, index + 1)?;
            self.fits(operand, Type::F32, false)?;
            *source = self.source(operand, Type::F32, Width::Single)?;
            if abs {
                let row = self.temporary(Width::Single);
                self.pure_op(magnitude, row, &[*source]);
                *source = row;
            }
        }
        let [a, b, c] = sources;
        let between = self.temporary(Width::Single);
        self.pure_op(info, between, &[a, b]);
        self.fits(self.operand(i, 0)?, Type::F32, false)?;
        let out = self.destination(self.operand(i, 0)?, Width::Single, false)?;
        self.pure_op(info, out.row, &[between, c]);
        self.finish(out);
        Ok(())
    }

    /// Decodes an operation on two single-precision numbers, all in registers.
    fn single_pair(&mut self, i: &Instruction<'s>, m: &Modifiers<'_, 's>, mode: FloatMode) -> Decoded<()> {
        let info = float::pair(i.opcode, mode).filter(|_| self.input.features.since_sm_100);
        let registers = i.operands.iter().all(|operand| matches!(operand, Operand::Name(_)));
        let info = info.filter(|_| registers).ok_or_else(|| m.unknown())?;
        self.pure_instruction(i, info, Type::B64)
    }

    pub(in crate::program::decode) fn dot_product(
        &mut self,
        i: &Instruction<'s>,
        m: &mut Modifiers<'_, 's>,
    ) -> Decoded<()> {
        let part = m.pick(&PARTS);
        let (a, b) = (m.ty()?, m.ty()?);
        if !matches!((a, b), (Type::U32 | Type::S32, Type::U32 | Type::S32)) {
            return Err(m.unknown());
        }
        let info = match (i.opcode, part, a.is_signed(), b.is_signed()) {
            ("dp4a", None, false, false) => pure::<bits::Dot4<false, false>>(),
            ("dp4a", None, false, true) => pure::<bits::Dot4<false, true>>(),
            ("dp4a", None, true, false) => pure::<bits::Dot4<true, false>>(),
            ("dp4a", None, true, true) => pure::<bits::Dot4<true, true>>(),
            ("dp2a", Some(Kept::Low), false, false) => pure::<bits::Dot2<false, false, false>>(),
            ("dp2a", Some(Kept::Low), false, true) => pure::<bits::Dot2<false, true, false>>(),
            ("dp2a", Some(Kept::Low), true, false) => pure::<bits::Dot2<true, false, false>>(),
            ("dp2a", Some(Kept::Low), true, true) => pure::<bits::Dot2<true, true, false>>(),
            ("dp2a", Some(Kept::High), false, false) => pure::<bits::Dot2<false, false, true>>(),
            ("dp2a", Some(Kept::High), false, true) => pure::<bits::Dot2<false, true, true>>(),
            ("dp2a", Some(Kept::High), true, false) => pure::<bits::Dot2<true, false, true>>(),
            ("dp2a", Some(Kept::High), true, true) => pure::<bits::Dot2<true, true, true>>(),
            _ => return Err(m.unknown()),
        };
        self.pure_instruction(i, info, a)
    }

    /// Decodes `mad24` as a product and a sum.
    pub(in crate::program::decode) fn mad24(
        &mut self,
        i: &Instruction<'s>,
        m: &mut Modifiers<'_, 's>,
    ) -> Decoded<()> {
        let part = m.pick(&PARTS);
        let sat = m.flag("sat");
        let ty = m.ty()?;
        let (Some(product), Some(sum)) =
            (integer("mul24", part, false, ty), integer("add", None, sat && part == Some(Kept::High), ty))
        else {
            return Err(m.unknown());
        };
        if sat && part != Some(Kept::High) {
            return Err(m.unknown());
        }
        self.operand_count(i, 4)?;
        let width = width_of(ty);
        let a = self.source(self.operand(i, 1)?, ty, width)?;
        let b = self.source(self.operand(i, 2)?, ty, width)?;
        let c = self.source(self.operand(i, 3)?, ty, width)?;
        let between = self.temporary(width);
        self.pure_op(product, between, &[a, b]);
        let out = self.destination(self.operand(i, 0)?, width, ty.is_signed())?;
        self.pure_op(sum, out.row, &[between, c]);
        self.finish(out);
        Ok(())
    }

    /// Decodes addition and subtraction with the carry flag; `mad` adds a part of the product.
    pub(in crate::program::decode) fn carrying(
        &mut self,
        i: &Instruction<'s>,
        m: &mut Modifiers<'_, 's>,
    ) -> Decoded<()> {
        let reads = i.opcode.ends_with('c');
        let base = if reads { &i.opcode[..i.opcode.len() - 1] } else { i.opcode };
        let writes = m.flag("cc");
        let part = m.pick(&PARTS);
        let ty = m.ty()?;
        if !matches!(ty, Type::U32 | Type::S32 | Type::U64 | Type::S64) {
            return Err(m.unknown());
        }
        let width = width_of(ty);
        let mut a = self.source(self.operand(i, 1)?, ty, width)?;
        let mut b = self.source(self.operand(i, 2)?, ty, width)?;
        if base == "mad" {
            self.operand_count(i, 4)?;
            let Some(product) = integer("mul", part, false, ty).filter(|_| part != Some(Kept::Wide)) else {
                return Err(m.unknown());
            };
            let between = self.temporary(width);
            self.pure_op(product, between, &[a, b]);
            (a, b) = (between, self.source(self.operand(i, 3)?, ty, width)?);
        } else if part.is_some() {
            return Err(m.unknown());
        } else {
            self.operand_count(i, 3)?;
        }
        let out = self.destination(self.operand(i, 0)?, width, ty.is_signed())?;
        let carry = Carry { subtract: base == "sub", width, reads, writes, out: out.row, sources: [a, b] };
        self.emit(Op::Carry(carry));
        self.finish(out);
        Ok(())
    }
}
