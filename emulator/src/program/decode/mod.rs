//! Function bodies to instructions.
//!
//! A kernel and every function that it may call are decoded into one list. Names are resolved by scope; immediates,
//! parameters, addresses and special registers become constant rows, so that each source of an instruction is a row.

mod arithmetic;
mod asynchronous;
mod cluster;
mod control;
mod conversion;
mod logic;
mod matrix;
mod memory;
mod modifiers;
mod operands;
mod parameters;
mod stack;
mod texture;
mod video;

use super::instruction::{Condition, Constant, Instruction, Op};
use super::memory::{Access, Address, Order};
use super::module::{Context, SharedVariable, layout, shared_layout};
use super::types::Type;
use super::{Function, Kernel, MOST_LOCAL, Origin, Param, PtxError, PtxErrorKind, RowKind, flow};
use crate::program::slot::Slot;
use crate::ptx;
use crate::ptx::{Position, Space, Statement, Variable};
use crate::semantics::{Predicate, Register, Width};
use modifiers::Modifiers;
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};

/// The most registers of 32 bits, and predicates, that a kernel may name with its functions: what would fit into the
/// local memory of a thread. A block of 1024 threads then holds 512 MiB.
const MOST_ROWS: u32 = MOST_LOCAL / 4;

type Decoded<T> = Result<T, PtxError>;

/// What a name inside a function means.
#[derive(Clone, PartialEq, Debug)]
enum Symbol<'s> {
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
    /// Parameter of a kernel: offset in the parameter buffer.
    KernelParam {
        offset: u32,
    },
    /// Parameter or result of a device function or of a call: a row a word. Where its address is taken, it has a copy
    /// in the function's frame.
    ParamRows {
        first: Register,
        words: u32,
        local: Option<u32>,
    },
    /// A register with elements, declared with `.v2` or `.v4`.
    Vector {
        first: Register,
        ty: Type,
        elements: u32,
    },
    /// `%v<count>` of such registers.
    Vectors {
        first: Register,
        ty: Type,
        elements: u32,
        count: u32,
    },
    /// `element`: bytes of an element of an array, 0 if it is none.
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
    Prototype,
}

impl Symbol<'_> {
    /// Whether it is a register of 128 bits.
    fn is_wide(&self) -> bool {
        matches!(self, Symbol::Register { ty: Type::B128, .. })
    }
}

/// A function that waits to be decoded, or has been.
struct Unit {
    module_index: u32,
    params: Vec<(Register, u32)>,
    returns: Vec<(Register, u32)>,
    function: Function,
}

pub(super) struct Decoder<'c, 'm, 's> {
    context: &'c Context<'m, 's>,
    code: Vec<Instruction>,
    origins: Vec<Origin>,
    row_kinds: RefCell<Vec<RowKind>>,
    /// The rows of numbered registers that were named, by declaration and number.
    numbered: RefCell<HashMap<(u32, u32), Register>>,
    numbered_predicates: RefCell<HashMap<(u32, u32), Predicate>>,
    declarations: u32,
    predicates: Cell<u32>,
    caches: u32,
    constants: HashMap<(Width, Constant), Register>,
    shared: Vec<SharedVariable>,
    /// The shared variable for memory that is kept for libraries.
    reserved: Option<u32>,
    units: Vec<Unit>,
    by_module_index: HashMap<u32, u32>,

    // Of the function being decoded.
    scopes: Vec<HashMap<&'s str, Symbol<'s>>>,
    labels: Vec<Option<u32>>,
    frame: u32,
    /// Results that are registers, and the rows that they go back in.
    results: Vec<(Symbol<'s>, Register)>,
    in_kernel: bool,
    /// The kernel says that its blocks form clusters.
    explicit_cluster: bool,
    guard: Condition,
    source: Option<(u32, u32)>,
    position: Position,
}

