//! The decoder of a kernel, and its symbols.

use super::form::{Form, Role, Signature};
use super::scope::Scope;
use super::unit::{Spilled, Unit};
use crate::ordered::Ordered;
use crate::program::instruction::{Condition, Constant, Instruction, Op, SystemCall};
use crate::program::symbols::{Context, Input, ModuleSymbol, SharedVariable};
use crate::program::types::Type;
use crate::program::{MOST_LOCAL, Origin, PtxError, PtxErrorKind, RowKind};
use crate::ptx::{self, Position, Statement};
use crate::semantics::{Predicate, Register, Width};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;

/// Maximum number of 32-bit registers, and of predicates, of a kernel with its functions: as many
/// as fit into the local memory of a thread. A block of 1024 threads then takes 512 MiB.
pub(super) const MOST_ROWS: u32 = MOST_LOCAL / 4;

pub(super) type Decoded<T> = Result<T, Box<PtxError>>;

/// Meaning of a name inside a function.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Symbol<'s> {
    Register {
        register: Register,
        ty: Type,
    },
    Predicate(Predicate),
    /// `%r<count>`: registers numbered from zero, which get rows when they are first named.
    Registers {
        declaration: u32,
        ty: Type,
        count: u32,
    },
    Predicates {
        declaration: u32,
        count: u32,
    },
    /// Parameter of a kernel, at an offset in the parameter buffer.
    KernelParam {
        offset: u32,
    },
    /// Parameter or result of a device function or of a call: one row per word. If its address is
    /// taken, it has a copy in the function's frame.
    ParamRows {
        first: Register,
        words: u32,
        form: Form,
        role: Role,
        local: Option<u32>,
    },
    /// A register with elements, declared with `.v2` or `.v4`.
    Vector {
        first: Register,
        ty: Type,
        elements: u32,
    },
    /// `%v<count>` of vector registers.
    Vectors {
        first: Register,
        ty: Type,
        elements: u32,
        count: u32,
    },
    /// `element`: size of an element of an array, 0 for other variables.
    Local {
        offset: u32,
        element: u32,
    },
    Shared {
        index: u32,
        element: u32,
    },
    Global {
        index: u32,
        element: u32,
    },
    Label(u32),
    Targets(Vec<&'s str>),
    /// The form of a call by address, by number.
    Prototype(u32),
}

impl Symbol<'_> {
    pub(super) fn is_wide(&self) -> bool {
        matches!(self, Symbol::Register { ty: Type::B128, .. })
    }
}

pub(in crate::program) struct Decoder<'c, 'm, 's> {
    pub(super) context: &'c Context<'m, 's>,
    /// The module of the function being decoded.
    pub(super) input: &'c Input<'m, 's>,
    pub(super) code: Vec<Instruction>,
    pub(super) origins: Vec<Origin>,
    pub(super) row_kinds: RefCell<Vec<RowKind>>,
    /// The rows of the numbered registers named so far, by declaration and number.
    pub(super) numbered: RefCell<Ordered<Register>>,
    pub(super) numbered_predicates: RefCell<Ordered<Predicate>>,
    pub(super) declarations: u32,
    pub(super) predicates: Cell<u32>,
    pub(super) caches: u32,
    pub(super) constants: HashMap<(Width, Constant), Register>,
    pub(super) shared: Vec<SharedVariable>,
    /// The shared variable for memory that is reserved for libraries.
    pub(super) reserved: Option<u32>,
    pub(super) system_calls: Vec<SystemCall>,
    pub(super) units: Vec<Unit>,
    pub(super) by_module_index: HashMap<u32, u32>,

    // Names of the function being decoded.
    pub(super) scopes: Vec<Scope<'s>>,
    labels: Vec<Option<u32>>,
    pub(super) prototypes: Vec<Signature<'m, 's>>,
    pub(super) frame: u32,
    /// Results in registers, and the rows in which they are returned.
    pub(super) results: Vec<(Symbol<'s>, Register)>,
    /// Rows of results whose address is taken, and the offset of each in the frame.
    pub(super) framed_results: Vec<(Register, u32)>,
    pub(super) in_kernel: bool,
    pub(super) guard: Condition,
    source: Option<(u32, u32)>,
    pub(super) position: Position,
}

impl<'c, 'm, 's> Decoder<'c, 'm, 's> {
    pub(super) fn new(context: &'c Context<'m, 's>, input: usize, position: Position) -> Self {
        Decoder {
            context,
            input: &context.inputs[input],
            code: Vec::new(),
            origins: Vec::new(),
            row_kinds: RefCell::default(),
            numbered: RefCell::default(),
            numbered_predicates: RefCell::default(),
            declarations: 0,
            // The first predicate is always true, the second is the carry flag.
            predicates: Cell::new(2),
            caches: 0,
            constants: HashMap::new(),
            shared: context.shared.clone(),
            reserved: None,
            system_calls: Vec::new(),
            units: Vec::new(),
            by_module_index: HashMap::new(),
            scopes: Vec::new(),
            labels: Vec::new(),
            prototypes: Vec::new(),
            frame: 0,
            results: Vec::new(),
            framed_results: Vec::new(),
            in_kernel: true,
            guard: Condition::ALWAYS,
            source: None,
            position,
        }
    }

