//! Gives the names of all modules their meanings.
//!
//! A name that is neither visible, weak, common nor extern belongs to its module. All others are
//! shared by the modules: a definition that is visible replaces weak ones, the first of which
//! counts.

use super::initial::initial_value;
use super::symbols::{Context, Definition, Function, ModuleSymbol, Purpose, layout, shared_layout};
use super::{Global, GlobalSpace, PtxError, PtxErrorKind};
use crate::ptx::{Linkage, Module, Position, Space, Variable};
use std::collections::{HashMap, HashSet};

/// Maximum bytes of the variables in constant memory of all modules.
const MOST_CONSTANTS: u64 = 1 << 16;

/// A variable in global or constant memory, and the module of its declaration.
struct Declared<'m, 's> {
    variable: &'m Variable<'s>,
    input: usize,
    global: Global,
}

impl<'m, 's> Declared<'m, 's> {
    fn new(variable: &'m Variable<'s>, input: usize, space: GlobalSpace) -> Result<Self, Box<PtxError>> {
        let (bytes, align) = layout(variable)?;
        let global = Global {
            name: variable.name.to_owned(),
            space,
            size: bytes.unwrap_or(0),
            align,
            init: Vec::new(),
            relocations: Vec::new(),
            managed: variable.managed,
            external: variable.linkage == Linkage::Extern,
            visible: variable.linkage != Linkage::Internal,
        };
        Ok(Self { variable, input, global })
    }
}

/// Declares the variables and functions at module scope, and the variables in memory of all blocks
/// inside functions. Returns the variables in global and constant memory, with initial values.
pub(super) fn declare<'m, 's>(
    context: &mut Context<'m, 's>,
    inner: &[(usize, &'m Variable<'s>)],
) -> Result<Vec<Global>, Box<PtxError>> {
    let declarations =
        Declarations { context, globals: Vec::new(), shared: Vec::new(), exported: HashMap::new() };
    let globals = declarations.of_modules(inner)?;
    context.constants = (0..)
        .zip(&globals)
        .filter(|(_, declared)| declared.global.space == GlobalSpace::Const)
        .map(|(index, declared)| (index, declared.global.size))
        .collect();
    let bytes = context.constants.iter().fold(0u64, |sum, (_, bytes)| sum.saturating_add(*bytes));
    if let (true, Some((last, _))) = (bytes > MOST_CONSTANTS, context.constants.last()) {
        let text = format!("constants of {bytes} bytes; a module has at most {MOST_CONSTANTS}");
        return Err(PtxError::at(globals[*last as usize].variable.position, PtxErrorKind::Conflict, text));
    }
    let with_value = |Declared { variable, input, mut global }| {
        (global.init, global.relocations) = initial_value(&context.inputs[input], variable)?;
        global.size = global.size.max(global.init.len() as u64);
        Ok(global)
    };
    globals.into_iter().map(with_value).collect()
}

struct Declarations<'c, 'm, 's> {
    context: &'c mut Context<'m, 's>,
    globals: Vec<Declared<'m, 's>>,
    /// The declarations of the shared variables of the context.
    shared: Vec<&'m Variable<'s>>,
    /// The names that all modules share.
    exported: HashMap<&'s str, ModuleSymbol>,
}

