//! Constant expressions.

use super::{Parsed, Parser};
use crate::ptx::lexer::Token;

impl<'s> Parser<'s> {
    pub(super) fn parenthesized_name(&mut self) -> Parsed<&'s str> {
        self.require(b'(')?;
        let name = self.name("a symbol")?;
        self.require(b')')?;
        Ok(name)
    }

    /// Parses `+ 4`, `+ -4`, `+ 4 * 2`, or nothing.
    pub(super) fn offset(&mut self) -> Parsed<i64> {
        if self.accept(b'+')? { Ok(self.constant_expression()? as i64) } else { Ok(0) }
    }

    // Constant expressions: C precedence, 64-bit two's complement.

    pub(super) fn constant_expression(&mut self) -> Parsed<u64> {
        let value = self.nested(|p| p.binary_expression(0))?;
        if !self.accept(b'?')? {
            return Ok(value);
        }
        let yes = self.nested(Self::constant_expression)?;
        self.require(b':')?;
        let no = self.nested(Self::constant_expression)?;
        Ok(if value != 0 { yes } else { no })
    }

    /// Parses operators that bind more strongly than `least`.
    pub(super) fn binary_expression(&mut self, least: u8) -> Parsed<u64> {
        let mut left = self.nested(Self::unary_expression)?;
        loop {
            let character;
            let operator = match self.token {
                Token::Operator(operator) => operator,
                Token::Punctuation(c) => {
                    character = [c];
                    std::str::from_utf8(&character).unwrap_or("")
                }
                _ => return Ok(left),
            };
            let strength = match operator {
                "||" => 1,
                "&&" => 2,
                "|" => 3,
                "^" => 4,
                "&" => 5,
                "==" | "!=" => 6,
                "<" | ">" | "<=" | ">=" => 7,
                "<<" | ">>" => 8,
                "+" | "-" => 9,
                "*" | "/" | "%" => 10,
                _ => return Ok(left),
            };
            if strength <= least {
                return Ok(left);
            }
            self.advance()?;
            let right = self.nested(|p| p.binary_expression(strength))?;
            let (a, b) = (left as i64, right as i64);
            let amount = (right & 63) as u32;
            left = match operator {
                "||" => u64::from(left != 0 || right != 0),
                "&&" => u64::from(left != 0 && right != 0),
                "|" => left | right,
                "^" => left ^ right,
                "&" => left & right,
                "==" => u64::from(left == right),
                "!=" => u64::from(left != right),
                "<" => u64::from(a < b),
                ">" => u64::from(a > b),
                "<=" => u64::from(a <= b),
                ">=" => u64::from(a >= b),
                "<<" => left << amount,
                ">>" => left >> amount,
                "+" => left.wrapping_add(right),
                "-" => left.wrapping_sub(right),
                "*" => left.wrapping_mul(right),
                _ if right == 0 => return self.expected("a divisor other than zero before this"),
                "/" => a.wrapping_div(b) as u64,
                _ => a.wrapping_rem(b) as u64,
            };
        }
    }

    pub(super) fn unary_expression(&mut self) -> Parsed<u64> {
        match self.token {
            Token::Punctuation(operator @ (b'-' | b'+' | b'~' | b'!')) => {
                self.advance()?;
                let value = self.nested(Self::unary_expression)?;
                Ok(match operator {
                    b'-' => value.wrapping_neg(),
                    b'~' => !value,
                    b'!' => u64::from(value == 0),
                    _ => value,
                })
            }
            Token::Punctuation(b'(') => {
                self.advance()?;
                // A cast between the two types of constants does not change bits.
                if let Token::Dot("s64" | "u64") = self.token {
                    self.advance()?;
                    self.require(b')')?;
                    return self.nested(Self::unary_expression);
                }
                let value = self.nested(Self::constant_expression)?;
                self.require(b')')?;
                Ok(value)
            }
            Token::Name("WARP_SZ") => {
                self.advance()?;
                Ok(32)
            }
            _ => self.integer("an integer"),
        }
    }
}
