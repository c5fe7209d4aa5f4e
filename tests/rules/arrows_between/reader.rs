//! The names in one file: the paths of its `use` lines and of its code, and the modules that it
//! declares.

use std::collections::BTreeMap;
use std::path::Path;

use super::house::{Module, ModulePath, Named};
use super::tokens::{Token, tokens};

/// The words that begin an item other than a module. An item of a macro has a `!`.
const DEFINES: &[&str] = &["fn", "struct", "enum", "union", "const", "static", "trait", "impl", "type"];

/// Goes through the tokens of one file.
pub(super) struct Reader<'a> {
    tokens: Vec<(Token, usize)>,
    at: usize,
    file: &'a Path,
    /// The modules that have files of their own.
    children: Vec<String>,
}

impl<'a> Reader<'a> {
    /// Reads a file into the modules, and returns the children of its module that have files of
    /// their own.
    pub(super) fn read(
        file: &'a Path,
        text: &str,
        module: &[String],
        modules: &mut BTreeMap<ModulePath, Module>,
    ) -> Vec<String> {
        let mut reader = Self { tokens: tokens(text), at: 0, file, children: Vec::new() };
        reader.module(module, modules);
        reader.children
    }

    fn token(&self, ahead: usize) -> Option<&Token> {
        self.tokens.get(self.at + ahead).map(|(token, _)| token)
    }

    fn mark(&self, ahead: usize) -> Option<char> {
        match self.token(ahead)? {
            Token::Mark(mark) => Some(*mark),
            Token::Word(_) => None,
        }
    }

    fn word(&self, ahead: usize) -> Option<&str> {
        match self.token(ahead)? {
            Token::Word(word) => Some(word),
            Token::Mark(_) => None,
        }
    }

    fn place(&self) -> String {
        let line = self.tokens.get(self.at).map_or(0, |(_, line)| *line);
        format!("{}:{line}", self.file.display())
    }

    fn is_path_mark(&self, ahead: usize) -> bool {
        self.mark(ahead) == Some(':') && self.mark(ahead + 1) == Some(':')
    }

    /// Reads a module up to the brace that ends it, or the end of the file.
    fn module(&mut self, path: &[String], modules: &mut BTreeMap<ModulePath, Module>) {
        let mut module = Module { file: self.file.to_owned(), ..Module::default() };
        let mut depth = 0_usize;
        while let Some(token) = self.token(0).cloned() {
            match token {
                Token::Mark('#') if self.mark(1) == Some('[') => {
                    self.attribute();
                    continue;
                }
                Token::Mark('{') => depth += 1,
                Token::Mark('}') if depth == 0 => break,
                Token::Mark('}') => depth -= 1,
                Token::Mark(mark) => module.defines |= mark == '!',
                Token::Word(word) => {
                    module.defines |= DEFINES.contains(&word.as_str());
                    if self.item(&word, path, &mut module, modules) {
                        continue;
                    }
                }
            }
            self.at += 1;
        }
        modules.insert(path.to_vec(), module);
    }

    /// Reads the item that a word begins. Returns whether the item was longer than the word.
    fn item(
        &mut self,
        word: &str,
        path: &[String],
        module: &mut Module,
        modules: &mut BTreeMap<ModulePath, Module>,
    ) -> bool {
        let before = self.at.checked_sub(1).map(|at| &self.tokens[at].0);
        match word {
            "mod" => {
                let Some(name) = self.word(1).map(str::to_owned) else { return false };
                if self.mark(2) == Some(';') {
                    self.children.push(name);
                    return false;
                }
                let mut inner = path.to_vec();
                inner.push(name);
                self.at += 3;
                self.module(&inner, modules);
                // The brace that closes it.
                self.at += 1;
                true
            }
            "use" if self.mark(1) != Some('<') => {
                let is_export = self.is_export();
                self.at += 1;
                let already = module.named.len();
                self.tree(&[], &mut module.named);
                module.named[already..].iter_mut().for_each(|named| named.is_export = is_export);
                true
            }
            // A restriction of who sees an item is no use of it.
            _ if before == Some(&Token::Word("in".to_owned())) => false,
            // A parameter of a macro is unknown here, but for the crate itself.
            _ if before == Some(&Token::Mark('$')) && word != "crate" => false,
            _ if before == Some(&Token::Mark(':'))
                && self.at > 1
                && self.tokens[self.at - 2].0 == Token::Mark(':') =>
            {
                false
            }
            _ if self.is_path_mark(1) => {
                let place = self.place();
                let segments = self.segments();
                module.named.push(Named { segments, binds: None, place, is_export: false });
                true
            }
            _ => false,
        }
    }

