//! Loads modules: their headers, and their kernels.

use super::declare::declare;
use super::decode::{decode_function, decode_kernel};
use super::header::{check_header, features};
use super::instruction::Op;
use super::newer::Newer;
use super::reuse::{OWN_ROWS, share_rows};
use super::symbols::{Context, Input, MOST_PARTS, ModuleSymbol, Purpose};
use super::{
    Global, Kernel, LoadOptions, Program, PtxError, PtxErrorKind, RelocationTarget, functions, names, polls,
    variables,
};
use crate::ptx::{self, FunctionKind, Space, Statement, Variable};
use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

impl Program {
    /// Loads a module.
    ///
    /// # Errors
    /// The first error: text that is not PTX, or that this device does not support, with its line.
    pub fn load(ptx: &str, options: &LoadOptions) -> Result<Program, PtxError> {
        load(&[ptx], Purpose::Whole, options).map_err(|error| *error)
    }

    /// Links modules. The lines of all of them are counted on, as in one text.
    ///
    /// [`Exports`](super::Exports) finds modules that cannot be linked.
    ///
    /// ```
    /// use cuprum_ptx::program::{LoadOptions, Program};
    ///
    /// let head = ".version 8.0 .target sm_90 .address_size 64 ";
    /// let kernel = format!("{head}.extern .func f(); .visible .entry k() {{ call f, (); ret; }}\n");
    /// let function = format!("{head}.visible .func f() {{ ret; }}\n");
    /// let program = Program::link(&[&kernel, &function], &LoadOptions::default())?;
    /// assert_eq!(program.kernels()[0].name(), "k");
    /// assert!(Program::link(&[&kernel], &LoadOptions::default()).is_err()); // there is no `f`
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As for [`load`](Self::load). Fails if a function that is called, or a variable, is defined
    /// in no module.
    pub fn link(inputs: &[&str], options: &LoadOptions) -> Result<Program, PtxError> {
        load(inputs, Purpose::Linked, options).map_err(|error| *error)
    }

    /// Checks one input of a link, which may call functions of other inputs.
    ///
    /// # Errors
    /// As for [`load`](Self::load).
    pub fn check_input(ptx: &str, options: &LoadOptions) -> Result<(), PtxError> {
        load(&[ptx], Purpose::Input, options).map(drop).map_err(|error| *error)
    }
}

/// Loads modules.
fn load(texts: &[&str], purpose: Purpose, options: &LoadOptions) -> Result<Program, Box<PtxError>> {
    let (mut modules, mut names) = (Vec::new(), Vec::new());
    let mut line = 1u32;
    for text in texts {
        let module = ptx::parse_from(text, line)?;
        line = line.saturating_add(text.lines().count() as u32);
        check_header(&module, options)?;
        names::check(&module)?;
        functions::check(&module, purpose)?;
        module.variables.iter().chain(variables::inner(&module)).try_for_each(variables::check)?;
        names.push(variables::numbered_names(&module)?);
        modules.push(module);
    }
    for (module, names) in modules.iter_mut().zip(&names) {
        variables::write_out(module, names);
    }
    let inner = modules.iter().enumerate();
    let inner: Vec<_> = inner
        .flat_map(|(input, module)| variables::inner(module).map(move |variable| (input, variable)))
        .collect();
    let vectors = variables::vector_elements(inner.iter().map(|(_, variable)| *variable));
    load_modules(&modules, purpose, &inner, &vectors)
}

