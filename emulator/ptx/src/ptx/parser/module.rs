//! Module scope: directives, declarations, sections.

use super::{Parsed, Parser};
use crate::ptx::lexer::Token;
use crate::ptx::tree::{FunctionKind, Linkage, Module, Space};

impl<'s> Parser<'s> {
    pub(super) fn module(&mut self) -> Parsed<Module<'s>> {
        let mut module = Module { address_size: 64, ..Module::default() };
        if self.token != Token::Dot("version") {
            return self.expected("`.version`");
        }
        // The version is read as text, before the lookahead turns it into a number.
        module.version = self.lexer.version()?;
        module.version_position = self.position;
        self.advance()?;
        while self.token == Token::Dot("target") {
            self.advance()?;
            module.target.push(self.name("an architecture such as `sm_75`")?);
            while self.accept(b',')? {
                module.target.push(self.name("an option of the target")?);
            }
        }
        if self.token == Token::Dot("address_size") {
            self.advance()?;
            module.address_size = self.small("32 or 64")?;
        }
        while self.token != Token::End {
            self.module_item(&mut module)?;
        }
        Ok(module)
    }

    pub(super) fn module_item(&mut self, module: &mut Module<'s>) -> Parsed<()> {
        let Token::Dot(directive) = self.token else {
            return self.expected("a directive such as `.visible`, `.entry` or `.global`");
        };
        match directive {
            "file" => {
                self.advance()?;
                let index = self.small("the index of the file")?;
                let Token::Text(path) = self.token else { return self.expected("a path in quotes") };
                self.advance()?;
                while self.accept(b',')? {
                    self.integer("a time stamp or a size")?;
                }
                module.files.push((index, path));
                Ok(())
            }
            "section" => self.section(),
            "loc" => self.location().map(drop),
            "pragma" => self.pragma().map(drop),
            "alias" => {
                self.advance()?;
                let name = self.name("a function")?;
                self.require(b',')?;
                module.aliases.push((name, self.name("a function")?));
                self.require(b';')
            }
            _ => self.declaration(module),
        }
    }

    pub(super) fn section(&mut self) -> Parsed<()> {
        self.advance()?;
        match self.token {
            Token::Dot(_) | Token::Name(_) => self.advance()?,
            _ => return self.expected("the name of the section"),
        };
        if !self.is(b'{') {
            return self.expected("`{`");
        }
        self.lexer.skip_braces()?;
        self.advance()?;
        Ok(())
    }

    pub(super) fn declaration(&mut self, module: &mut Module<'s>) -> Parsed<()> {
        let linkage = match self.token {
            Token::Dot("visible") => Linkage::Visible,
            Token::Dot("extern") => Linkage::Extern,
            Token::Dot("weak") => Linkage::Weak,
            Token::Dot("common") => Linkage::Common,
            _ => Linkage::Internal,
        };
        if linkage != Linkage::Internal {
            self.advance()?;
        }
        let kind = match self.token {
            Token::Dot("entry") if linkage != Linkage::Common => FunctionKind::Entry,
            Token::Dot("func") if linkage != Linkage::Common => FunctionKind::Device,
            Token::Dot(directive) => {
                let Some(space) = state_space(directive) else {
                    return self.expected("`.entry`, `.func` or a state space");
                };
                self.advance()?;
                return self.variables(space, linkage, &mut |variable| module.variables.push(variable));
            }
            _ => return self.expected("`.entry`, `.func` or a state space"),
        };
        self.advance()?;
        module.functions.push(self.function(kind, linkage)?);
        Ok(())
    }
}

pub(super) fn state_space(word: &str) -> Option<Space> {
    Some(match word {
        "reg" => Space::Register,
        "global" => Space::Global,
        "const" => Space::Const,
        "shared" | "shared::cta" => Space::Shared,
        "local" => Space::Local,
        "param" => Space::Param,
        "tex" => Space::Texture,
        _ => return None,
    })
}
