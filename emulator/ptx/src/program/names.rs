//! Names that a module declares more than once: their declarations must agree.
//!
//! NVIDIA's assembler compares the types as they are written: `.u32` and `.b32` disagree.

use super::symbols::layout;
use super::{PtxError, PtxErrorKind};
use crate::ptx::{Function, FunctionKind, Linkage, Module, Position, Variable};
use std::collections::{HashMap, HashSet};

const EXTERN_ELSEWHERE: &str = "is `.extern`, but its definition is for this module alone";

type Checked = Result<(), Box<PtxError>>;

/// Refuses declarations of one name that exclude each other, and functions without a body that no
/// other module may define.
pub(super) fn check(module: &Module<'_>) -> Checked {
    let mut functions = HashMap::new();
    for function in &module.functions {
        check_function(function)?;
        match functions.get_mut(function.name) {
            None => drop(functions.insert(function.name, function)),
            Some(known) => {
                agree_on_function(known, function)?;
                *known = function;
            }
        }
    }
    let mut variables: HashMap<_, &Variable<'_>> = HashMap::new();
    for variable in &module.variables {
        if functions.contains_key(variable.name) {
            return refuse(variable.position, format!("`{}` is a function and a variable", variable.name));
        }
        // `g<2>` is not compared with `g0`.
        match variables.get_mut(&(variable.name, variable.count.is_some())) {
            None => drop(variables.insert((variable.name, variable.count.is_some()), variable)),
            Some(known) => {
                agree_on_variable(known, variable)?;
                if known.linkage == Linkage::Extern {
                    *known = variable;
                }
            }
        }
    }
    check_aliases(module, &functions)
}

fn check_function(function: &Function<'_>) -> Checked {
    if function.body.is_none() {
        return Ok(());
    }
    if function.linkage == Linkage::Extern {
        return refuse(function.position, format!("`{}` is `.extern` and has a body", function.name));
    }
    let mut names = HashSet::new();
    let twice = function.params.iter().chain(&function.returns).find(|variable| !names.insert(variable.name));
    match twice {
        Some(twice) => refuse(twice.position, format!("`{}` is the name of two parameters", twice.name)),
        None => Ok(()),
    }
}

fn agree_on_function(known: &Function<'_>, later: &Function<'_>) -> Checked {
    let disagrees = if known.kind != later.kind {
        "is a kernel and a device function"
    } else if known.body.is_some() {
        "is declared again after its definition"
    } else if known.linkage == Linkage::Extern && later.linkage == Linkage::Internal {
        EXTERN_ELSEWHERE
    } else if ![known.linkage, Linkage::Internal].contains(&later.linkage) {
        "was declared with another linkage"
    } else if known.has("noreturn") != later.has("noreturn") {
        "is `.noreturn` in one of its declarations"
    } else if !are_alike(known, later) {
        "was declared with other parameters or results"
    } else {
        return Ok(());
    };
    refuse(later.position, format!("`{}` {disagrees}", later.name))
}

/// True if two functions have the same parameters and results.
fn are_alike(one: &Function<'_>, other: &Function<'_>) -> bool {
    let same = |one: &[Variable<'_>], other: &[Variable<'_>]| {
        one.len() == other.len() && one.iter().zip(other).all(|(one, other)| passes_alike(one, other))
    };
    same(&one.params, &other.params) && same(&one.returns, &other.returns)
}

fn passes_alike(one: &Variable<'_>, other: &Variable<'_>) -> bool {
    let align = |variable| layout(variable).map_or(0, |(_, align)| align);
    (one.space, one.ty, one.vector, &one.dimensions)
        == (other.space, other.ty, other.vector, &other.dimensions)
        && align(one) == align(other)
}

fn agree_on_variable(known: &Variable<'_>, later: &Variable<'_>) -> Checked {
    let disagrees = if known.linkage != Linkage::Extern && later.linkage != Linkage::Extern {
        "is defined twice"
    } else if known.linkage == Linkage::Extern && later.linkage == Linkage::Internal {
        EXTERN_ELSEWHERE
    } else if (known.ty, known.vector) != (later.ty, later.vector) || !have_one_size(known, later) {
        "was declared with another type or size"
    } else if known.space != later.space {
        let text =
            format!("`{}` is in two state spaces: this is not supported by the software device", later.name);
        return Err(PtxError::at(later.position, PtxErrorKind::Unsupported, text));
    } else {
        return Ok(());
    };
    refuse(later.position, format!("`{}` {disagrees}", later.name))
}

/// True if two arrays have the same dimensions, except for those that a declaration leaves open.
fn have_one_size(one: &Variable<'_>, other: &Variable<'_>) -> bool {
    let agree = |(one, other): (&Option<u64>, &Option<u64>)| one.is_none() || other.is_none() || one == other;
    one.dimensions.len() == other.dimensions.len() && one.dimensions.iter().zip(&other.dimensions).all(agree)
}

/// An alias is declared like a device function that has a body, and is no alias yet. All other
/// functions without a body are `.extern`.
fn check_aliases(module: &Module<'_>, functions: &HashMap<&str, &Function<'_>>) -> Checked {
    let mut aliases = HashSet::new();
    for (name, of) in &module.aliases {
        let find = |name: &str| {
            functions.get(name).copied().ok_or_else(|| {
                let text = format!("`{name}` of an `.alias` is no function of this module");
                PtxError::at(module.version_position, PtxErrorKind::Unresolved, text)
            })
        };
        let (alias, aliased) = (find(name)?, find(of)?);
        let wrong = if !aliases.insert(*name) {
            "is an alias already"
        } else if alias.body.is_some() {
            "has a body and cannot be an alias"
        } else if aliased.kind == FunctionKind::Entry || aliased.body.is_none() {
            "can be an alias of a device function with a body only"
        } else if !are_alike(alias, aliased) {
            "is an alias of a function with other parameters or results"
        } else {
            continue;
        };
        return refuse(alias.position, format!("`{name}` {wrong}"));
    }
    let missing = module.functions.iter().find(|function| {
        let known = functions.get(function.name).is_some_and(|known| known.body.is_some());
        !known && function.linkage != Linkage::Extern && !aliases.contains(function.name)
    });
    let Some(missing) = missing else { return Ok(()) };
    let text = format!("`{}` has no body; only an `.extern` function may have none", missing.name);
    Err(PtxError::at(missing.position, PtxErrorKind::Unresolved, text))
}

fn refuse(position: Position, text: String) -> Checked {
    Err(PtxError::at(position, PtxErrorKind::Conflict, text))
}
