//! Translates operands to rows, predicates and addresses.

use super::special::{is_wide, special};
use super::{Decoded, Decoder, Symbol};
use crate::program::instruction::{Condition, Constant, Op};
use crate::program::types::Type;
use crate::program::{PtxError, PtxErrorKind};
use crate::ptx::{Instruction, Operand};
use crate::semantics::{Predicate, PureInfo, Register, Width, bits, convert, integer, pure};

/// A destination: the row that the operation writes, and the steps after it.
pub(super) struct Destination {
    pub(super) row: Register,
    /// Set if the declared register is wider than the operation, which is then extended.
    widen: Option<(Register, bool)>,
}

impl Destination {
    pub(super) fn row(row: Register) -> Self {
        Destination { row, widen: None }
    }
}

pub(super) fn width_of(ty: Type) -> Width {
    if ty.bytes() == 8 { Width::Double } else { Width::Single }
}

impl<'c, 'm, 's> Decoder<'c, 'm, 's> {
    pub(super) fn undeclared(&self, name: &str) -> Box<PtxError> {
        PtxError::at(
            self.position,
            PtxErrorKind::Unresolved,
            format!("`{name}` is not declared, or not usable here"),
        )
    }

    pub(super) fn operand<'i>(
        &self,
        instruction: &'i Instruction<'s>,
        index: usize,
    ) -> Decoded<&'i Operand<'s>> {
        instruction.operands.get(index).ok_or_else(|| {
            PtxError::at(
                instruction.position,
                PtxErrorKind::Syntax,
                format!("`{}` has too few operands: expected at least {}", instruction.opcode, index + 1),
            )
        })
    }

    pub(super) fn operand_count(&self, instruction: &Instruction<'s>, most: usize) -> Decoded<()> {
        if instruction.operands.len() <= most {
            return Ok(());
        }
        Err(PtxError::at(
            instruction.position,
            PtxErrorKind::Syntax,
            format!("`{}` has too many operands: expected at most {most}", instruction.opcode),
        ))
    }

    pub(super) fn predicate_named(&self, name: &str) -> Decoded<Predicate> {
        match self.lookup(name) {
            Some(Symbol::Predicate(predicate)) => Ok(predicate),
            _ => Err(PtxError::at(
                self.position,
                PtxErrorKind::Unresolved,
                format!("`{name}` is no predicate"),
            )),
        }
    }

    pub(super) fn condition(&mut self, operand: &Operand<'s>) -> Decoded<Condition> {
        match operand {
            Operand::Name("%is_explicit_cluster") => Ok(self.is_explicit_cluster()),
            Operand::Name(name) => Ok(Condition { predicate: self.predicate_named(name)?, negated: false }),
            Operand::Not(name) => Ok(Condition { predicate: self.predicate_named(name)?, negated: true }),
            Operand::Int(value) => Ok(Condition { predicate: Predicate::TRUE, negated: *value == 0 }),
            _ => Err(self.unsupported("this operand where a predicate belongs")),
        }
    }

    /// Returns a predicate as a destination; `_` drops the result.
    pub(super) fn predicate_out(&mut self, operand: &Operand<'s>) -> Decoded<Predicate> {
        match operand {
            Operand::Name("_") => Ok(self.new_predicate()),
            Operand::Name(name) => self.predicate_named(name),
            _ => Err(self.unsupported("this operand where a destination predicate belongs")),
        }
    }

    /// Returns values as sources, in the width of the operation.
    pub(super) fn sources(
        &mut self,
        operands: &[Operand<'s>],
        ty: Type,
        width: Width,
    ) -> Decoded<Vec<Register>> {
        let mut sources = Vec::with_capacity(operands.len());
        for operand in operands {
            sources.push(self.source(operand, ty, width)?);
        }
        Ok(sources)
    }

    pub(super) fn source(&mut self, operand: &Operand<'s>, ty: Type, width: Width) -> Decoded<Register> {
        match operand {
            Operand::Name(name) => self.source_named(name, width),
            Operand::Offset(name, offset) => self.sum(name, *offset, ty, width),
            Operand::Int(value) => {
                if ty.is_float() {
                    return Err(self.mismatch("an integer", ty));
                }
                Ok(self.bits(width, *value))
            }
            Operand::Double(value) => match ty {
                Type::F64 | Type::B64 => Ok(self.bits(Width::Double, value.to_bits())),
                Type::F32 => Ok(self.bits(Width::Single, u64::from((*value as f32).to_bits()))),
                _ => Err(self.mismatch("a floating-point number", ty)),
            },
            Operand::Single(bits) => match ty {
                Type::F64 => Ok(self.bits(Width::Double, f64::from(f32::from_bits(*bits)).to_bits())),
                _ if ty.is_integer() => Err(self.mismatch("a floating-point number", ty)),
                _ => Ok(self.bits(width, u64::from(*bits))),
            },
            _ => Err(self.unsupported("this operand where a register or a number belongs")),
        }
    }

    /// Returns `name + offset` as a value: a sum with a register, or an address of a symbol.
    fn sum(&mut self, name: &str, offset: i64, ty: Type, width: Width) -> Decoded<Register> {
        if ty.is_float() {
            return Err(self.unsupported("a sum as a floating-point operand"));
        }
        if !matches!(self.lookup(name), Some(Symbol::Register { .. })) {
            return match self.symbol_address(name, offset, width) {
                Some(address) => Ok(address),
                None => Err(self.undeclared(name)),
            };
        }
        let value = self.source_named(name, width)?;
        let (offset, sum) = (self.bits(width, offset as u64), self.temporary(width));
        let add =
            if width == Width::Double { pure::<integer::Add<u64>>() } else { pure::<integer::Add<u32>>() };
        self.pure_op(add, sum, &[value, offset]);
        Ok(sum)
    }

    pub(super) fn bits(&mut self, width: Width, bits: u64) -> Register {
        let bits = if width == Width::Single { bits & 0xffff_ffff } else { bits };
        self.constant(width, Constant::Bits(bits))
    }

    pub(super) fn source_named(&mut self, name: &str, width: Width) -> Decoded<Register> {
        let (register, has) = match self.lookup(name) {
            Some(Symbol::Register { ty: Type::B128, .. }) => {
                return Err(self.unsupported(format!("`{name}`, which has 128 bits, in this instruction")));
            }
            Some(Symbol::Register { register, ty }) => (register, width_of(ty)),
            Some(_) => return Err(self.undeclared(name)),
            None if name.starts_with("%reserved_smem_offset_") => {
                let offset = self.reserved_shared(name).ok_or_else(|| self.undeclared(name))?;
                (offset, Width::Single)
            }
            None => match special(name) {
                Some(special) => {
                    let width = if is_wide(name) { width } else { Width::Single };
                    (self.constant(width, Constant::Special(special)), width)
                }
                None => return Err(self.undeclared(name)),
            },
        };
        match (has, width) {
            (Width::Double, Width::Single) => {
                let out = self.temporary(Width::Single);
                self.pure_op(pure::<bits::Low32>(), out, &[register]);
                Ok(out)
            }
            (Width::Single, Width::Double) => Err(PtxError::at(
                self.position,
                PtxErrorKind::Unsupported,
                format!("`{name}` has 32 bits or fewer, the instruction needs 64"),
            )),
            _ => Ok(register),
        }
    }

    pub(super) fn wide_register(&self, operand: &Operand<'s>) -> Decoded<[Register; 2]> {
        match operand {
            Operand::Name(name) => match self.lookup(name) {
                Some(Symbol::Register { register, ty: Type::B128 }) => {
                    Ok([register, Register(register.0 + 2)])
                }
                _ => Err(self.undeclared(name)),
            },
            _ => Err(self.unsupported("this operand where a register of 128 bits belongs")),
        }
    }

    pub(super) fn destination(
        &mut self,
        operand: &Operand<'s>,
        width: Width,
        signed: bool,
    ) -> Decoded<Destination> {
        let Operand::Name(name) = operand else {
            return Err(self.unsupported("this operand where a destination register belongs"));
        };
        if *name == "_" {
            return Ok(Destination { row: self.temporary(width), widen: None });
        }
        let Some(Symbol::Register { register, ty }) = self.lookup(name).filter(|symbol| !symbol.is_wide())
        else {
            return Err(self.undeclared(name));
        };
        match (width_of(ty), width) {
            (Width::Double, Width::Single) => {
                Ok(Destination { row: self.temporary(Width::Single), widen: Some((register, signed)) })
            }
            (Width::Single, Width::Double) => Err(PtxError::at(
                self.position,
                PtxErrorKind::Unsupported,
                format!("`{name}` has 32 bits or fewer, the result has 64"),
            )),
            _ => Ok(Destination { row: register, widen: None }),
        }
    }

    /// Completes a destination after the operation was emitted.
    pub(super) fn finish(&mut self, destination: Destination) {
        if let Some((wide, signed)) = destination.widen {
            let info =
                if signed { pure::<convert::Wrap<i64, i32>>() } else { pure::<convert::Wrap<u64, u32>>() };
            self.pure_op(info, wide, &[destination.row]);
        }
    }

    pub(super) fn pure_op(&mut self, info: &'static PureInfo, out: Register, sources: &[Register]) {
        let zero = sources.first().copied().unwrap_or_default();
        let mut all = [zero; 4];
        all[..sources.len()].copy_from_slice(sources);
        self.emit(Op::Pure { info, out, sources: all });
    }

    /// Decodes `opcode d, a, b, c;`, where all literals have the type of the instruction.
    pub(super) fn pure_instruction(
        &mut self,
        instruction: &Instruction<'s>,
        info: &'static PureInfo,
        ty: Type,
    ) -> Decoded<()> {
        let count = info.sources.iter().filter(|width| **width != Width::None).count();
        self.operand_count(instruction, count + 1)?;
        self.check_types(instruction, info, ty)?;
        let mut sources = [Register::default(); 4];
        for (i, source) in sources.iter_mut().enumerate().take(count) {
            *source = self.source(self.operand(instruction, i + 1)?, ty, info.sources[i])?;
        }
        let out = self.destination(self.operand(instruction, 0)?, info.out, ty.is_signed())?;
        self.pure_op(info, out.row, &sources[..count]);
        self.finish(out);
        Ok(())
    }
}
