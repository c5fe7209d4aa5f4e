//! Parameters and results of device functions: one row per word, passed between caller and callee.
//!
//! Old PTX declares them as registers. These are copied from their rows at the start of the
//! function, and to their rows before it returns.

use super::form::Form;
use super::operands::width_of;
use super::{Decoded, Decoder, Symbol, rows_of};
use crate::program::instruction::{Condition, Op};
use crate::program::types::Type;
use crate::program::{PtxError, PtxErrorKind};
use crate::ptx;
use crate::ptx::{Operand, Space, Variable};
use crate::semantics::{Register, Width, bits, integer, pure, test};

/// Registers for the results of a call, and the first row of each.
type Received<'s> = Vec<(Symbol<'s>, Register)>;

impl<'m, 's> Decoder<'_, 'm, 's> {
    /// Declares parameters and results that are registers, and copies the caller's values.
    pub(super) fn receive(&mut self, tree: &'m ptx::Function<'s>) -> Decoded<()> {
        let Some(unit) = self.units.iter().rev().find(|unit| {
            let body = self.context.body(unit.module_index);
            body.is_some_and(|body| std::ptr::eq(body, tree))
        }) else {
            return Ok(());
        };
        let rows: Vec<Register> = unit.params.iter().chain(&unit.returns).map(|(first, _)| *first).collect();
        for (index, (variable, first)) in tree.params.iter().chain(&tree.returns).zip(rows).enumerate() {
            if variable.space != Space::Register {
                continue;
            }
            self.position = variable.position;
            let symbol = self.declare_register(variable)?;
            if let Some(scope) = self.scopes.last_mut() {
                scope.insert(variable.name, symbol.clone());
            }
            if index < tree.params.len() {
                self.take_words(&symbol, first);
            } else {
                self.results.push((symbol, first));
            }
        }
        Ok(())
    }

    /// Emits the end of the kernel, or of the function.
    pub(super) fn leave(&mut self) {
        if self.in_kernel {
            return self.emit(Op::Exit);
        }
        for (symbol, first) in self.results.clone() {
            self.give_words(&symbol, first);
        }
        for (row, offset) in self.framed_results.clone() {
            self.frame_word(row, offset, true);
        }
        self.emit(Op::Return);
    }

    fn parts(symbol: &Symbol<'s>) -> Vec<(Register, Type)> {
        match symbol {
            Symbol::Register { register, ty: Type::B128 } => {
                vec![(*register, Type::B64), (Register(register.0 + 2), Type::B64)]
            }
            Symbol::Register { register, ty } => vec![(*register, *ty)],
            Symbol::Vector { first, ty, elements } => {
                (0..*elements).map(|element| (Register(first.0 + element * rows_of(*ty)), *ty)).collect()
            }
            _ => Vec::new(),
        }
    }

    pub(super) fn take_words(&mut self, symbol: &Symbol<'s>, first: Register) {
        if let Symbol::Predicate(out) = *symbol {
            let (info, zero) = (test::<integer::Ne<u32>>(), self.bits(Width::Single, 0));
            return self.emit(Op::Test { info, out, inverse: None, sources: [first, zero], combine: None });
        }
        let mut at = first.0;
        for (register, ty) in Self::parts(symbol) {
            let (low, high) = (Register(at), Register(at + 1));
            match width_of(ty) {
                Width::Double => self.pure_op(pure::<bits::Pack32>(), register, &[low, high]),
                _ => self.move_op(Width::Single, register, low),
            }
            at += rows_of(ty);
        }
    }

    fn give_words(&mut self, symbol: &Symbol<'s>, first: Register) {
        if let Symbol::Predicate(predicate) = *symbol {
            let [a, b] = [1, 0].map(|bit| self.bits(Width::Single, bit));
            let condition = Condition { predicate, negated: false };
            return self.emit(Op::Select { width: Width::Single, out: first, a, b, condition });
        }
        let mut at = first.0;
        for (register, ty) in Self::parts(symbol) {
            let (low, high) = (Register(at), Register(at + 1));
            if width_of(ty) == Width::Double {
                self.pure_op(pure::<bits::Low32>(), low, &[register]);
                self.pure_op(pure::<bits::High32>(), high, &[register]);
            } else {
                self.move_op(Width::Single, low, register);
            }
            at += rows_of(ty);
        }
    }

    /// Returns the rows of the arguments of a call, word by word.
    pub(super) fn arguments(
        &mut self,
        operands: &[Operand<'s>],
        formal: &[Variable<'s>],
    ) -> Decoded<Vec<Register>> {
        let mut rows = Vec::new();
        for (operand, variable) in operands.iter().zip(formal) {
            for part in self.passed(operand, variable)? {
                self.argument(part, variable, &mut rows)?;
            }
        }
        Ok(rows)
    }

    /// Returns the elements of an argument or a result: as many as the parameter has.
    fn passed<'o>(&self, operand: &'o Operand<'s>, variable: &Variable<'_>) -> Decoded<&'o [Operand<'s>]> {
        let parts = match operand {
            Operand::Vector(parts) => parts.as_slice(),
            single => std::slice::from_ref(single),
        };
        let fits = variable.space != Space::Register
            || variable.vector as usize == parts.len()
            || parts == [Operand::Name("_")];
        if fits { Ok(parts) } else { Err(self.other_type()) }
    }

    fn other_type(&self) -> Box<PtxError> {
        self.invalid("an argument or a result of a call has another type than the parameter of the function")
    }

    fn argument(
        &mut self,
        operand: &Operand<'s>,
        variable: &Variable<'_>,
        rows: &mut Vec<Register>,
    ) -> Decoded<()> {
        let symbol = match operand {
            Operand::Name(name) => self.lookup(name).ok_or_else(|| self.undeclared(name))?,
            number => {
                let ty =
                    Type::parse(variable.ty).filter(|ty| *ty != Type::Pred && variable.dimensions.is_empty());
                let ty = ty.ok_or_else(|| self.other_type())?;
                Symbol::Register { register: self.source(number, ty, width_of(ty))?, ty }
            }
        };
        if !takes(variable, &symbol) {
            return Err(self.other_type());
        }
        match symbol {
            Symbol::ParamRows { first, words, .. } => {
                rows.extend((0..words).map(|word| Register(first.0 + word)));
            }
            Symbol::Register { register, ty } if rows_of(ty) == 1 => rows.push(register),
            Symbol::Register { .. } | Symbol::Predicate(_) => {
                let (first, words) = self.rows_for(&symbol);
                self.give_words(&symbol, first);
                rows.extend((0..words).map(|word| Register(first.0 + word)));
            }
            _ => return Err(self.unsupported("this argument of a call")),
        }
        Ok(())
    }

    /// Allocates rows for a register's words or a predicate. Returns the first row, and how many.
    fn rows_for(&mut self, symbol: &Symbol<'s>) -> (Register, u32) {
        let words = match symbol {
            Symbol::Register { ty, .. } => rows_of(*ty),
            _ => 1,
        };
        (self.allocate_rows(words, Width::Single), words)
    }

    /// Returns the rows for a call's results, and the registers to which they are copied later.
    pub(super) fn call_results(
        &mut self,
        operands: &[Operand<'s>],
        formal: &[Variable<'s>],
    ) -> Decoded<(Vec<Register>, Received<'s>)> {
        let (mut rows, mut received) = (Vec::new(), Vec::new());
        for (operand, variable) in operands.iter().zip(formal) {
            for part in self.passed(operand, variable)? {
                let Operand::Name(name) = part else { return Err(self.unsupported("this result of a call")) };
                if *name == "_" {
                    // An unused result keeps its rows.
                    let words = self.words_of(variable)?;
                    let first = self.allocate_rows(words, Width::Single);
                    rows.extend((0..words).map(|word| Register(first.0 + word)));
                    continue;
                }
                let symbol = self.lookup(name).ok_or_else(|| self.undeclared(name))?;
                if !takes(variable, &symbol) {
                    return Err(self.other_type());
                }
                match symbol {
                    Symbol::ParamRows { first, words, .. } => {
                        rows.extend((0..words).map(|word| Register(first.0 + word)));
                    }
                    Symbol::Register { register, ty } if rows_of(ty) == 1 => rows.push(register),
                    Symbol::Register { .. } | Symbol::Predicate(_) => {
                        let (first, words) = self.rows_for(&symbol);
                        rows.extend((0..words).map(|word| Register(first.0 + word)));
                        received.push((symbol, first));
                    }
                    _ => return Err(self.undeclared(name)),
                }
            }
        }
        Ok((rows, received))
    }
}

/// True if a register, a predicate or a variable fits a parameter, or an element of it.
fn takes(variable: &Variable<'_>, symbol: &Symbol<'_>) -> bool {
    let form = match symbol {
        Symbol::Register { ty, .. } => Form::of_register(*ty),
        Symbol::Predicate(_) => Form::of_register(Type::Pred),
        Symbol::ParamRows { form, .. } => *form,
        _ => return false,
    };
    Form::of(variable).is_ok_and(|formal| formal.takes(form))
}

/// Refuses parameters and results of types that the calling convention does not pass.
pub(super) fn check_passed(module: &ptx::Module<'_>, variable: &Variable<'_>) -> Decoded<()> {
    use Type::{Pred, S8, S16, U8, U16};
    // A module with a function of several results is exempt from the convention.
    let several = || module.functions.iter().any(|function| function.returns.len() > 1);
    let passes = |ty| {
        variable.vector > 1
            || !variable.dimensions.is_empty()
            || !matches!(ty, Pred | U8 | S8 | U16 | S16)
            || several()
    };
    if Type::parse(variable.ty).is_some_and(passes) && variable.count.is_none() {
        return Ok(());
    }
    let message = format!(
        "`{}`: predicates and integers of 8 and 16 bits are passed to functions only if a function of the module \
         has several results",
        variable.name
    );
    Err(PtxError::at(variable.position, PtxErrorKind::Syntax, message))
}
