//! PTX text to syntax tree.
//!
//! The parser knows the grammar of PTX and nothing of its semantics: an instruction is an opcode, a list of
//! modifiers and a list of operands of any kind. [`crate::program`] decides what an opcode means, and whether it is
//! supported at all. So new PTX versions parse without a change here.
//!
//! The tree borrows from the text and keeps the position of everything that an error may have to name.

mod lexer;
mod parser;
mod tree;

pub use parser::parse;
pub use tree::*;

use std::fmt;

/// A place in PTX text, both counted from 1.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Position {
    /// Line.
    pub line: u32,
    /// Column in bytes.
    pub column: u32,
}

impl Position {
    /// A number that ascends with the place.
    pub(crate) fn as_number(self) -> u64 {
        u64::from(self.line) << 32 | u64::from(self.column)
    }
}

/// Text that is not PTX: its place, and what was expected there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SyntaxError {
    /// Place at which the parser gave up.
    pub position: Position,
    /// The expected text and the text found.
    pub message: String,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.position.line, self.position.column, self.message)
    }
}

impl std::error::Error for SyntaxError {}
