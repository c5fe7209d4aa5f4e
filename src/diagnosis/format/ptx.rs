//! PTX: its header, and a check that each statement is complete. The driver checks their meaning.

use crate::diagnosis::part::{CodeKind, CodePart, ImageError, capability};

/// Reads PTX. It may end with NULs, as in a C string.
pub(in super::super) fn ptx(bytes: &[u8]) -> Result<CodePart, ImageError> {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    let mut text = Scanner { bytes: &bytes[..end], at: 0 };
    // Text without it is not PTX.
    let Ok(Some(Token::Word(b".version"))) = text.next() else { return Err(ImageError::Unknown) };
    let after = bytes[end..].iter().filter(|byte| **byte != 0).count();
    if after > 0 {
        return Err(ImageError::damaged(format!(
            "a NUL at byte {end} ends it for the driver, and {after} bytes of text follow"
        )));
    }
    module(&mut text)
        .map_err(|why| ImageError::Damaged(format!("{why} (byte {} of {})", text.at, bytes.len())))
}

fn module(text: &mut Scanner<'_>) -> Result<CodePart, String> {
    let version = text.word()?.filter(is_version).ok_or("`.version` has no number such as 8.4")?;
    let Some(b".target") = text.word()? else { return Err("no `.target` follows its `.version`".to_owned()) };
    let target = text.word()?.and_then(target);
    let (number, is_specific) = target.ok_or("`.target` has no architecture such as sm_90")?;
    let mut part = CodePart::new(CodeKind::Ptx, capability(number));
    part.is_specific = is_specific;
    part.ptx_version = Some(String::from_utf8_lossy(version).into_owned());
    part.is_empty = true;
    loop {
        let before = text.at;
        match text.next()? {
            None => return Ok(part),
            // In a list of targets or files.
            Some(Token::Other(b',') | Token::Word(b".target")) => {
                text.word()?.ok_or("a list lacks its last word")?;
            }
            Some(Token::Word(b".address_size")) => match text.word()? {
                Some(b"32" | b"64") => {}
                _ => return Err("`.address_size` is neither 32 nor 64".to_owned()),
            },
            Some(Token::Word(b".file")) => match (text.word()?, text.next()?) {
                (Some(_), Some(Token::Text)) => {}
                _ => return Err("`.file` has no number and name".to_owned()),
            },
            // Old compilers wrote debug tables in this form, one line each.
            Some(Token::Other(b'@')) => text.skip_line(),
            Some(Token::Other(b';')) => {}
            Some(first) => {
                text.at = before;
                let is_block = text.statement()?;
                part.is_empty &= !is_block || matches!(first, Token::Word(b".section"));
            }
        }
    }
}

fn is_version(word: &&[u8]) -> bool {
    let is_number = |part: &[u8]| (1..=2).contains(&part.len()) && part.iter().all(u8::is_ascii_digit);
    let mut parts = word.split(|byte| *byte == b'.');
    parts.next().is_some_and(is_number) && parts.next().is_some_and(is_number) && parts.next().is_none()
}

/// The number of an architecture such as `sm_90a`, and whether it has a suffix.
fn target(word: &[u8]) -> Option<(u32, bool)> {
    let word = std::str::from_utf8(word).ok()?.strip_prefix("sm_")?;
    let digits = word.trim_end_matches(|end: char| end.is_ascii_lowercase());
    let is_one = (2..=3).contains(&digits.len()) && word.len() <= digits.len() + 1;
    Some((digits.parse().ok().filter(|_| is_one)?, digits != word))
}

const DEEPEST: usize = 256;

enum Token<'a> {
    /// Letters, digits, and the other characters of names and numbers.
    Word(&'a [u8]),
    /// Text in quotes.
    Text,
    Other(u8),
}

struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Scanner<'a> {
    fn next(&mut self) -> Result<Option<Token<'a>>, String> {
        self.skip_blanks()?;
        let rest = &self.bytes[self.at..];
        let Some(first) = rest.first() else { return Ok(None) };
        let is_of_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"._$%".contains(byte);
        let (length, token) = match first {
            byte if is_of_word(byte) => {
                let length = rest.iter().position(|byte| !is_of_word(byte)).unwrap_or(rest.len());
                (length, Token::Word(&rest[..length]))
            }
            b'"' => (text_length(rest).ok_or("a text lacks its closing quote")?, Token::Text),
            byte if byte.is_ascii_graphic() => (1, Token::Other(*byte)),
            byte => return Err(format!("byte 0x{byte:02x} is no character of PTX")),
        };
        self.at += length;
        Ok(Some(token))
    }

    fn word(&mut self) -> Result<Option<&'a [u8]>, String> {
        Ok(self.next()?.and_then(|token| if let Token::Word(word) = token { Some(word) } else { None }))
    }

    /// Reads a complete statement, or a function with its block. Returns true for a block.
    fn statement(&mut self) -> Result<bool, String> {
        let (mut open, mut is_value) = (Vec::new(), false);
        while let Some(token) = self.next()? {
            let Token::Other(byte) = token else { continue };
            match byte {
                b'(' | b'[' | b'{' if open.len() == DEEPEST => {
                    return Err(format!("brackets are nested more than {DEEPEST} deep"));
                }
                b'(' => open.push(b')'),
                b'[' => open.push(b']'),
                b'{' => open.push(b'}'),
                b')' | b']' | b'}' => {
                    if open.pop() != Some(byte) {
                        return Err(format!("a `{}` closes nothing", char::from(byte)));
                    }
                    if open.is_empty() && byte == b'}' && !is_value {
                        return Ok(true);
                    }
                }
                b'=' if open.is_empty() => is_value = true,
                b';' if open.is_empty() => return Ok(false),
                _ => {}
            }
        }
        Err("it ends within a statement".to_owned())
    }

    fn skip_line(&mut self) {
        let rest = &self.bytes[self.at..];
        self.at += rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
    }

    fn skip_blanks(&mut self) -> Result<(), String> {
        loop {
            let rest = &self.bytes[self.at..];
            if rest.starts_with(b"//") {
                self.skip_line();
            } else if rest.starts_with(b"/*") {
                let end = rest[2..].windows(2).position(|pair| pair == b"*/");
                self.at += 4 + end.ok_or("a comment lacks its end")?;
            } else if rest.first().is_some_and(|byte| byte.is_ascii_whitespace() || *byte == 0x0b) {
                self.at += 1;
            } else {
                return Ok(());
            }
        }
    }
}

/// The length of quoted text with its quotes, on one line.
fn text_length(rest: &[u8]) -> Option<usize> {
    let mut is_escaped = false;
    for (at, byte) in rest.iter().enumerate().skip(1) {
        match byte {
            b'\n' => return None,
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return Some(at + 1),
            _ => {}
        }
    }
    None
}
