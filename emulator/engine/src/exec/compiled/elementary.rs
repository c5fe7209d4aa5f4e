//! Exponentials, logarithms, sines, cosines and hyperbolic tangents as machine code.

use super::backend::{Emitter, F32, F64, FloatCC, I64, IntCC, Type, Val};
use super::float::{operand, or_exact_small};
use super::vectors::vector_of;
use super::writer::Writer;
use crate::semantics::double::Double;
use crate::semantics::elementary::{TURNS, exp2, log2, sine, tanh};
use crate::semantics::lower::{Elementary, Lower};
use crate::semantics::{PureInfo, Register};

/// A sine up to this one may be the sine of an angle that is rounded as a subnormal number.
const LEAST_SINE: f32 = f32::from_bits((127 - 99) << 23);

/// Writes a function by its formula. Returns `None` for other operations.
pub(super) fn pure(w: &mut Writer<'_, '_>, info: &'static PureInfo, sources: [Register; 4]) -> Option<Val> {
    let Lower::Elementary(function, flush) = info.lower else { return None };
    // For the other functions, zero has the same result.
    let a = operand(w, sources[0], F32, flush && function == Elementary::Log2);
    let value = if w.e.is_vector(a) {
        let halves = w.e.promoted(a).map(|half| formula(w.e, function, half));
        w.e.demoted(halves)
    } else {
        let a = w.e.fpromote(F64, a);
        let value = formula(w.e, function, a);
        w.e.fdemote(F32, value)
    };
    let value = match function {
        Elementary::Exp2 if flush => or_exact_small(w, info, sources, (value, f32::MIN_POSITIVE)),
        Elementary::Sine => or_exact_small(w, info, sources, (value, LEAST_SINE)),
        _ => value,
    };
    if flush {
        w.flushed.insert(value);
    }
    Some(value)
}

fn formula(e: &mut Emitter<'_>, function: Elementary, x: Val) -> Val {
    let mut d = Doubles { ty: e.ty(x), e };
    match function {
        Elementary::Exp2 => exp2(&mut d, x),
        Elementary::Log2 => log2(&mut d, x),
        Elementary::Tanh => tanh(&mut d, x),
        Elementary::Sine | Elementary::Cosine => {
            let turns = d.number(TURNS.into());
            let turns = d.mul(x, turns);
            // Rounded to single precision, towards zero.
            let bits = d.bits(turns);
            let bits = d.and(bits, !0x1fff_ffff);
            let turns = d.of_bits(bits);
            sine(&mut d, turns, u64::from(function == Elementary::Cosine))
        }
    }
}

/// Writes arithmetic on numbers or vectors of this type.
struct Doubles<'a, 'e> {
    e: &'a mut Emitter<'e>,
    ty: Type,
}

impl Doubles<'_, '_> {
    fn integers(&self) -> Type {
        if self.ty.is_vector() { vector_of(I64) } else { I64 }
    }

    fn integer(&mut self, value: u64) -> Val {
        let ty = self.integers();
        self.e.int(ty, value)
    }
}

impl Double for Doubles<'_, '_> {
    type Number = Val;
    type Bits = Val;
    type Truth = Val;

    fn number(&mut self, value: f64) -> Val {
        let number = self.e.f64const(value);
        if self.ty.is_vector() { self.e.splat(number) } else { number }
    }
    fn add(&mut self, a: Val, b: Val) -> Val {
        self.e.fadd(a, b)
    }
    fn sub(&mut self, a: Val, b: Val) -> Val {
        self.e.fsub(a, b)
    }
    fn mul(&mut self, a: Val, b: Val) -> Val {
        self.e.fmul(a, b)
    }
    fn div(&mut self, a: Val, b: Val) -> Val {
        self.e.fdiv(a, b)
    }
    fn less(&mut self, a: Val, b: Val) -> Val {
        self.e.fcmp(FloatCC::LessThan, a, b)
    }
    fn equal(&mut self, a: Val, b: Val) -> Val {
        self.e.fcmp(FloatCC::Equal, a, b)
    }
    fn select(&mut self, condition: Val, yes: Val, no: Val) -> Val {
        self.e.select(condition, yes, no)
    }
    fn bits(&mut self, a: Val) -> Val {
        let ty = self.integers();
        self.e.bitcast(ty, a)
    }
    fn of_bits(&mut self, bits: Val) -> Val {
        self.e.bitcast(self.ty, bits)
    }
    fn plus(&mut self, a: Val, constant: u64) -> Val {
        let constant = self.integer(constant);
        self.e.iadd(a, constant)
    }
    fn minus(&mut self, a: Val, b: Val) -> Val {
        self.e.isub(a, b)
    }
    fn and(&mut self, a: Val, constant: u64) -> Val {
        let constant = self.integer(constant);
        self.e.band(a, constant)
    }
    fn xor(&mut self, a: Val, b: Val) -> Val {
        self.e.bxor(a, b)
    }
    fn shift_left(&mut self, a: Val, by: u32) -> Val {
        let by = self.e.int(I64, by.into());
        self.e.ishl(a, by)
    }
    fn shift_right(&mut self, a: Val, by: u32) -> Val {
        let by = self.e.int(I64, by.into());
        self.e.ushr(a, by)
    }
    fn is_zero(&mut self, a: Val) -> Val {
        let zero = self.integer(0);
        self.e.icmp(IntCC::Equal, a, zero)
    }
}
