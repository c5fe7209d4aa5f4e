//! Calls of the driver that no correct program makes.

use core::fmt;

use cuprum_sys::{CUresult, FnId};

/// A function of the client, on its stack.
///
/// ```
/// use cuprum_engine::report::Misuse;
///
/// /// The line of the program that made the call, such as `program.py:12 in main`.
/// fn caller(misuse: &Misuse) -> Option<String> {
///     misuse.frames.first().map(|frame| frame.to_string())
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Frame {
    /// Name of the function.
    pub function: String,
    /// Its file, if it is known.
    pub file: Option<String>,
    /// The line in the file, counted from 1; 0 if it is not known.
    pub line: u32,
}

impl Frame {
    /// Used by the driver.
    #[doc(hidden)]
    pub fn new(function: &str) -> Self {
        Self { function: function.to_owned(), file: None, line: 0 }
    }
}

impl fmt::Display for Frame {
    /// For example `program.py:12 in main`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) => write!(f, "{file}:{} in {}", self.line, self.function),
            None => f.write_str(&self.function),
        }
    }
}

pub(super) fn write_frames(f: &mut fmt::Formatter<'_>, indent: &str, frames: &[Frame]) -> fmt::Result {
    frames.iter().try_for_each(|frame| write!(f, "\n{indent}at {frame}"))
}

/// A call that the driver refused and that no correct program makes, such as a double free.
///
/// # Example
/// ```
/// # use cuprum_engine as cuprum_emulator;
/// use cuprum_emulator::report::{Frame, Misuse};
///
/// /// The line of the program to look at.
/// fn line(misuse: &Misuse) -> Option<(&str, u32)> {
///     let known = misuse.frames.iter().find_map(|Frame { file, line, .. }| file.as_deref().zip(Some(*line)));
///     known.filter(|_| !misuse.what.is_empty())
/// }
/// # let _ = line;
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Misuse {
    /// The call.
    pub call: FnId,
    /// Its result.
    pub code: CUresult,
    /// Description of the mistake.
    pub what: String,
    /// The client's lines that made the call, the innermost first; empty if not known.
    pub frames: Vec<Frame>,
}

impl Misuse {
    /// Used by the driver.
    #[doc(hidden)]
    pub fn new(call: FnId, code: CUresult, what: String, frames: Vec<Frame>) -> Self {
        Self { call, code, what, frames }
    }
}

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let answer = self.code.name().unwrap_or("an error");
        write!(f, "misuse of {}, which answers {answer}: {}", self.call.symbol().base, self.what)?;
        write_frames(f, "  ", &self.frames)
    }
}
