//! Splits PTX text into tokens.

use super::{Position, SyntaxError};

#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Token<'s> {
    Name(&'s str),
    /// `.name` without the dot; `.shared::cta` is one token.
    Dot(&'s str),
    Int(u64),
    Double(f64),
    /// `0fXXXXXXXX`
    Single(u32),
    Text(&'s str),
    Punctuation(u8),
    Operator(&'static str),
    End,
}

impl Token<'_> {
    pub(super) fn describe(&self) -> String {
        match self {
            Token::Name(s) => format!("`{s}`"),
            Token::Dot(s) => format!("`.{s}`"),
            Token::Int(v) => format!("the number {v}"),
            Token::Double(v) => format!("the number {v}"),
            Token::Single(bits) => format!("the number {}", f32::from_bits(*bits)),
            Token::Text(_) => "a string".into(),
            Token::Punctuation(c) => format!("`{}`", char::from(*c)),
            Token::Operator(operator) => format!("`{operator}`"),
            Token::End => "the end of the text".into(),
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Lexer<'s> {
    source: &'s str,
    at: usize,
    line: u32,
    line_start: usize,
}

fn starts_name(c: u8) -> bool {
    c.is_ascii_alphabetic() || matches!(c, b'_' | b'$' | b'%')
}

fn continues_name(c: u8) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, b'_' | b'$')
}

impl<'s> Lexer<'s> {
    pub(super) fn new(source: &'s str, line: u32) -> Self {
        Lexer { source, at: 0, line, line_start: 0 }
    }

    fn byte(&self, ahead: usize) -> u8 {
        self.source.as_bytes().get(self.at + ahead).copied().unwrap_or(0)
    }

    pub(super) fn offset(&self) -> usize {
        self.at
    }

    pub(super) fn text(&self, from: usize, to: usize) -> &'s str {
        self.source.get(from..to).unwrap_or("")
    }

    fn position(&self) -> Position {
        let column = u32::try_from(self.at - self.line_start + 1).unwrap_or(u32::MAX);
        Position { line: self.line, column }
    }

    fn error(&self, message: impl Into<String>) -> SyntaxError {
        SyntaxError { position: self.position(), message: message.into() }
    }

    fn newline(&mut self) {
        self.line += 1;
        self.line_start = self.at + 1;
    }

    fn skip_blank(&mut self) -> Result<(), SyntaxError> {
        loop {
            match self.byte(0) {
                b'\n' => {
                    self.newline();
                    self.at += 1;
                }
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => self.at += 1,
                b'/' if self.byte(1) == b'/' => self.skip_line(),
                b'/' if self.byte(1) == b'*' => {
                    let start = self.position();
                    self.at += 2;
                    while !(self.byte(0) == b'*' && self.byte(1) == b'/') {
                        if self.at >= self.source.len() {
                            return Err(SyntaxError {
                                position: start,
                                message: "this comment has no end, expected `*/`".into(),
                            });
                        }
                        if self.byte(0) == b'\n' {
                            self.newline();
                        }
                        self.at += 1;
                    }
                    self.at += 2;
                }
                // Debugger data of old compilers, which takes a line.
                b'@' if self.byte(1) == b'@' => self.skip_line(),
                _ => return Ok(()),
            }
        }
    }

    fn skip_line(&mut self) {
        while self.at < self.source.len() && self.byte(0) != b'\n' {
            self.at += 1;
        }
    }

    fn name_end(&self, mut end: usize) -> usize {
        let bytes = self.source.as_bytes();
        while bytes.get(end).copied().is_some_and(continues_name) {
            end += 1;
        }
        end
    }

    /// Returns the next token, its start in the text, and its position.
    pub(super) fn next(&mut self) -> Result<(Token<'s>, usize, Position), SyntaxError> {
        self.skip_blank()?;
        let (start, position) = (self.at, self.position());
        let token = self.token()?;
        Ok((token, start, position))
    }

    fn token(&mut self) -> Result<Token<'s>, SyntaxError> {
        let start = self.at;
        let c = self.byte(0);
        if start >= self.source.len() {
            return Ok(Token::End);
        }
        // A single `%` is an operator.
        if starts_name(c) && (c != b'%' || continues_name(self.byte(1))) {
            self.at = self.name_end(start + 1);
            return Ok(Token::Name(self.text(start, self.at)));
        }
        if c == b'.' && self.byte(1).is_ascii_digit() {
            // `.5`, and not the `.5x` of a modifier.
            let mut fraction = self.clone();
            let token = fraction.decimal_float(start, start);
            if let (Some(token), false) = (token, continues_name(fraction.byte(0))) {
                *self = fraction;
                return token;
            }
        }
        if c == b'.' && continues_name(self.byte(1)) {
            self.at = self.name_end(start + 1);
            while self.byte(0) == b':' && self.byte(1) == b':' && continues_name(self.byte(2)) {
                self.at = self.name_end(self.at + 2);
            }
            return Ok(Token::Dot(self.text(start + 1, self.at)));
        }
        if c.is_ascii_digit() {
            return self.number();
        }
        if c == b'"' {
            return self.string();
        }
        for operator in ["<<", ">>", "<=", ">=", "==", "!=", "&&", "||"] {
            if self.source.as_bytes()[start..].starts_with(operator.as_bytes()) {
                self.at += 2;
                return Ok(Token::Operator(operator));
            }
        }
        if c.is_ascii_graphic() {
            self.at += 1;
            return Ok(Token::Punctuation(c));
        }
        let found = self.source.get(start..).and_then(|rest| rest.chars().next());
        Err(self.error(match found {
            Some(found) => format!("the character {found:?} does not belong in PTX"),
            None => "a byte that does not belong in PTX".into(),
        }))
    }

    fn string(&mut self) -> Result<Token<'s>, SyntaxError> {
        let start = self.at + 1;
        let mut end = start;
        loop {
            match self.source.as_bytes().get(end) {
                Some(b'"') => break,
                Some(b'\\') => end += 2,
                Some(b'\n') | None => return Err(self.error("this string has no end, expected `\"`")),
                Some(_) => end += 1,
            }
        }
        self.at = end + 1;
        Ok(Token::Text(self.text(start, end)))
    }

    fn number(&mut self) -> Result<Token<'s>, SyntaxError> {
        let start = self.at;
        match self.byte(1) {
            b'f' | b'F' if self.byte(0) == b'0' => {
                let digits = self.hex_digits(start + 2, 8)?;
                let bits = u32::from_str_radix(digits, 16)
                    .map_err(|_| self.error("expected 8 hexadecimal digits"))?;
                return Ok(Token::Single(bits));
            }
            b'd' | b'D' if self.byte(0) == b'0' => {
                let digits = self.hex_digits(start + 2, 16)?;
                let bits = u64::from_str_radix(digits, 16)
                    .map_err(|_| self.error("expected 16 hexadecimal digits"))?;
                return Ok(Token::Double(f64::from_bits(bits)));
            }
            _ => {}
        }
        let (radix, skip) = match (self.byte(0), self.byte(1)) {
            (b'0', b'x' | b'X') => (16, 2),
            (b'0', b'b' | b'B') => (2, 2),
            _ => (10, 0),
        };
        let mut end = start + skip;
        while self.source.as_bytes().get(end).is_some_and(|c| char::from(*c).is_digit(radix)) {
            end += 1;
        }
        if radix == 10 {
            if let Some(token) = self.decimal_float(start, end) {
                return token;
            }
        }
        let mut digits = self.text(start + skip, end);
        let mut radix = radix;
        if radix == 10 && digits.len() > 1 && digits.starts_with('0') {
            (radix, digits) = (8, &digits[1..]);
        }
        let value = u64::from_str_radix(digits, radix)
            .map_err(|_| self.error(format!("`{}` is not an integer of 64 bits", self.text(start, end))))?;
        self.at = end;
        if self.byte(0) == b'U' {
            self.at += 1;
        }
        if continues_name(self.byte(0)) {
            return Err(self.error("expected the number to end here"));
        }
        Ok(Token::Int(value))
    }

    fn decimal_float(&mut self, start: usize, mut end: usize) -> Option<Result<Token<'s>, SyntaxError>> {
        let bytes = self.source.as_bytes();
        let digits = |mut at: usize| {
            while bytes.get(at).is_some_and(u8::is_ascii_digit) {
                at += 1;
            }
            at
        };
        let mut float = false;
        // `1.x` cannot occur. `7.5` in `.version` is read as a float and split by the parser.
        if bytes.get(end) == Some(&b'.') {
            float = true;
            end = digits(end + 1);
        }
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            let exponent = digits(end + 1 + sign);
            if exponent > end + 1 + sign {
                float = true;
                end = exponent;
            }
        }
        if !float {
            return None;
        }
        let text = self.text(start, end);
        let value = text.parse().map_err(|_| self.error(format!("`{text}` is not a number")));
        self.at = end;
        Some(value.map(Token::Double))
    }

    fn hex_digits(&mut self, start: usize, count: usize) -> Result<&'s str, SyntaxError> {
        let end = self.name_end(start);
        let digits = self.text(start, end);
        if digits.len() != count {
            return Err(self.error(format!("expected {count} hexadecimal digits")));
        }
        self.at = end;
        Ok(digits)
    }

    /// Skips `{ ... }` of a section whose contents are not PTX. The opening brace has been read.
    pub(super) fn skip_braces(&mut self) -> Result<(), SyntaxError> {
        let mut depth = 1;
        while depth > 0 {
            self.skip_blank()?;
            match self.byte(0) {
                _ if self.at >= self.source.len() => {
                    return Err(self.error("expected `}` at the end of this section"));
                }
                b'{' => depth += 1,
                b'}' => depth -= 1,
                _ => {}
            }
            self.at += 1;
        }
        Ok(())
    }

    /// Reads the rest of the version as text, because a float would lose digits (`8.10`).
    pub(super) fn version(&mut self) -> Result<(u32, u32), SyntaxError> {
        self.skip_blank()?;
        let start = self.at;
        while self.byte(0).is_ascii_digit() || self.byte(0) == b'.' {
            self.at += 1;
        }
        let text = self.text(start, self.at);
        let parts = text.split_once('.').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
        parts.ok_or_else(|| self.error("expected a version such as `8.7`"))
    }
}
