//! The directives of functions: their values, and the versions that have them.

use super::header::target_number;
use super::symbols::Purpose;
use super::{PtxError, PtxErrorKind};
use crate::ptx::{Function, Module};

/// Directives with the first version of PTX and the first architecture that have them.
const NEWER: &[(&str, (u32, u32), u32)] = &[
    ("noreturn", (6, 4), 30),
    ("explicitcluster", (7, 8), 90),
    ("reqnctapercluster", (7, 8), 90),
    ("maxclusterrank", (7, 8), 90),
    ("blocksareclusters", (9, 0), 90),
    ("unified", (8, 0), 90),
    ("abi_preserve", (9, 0), 80),
    ("abi_preserve_control", (9, 0), 80),
];

/// Directives that exclude each other, also where both are hints.
const EXCLUSIVE: &[[&str; 2]] = &[["maxntid", "reqntid"], ["reqnctapercluster", "maxclusterrank"]];

/// Refuses directives that contradict others, or that the module's header does not allow.
pub(super) fn check(module: &Module<'_>, purpose: Purpose) -> Result<(), Box<PtxError>> {
    let (target, _) = target_number(module).unwrap_or_default();
    for function in &module.functions {
        if function.has("unified") && purpose == Purpose::Whole {
            let text = format!("`{}` is `.unified`, which only inputs of a link can be", function.name);
            return Err(PtxError::at(function.position, PtxErrorKind::Unresolved, text));
        }
        check_directives(function, module.version, target)
            .map_err(|text| PtxError::at(function.position, PtxErrorKind::Syntax, text))?;
    }
    Ok(())
}

fn check_directives(function: &Function<'_>, version: (u32, u32), target: u32) -> Result<(), String> {
    let has = |name| function.has(name);
    for (name, values) in &function.directives {
        if matches!(*name, "maxntid" | "reqntid" | "maxnreg") && values.contains(&0) {
            return Err(format!("`.{name}` of zero"));
        }
        if let Some((_, since, first)) = NEWER.iter().find(|(newer, ..)| newer == name) {
            if version < *since || target < *first {
                let (major, minor) = since;
                return Err(format!("`.{name}` needs `.version {major}.{minor}` and `.target sm_{first}`"));
            }
        }
    }
    if let Some([one, other]) = EXCLUSIVE.iter().find(|both| both.iter().all(|name| has(name))) {
        return Err(format!("`.{one}` and `.{other}` exclude each other"));
    }
    if has("maxnctapersm") && version >= (2, 1) {
        return Err("`.maxnctapersm` ended with version 2.0, expected `.minnctapersm`".to_owned());
    }
    if has("noreturn") && !function.returns.is_empty() {
        return Err(format!("`{}` is `.noreturn` and has a result", function.name));
    }
    if has("blocksareclusters") && !(has("reqntid") && has("reqnctapercluster")) {
        return Err("`.blocksareclusters` needs `.reqntid` and `.reqnctapercluster`".to_owned());
    }
    Ok(())
}