fn load_modules<'s>(
    modules: &[ptx::Module<'s>],
    purpose: Purpose,
    inner: &[(usize, &Variable<'s>)],
    vectors: &'s [(String, Vec<String>)],
) -> Result<Program, Box<PtxError>> {
    let elements = |names: &'s [String]| names.iter().map(String::as_str).collect();
    let (inputs, files) = inputs(modules);
    let mut context = Context {
        purpose,
        inputs,
        shared: Vec::new(),
        constants: Vec::new(),
        functions: Vec::new(),
        address_taken: Vec::new(),
        files,
        inner: HashMap::new(),
        elements: vectors.iter().map(|(name, names)| (name.as_str(), elements(names))).collect(),
        parts: Cell::new(MOST_PARTS),
    };
    let globals = declare(&mut context, inner)?;
    context.address_taken = address_taken(&context, &globals);
    let kernels = decode_kernels(&context)?;
    if purpose != Purpose::Linked {
        check_uncalled(&context, &kernels)?;
    }
    let first = modules.first();
    Ok(Program {
        version: first.map(|module| module.version).unwrap_or_default(),
        target: first.and_then(|module| module.target.first().copied()).unwrap_or_default().to_owned(),
        kernels,
        globals,
        functions: context.functions.iter().map(|function| function.tree.name.to_owned()).collect(),
    })
}

/// Returns the modules without names, and the files of all of them, whose numbers are unique.
fn inputs<'m, 's>(modules: &'m [ptx::Module<'s>]) -> (Vec<Input<'m, 's>>, Arc<[(u32, String)]>) {
    let (mut files, mut first_file) = (Vec::new(), 0u32);
    let mut inputs = Vec::new();
    for module in modules {
        let features = features(module);
        inputs.push(Input {
            module,
            symbols: HashMap::new(),
            features,
            newer: Newer::than(module.version, features.number),
            first_file,
        });
        let numbered =
            module.files.iter().map(|(index, path)| (index.wrapping_add(first_file), (*path).to_owned()));
        files.extend(numbered);
        let most = module.files.iter().map(|(index, _)| index.saturating_add(1)).max();
        first_file = first_file.wrapping_add(most.unwrap_or(0));
    }
    (inputs, files.into())
}

fn decode_kernels(context: &Context<'_, '_>) -> Result<Vec<Arc<Kernel>>, Box<PtxError>> {
    let mut kernels = Vec::new();
    for definition in context.functions.iter().filter_map(|function| function.definition) {
        if definition.tree.kind == FunctionKind::Entry {
            let mut kernel = decode_kernel(context, definition)?;
            polls::mark(&mut kernel);
            share_rows(&mut kernel, OWN_ROWS);
            kernel.independent_lanes = context.inputs[definition.input].features.number >= 70;
            kernel.changes_global = kernel.code.iter().any(|instruction| match &instruction.op {
                Op::Atomic(atomic) => !matches!(atomic.space, Some(Space::Shared | Space::SharedCluster)),
                _ => false,
            });
            kernel.may_wait = kernel.changes_global
                || kernel.code.iter().any(|instruction| match &instruction.op {
                    Op::Load(access) => {
                        access.order.is_strong() && matches!(access.space, None | Some(Space::Global))
                    }
                    _ => false,
                });
            kernel.reads_constants = kernel.code.iter().any(|instruction| match &instruction.op {
                Op::Load(access) => access.space == Some(Space::Const),
                _ => false,
            });
            kernels.push(Arc::new(kernel));
        }
    }
    Ok(kernels)
}

/// Refuses device functions that are no correct PTX and that no kernel calls: a driver compiles
/// them too. Inputs of a link have been checked before it.
fn check_uncalled(context: &Context<'_, '_>, kernels: &[Arc<Kernel>]) -> Result<(), Box<PtxError>> {
    let called: HashSet<_> =
        kernels.iter().flat_map(|kernel| kernel.by_module_index.keys().copied()).collect();
    // They are no part of the program.
    let parts = context.parts.get();
    for (index, function) in (0..).zip(&context.functions) {
        let Some(definition) = function.definition else { continue };
        if definition.tree.kind == FunctionKind::Entry || called.contains(&index) {
            continue;
        }
        match decode_function(context, definition, index) {
            Err(error) if error.kind != PtxErrorKind::Unsupported => return Err(error),
            _ => context.parts.set(parts),
        }
    }
    Ok(())
}

/// Returns the functions named by `mov` or by an initial value.
fn address_taken(context: &Context<'_, '_>, globals: &[Global]) -> Vec<u32> {
    let mut is_taken = vec![false; context.functions.len()];
    let mut take = |index: usize| {
        if let Some(is_taken) = is_taken.get_mut(index) {
            *is_taken = true;
        }
    };
    for input in &context.inputs {
        for statement in input.module.functions.iter().flat_map(ptx::Function::statements) {
            let Statement::Instruction(instruction) = statement else { continue };
            if let ("mov", Some(ptx::Operand::Name(name))) = (instruction.opcode, instruction.operands.get(1))
            {
                if let Some((ModuleSymbol::Function(index), _)) = input.symbols.get(name) {
                    take(*index as usize);
                }
            }
        }
    }
    for global in globals {
        for relocation in &global.relocations {
            if let RelocationTarget::Function(index) = relocation.target {
                take(index);
            }
        }
    }
    (0..is_taken.len() as u32).filter(|index| is_taken[*index as usize]).collect()
}
