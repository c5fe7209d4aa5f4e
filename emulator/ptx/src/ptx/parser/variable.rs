//! Variables: their types, names, attributes and initial values.

use super::{Parsed, Parser};
use crate::ptx::lexer::Token;
use crate::ptx::tree::{Initializer, Linkage, Space, Variable};

impl<'s> Parser<'s> {
    /// Parses `.global .align 4 .b8 name[4] = {...}, other;` after the state space.
    pub(super) fn variables(
        &mut self,
        space: Space,
        linkage: Linkage,
        add: &mut dyn FnMut(Variable<'s>),
    ) -> Parsed<()> {
        let mut pattern = self.variable_type(space)?;
        pattern.linkage = linkage;
        loop {
            let mut variable = pattern.clone();
            self.variable_name(&mut variable)?;
            if self.accept(b'<')? {
                variable.count = Some(self.small("a number of variables")?);
                self.require(b'>')?;
            } else {
                self.dimensions(&mut variable)?;
            }
            if self.accept(b'=')? {
                match variable.ty {
                    "texref" | "samplerref" | "surfref" => self.reference_fields()?,
                    _ => variable.initializer = Some(self.initializer()?),
                }
            }
            add(variable);
            if self.accept(b';')? {
                return Ok(());
            }
            if !self.accept(b',')? {
                return self.expected("`;`, `,` or `=` after this declaration");
            }
        }
    }

    /// Parses `{ addr_mode_0 = wrap }` of a texture reference, which is refused by its type.
    fn reference_fields(&mut self) -> Parsed<()> {
        self.require(b'{')?;
        while !self.accept(b'}')? {
            if matches!(self.advance()?, Token::End) {
                return self.expected("`}`");
            }
        }
        Ok(())
    }

    /// Parses alignment, attributes, vector size and type, in any order.
    pub(super) fn variable_type(&mut self, space: Space) -> Parsed<Variable<'s>> {
        let mut variable = Variable {
            position: self.position,
            linkage: Linkage::Internal,
            space,
            align: None,
            ty: "",
            vector: 1,
            name: "",
            dimensions: Vec::new(),
            count: None,
            initializer: None,
            managed: false,
        };
        while let Token::Dot(word) = self.token {
            self.advance()?;
            match word {
                "align" => variable.align = Some(self.small("an alignment in bytes")?),
                "attribute" => {
                    variable.managed |= self.attributes(&["managed", "unified"])?.contains(&"managed")
                }
                "v2" => variable.vector = 2,
                "v4" => variable.vector = 4,
                "v8" => variable.vector = 8,
                // `.ptr .global .align 8` describes the target of a pointer parameter.
                "ptr" => self.pointer_attributes()?,
                _ if !variable.ty.is_empty() => return self.expected("one type"),
                _ => variable.ty = word,
            }
        }
        if variable.ty.is_empty() {
            return self.expected("a type such as `.b32`");
        }
        Ok(variable)
    }

    pub(super) fn pointer_attributes(&mut self) -> Parsed<()> {
        while let Token::Dot(word) = self.token {
            match word {
                "align" => {
                    self.advance()?;
                    self.small("an alignment in bytes")?;
                }
                "global" | "const" | "shared" | "local" | "param" => {
                    self.advance()?;
                }
                _ => break,
            }
        }
        Ok(())
    }

    pub(super) fn variable_name(&mut self, variable: &mut Variable<'s>) -> Parsed<()> {
        variable.position = self.position;
        variable.name = self.name("a name")?;
        Ok(())
    }

    pub(super) fn dimensions(&mut self, variable: &mut Variable<'s>) -> Parsed<()> {
        while self.accept(b'[')? {
            // Only the first may be open.
            let open = self.is(b']') && variable.dimensions.is_empty();
            variable.dimensions.push(if open { None } else { Some(self.constant_expression()?) });
            self.require(b']')?;
        }
        Ok(())
    }

    pub(super) fn initializer(&mut self) -> Parsed<Initializer<'s>> {
        if self.accept(b'{')? {
            return self.nested(|p| p.comma_separated(b'}', Self::initializer)).map(Initializer::List);
        }
        let position = self.position;
        match self.token {
            Token::Name(name) => {
                self.advance()?;
                let (symbol, generic) = if name == "generic" && self.is(b'(') {
                    (self.parenthesized_name()?, true)
                } else {
                    (name, false)
                };
                let offset = self.offset()?;
                Ok(Initializer::Address { symbol, offset, generic, mask: None, position })
            }
            Token::Single(bits) => {
                self.advance()?;
                Ok(Initializer::Single(bits))
            }
            Token::Double(value) => {
                self.advance()?;
                Ok(Initializer::Double(value))
            }
            Token::Punctuation(b'-') => {
                let negative = self.lexer.clone().next()?.0;
                if let Token::Double(value) = negative {
                    self.advance()?;
                    self.advance()?;
                    return Ok(Initializer::Double(-value));
                }
                self.constant_expression().map(Initializer::Int)
            }
            Token::Int(mask) => {
                let value = self.constant_expression()?;
                if value == mask && self.accept(b'(')? {
                    let (symbol, generic) = match self.name("a symbol")? {
                        "generic" if self.is(b'(') => (self.parenthesized_name()?, true),
                        symbol => (symbol, false),
                    };
                    let offset = self.offset()?;
                    self.require(b')')?;
                    return Ok(Initializer::Address { symbol, offset, generic, mask: Some(mask), position });
                }
                Ok(Initializer::Int(value))
            }
            _ => self.constant_expression().map(Initializer::Int),
        }
    }
}
