//! Module scope: variables with their initial values, symbols, kernels.

use super::decode::decode_kernel;
use super::types::Type;
use super::{
    Global, GlobalSpace, LoadOptions, Program, PtxError, PtxErrorKind, Relocation, RelocationTarget,
    variables,
};
use crate::ptx;
use crate::ptx::{FunctionKind, Initializer, Linkage, Position, Space, Statement, Variable};
use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The newest PTX version that the decoder was written for.
const NEWEST_VERSION: (u32, u32) = (9, 5);

/// The most that a module may become, in instructions: functions count once for each kernel that may call them, and so
/// do shared variables, rows of registers and targets of indexed branches. Some 100 MB of text that is not repeated.
const MOST_PARTS: u32 = 1 << 22;

/// What a name at module scope means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ModuleSymbol {
    /// Index of a global or constant variable.
    Global(u32),
    /// Index of a shared variable.
    Shared(u32),
    /// Index of a function.
    Function(u32),
}

/// Size and alignment of a shared variable; `bytes` is `None` where the launch decides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct SharedVariable {
    pub(super) bytes: Option<u32>,
    pub(super) align: u32,
}

/// The module as the decoder of kernels sees it.
pub(super) struct Context<'m, 's> {
    pub(super) module: &'m ptx::Module<'s>,
    pub(super) symbols: HashMap<&'s str, ModuleSymbol>,
    pub(super) shared: Vec<SharedVariable>,
    /// Whether the target has accesses of 32 bytes.
    pub(super) has_wide_access: bool,
    /// The variables in constant memory: which, and their bytes.
    pub(super) constants: Vec<(u32, u64)>,
    /// Function index to the tree that has its body, where there is one.
    pub(super) bodies: Vec<Option<&'m ptx::Function<'s>>>,
    pub(super) names: Vec<&'s str>,
    /// Functions that a pointer may point at.
    pub(super) address_taken: Vec<u32>,
    pub(super) files: Arc<[(u32, String)]>,
    /// The variables of global and constant memory inside functions, by where they stand.
    pub(super) inner: HashMap<Position, u32>,
    /// The names of vector registers, and of their elements.
    pub(super) elements: HashMap<&'s str, Vec<&'s str>>,
    /// What is left of the parts that a module may have.
    parts: Cell<u32>,
}

impl Context<'_, '_> {
    /// Counts what the module becomes, which may be much longer than its text.
    pub(super) fn count(&self, parts: usize, at: Position) -> Result<(), PtxError> {
        let left = u32::try_from(parts).ok().and_then(|parts| self.parts.get().checked_sub(parts));
        self.parts.set(left.ok_or_else(|| {
            let text = format!("the module becomes more than {MOST_PARTS} instructions and registers");
            PtxError::at(at, PtxErrorKind::Unsupported, text)
        })?);
        Ok(())
    }
}

/// Bytes and alignment of a declared variable; `None` for an array without size.
pub(super) fn layout(variable: &Variable<'_>) -> Result<(Option<u64>, u64), PtxError> {
    let refuse = |message: String| PtxError::at(variable.position, PtxErrorKind::Unsupported, message);
    let ty = Type::parse(variable.ty).filter(|ty| *ty != Type::Pred).ok_or_else(|| {
        refuse(format!("variables of type `.{}` are not supported by the software device", variable.ty))
    })?;
    let element = u64::from(ty.bytes()) * u64::from(variable.vector);
    let mut bytes = Some(element);
    for dimension in &variable.dimensions {
        bytes = match (bytes, dimension) {
            (Some(bytes), Some(count)) => Some(
                bytes
                    .checked_mul(*count)
                    .filter(|bytes| *bytes < 1 << 48)
                    .ok_or_else(|| refuse(format!("`{}` is larger than any memory", variable.name)))?,
            ),
            _ => None,
        };
    }
    let align = variable.align.map_or(element, u64::from).max(1);
    if !align.is_power_of_two() || align > 4096 {
        return Err(refuse(format!("the alignment {align} is not a power of two up to 4096")));
    }
    Ok((bytes, align))
}

