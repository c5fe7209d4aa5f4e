//! Module scope: variables with their initial values, symbols, kernels.

use super::decode::decode_kernel;
use super::initial::initial_value;
use super::instruction::Op;
use super::newer::Newer;
use super::reuse::{OWN_ROWS, share_rows};
use super::symbols::{Context, Features, MOST_PARTS, ModuleSymbol, layout, shared_layout};
use super::{
    Global, GlobalSpace, Kernel, LoadOptions, Program, PtxError, PtxErrorKind, RelocationTarget, variables,
};
use crate::ordered::Ordered;
use crate::ptx::{self, FunctionKind, Linkage, Space, Statement, Variable};
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;

impl Program {
    /// Loads a module.
    ///
    /// # Errors
    /// The first error: text that is not PTX, or that this device does not support, with its line.
    pub fn load(ptx: &str, options: &LoadOptions) -> Result<Program, PtxError> {
        load(ptx, options).map_err(|error| *error)
    }
}

fn load(text: &str, options: &LoadOptions) -> Result<Program, Box<PtxError>> {
    let module = ptx::parse(text)?;
    check_header(&module, options)?;
    let inner = variables::inner(&module);
    module.variables.iter().chain(inner.iter().copied()).try_for_each(variables::check)?;
    let vectors = variables::vector_elements(&inner);
    load_module(&module, &inner, &vectors)
}

fn load_module<'s>(
    module: &ptx::Module<'s>,
    inner: &[&Variable<'s>],
    vectors: &'s [(String, Vec<String>)],
) -> Result<Program, Box<PtxError>> {
    let elements = |names: &'s [String]| names.iter().map(String::as_str).collect();
    let features = features(module);
    let mut context = Context {
        module,
        symbols: HashMap::new(),
        shared: Vec::new(),
        constants: Vec::new(),
        features,
        newer: Newer::than(module.version, features.number),
        bodies: Vec::new(),
        names: Vec::new(),
        address_taken: Vec::new(),
        files: module.files.iter().map(|(index, path)| (*index, (*path).to_owned())).collect(),
        inner: Ordered::new(),
        elements: vectors.iter().map(|(name, names)| (name.as_str(), elements(names))).collect(),
        parts: Cell::new(MOST_PARTS),
    };
    let mut globals = Vec::new();
    let mut initialized = Vec::new();
    for variable in &module.variables {
        declare_variable(&mut context, variable, &mut globals, &mut initialized)?;
    }
    for variable in inner.iter().filter(|variable| matches!(variable.space, Space::Global | Space::Const)) {
        let space = if variable.space == Space::Const { GlobalSpace::Const } else { GlobalSpace::Global };
        context.inner.insert(variable.position.as_number(), globals.len() as u32);
        initialized.extend(variable.initializer.is_some().then_some((globals.len(), *variable)));
        globals.push(new_global(variable, space)?);
    }
    context.constants = (0..)
        .zip(&globals)
        .filter(|(_, global)| global.space == GlobalSpace::Const)
        .map(|(index, global)| (index, global.size))
        .collect();
    declare_functions(&mut context);
    for (index, variable) in initialized {
        let (init, relocations) = initial_value(&context, variable)?;
        let global: &mut Global = &mut globals[index];
        global.size = global.size.max(init.len() as u64);
        global.init = init;
        global.relocations = relocations;
    }
    context.address_taken = address_taken(&context, &globals);

    let kernels = decode_kernels(&context)?;
    Ok(Program {
        version: module.version,
        target: module.target.first().copied().unwrap_or_default().to_owned(),
        kernels,
        globals,
        functions: context.names.iter().map(|name| (*name).to_owned()).collect(),
    })
}

fn decode_kernels(context: &Context<'_, '_>) -> Result<Vec<Arc<Kernel>>, Box<PtxError>> {
    let mut kernels = Vec::new();
    let (number, _) = target_number(context.module).unwrap_or_default();
    for function in &context.module.functions {
        if function.kind == FunctionKind::Entry && function.body.is_some() {
            let mut kernel = decode_kernel(context, function)?;
            share_rows(&mut kernel, OWN_ROWS);
            kernel.independent_lanes = number >= 70;
            kernel.changes_global = kernel.code.iter().any(|instruction| match &instruction.op {
                Op::Atomic(atomic) => !matches!(atomic.space, Some(Space::Shared | Space::SharedCluster)),
                _ => false,
            });
            kernels.push(Arc::new(kernel));
        }
    }
    Ok(kernels)
}

fn features(module: &ptx::Module<'_>) -> Features {
    let (number, own) = target_number(module).unwrap_or_default();
    Features {
        number,
        since_sm_100: number >= 100,
        own: own && number >= 90,
        of_sm_90a: own && number == 90,
        collectives_without_sync: number < 70 || module.version < (6, 4),
    }
}

/// Returns the number of the target's architecture, and true if it is specific to it.
fn target_number(module: &ptx::Module<'_>) -> Option<(u32, bool)> {
    let number = module.target.first()?.trim_start_matches("sm_").trim_start_matches("compute_");
    let specific = number.ends_with(['a', 'f']);
    Some((number.trim_end_matches(['a', 'f']).parse().unwrap_or(0), specific))
}

