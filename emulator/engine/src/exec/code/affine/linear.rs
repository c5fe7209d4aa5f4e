//! Operations that keep registers regular.

use super::expr::{Expr, Exprs, Growth, Id, ZERO};
use crate::semantics::known::Linear;

/// Returns the growth of an operation's result; `None` if it is not known at launch.
pub(in crate::exec) fn linear_shape(
    exprs: &mut Exprs,
    linear: Linear,
    [a, b, c, _]: [Growth; 4],
    values: [Option<Id>; 4],
) -> Option<Growth> {
    let product = |exprs: &mut Exprs, factor: fn(&mut Exprs, Id) -> Id| match values {
        [_, Some(value), ..] => {
            let value = factor(exprs, value);
            Some(exprs.each(a, |id| Expr::Mul(id, value)))
        }
        [Some(value), ..] => {
            let value = factor(exprs, value);
            Some(exprs.each(b, |id| Expr::Mul(id, value)))
        }
        _ => None,
    };
    let as_is: fn(&mut Exprs, Id) -> Id = |_, id| id;
    let low: fn(&mut Exprs, Id) -> Id = |exprs, id| exprs.make(Expr::Low(id));
    let low_unsigned: fn(&mut Exprs, Id) -> Id = |exprs, id| exprs.make(Expr::LowUnsigned(id));
    match linear {
        Linear::Copy | Linear::Widen { .. } | Linear::Truncate => Some(a),
        Linear::Add => Some(exprs.pair(a, b, Expr::Add)),
        Linear::Sub => Some(exprs.pair(a, b, Expr::Sub)),
        Linear::Neg => Some(exprs.each(a, |id| Expr::Sub(ZERO, id))),
        Linear::MulLow => product(exprs, as_is),
        Linear::MulWide { signed } => product(exprs, if signed { low } else { low_unsigned }),
        Linear::MadLow => {
            let product = product(exprs, as_is)?;
            Some(exprs.pair(product, c, Expr::Add))
        }
        Linear::MadWide { signed } => {
            let product = product(exprs, if signed { low } else { low_unsigned })?;
            Some(exprs.pair(product, c, Expr::Add))
        }
        Linear::ShiftLeft => {
            let amount = exprs.number(values[1]?)?;
            let factor = exprs.make(Expr::Number(if (0..63).contains(&amount) { 1 << amount } else { 0 }));
            Some(exprs.each(a, |id| Expr::Mul(id, factor)))
        }
    }
}

pub(in crate::exec) fn linear_value(
    exprs: &mut Exprs,
    linear: Linear,
    values: [Option<Id>; 4],
) -> Option<Id> {
    let [a, b, c, _] = values;
    match linear {
        Linear::Copy | Linear::Truncate => a,
        Linear::Add => Some(exprs.make(Expr::Add(a?, b?))),
        Linear::Sub => Some(exprs.make(Expr::Sub(a?, b?))),
        Linear::Neg => Some(exprs.make(Expr::Sub(ZERO, a?))),
        Linear::MulLow => Some(exprs.make(Expr::Mul(a?, b?))),
        Linear::MadLow => {
            let product = exprs.make(Expr::Mul(a?, b?));
            Some(exprs.make(Expr::Add(product, c?)))
        }
        Linear::ShiftLeft | Linear::Widen { .. } | Linear::MulWide { .. } | Linear::MadWide { .. } => None,
    }
}
