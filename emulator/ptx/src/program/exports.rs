//! The names that the inputs of a link share, and the disagreements about them.

use super::declare::{own_variables, replaces};
use super::symbols::layout;
use super::{PtxError, PtxErrorKind};
use crate::ptx::{
    self, Function, FunctionKind, Initializer, Linkage, Module, Operand, Position, Space, Statement, Variable,
};
use std::collections::{HashMap, HashSet};

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

/// A parameter or result: bytes, alignment, and true if it is a float or an array. Registers are
/// passed like parameters.
type Passed = (Option<u64>, u64, [bool; 2]);

impl Exports {
    /// Adds the names of an input. Functions that it declares and does not use have no meaning.
    ///
    /// # Errors
    /// The first position that is not PTX, or the first name that an earlier input has defined too,
    /// or has declared in another form.
    pub fn add(&mut self, input: &str, ptx: &str) -> Result<(), PtxError> {
        self.add_text(input, ptx).map_err(|error| *error)
    }

    fn add_text(&mut self, input: &str, ptx: &str) -> Result<(), Box<PtxError>> {
        let module = ptx::parse(ptx)?;
        let (own, used) = (own_variables(&module), used_names(&module));
        for variable in module.variables.iter().filter(|variable| !own.contains(variable.name)) {
            let (bytes, _) = layout(variable)?;
            let form = Form::Variable(variable.space, bytes);
            self.symbol(input, variable.position, variable.name, variable.linkage, form)?;
        }
        let aliases: HashSet<_> = module.aliases.iter().map(|(alias, _)| *alias).collect();
        let mut declared = HashMap::new();
        for function in &module.functions {
            let first = *declared.entry(function.name).or_insert(function.linkage);
            let counts = match first {
                Linkage::Internal => false,
                Linkage::Extern => used.contains(function.name),
                _ => function.body.is_some() || aliases.contains(function.name),
            };
            if counts {
                self.symbol(input, function.position, function.name, first, form(function)?)?;
            }
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
        if linkage == Linkage::Visible && known.linkage == Linkage::Visible {
            return refuse("is already defined in");
        }
        let agrees = match (&form, &known.form) {
            (Form::Variable(space, bytes), Form::Variable(known_space, known_bytes)) => {
                let sizes = match [(linkage, *bytes), (known.linkage, *known_bytes)] {
                    [(_, None), _] | [_, (_, None)] => true,
                    [(Linkage::Common, _), (Linkage::Common, _)] => true,
                    // A definition may be larger than a common variable.
                    [(Linkage::Common, least), (Linkage::Visible | Linkage::Weak, bytes)]
                    | [(Linkage::Visible | Linkage::Weak, bytes), (Linkage::Common, least)] => bytes >= least,
                    [(_, bytes), (_, known)] => bytes == known,
                };
                space == known_space && sizes
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

/// Returns the names in the code and in the initial values of a module.
fn used_names<'s>(module: &Module<'s>) -> HashSet<&'s str> {
    fn of_operand<'s>(operand: &Operand<'s>, used: &mut HashSet<&'s str>) {
        match operand {
            Operand::Name(name) | Operand::Offset(name, _) => drop(used.insert(name)),
            Operand::Element(name, _) => drop(used.insert(name)),
            Operand::Memory(parts) | Operand::Vector(parts) | Operand::List(parts) => {
                parts.iter().for_each(|part| of_operand(part, used));
            }
            _ => {}
        }
    }
    fn of_value<'s>(value: &Initializer<'s>, used: &mut HashSet<&'s str>) {
        match value {
            Initializer::List(items) => items.iter().for_each(|item| of_value(item, used)),
            Initializer::Address { symbol, .. } => drop(used.insert(symbol)),
            _ => {}
        }
    }
    let mut used = HashSet::new();
    for statement in module.functions.iter().flat_map(Function::statements) {
        match statement {
            Statement::Instruction(instruction) => {
                instruction.operands.iter().for_each(|operand| of_operand(operand, &mut used));
            }
            Statement::Targets { targets, .. } => used.extend(targets),
            _ => {}
        }
    }
    let values = module.variables.iter().filter_map(|variable| variable.initializer.as_ref());
    values.for_each(|value| of_value(value, &mut used));
    used
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
    Ok((bytes, align, kind))
}