/// Decodes a kernel and all that it may call.
pub(super) fn decode_kernel<'m, 's>(
    context: &Context<'m, 's>,
    tree: &'m ptx::Function<'s>,
) -> Decoded<Kernel> {
    context.count(context.shared.len(), tree.position)?;
    let mut decoder = Decoder {
        context,
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
        units: Vec::new(),
        by_module_index: HashMap::new(),
        scopes: Vec::new(),
        labels: Vec::new(),
        frame: 0,
        results: Vec::new(),
        in_kernel: true,
        explicit_cluster: tree.directives.iter().any(|(name, _)| *name == "explicitcluster"),
        guard: Condition::ALWAYS,
        source: None,
        position: tree.position,
    };
    decoder.kernel(tree)
}

impl<'c, 'm, 's> Decoder<'c, 'm, 's> {
    fn kernel(&mut self, tree: &'m ptx::Function<'s>) -> Decoded<Kernel> {
        let mut params = Vec::new();
        let mut scope = HashMap::new();
        let mut end = 0u32;
        for variable in &tree.params {
            let param = kernel_param(variable, end)?;
            end = param.offset + param.size;
            scope.insert(variable.name, Symbol::KernelParam { offset: param.offset });
            params.push(param);
        }
        let (max_threads, required_threads) = self.launch_bounds(tree)?;
        self.body(tree, scope, &[])?;
        let frame = self.frame;
        let mut next = 0;
        while next < self.units.len() {
            self.unit(next)?;
            next += 1;
        }
        let (shared_offsets, static_shared) = self.place_shared()?;
        let ranks = flow::ranks(&self.code, self.units.iter().map(|unit| unit.function.entry));
        let mut constants: Vec<_> =
            self.constants.drain().map(|((width, constant), register)| (register, width, constant)).collect();
        constants.sort_unstable_by_key(|(register, ..)| register.0);
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Ok(Kernel {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            name: tree.name.to_owned(),
            params,
            static_shared,
            max_threads,
            required_threads,
            code: std::mem::take(&mut self.code),
            origins: std::mem::take(&mut self.origins),
            files: self.context.files.clone(),
            ranks,
            functions: self.units.drain(..).map(|unit| unit.function).collect(),
            by_module_index: std::mem::take(&mut self.by_module_index),
            constants,
            rows: self.rows(),
            row_kinds: self.row_kinds.take(),
            predicates: self.predicates.get(),
            caches: self.caches,
            shared_offsets,
            frame,
            unwritten: std::sync::OnceLock::new(),
            runner: Slot::default(),
        })
    }

    fn launch_bounds(&self, tree: &ptx::Function<'_>) -> Decoded<(Option<u32>, Option<[u32; 3]>)> {
        let mut most = None;
        let mut required = None;
        for (name, values) in &tree.directives {
            let product = values.iter().fold(1u64, |product, value| product.saturating_mul(*value));
            let product = u32::try_from(product).unwrap_or(u32::MAX);
            match *name {
                "maxntid" => most = Some(product),
                "reqntid" => {
                    most = Some(product);
                    let mut dims = [1; 3];
                    for (dim, value) in dims.iter_mut().zip(values) {
                        *dim = u32::try_from(*value).unwrap_or(u32::MAX);
                    }
                    required = Some(dims);
                }
                "explicitcluster" => {}
                "reqnctapercluster" if product <= 1 => {}
                "reqnctapercluster" => {
                    return Err(PtxError::at(
                        tree.position,
                        PtxErrorKind::Unsupported,
                        "clusters of more than one block are not supported by the software device; \
                         CUPRUM_EMULATOR_COMPUTE_CAPABILITY=8.9 makes most compilers avoid them",
                    ));
                }
                // Hints about registers, residency and calling convention.
                "minnctapersm"
                | "maxnctapersm"
                | "maxnreg"
                | "noreturn"
                | "abi_preserve"
                | "abi_preserve_control"
                | "maxclusterrank" => {}
                other => {
                    return Err(PtxError::at(
                        tree.position,
                        PtxErrorKind::Unsupported,
                        format!("`.{other}` is not supported by the software device"),
                    ));
                }
            }
        }
        Ok((most, required))
    }