fn check_header(module: &ptx::Module<'_>, options: &LoadOptions) -> Result<(), Box<PtxError>> {
    let at = module.version_position;
    if module.version > options.newest_ptx {
        let ((major, minor), (known_major, known_minor)) = (module.version, options.newest_ptx);
        return Err(PtxError::at(
            at,
            PtxErrorKind::Version,
            format!(
                "PTX version {major}.{minor} is newer than {known_major}.{known_minor}, the newest that this driver \
                 reads; compile with an older toolkit"
            ),
        ));
    }
    if module.address_size != 64 {
        return Err(PtxError::at(at, PtxErrorKind::Unsupported, "only `.address_size 64` is supported"));
    }
    let (Some(target), Some((number, specific))) = (module.target.first(), target_number(module)) else {
        return Err(PtxError::at(at, PtxErrorKind::Syntax, "expected `.target`, the module has none"));
    };
    let version = module.version;
    if let Some(least) = least_version(number).filter(|least| version < *least) {
        let text = format!(
            "PTX version {}.{} does not know `{target}`, which needs {}.{}",
            version.0, version.1, least.0, least.1
        );
        return Err(PtxError::at(at, PtxErrorKind::Target, text));
    }
    let mine = options.compute_capability;
    let fits = if specific { number == mine } else { number <= mine };
    if number < 10 || !fits {
        return Err(PtxError::at(
            at,
            PtxErrorKind::Target,
            format!(
                "the module is for `{target}`, this device has compute capability {}.{}",
                mine / 10,
                mine % 10
            ),
        ));
    }
    Ok(())
}

fn least_version(target: u32) -> Option<(u32, u32)> {
    Some(match target {
        // Current drivers accept nothing older.
        10..=13 => (1, 4),
        20 | 21 => (2, 0),
        30 | 35 => (3, 0),
        32 | 50 => (4, 0),
        37 => (4, 1),
        52 => (4, 1),
        53 => (4, 2),
        60..=62 => (5, 0),
        70 => (6, 0),
        72 => (6, 1),
        75 => (6, 3),
        80 => (7, 0),
        86 => (7, 1),
        87 => (7, 4),
        89 | 90 => (7, 8),
        100 | 101 => (8, 6),
        120 => (8, 7),
        103 | 121 => (8, 8),
        88 | 110 => (9, 0),
        _ => return None,
    })
}

fn declare_variable<'m, 's>(
    context: &mut Context<'m, 's>,
    variable: &'m Variable<'s>,
    globals: &mut Vec<Global>,
    initialized: &mut Vec<(usize, &'m Variable<'s>)>,
) -> Result<(), Box<PtxError>> {
    let space = match variable.space {
        Space::Global => GlobalSpace::Global,
        Space::Const => GlobalSpace::Const,
        Space::Shared => {
            let index = declare_shared(context, variable)?;
            context.symbols.insert(variable.name, ModuleSymbol::Shared(index));
            return Ok(());
        }
        _ => {
            return Err(PtxError::at(
                variable.position,
                PtxErrorKind::Unsupported,
                format!(
                    "`{}`: variables of this state space are not supported at module scope",
                    variable.name
                ),
            ));
        }
    };
    let global = new_global(variable, space)?;
    // A declaration may precede the definition.
    let index = match context.symbols.get(variable.name) {
        Some(ModuleSymbol::Global(index)) => *index as usize,
        _ => globals.len(),
    };
    if index == globals.len() {
        globals.push(global);
        context.symbols.insert(variable.name, ModuleSymbol::Global(index as u32));
    } else if variable.linkage != Linkage::Extern {
        globals[index] = global;
    }
    if variable.initializer.is_some() {
        initialized.push((index, variable));
    }
    Ok(())
}

fn new_global(variable: &Variable<'_>, space: GlobalSpace) -> Result<Global, Box<PtxError>> {
    let (bytes, align) = layout(variable)?;
    Ok(Global {
        name: variable.name.to_owned(),
        space,
        size: bytes.unwrap_or(0),
        align,
        init: Vec::new(),
        relocations: Vec::new(),
        managed: variable.managed,
        external: variable.linkage == Linkage::Extern,
        visible: variable.linkage != Linkage::Internal,
    })
}

pub(super) fn declare_shared(
    context: &mut Context<'_, '_>,
    variable: &Variable<'_>,
) -> Result<u32, Box<PtxError>> {
    let shared = shared_layout(variable)?;
    context.shared.push(shared);
    Ok(context.shared.len() as u32 - 1)
}

fn declare_functions<'m, 's>(context: &mut Context<'m, 's>) {
    let module = context.module;
    for function in &module.functions {
        let index = match context.symbols.get(function.name) {
            Some(ModuleSymbol::Function(index)) => *index as usize,
            _ => {
                let index = context.names.len();
                context.names.push(function.name);
                context.bodies.push(None);
                context.symbols.insert(function.name, ModuleSymbol::Function(index as u32));
                index
            }
        };
        if function.body.is_some() {
            context.bodies[index] = Some(function);
        }
    }
    for (alias, aliasee) in &module.aliases {
        if let Some(symbol) = context.symbols.get(aliasee).copied() {
            context.symbols.insert(alias, symbol);
        }
    }
}

/// Returns the functions named by `mov` or by an initial value.
fn address_taken(context: &Context<'_, '_>, globals: &[Global]) -> Vec<u32> {
    fn visit<'s>(statements: &[Statement<'s>], found: &mut dyn FnMut(&'s str)) {
        for statement in statements {
            match statement {
                Statement::Block(inner) => visit(inner, found),
                Statement::Instruction(instruction) if instruction.opcode == "mov" => {
                    if let Some(ptx::Operand::Name(name)) = instruction.operands.get(1) {
                        found(name);
                    }
                }
                _ => {}
            }
        }
    }
    let mut is_taken = vec![false; context.module.functions.len()];
    let mut take = |index: usize| {
        if let Some(is_taken) = is_taken.get_mut(index) {
            *is_taken = true;
        }
    };
    for function in &context.module.functions {
        visit(function.body.as_deref().unwrap_or_default(), &mut |name| {
            if let Some(ModuleSymbol::Function(index)) = context.symbols.get(name) {
                take(*index as usize);
            }
        });
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
