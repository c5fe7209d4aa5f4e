//! Effects of each instruction: the registers and predicates that it reads and writes.
//!
//! No match here has a wildcard, so a new operation does not compile before its effects are listed.

mod operands;
mod registers;

#[doc(hidden)]
pub use self::registers::{
    CARRY, Course, conditions, course, exchanges, is_simple, predicates, reads, stored, writes,
};