    /// Decodes the body of a device function that a call asked for.
    fn unit(&mut self, index: usize) -> Decoded<()> {
        let unit = &self.units[index];
        let module_index = unit.module_index;
        let Some(tree) = self.context.bodies[module_index as usize] else {
            return Err(self.unsupported("a function without a body"));
        };
        let mut scope = HashMap::new();
        for (variables, rows) in [(&tree.params, &unit.params), (&tree.returns, &unit.returns)] {
            for (variable, (first, words)) in variables.iter().zip(rows) {
                if variable.space == Space::Register {
                    continue;
                }
                scope.insert(variable.name, Symbol::ParamRows { first: *first, words: *words, local: None });
            }
        }
        let mut named = HashSet::new();
        addresses_named(tree.body.as_deref().unwrap_or_default(), &mut named);
        let mut taken = Vec::new();
        for (variable, (first, words)) in tree.params.iter().zip(&unit.params) {
            if named.contains(variable.name) {
                let (_, align) = layout(variable)?;
                taken.push(Spilled { name: variable.name, first: *first, words: *words, align });
            }
        }
        let entry = self.code.len() as u32;
        let (first_row, first_predicate) = (self.rows(), self.predicates.get());
        self.in_kernel = false;
        self.body(tree, scope, &taken)?;
        let (rows, predicates, frame) = (self.rows(), self.predicates.get(), self.frame);
        let function = &mut self.units[index].function;
        function.entry = entry;
        function.rows.push(first_row..rows);
        function.predicates = first_predicate..predicates;
        function.frame = frame.next_multiple_of(16);
        Ok(())
    }

    /// The index of a device function in this kernel, queued for decoding at its first mention.
    fn function(&mut self, module_index: u32) -> Decoded<u32> {
        if let Some(index) = self.by_module_index.get(&module_index) {
            return Ok(*index);
        }
        let Some(tree) = self.context.bodies[module_index as usize] else {
            let name = self.context.names[module_index as usize];
            return Err(PtxError::at(
                self.position,
                PtxErrorKind::Unresolved,
                format!("the function `{name}` is declared and never defined"),
            ));
        };
        let params = self.param_rows(&tree.params)?;
        let returns = self.param_rows(&tree.returns)?;
        let words = |list: &[(Register, u32)]| {
            list.iter().flat_map(|(first, words)| (0..*words).map(|word| Register(first.0 + word))).collect()
        };
        let function = Function {
            entry: 0,
            rows: params.iter().chain(&returns).map(|(first, words)| first.0..first.0 + words).collect(),
            predicates: 0..0,
            params: words(&params),
            returns: words(&returns),
            frame: 0,
        };
        self.units.push(Unit { module_index, params, returns, function });
        let index = self.units.len() as u32 - 1;
        self.by_module_index.insert(module_index, index);
        Ok(index)
    }

