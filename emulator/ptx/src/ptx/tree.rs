//! The syntax tree.

use super::Position;

/// One PTX module.
///
/// ```
/// use cuprum_ptx::ptx::parse;
///
/// let module = parse(".version 8.0 .target sm_90 .address_size 64 .entry f() { ret; }")?;
/// assert_eq!((module.version, module.target), ((8, 0), vec!["sm_90"]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Module<'s> {
    /// `.version major.minor`.
    pub version: (u32, u32),
    /// Position of `.version`.
    pub version_position: Position,
    /// `.target`: the architecture first, then options such as `texmode_independent`.
    pub target: Vec<&'s str>,
    /// `.address_size` in bits; 64 if the module does not state it.
    pub address_size: u32,
    /// `.file` entries: index and path.
    pub files: Vec<(u32, &'s str)>,
    /// Variables at module scope.
    pub variables: Vec<Variable<'s>>,
    /// Kernels and device functions, including declarations, in the order of the text.
    pub functions: Vec<Function<'s>>,
    /// `.alias name, aliasee`.
    pub aliases: Vec<(&'s str, &'s str)>,
}

/// Visibility of a symbol to other modules.
///
/// ```
/// use cuprum_ptx::ptx::{Linkage, parse};
///
/// let module = parse(".version 8.0 .target sm_90 .address_size 64 .visible .entry f() { ret; }")?;
/// assert_eq!(module.functions[0].linkage, Linkage::Visible);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Linkage {
    /// Local to the module.
    #[default]
    Internal,
    /// `.visible`
    Visible,
    /// `.extern`
    Extern,
    /// `.weak`
    Weak,
    /// `.common`
    Common,
}

/// State space of a variable.
///
/// ```
/// use cuprum_ptx::ptx::{Space, parse};
///
/// let module = parse(".version 8.0 .target sm_90 .address_size 64 .const .u32 limit = 7;")?;
/// assert_eq!(module.variables[0].space, Space::Const);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Space {
    /// `.reg`
    Register,
    /// `.global`
    Global,
    /// `.const`
    Const,
    /// `.shared`
    Shared,
    /// `.shared::cluster`: shared memory of all blocks of a cluster. Only instructions name it.
    SharedCluster,
    /// `.local`
    Local,
    /// `.param`
    Param,
    /// `.tex` (legacy)
    Texture,
}

/// A variable or parameter declaration.
///
/// ```
/// use cuprum_ptx::ptx::parse;
///
/// let module = parse(".version 8.0 .target sm_90 .address_size 64 .global .align 16 .f32 x[4];")?;
/// let x = &module.variables[0];
/// assert_eq!((x.name, x.ty, x.align, &x.dimensions[..]), ("x", "f32", Some(16), &[Some(4)][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Variable<'s> {
    /// Position of its name.
    pub position: Position,
    /// Visibility.
    pub linkage: Linkage,
    /// State space.
    pub space: Space,
    /// `.align` in bytes; `None` means the natural alignment of the type.
    pub align: Option<u32>,
    /// Element type as written, without the dot: `b8`, `f32`, `texref`...
    pub ty: &'s str,
    /// 2 or 4 with `.v2`, `.v4`; otherwise 1.
    pub vector: u32,
    /// Its name.
    pub name: &'s str,
    /// Array dimensions; `None` for `[]`.
    pub dimensions: Vec<Option<u64>>,
    /// `%r<5>` declares five variables `%r0` to `%r4`.
    pub count: Option<u32>,
    /// Initial value.
    pub initializer: Option<Initializer<'s>>,
    /// `.attribute(.managed)`.
    pub managed: bool,
}

/// The initial value of a variable.
///
/// ```
/// use cuprum_ptx::ptx::{Initializer, parse};
///
/// let module = parse(".version 8.0 .target sm_90 .address_size 64 .global .u32 x = 7;")?;
/// assert_eq!(module.variables[0].initializer, Some(Initializer::Int(7)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub enum Initializer<'s> {
    /// `{ a, b, ... }`
    List(Vec<Initializer<'s>>),
    /// An integer, as its two's complement bits.
    Int(u64),
    /// A double-precision number; also written for `.f32`, and then converted.
    Double(f64),
    /// `0fXXXXXXXX`: the bits of a single-precision number.
    Single(u32),
    /// The address of a symbol, plus an offset.
    Address {
        /// Its name.
        symbol: &'s str,
        /// Bytes to add.
        offset: i64,
        /// `generic(symbol)`: the generic address instead of the address within its space.
        generic: bool,
        /// `0xFF00(symbol)`: mask of the bits of the address, which are shifted down.
        mask: Option<u64>,
        /// Position of the symbol.
        position: Position,
    },
}

/// Kernel or device function.
///
/// ```
/// use cuprum_ptx::ptx::{FunctionKind, parse};
///
/// let module = parse(".version 8.0 .target sm_90 .address_size 64 .entry f() { ret; }")?;
/// assert_eq!(module.functions[0].kind, FunctionKind::Entry);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FunctionKind {
    /// `.entry`
    Entry,
    /// `.func`
    Device,
}

/// A kernel or device function; a declaration if it has no body.
///
/// ```
/// use cuprum_ptx::ptx::parse;
///
/// let module = parse(".version 8.0 .target sm_90 .address_size 64 .entry f(.param .u32 n) { ret; }")?;
/// let f = &module.functions[0];
/// assert_eq!((f.name, f.params[0].name), ("f", "n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Function<'s> {
    /// Position of its name.
    pub position: Position,
    /// Kernel or device function.
    pub kind: FunctionKind,
    /// Visibility.
    pub linkage: Linkage,
    /// Its (mangled) name as in the text.
    pub name: &'s str,
    /// Return parameters.
    pub returns: Vec<Variable<'s>>,
    /// Parameters.
    pub params: Vec<Variable<'s>>,
    /// Directives such as `.maxntid 256, 1, 1`: name without the dot, and values. Attributes are
    /// here too, without values.
    pub directives: Vec<(&'s str, Vec<u64>)>,
    /// Statements; `None` for a declaration.
    pub body: Option<Vec<Statement<'s>>>,
}

