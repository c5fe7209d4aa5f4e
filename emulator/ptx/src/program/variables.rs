//! Checks of declarations, numbered variables, global variables inside functions, and elements of
//! vector registers.

use super::symbols::MOST_PARTS;
use super::types::Type;
use super::{PtxError, PtxErrorKind};
use crate::ptx::{Initializer, Linkage, Module, Space, Statement, Variable};

/// Names of the elements of vector registers, in order; colors are alternative names.
pub(super) const ELEMENTS: [[&str; 4]; 2] = [["x", "y", "z", "w"], ["r", "g", "b", "a"]];

/// Refuses declarations that are invalid in any position.
pub(super) fn check(variable: &Variable<'_>) -> Result<(), Box<PtxError>> {
    let refuse = |message: String| Err(PtxError::at(variable.position, PtxErrorKind::Syntax, message));
    if variable.name == "WARP_SZ" {
        return refuse("`WARP_SZ` is a constant of the language".to_owned());
    }
    if matches!(variable.ty, "bf16" | "bf16x2" | "u16x2" | "s16x2") {
        return refuse(format!(
            "nothing is declared with the type `.{}`, expected `.b16` or `.b32`",
            variable.ty
        ));
    }
    if Type::parse(variable.ty).is_none() && !matches!(variable.ty, "texref" | "samplerref" | "surfref") {
        return refuse(format!("`.{}` is no type of a variable", variable.ty));
    }
    if variable.ty == "f16x2" && variable.space == Space::Param {
        return refuse(format!("`{}` of type `.f16x2` is no parameter, expected `.b32`", variable.name));
    }
    if variable.ty == "pred" && variable.space != Space::Register {
        return refuse(format!("the predicate `{}` must be a register", variable.name));
    }
    if !matches!(variable.vector, 1 | 2 | 4) {
        return refuse(format!("`.v{}` is no vector size of a variable", variable.vector));
    }
    if Type::parse(variable.ty).is_some_and(|ty| ty.bytes() * variable.vector > 16) {
        return refuse(format!("`{}` is a vector of more than 128 bits", variable.name));
    }
    if variable.space == Space::Param && variable.vector != 1 && variable.dimensions.is_empty() {
        return refuse(format!("the vector `{}` is not in `.param`", variable.name));
    }
    if variable.space == Space::Register && (!variable.dimensions.is_empty() || variable.ty.ends_with("ref"))
    {
        return refuse(format!("`{}` is no register", variable.name));
    }
    if variable.ty == "pred" && variable.vector != 1 {
        return refuse(format!("the predicates `{}` make no vector", variable.name));
    }
    if variable.linkage == Linkage::Common && variable.space != Space::Global {
        return refuse(format!("`{}` is `.common` and not in global memory", variable.name));
    }
    if variable.count.is_some() && variable.initializer.is_some() {
        return refuse(format!("`{}` are several variables with one initial value", variable.name));
    }
    if variable.initializer.is_some() && variable.linkage == Linkage::Extern {
        return refuse(format!("`{}` is `.extern` and has an initial value", variable.name));
    }
    let constant = matches!(variable.space, Space::Global | Space::Const | Space::Texture);
    if variable.initializer.is_some() && !constant {
        return refuse(format!("`{}` has no initial value in this state space", variable.name));
    }
    let sized = variable.linkage == Linkage::Extern || variable.initializer.is_some();
    let empty = variable.dimensions.iter().any(|count| matches!(count, None | Some(0)));
    if variable.space != Space::Param && empty && !sized {
        return refuse(format!("`{}` has no size", variable.name));
    }
    check_initial_value(variable)
}

/// Integers and floats differ. An address takes at least 32 bits, unless a mask selects some.
fn check_initial_value(variable: &Variable<'_>) -> Result<(), Box<PtxError>> {
    let (Some(value), Some(ty)) = (&variable.initializer, Type::parse(variable.ty)) else { return Ok(()) };
    let fits = first_number(value).is_none_or(|number| match number {
        Initializer::Address { mask: None, .. } => !ty.is_float() && matches!(ty.bytes(), 4 | 8),
        Initializer::Int(_) | Initializer::Address { .. } => !ty.is_float(),
        _ => matches!(ty, Type::F32 | Type::F64 | Type::B32 | Type::B64),
    });
    let refuse = |text: String| Err(PtxError::at(variable.position, PtxErrorKind::Syntax, text));
    if !fits {
        return refuse(format!(
            "the initial value of `{}` does not fit the type `.{}`",
            variable.name, variable.ty
        ));
    }
    if has_shape(value, &variable.dimensions, variable.vector) {
        return Ok(());
    }
    refuse(format!(
        "the initial value of `{}` has lists for other dimensions than the variable",
        variable.name
    ))
}