    fn param_rows(&mut self, variables: &[Variable<'s>]) -> Decoded<Vec<(Register, u32)>> {
        variables
            .iter()
            .map(|variable| {
                if variable.space == Space::Register {
                    self.check_passed(variable)?;
                }
                let words = self.words_of(variable)?;
                Ok((self.allocate_rows(words, Width::Single), words))
            })
            .collect()
    }

    fn words_of(&self, variable: &Variable<'s>) -> Decoded<u32> {
        let (bytes, _) = layout(variable)?;
        match bytes {
            Some(bytes) if bytes <= 4096 => Ok((bytes as u32).div_ceil(4)),
            _ => Err(PtxError::at(
                variable.position,
                PtxErrorKind::Unsupported,
                format!("`{}` is no parameter of up to 4096 bytes", variable.name),
            )),
        }
    }

    /// Offsets of the shared variables, and the bytes of those of fixed size.
    fn place_shared(&self) -> Decoded<(Vec<u32>, u32)> {
        let mut used = vec![false; self.shared.len()];
        for (_, constant) in self.constants.keys() {
            if let Constant::Shared { index, .. } = constant {
                used[*index as usize] = true;
            }
        }
        let mut offsets = vec![0; self.shared.len()];
        let mut end = 0u64;
        for (index, variable) in self.shared.iter().enumerate() {
            if let (Some(bytes), true) = (variable.bytes, used[index]) {
                end = end.next_multiple_of(variable.align.into());
                offsets[index] = end as u32;
                end += u64::from(bytes);
            }
        }
        if end > 1 << 20 {
            return Err(self.unsupported("more shared memory than any block has"));
        }
        let end = end as u32;
        for (index, variable) in self.shared.iter().enumerate() {
            if variable.bytes.is_none() {
                offsets[index] = end.next_multiple_of(variable.align.max(16));
            }
        }
        Ok((offsets, end))
    }

    fn body(
        &mut self,
        tree: &'m ptx::Function<'s>,
        scope: HashMap<&'s str, Symbol<'s>>,
        spilled: &[Spilled<'s>],
    ) -> Decoded<()> {
        self.scopes = vec![scope];
        self.labels.clear();
        self.frame = 0;
        self.results.clear();
        self.source = None;
        let first = self.code.len();
        self.guard = Condition::ALWAYS;
        self.origin(tree.position, tree.name);
        spilled.iter().for_each(|param| self.spill(param));
        if !self.in_kernel {
            self.receive(tree)?;
        }
        self.scope(tree.body.as_deref().unwrap_or_default())?;
        // Running off the end is a return.
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

    /// Copies a parameter into the frame, where it has an address.
    fn spill(&mut self, param: &Spilled<'s>) {
        let offset = u64::from(self.frame).next_multiple_of(param.align.max(4)) as u32;
        self.frame = offset + 4 * param.words;
        let Spilled { name, first, words, .. } = *param;
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name, Symbol::ParamRows { first, words, local: Some(offset) });
        }
        for word in 0..words {
            let base = self.temporary(Width::Double);
            self.emit(Op::LocalAddress { out: base, offset: offset + 4 * word, width: Width::Double });
            let cache = self.new_cache();
            self.emit(Op::Store(Box::new(Access {
                space: Some(Space::Local),
                address: Address { base, width: Width::Double, offset: 0 },
                bytes: 4,
                signed: false,
                width: Width::Single,
                registers: vec![Register(first.0 + word)],
                cache,
                order: Order::Weak,
            })));
        }
    }

    fn scope(&mut self, statements: &'m [Statement<'s>]) -> Decoded<()> {
        let mut names = HashMap::new();
        for statement in statements {
            match statement {
                Statement::Label(_, name) => {
                    names.insert(*name, Symbol::Label(self.labels.len() as u32));
                    self.labels.push(None);
                }
                Statement::Targets { name, targets } => {
                    names.insert(*name, Symbol::Targets(targets.clone()));
                }
                Statement::Prototype { name, .. } => {
                    names.insert(*name, Symbol::Prototype);
                }
                _ => {}
            }
        }
        self.scopes.push(names);
        for statement in statements {
            match statement {
                Statement::Label(position, name) => self.label(*position, name)?,
                Statement::Variable(variable) => self.declare(variable)?,
                Statement::Instruction(instruction) => self.instruction(instruction)?,
                Statement::Block(inner) => self.scope(inner)?,
                Statement::Location { file, line } => self.source = Some((*file, *line)),
                Statement::Pragma(_) | Statement::Prototype { .. } | Statement::Targets { .. } => {}
            }
        }
        self.scopes.pop();
        Ok(())
    }

    fn label(&mut self, position: Position, name: &'s str) -> Decoded<()> {
        self.position = position;
        if let Some(Symbol::Label(label)) = self.scopes.last().and_then(|scope| scope.get(name)) {
            let slot = &mut self.labels[*label as usize];
            if slot.is_some() {
                return Err(self.unsupported(format!("the label `{name}` is defined twice")));
            }
            *slot = Some(self.code.len() as u32);
        }
        Ok(())
    }