impl<'s> Function<'s> {
    /// True if the function has this directive or attribute, named without the dot.
    pub fn has(&self, directive: &str) -> bool {
        self.directives.iter().any(|(name, _)| *name == directive)
    }

    /// Returns the statements of the body and of the blocks in it, in the order of the text. The
    /// blocks themselves are left out. A declaration has none.
    ///
    /// ```
    /// use cuprum_ptx::ptx::{Statement, parse};
    ///
    /// let module = parse(".version 8.0 .target sm_90 .address_size 64 .entry f() { bar.sync 0; { ret; } }")?;
    /// let opcodes = module.functions[0].statements().filter_map(|statement| match statement {
    ///     Statement::Instruction(instruction) => Some(instruction.opcode),
    ///     _ => None,
    /// });
    /// assert!(opcodes.eq(["bar", "ret"]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn statements(&self) -> impl Iterator<Item = &Statement<'s>> {
        let mut open: Vec<_> = self.body.iter().map(|body| body.iter()).collect();
        std::iter::from_fn(move || {
            loop {
                match open.last_mut()?.next() {
                    Some(Statement::Block(inner)) => open.push(inner.iter()),
                    Some(statement) => return Some(statement),
                    None => drop(open.pop()),
                }
            }
        })
    }
}

/// One statement of a function body.
///
/// ```
/// use cuprum_ptx::ptx::{Statement, parse};
///
/// let module = parse(".version 8.0 .target sm_90 .address_size 64 .entry f() { end: ret; }")?;
/// let body = module.functions[0].body.as_ref().ok_or("a declaration")?;
/// assert!(matches!(body[0], Statement::Label(_, "end")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub enum Statement<'s> {
    /// `name:`
    Label(Position, &'s str),
    /// `.reg`, `.local`, `.shared`, `.param` and similar declarations.
    Variable(Variable<'s>),
    /// An instruction.
    Instruction(Instruction<'s>),
    /// `{ ... }`
    Block(Vec<Statement<'s>>),
    /// `.loc file line column`: the source position of the following statements.
    Location {
        /// Index of a `.file` entry.
        file: u32,
        /// Line in the file.
        line: u32,
    },
    /// `.pragma "..."`
    Pragma(&'s str),
    /// `name: .callprototype (returns) _ (params)`
    Prototype {
        /// Its label.
        name: &'s str,
        /// Return parameters.
        returns: Vec<Variable<'s>>,
        /// Parameters.
        params: Vec<Variable<'s>>,
    },
    /// `name: .branchtargets a, b;` or `.calltargets`.
    Targets {
        /// Its label.
        name: &'s str,
        /// Its labels.
        targets: Vec<&'s str>,
    },
}

/// One instruction: `@guard opcode.modifier.modifier operand, operand;`
///
/// ```
/// use cuprum_ptx::ptx::{Statement, parse};
///
/// let module = parse(".version 8.0 .target sm_90 .address_size 64 .entry f() { @%p bar.sync 0; }")?;
/// let body = module.functions[0].body.as_ref().ok_or("a declaration")?;
/// let Statement::Instruction(bar) = &body[0] else { return Err("no instruction".into()) };
/// assert_eq!((bar.opcode, &bar.modifiers[..], bar.guard), ("bar", &["sync"][..], Some(("%p", false))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Instruction<'s> {
    /// Position of its start.
    pub position: Position,
    /// Guard predicate, and true if it is negated.
    pub guard: Option<(&'s str, bool)>,
    /// `add`
    pub opcode: &'s str,
    /// Modifiers without their dots; `shared::cta` is one modifier.
    pub modifiers: Vec<&'s str>,
    /// Operands.
    pub operands: Vec<Operand<'s>>,
    /// The whole text, from guard to semicolon.
    pub text: &'s str,
}

/// An operand.
///
/// ```
/// use cuprum_ptx::ptx::{Operand, Statement, parse};
///
/// let module = parse(".version 8.0 .target sm_90 .address_size 64 .entry f() { bar.sync 5; }")?;
/// let body = module.functions[0].body.as_ref().ok_or("a declaration")?;
/// let Statement::Instruction(bar) = &body[0] else { return Err("no instruction".into()) };
/// assert_eq!(bar.operands, [Operand::Int(5)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub enum Operand<'s> {
    /// A register, label, function, variable, or `_`; `%tid.x` is one name.
    Name(&'s str),
    /// `!p`
    Not(&'s str),
    /// `-a`: a register whose value is negated.
    Minus(&'s str),
    /// An integer, as its two's complement bits.
    Int(u64),
    /// A double-precision literal.
    Double(f64),
    /// `0fXXXXXXXX`
    Single(u32),
    /// `name + offset`: with a symbol's address, or a register's value.
    Offset(&'s str, i64),
    /// `array[index]`: an element, or its address.
    Element(&'s str, Box<Operand<'s>>),
    /// `[base + offset]`; texture operands contain a list: `[tex, sampler, {x, y}]`.
    Memory(Vec<Operand<'s>>),
    /// `{a, b, c, d}`
    Vector(Vec<Operand<'s>>),
    /// `d|p`
    Pair(Box<Operand<'s>>, Box<Operand<'s>>),
    /// `(a, b)` in calls.
    List(Vec<Operand<'s>>),
}