impl<'m, 's> Declarations<'_, 'm, 's> {
    fn of_modules(
        mut self,
        inner: &[(usize, &'m Variable<'s>)],
    ) -> Result<Vec<Declared<'m, 's>>, Box<PtxError>> {
        for input in 0..self.context.inputs.len() {
            let module = self.context.inputs[input].module;
            let scope = Scope { input, exports: exports(module) };
            for variable in &module.variables {
                self.variable(&scope, variable)?;
            }
            self.functions(&scope);
        }
        self.aliases();
        if self.context.purpose == Purpose::Whole {
            // The assembler leaves other variables out, if they have no use.
            let open = |variable: &&Variable<'_>| {
                variable.linkage == Linkage::Extern && variable.dimensions.contains(&None)
            };
            if let Some(missing) = self.globals.iter().map(|declared| declared.variable).find(open) {
                return Err(undefined(missing));
            }
        }
        if self.context.purpose == Purpose::Linked {
            let shared = self.shared.iter().filter(|variable| !variable.dimensions.contains(&None));
            let declared = self.globals.iter().map(|declared| &declared.variable).chain(shared);
            if let Some(missing) = declared.into_iter().find(|variable| variable.linkage == Linkage::Extern) {
                return Err(undefined(missing));
            }
        }
        for (input, variable) in inner {
            let space = match variable.space {
                Space::Global => GlobalSpace::Global,
                Space::Const => GlobalSpace::Const,
                _ => continue,
            };
            self.context.inner.insert((variable.position, variable.name), self.globals.len() as u32);
            self.globals.push(Declared::new(variable, *input, space)?);
        }
        Ok(self.globals)
    }

    fn variable(&mut self, scope: &Scope<'s>, variable: &'m Variable<'s>) -> Result<(), Box<PtxError>> {
        let known = self.known(scope, variable.name);
        if let Some(ModuleSymbol::Function(function)) = known {
            // One of the two declarations has no use: the one without a definition.
            if self.context.functions[function as usize].definition.is_some() {
                return Ok(());
            }
        }
        let space = match variable.space {
            Space::Global => GlobalSpace::Global,
            Space::Const => GlobalSpace::Const,
            Space::Shared => {
                let shared = shared_layout(variable)?;
                let index = match known {
                    Some(ModuleSymbol::Shared(index)) => index as usize,
                    _ => self.shared.len(),
                };
                if index == self.shared.len() {
                    self.context.shared.push(shared);
                    self.shared.push(variable);
                } else if replaces(variable.linkage, self.shared[index].linkage) {
                    (self.context.shared[index], self.shared[index]) = (shared, variable);
                }
                self.name(scope, variable.name, variable.position, ModuleSymbol::Shared(index as u32));
                return Ok(());
            }
            _ => {
                let text = format!(
                    "`{}`: variables of this state space are not supported at module scope",
                    variable.name
                );
                return Err(PtxError::at(variable.position, PtxErrorKind::Unsupported, text));
            }
        };
        let declared = Declared::new(variable, scope.input, space)?;
        let index = match known {
            Some(ModuleSymbol::Global(index)) => index as usize,
            _ => self.globals.len(),
        };
        match self.globals.get_mut(index) {
            None => self.globals.push(declared),
            Some(known) => {
                // The largest of common variables counts.
                let larger = variable.linkage == Linkage::Common
                    && known.variable.linkage == Linkage::Common
                    && declared.global.size > known.global.size;
                if larger || replaces(variable.linkage, known.variable.linkage) {
                    *known = declared;
                }
            }
        }
        self.name(scope, variable.name, variable.position, ModuleSymbol::Global(index as u32));
        Ok(())
    }

    fn functions(&mut self, scope: &Scope<'s>) {
        let input = scope.input;
        for tree in &self.context.inputs[input].module.functions {
            let index = match self.known(scope, tree.name) {
                Some(ModuleSymbol::Function(index)) => index,
                // A declaration without use.
                Some(_) if tree.linkage == Linkage::Extern => continue,
                _ => {
                    self.context.functions.push(Function { tree, definition: None, is_extern: false });
                    self.context.functions.len() as u32 - 1
                }
            };
            self.name(scope, tree.name, tree.position, ModuleSymbol::Function(index));
            let function = &mut self.context.functions[index as usize];
            function.is_extern |= tree.linkage == Linkage::Extern;
            let known = function.definition;
            if tree.body.is_some() && known.is_none_or(|known| replaces(tree.linkage, known.tree.linkage)) {
                function.definition = Some(Definition { tree, input });
            }
        }
    }

    fn aliases(&mut self) {
        let mut aliases = HashMap::new();
        for input in &self.context.inputs {
            for (alias, aliasee) in &input.module.aliases {
                if let (Some(alias), Some(aliasee)) = (input.symbols.get(alias), input.symbols.get(aliasee)) {
                    aliases.insert(alias.0, aliasee.0);
                }
            }
        }
        for (symbol, _) in self.context.inputs.iter_mut().flat_map(|input| input.symbols.values_mut()) {
            *symbol = aliases.get(symbol).copied().unwrap_or(*symbol);
        }
    }

    fn known(&self, scope: &Scope<'s>, name: &str) -> Option<ModuleSymbol> {
        match scope.exports.contains(name) {
            true => self.exported.get(name).copied(),
            false => self.context.inputs[scope.input].symbols.get(name).map(|(symbol, _)| *symbol),
        }
    }

    fn name(&mut self, scope: &Scope<'s>, name: &'s str, position: Position, symbol: ModuleSymbol) {
        let named = self.context.inputs[scope.input].symbols.entry(name).or_insert((symbol, position));
        named.0 = symbol;
        if scope.exports.contains(name) {
            self.exported.insert(name, symbol);
        }
    }
}

fn undefined(variable: &Variable<'_>) -> Box<PtxError> {
    let text = format!("the variable `{}` is declared and never defined", variable.name);
    PtxError::at(variable.position, PtxErrorKind::Unresolved, text)
}

