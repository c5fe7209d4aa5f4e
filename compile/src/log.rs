//! Output of compilers: lines about errors and warnings.

use std::fmt;

/// Severity of a [`Diagnostic`].
///
/// ```
/// use cuprum_compile::{Compiler, Options, Severity, Source};
///
/// # let Ok(_) = Compiler::load() else { return Ok(()) };
/// let refused = Compiler::load()?.compile(&Source::new("int f( {}"), &Options::new());
/// let error = refused.err().ok_or("a parenthesis is open")?;
/// assert!(error.diagnostics().iter().any(|one| one.severity == Severity::Error));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Severity {
    /// Prevents the code from being made.
    Error,
    /// The code was made nevertheless.
    Warning,
    /// A remark.
    Note,
}

/// One message of a compiler.
///
/// ```
/// use cuprum_compile::{Compiler, Options, Source};
///
/// # let Ok(_) = Compiler::load() else { return Ok(()) };
/// let refused = Compiler::load()?.compile(&Source::new("int f( {}").named("f.cu"), &Options::new());
/// let first = &refused.err().ok_or("a parenthesis is open")?.diagnostics()[0];
/// assert_eq!((first.file.as_deref(), first.line), (Some("f.cu"), Some(1)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// Severity of the message.
    pub severity: Severity,
    /// The file, by the name of the source or header; `None` if the message names no file.
    pub file: Option<String>,
    /// The line, counted from 1.
    pub line: Option<u32>,
    /// Text of the message, without the file and the compiler's number.
    pub message: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, "{file}:{line}: ")?,
            (Some(file), None) => write!(f, "{file}: ")?,
            (None, _) => {}
        }
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        };
        write!(f, "{severity}: {}", self.message)
    }
}

/// The messages of a log, in order. Source lines, carets and totals are skipped.
pub(super) fn diagnostics(log: &str) -> Vec<Diagnostic> {
    log.lines().filter_map(diagnostic).collect()
}

/// Texts between the place and the message, and their severity.
const WORDS: &[(&str, Severity)] = &[
    ("catastrophic error", Severity::Error),
    ("fatal error", Severity::Error),
    ("internal error", Severity::Error),
    ("error", Severity::Error),
    ("fatal", Severity::Error),
    ("warning", Severity::Warning),
    ("remark", Severity::Note),
    ("note", Severity::Note),
];

/// Reads `file(3): error: text`, `file(3): warning #177-D: text`, `file:3:5: error: text`, `nvrtc:
/// error: text`.
fn diagnostic(line: &str) -> Option<Diagnostic> {
    // A quoted source line is indented, below its message.
    if line.starts_with(char::is_whitespace) {
        return None;
    }
    let (place, severity, rest) = if let Some((severity, rest)) = severity_of(line) {
        ("", severity, rest)
    } else {
        line.match_indices(": ").find_map(|(at, separator)| {
            let (severity, rest) = severity_of(&line[at + separator.len()..])?;
            Some((&line[..at], severity, rest))
        })?
    };
    let (file, line) = place_of(place);
    let message = rest.trim().to_owned();
    Some(Diagnostic { severity, file, line, message })
}

fn severity_of(text: &str) -> Option<(Severity, &str)> {
    WORDS.iter().find_map(|(word, severity)| {
        let rest = text.strip_prefix(word)?;
        if let Some(message) = rest.strip_prefix(':') {
            return Some((*severity, message));
        }
        // The number of the message, as in ` #177-D:`.
        let (number, message) = rest.strip_prefix(" #")?.split_once(':')?;
        let is_number =
            !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit() || b == b'-' || b == b'D');
        is_number.then_some((*severity, message))
    })
}

/// The file and the line of `file(3)`, `file:3` and `file:3:5`.
fn place_of(place: &str) -> (Option<String>, Option<u32>) {
    let named = |file: &str| Some(file.to_owned()).filter(|file| !file.is_empty());
    if let Some((file, number)) = place.strip_suffix(')').and_then(|rest| rest.rsplit_once('(')) {
        if let Ok(line) = number.parse() {
            return (named(file), Some(line));
        }
    }
    let mut numbers = Vec::new();
    let mut file = place;
    while let Some((rest, number)) = file.rsplit_once(':').filter(|_| numbers.len() < 2) {
        let Ok(number) = number.parse::<u32>() else { break };
        numbers.push(number);
        file = rest;
    }
    (named(file), numbers.last().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(log: &str) -> Vec<(Severity, Option<String>, Option<u32>, String)> {
        diagnostics(log).into_iter().map(|one| (one.severity, one.file, one.line, one.message)).collect()
    }

    #[test]
    fn messages_of_nvrtc() {
        let log = "axpy.cu(3): error: identifier \"x\" is undefined\n    y[0] = x; // error: none\n           ^\n\n\
                   axpy.cu(5): warning #177-D: variable \"a\" was declared but never referenced\n\n\
                   Remark: The warnings can be suppressed with \"-diag-suppress <warning-number>\"\n\n\
                   1 error detected in the compilation of \"axpy.cu\".\n";
        let named = |name: &str| Some(name.to_owned());
        assert_eq!(
            read(log),
            [
                (Severity::Error, named("axpy.cu"), Some(3), "identifier \"x\" is undefined".to_owned()),
                (
                    Severity::Warning,
                    named("axpy.cu"),
                    Some(5),
                    "variable \"a\" was declared but never referenced".to_owned()
                ),
            ]
        );
        let missing = "a.cu(1): catastrophic error: cannot open source file \"none.h\"";
        assert_eq!(read(missing)[0].3, "cannot open source file \"none.h\"");
        let option = "nvrtc: error: invalid value for --gpu-architecture (-arch)\n";
        assert_eq!(read(option)[0].1, named("nvrtc"));
        let alone = "nvrtc-error: failed\nerror: bare\n";
        assert_eq!(read(alone), [(Severity::Error, None, None, "bare".to_owned())]);
    }

    #[test]
    fn messages_of_host_compilers_and_odd_names() {
        let named = |name: &str| Some(name.to_owned());
        assert_eq!(read("/a b/c.h:12:5: fatal error: no.h: No such file")[0].1, named("/a b/c.h"));
        assert_eq!(read("/a b/c.h:12:5: fatal error: no.h: No such file")[0].2, Some(12));
        assert_eq!(read("C:\\x.cu(7): error: e")[0].1, named("C:\\x.cu"));
        assert_eq!(read("odd (name).cu(7): error #20: e")[0].1, named("odd (name).cu"));
        assert_eq!(read(": error: e"), [(Severity::Error, None, None, "e".to_owned())]);
        assert_eq!(read("no errors: at all\nwarning here\n\u{FFFD}(9): error"), []);
    }

    #[test]
    fn shown_with_file_and_line() {
        let shown = |log| diagnostics(log)[0].to_string();
        assert_eq!(shown("a.cu(3): error: bad"), "a.cu:3: error: bad");
        assert_eq!(shown("error: bad"), "error: bad");
    }
}
