//! The names of a block.

use super::Symbol;
use crate::ptx::Variable;
use std::collections::HashMap;

/// The names of a block. A declaration of numbered registers may have the name of another.
#[derive(Default)]
pub(super) struct Scope<'s> {
    names: HashMap<&'s str, Symbol<'s>>,
    numbered: HashMap<&'s str, Symbol<'s>>,
    /// True if one of the names looks like a numbered register's. Otherwise none is searched for
    /// these, which are most names in a kernel.
    has_lookalikes: bool,
}

impl<'s> Scope<'s> {
    pub(super) fn of(names: HashMap<&'s str, Symbol<'s>>) -> Self {
        let has_lookalikes = names.keys().any(|name| looks_numbered(name));
        Scope { names, has_lookalikes, ..Scope::default() }
    }

    /// Adds a name. Returns the symbol that had it before.
    pub(super) fn insert(&mut self, name: &'s str, symbol: Symbol<'s>) -> Option<Symbol<'s>> {
        self.has_lookalikes |= looks_numbered(name);
        self.names.insert(name, symbol)
    }

    /// Adds numbered registers or predicates, whose names begin with this one.
    pub(super) fn insert_numbered(&mut self, name: &'s str, symbol: Symbol<'s>) {
        self.numbered.insert(name, symbol);
    }

    pub(super) fn get(&self, name: &str) -> Option<&Symbol<'s>> {
        if !self.has_lookalikes && looks_numbered(name) { None } else { self.names.get(name) }
    }

    /// Returns the numbered registers or predicates whose names begin with this one.
    pub(super) fn numbered(&self, name: &str) -> Option<&Symbol<'s>> {
        self.numbered.get(name)
    }

    /// True if the block has a name of a variable already.
    pub(super) fn declares(&self, variable: &Variable<'s>) -> bool {
        let name = variable.name;
        if let Some(count) = variable.count {
            let is_one = |known: &str| {
                let number = known.strip_prefix(name).and_then(|number| number.parse::<u32>().ok());
                number.is_some_and(|number| number < count)
            };
            // Modules have a limited number of registers, and any number of names.
            let single = match self.names.len() as u64 <= u64::from(count) {
                true => self.names.keys().any(|known| is_one(known)),
                false => (0..count).any(|number| self.names.contains_key(&*format!("{name}{number}"))),
            };
            return single || self.numbered.contains_key(name);
        }
        let prefix = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let numbered = match (self.numbered.get(prefix), name[prefix.len()..].parse::<u32>()) {
            (
                Some(
                    Symbol::Registers { count, .. }
                    | Symbol::Predicates { count, .. }
                    | Symbol::Vectors { count, .. },
                ),
                Ok(number),
            ) => number < *count,
            _ => false,
        };
        numbered || self.names.contains_key(name)
    }
}

/// True for names as compilers give them to numbered registers: `%rd5`.
fn looks_numbered(name: &str) -> bool {
    name.starts_with('%') && name.ends_with(|last: char| last.is_ascii_digit())
}
