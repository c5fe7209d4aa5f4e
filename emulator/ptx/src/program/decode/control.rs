//! Branches, calls, barriers, and collective operations of a warp.

use super::modifiers::Modifiers;
use super::operands::width_of;
use super::{Decoded, Decoder, Symbol};
use crate::program::instruction::{Call, Callee, Op, SystemCall};
use crate::program::symbols::ModuleSymbol;
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

    /// Events are not counted here.
    pub(super) fn count_event(&mut self, _: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        m.ignore(&["mask"]);
        Ok(())
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

    pub(super) fn call(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        m.ignore(&["uni"]);
        let mut operands = i.operands.as_slice();
        let mut take_list = || match operands.split_first() {
            Some((Operand::List(list), rest)) => {
                operands = rest;
                list.as_slice()
            }
            _ => &[],
        };
        let results = take_list();
        let Some((Operand::Name(name), rest)) = operands.split_first() else { return Err(m.unknown()) };
        operands = rest;
        let arguments = match operands.split_first() {
            Some((Operand::List(list), _)) => list.as_slice(),
            _ => &[],
        };
        let callee = match self.lookup(name) {
            Some(Symbol::Register { register, ty }) if width_of(ty) == Width::Double => {
                for index in 0..self.context.address_taken.len() {
                    let module_index = self.context.address_taken[index];
                    let body = self.context.body(module_index);
                    if body.is_some_and(|tree| tree.kind == crate::ptx::FunctionKind::Device) {
                        self.function(module_index)?;
                    }
                }
                Callee::Indirect(register)
            }
            Some(_) => return Err(self.undeclared(name)),
            None => self.callee(name)?,
        };
        let signature = self.signature(callee);
        let arguments = self.arguments(arguments, signature)?;
        let (results, received) = self.call_results(results, signature)?;
        self.emit(Op::Call(Box::new(Call { callee, arguments, results })));
        for (symbol, first) in received {
            self.take_words(&symbol, first);
        }
        Ok(())
    }

    fn callee(&mut self, name: &str) -> Decoded<Callee> {
        let Some(ModuleSymbol::Function(index)) = self.input.symbols.get(name) else {
            return Err(PtxError::at(
                self.position,
                PtxErrorKind::Unresolved,
                format!("`{name}` is no function"),
            ));
        };
        if self.context.body(*index).is_none() {
            let system = match name {
                "vprintf" => Some(SystemCall::Printf),
                "__assertfail" => Some(SystemCall::Assert),
                "malloc" => Some(SystemCall::Malloc),
                "free" => Some(SystemCall::Free),
                "cudaGraphSetConditional" => Some(SystemCall::SetCondition),
                "__cuprum_runtime" => Some(SystemCall::Runtime),
                _ => None,
            };
            if let Some(system) = system {
                if !self.system_calls.contains(&system) {
                    self.system_calls.push(system);
                }
                return Ok(Callee::System(system));
            }
        }
        self.function(*index).map(Callee::Direct)
    }
}