    fn declare(&mut self, variable: &'m Variable<'s>) -> Decoded<()> {
        self.position = variable.position;
        if self.is_declared_here(variable.name) {
            return Err(PtxError::at(
                self.position,
                PtxErrorKind::Syntax,
                format!("`{}` is declared twice in this scope", variable.name),
            ));
        }
        let symbol = match variable.space {
            Space::Register => self.declare_register(variable)?,
            Space::Local => {
                let (bytes, align) = layout(variable)?;
                let bytes = bytes.ok_or_else(|| self.unsupported("a local array without size"))?;
                let offset = u64::from(self.frame).next_multiple_of(align);
                self.frame = u32::try_from(offset + bytes)
                    .ok()
                    .filter(|frame| *frame <= MOST_LOCAL)
                    .ok_or_else(|| self.unsupported("more local memory than any thread has"))?;
                Symbol::Local { offset: offset as u32, element: element_bytes(variable) }
            }
            Space::Shared => {
                self.shared.push(shared_layout(variable)?);
                Symbol::Shared { index: self.shared.len() as u32 - 1, element: element_bytes(variable) }
            }
            Space::Global | Space::Const => {
                let index = self.context.inner.get(&variable.position).copied().unwrap_or_default();
                Symbol::Global { index, element: element_bytes(variable) }
            }
            Space::Param => {
                let words = self.words_of(variable)?;
                Symbol::ParamRows { first: self.allocate_rows(words, Width::Single), words, local: None }
            }
            _ => return Err(self.unsupported("variables of this state space inside a function")),
        };
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(variable.name, symbol);
        }
        Ok(())
    }

    fn declare_register(&mut self, variable: &Variable<'s>) -> Decoded<Symbol<'s>> {
        let ty = Type::parse(variable.ty)
            .ok_or_else(|| self.unsupported(format!("registers of type `.{}`", variable.ty)))?;
        let width = if rows_of(ty) == 1 { Width::Single } else { Width::Double };
        if variable.vector != 1 {
            if matches!(ty, Type::Pred | Type::B128) || variable.count.is_some_and(|count| count > 1 << 16) {
                return Err(self.unsupported("vector registers of this kind"));
            }
            let elements = variable.vector;
            let first = self.allocate_rows(elements * variable.count.unwrap_or(1), width);
            return Ok(match variable.count {
                Some(count) => Symbol::Vectors { first, ty, elements, count },
                None => Symbol::Vector { first, ty, elements },
            });
        }
        let count = variable.count.unwrap_or(1);
        if count > 1 << 20 {
            return Err(self.unsupported("more than a million registers"));
        }
        self.context.count(count as usize, variable.position)?;
        if ty == Type::Pred {
            return Ok(match variable.count {
                Some(count) => {
                    self.declarations += 1;
                    Symbol::Predicates { declaration: self.declarations, count }
                }
                None => Symbol::Predicate(self.new_predicate()),
            });
        }
        if let Some(count) = variable.count {
            self.declarations += 1;
            return Ok(Symbol::Registers { declaration: self.declarations, ty, count });
        }
        Ok(Symbol::Register { register: self.allocate_register(ty), ty })
    }

    fn rows(&self) -> u32 {
        self.row_kinds.borrow().len() as u32
    }

    fn allocate_register(&self, ty: Type) -> Register {
        let width = if rows_of(ty) == 1 { Width::Single } else { Width::Double };
        self.allocate_rows(if ty == Type::B128 { 2 } else { 1 }, width)
    }

    /// The rows of a numbered register.
    fn numbered(&self, declaration: u32, number: u32, ty: Type) -> Register {
        let mut numbered = self.numbered.borrow_mut();
        *numbered.entry((declaration, number)).or_insert_with(|| self.allocate_register(ty))
    }

    /// Rows for `count` values of this width.
    fn allocate_rows(&self, count: u32, width: Width) -> Register {
        let mut kinds = self.row_kinds.borrow_mut();
        let first = Register(kinds.len() as u32);
        for _ in 0..count {
            match width {
                Width::Double => kinds.extend([RowKind::Lower, RowKind::Upper]),
                _ => kinds.push(RowKind::Single),
            }
        }
        first
    }

    fn new_predicate(&self) -> Predicate {
        let next = self.predicates.get();
        self.predicates.set(next + 1);
        Predicate(next)
    }

    fn numbered_predicate(&self, declaration: u32, number: u32) -> Predicate {
        let mut numbered = self.numbered_predicates.borrow_mut();
        *numbered.entry((declaration, number)).or_insert_with(|| self.new_predicate())
    }

    fn temporary(&mut self, width: Width) -> Register {
        self.allocate_rows(1, width)
    }

    fn constant(&mut self, width: Width, constant: Constant) -> Register {
        if let Some(register) = self.constants.get(&(width, constant)) {
            return *register;
        }
        let register = self.temporary(width);
        self.constants.insert((width, constant), register);
        register
    }

    fn origin(&mut self, position: Position, text: &str) {
        self.position = position;
        self.origins.push(Origin { line: position.line, text: text.into(), source: self.source });
    }

    fn emit(&mut self, op: Op) {
        let origin = self.origins.len() as u32 - 1;
        self.code.push(Instruction { guard: self.guard, op, origin });
    }

    fn new_cache(&mut self) -> u32 {
        self.caches += 1;
        self.caches - 1
    }

    fn unsupported(&self, what: impl Into<String>) -> PtxError {
        let what: String = what.into();
        PtxError::at(
            self.position,
            PtxErrorKind::Unsupported,
            format!("{what}: this is not supported by the software device"),
        )
    }

    fn instruction(&mut self, instruction: &'m ptx::Instruction<'s>) -> Decoded<()> {
        self.origin(instruction.position, instruction.text);
        self.context.count(1, instruction.position)?;
        if self.rows().max(self.predicates.get()) > MOST_ROWS {
            return Err(self.unsupported(format!("more than {MOST_ROWS} registers of 32 bits")));
        }
        let expanded = self.expanded(instruction);
        let instruction = expanded.as_ref().unwrap_or(instruction);
        self.guard = match instruction.guard {
            Some((name, negated)) => Condition { predicate: self.predicate_named(name)?, negated },
            None => Condition::ALWAYS,
        };
        self.refuse_special_registers(instruction)?;
        self.refuse_elements(instruction)?;
        let mut modifiers = Modifiers::new(instruction);
        let known = self.arithmetic(instruction, &mut modifiers)?
            || self.logic(instruction, &mut modifiers)?
            || self.conversion(instruction, &mut modifiers)?
            || self.memory(instruction, &mut modifiers)?
            || self.asynchronous(instruction, &mut modifiers)?
            || self.video(instruction, &mut modifiers)?
            || self.cluster(instruction, &mut modifiers)?
            || self.matrix(instruction, &mut modifiers)?
            || self.texture(instruction, &mut modifiers)?
            || self.stack(instruction, &mut modifiers)?
            || self.control(instruction, &mut modifiers)?;
        if !known {
            return Err(modifiers.unsupported("this instruction or type"));
        }
        modifiers.finish()
    }
}

