//! Meanings of names in a function.

use super::{Decoder, Symbol, rows_of};
use crate::program::variables::ELEMENTS;
use crate::semantics::Register;

impl<'s> Decoder<'_, '_, 's> {
    /// Returns a name's meaning: from the innermost scope outward, then as a numbered register.
    pub(super) fn lookup(&self, name: &str) -> Option<Symbol<'s>> {
        for scope in self.scopes.iter().rev() {
            if let Some(symbol) = scope.names.get(name) {
                return Some(symbol.clone());
            }
        }
        if let Some((vector, element)) = name.split_once('.') {
            return self.vector_element(vector, element);
        }
        let prefix = name.trim_end_matches(|c: char| c.is_ascii_digit());
        // A prefix may itself end in digits: `%r1<5>` declares `%r10` to `%r14`.
        for cut in prefix.len()..name.len() {
            let (prefix, digits) = name.split_at(cut);
            if digits.len() > 1 && digits.starts_with('0') {
                continue;
            }
            let Ok(number) = digits.parse::<u32>() else { continue };
            for scope in self.scopes.iter().rev() {
                match scope.numbered.get(prefix) {
                    Some(Symbol::Registers { declaration, ty, count }) if number < *count => {
                        let register = self.numbered(*declaration, number, *ty);
                        return Some(Symbol::Register { register, ty: *ty });
                    }
                    Some(Symbol::Vectors { first, ty, elements, count }) if number < *count => {
                        let first = Register(first.0 + number * elements * rows_of(*ty));
                        return Some(Symbol::Vector { first, ty: *ty, elements: *elements });
                    }
                    Some(Symbol::Predicates { declaration, count }) if number < *count => {
                        return Some(Symbol::Predicate(self.numbered_predicate(*declaration, number)));
                    }
                    _ => {}
                }
            }
        }
        None
    }

    /// Returns `%v.x`, if `%v` was declared with `.v2` or `.v4`.
    fn vector_element(&self, vector: &str, element: &str) -> Option<Symbol<'s>> {
        let Some(Symbol::Vector { first, ty, elements }) = self.lookup(vector) else { return None };
        let position = |names: &[&str; 4]| names.iter().position(|name| *name == element);
        let index = ELEMENTS.iter().find_map(position)? as u32;
        let register = Register(first.0 + index * rows_of(ty));
        (index < elements).then_some(Symbol::Register { register, ty })
    }
}
