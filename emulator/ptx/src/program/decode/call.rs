//! Calls: of a function by name, of one by its address, and of functions of the driver.

use super::form::Signature;
use super::modifiers::Modifiers;
use super::operands::width_of;
use super::{Decoded, Decoder, Symbol};
use crate::program::instruction::{Call, Callee, Op, SystemCall};
use crate::program::symbols::ModuleSymbol;
use crate::program::{PtxError, PtxErrorKind};
use crate::ptx::{self, FunctionKind, Instruction, Operand};
use crate::semantics::Width;

impl<'m, 's> Decoder<'_, 'm, 's> {
    /// Decodes `call (results), function, (arguments), prototype`, of which the lists are optional.
    pub(super) fn call(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        m.ignore(&["uni"]);
        let mut operands = i.operands.iter().peekable();
        let is_list = |operand: &&Operand<'s>| matches!(operand, Operand::List(_));
        let results = listed(operands.next_if(is_list));
        let Some(Operand::Name(name)) = operands.next() else { return Err(m.unknown()) };
        let arguments = listed(operands.next_if(is_list));
        let prototype = match (operands.next(), operands.next()) {
            (None, _) => None,
            (Some(Operand::Name(prototype)), None) => Some(*prototype),
            _ => return Err(m.unknown()),
        };
        let (callee, signature) = match self.lookup(name) {
            Some(Symbol::Register { register, ty }) if width_of(ty) == Width::Double && !ty.is_float() => {
                let signature = self.prototype(prototype)?;
                self.functions_of_addresses()?;
                (Callee::Indirect(register), signature)
            }
            Some(_) => return Err(self.undeclared(name)),
            None if prototype.is_some() => {
                return Err(self.invalid(format!("`{name}` is called by name, without a prototype")));
            }
            None => self.callee(name)?,
        };
        if (arguments.len(), results.len()) != (signature.params.len(), signature.returns.len()) {
            let (params, returns) = (signature.params.len(), signature.returns.len());
            return Err(self.invalid(format!(
                "`{name}` takes {params} arguments and returns {returns} results; this call has {} and {}",
                arguments.len(),
                results.len()
            )));
        }
        let arguments = self.arguments(arguments, signature.params)?;
        let (results, received) = self.call_results(results, signature.returns)?;
        self.emit(Op::Call(Box::new(Call { callee, arguments, results })));
        for (symbol, first) in received {
            self.take_words(&symbol, first);
        }
        Ok(())
    }

    /// Returns the signature of a call by address: its prototype, or one of the possible functions.
    fn prototype(&self, name: Option<&str>) -> Decoded<Signature<'m, 's>> {
        let Some(name) = name else {
            return Err(self.invalid("a call by address needs a prototype, or a list of functions"));
        };
        match self.lookup(name) {
            Some(Symbol::Prototype(number)) => Ok(self.prototypes[number as usize]),
            Some(Symbol::Targets(names)) => {
                let mut signatures = Vec::new();
                for name in names {
                    signatures.push(Signature::of(self.device_function(name)?.1));
                }
                let lengths =
                    |signature: &Signature<'_, '_>| (signature.params.len(), signature.returns.len());
                match signatures.split_first() {
                    Some((first, others)) if others.iter().all(|other| lengths(other) == lengths(first)) => {
                        Ok(*first)
                    }
                    _ => Err(self.invalid(format!("the functions of `{name}` differ"))),
                }
            }
            _ => Err(self.undeclared(name)),
        }
    }

    /// Adds the functions that a call by address may reach.
    fn functions_of_addresses(&mut self) -> Decoded<()> {
        for index in 0..self.context.address_taken.len() {
            let module_index = self.context.address_taken[index];
            let body = self.context.body(module_index);
            if body.is_some_and(|tree| tree.kind == FunctionKind::Device) {
                self.function(module_index)?;
            }
        }
        Ok(())
    }

    /// Returns the device function of a name, and its declaration.
    fn device_function(&self, name: &str) -> Decoded<(u32, &'m ptx::Function<'s>)> {
        let Some(ModuleSymbol::Function(index)) = self.input.symbol(name, self.position) else {
            let text = format!("`{name}` is no function that is declared above");
            return Err(PtxError::at(self.position, PtxErrorKind::Unresolved, text));
        };
        let tree = self.context.body(index).unwrap_or(self.context.functions[index as usize].tree);
        match tree.kind {
            FunctionKind::Device => Ok((index, tree)),
            FunctionKind::Entry => Err(self.invalid(format!("`{name}` is a kernel, which is not called"))),
        }
    }

    fn callee(&mut self, name: &str) -> Decoded<(Callee, Signature<'m, 's>)> {
        let (index, tree) = self.device_function(name)?;
        let signature = Signature::of(tree);
        if tree.body.is_none() {
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
                return Ok((Callee::System(system), signature));
            }
        }
        Ok((Callee::Direct(self.function(index)?), signature))
    }
}

fn listed<'i, 's>(operand: Option<&'i Operand<'s>>) -> &'i [Operand<'s>] {
    match operand {
        Some(Operand::List(list)) => list,
        _ => &[],
    }
}
