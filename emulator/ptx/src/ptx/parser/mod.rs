//! Parses tokens to a syntax tree: recursive descent with one token of lookahead.

mod directives;
mod expression;
mod function;
mod instruction;
mod module;
mod state;
mod variable;

pub use self::state::parse;
pub(crate) use self::state::parse_from;

use self::state::{Parsed, Parser};
