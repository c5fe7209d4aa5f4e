//! Parses tokens to a syntax tree: recursive descent with one token of lookahead.

mod expression;
mod function;
mod instruction;
mod module;
mod variable;

use super::lexer::{Lexer, Token};
use super::tree::Module;
use super::{Position, SyntaxError};

/// Maximum nesting of braces, initializers and expressions, which bounds the recursion.
const MAX_DEPTH: u32 = 200;

/// Parses a module.
///
/// # Errors
/// The first position that is not PTX: its line, its column, and the expected text.
pub fn parse(source: &str) -> Result<Module<'_>, SyntaxError> {
    let mut parser = Parser::new(source)?;
    parser.module()
}

struct Parser<'s> {
    lexer: Lexer<'s>,
    token: Token<'s>,
    start: usize,
    previous_end: usize,
    position: Position,
    depth: u32,
    /// True inside brackets, braces or parentheses of an operand.
    inside: bool,
}

type Parsed<T> = Result<T, SyntaxError>;

impl<'s> Parser<'s> {
    fn new(source: &'s str) -> Parsed<Self> {
        let mut lexer = Lexer::new(source);
        let (token, start, position) = lexer.next()?;
        Ok(Parser { lexer, token, start, previous_end: 0, position, depth: 0, inside: false })
    }

    fn advance(&mut self) -> Parsed<Token<'s>> {
        let token = self.token;
        self.previous_end = self.lexer.offset();
        (self.token, self.start, self.position) = self.lexer.next()?;
        Ok(token)
    }

    fn expected<T>(&self, what: &str) -> Parsed<T> {
        Err(self.unexpected(what))
    }

    fn unexpected(&self, wanted: &str) -> SyntaxError {
        SyntaxError {
            position: self.position,
            message: format!("expected {wanted}, found {}", self.token.describe()),
        }
    }

    fn is(&self, c: u8) -> bool {
        self.token == Token::Punctuation(c)
    }

    fn accept(&mut self, c: u8) -> Parsed<bool> {
        let found = self.is(c);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn require(&mut self, c: u8) -> Parsed<()> {
        if self.accept(c)? { Ok(()) } else { self.expected(&format!("`{}`", char::from(c))) }
    }

    fn name(&mut self, what: &str) -> Parsed<&'s str> {
        match self.token {
            Token::Name(name) => {
                self.advance()?;
                Ok(name)
            }
            _ => self.expected(what),
        }
    }

    fn integer(&mut self, what: &str) -> Parsed<u64> {
        match self.token {
            Token::Int(value) => {
                self.advance()?;
                Ok(value)
            }
            _ => self.expected(what),
        }
    }

    fn small(&mut self, what: &str) -> Parsed<u32> {
        match self.token {
            Token::Int(value) if u32::try_from(value).is_ok() => {
                self.advance()?;
                Ok(value as u32)
            }
            _ => self.expected(what),
        }
    }

    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            return self.expected("less nesting");
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    fn comma_separated<T>(
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