pub(super) fn load(text: &str, options: &LoadOptions) -> Result<Program, PtxError> {
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
) -> Result<Program, PtxError> {
    let elements = |names: &'s [String]| names.iter().map(String::as_str).collect();
    let mut context = Context {
        module,
        symbols: HashMap::new(),
        shared: Vec::new(),
        constants: Vec::new(),
        has_wide_access: target_number(module).is_some_and(|(number, _)| number >= 100),
        bodies: Vec::new(),
        names: Vec::new(),
        address_taken: Vec::new(),
        files: module.files.iter().map(|(index, path)| (*index, (*path).to_owned())).collect(),
        inner: HashMap::new(),
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
        context.inner.insert(variable.position, globals.len() as u32);
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

    let mut kernels = Vec::new();
    for function in &module.functions {
        if function.kind == FunctionKind::Entry && function.body.is_some() {
            kernels.push(Arc::new(decode_kernel(&context, function)?));
        }
    }
    Ok(Program {
        version: module.version,
        target: module.target.first().copied().unwrap_or_default().to_owned(),
        kernels,
        globals,
        functions: context.names.iter().map(|name| (*name).to_owned()).collect(),
    })
}

/// The number of the target's architecture, and whether it is for this one alone.
fn target_number(module: &ptx::Module<'_>) -> Option<(u32, bool)> {
    let number = module.target.first()?.trim_start_matches("sm_").trim_start_matches("compute_");
    let specific = number.ends_with(['a', 'f']);
    Some((number.trim_end_matches(['a', 'f']).parse().unwrap_or(0), specific))
}

fn check_header(module: &ptx::Module<'_>, options: &LoadOptions) -> Result<(), PtxError> {
    let at = module.version_position;
    if module.version > NEWEST_VERSION {
        let ((major, minor), (known_major, known_minor)) = (module.version, NEWEST_VERSION);
        return Err(PtxError::at(
            at,
            PtxErrorKind::Version,
            format!(
                "PTX version {major}.{minor} is newer than {known_major}.{known_minor}, the newest that the software \
                 device knows; compile with an older toolkit"
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

/// The first version of PTX that knows a target.
fn least_version(target: u32) -> Option<(u32, u32)> {
    Some(match target {
        // Drivers of today take nothing older.
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
) -> Result<(), PtxError> {
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

fn new_global(variable: &Variable<'_>, space: GlobalSpace) -> Result<Global, PtxError> {
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
) -> Result<u32, PtxError> {
    let shared = shared_layout(variable)?;
    context.shared.push(shared);
    Ok(context.shared.len() as u32 - 1)
}

pub(super) fn shared_layout(variable: &Variable<'_>) -> Result<SharedVariable, PtxError> {
    let (bytes, align) = layout(variable)?;
    let bytes = bytes
        .map(|bytes| {
            u32::try_from(bytes).map_err(|_| {
                PtxError::at(
                    variable.position,
                    PtxErrorKind::Unsupported,
                    "more shared memory than any block has",
                )
            })
        })
        .transpose()?;
    Ok(SharedVariable { bytes, align: align as u32 })
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

/// Functions named by `mov` or by an initial value.
fn address_taken(context: &Context<'_, '_>, globals: &[Global]) -> Vec<u32> {
    fn visit<'s>(statements: &[Statement<'s>], found: &mut impl FnMut(&'s str)) {
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
    let mut taken = HashSet::new();
    for function in &context.module.functions {
        visit(function.body.as_deref().unwrap_or_default(), &mut |name| {
            if let Some(ModuleSymbol::Function(index)) = context.symbols.get(name) {
                taken.insert(*index);
            }
        });
    }
    for relocation in globals.iter().flat_map(|global| &global.relocations) {
        if let RelocationTarget::Function(index) = relocation.target {
            taken.insert(index as u32);
        }
    }
    let mut taken: Vec<u32> = taken.into_iter().collect();
    taken.sort_unstable();
    taken
}

fn initial_value(
    context: &Context<'_, '_>,
    variable: &Variable<'_>,
) -> Result<(Vec<u8>, Vec<Relocation>), PtxError> {
    let Some(initializer) = &variable.initializer else { return Ok(Default::default()) };
    let refuse = |message: &str| PtxError::at(variable.position, PtxErrorKind::Unsupported, message);
    let ty = Type::parse(variable.ty).ok_or_else(|| refuse("this type cannot be initialised"))?;
    let mut bytes = Vec::new();
    let mut relocations = Vec::new();
    // Strides of each dimension, so that a nested list shorter than its dimension leaves zeros.
    let mut strides = vec![u64::from(ty.bytes())];
    let mut extents: Vec<u64> = variable.dimensions.iter().rev().filter_map(|dimension| *dimension).collect();
    if variable.vector > 1 {
        extents.insert(0, u64::from(variable.vector));
    }
    for extent in extents {
        let last = strides.last().copied().unwrap_or(1);
        strides.push(last.saturating_mul(extent));
    }
    strides.pop();
    flatten(context, initializer, ty, &strides, variable.position, &mut bytes, &mut relocations)?;
    if let (Some(size), _) = layout(variable)? {
        if bytes.len() as u64 > size {
            return Err(refuse("the initial value is larger than the variable"));
        }
    }
    Ok((bytes, relocations))
}

fn flatten(
    context: &Context<'_, '_>,
    initializer: &Initializer<'_>,
    ty: Type,
    strides: &[u64],
    position: Position,
    bytes: &mut Vec<u8>,
    relocations: &mut Vec<Relocation>,
) -> Result<(), PtxError> {
    let size = ty.bytes() as usize;
    let refuse = |message: String| PtxError::at(position, PtxErrorKind::Unsupported, message);
    let mut value = |bits: u64| bytes.extend_from_slice(&bits.to_le_bytes()[..size.min(8)]);
    match initializer {
        Initializer::List(items) => {
            let (stride, inner) = strides.split_last().unwrap_or((&1, &[]));
            let start = bytes.len() as u64;
            for (i, item) in items.iter().enumerate() {
                let nested = matches!(item, Initializer::List(_));
                if nested {
                    let at = start + i as u64 * stride;
                    if at > 1 << 32 {
                        return Err(refuse("the initial value is too large".into()));
                    }
                    bytes.resize(at as usize, 0);
                }
                flatten(
                    context,
                    item,
                    ty,
                    if nested { inner } else { strides },
                    position,
                    bytes,
                    relocations,
                )?;
            }
        }
        Initializer::Int(bits) => match ty {
            Type::F32 => value(u64::from((*bits as i64 as f32).to_bits())),
            Type::F64 => value((*bits as i64 as f64).to_bits()),
            _ => value(*bits),
        },
        Initializer::Double(number) => match ty {
            Type::F32 | Type::B32 => value(u64::from((*number as f32).to_bits())),
            Type::F64 | Type::B64 => value(number.to_bits()),
            _ => return Err(refuse("a floating-point initial value for an integer".into())),
        },
        Initializer::Single(bits) => match ty {
            Type::F64 => value(f64::from(f32::from_bits(*bits)).to_bits()),
            _ => value(u64::from(*bits)),
        },
        Initializer::Address { symbol, offset, mask, position, generic: _ } => {
            // Addresses of global memory are generic addresses already.
            let target = match context.symbols.get(symbol) {
                Some(ModuleSymbol::Global(index)) => RelocationTarget::Global(*index as usize),
                Some(ModuleSymbol::Function(index)) => RelocationTarget::Function(*index as usize),
                Some(ModuleSymbol::Shared(_)) => {
                    let message = "the address of a shared variable as initial value is not supported";
                    return Err(PtxError::at(*position, PtxErrorKind::Unsupported, message));
                }
                None => {
                    let message = format!("`{symbol}` is not declared");
                    return Err(PtxError::at(*position, PtxErrorKind::Unresolved, message));
                }
            };
            relocations.push(Relocation {
                offset: bytes.len() as u64,
                bytes: size as u32,
                target,
                addend: *offset,
                mask: *mask,
            });
            bytes.resize(bytes.len() + size, 0);
        }
    }
    Ok(())
}
