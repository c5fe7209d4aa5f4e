//! `alloca`, `stacksave`, `stackrestore`.

use super::modifiers::Modifiers;
use super::operands::width_of;
use super::{Decoded, Decoder};
use crate::program::instruction::Op;
use crate::program::types::Type;
use crate::program::{PtxError, PtxErrorKind};
use crate::ptx::{Instruction, Operand};

/// Maximum alignment of `alloca`.
const MOST_ALIGN: u64 = 1 << 23;
/// The alignment if the instruction states none.
const USUAL_ALIGN: u32 = 8;

impl<'s> Decoder<'_, '_, 's> {
    pub(super) fn stack(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        self.operand_count(i, if i.opcode == "alloca" { 3 } else { 1 })?;
        let Some(ty) = m.pick(&[("u32", Type::U32), ("u64", Type::U64)]) else { return Err(m.unknown()) };
        let width = width_of(ty);
        let pointer = self.operand(i, 0)?;
        if !matches!(pointer, Operand::Name(name) if *name != "_") {
            return Err(self.stack_error(i, "expected a register as its first operand"));
        }
        self.fits(pointer, ty, false)?;
        if i.opcode == "stackrestore" {
            let pointer = self.source(pointer, ty, width)?;
            self.emit(Op::StackRestore { pointer, width });
            return Ok(());
        }
        let out = self.destination(pointer, width, false)?;
        if i.opcode == "stacksave" {
            self.emit(Op::StackSave { out: out.row, width });
        } else {
            let size = self.operand(i, 1)?;
            self.fits(size, ty, false)?;
            let size = self.source(size, ty, width)?;
            let align = match i.operands.get(2) {
                None => USUAL_ALIGN,
                Some(Operand::Int(align)) if align.is_power_of_two() && *align <= MOST_ALIGN => *align as u32,
                Some(_) => {
                    return Err(self.stack_error(i, "expected a power of two up to 2^23 as alignment"));
                }
            };
            self.emit(Op::Alloca { out: out.row, size, align, width });
        }
        self.finish(out);
        Ok(())
    }

    fn stack_error(&self, i: &Instruction<'s>, expected: &str) -> Box<PtxError> {
        PtxError::at(self.position, PtxErrorKind::Syntax, format!("`{}`: {expected}", i.opcode))
    }
}
