//! Branches, returns and exits, and hints about scheduling.

use super::modifiers::Modifiers;
use super::{Decoded, Decoder, Symbol};
use crate::program::instruction::Op;
use crate::program::types::Type;
use crate::program::{PtxError, PtxErrorKind};
use crate::ptx::{Instruction, Operand};
use crate::semantics::Width;

impl<'s> Decoder<'_, '_, 's> {
    pub(super) fn branch(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        m.ignore(&["uni"]);
        self.operand_count(i, 1)?;
        let target = self.branch_target(self.operand(i, 0)?)?;
        self.emit(Op::Branch { target });
        Ok(())
    }

    pub(super) fn return_instruction(
        &mut self,
        i: &Instruction<'s>,
        m: &mut Modifiers<'_, 's>,
    ) -> Decoded<()> {
        m.ignore(&["uni"]);
        self.operand_count(i, 0)?;
        self.leave();
        Ok(())
    }

    pub(super) fn exit(&mut self, i: &Instruction<'s>, _: &mut Modifiers<'_, 's>) -> Decoded<()> {
        self.operand_count(i, 0)?;
        self.emit(Op::Exit);
        Ok(())
    }

    pub(super) fn trap(&mut self, i: &Instruction<'s>, _: &mut Modifiers<'_, 's>) -> Decoded<()> {
        self.operand_count(i, 0)?;
        self.emit(Op::Trap);
        Ok(())
    }

    pub(super) fn sleep(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        m.ty()?;
        self.operand_count(i, 1)?;
        self.emit(Op::Yield);
        Ok(())
    }

    /// Starting dependent blocks early has no effect, because blocks run to their end.
    pub(super) fn depend(&mut self, _: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        match m.pick(&[("launch_dependents", ()), ("wait", ())]) {
            Some(()) => Ok(()),
            None => Err(m.unknown()),
        }
    }

    /// Only checks the number: events are not counted here.
    pub(super) fn count_event(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        let most = if m.flag("mask") { 0xffff } else { 15 };
        self.operand_count(i, 1)?;
        match self.operand(i, 0)? {
            Operand::Int(number) if (0..=most).contains(number) => Ok(()),
            _ => Err(self.invalid(format!("an event is counted by a number from 0 to {most}"))),
        }
    }

    fn branch_target(&self, operand: &Operand<'s>) -> Decoded<u32> {
        let Operand::Name(name) = operand else {
            return Err(self.unsupported("this operand where a label belongs"));
        };
        self.label_named(name)
    }

    fn label_named(&self, name: &str) -> Decoded<u32> {
        match self.lookup(name) {
            Some(Symbol::Label(label)) => Ok(label),
            _ => Err(PtxError::at(
                self.position,
                PtxErrorKind::Unresolved,
                format!("the label `{name}` is not defined"),
            )),
        }
    }

    pub(super) fn branch_indexed(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        if !m.flag("idx") {
            return Err(m.unknown());
        }
        m.ignore(&["uni"]);
        self.operand_count(i, 2)?;
        let index = self.source(self.operand(i, 0)?, Type::U32, Width::Single)?;
        let Operand::Name(list) = self.operand(i, 1)? else { return Err(m.unknown()) };
        let Some(Symbol::Targets(names)) = self.lookup(list) else { return Err(self.undeclared(list)) };
        self.context.count(names.len(), self.position)?;
        let mut targets = Vec::new();
        for name in names {
            targets.push(self.label_named(name)?);
        }
        self.emit(Op::BranchIndexed { index, targets: targets.into() });
        Ok(())
    }
}
