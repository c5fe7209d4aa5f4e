//! The names that the inputs of a link share, and the disagreements about them.

use super::declare::replaces;
use super::symbols::layout;
use super::{PtxError, PtxErrorKind};
use crate::ptx::{self, Function, FunctionKind, Linkage, Position, Space, Variable};
use std::collections::HashMap;

/// The names that the inputs of a link share.
///
/// ```
/// use cuprum_ptx::program::Exports;
///
/// let text = ".version 8.0 .target sm_90 .address_size 64 .visible .func f() { ret; }";
/// let mut exports = Exports::default();
/// exports.add("first.ptx", text)?;
/// let error = exports.add("second.ptx", text).err().ok_or("two functions `f`")?;
/// assert!(error.message.contains("first.ptx"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Exports {
    symbols: HashMap<Box<str>, Export>,
}

/// A name, as it was declared first or is defined.
#[derive(Debug)]
struct Export {
    input: String,
    linkage: Linkage,
    form: Form,
}

#[derive(Debug, PartialEq)]
enum Form {
    Kernel,
    Function {
        params: Vec<Passed>,
        returns: Vec<Passed>,
    },
    /// A variable and its bytes, unless a definition states them.
    Variable(Space, Option<u64>),
}

/// A parameter or result: space, bytes, alignment, and true if it is a float or an array.
type Passed = (Space, Option<u64>, u64, [bool; 2]);

impl Exports {
    /// Adds the names of an input.
    ///
    /// # Errors
    /// The first position that is not PTX, or the first name that an earlier input has defined too,
    /// or has declared in another form.
    pub fn add(&mut self, input: &str, ptx: &str) -> Result<(), PtxError> {
        self.add_text(input, ptx).map_err(|error| *error)
    }

    fn add_text(&mut self, input: &str, ptx: &str) -> Result<(), Box<PtxError>> {
        let module = ptx::parse(ptx)?;
        for variable in module.variables.iter().filter(|variable| variable.linkage != Linkage::Internal) {
            let (bytes, _) = layout(variable)?;
            self.symbol(
                input,
                variable.position,
                variable.name,
                variable.linkage,
                Form::Variable(variable.space, bytes),
            )?;
        }
        for function in module.functions.iter().filter(|function| function.linkage != Linkage::Internal) {
            // A declaration without a body is of a definition in this module, or extern.
            let linkage = if function.body.is_some() { function.linkage } else { Linkage::Extern };
            self.symbol(input, function.position, function.name, linkage, form(function)?)?;
        }
        Ok(())
    }

    fn symbol(
        &mut self,
        input: &str,
        position: Position,
        name: &str,
        linkage: Linkage,
        form: Form,
    ) -> Result<(), Box<PtxError>> {
        let Some(known) = self.symbols.get_mut(name) else {
            self.symbols.insert(name.into(), Export { input: input.to_owned(), linkage, form });
            return Ok(());
        };
        let refuse = |what: &str| {
            let text = format!("`{name}` {what} input `{}`", known.input);
            Err(PtxError::at(position, PtxErrorKind::Conflict, text))
        };
        let is_definition = |linkage| matches!(linkage, Linkage::Visible | Linkage::Internal);
        if is_definition(linkage) && is_definition(known.linkage) {
            return refuse("is already defined in");
        }
        let both_common = linkage == Linkage::Common && known.linkage == Linkage::Common;
        let agrees = match (&form, &known.form) {
            (Form::Variable(space, bytes), Form::Variable(known_space, known_bytes)) => {
                let open = both_common || bytes.is_none() || known_bytes.is_none();
                space == known_space && (open || bytes == known_bytes)
            }
            (form, known) => form == known,
        };
        if !agrees {
            return refuse("has another type, size or state space in");
        }
        if replaces(linkage, known.linkage) {
            *known = Export { input: input.to_owned(), linkage, form };
        }
        Ok(())
    }
}

fn form(function: &Function<'_>) -> Result<Form, Box<PtxError>> {
    if function.kind == FunctionKind::Entry {
        return Ok(Form::Kernel);
    }
    let all = |variables: &[Variable<'_>]| variables.iter().map(passed).collect::<Result<Vec<_>, _>>();
    Ok(Form::Function { params: all(&function.params)?, returns: all(&function.returns)? })
}

fn passed(variable: &Variable<'_>) -> Result<Passed, Box<PtxError>> {
    let (bytes, align) = if variable.ty == "pred" { (None, 0) } else { layout(variable)? };
    let kind = [variable.ty.starts_with('f'), !variable.dimensions.is_empty()];
    Ok((variable.space, bytes, align, kind))
}
