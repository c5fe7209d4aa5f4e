//! Checks that operands fit their instruction: types of registers, and state spaces.

use super::{Decoded, Decoder, Symbol};
use crate::program::symbols::ModuleSymbol;
use crate::program::types::Type;
use crate::program::{PtxError, PtxErrorKind};
use crate::ptx::{Instruction, Operand, Space};
use crate::semantics::PureInfo;

impl<'s> Decoder<'_, '_, 's> {
    pub(super) fn mismatch(&self, what: &str, ty: Type) -> Box<PtxError> {
        PtxError::at(
            self.position,
            PtxErrorKind::Syntax,
            format!("{what} does not fit where the instruction has type {ty:?}"),
        )
    }

    /// Refuses a register whose declared type does not fit an operand of this type; `wider` registers are those that
    /// loads, stores and conversions extend into.
    pub(super) fn fits(&self, operand: &Operand<'s>, ty: Type, wider: bool) -> Decoded<()> {
        let (Operand::Name(name) | Operand::Offset(name, _)) = operand else { return Ok(()) };
        let Some(Symbol::Register { ty: register, .. }) = self.lookup(name) else { return Ok(()) };
        let size = if wider { register.bytes() >= ty.bytes() } else { register.bytes() == ty.bytes() };
        match size && ty.takes(register) {
            true => Ok(()),
            false => Err(self.mismatch(&format!("`{name}` of type {register:?}"), ty)),
        }
    }

    /// Refuses `_` for a result that must go somewhere.
    pub(super) fn refuse_discarded(&self, operand: &Operand<'s>) -> Decoded<()> {
        if *operand != Operand::Name("_") {
            return Ok(());
        }
        Err(PtxError::at(self.position, PtxErrorKind::Syntax, "`_` is no result of this instruction"))
    }

    /// Refuses a symbol in another state space than that of the instruction.
    pub(super) fn refuse_other_space(&self, operand: &Operand<'s>, space: Option<Space>) -> Decoded<()> {
        let name = match operand {
            Operand::Element(name, _) => name,
            Operand::Memory(parts) => match parts.as_slice() {
                [Operand::Name(name) | Operand::Offset(name, _)] => name,
                _ => return Ok(()),
            },
            _ => return Ok(()),
        };
        let global = |index: u32| match self.context.constants.iter().any(|(constant, _)| *constant == index)
        {
            true => Space::Const,
            false => Space::Global,
        };
        let lies_in = match self.lookup(name) {
            Some(Symbol::Local { .. }) => Space::Local,
            Some(Symbol::Shared { .. }) => Space::Shared,
            Some(Symbol::KernelParam { .. } | Symbol::ParamRows { .. }) => Space::Param,
            Some(Symbol::Global { index, .. }) => global(index),
            Some(_) => return Ok(()),
            None => match self.context.symbols.get(name) {
                Some(ModuleSymbol::Global(index)) => global(*index),
                Some(ModuleSymbol::Shared(_)) => Space::Shared,
                Some(ModuleSymbol::Function(_)) | None => return Ok(()),
            },
        };
        match space {
            // The block's own shared memory is part of the cluster's.
            Some(Space::SharedCluster) if lies_in == Space::Shared => Ok(()),
            Some(space) if space != lies_in => {
                let message = format!("`{name}` does not lie in the state space that the instruction names");
                Err(PtxError::at(self.position, PtxErrorKind::Syntax, message))
            }
            _ => Ok(()),
        }
    }

    /// Compares the declared types of registers with those of the operation. Operands of another size than the
    /// instruction's type are integers, such as amounts of shifts. Conversions have types of their own, and so has
    /// the third operand of `slct`.
    pub(super) fn check_types(
        &self,
        instruction: &Instruction<'s>,
        info: &PureInfo,
        ty: Type,
    ) -> Decoded<()> {
        if instruction.opcode == "cvt" {
            return Ok(());
        }
        for (index, (operand, size)) in instruction.operands.iter().zip(info.sizes).enumerate() {
            let of_size = if size == ty.bytes() { Some(ty) } else { Type::integer(size) };
            match of_size {
                Some(ty) if instruction.opcode != "slct" || index < 3 => self.fits(operand, ty, false)?,
                _ => {}
            }
        }
        match instruction.operands.first() {
            Some(Operand::Name("_")) => Err(self.mismatch("`_`", ty)),
            _ => Ok(()),
        }
    }
}