    /// True if the `use` here hands its names on: `pub` is before it, or `pub` with a restriction.
    fn is_export(&self) -> bool {
        let before = |back: usize| self.at.checked_sub(back).map(|at| &self.tokens[at].0);
        matches!(before(1), Some(Token::Mark(')'))) || before(1) == Some(&Token::Word("pub".to_owned()))
    }

    /// Words with `::` between them; stops after the last word.
    fn segments(&mut self) -> Vec<String> {
        let mut segments = Vec::new();
        while let Some(word) = self.word(0).map(str::to_owned) {
            segments.push(word);
            self.at += 1;
            if !(self.is_path_mark(0) && self.word(2).is_some()) {
                break;
            }
            self.at += 2;
        }
        segments
    }

    /// One tree of a `use`, after the path written before it.
    fn tree(&mut self, prefix: &[String], named: &mut Vec<Named>) {
        let place = self.place();
        let mut segments = prefix.to_vec();
        segments.extend(self.segments());
        if self.is_path_mark(0) {
            self.at += 2;
        }
        match self.mark(0) {
            Some('{') => {
                while self.mark(0) != Some('}') && self.token(0).is_some() {
                    self.at += 1;
                    if self.mark(0) != Some('}') {
                        self.tree(&segments, named);
                    }
                }
                self.at += 1;
            }
            Some('*') => {
                self.at += 1;
                named.push(Named { segments, binds: None, place, is_export: false });
            }
            _ => {
                let mut binds = segments.iter().rev().find(|segment| *segment != "self").cloned();
                if self.word(0) == Some("as") {
                    binds = self.word(1).map(str::to_owned);
                    self.at += 2;
                }
                named.push(Named { segments, binds, place, is_export: false });
            }
        }
    }

    /// Passes an attribute, and with one that is for tests or documentation the item below it.
    fn attribute(&mut self) {
        let (start, mut depth) = (self.at, 0_usize);
        loop {
            match self.token(0) {
                Some(Token::Mark('[')) => depth += 1,
                Some(Token::Mark(']')) if depth == 1 => break,
                Some(Token::Mark(']')) => depth -= 1,
                Some(_) => {}
                None => return,
            }
            self.at += 1;
        }
        self.at += 1;
        let words: Vec<&Token> = self.tokens[start..self.at].iter().map(|(token, _)| token).collect();
        let has = |word: &str| words.contains(&&Token::Word(word.to_owned()));
        if has("cfg") && (has("test") || has("doc")) && !has("not") {
            self.pass_item();
        }
    }

    /// Passes an item: up to its semicolon, or the brace that ends it.
    fn pass_item(&mut self) {
        let mut depth = 0_usize;
        while let Some(token) = self.token(0).cloned() {
            self.at += 1;
            match token {
                Token::Mark('{' | '(' | '[') => depth += 1,
                Token::Mark(')' | ']') => depth = depth.saturating_sub(1),
                Token::Mark('}') if depth <= 1 => return,
                Token::Mark('}') => depth -= 1,
                Token::Mark(';') if depth == 0 => return,
                _ => {}
            }
        }
    }
}
