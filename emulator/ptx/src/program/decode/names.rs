//! Meanings of names in a function.

use super::scope::Scope;
use super::{Decoder, Symbol, rows_of};
use crate::program::variables::ELEMENTS;
use crate::semantics::Register;

impl<'s> Decoder<'_, '_, 's> {
    /// Returns a name's meaning in the innermost block that declares it, also as one of numbered
    /// registers; or an element of a vector.
    pub(super) fn lookup(&self, name: &str) -> Option<Symbol<'s>> {
        let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
        let meaning =
            |scope: &Scope<'s>| scope.get(name).cloned().or_else(|| self.numbered_in(scope, name, digits));
        if let Some(symbol) = self.scopes.iter().rev().find_map(meaning) {
            return Some(symbol);
        }
        let (vector, element) = name.split_once('.')?;
        self.vector_element(vector, element)
    }

    /// Finds a numbered register or predicate of a block, by a name that ends with so many digits.
    fn numbered_in(&self, scope: &Scope<'s>, name: &str, digits: usize) -> Option<Symbol<'s>> {
        // A prefix may itself end in digits: `%r1<5>` declares `%r10` to `%r14`.
        for cut in name.len() - digits..name.len() {
            let (prefix, digits) = name.split_at(cut);
            if digits.len() > 1 && digits.starts_with('0') {
                continue;
            }
            let Some(symbol) = scope.numbered(prefix) else { continue };
            let Ok(number) = digits.parse::<u32>() else { continue };
            match symbol {
                Symbol::Registers { declaration, ty, count } if number < *count => {
                    let register = self.numbered(*declaration, number, *ty);
                    return Some(Symbol::Register { register, ty: *ty });
                }
                Symbol::Vectors { first, ty, elements, count } if number < *count => {
                    let first = Register(first.0 + number * elements * rows_of(*ty));
                    return Some(Symbol::Vector { first, ty: *ty, elements: *elements });
                }
                Symbol::Predicates { declaration, count } if number < *count => {
                    return Some(Symbol::Predicate(self.numbered_predicate(*declaration, number)));
                }
                _ => {}
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
