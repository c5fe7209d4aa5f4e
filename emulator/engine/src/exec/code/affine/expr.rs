//! Expressions over numbers known at launch, and shapes built from them.

use crate::semantics::{Register, Width};
use std::collections::HashMap;

pub(in crate::exec) type Id = u32;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(in crate::exec) enum Expr {
    Number(i64),
    /// Value of a constant row; a 32-bit value is sign-extended.
    Row(Register, Width),
    Add(Id, Id),
    Sub(Id, Id),
    Mul(Id, Id),
    Low(Id),
    LowUnsigned(Id),
}

pub(in crate::exec) const ZERO: Id = 0;
pub(in crate::exec) const ONE: Id = 1;

/// Growth of a value per coordinate of the thread.
pub(in crate::exec) type Growth = [Id; 3];
pub(in crate::exec) const UNIFORM: Growth = [ZERO; 3];

/// Expressions without duplicates. Each follows its operands.
#[derive(Debug)]
pub(in crate::exec) struct Exprs {
    pub(in crate::exec) list: Vec<Expr>,
    ids: HashMap<Expr, Id>,
}

impl Exprs {
    pub(in crate::exec) fn new() -> Self {
        let mut exprs = Exprs { list: Vec::new(), ids: HashMap::new() };
        exprs.make(Expr::Number(0));
        exprs.make(Expr::Number(1));
        exprs
    }

    pub(in crate::exec) fn number(&self, id: Id) -> Option<i64> {
        match self.list[id as usize] {
            Expr::Number(number) => Some(number),
            _ => None,
        }
    }

    /// Returns an equal expression, simplified if possible.
    pub(in crate::exec) fn make(&mut self, expr: Expr) -> Id {
        let expr = match expr {
            Expr::Add(a, b) if a > b => Expr::Add(b, a),
            Expr::Mul(a, b) if a > b => Expr::Mul(b, a),
            expr => expr,
        };
        let number = |id| self.number(id);
        let folded = match expr {
            Expr::Number(_) | Expr::Row(..) => None,
            Expr::Add(ZERO, b) | Expr::Mul(ONE, b) => return b,
            Expr::Sub(a, ZERO) => return a,
            Expr::Mul(ZERO, _) => return ZERO,
            Expr::Sub(a, b) if a == b => return ZERO,
            Expr::Add(a, b) => number(a).zip(number(b)).map(|(a, b)| a.wrapping_add(b)),
            Expr::Sub(a, b) => number(a).zip(number(b)).map(|(a, b)| a.wrapping_sub(b)),
            Expr::Mul(a, b) => number(a).zip(number(b)).map(|(a, b)| a.wrapping_mul(b)),
            Expr::Low(a) if matches!(self.list[a as usize], Expr::Low(_) | Expr::Row(_, Width::Single)) => {
                return a;
            }
            Expr::Low(a) => number(a).map(low),
            Expr::LowUnsigned(a) => number(a).map(low_unsigned),
        };
        let expr = folded.map_or(expr, Expr::Number);
        let list = &mut self.list;
        *self.ids.entry(expr).or_insert_with(|| {
            list.push(expr);
            (list.len() - 1) as Id
        })
    }

    pub(in crate::exec) fn each(&mut self, shape: Growth, mut make: impl FnMut(Id) -> Expr) -> Growth {
        shape.map(|id| self.make(make(id)))
    }

    pub(in crate::exec) fn pair(&mut self, a: Growth, b: Growth, make: impl Fn(Id, Id) -> Expr) -> Growth {
        core::array::from_fn(|axis| self.make(make(a[axis], b[axis])))
    }
}

pub(in crate::exec) fn low(number: i64) -> i64 {
    number as i32 as i64
}

fn low_unsigned(number: i64) -> i64 {
    number as u32 as i64
}

/// Evaluates expressions in order; `row` returns the value of a constant row.
pub(in crate::exec) fn evaluate(list: &[Expr], row: impl Fn(Register, Width) -> i64, values: &mut Vec<i64>) {
    values.clear();
    for expr in list {
        let of = |id: Id| values[id as usize];
        let value = match *expr {
            Expr::Number(number) => number,
            Expr::Row(register, width) => row(register, width),
            Expr::Add(a, b) => of(a).wrapping_add(of(b)),
            Expr::Sub(a, b) => of(a).wrapping_sub(of(b)),
            Expr::Mul(a, b) => of(a).wrapping_mul(of(b)),
            Expr::Low(a) => low(of(a)),
            Expr::LowUnsigned(a) => low_unsigned(of(a)),
        };
        values.push(value);
    }
}