/// The module whose names are declared.
struct Scope<'s> {
    input: usize,
    exports: HashSet<&'s str>,
}

/// Returns the names of the variables that belong to the module alone, also if it declares them as
/// `.extern` later.
pub(super) fn own_variables<'s>(module: &Module<'s>) -> HashSet<&'s str> {
    let own = module.variables.iter().filter(|variable| variable.linkage == Linkage::Internal);
    own.map(|variable| variable.name).collect()
}

/// Returns the names of a module that other modules share.
fn exports<'s>(module: &Module<'s>) -> HashSet<&'s str> {
    let own = own_variables(module);
    let variables = module.variables.iter().filter(|variable| !own.contains(variable.name));
    let variables = variables.map(|variable| (variable.name, variable.linkage));
    let functions = module.functions.iter().map(|function| (function.name, function.linkage));
    let exported = variables.chain(functions).filter(|(_, linkage)| *linkage != Linkage::Internal);
    exported.map(|(name, _)| name).collect()
}

/// True if a declaration counts instead of an earlier one.
pub(super) fn replaces(linkage: Linkage, earlier: Linkage) -> bool {
    let strength = |linkage| match linkage {
        Linkage::Extern => 0,
        Linkage::Weak | Linkage::Common => 1,
        Linkage::Internal | Linkage::Visible => 2,
    };
    strength(linkage) > strength(earlier)
}

#[cfg(test)]
mod tests {
    use crate::program::{LoadOptions, Program, PtxErrorKind};

    fn module(version: &str, target: &str, text: &str) -> String {
        format!(".version {version}\n.target {target}\n.address_size 64\n{text}\n")
    }

    fn link(inputs: &[String]) -> Result<Program, (PtxErrorKind, u32)> {
        let inputs: Vec<_> = inputs.iter().map(String::as_str).collect();
        Program::link(&inputs, &LoadOptions::default()).map_err(|error| (error.kind, error.line))
    }

    #[test]
    fn a_visible_definition_replaces_weak_ones_and_the_first_of_these_counts() {
        let variables = ["weak 5", "weak 6", "visible 7", "weak 8"];
        for (count, value) in [(1, 5), (2, 5), (3, 7), (4, 7)] {
            let inputs = variables.map(|variable| {
                let (linkage, value) = variable.split_once(' ').unwrap();
                module("7.0", "sm_75", &format!(".{linkage} .global .u32 g = {value};"))
            });
            let program = link(&inputs[..count]).unwrap();
            assert_eq!(program.globals().len(), 1);
            assert_eq!(program.globals()[0].init, u32::to_le_bytes(value));
        }
    }

    #[test]
    fn each_input_keeps_its_version_and_target() {
        let shuffle = ".visible .entry old() { .reg .b32 %r; shfl.idx.b32 %r, 1, 0, 31; ret; }";
        let reduction = ".visible .entry new() { .reg .b32 %r; redux.sync.add.s32 %r, 1, -1; ret; }";
        let inputs = [module("6.0", "sm_52", shuffle), module("7.0", "sm_80", reduction)];
        for inputs in [inputs.clone(), [inputs[1].clone(), inputs[0].clone()]] {
            assert_eq!(link(&inputs).unwrap().kernels().len(), 2);
        }
        let alike = [inputs[0].clone(), module("6.0", "sm_52", reduction)];
        assert_eq!(link(&alike).err(), Some((PtxErrorKind::Syntax, 8)));
    }

    #[test]
    fn variables_that_no_input_defines_are_named() {
        for missing in [".extern .global .u32 g;", ".extern .shared .u32 g[2];"] {
            let inputs = [module("7.0", "sm_75", ""), module("7.0", "sm_75", missing)];
            assert_eq!(link(&inputs).err(), Some((PtxErrorKind::Unresolved, 8)), "{missing}");
            let defined = module("7.0", "sm_75", &missing.replace("extern", "visible"));
            link(&[inputs[0].clone(), inputs[1].clone(), defined]).unwrap();
        }
        link(&[module("7.0", "sm_75", ".extern .shared .b8 g[];")]).unwrap();
    }

    #[test]
    fn constants_of_all_inputs_have_a_limit() {
        let half = |name| module("7.0", "sm_75", &format!(".const .u32 {name}[8192];"));
        link(&[half("a"), half("a")]).unwrap();
        let one_more = module("7.0", "sm_75", ".const .u8 b;");
        assert_eq!(link(&[half("a"), half("a"), one_more]).err(), Some((PtxErrorKind::Conflict, 12)));
    }
}
