//! Decoding steps common to all instructions, before the opcode's decoder.

use super::special::special;
use super::{Decoded, Decoder, MOST_ROWS, Symbol};
use crate::program::instruction::Condition;
use crate::program::{PtxError, PtxErrorKind};
use crate::ptx;

impl<'m, 's> Decoder<'_, 'm, 's> {
    pub(super) fn instruction(&mut self, instruction: &'m ptx::Instruction<'s>) -> Decoded<()> {
        self.origin(instruction.position, instruction.text);
        self.context.count(1, instruction.position)?;
        if self.rows().max(self.predicates.get()) > MOST_ROWS {
            return Err(self.unsupported(format!("more than {MOST_ROWS} registers of 32 bits")));
        }
        let expanded = self.expanded(instruction);
        let instruction = expanded.as_ref().unwrap_or(instruction);
        self.guard = match instruction.guard {
            Some((name, negated)) => Condition { predicate: self.predicate_named(name)?, negated },
            None => Condition::ALWAYS,
        };
        self.refuse_newer(instruction)?;
        self.refuse_special_registers(instruction)?;
        self.refuse_elements(instruction)?;
        self.decode(instruction)
    }
}

impl<'s> Decoder<'_, '_, 's> {
    /// Replaces vector registers by their elements. Returns `None` if the instruction has none.
    fn expanded(&self, instruction: &ptx::Instruction<'s>) -> Option<ptx::Instruction<'s>> {
        if self.context.elements.is_empty() {
            return None;
        }
        let mut found = false;
        let operands = instruction.operands.iter().map(|operand| self.with_elements(operand, &mut found));
        let operands = operands.collect();
        found.then(|| ptx::Instruction { operands, ..instruction.clone() })
    }

    fn with_elements(&self, operand: &ptx::Operand<'s>, found: &mut bool) -> ptx::Operand<'s> {
        use ptx::Operand;
        let mut all =
            |list: &[Operand<'s>]| list.iter().map(|part| self.with_elements(part, found)).collect();
        match operand {
            Operand::Name(name) => {
                let Some(Symbol::Vector { elements: count, .. }) = self.lookup(name) else {
                    return operand.clone();
                };
                let Some(elements) = self.context.elements.get(name) else { return operand.clone() };
                *found = true;
                let elements = elements.iter().take(count as usize);
                Operand::Vector(elements.map(|element| Operand::Name(element)).collect())
            }
            Operand::Memory(parts) => Operand::Memory(all(parts)),
            Operand::List(parts) => Operand::List(all(parts)),
            other => other.clone(),
        }
    }

    /// Refuses elements of arrays, except in moves, loads and stores.
    fn refuse_elements(&self, instruction: &ptx::Instruction<'s>) -> Decoded<()> {
        let element = |operand: &ptx::Operand<'s>| matches!(operand, ptx::Operand::Element(..));
        if matches!(instruction.opcode, "mov" | "cvta" | "ld" | "st")
            || !instruction.operands.iter().any(element)
        {
            return Ok(());
        }
        let message = format!("`{}` takes no element of an array", instruction.opcode);
        Err(PtxError::at(self.position, PtxErrorKind::Syntax, message))
    }

    fn refuse_special_registers(&self, instruction: &ptx::Instruction<'s>) -> Decoded<()> {
        if matches!(instruction.opcode, "mov" | "cvt") {
            return Ok(());
        }
        let refused = instruction.operands.iter().find_map(|operand| match operand {
            ptx::Operand::Name(name) if name.starts_with('%') && special(name).is_some() => Some(name),
            _ => None,
        });
        match refused.filter(|name| self.lookup(name).is_none()) {
            Some(name) => Err(PtxError::at(
                self.position,
                PtxErrorKind::Syntax,
                format!(
                    "`{}` does not read special registers: expected a `mov` from `{name}` before it",
                    instruction.opcode
                ),
            )),
            None => Ok(()),
        }
    }
}
