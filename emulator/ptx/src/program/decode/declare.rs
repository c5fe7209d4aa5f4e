//! Declarations in functions: the meaning of names, and the rows of registers.

use super::form::{Form, Role};
use super::{Decoded, Decoder, Symbol};
use crate::program::instruction::Constant;
use crate::program::symbols::{layout, shared_layout};
use crate::program::types::Type;
use crate::program::{MOST_LOCAL, RowKind};
use crate::ptx::{Space, Variable};
use crate::semantics::{Predicate, Register, Width};

impl<'m, 's> Decoder<'_, 'm, 's> {
    pub(super) fn declare(&mut self, variable: &'m Variable<'s>) -> Decoded<()> {
        self.position = variable.position;
        if self.scopes.last().is_some_and(|scope| scope.declares(variable)) {
            return Err(self.declared_twice(variable.name));
        }
        let symbol = match variable.space {
            Space::Register => self.declare_register(variable)?,
            Space::Local => {
                let (bytes, align) = layout(variable)?;
                let bytes = bytes.ok_or_else(|| self.unsupported("a local array without size"))?;
                let offset = u64::from(self.frame).next_multiple_of(align);
                self.frame = u32::try_from(offset + bytes)
                    .ok()
                    .filter(|frame| *frame <= MOST_LOCAL)
                    .ok_or_else(|| self.unsupported("more local memory than any thread has"))?;
                Symbol::Local { offset: offset as u32, element: element_bytes(variable) }
            }
            Space::Shared => {
                self.shared.push(shared_layout(variable)?);
                Symbol::Shared { index: self.shared.len() as u32 - 1, element: element_bytes(variable) }
            }
            Space::Global | Space::Const => {
                let place = (variable.position, variable.name);
                let index = self.context.inner.get(&place).copied().unwrap_or_default();
                Symbol::Global { index, element: element_bytes(variable) }
            }
            Space::Param => {
                let words = self.words_of(variable)?;
                let form = Form::of(variable)?;
                Symbol::ParamRows {
                    first: self.allocate_rows(words, Width::Single),
                    words,
                    form,
                    role: Role::Passed,
                    local: None,
                }
            }
            _ => return Err(self.unsupported("variables of this state space inside a function")),
        };
        if let Some(scope) = self.scopes.last_mut() {
            if variable.count.is_some() {
                scope.insert_numbered(variable.name, symbol);
            } else {
                scope.insert(variable.name, symbol);
            }
        }
        Ok(())
    }

    pub(super) fn declare_register(&mut self, variable: &Variable<'s>) -> Decoded<Symbol<'s>> {
        let ty = Type::parse(variable.ty)
            .ok_or_else(|| self.unsupported(format!("registers of type `.{}`", variable.ty)))?;
        let width = if rows_of(ty) == 1 { Width::Single } else { Width::Double };
        if variable.vector != 1 {
            if matches!(ty, Type::Pred | Type::B128) || variable.count.is_some_and(|count| count > 1 << 16) {
                return Err(self.unsupported("vector registers of this kind"));
            }
            let elements = variable.vector;
            let first = self.allocate_rows(elements * variable.count.unwrap_or(1), width);
            return Ok(match variable.count {
                Some(count) => Symbol::Vectors { first, ty, elements, count },
                None => Symbol::Vector { first, ty, elements },
            });
        }
        let count = variable.count.unwrap_or(1);
        if count > 1 << 20 {
            return Err(self.unsupported("more than a million registers"));
        }
        self.context.count(count as usize, variable.position)?;
        if ty == Type::Pred {
            return Ok(match variable.count {
                Some(count) => {
                    self.declarations += 1;
                    Symbol::Predicates { declaration: self.declarations, count }
                }
                None => Symbol::Predicate(self.new_predicate()),
            });
        }
        if let Some(count) = variable.count {
            self.declarations += 1;
            return Ok(Symbol::Registers { declaration: self.declarations, ty, count });
        }
        Ok(Symbol::Register { register: self.allocate_register(ty), ty })
    }

    pub(super) fn rows(&self) -> u32 {
        self.row_kinds.borrow().len() as u32
    }

    pub(super) fn allocate_register(&self, ty: Type) -> Register {
        let width = if rows_of(ty) == 1 { Width::Single } else { Width::Double };
        self.allocate_rows(if ty == Type::B128 { 2 } else { 1 }, width)
    }

    pub(super) fn numbered(&self, declaration: u32, number: u32, ty: Type) -> Register {
        let mut numbered = self.numbered.borrow_mut();
        *numbered.get_or_insert_with(joined(declaration, number), || self.allocate_register(ty))
    }

    pub(super) fn allocate_rows(&self, count: u32, width: Width) -> Register {
        let mut kinds = self.row_kinds.borrow_mut();
        let first = Register(kinds.len() as u32);
        for _ in 0..count {
            match width {
                Width::Double => kinds.extend([RowKind::Lower, RowKind::Upper]),
                _ => kinds.push(RowKind::Single),
            }
        }
        first
    }

    pub(super) fn new_predicate(&self) -> Predicate {
        let next = self.predicates.get();
        self.predicates.set(next + 1);
        Predicate(next)
    }

    pub(super) fn numbered_predicate(&self, declaration: u32, number: u32) -> Predicate {
        let mut numbered = self.numbered_predicates.borrow_mut();
        *numbered.get_or_insert_with(joined(declaration, number), || self.new_predicate())
    }

    pub(super) fn temporary(&mut self, width: Width) -> Register {
        self.allocate_rows(1, width)
    }

    pub(super) fn constant(&mut self, width: Width, constant: Constant) -> Register {
        if let Some(register) = self.constants.get(&(width, constant)) {
            return *register;
        }
        let register = self.temporary(width);
        self.constants.insert((width, constant), register);
        register
    }
}

/// Returns the size of an element of an array; 0 for other variables.
pub(super) fn element_bytes(variable: &Variable<'_>) -> u32 {
    let ty = Type::parse(variable.ty).filter(|_| !variable.dimensions.is_empty());
    ty.map_or(0, |ty| ty.bytes() * variable.vector)
}

/// Returns a key for a register of a declaration.
fn joined(declaration: u32, number: u32) -> u64 {
    u64::from(declaration) << 32 | u64::from(number)
}

pub(super) fn rows_of(ty: Type) -> u32 {
    ty.bytes().div_ceil(4)
}
