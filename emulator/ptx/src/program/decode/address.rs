//! Addresses of symbols, of elements of arrays, and of accesses.

use super::operands::width_of;
use super::{Decoded, Decoder, Symbol, element_bytes};
use crate::program::instruction::{Constant, Op};
use crate::program::memory::Address;
use crate::program::symbols::ModuleSymbol;
use crate::program::types::Type;
use crate::program::{PtxError, PtxErrorKind};
use crate::ptx::Operand;
use crate::semantics::{Register, Width, bits, integer, pure};

impl<'s> Decoder<'_, '_, 's> {
    pub(super) fn symbol_address(&mut self, name: &str, offset: i64, width: Width) -> Option<Register> {
        let constant = match self.lookup(name) {
            Some(Symbol::Shared { index, .. }) => Constant::Shared { index, offset },
            Some(Symbol::Global { index, .. }) => Constant::Global { index, offset },
            Some(Symbol::KernelParam { offset: at }) => Constant::Bits((i64::from(at) + offset) as u64),
            Some(Symbol::Local { offset: at, .. } | Symbol::ParamRows { local: Some(at), .. }) => {
                let offset = (i64::from(at) + offset) as u32;
                if self.in_kernel {
                    Constant::Bits(offset.into())
                } else {
                    let out = self.temporary(width);
                    self.emit(Op::LocalAddress { out, offset, width });
                    return Some(out);
                }
            }
            Some(_) => return None,
            None => match self.input.symbol(name, self.position)? {
                ModuleSymbol::Global(index) => Constant::Global { index, offset },
                ModuleSymbol::Shared(index) => Constant::Shared { index, offset },
                ModuleSymbol::Function(index) if offset == 0 => Constant::Function { index },
                ModuleSymbol::Function(_) => return None,
            },
        };
        Some(self.constant(width, constant))
    }

    /// Decodes `[base + offset]`.
    pub(super) fn address(&mut self, operand: &Operand<'s>) -> Decoded<Address> {
        if let Operand::Element(name, index) = operand {
            let base = self.element_address(name, index, Width::Double)?;
            return Ok(Address { base, width: Width::Double, offset: 0 });
        }
        let Operand::Memory(parts) = operand else {
            return Err(self.unsupported("this operand where an address belongs"));
        };
        let [base] = parts.as_slice() else {
            return Err(self.unsupported("an address of several parts"));
        };
        let (name, offset) = match base {
            Operand::Name(name) => (*name, 0),
            Operand::Offset(name, offset) => (*name, *offset),
            Operand::Int(value) => {
                let base = self.bits(Width::Double, *value);
                return Ok(Address { base, width: Width::Double, offset: 0 });
            }
            _ => return Err(self.unsupported("this address")),
        };
        if let Some(Symbol::Register { register, ty }) = self.lookup(name) {
            if ty.is_float() || !matches!(ty.bytes(), 4 | 8) {
                return Err(self.mismatch(&format!("`{name}` of type {ty:?}"), Type::U64));
            }
            return Ok(Address { base: register, width: width_of(ty), offset });
        }
        let is_function = matches!(self.input.symbol(name, self.position), Some(ModuleSymbol::Function(_)));
        if is_function && self.lookup(name).is_none() {
            return Err(self.invalid(format!("`{name}` is a function, which is no memory")));
        }
        match self.symbol_address(name, offset, Width::Double) {
            Some(base) => Ok(Address { base, width: Width::Double, offset: 0 }),
            None => Err(self.undeclared(name)),
        }
    }

    fn array_element(&self, name: &str) -> Decoded<u32> {
        let bytes = match self.lookup(name) {
            Some(
                Symbol::Local { element, .. }
                | Symbol::Shared { element, .. }
                | Symbol::Global { element, .. },
            ) => element,
            Some(_) => 0,
            None => {
                let variables = &self.input.module.variables;
                let variable = variables.iter().rev().find(|variable| variable.name == name);
                variable.map_or(0, element_bytes)
            }
        };
        if bytes != 0 {
            return Ok(bytes);
        }
        Err(PtxError::at(self.position, PtxErrorKind::Syntax, format!("`{name}` is no array")))
    }

    pub(super) fn element_address(
        &mut self,
        name: &str,
        index: &Operand<'s>,
        width: Width,
    ) -> Decoded<Register> {
        let bytes = self.array_element(name)?;
        if let Operand::Int(index) = index {
            let offset = (*index as i64).wrapping_mul(i64::from(bytes));
            return self.symbol_address(name, offset, width).ok_or_else(|| self.undeclared(name));
        }
        let base = self.symbol_address(name, 0, Width::Double).ok_or_else(|| self.undeclared(name))?;
        let (Operand::Name(register) | Operand::Offset(register, _)) = index else {
            return Err(self.unsupported("this index of an array"));
        };
        let wide = matches!(self.lookup(register), Some(Symbol::Register { ty, .. }) if width_of(ty) == Width::Double);
        let address = self.temporary(Width::Double);
        if wide {
            let index = self.source(index, Type::U64, Width::Double)?;
            let factor = self.bits(Width::Double, bytes.into());
            self.pure_op(pure::<integer::MadLow<u64>>(), address, &[index, factor, base]);
        } else {
            let index = self.source(index, Type::U32, Width::Single)?;
            let factor = self.bits(Width::Single, bytes.into());
            self.pure_op(pure::<integer::MadWide<u32>>(), address, &[index, factor, base]);
        }
        if width == Width::Double {
            return Ok(address);
        }
        let narrow = self.temporary(Width::Single);
        self.pure_op(pure::<bits::Low32>(), narrow, &[address]);
        Ok(narrow)
    }
}
