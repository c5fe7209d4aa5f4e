//! Checks of operands: the types of registers, and state spaces.

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

    /// Refuses a register whose declared type does not fit an operand of this type. `wider` allows
    /// wider registers, to which loads, stores and conversions extend.
    pub(super) fn fits(&self, operand: &Operand<'s>, ty: Type, wider: bool) -> Decoded<()> {
        let (Operand::Name(name) | Operand::Offset(name, _)) = operand else { return Ok(()) };
        let Some(Symbol::Register { ty: register, .. }) = self.lookup(name) else { return Ok(()) };
        let size = if wider { register.bytes() >= ty.bytes() } else { register.bytes() == ty.bytes() };
        match size && ty.takes(register) {
            true => Ok(()),
            false => Err(self.mismatch(&format!("`{name}` of type {register:?}"), ty)),
        }
    }

    /// Refuses `_` as a destination.
    pub(super) fn refuse_discarded(&self, operand: &Operand<'s>) -> Decoded<()> {
        if *operand != Operand::Name("_") {
            return Ok(());
        }
        Err(PtxError::at(self.position, PtxErrorKind::Syntax, "`_` is no result of this instruction"))
    }

    /// Returns the state space of an access: from the instruction, or from the variable that its
    /// address names. Returns `None` for a generic address in a register.
    pub(super) fn space_of(&self, place: &Operand<'s>, space: Option<Space>) -> Decoded<Option<Space>> {
        let Some((name, lies_in)) = self.space_named(place) else { return Ok(space) };
        match (space, lies_in) {
            // The block's own shared memory is part of the cluster's.
            (Some(Space::SharedCluster), Space::Shared) => Ok(space),
            (Some(space), _) if space == lies_in => Ok(Some(space)),
            (None, Space::Global | Space::Shared | Space::Local) => Ok(Some(lies_in)),
            _ => {
                let message = format!("`{name}` does not lie in the state space that the instruction names");
                Err(PtxError::at(self.position, PtxErrorKind::Syntax, message))
            }
        }
    }

    /// Returns the variable that an address names, and its state space.
    fn space_named<'o>(&self, place: &'o Operand<'s>) -> Option<(&'o str, Space)> {
        let name = match place {
            Operand::Element(name, _) => name,
            Operand::Memory(parts) => match parts.as_slice() {
                [Operand::Name(name) | Operand::Offset(name, _)] => name,
                _ => return None,
            },
            _ => return None,
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
            Some(_) => return None,
            None => match self.input.symbol(name, self.position)? {
                ModuleSymbol::Global(index) => global(index),
                ModuleSymbol::Shared(_) => Space::Shared,
                ModuleSymbol::Function(_) => return None,
            },
        };
        Some((name, lies_in))
    }

    /// Compares the declared types of registers with the operation's types. Operands of another
    /// size than the instruction's type are integers, such as shift amounts. Conversions and the
    /// third operand of `slct` have separate types.
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
