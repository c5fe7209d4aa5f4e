//! Parses PTX text to a syntax tree.
//!
//! The parser knows the grammar of PTX, but not its semantics: an instruction is an opcode, a list
//! of modifiers and a list of operands of any kind. [`crate::program`] decides the meaning of an
//! opcode, and whether it is supported. New PTX versions therefore parse without changes here.
//!
//! The tree borrows from the text, and keeps every position that an error may have to name.

mod error;
mod lexer;
mod parser;
mod tree;

pub use self::error::{Position, SyntaxError};
pub use parser::parse;
pub(crate) use parser::parse_from;
pub use tree::*;
