//! Positions in a text, and errors of its syntax.

use std::fmt;

/// A position in PTX text, counted from 1.
///
/// ```
/// let module = cuprum_ptx::ptx::parse(".version 8.0 .target sm_90 .address_size 64 \n.entry f() { ret; }")?;
/// assert_eq!(module.functions[0].position.line, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Position {
    /// Line.
    pub line: u32,
    /// Column in bytes.
    pub column: u32,
}

/// Text that is not PTX: its position, and the expected text.
///
/// ```
/// let error = cuprum_ptx::ptx::parse(".version 8.0 .target sm_90 .address_size 64 \n.entry f( { ret; }").unwrap_err();
/// assert_eq!(error.position.line, 2);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SyntaxError {
    /// Position at which the parser stopped.
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
