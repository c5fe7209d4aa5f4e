//! Errors of loading a module, with their positions.

use crate::ptx::{Position, SyntaxError};
use std::fmt;

/// Class of an error of loading a module.
///
/// ```
/// use cuprum_ptx::program::{LoadOptions, Program, PtxErrorKind};
///
/// let error = Program::load("int f();", &LoadOptions::default()).err().ok_or("this is C")?;
/// assert_eq!(error.kind, PtxErrorKind::Syntax);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum PtxErrorKind {
    /// Not PTX.
    Syntax,
    /// PTX that the software device does not support.
    Unsupported,
    /// A `.version` that is too new.
    Version,
    /// A `.target` for other devices.
    Target,
    /// An undefined symbol.
    Unresolved,
    /// Definitions that exclude each other, or that exceed a limit together.
    Conflict,
}

/// Error of loading a module, with its position.
///
/// ```
/// use cuprum_ptx::program::{LoadOptions, Program};
///
/// let text = ".version 8.0 .target sm_90 .address_size 64 \n.visible .entry f() { fly.u32 %r1; }";
/// let error = Program::load(text, &LoadOptions::default()).err().ok_or("nothing flies")?;
/// assert_eq!(error.line, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PtxError {
    /// The class of the error.
    pub kind: PtxErrorKind,
    /// Line in the PTX, from 1.
    pub line: u32,
    /// Column in that line, from 1.
    pub column: u32,
    /// Description of the error, and the correct form.
    pub message: String,
}

impl PtxError {
    /// Creates an error in a box, because results with it are passed through many functions.
    pub(crate) fn at(position: Position, kind: PtxErrorKind, message: impl Into<String>) -> Box<Self> {
        let message = shortened(message.into());
        Box::new(PtxError { kind, line: position.line, column: position.column, message })
    }
}

/// Maximum length of a message in bytes, because it quotes the input.
const MOST_MESSAGE: usize = 600;

/// Returns the message on one line, without its middle if it is too long.
fn shortened(message: String) -> String {
    if message.len() <= MOST_MESSAGE && !message.contains('\n') {
        return message;
    }
    let line = |part: &str| part.replace('\n', " ");
    if message.len() <= MOST_MESSAGE {
        return line(&message);
    }
    let mut start = MOST_MESSAGE * 2 / 3;
    let mut end = message.len() - MOST_MESSAGE / 3;
    while !message.is_char_boundary(start) {
        start -= 1;
    }
    while !message.is_char_boundary(end) {
        end += 1;
    }
    line(&message[..start]) + " [...] " + &line(&message[end..])
}

impl From<SyntaxError> for Box<PtxError> {
    fn from(error: SyntaxError) -> Self {
        PtxError::at(error.position, PtxErrorKind::Syntax, error.message)
    }
}

impl fmt::Display for PtxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for PtxError {}
