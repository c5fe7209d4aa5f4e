//! Registers and predicates of the running lane, in their types.

use super::backend::{F32, F64, FloatCC, I8, I32, I64, Kind, Type, Val};
use super::context::Context;
use super::types::Holds;
use super::vectors::vector_of;
use super::writer::Writer;
use crate::program::instruction::{Condition, Constant};
use crate::semantics::{LANES, Predicate, Register};

impl Writer<'_, '_> {
    pub(super) fn own_type(&self, register: Register) -> Type {
        match self.holds[register.0 as usize] {
            Holds::Word => I32,
            Holds::Wide => I64,
            Holds::Single | Holds::Raw => F32,
            Holds::Double => F64,
        }
    }

    pub(super) fn cell(&self, register: Register) -> (Val, i32) {
        (self.cells[usize::from(self.is_wide(register.0))], (register.0 as usize * LANES * 4) as i32)
    }

    pub(super) fn load_row(&mut self, bit: u32) {
        let Some(predicate) = bit.checked_sub(self.kernel.rows) else {
            let register = Register(bit);
            let ((at, offset), ty) = (self.cell(register), self.own_type(register));
            let value = self.e.load(ty, Kind::State, at, offset);
            return self.set_value(bit, value);
        };
        let predicates = self.e.load(I64, Kind::Constant, self.context, Context::PREDICATES);
        let word = self.e.load(I32, Kind::State, predicates, predicate as i32 * 4);
        let lane = self.lane;
        let word = self.e.ushr(word, lane);
        let one = self.e.int(I32, 1);
        let value = self.e.band(word, one);
        let value = self.e.ireduce(I8, value);
        self.set_predicate(Predicate(predicate), value);
    }

    /// Stores a register or predicate in a record of calls.
    pub(super) fn save(&mut self, bit: u32, (at, offset): (Val, i32)) {
        let value = match bit.checked_sub(self.kernel.rows) {
            Some(predicate) => self.predicate(Predicate(predicate)),
            None => self.get(Register(bit), self.own_type(Register(bit))),
        };
        self.e.store(Kind::State, value, at, offset);
    }

    /// Loads a register or predicate that `save` has stored.
    pub(super) fn restore(&mut self, bit: u32, (at, offset): (Val, i32)) {
        if let Some(predicate) = bit.checked_sub(self.kernel.rows) {
            let value = self.e.load(I8, Kind::State, at, offset);
            return self.set_predicate(Predicate(predicate), value);
        }
        let register = Register(bit);
        let value = self.e.load(self.own_type(register), Kind::State, at, offset);
        self.set(register, value);
    }

    pub(super) fn store_row(&mut self, bit: u32) {
        if self.quads.is_some() {
            return self.store_rows(bit);
        }
        let Some(predicate) = bit.checked_sub(self.kernel.rows) else {
            let register = Register(bit);
            let ty = self.own_type(register);
            let value = self.get(register, ty);
            let (at, offset) = self.cell(register);
            self.e.store(Kind::State, value, at, offset);
            return;
        };
        let value = self.predicate(Predicate(predicate));
        let value = self.e.uextend(I32, value);
        let lane = self.lane;
        let value = self.e.ishl(value, lane);
        let bit = self.bit();
        let others = self.e.bnot(bit);
        let predicates = self.e.load(I64, Kind::Constant, self.context, Context::PREDICATES);
        let word = self.e.load(I32, Kind::State, predicates, predicate as i32 * 4);
        let word = self.e.band(word, others);
        let word = self.e.bor(word, value);
        self.e.store(Kind::State, word, predicates, predicate as i32 * 4);
    }

    /// Returns the bits of a constant that is the same in all launches.
    pub(super) fn known(&self, register: Register) -> Option<u64> {
        match self.constants.get(&register.0) {
            Some(Constant::Bits(bits)) => Some(*bits),
            _ => None,
        }
    }

    /// Returns a register in this type. NaNs of single precision are canonical, as they should be.
    pub(super) fn get(&mut self, register: Register, ty: Type) -> Val {
        let value = self.get_raw(register, ty);
        if self.holds[register.0 as usize] != Holds::Raw || self.constants.contains_key(&register.0) {
            return value;
        }
        if ty == F32 {
            return self.canonical(value);
        }
        let value = self.get_raw(register, F32);
        let value = self.canonical(value);
        self.convert(value, ty)
    }

    /// Returns a register in this type. NaNs of single precision may not be canonical.
    pub(super) fn get_raw(&mut self, register: Register, ty: Type) -> Val {
        if let Some(bits) = self.known(register) {
            let float = |value: u64| f32::from_bits(value as u32);
            return match ty {
                F32 if !float(bits).is_nan() => self.e.f32const(float(bits)),
                F64 if !f64::from_bits(bits).is_nan() => self.e.f64const(f64::from_bits(bits)),
                F32 => {
                    let bits = self.e.int(I32, bits);
                    self.e.bitcast(F32, bits)
                }
                F64 => {
                    let bits = self.e.int(I64, bits);
                    self.e.bitcast(F64, bits)
                }
                ty => self.e.int(ty, bits),
            };
        }
        if self.constants.contains_key(&register.0) {
            let (at, offset) = self.cell(register);
            if !self.is_uniform(register.0) {
                return self.focused_constant((at, offset), register, ty);
            }
            return self.e.load(ty, Kind::Constant, at, offset);
        }
        let value = self.focused(register.0);
        self.convert(value, ty)
    }

    /// Reinterprets a value as a type of the same size; a vector as one of such numbers, if their
    /// size is the same.
    pub(super) fn convert(&mut self, value: Val, ty: Type) -> Val {
        let own = self.e.ty(value);
        let ty = if own.is_vector() && !ty.is_vector() { vector_of(ty) } else { ty };
        let other_size = own.is_vector() && own.lane_bits() != ty.lane_bits();
        if own == ty || other_size { value } else { self.e.bitcast(ty, value) }
    }

    pub(super) fn canonical(&mut self, value: Val) -> Val {
        let nan = self.e.f32const(f32::from_bits(0x7fff_ffff));
        let is_nan = self.e.fcmp(FloatCC::Unordered, value, value);
        self.e.select(is_nan, nan, value)
    }

    /// Sets a register to a value of its size.
    pub(super) fn set(&mut self, register: Register, value: Val) {
        let ty = self.own_type(register);
        let value = self.convert(value, ty);
        self.set_focused(register.0, value);
    }

    pub(super) fn predicate(&mut self, predicate: Predicate) -> Val {
        if predicate == Predicate::TRUE {
            return self.e.int(I8, 1);
        }
        self.focused_predicate(predicate)
    }

    pub(super) fn set_predicate(&mut self, predicate: Predicate, value: Val) {
        self.set_focused(self.kernel.rows + predicate.0, value);
    }

    pub(super) fn condition(&mut self, condition: Condition) -> Val {
        let value = self.predicate(condition.predicate);
        if !condition.negated {
            return value;
        }
        self.e.not(value)
    }
}
