//! Functions: their directives, parameters and statements.

use super::module::state_space;
use super::{Parsed, Parser};
use crate::ptx::lexer::Token;
use crate::ptx::tree::{Function, FunctionKind, Linkage, Space, Statement, Variable};

impl<'s> Parser<'s> {
    pub(super) fn function(&mut self, kind: FunctionKind, linkage: Linkage) -> Parsed<Function<'s>> {
        let mut attributes = Vec::new();
        let mut returns = Vec::new();
        if kind == FunctionKind::Device {
            if self.token == Token::Dot("attribute") {
                self.advance()?;
                attributes = self.attributes(&["unified"])?;
            }
            if self.accept(b'(')? {
                returns = self.comma_separated(b')', Self::parameter)?;
            }
        }
        let position = self.position;
        let name = self.name("the name of the function")?;
        let params =
            if self.accept(b'(')? { self.comma_separated(b')', Self::parameter)? } else { Vec::new() };
        let mut directives = self.directives(kind)?;
        directives.extend(attributes.into_iter().map(|name| (name, Vec::new())));
        let is_declaration = match kind {
            FunctionKind::Device => self.accept(b';')?,
            // Directives of kernels are with their definition.
            FunctionKind::Entry => directives.is_empty() && self.accept(b';')?,
        };
        let body = if is_declaration {
            None
        } else if self.accept(b'{')? {
            Some(self.body()?)
        } else {
            return self.expected("`{`, `;` or a directive such as `.maxntid`");
        };
        Ok(Function { position, kind, linkage, name, returns, params, directives, body })
    }

    pub(super) fn parameter(&mut self) -> Parsed<Variable<'s>> {
        let space = match self.token {
            Token::Dot("param") => Space::Param,
            Token::Dot("reg") => Space::Register,
            _ => return self.expected("`.param` or `.reg`"),
        };
        self.advance()?;
        let mut variable = self.variable_type(space)?;
        self.variable_name(&mut variable)?;
        self.dimensions(&mut variable)?;
        Ok(variable)
    }

    /// Parses statements up to the closing brace. The opening one has been read.
    pub(super) fn body(&mut self) -> Parsed<Vec<Statement<'s>>> {
        let mut statements = Vec::new();
        while !self.accept(b'}')? {
            self.statement(&mut statements)?;
        }
        Ok(statements)
    }

    pub(super) fn statement(&mut self, statements: &mut Vec<Statement<'s>>) -> Parsed<()> {
        match self.token {
            Token::Name(_) => {
                let statement = self.label_or_instruction()?;
                statements.push(statement);
            }
            Token::Punctuation(b'@') => {
                let instruction = self.instruction()?;
                statements.push(Statement::Instruction(instruction));
            }
            Token::Punctuation(b'{') => {
                self.advance()?;
                let inner = self.nested(Self::body)?;
                statements.push(Statement::Block(inner));
            }
            Token::Dot("loc") => {
                let statement = self.location()?;
                statements.push(statement);
            }
            Token::Dot("pragma") => {
                let text = self.pragma()?;
                statements.push(Statement::Pragma(text));
            }
            Token::Dot("section") => self.section()?,
            Token::Dot(word) => {
                let Some(space) = state_space(word) else {
                    return self.expected("an instruction or a declaration");
                };
                self.advance()?;
                self.variables(space, Linkage::Internal, &mut |variable| {
                    statements.push(Statement::Variable(variable));
                })?;
            }
            _ => return self.expected("an instruction, a declaration or `}`"),
        }
        Ok(())
    }

    /// Parses `.loc file line column[, function_name label, inlined_at file line column]`.
    pub(super) fn location(&mut self) -> Parsed<Statement<'s>> {
        self.advance()?;
        let file = self.small("the index of a file")?;
        let line = self.small("a line")?;
        self.small("a column")?;
        while self.accept(b',')? {
            match self.name("`function_name` or `inlined_at`")? {
                "function_name" => {
                    self.name("a label")?;
                    self.offset()?;
                }
                "inlined_at" => {
                    for _ in 0..3 {
                        self.small("a file, a line and a column")?;
                    }
                }
                _ => return self.expected("the attributes of `.loc`"),
            }
        }
        Ok(Statement::Location { file, line })
    }

    pub(super) fn pragma(&mut self) -> Parsed<&'s str> {
        self.advance()?;
        let mut all = "";
        loop {
            let Token::Text(text) = self.token else { return self.expected("a string") };
            self.advance()?;
            all = if all.is_empty() { text } else { all };
            if self.accept(b';')? {
                return Ok(all);
            }
            self.require(b',')?;
        }
    }

    pub(super) fn label_or_instruction(&mut self) -> Parsed<Statement<'s>> {
        let position = self.position;
        let Token::Name(name) = self.token else { return self.expected("an instruction") };
        if self.lexer.clone().next()?.0 != Token::Punctuation(b':') {
            return self.instruction().map(Statement::Instruction);
        }
        self.advance()?;
        self.advance()?;
        match self.token {
            Token::Dot("callprototype") => {
                self.advance()?;
                let returns = if self.accept(b'(')? {
                    self.comma_separated(b')', Self::parameter)?
                } else {
                    Vec::new()
                };
                self.name("`_`")?;
                let params = if self.accept(b'(')? {
                    self.comma_separated(b')', Self::parameter)?
                } else {
                    Vec::new()
                };
                self.directives(FunctionKind::Device)?;
                self.require(b';')?;
                Ok(Statement::Prototype { name, returns, params })
            }
            Token::Dot("branchtargets" | "calltargets") => {
                self.advance()?;
                let targets = self.comma_separated(b';', |p| p.name("a label or a function"))?;
                Ok(Statement::Targets { name, targets })
            }
            _ => Ok(Statement::Label(position, name)),
        }
    }
}
