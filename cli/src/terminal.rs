//! Text for users, which cannot control their terminal. Failed writes are remembered.

use std::fmt::{self, Display, Write as _};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

static LOST: AtomicBool = AtomicBool::new(false);

pub(crate) fn print(text: impl Display) {
    write(&mut io::stdout().lock(), &text);
}

pub(crate) fn say(text: impl Display) {
    write(&mut io::stderr().lock(), &text);
}

/// True if [`print`] or [`say`] failed: on a full disk, or on a pipe whose reader has closed it.
pub(crate) fn has_lost_text() -> bool {
    LOST.load(Ordering::Relaxed)
}

fn write(to: &mut impl io::Write, text: &dyn Display) {
    let mut line = String::new();
    // Writing to a `String` cannot fail.
    let _ = writeln!(Escaping { to: &mut line, keeps_lines: true }, "{text}");
    if to.write_all(line.as_bytes()).and_then(|()| to.flush()).is_err() {
        LOST.store(true, Ordering::Relaxed);
    }
}

/// Foreign text, such as a file name, within a line: shows control characters as `\u{1b}`.
pub(crate) struct Shown<T>(pub(crate) T);

impl<T: Display> Display for Shown<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(Escaping { to: f, keeps_lines: false }, "{}", self.0)
    }
}

/// Passes text on with terminal control characters escaped.
struct Escaping<'a, W> {
    to: &'a mut W,
    keeps_lines: bool,
}

impl<W: fmt::Write> fmt::Write for Escaping<'_, W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for character in text.chars() {
            let is_kept = self.keeps_lines && matches!(character, '\n' | '\t');
            if is_kept || !acts(character) {
                self.to.write_char(character)?;
            } else {
                write!(self.to, "{}", character.escape_unicode())?;
            }
        }
        Ok(())
    }
}

/// True for control characters, line ends, and marks that change the direction of text.
pub(crate) fn acts(character: char) -> bool {
    let turns = matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    character.is_control() || turns || matches!(character, '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_acts_on_is_shown() {
        assert_eq!(Shown("a\x1b[2J\nb\u{9b}ü\u{202e}").to_string(), "a\\u{1b}[2J\\u{a}b\\u{9b}ü\\u{202e}");
        let mut out = Vec::new();
        write(&mut out, &"a\r\n\tb\x07");
        assert_eq!(String::from_utf8(out).unwrap(), "a\\u{d}\n\tb\\u{7}\n");
        assert!(!has_lost_text());
    }
}
