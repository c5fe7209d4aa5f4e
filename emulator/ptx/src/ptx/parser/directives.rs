//! Directives and attributes of functions and variables.

use super::{Parsed, Parser};
use crate::ptx::lexer::Token;
use crate::ptx::tree::FunctionKind;
use std::ops::RangeInclusive;

type Directive = (&'static str, RangeInclusive<usize>);

/// Directives after the parameters of a kernel, with the number of their values.
const OF_KERNELS: &[Directive] = &[
    ("maxntid", 1..=3),
    ("reqntid", 1..=3),
    ("minnctapersm", 1..=1),
    ("maxnctapersm", 1..=1),
    ("maxnreg", 1..=1),
    ("explicitcluster", 0..=0),
    ("reqnctapercluster", 1..=3),
    ("maxclusterrank", 1..=1),
    ("blocksareclusters", 0..=0),
];

/// Directives after the parameters of a device function or of a prototype.
const OF_FUNCTIONS: &[Directive] =
    &[("noreturn", 0..=0), ("abi_preserve", 1..=1), ("abi_preserve_control", 1..=1)];

impl<'s> Parser<'s> {
    /// Parses `.maxntid 256, 1, 1` and its like. Skips pragmas.
    pub(super) fn directives(&mut self, kind: FunctionKind) -> Parsed<Vec<(&'s str, Vec<u64>)>> {
        let known = match kind {
            FunctionKind::Entry => OF_KERNELS,
            FunctionKind::Device => OF_FUNCTIONS,
        };
        let mut directives = Vec::new();
        while let Token::Dot(name) = self.token {
            if name == "pragma" {
                self.pragma()?;
                continue;
            }
            let Some((_, counts)) = known.iter().find(|(known, _)| *known == name) else {
                return self.expected("`{`, `;` or a directive such as `.maxntid`");
            };
            self.advance()?;
            let mut values = Vec::new();
            while values.len() < *counts.end() {
                if !values.is_empty() && !self.accept(b',')? {
                    break;
                }
                values.push(self.integer("a number")?);
            }
            directives.push((name, values));
        }
        Ok(directives)
    }

    /// Parses `(.managed, .unified(1, 2))` after `.attribute`. Returns the names, which are among
    /// these.
    pub(super) fn attributes(&mut self, known: &[&str]) -> Parsed<Vec<&'s str>> {
        self.require(b'(')?;
        let names = self.comma_separated(b')', |parser| {
            let name = match parser.token {
                Token::Dot(name) if known.contains(&name) => name,
                _ => return parser.expected(&format!("an attribute such as `.{}`", known[0])),
            };
            parser.advance()?;
            if name == "unified" {
                parser.require(b'(')?;
                parser.integer("the upper half of an identifier")?;
                parser.require(b',')?;
                parser.integer("the lower half of an identifier")?;
                parser.require(b')')?;
            }
            Ok(name)
        })?;
        if names.is_empty() { self.expected("an attribute before `)`") } else { Ok(names) }
    }
}
