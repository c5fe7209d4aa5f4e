//! Conditions: predicates as operands, and logic on them.

use crate::semantics::Predicate;

/// A predicate as an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Condition {
    pub predicate: Predicate,
    pub negated: bool,
}

impl Condition {
    pub const ALWAYS: Condition = Condition { predicate: Predicate::TRUE, negated: false };
}

/// Logic on predicates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Logic {
    And,
    Or,
    Xor,
}

impl Logic {
    #[inline]
    pub fn apply(self, a: u32, b: u32) -> u32 {
        match self {
            Logic::And => a & b,
            Logic::Or => a | b,
            Logic::Xor => a ^ b,
        }
    }
}