impl<'s> Decoder<'_, '_, 's> {
    /// The same instruction with the elements of vector registers in their place; `None` if it has none.
    fn expanded(&self, instruction: &ptx::Instruction<'s>) -> Option<ptx::Instruction<'s>> {
        if self.context.elements.is_empty() {
            return None;
        }
        let mut found = false;
        let operands = instruction.operands.iter().map(|operand| self.with_elements(operand, &mut found));
        let operands = operands.collect();
        found.then(|| ptx::Instruction { operands, ..instruction.clone() })
    }

    fn with_elements(&self, operand: &ptx::Operand<'s>, found: &mut bool) -> ptx::Operand<'s> {
        use ptx::Operand;
        let mut all =
            |list: &[Operand<'s>]| list.iter().map(|part| self.with_elements(part, found)).collect();
        match operand {
            Operand::Name(name) if matches!(self.lookup(name), Some(Symbol::Vector { .. })) => {
                let Some(elements) = self.context.elements.get(name) else { return operand.clone() };
                *found = true;
                Operand::Vector(elements.iter().map(|element| Operand::Name(element)).collect())
            }
            Operand::Memory(parts) => Operand::Memory(all(parts)),
            Operand::List(parts) => Operand::List(all(parts)),
            other => other.clone(),
        }
    }

    /// Only moves, loads and stores take elements of arrays.
    fn refuse_elements(&self, instruction: &ptx::Instruction<'s>) -> Decoded<()> {
        let element = |operand: &ptx::Operand<'s>| matches!(operand, ptx::Operand::Element(..));
        if matches!(instruction.opcode, "mov" | "cvta" | "ld" | "st")
            || !instruction.operands.iter().any(element)
        {
            return Ok(());
        }
        let message = format!("`{}` takes no element of an array", instruction.opcode);
        Err(PtxError::at(self.position, PtxErrorKind::Syntax, message))
    }

    /// Only moves and conversions read special registers.
    fn refuse_special_registers(&self, instruction: &ptx::Instruction<'s>) -> Decoded<()> {
        if matches!(instruction.opcode, "mov" | "cvt") {
            return Ok(());
        }
        let refused = instruction.operands.iter().find_map(|operand| match operand {
            ptx::Operand::Name(name) if name.starts_with('%') && operands::special(name).is_some() => {
                Some(name)
            }
            _ => None,
        });
        match refused.filter(|name| self.lookup(name).is_none()) {
            Some(name) => Err(PtxError::at(
                self.position,
                PtxErrorKind::Syntax,
                format!(
                    "`{}` does not read special registers: expected a `mov` from `{name}` before it",
                    instruction.opcode
                ),
            )),
            None => Ok(()),
        }
    }

    /// Whether a name is taken in the innermost scope.
    fn is_declared_here(&self, name: &str) -> bool {
        let Some(scope) = self.scopes.last() else { return false };
        let prefix = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let numbered = match (scope.get(prefix), name[prefix.len()..].parse::<u32>()) {
            (
                Some(
                    Symbol::Registers { count, .. }
                    | Symbol::Predicates { count, .. }
                    | Symbol::Vectors { count, .. },
                ),
                Ok(number),
            ) => number < *count,
            _ => false,
        };
        numbered || scope.contains_key(name)
    }
}

/// Bytes of an element of an array; 0 of what is no array.
fn element_bytes(variable: &Variable<'_>) -> u32 {
    let ty = Type::parse(variable.ty).filter(|_| !variable.dimensions.is_empty());
    ty.map_or(0, |ty| ty.bytes() * variable.vector)
}

fn rows_of(ty: Type) -> u32 {
    ty.bytes().div_ceil(4)
}

/// A parameter of a device function whose address is taken.
struct Spilled<'s> {
    name: &'s str,
    first: Register,
    words: u32,
    align: u64,
}

/// Collects the names of which an instruction may take the address.
fn addresses_named<'s>(statements: &[Statement<'s>], named: &mut HashSet<&'s str>) {
    for statement in statements {
        match statement {
            Statement::Block(inner) => addresses_named(inner, named),
            Statement::Instruction(instruction) if matches!(instruction.opcode, "mov" | "cvta") => {
                named.extend(instruction.operands.iter().filter_map(|operand| match operand {
                    ptx::Operand::Name(name) | ptx::Operand::Offset(name, _) => Some(*name),
                    _ => None,
                }));
            }
            _ => {}
        }
    }
}

fn kernel_param(variable: &Variable<'_>, end: u32) -> Decoded<Param> {
    if variable.space != Space::Param {
        let message = format!("the parameter `{}` of a kernel must be in `.param`", variable.name);
        return Err(PtxError::at(variable.position, PtxErrorKind::Syntax, message));
    }
    let (bytes, align) = layout(variable)?;
    let place = bytes.and_then(|bytes| {
        let offset = u64::from(end).next_multiple_of(align);
        (offset + bytes <= 32_764).then_some((offset as u32, bytes as u32))
    });
    let Some((offset, size)) = place else {
        return Err(PtxError::at(
            variable.position,
            PtxErrorKind::Unsupported,
            format!("the parameter `{}` goes beyond the 32764 bytes that a kernel may have", variable.name),
        ));
    };
    Ok(Param { offset, size, align: align as u32 })
}
