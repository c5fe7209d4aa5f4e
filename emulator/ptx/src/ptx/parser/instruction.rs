//! Instructions and their operands.

use super::{Parsed, Parser};
use crate::ptx::lexer::Token;
use crate::ptx::tree::{Instruction, Operand};

impl<'s> Parser<'s> {
    pub(super) fn instruction(&mut self) -> Parsed<Instruction<'s>> {
        let (start, position) = (self.start, self.position);
        let mut guard = None;
        if self.accept(b'@')? {
            let negated = self.accept(b'!')?;
            guard = Some((self.name("a predicate")?, negated));
        }
        let opcode = self.name("an opcode")?;
        let mut modifiers = Vec::new();
        while let Token::Dot(modifier) = self.token {
            self.advance()?;
            modifiers.push(modifier);
        }
        let operands = if self.is(b';') {
            self.advance()?;
            Vec::new()
        } else {
            self.comma_separated(b';', Self::operand)?
        };
        let text = self.lexer.text(start, self.previous_end);
        Ok(Instruction { position, guard, opcode, modifiers, operands, text })
    }

    pub(super) fn operand(&mut self) -> Parsed<Operand<'s>> {
        let first = self.nested(Self::single_operand)?;
        if self.accept(b'|')? {
            let second = self.nested(Self::single_operand)?;
            return Ok(Operand::Pair(Box::new(first), Box::new(second)));
        }
        Ok(first)
    }

    pub(super) fn single_operand(&mut self) -> Parsed<Operand<'s>> {
        match self.token {
            Token::Name("WARP_SZ") => self.operand_expression(),
            Token::Name(name) => self.named_operand(name),
            Token::Punctuation(b'!') => {
                if !matches!(self.lexer.clone().next()?.0, Token::Name(name) if name != "WARP_SZ") {
                    return self.operand_expression();
                }
                self.advance()?;
                Ok(Operand::Not(self.name("a predicate")?))
            }
            Token::Punctuation(b'[') => {
                self.advance()?;
                self.operands(b']').map(Operand::Memory)
            }
            Token::Punctuation(b'{') => {
                self.advance()?;
                self.operands(b'}').map(Operand::Vector)
            }
            // Lists do not contain lists, so each text is read at most twice, for any nesting.
            Token::Punctuation(b'(') if !self.inside && !self.parenthesis_is_arithmetic()? => {
                self.advance()?;
                self.operands(b')').map(Operand::List)
            }
            Token::Double(value) => {
                self.advance()?;
                Ok(Operand::Double(value))
            }
            Token::Single(bits) => {
                self.advance()?;
                Ok(Operand::Single(bits))
            }
            Token::Punctuation(b'-') => self.negated_operand(),
            Token::Int(_) | Token::Punctuation(b'~' | b'+' | b'(') => self.operand_expression(),
            _ => self.expected("an operand"),
        }
    }

    /// Parses a name, and the element, offset or index that may follow it.
    fn named_operand(&mut self, name: &'s str) -> Parsed<Operand<'s>> {
        self.advance()?;
        if let Token::Dot(_) = self.token {
            let start = self.previous_end - name.len();
            self.advance()?;
            return Ok(Operand::Name(self.lexer.text(start, self.previous_end)));
        }
        if self.is(b'+') {
            return Ok(Operand::Offset(name, self.offset()?));
        }
        if self.accept(b'[')? {
            let index = self.nested(Self::operand)?;
            self.require(b']')?;
            return Ok(Operand::Element(name, Box::new(index)));
        }
        Ok(Operand::Name(name))
    }

    fn negated_operand(&mut self) -> Parsed<Operand<'s>> {
        match self.lexer.clone().next()?.0 {
            Token::Double(value) => {
                self.advance()?;
                self.advance()?;
                Ok(Operand::Double(-value))
            }
            Token::Single(bits) => {
                self.advance()?;
                self.advance()?;
                Ok(Operand::Single(bits ^ 0x8000_0000))
            }
            Token::Name(name) if name != "WARP_SZ" => {
                self.advance()?;
                match self.single_operand()? {
                    Operand::Name(name) => Ok(Operand::Minus(name)),
                    _ => self.expected("a register"),
                }
            }
            _ => self.operand_expression(),
        }
    }

    /// Parses an operand inside a vector or a list, in which names have no offset.
    pub(super) fn part(&mut self) -> Parsed<Operand<'s>> {
        match self.operand()? {
            Operand::Offset(..) | Operand::Element(..) => self.expected("a name or a number before this"),
            operand => Ok(operand),
        }
    }

    /// Parses the operands up to `close`, after the opening character. Only brackets contain sums.
    pub(super) fn operands(&mut self, close: u8) -> Parsed<Vec<Operand<'s>>> {
        let outside = std::mem::replace(&mut self.inside, true);
        let one = if close == b']' { Self::operand } else { Self::part };
        let operands = self.comma_separated(close, one);
        self.inside = outside;
        operands
    }

    pub(super) fn operand_expression(&mut self) -> Parsed<Operand<'s>> {
        self.constant_expression().map(Operand::Int)
    }

    /// True if `(` opens a constant expression rather than an argument list of `call`.
    pub(super) fn parenthesis_is_arithmetic(&self) -> Parsed<bool> {
        let mut ahead = self.lexer.clone();
        loop {
            match ahead.next()?.0 {
                Token::Punctuation(b'(' | b'-' | b'~' | b'+') => {}
                Token::Dot("s64" | "u64") => return Ok(true),
                Token::Int(_) => {
                    let after = ahead.next()?.0;
                    return Ok(!matches!(after, Token::Punctuation(b',' | b')')));
                }
                _ => return Ok(false),
            }
        }
    }
}