fn first_number<'i, 's>(value: &'i Initializer<'s>) -> Option<&'i Initializer<'s>> {
    match value {
        Initializer::List(items) => items.iter().find_map(first_number),
        number => Some(number),
    }
}

/// True if a value has a list for each dimension and for a vector. An array may have more elements
/// than its list.
fn has_shape(value: &Initializer<'_>, dimensions: &[Option<u64>], vector: u32) -> bool {
    match (value, dimensions.split_first()) {
        (Initializer::List(items), Some((most, inner))) => {
            let fits = most.map_or(!items.is_empty(), |most| items.len() as u64 <= most);
            fits && items.iter().all(|item| has_shape(item, inner, vector))
        }
        (Initializer::List(items), None) => {
            vector > 1 && items.len() == vector as usize && items.iter().all(|item| has_shape(item, &[], 1))
        }
        (_, dimension) => dimension.is_none() && vector == 1,
    }
}

/// Returns the names of the numbered variables that are no registers, a list for each declaration:
/// `.param .u64 %P<2>` declares `%P0` and `%P1`.
pub(super) fn numbered_names(module: &Module<'_>) -> Result<Vec<Vec<String>>, Box<PtxError>> {
    let mut lists = Vec::new();
    let mut left = MOST_PARTS;
    for variable in module.variables.iter().chain(inner(module)).filter(|variable| is_numbered(variable)) {
        let count = variable.count.unwrap_or_default();
        left = left.checked_sub(count).ok_or_else(|| {
            let text = format!("the module has more than {MOST_PARTS} numbered variables");
            PtxError::at(variable.position, PtxErrorKind::Unsupported, text)
        })?;
        lists.push((0..count).map(|number| format!("{}{number}", variable.name)).collect());
    }
    Ok(lists)
}

/// Declares each of the numbered variables by its own name.
pub(super) fn write_out<'s>(module: &mut Module<'s>, names: &'s [Vec<String>]) {
    fn several<'s>(variable: &Variable<'s>, names: Option<&'s Vec<String>>) -> Vec<Variable<'s>> {
        let single = |name: &'s String| Variable { name, count: None, ..variable.clone() };
        names.into_iter().flatten().map(single).collect()
    }
    fn write_body<'s>(statements: &mut Vec<Statement<'s>>, names: &mut dyn Iterator<Item = &'s Vec<String>>) {
        for statement in std::mem::take(statements) {
            match statement {
                Statement::Variable(variable) if is_numbered(&variable) => {
                    statements.extend(several(&variable, names.next()).into_iter().map(Statement::Variable));
                }
                Statement::Block(mut inner) => {
                    write_body(&mut inner, names);
                    statements.push(Statement::Block(inner));
                }
                other => statements.push(other),
            }
        }
    }
    if names.is_empty() {
        return;
    }
    let mut names = names.iter();
    for variable in std::mem::take(&mut module.variables) {
        match is_numbered(&variable) {
            true => module.variables.extend(several(&variable, names.next())),
            false => module.variables.push(variable),
        }
    }
    for body in module.functions.iter_mut().filter_map(|function| function.body.as_mut()) {
        write_body(body, &mut names);
    }
}

/// True if a declaration is to be written out. Registers are found by number, and exist if used.
fn is_numbered(variable: &Variable<'_>) -> bool {
    variable.count.is_some() && variable.space != Space::Register
}

/// Returns the variables in functions, in the order of the text.
pub(super) fn inner<'m, 's>(module: &'m Module<'s>) -> impl Iterator<Item = &'m Variable<'s>> {
    module.functions.iter().flat_map(|function| {
        let declared = function.statements().filter_map(|statement| match statement {
            Statement::Variable(variable) => Some(variable),
            _ => None,
        });
        function.params.iter().chain(&function.returns).chain(declared)
    })
}

/// Returns the names of vector registers, with names for up to four elements that no text contains.
/// Registers of one name may have different numbers of elements.
pub(super) fn vector_elements<'v, 's: 'v>(
    inner: impl Iterator<Item = &'v Variable<'s>>,
) -> Vec<(String, Vec<String>)> {
    let mut vectors = Vec::new();
    for variable in inner.filter(|variable| variable.space == Space::Register && variable.vector > 1) {
        let mut add = |name: String| {
            let elements = ELEMENTS[0].iter().map(|element| format!("{name}.{element}")).collect();
            vectors.push((name, elements));
        };
        match variable.count {
            // Larger counts are refused at the declaration.
            Some(count) => {
                (0..count.min(1 << 16)).for_each(|number| add(format!("{}{number}", variable.name)))
            }
            None => add(variable.name.to_owned()),
        }
    }
    vectors
}