    pub(super) fn body(
        &mut self,
        tree: &'m ptx::Function<'s>,
        scope: HashMap<&'s str, Symbol<'s>>,
        spilled: &[Spilled<'s>],
    ) -> Decoded<()> {
        self.scopes = vec![Scope::of(scope)];
        self.labels.clear();
        self.prototypes.clear();
        self.frame = 0;
        self.results.clear();
        self.framed_results.clear();
        self.source = None;
        let first = self.code.len();
        self.guard = Condition::ALWAYS;
        self.origin(tree.position, tree.name);
        spilled.iter().for_each(|param| self.spill(param));
        if !self.in_kernel {
            self.receive(tree)?;
        }
        self.statements(tree.body.as_deref().unwrap_or_default())?;
        // The end of the body is a return.
        self.guard = Condition::ALWAYS;
        self.origin(tree.position, "}");
        self.leave();
        let labels = &self.labels;
        let resolve = |label: &mut u32| *label = labels.get(*label as usize).copied().flatten().unwrap_or(0);
        for instruction in &mut self.code[first..] {
            match &mut instruction.op {
                Op::Branch { target } => resolve(target),
                Op::BranchIndexed { targets, .. } => targets.iter_mut().for_each(resolve),
                _ => {}
            }
        }
        Ok(())
    }

    /// Decodes a block. The statements of a body have the scope of its parameters instead.
    fn block(&mut self, statements: &'m [Statement<'s>]) -> Decoded<()> {
        self.scopes.push(Scope::default());
        self.statements(statements)?;
        self.scopes.pop();
        Ok(())
    }

    fn statements(&mut self, statements: &'m [Statement<'s>]) -> Decoded<()> {
        for statement in statements {
            let (name, symbol) = match statement {
                Statement::Label(position, name) => {
                    self.position = *position;
                    self.labels.push(None);
                    (*name, Symbol::Label(self.labels.len() as u32 - 1))
                }
                Statement::Targets { name, targets } => (*name, Symbol::Targets(targets.clone())),
                Statement::Prototype { name, params, returns } => {
                    self.prototypes.push(Signature { params, returns });
                    (*name, Symbol::Prototype(self.prototypes.len() as u32 - 1))
                }
                _ => continue,
            };
            let scope = self.scopes.last_mut();
            if scope.is_some_and(|scope| scope.insert(name, symbol).is_some()) {
                return Err(self.declared_twice(name));
            }
        }
        for statement in statements {
            match statement {
                Statement::Label(_, name) => self.label(name),
                Statement::Variable(variable) => self.declare(variable)?,
                Statement::Instruction(instruction) => self.instruction(instruction)?,
                Statement::Block(inner) => self.block(inner)?,
                Statement::Location { file, line } => {
                    self.source = Some((file.wrapping_add(self.input.first_file), *line));
                }
                Statement::Targets { targets, .. } => self.check_targets(targets)?,
                Statement::Pragma(_) | Statement::Prototype { .. } => {}
            }
        }
        Ok(())
    }

    /// Refuses a list of names that are neither labels nor functions.
    fn check_targets(&self, names: &[&'s str]) -> Decoded<()> {
        let is_function =
            |name: &str| matches!(self.input.symbol(name, self.position), Some(ModuleSymbol::Function(_)));
        let is_target = |name: &str| match self.lookup(name) {
            Some(symbol) => matches!(symbol, Symbol::Label(_)),
            None => is_function(name),
        };
        match names.iter().find(|name| !is_target(name)) {
            Some(wrong) => Err(self.invalid(format!("`{wrong}` is neither a label nor a function"))),
            None => Ok(()),
        }
    }

    fn label(&mut self, name: &'s str) {
        if let Some(Symbol::Label(label)) = self.scopes.last().and_then(|scope| scope.get(name)) {
            self.labels[*label as usize] = Some(self.code.len() as u32);
        }
    }

    pub(super) fn declared_twice(&self, name: &str) -> Box<PtxError> {
        self.invalid(format!("`{name}` is declared twice in this scope"))
    }

    pub(super) fn origin(&mut self, position: Position, text: &str) {
        self.position = position;
        self.origins.push(Origin { line: position.line, text: text.into(), source: self.source });
    }

    pub(super) fn emit(&mut self, op: Op) {
        let origin = self.origins.len() as u32 - 1;
        self.code.push(Instruction { guard: self.guard, op, origin });
    }

    pub(super) fn new_cache(&mut self) -> u32 {
        self.caches += 1;
        self.caches - 1
    }

    /// An error in the text, which no device runs.
    pub(super) fn invalid(&self, text: impl Into<String>) -> Box<PtxError> {
        PtxError::at(self.position, PtxErrorKind::Syntax, text)
    }

    pub(super) fn unsupported(&self, what: impl Into<String>) -> Box<PtxError> {
        let what: String = what.into();
        PtxError::at(
            self.position,
            PtxErrorKind::Unsupported,
            format!("{what}: this is not supported by the software device"),
        )
    }
}
