//! The parser of a text, and its position.

use crate::ptx::lexer::{Lexer, Token};
use crate::ptx::tree::Module;
use crate::ptx::{Position, SyntaxError};

/// Maximum nesting of braces, initializers and expressions, which bounds the recursion.
const MAX_DEPTH: u32 = 200;

/// Parses a module.
///
/// # Errors
/// The first position that is not PTX: its line, its column, and the expected text.
pub fn parse(source: &str) -> Result<Module<'_>, SyntaxError> {
    parse_from(source, 1)
}

/// Parses a module whose text starts on this line of another text.
pub(crate) fn parse_from(source: &str, line: u32) -> Result<Module<'_>, SyntaxError> {
    Parser::new(source, line)?.module()
}

pub(super) struct Parser<'s> {
    pub(super) lexer: Lexer<'s>,
    pub(super) token: Token<'s>,
    pub(super) start: usize,
    pub(super) previous_end: usize,
    pub(super) position: Position,
    depth: u32,
    /// True inside brackets, braces or parentheses of an operand.
    pub(super) inside: bool,
}

pub(super) type Parsed<T> = Result<T, SyntaxError>;

impl<'s> Parser<'s> {
    fn new(source: &'s str, line: u32) -> Parsed<Self> {
        let mut lexer = Lexer::new(source, line);
        let (token, start, position) = lexer.next()?;
        Ok(Parser { lexer, token, start, previous_end: 0, position, depth: 0, inside: false })
    }

    pub(super) fn advance(&mut self) -> Parsed<Token<'s>> {
        let token = self.token;
        self.previous_end = self.lexer.offset();
        (self.token, self.start, self.position) = self.lexer.next()?;
        Ok(token)
    }

    pub(super) fn expected<T>(&self, what: &str) -> Parsed<T> {
        Err(self.unexpected(what))
    }

    fn unexpected(&self, wanted: &str) -> SyntaxError {
        SyntaxError {
            position: self.position,
            message: format!("expected {wanted}, found {}", self.token.describe()),
        }
    }

    pub(super) fn is(&self, c: u8) -> bool {
        self.token == Token::Punctuation(c)
    }

    pub(super) fn accept(&mut self, c: u8) -> Parsed<bool> {
        let found = self.is(c);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    pub(super) fn require(&mut self, c: u8) -> Parsed<()> {
        if self.accept(c)? { Ok(()) } else { self.expected(&format!("`{}`", char::from(c))) }
    }

    pub(super) fn name(&mut self, what: &str) -> Parsed<&'s str> {
        match self.token {
            Token::Name(name) => {
                self.advance()?;
                Ok(name)
            }
            _ => self.expected(what),
        }
    }

    pub(super) fn integer(&mut self, what: &str) -> Parsed<u64> {
        match self.token {
            Token::Int(value) => {
                self.advance()?;
                Ok(value)
            }
            _ => self.expected(what),
        }
    }

    pub(super) fn small(&mut self, what: &str) -> Parsed<u32> {
        match self.token {
            Token::Int(value) if u32::try_from(value).is_ok() => {
                self.advance()?;
                Ok(value as u32)
            }
            _ => self.expected(what),
        }
    }

    pub(super) fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            return self.expected("less nesting");
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    pub(super) fn comma_separated<T>(
        &mut self,
        close: u8,
        mut item: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let mut items = Vec::new();
        if self.accept(close)? {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if self.ends_list(close)? {
                return Ok(items);
            }
        }
    }

    /// Parses the end of a list item. Returns true at the end of the list, and false after a comma.
    fn ends_list(&mut self, close: u8) -> Parsed<bool> {
        if self.accept(close)? {
            return Ok(true);
        }
        if !self.accept(b',')? {
            return self.expected(&format!("`,` or `{}`", char::from(close)));
        }
        Ok(false)
    }
}
